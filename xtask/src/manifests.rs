//! Tests of what the manifests promise: the profiles name crates that exist, and no crate is built twice.

use std::collections::{BTreeMap, BTreeSet};

use xtask::{cargo, output, root};

/// The crates to which the profiles of `Cargo.toml` give options of their own.
fn crates_of_profiles(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            let own = section
                .strip_prefix("profile.")
                .and_then(|own| own.split_once(".package."));
            names.extend(own.map(|(_, name)| name.trim_matches('"').to_owned()));
        } else if section.starts_with("profile.") && section.ends_with(".package") {
            let name = line.split_once('=').map(|(name, _)| name.trim());
            names.extend(
                name.filter(|name| !name.starts_with('#'))
                    .map(str::to_owned),
            );
        }
    }
    names.retain(|name| name != "*");
    names
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).expect("the workspace has this file")
}

#[test]
fn profiles_name_only_crates_of_the_lock_file() {
    let lock = read("Cargo.lock");
    let locked: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    let named = crates_of_profiles(&read("Cargo.toml"));
    assert!(
        named.iter().any(|name| name == "drumfire-commands"),
        "{named:?}"
    );
    let unknown: Vec<&String> = named
        .iter()
        .filter(|name| !locked.contains(name.as_str()))
        .collect();
    assert!(unknown.is_empty(), "Cargo.lock has no {unknown:?}");
}

#[test]
fn crates_of_profiles_are_found_in_tables_and_in_sections() {
    let manifest = "[package]\nx = 1\n[profile.release]\nlto = false\n[profile.release.package]\n# cold = 1\na = { opt-level = 1 }\n\
        [profile.dev.package.b-c]\nopt-level = 3\n[profile.dev.package.\"*\"]\ndebug = false\n[dependencies]\nd = \"1\"\n";
    assert_eq!(crates_of_profiles(manifest), ["a", "b-c"]);
}

/// The features of each crate in a selection of packages. A crate may have two sets: for the program, and for build scripts.
fn features(selection: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut tree = cargo();
    tree.args([
        "tree",
        "--offline",
        "--locked",
        "--prefix",
        "none",
        "--format",
        "{p}|{f}",
    ]);
    let tree = output(tree.args(selection)).expect("cargo tree runs");
    let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // An empty line separates the packages that are selected.
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let line = line.trim_end_matches(" (*)");
        let (name, set) = line.split_once('|').expect("the format has a bar");
        features
            .entry(name.trim_end_matches(" (proc-macro)").to_owned())
            .or_default()
            .insert(set.to_owned());
    }
    features
}

/// `cargo build` makes the program for a user's first run. `cargo test --workspace` and the development commands build with more
/// packages. If those gave a crate more features, it and all crates above it would be compiled again.
#[test]
fn the_program_alone_has_the_features_of_the_whole_workspace() {
    // Without build scripts and macros, each crate has one set of features; with them, it may have two.
    for [alone, whole] in [
        ["normal,no-proc-macro", "normal,dev,no-proc-macro"],
        ["normal,no-proc-macro", "normal,no-proc-macro"],
        ["normal,build", "normal,build,dev"],
    ] {
        let program = features(&["--package", "drumfire", "--edges", alone]);
        let workspace = features(&["--workspace", "--edges", whole]);
        assert!(program.len() > 100, "{}", program.len());
        for (name, sets) in &program {
            let others = &workspace[name];
            assert!(
                sets.is_subset(others),
                "{name} is built twice: for the program with the features {sets:?}, for {whole} of the workspace with {others:?}"
            );
        }
    }
}
