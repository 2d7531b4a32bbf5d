//! Holds class names within the facts: no other code spells the class of an element.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use drumfire_elements::all;

/// Files that still spell classes, with the number of times and the reason. A number only goes down.
const LEFT: [(&str, usize, &str); 7] = [
    ("commands/src/fleet/mod.rs", 2, "not switched yet"),
    ("commands/src/run/run_file/mod.rs", 2, "not switched yet"),
    (
        "jmx/src/classes.rs",
        17,
        "the facts import it; it is JMeter's table of short names",
    ),
    (
        "jmx/src/defaults.rs",
        3,
        "the facts import it; the names are values of a property",
    ),
    (
        "jmx/src/upgrade.rs",
        3,
        "the facts import it; it reads plans of old versions",
    ),
    (
        "jmx/src/write.rs",
        1,
        "the facts import it; every plan has a Test Plan",
    ),
    (
        "lsp/src/outline.rs",
        1,
        "it is the end of unknown classes' names",
    ),
];

/// The starts of a file's unit tests.
const TESTS: [&str; 2] = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(crate) mod "];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the sources can be listed");
    for entry in entries {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Whether a file holds tests and what they need.
fn is_for_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(name, Some("tests.rs" | "fixture.rs" | "tour.rs"))
        || path.components().any(|part| part.as_os_str() == "tests")
}

/// The plain string literals of a source that is no test. Comments and literals of several lines are left out.
fn literals(source: &str) -> Vec<&str> {
    let ends = TESTS.iter().filter_map(|start| source.find(start));
    let code = &source[..ends.min().unwrap_or(source.len())];
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

/// How often each file outside the facts spells a class.
fn counts() -> BTreeMap<String, usize> {
    let classes: BTreeSet<&str> = all().map(|facts| facts.class).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the crates can be listed") {
        let folder = entry.expect("the crates can be listed").path();
        let is_other = !folder.ends_with("elements") && !folder.ends_with("testkit");
        if is_other && folder.join("src").is_dir() {
            sources(&folder.join("src"), &mut files);
        }
    }
    let mut counts = BTreeMap::new();
    for file in files.iter().filter(|file| !is_for_tests(file)) {
        let source = std::fs::read_to_string(file).expect("a source can be read");
        let spelt = literals(&source)
            .into_iter()
            .filter(|text| classes.contains(text));
        let count = spelt.count();
        if count > 0 {
            let file = file.strip_prefix(&crates).expect("it is below the crates");
            counts.insert(file.to_string_lossy().replace('\\', "/"), count);
        }
    }
    counts
}

#[test]
fn a_class_is_spelt_in_its_facts_and_nowhere_else() {
    let counts = counts();
    let left: BTreeMap<String, usize> = LEFT
        .iter()
        .map(|(file, count, _)| ((*file).to_owned(), *count))
        .collect();
    let mut wrong = Vec::new();
    for (file, count) in &counts {
        match left.get(file) {
            None => wrong.push(format!(
                "{file} spells {count} classes: use the constants of `elements`"
            )),
            Some(allowed) if allowed != count => {
                wrong.push(format!(
                    "{file} spells {count} classes, {allowed} are listed"
                ));
            }
            Some(_) => {}
        }
    }
    for file in left.keys().filter(|file| !counts.contains_key(*file)) {
        wrong.push(format!(
            "{file} spells no class any more: take it off the list"
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn classes_in_code_are_seen_and_those_in_comments_and_tests_are_not() {
    let source = "// \"A\"\nlet a = f(\"B\", 'x', \"C\");\n#[cfg(test)]\nmod tests { \"D\" }";
    assert_eq!(literals(source), ["B", "C"]);
}
