//! Checks the `.proto` files, methods, requests and metadata of gRPC samplers.

use drumfire_jmx::Diagnostic;

use super::files::PROPERTY;
use super::provenance::Definitions;
use super::{is_as_jmeter, samplers};
use crate::elements::samplers::grpc::GrpcCheck;
use crate::inspect::advice::AdvisedPlan;

/// Reports what would fail every sample of a gRPC sampler.
pub fn faults(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    // All findings are errors, and reading `.proto` files takes time.
    if is_as_jmeter(sight.settings, PROPERTY) {
        return Vec::new();
    }
    let check = GrpcCheck::default();
    let base_dir = &sight.settings.base_dir;
    samplers::faults(sight, definitions, |element, value, remedy| {
        check.element(element, base_dir, value, remedy)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{findings, group};

    const PROTO: &str = r#"syntax = "proto3"; package shop;
        message Item { int32 id = 1; string name = 2; }
        service Shop { rpc Get(Item) returns (Item); }"#;

    fn found(
        folder: &Path,
        properties: &[(&str, &str)],
        given: &[(&str, &str)],
    ) -> Vec<(String, String)> {
        let properties: String = properties
            .iter()
            .map(|(name, value)| {
                format!(r#"<stringProp name="GRPCSampler.{name}">{value}</stringProp>"#)
            })
            .collect();
        let sampler = format!(
            r#"<vn.zalopay.benchmark.GRPCSampler guiclass="g" testclass="vn.zalopay.benchmark.GRPCSampler" testname="s">
            <stringProp name="GRPCSampler.host">127.0.0.1</stringProp><stringProp name="GRPCSampler.port">1</stringProp>{properties}
            </vn.zalopay.benchmark.GRPCSampler><hashTree/>"#
        );
        let all = findings(&group("1", "1", &sampler), given, folder);
        let own = all
            .into_iter()
            .filter(|finding| finding.code.starts_with("grpc-"));
        own.map(|finding| (finding.code.to_owned(), finding.message))
            .collect()
    }

    #[test]
    fn what_fails_every_sample_is_told_before_the_run() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("protos")).expect("a folder");
        std::fs::write(folder.path().join("protos/shop.proto"), PROTO).expect("a file");
        let get = ("fullMethod", "shop.Shop/Get");
        let protos = ("protoFolder", "protos");
        for (properties, code, message) in [
            (vec![protos, get, ("requestJson", "{name: 1}")], "", ""),
            (vec![protos, get, ("requestJson", "{id: ${id}}")], "", ""),
            (
                vec![protos, get, ("requestJson", "{id: x}")],
                "grpc-request",
                "the request of `shop.Shop/Get` does not fit: in `id`: `x` is not of the type `int32`, in 's'",
            ),
            (
                vec![protos, ("fullMethod", "shop.Shop/Got")],
                "grpc-method",
                "there is no method `shop.Shop/Got`; did you mean `shop.Shop/Get`?, in 's'",
            ),
            (
                vec![protos, get, ("metadata", "token")],
                "grpc-metadata",
                "",
            ),
            (vec![("protoFolder", "nowhere"), get], "grpc-proto", ""),
            (vec![get], "", ""),
        ] {
            let found = found(folder.path(), &properties, &[]);
            let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
            assert_eq!(codes.join(","), code, "{properties:?}");
            if !message.is_empty() {
                assert_eq!(found[0].1, message);
            }
        }
        let as_jmeter = [("drumfire.missing_files", "jmeter")];
        assert!(
            found(
                folder.path(),
                &[("protoFolder", "nowhere"), get],
                &as_jmeter
            )
            .is_empty()
        );
    }
}
