//! Writes the software bill of materials: every crate in the program, as CycloneDX 1.5 JSON.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::FEATURES;

use crate::build::{Target, X86_64};
use crate::{LICENSE, Release, VERSION};

/// Writes `drumfire-VERSION.cdx.json`, for the packages and beside them: the crates that are linked into the programs for x86_64.
pub fn write(release: &Release) -> anyhow::Result<()> {
    let mut components = BTreeMap::new();
    for target in X86_64 {
        components.extend(linked(&metadata(target)?)?);
    }
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "drumfire",
                "name": "drumfire",
                "version": VERSION,
                "licenses": [{"expression": LICENSE}],
            },
        },
        "components": components.into_values().collect::<Vec<_>>(),
    });
    let document = serde_json::to_string_pretty(&document)?;
    let name = format!("drumfire-{VERSION}.cdx.json");
    crate::write(&release.folder.join(&name), &document)?;
    crate::write(&release.share.join("doc/drumfire").join(&name), &document)
}

/// The dependencies for a target, as cargo resolves them.
fn metadata(target: Target) -> anyhow::Result<Value> {
    let mut cargo = xtask::cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    cargo.args(["--filter-platform", &target.name()]);
    cargo.args(["--features", &format!("drumfire/{FEATURES}")]);
    Ok(serde_json::from_str(&xtask::output(&mut cargo)?)?)
}

/// The components that the program is linked with, by their ids.
fn linked(metadata: &Value) -> anyhow::Result<Vec<(String, Value)>> {
    let used = used(metadata)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")?;
    let linked = packages.iter().filter_map(|package| {
        let id = package["id"].as_str()?;
        let is_foreign = package["source"].is_string();
        (is_foreign && used.contains(id)).then(|| (id.to_owned(), component(package)))
    });
    Ok(linked.collect())
}

fn component(package: &Value) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version) = (text("name"), text("version"));
    let url = format!("pkg:cargo/{name}@{version}");
    json!({
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        "licenses": [{"expression": text("license").replace('/', " OR ")}],
    })
}

/// The ids of the packages that `drumfire` needs at run time.
fn used(metadata: &Value) -> anyhow::Result<BTreeSet<String>> {
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .context("cargo metadata resolves")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists packages")?;
    let root = packages
        .iter()
        .find(|package| package["name"] == "drumfire")
        .and_then(|package| package["id"].as_str())
        .context("there is a package drumfire")?;
    let mut used = BTreeSet::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        if !used.insert(id.to_owned()) {
            continue;
        }
        let node = nodes
            .iter()
            .find(|node| node["id"] == id)
            .context("every package is resolved")?;
        for dependency in node["deps"].as_array().into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            // A null kind marks a dependency of the program itself, not of its tests or build script.
            if kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null())) {
                waiting.extend(dependency["pkg"].as_str());
            }
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_program_is_linked_with_counts() {
        let normal = json!([{"kind": null}]);
        let metadata = json!({
            "packages": [{"name": "drumfire", "id": "d"}, {"name": "a", "id": "a"}, {"name": "t", "id": "t"}],
            "resolve": {"nodes": [
                {"id": "d", "deps": [{"pkg": "a", "dep_kinds": normal}, {"pkg": "t", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "a", "deps": []},
                {"id": "t", "deps": []},
            ]},
        });
        let used = used(&metadata).expect("it resolves");
        assert_eq!(used.into_iter().collect::<Vec<_>>(), ["a", "d"]);
    }

    #[test]
    fn a_component_has_a_package_url_and_a_licence_expression() {
        let package = json!({"name": "x", "version": "1.2.3", "license": "MIT/Apache-2.0"});
        let component = component(&package);
        assert_eq!(component["purl"], "pkg:cargo/x@1.2.3");
        assert_eq!(component["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
