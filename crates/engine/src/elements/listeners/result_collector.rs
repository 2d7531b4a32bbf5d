//! Listeners that show samples (`ResultCollector`, `kg.apc.jmeter.vizualizers.CompositeResultCollector`): View Results Tree, Aggregate Report, Simple Data Writer and the like. Here each
//! is the writer of its file; without a file name it does nothing.
//!
//! Properties: `filename` (evaluated once, before the run), `ResultCollector.error_logging`,
//! `ResultCollector.success_only_logging`, `saveConfig` (what is written, and whether as XML or CSV; without it the
//! `jmeter.save.saveservice.*` properties decide).

use drumfire_elements::listeners::result_collector as facts;
use drumfire_java::values;
use drumfire_results::{Filter, OutputSpec, SaveConfig};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::save::row_format;

pub fn decode(d: &mut Decoder) -> Roles {
    let config = save_config(d);
    writer(d, config)
}

/// Charts of jmeter-plugins (`kg.apc.jmeter.vizualizers.CorrectedResultCollector`): writers like Result Collectors, whose
/// files always have the numbers of threads.
pub fn decode_corrected(d: &mut Decoder) -> Roles {
    let config = SaveConfig {
        thread_counts: true,
        ..save_config(d)
    };
    writer(d, config)
}

fn writer(d: &mut Decoder, config: SaveConfig) -> Roles {
    let file_name = d.text_now(facts::FILE.name);
    if file_name.is_empty() {
        return Roles::default();
    }
    let errors_only = values::property_bool(&d.text_now(facts::ERRORS_ONLY.name));
    let successes_only = values::property_bool(&d.text_now(facts::SUCCESSES_ONLY.name));
    let format = row_format(d.decoding, config);
    let listener = d.new_output(OutputSpec {
        file_name,
        format,
        filter: Filter::new(errors_only, successes_only),
    });
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

fn save_config(d: &mut Decoder) -> SaveConfig {
    let Some(saved) = d.element.props.object(facts::SAVE_CONFIG.name) else {
        return d.decoding.save_config.clone();
    };
    let flags = saved
        .children
        .iter()
        .map(|flag| (flag.name.as_str(), flag.text.as_str()));
    match d.decoding.save_config.with_flags(flags) {
        Ok(config) => config,
        Err(fault) => {
            let message = format!("listener '{}' cannot be read: {fault}", d.element.name);
            d.refuse(
                "save-configuration",
                message,
                "open the plan in JMeter and save it again",
            );
            SaveConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::roles::Listener;
    use crate::fixture;

    fn outputs(inner: &str) -> (Option<Listener>, Vec<OutputSpec>, Vec<&'static str>) {
        let xml = format!(
            r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="r">{inner}</ResultCollector>"#
        );
        let ((listener, outputs), _, findings) =
            fixture::decode_with_findings(&[("dir", "out")], &xml, |d| {
                let roles = decode(d);
                (roles.listener, std::mem::take(&mut d.decoding.outputs))
            });
        (
            listener,
            outputs,
            findings.iter().map(|finding| finding.code).collect(),
        )
    }

    #[test]
    fn without_a_file_name_nothing_is_written() {
        assert_eq!(
            outputs(r#"<stringProp name="filename"></stringProp>"#).0,
            None
        );
        assert_eq!(outputs("").0, None);
    }

    #[test]
    fn the_file_name_is_computed_and_the_saved_configuration_decides_what_is_written() {
        let (listener, outputs, findings) = outputs(
            r#"<boolProp name="ResultCollector.error_logging">true</boolProp>
            <objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time><xml>true</xml><url>false</url></value></objProp>
            <stringProp name="filename">${__P(dir)}/a.xml</stringProp>"#,
        );
        assert_eq!(listener, Some(Listener::Output(0)));
        assert!(findings.is_empty());
        assert_eq!(outputs[0].file_name, "out/a.xml");
        assert_eq!(outputs[0].filter, Filter::Errors);
        let config = &outputs[0].format.config;
        assert!(config.time && config.xml && !config.url && !config.label);
    }

    #[test]
    fn without_a_saved_configuration_the_properties_decide() {
        let (_, outputs, _) = outputs(r#"<stringProp name="filename">a.csv</stringProp>"#);
        assert_eq!(outputs[0].format.config, SaveConfig::default());
        assert_eq!(outputs[0].filter, Filter::All);
    }

    #[test]
    fn charts_of_plugins_write_the_numbers_of_threads() {
        let xml = r#"<kg.apc.jmeter.vizualizers.CorrectedResultCollector guiclass="g" testclass="kg.apc.jmeter.vizualizers.CorrectedResultCollector" testname="r">
            <objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><threadCounts>false</threadCounts></value></objProp>
            <stringProp name="filename">a.csv</stringProp></kg.apc.jmeter.vizualizers.CorrectedResultCollector>"#;
        let (outputs, _) = fixture::decode(xml, |d| {
            decode_corrected(d);
            std::mem::take(&mut d.decoding.outputs)
        });
        assert!(outputs[0].format.config.thread_counts);
    }

    #[test]
    fn a_bad_delimiter_is_refused() {
        let (_, _, findings) = outputs(
            r#"<objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><delimiter>ab</delimiter></value></objProp>
            <stringProp name="filename">a.csv</stringProp>"#,
        );
        assert_eq!(findings, ["save-configuration"]);
    }
}
