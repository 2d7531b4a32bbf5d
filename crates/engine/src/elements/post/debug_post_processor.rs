//! Debug PostProcessor (`DebugPostProcessor`): adds a sub-result that lists variables and properties.
//!
//! Properties: `displayJMeterVariables`, `displayJMeterProperties`, `displaySystemProperties`, `displaySamplerProperties`.
//!
//! Difference: for a property of the sampler that is an object without a `toString` of its own, JMeter shows a hash; the
//! number here is another one.

use drumfire_elements::post::debug_post_processor as facts;
use drumfire_expr::Template;
use drumfire_results::{DataType, Sample};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::setting::Flag;
use crate::elements::samplers::debug_sampler::{Shown, set_response};
use crate::elements::samplers::listing;
use crate::run::needs::Needs;
use crate::run::roles::PostProcessor;
use crate::run::view::PostProcessorView;

pub struct DebugPostProcessor {
    name: Template,
    sampler: Flag,
    variables: Flag,
    properties: Flag,
    system_properties: Flag,
    renames: bool,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::post(DebugPostProcessor::decode(d))
}

impl DebugPostProcessor {
    fn decode(d: &mut Decoder) -> DebugPostProcessor {
        DebugPostProcessor {
            name: d.name(),
            sampler: Flag::decode(d, facts::SAMPLER_PROPERTIES.name, false),
            variables: Flag::decode(d, facts::VARIABLES.name, false),
            properties: Flag::decode(d, facts::PROPERTIES.name, false),
            system_properties: Flag::decode(d, facts::SYSTEM_PROPERTIES.name, false),
            renames: !d
                .settings()
                .properties
                .get_bool("subresults.disable_renaming", false)
                && !d.decoding.save_config.functional_mode,
        }
    }
}

impl PostProcessor for DebugPostProcessor {
    fn process(&self, cx: &mut PostProcessorView, sample: &mut Sample) {
        let mut child = Sample::new(self.name.eval(cx).into_value(), cx.thread_name.clone());
        child.start_ms = cx.clock().now_ms();
        let (mut listed, mut request) = (String::new(), String::new());
        if self.sampler.get(cx) {
            request.push_str("SamplerProperties\n");
            listed.push_str("SamplerProperties:\n");
            cx.look_at_sampler(|cx, seen| listing::list(seen.listing, cx, &mut listed));
            listed.push('\n');
        }
        let shown = Shown {
            variables: self.variables.get(cx),
            properties: self.properties.get(cx),
            system_properties: self.system_properties.get(cx),
        };
        shown.list(cx, &mut listed, &mut request);
        let (in_group, in_all) = cx.shared().counts.active(cx.group);
        child.set_thread(&cx.thread_name, in_group, in_all);
        set_response(&mut child, &listed, true);
        child.data_type = DataType::Text;
        child.sampler_data = Some(request.into());
        child.set_ok();
        child.set_end(cx.clock().now_ms());
        sample.add_child(child, self.renames);
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
    fn a_sub_result_lists_the_variables() {
        let xml = r#"<DebugPostProcessor guiclass="TestBeanGUI" testclass="DebugPostProcessor" testname="Debug">
            <boolProp name="displayJMeterVariables">true</boolProp><boolProp name="displaySamplerProperties">true</boolProp></DebugPostProcessor>"#;
        let (debug, mut cx, findings) =
            fixture::decode_with_findings(&[], xml, DebugPostProcessor::decode);
        assert!(findings.is_empty());
        cx.vars.set_named("zebra", "1".into());
        let mut sample = fixture::sample("body");
        sample.label = "home".into();
        debug.process(View::of(&mut cx), &mut sample);
        let child = &sample.children[0];
        assert_eq!(&*child.label, "home-0");
        let text = crate::base::body::text(child, None);
        assert!(
            text.starts_with("SamplerProperties:\n\nJMeterVariables:\n")
                && text.ends_with("zebra=1\n\n")
        );
        assert_eq!(
            child.sampler_data.as_deref(),
            Some("SamplerProperties\nJMeterVariables\n")
        );
        assert_eq!((child.code.as_str(), child.success), ("200", true));
        assert_eq!(sample.received_bytes(), 4 + child.received_bytes());
    }
}
