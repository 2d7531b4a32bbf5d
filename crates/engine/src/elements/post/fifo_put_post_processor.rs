//! Inter-Thread Communication PostProcessor (`kg.apc.jmeter.modifiers.FifoPutPostProcessor`): appends a value to a queue.
//!
//! Properties: `FifoName`, `Value`. Queues have no limit, as with the plugin's own default.

use drumfire_elements::post::fifo_put as facts;
use drumfire_expr::Template;
use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::needs::Needs;
use crate::run::roles::PostProcessor;
use crate::run::view::PostProcessorView;

struct FifoPut {
    queue: Template,
    value: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(FifoPut {
        queue: d.template(facts::QUEUE.name),
        value: d.template(facts::VALUE.name),
    })
}

impl PostProcessor for FifoPut {
    fn process(&self, cx: &mut PostProcessorView, _: &mut Sample) {
        let queue = self.queue.eval(cx).into_string();
        let value = self.value.eval(cx).into_string();
        cx.shared().properties.fifos().put(&queue, value);
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    #[test]
    fn the_value_is_put_into_the_queue() {
        let xml = r#"<kg.apc.jmeter.modifiers.FifoPutPostProcessor guiclass="g" testclass="kg.apc.jmeter.modifiers.FifoPutPostProcessor" testname="f">
            <stringProp name="FifoName">q</stringProp><stringProp name="Value">${v}</stringProp></kg.apc.jmeter.modifiers.FifoPutPostProcessor>"#;
        let (roles, mut cx) = fixture::decode(xml, decode);
        let post = roles.post.expect("it is a post-processor");
        cx.vars.set_named("v", "a".into());
        post.turn(View::of(&mut cx), &mut fixture::sample(""))
            .done();
        let value = cx.shared.properties.fifos().pop("q");
        assert_eq!(value.as_deref(), Some("a"));
    }
}
