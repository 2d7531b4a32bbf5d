//! Holds the layers of the engine and the size of circles among the files of every crate. A `crate::`, `super::` or `self::`
//! path counts as an arrow from its file to the file of the module that it names, and so does a `use` of a module that the
//! file declares.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folders of `src/`, each of which may import those before it.
const LAYERS: [&str; 7] = [
    "base", "resolve", "run", "decode", "elements", "bind", "inspect",
];

/// The largest circle of files that a crate may have.
const LARGEST_CIRCLE: usize = 5;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate, with their files. Tests and the ways in of fuzz targets are left out.
fn modules(folder: &Path, path: &[String], found: &mut BTreeMap<String, PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the sources can be listed");
    for entry in entries.map(|entry| entry.expect("the sources can be listed").path()) {
        let name = entry.file_stem().and_then(|name| name.to_str());
        let name = name.expect("sources have plain names").to_owned();
        let own = [path, std::slice::from_ref(&name)].concat();
        if entry.is_dir() && name != "tests" {
            modules(&entry, &own, found);
        } else if entry.extension().is_some_and(|kind| kind == "rs") {
            match name.as_str() {
                "tests" | "fixture" | "tour" | "fuzzing" => {}
                "mod" | "lib" | "main" => drop(found.insert(path.join("::"), entry)),
                _ => drop(found.insert(own.join("::"), entry)),
            }
        }
    }
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn expand(path: &str, found: &mut Vec<String>) {
    let Some((head, rest)) = path.split_once('{') else {
        return found.push(path.to_owned());
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start) = (0, 0);
    for (at, byte) in inner.bytes().chain([b',']).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 0 => {
                if start < at {
                    expand(&format!("{head}{}", &inner[start..at]), found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// A source without comments and unit tests.
fn code(source: &str) -> String {
    let code: Vec<&str> = source
        .lines()
        .take_while(|line| *line != "mod tests {")
        .map(|line| line.split("//").next().unwrap_or(line))
        .collect();
    code.join("\n")
}

/// The paths of a source that begin with `crate`, `super` or `self`, without those of its unit tests.
fn paths(source: &str) -> Vec<String> {
    let code = code(source);
    let declared = |name: &str| {
        let declaration = format!("mod {name};");
        let lines = code.lines().map(str::trim_start);
        lines
            .map(|line| line.trim_start_matches("pub "))
            .any(|line| line.ends_with(&declaration))
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let statement = code[at + 4..].split(';').next().unwrap_or("");
        let path = without_aliases(statement);
        let first = path.split("::").next().unwrap_or("");
        if !first.is_empty() && declared(first) {
            expand(&format!("self::{path}"), &mut found);
        } else if ["crate::", "super::", "self::"]
            .iter()
            .any(|root| path.starts_with(root))
        {
            expand(&path, &mut found);
        }
    }
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = code[at..].find(|c| !is_part(c)).unwrap_or(code.len() - at);
            // a group of names is in a `use`
            let path = code[at..at + end].trim_end_matches(':');
            found.extend(path.contains("::").then(|| path.to_owned()));
        }
    }
    found
}

/// The path of a `use` without white space and without the names behind `as`.
fn without_aliases(statement: &str) -> String {
    let mut parts = statement.split(" as ");
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([',', '}']).unwrap_or(part.len());
        path.push_str(&part[end..]);
    }
    path.split_whitespace().collect()
}

fn graph(src: &Path) -> Graph {
    let mut files = BTreeMap::new();
    modules(src, &[], &mut files);
    let arrows = |module: &String, file: &PathBuf| {
        let source = std::fs::read_to_string(file).expect("the sources can be read");
        let own: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let target = |path: String| {
            let mut at = own.clone();
            let mut parts = path.split("::").peekable();
            if parts.next_if_eq(&"crate").is_some() {
                at.clear();
            }
            while let Some(part) = parts.next_if(|part| ["super", "self"].contains(part)) {
                if part == "super" {
                    at.pop();
                }
            }
            at.extend(parts);
            while !at.is_empty() && !files.contains_key(&at.join("::")) {
                at.pop();
            }
            let target = at.join("::");
            (!target.is_empty() && target != *module).then_some(target)
        };
        paths(&source).into_iter().filter_map(target).collect()
    };
    files
        .iter()
        .map(|(module, file)| (module.clone(), arrows(module, file)))
        .collect()
}

/// Everything that can be reached from a module.
fn reach<'g>(graph: &'g Graph, from: &'g str) -> BTreeSet<&'g str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    seen
}

/// The files of the largest circle.
fn largest_circle(graph: &Graph) -> Vec<&str> {
    let reached: BTreeMap<&str, _> = graph
        .keys()
        .map(|module| (module.as_str(), reach(graph, module)))
        .collect();
    let circle = |module: &&str| -> Vec<&str> {
        let there = reached[module].iter();
        there
            .copied()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(module)))
            .collect()
    };
    let circles = reached.keys().map(circle);
    circles.max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn no_layer_imports_a_later_one() {
    let graph = graph(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let rank = |module: &str| {
        let layer = module.split("::").next();
        LAYERS.iter().position(|known| Some(*known) == layer)
    };
    let mut back = BTreeSet::new();
    for (module, targets) in &graph {
        let outside = module.is_empty() || rank(module).is_some();
        assert!(
            outside,
            "{module} is in no layer: put it into one of {LAYERS:?}"
        );
        for target in targets {
            if rank(module)
                .zip(rank(target))
                .is_some_and(|(own, other)| other > own)
            {
                back.insert((module.as_str(), target.as_str()));
            }
        }
    }
    assert!(back.is_empty(), "arrows back: {back:#?}");
}

/// The file whose types the views of `run/view.rs` stand for.
const WHOLE_USER: &str = "crate::run::context::Context";

/// Roles that see all of a user, beside the files of samplers: samplers that Java runs, controllers of Java classes, and the managers
/// that samplers consult.
const SEES_ALL: [&str; 3] = [
    "crate::run::sampler::Sampler",
    "crate::run::roles::Driver",
    "crate::run::roles::ThreadIterationListener",
];

#[test]
fn elements_import_the_view_of_their_role() {
    let mut files = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/elements");
    modules(&folder, &["elements".to_owned()], &mut files);
    let mut viewing = 0;
    for (module, file) in &files {
        let source = std::fs::read_to_string(file).expect("the sources can be read");
        let paths: BTreeSet<String> = paths(&source).into_iter().collect();
        let has_view = paths
            .iter()
            .any(|path| path.starts_with("crate::run::view::"));
        let sees_all = module.starts_with("elements::samplers")
            || SEES_ALL.iter().any(|role| paths.contains(*role));
        if has_view && !sees_all {
            viewing += 1;
            assert!(!paths.contains(WHOLE_USER), "{module} sees the whole user");
        }
        // Texts set variables through their scope, and an assertion must not.
        if module.starts_with("elements::assertions") {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let code = code(&source);
            let mut words = code.split(|c| !is_word(c));
            assert!(!words.any(|word| word == "Scope"), "{module} sees a scope");
        }
    }
    assert!(viewing > 40, "only {viewing} elements have a view");
}

#[test]
fn circles_of_files_are_small() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).expect("the crates can be listed") {
        let folder = entry.expect("the crates can be listed").path();
        if !folder.join("src").is_dir() {
            continue;
        }
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.expect("crates have plain names");
        let graph = graph(&folder.join("src"));
        let circle = largest_circle(&graph);
        assert!(
            circle.len() <= LARGEST_CIRCLE,
            "{name} has a circle of {}: {circle:#?}",
            circle.len()
        );
    }
}

#[test]
fn paths_are_found_in_sources() {
    let source = "mod i;\nuse crate::a::{b::{C, D as d}, e as l};\nuse super::f;\npub use i::J;\nuse std::k;\nlet x = crate::g::h(); // crate::no\n#[cfg(test)]\nmod tests {\nuse crate::no;";
    let found: BTreeSet<String> = paths(source).into_iter().collect();
    let wanted = [
        "crate::a",
        "crate::a::b::C",
        "crate::a::b::D",
        "crate::a::e",
        "crate::g::h",
        "self::i::J",
        "super::f",
    ];
    assert_eq!(found, wanted.map(str::to_owned).into());
}
