//! `cargo xtask tidy`: what CONTRIBUTING.md promises of the files and of the history, as far as a program can see it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use xtask::{output, root};

/// The lines that a source file may have.
const LONGEST_FILE: usize = 800;
/// The lines that a function's body may have, with its braces. Tests may be longer: they tell one story from top to bottom.
const LONGEST_FUNCTION: usize = 70;
/// The characters that the subject of a commit may have.
const LONGEST_SUBJECT: usize = 72;
/// The page that says where everything is.
const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Words that say nothing about a type or a module.
const EMPTY_WORDS: [&str; 3] = ["Helper", "Util", "Utils"];
/// The programs of integration tests beside `all`, and why each stands apart.
const TEST_PROGRAMS: &[(&str, &str)] = &[
    ("crates/cli/tests/timed.rs", "it measures time"),
    ("crates/cli/tests/verdict.rs", "it watches the machine"),
    (
        "crates/engine/tests/http3.rs",
        "it has a feature of its own",
    ),
    ("crates/expr/tests/allocations.rs", "it counts allocations"),
    ("crates/fiber/tests/waits.rs", "its crate has no other"),
    ("crates/http/tests/http3.rs", "it has a feature of its own"),
    ("crates/import/tests/mutations.rs", "its crate has no other"),
    ("crates/java/tests/golden.rs", "its crate has no other"),
    ("crates/maven/tests/maven.rs", "its crate has no other"),
    ("crates/recorder/tests/proxy.rs", "its crate has no other"),
    ("crates/report/tests/memory.rs", "it counts allocations"),
    (
        "crates/results/tests/allocations.rs",
        "it counts allocations",
    ),
    ("crates/results/tests/memory.rs", "it counts allocations"),
];

/// Fails with a line for each violation.
pub fn tidy() -> anyhow::Result<()> {
    if !root().join(".git").exists() {
        println!("skipped: this is no clone, so nothing tells which files belong to the project");
        return Ok(());
    }
    let files = Files::tracked()?;
    let mut violations = Vec::new();
    violations.extend(long_files(&files));
    violations.extend(long_functions(&files));
    violations.extend(empty_words(&files));
    violations.extend(missing_paths(&files));
    violations.extend(missing_ends(&files));
    violations.extend(orphans(&files));
    violations.extend(unlinked_pages(&files));
    violations.extend(test_programs(&files));
    violations.extend(subjects(&new_subjects()?));
    if !violations.is_empty() {
        bail!("{}", violations.join("\n"));
    }
    Ok(())
}

/// The text files of a tree by path from its root. Cases of `compat/` hold plans, and made pages hold texts of other places.
struct Files(BTreeMap<String, String>);

impl Files {
    fn tracked() -> anyhow::Result<Files> {
        let names = output(
            std::process::Command::new("git")
                .arg("ls-files")
                .current_dir(root()),
        )?;
        Ok(Files(names.lines().map(read).collect()))
    }

    fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(|(name, _)| name.ends_with(".rs"))
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The files and folders.
    fn paths(&self) -> BTreeSet<&str> {
        let mut paths = BTreeSet::new();
        for name in self.0.keys() {
            paths.insert(name.as_str());
            for (end, _) in name.match_indices('/') {
                paths.insert(&name[..end]);
            }
        }
        paths
    }
}

fn read(name: &str) -> (String, String) {
    // A file that is no text has no words to check. Its name counts.
    let text = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    (name.to_owned(), text)
}

fn long_files(files: &Files) -> Vec<String> {
    files
        .sources()
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(name, lines)| format!("{name}: {lines} lines, more than {LONGEST_FILE}: split it"))
        .collect()
}

/// Functions of the product whose body is too long. rustfmt puts its last brace below the first word of its head.
fn long_functions(files: &Files) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, text) in files.sources().filter(|(name, _)| !is_test(name)) {
        let text = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| begins_function(line))
        {
            let indent = &line[..line.len() - line.trim_start().len()];
            let last = format!("{indent}}}");
            let rest = &lines[index..];
            let first = rest.iter().position(|line| line.ends_with(['{', '}', ';']));
            let length = first.and_then(|first| {
                let body = rest[first..].iter().position(|line| *line == last)?;
                rest[first].ends_with('{').then_some(body + 1)
            });
            if length.is_some_and(|length| length > LONGEST_FUNCTION) {
                violations.push(format!(
                    "{name}:{}: a function of more than {LONGEST_FUNCTION} lines: split it",
                    index + 1
                ));
            }
        }
    }
    violations
}

fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.contains("/examples/") || name.ends_with("/tests.rs")
}

fn begins_function(line: &str) -> bool {
    let mut words = line.trim_start().split(' ').skip_while(|word| {
        word.starts_with("pub")
            || word.ends_with(')')
            || ["const", "async", "unsafe", "extern", "\"C\""].contains(word)
    });
    words.next() == Some("fn")
}

/// Types and modules whose names end with an empty word.
fn empty_words(files: &Files) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, text) in files.sources() {
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_named = words.any(|word| ["struct", "enum", "trait", "mod"].contains(&word));
            let Some(item) = words.next().filter(|_| is_named) else {
                continue;
            };
            let lower = |word: &str| item.ends_with(&format!("_{}", word.to_lowercase()));
            let is_empty = |word: &&str| item.ends_with(*word) || lower(word);
            if let Some(word) = EMPTY_WORDS.iter().find(|word| is_empty(word)) {
                let number = index + 1;
                violations.push(format!(
                    "{name}:{number}: `{item}`: `{word}` says nothing; name what it is"
                ));
            }
        }
    }
    violations
}

/// Paths in pages and comments that lead nowhere.
fn missing_paths(files: &Files) -> Vec<String> {
    let paths = files.paths();
    let roots: BTreeSet<&str> = paths
        .iter()
        .filter_map(|path| path.split_once('/'))
        .map(|(first, _)| first)
        .collect();
    let mut violations = Vec::new();
    for (name, text) in &files.0 {
        let is_page = name.ends_with(".md");
        if name.starts_with("compat/") || !(is_page || name.ends_with(".rs")) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            if !is_page && !line.trim_start().starts_with("//") {
                continue;
            }
            for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c))) {
                let path = word.trim_end_matches(['.', '/']);
                let Some((first, rest)) = path.split_once('/') else {
                    continue;
                };
                let is_placeholder = rest.split('/').any(|part| part == part.to_uppercase());
                // `make` builds it.
                let is_made = path.ends_with(".vsix");
                // A method of the Model Context Protocol.
                let is_method = path == "tools/call";
                let is_path = !(is_placeholder || is_made || is_method);
                if roots.contains(first) && !paths.contains(path) && is_path {
                    let number = index + 1;
                    violations.push(format!("{name}:{number}: there is no `{path}`"));
                }
            }
        }
    }
    violations
}

/// Paths in ARCHITECTURE.md that no file or folder ends with. That page shortens paths from their left.
fn missing_ends(files: &Files) -> Vec<String> {
    let paths = files.paths();
    let text = files.0.get(ARCHITECTURE).map_or("", String::as_str);
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for span in line.split('`').skip(1).step_by(2) {
            let is_path = (span.contains('/') || span.ends_with(".rs"))
                && span
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
            let end = format!("/{}", span.trim_end_matches('/'));
            if is_path && !paths.iter().any(|path| format!("/{path}").ends_with(&end)) {
                let number = index + 1;
                violations.push(format!(
                    "{ARCHITECTURE}:{number}: nothing ends with `{span}`"
                ));
            }
        }
    }
    violations
}

/// Sources that no `mod` names, so that nothing compiles them.
fn orphans(files: &Files) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, _) in files.sources() {
        let Some((folder, file)) = name.rsplit_once('/') else {
            continue;
        };
        let (folder, module) = match file {
            "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
            _ => (folder, file.trim_end_matches(".rs")),
        };
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|parent| format!("{folder}/{parent}"));
        let mut texts = parents
            .iter()
            .filter_map(|parent| files.0.get(parent))
            .peekable();
        // Without a parent it is a program, a test or an example by itself.
        if parents.iter().any(|parent| parent == name) || texts.peek().is_none() {
            continue;
        }
        let declared = format!("mod {module};");
        let elsewhere = format!("{module}.rs\"]");
        let is_named = texts.any(|text| text.contains(&declared))
            || files.sources().any(|(_, text)| text.contains(&elsewhere));
        if !is_named {
            violations.push(format!("{name}: no `{declared}` in {folder}"));
        }
    }
    violations
}

/// Pages that the table of contents lacks, and pictures that no page shows.
fn unlinked_pages(files: &Files) -> Vec<String> {
    let pages: String = files
        .0
        .iter()
        .filter(|(name, _)| is_page(name))
        .map(|(_, text)| text.as_str())
        .collect();
    let contents = files.0.get("docs/SUMMARY.md").map_or("", String::as_str);
    files
        .0
        .keys()
        .filter_map(|name| Some((name, name.strip_prefix("docs/")?)))
        .filter(|(_, path)| *path != "SUMMARY.md")
        .filter_map(|(name, path)| {
            if is_page(path) {
                (!contents.contains(path)).then(|| format!("{name}: docs/SUMMARY.md lacks it"))
            } else {
                let file = path.rsplit('/').next().unwrap_or(path);
                (!pages.contains(file)).then(|| format!("{name}: no page names it"))
            }
        })
        .collect()
}

fn is_page(name: &str) -> bool {
    name.ends_with(".md")
}

/// Integration tests beside `tests/all` that have no reason: each is linked for itself, and runs while the others wait.
fn test_programs(files: &Files) -> Vec<String> {
    let apart: BTreeSet<&str> = TEST_PROGRAMS.iter().map(|(name, _)| *name).collect();
    files
        .sources()
        .map(|(name, _)| name)
        .filter(|name| {
            let inside = name.strip_prefix("crates/").and_then(|path| path.split_once("/tests/"));
            inside.is_some_and(|(_, path)| !path.contains('/') || path.ends_with("/main.rs"))
        })
        .filter(|name| !name.ends_with("/tests/all/main.rs") && !apart.contains(name))
        .map(|name| format!("{name}: make it a module of tests/all/main.rs, or give a reason in xtask/src/tidy.rs"))
        .collect()
}

/// The subjects of the commits since the one that brought this check. Empty where git has no history.
fn new_subjects() -> anyhow::Result<String> {
    let added = git(&[
        "log",
        "--diff-filter=A",
        "--format=%H",
        "--",
        "xtask/src/tidy.rs",
    ])?;
    match added.lines().last() {
        Some(first) => git(&[
            "log",
            "--no-merges",
            "--format=%s",
            &format!("{first}..HEAD"),
        ]),
        None => Ok(String::new()),
    }
}

fn git(words: &[&str]) -> anyhow::Result<String> {
    output(
        std::process::Command::new("git")
            .args(words)
            .current_dir(root()),
    )
}

fn subjects(log: &str) -> Vec<String> {
    log.lines()
        .filter(is_wrong)
        .map(|subject| format!("commit `{subject}`: write 'area: what changed', {LONGEST_SUBJECT} characters at most"))
        .collect()
}

fn is_wrong(subject: &&str) -> bool {
    let area = subject.split_once(": ").map_or("", |(area, _)| area);
    area.is_empty() || subject.chars().count() > LONGEST_SUBJECT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        tidy().unwrap();
    }

    /// Each check finds its planted violation.
    #[test]
    fn violations_are_found() {
        let long = "x\n".repeat(801);
        let function = format!(
            "impl A {{\n    pub(in a) async fn b(\n    ) {{\n{}    }}\n}}\n",
            "        x\n".repeat(69)
        );
        let planted = Files(
            [
                (
                    "crates/a/src/lib.rs",
                    "mod b;\n/// See crates/a/src/gone.rs.\nstruct RowHelper;\nmod file_util;\n",
                ),
                ("crates/a/src/b.rs", long.as_str()),
                ("crates/a/src/c.rs", function.as_str()),
                ("crates/a/src/d/mod.rs", ""),
                ("crates/a/tests/all/main.rs", ""),
                ("crates/a/tests/e.rs", ""),
                ("docs/SUMMARY.md", "[f](f.md)\n"),
                (
                    "docs/f.md",
                    "`crates/a/src` and crates/DIR are fine, crates/b/ is not\n",
                ),
                ("docs/g.md", ""),
                ("ARCHITECTURE.md", "`a/src/b.rs`, `src/`\nand `x/c.rs`\n"),
                ("docs/h.png", ""),
            ]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
        );
        let names = |violations: Vec<String>| -> Vec<String> {
            let name = |line: &String| line.split(": ").next().unwrap_or_default().to_owned();
            violations.iter().map(name).collect()
        };
        assert_eq!(names(long_files(&planted)), ["crates/a/src/b.rs"]);
        assert_eq!(names(long_functions(&planted)), ["crates/a/src/c.rs:2"]);
        assert_eq!(
            names(empty_words(&planted)),
            ["crates/a/src/lib.rs:3", "crates/a/src/lib.rs:4"]
        );
        assert_eq!(
            names(missing_paths(&planted)),
            ["crates/a/src/lib.rs:2", "docs/f.md:1"]
        );
        assert_eq!(
            names(orphans(&planted)),
            ["crates/a/src/c.rs", "crates/a/src/d/mod.rs"]
        );
        assert_eq!(names(missing_ends(&planted)), ["ARCHITECTURE.md:2"]);
        assert_eq!(names(unlinked_pages(&planted)), ["docs/g.md", "docs/h.png"]);
        assert_eq!(names(test_programs(&planted)), ["crates/a/tests/e.rs"]);
        let log = format!("a: fine\nno area\na: {}\n", "x".repeat(72));
        assert_eq!(subjects(&log).len(), 2);
    }
}
