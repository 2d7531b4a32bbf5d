//! Inter-Thread Communication PreProcessor (`kg.apc.jmeter.modifiers.FifoPopPreProcessor`): takes the first value of a
//! queue into a variable.
//!
//! Properties: `FifoName`, `Variable`. An empty queue removes the variable at once: the plugin would wait for `Timeout`
//! seconds and then do the same.

use drumfire_expr::Template;

use crate::compile::Decoder;
use crate::context::Context;
use crate::elements::{PreProcessor, Roles};

struct FifoPop {
    queue: Template,
    variable: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable = d.template("Variable");
    if let Some(name) = variable.literal() {
        d.unit.compiler.names_mut().intern(name);
    }
    Roles::pre(FifoPop {
        queue: d.template("FifoName"),
        variable,
    })
}

impl PreProcessor for FifoPop {
    fn process(&self, cx: &mut Context) {
        let queue = self.queue.eval(cx);
        let value = cx.shared.properties.fifos().pop(&queue);
        drop(queue);
        let variable = self.variable.eval(cx).into_string();
        match value {
            Some(value) => cx.vars.set_named(&variable, (&*value).into()),
            None => drop(cx.vars.remove_named(&variable)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn values_come_in_the_order_of_the_queue() {
        let xml = r#"<kg.apc.jmeter.modifiers.FifoPopPreProcessor guiclass="g" testclass="kg.apc.jmeter.modifiers.FifoPopPreProcessor" testname="f">
            <stringProp name="FifoName">${q}</stringProp><stringProp name="Variable">v</stringProp></kg.apc.jmeter.modifiers.FifoPopPreProcessor>"#;
        let (roles, mut cx) = fixture::decode(xml, decode);
        let pre = roles.pre.expect("it is a pre-processor");
        cx.vars.set_named("q", "one".into());
        let fifos = cx.shared.clone();
        fifos.properties.fifos().put("one", "a");
        fifos.properties.fifos().put("one", "b");
        let mut seen = Vec::new();
        for _ in 0..3 {
            pre.process(&mut cx);
            seen.push(fixture::variables(&cx, "v"));
        }
        assert_eq!(seen, [vec!["v=a"], vec!["v=b"], vec![]]);
    }
}
