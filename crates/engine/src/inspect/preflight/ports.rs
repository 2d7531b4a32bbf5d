//! Refuses ports above 65535 in the elements of a plan: every sample would fail with the same error.

use drumfire_jmx::Diagnostic;
use drumfire_platform::ports::{PORT, bad_port, is_port, is_too_high};

use super::is_as_jmeter;
use super::numbers::PROPERTY;
use super::provenance::Definitions;
use crate::inspect::advice::AdvisedPlan;

/// The property of an HTTP request that may hold a whole URL.
const PATH: &str = "HTTPSampler.path";

/// Reports ports that are known before the run and too high.
pub fn too_high(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if is_as_jmeter(sight.settings, PROPERTY) {
        return findings;
    }
    for element in &sight.all {
        for prop in &element.props {
            let name = prop.name.as_str();
            let is_url = name == PATH;
            if !is_port(name) && !is_url {
                continue;
            }
            let text = prop.value.as_str();
            if is_url && !text.contains("://") && !text.contains("${") {
                continue;
            }
            let Some((value, _)) = definitions.value(&text) else {
                continue;
            };
            let port = match is_url {
                true if value.contains("://") => bad_port(&value),
                true => None,
                false => Some(value.trim()).filter(|port| is_too_high(port)),
            };
            if let Some(port) = port {
                let message = format!("`{port}` in {name} of '{}' is not a port", element.name);
                let help =
                    format!("{PORT}, or let the samples fail as in JMeter: `-J{PROPERTY}=jmeter`");
                findings.push(element.error("bad-port", message).about(name).help(help));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{codes, findings, group};

    fn found(property: &str, value: &str, given: &[(&str, &str)]) -> Vec<&'static str> {
        let sampler = format!(
            r#"<HTTPSamplerProxy guiclass="g" testclass="HTTPSamplerProxy" testname="s"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
            <stringProp name="{property}">{value}</stringProp></HTTPSamplerProxy><hashTree/>"#
        );
        codes(&findings(&group("1", "1", &sampler), given, Path::new("")))
    }

    #[test]
    fn a_port_above_65535_is_refused_where_it_is_known() {
        for (property, value) in [
            ("HTTPSampler.port", "70000"),
            ("HTTPSampler.port", "${__P(port,99999)}"),
            ("HTTPSampler.proxyPort", "65536"),
            ("HTTPSampler.path", "http://127.0.0.1:70000/x"),
        ] {
            assert_eq!(found(property, value, &[]), ["bad-port"], "{value}");
            let as_jmeter = [("drumfire.bad_numbers", "jmeter")];
            assert!(found(property, value, &as_jmeter).is_empty());
        }
        for (property, value) in [
            ("HTTPSampler.port", "65535"),
            ("HTTPSampler.port", ""),
            ("HTTPSampler.port", "${port}"),
            ("HTTPSampler.path", "/a:70000"),
        ] {
            assert!(
                !found(property, value, &[]).contains(&"bad-port"),
                "{value}"
            );
        }
    }
}
