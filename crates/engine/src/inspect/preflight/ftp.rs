//! Checks the settings of FTP Requests.

use drumfire_elements::samplers::ftp_request;
use drumfire_jmx::Diagnostic;

use super::provenance::Definitions;
use super::samplers;
use crate::elements::samplers::ftp;
use crate::inspect::advice::AdvisedPlan;

/// Reports what would fail every sample of an FTP Request, and settings that are not honoured.
pub fn faults(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    let mut all = sight.all.iter().copied();
    let is_alone = !all.any(ftp::may_add_properties);
    samplers::faults(sight, definitions, |element, value, remedy| {
        match element.class.as_str() {
            ftp_request::CLASS => ftp::faults(element, value, is_alone, remedy),
            _ => Vec::new(),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{findings, group};

    /// The messages for a request with these properties, without `FTPSampler.`.
    fn found(properties: &[(&str, &str)], more: &str, given: &[(&str, &str)]) -> String {
        let properties: String = properties
            .iter()
            .map(|(name, value)| {
                format!(r#"<stringProp name="FTPSampler.{name}">{value}</stringProp>"#)
            })
            .collect();
        let sampler = format!(
            r#"<FTPSampler guiclass="FtpTestSamplerGui" testclass="FTPSampler" testname="s">{properties}</FTPSampler><hashTree/>{more}"#
        );
        let all = findings(&group("1", "1", &sampler), given, Path::new("."));
        let own = all.into_iter().filter(|one| one.code.starts_with("ftp-"));
        own.map(|one| one.message).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_fails_every_sample_or_is_not_honoured_is_told_before_the_run() {
        let named = [("server", "h"), ("filename", "f")];
        let with = |more: &[(&'static str, &'static str)]| [&named, more].concat();
        let store = ("upload", "true");
        for (properties, told) in [
            (with(&[]), ""),
            (with(&[("port", "2121"), ("saveresponse", "true")]), ""),
            (with(&[store, ("inputdata", "text")]), ""),
            (with(&[store, ("localfilename", "${file}")]), ""),
            (with(&[store]), "there is nothing to store, in 's'"),
            (
                with(&[store, ("inputdata", "text"), ("saveresponse", "true")]),
                "a request that stores a file has no response to save, in 's'",
            ),
            (
                with(&[store, ("inputdata", "text"), ("localfilename", "file")]),
                "the local file is not read, because there are local file contents, in 's'",
            ),
            (
                with(&[("inputdata", "text")]),
                "the local file contents are not used, because the request fetches a file, in 's'",
            ),
            (
                with(&[("port", "abc")]),
                "the port `abc` is not a number, so 21 is taken, in 's'",
            ),
            (
                vec![],
                "no server is named, so this machine is taken, in 's'; no remote file is named, which servers refuse, in 's'",
            ),
        ] {
            assert_eq!(found(&properties, "", &[]), told, "{properties:?}");
        }
        let as_jmeter = [("drumfire.missing_files", "jmeter")];
        assert_eq!(found(&with(&[store]), "", &as_jmeter), "");
        let defaults = r#"<ConfigTestElement guiclass="FtpConfigGui" testclass="ConfigTestElement" testname="d"/><hashTree/>"#;
        assert_eq!(found(&[store], defaults, &[]), "");
    }
}
