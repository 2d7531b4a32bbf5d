//! The commands and outputs that README.md and docs/ show are run.
//!
//! A block of `sh` holds commands, which must end as documented. A block of `console` holds commands behind `$ `, each with what it
//! prints: numbers may differ, and a line of `...`, or the same at the end of a line, stands for anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use drumfire_testkit::program::LIMIT;

/// Exit codes of a run that came to its end: 5 and 6 are verdicts on what was measured, 7 is one of `compare`.
const ENDED: [i32; 4] = [0, 5, 6, 7];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A block of code: what it is, and its lines.
struct Block {
    kind: String,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(kind), None) => {
                open = Some(Block {
                    kind: kind.to_owned(),
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line.to_owned());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks
}

/// A folder with the examples, and the shop's plan where CI has it.
fn scratch() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let examples = folder.path().join("examples");
    std::fs::create_dir_all(&examples).expect("there is room");
    for file in std::fs::read_dir(root().join("examples")).expect("examples/ is there") {
        let file = file.expect("it can be read").path();
        let name = file.file_name().expect("it has a name");
        std::fs::copy(&file, examples.join(name)).expect("there is room");
    }
    folder
}

/// Runs a line of the shell and gives its exit code and output.
fn run(line: &str, folder: &Path) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_drumfire"));
    let own = program.parent().expect("it lies in a folder");
    let path = format!(
        "{}:{}",
        own.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let limit = LIMIT.as_secs().to_string();
    let output = Command::new("timeout")
        .args([&limit, "sh", "-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env("NO_COLOR", "1")
        .env_remove("JMETER_HOME")
        .output()
        .expect("a shell is there");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), text)
}

/// Numbers become `N`, blanks one blank.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut in_number = false;
    for character in line.trim().chars() {
        let is_number = character.is_ascii_digit() || in_number && matches!(character, '.' | ',');
        match (is_number, in_number) {
            (true, true) => {}
            (true, false) => plain.push('N'),
            (false, _) if character == ' ' && plain.ends_with(' ') => {}
            (false, _) => plain.push(character),
        }
        in_number = is_number;
    }
    // A time below a millisecond has a unit.
    plain.replace("Nµs", "N")
}

/// Whether the output is what is shown.
fn is_shown(shown: &[String], output: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return output.is_empty();
    };
    if first.trim() == "..." {
        return (0..=output.len()).any(|skipped| is_shown(rest, &output[skipped..]));
    }
    let Some((line, others)) = output.split_first() else {
        return false;
    };
    let is_same = match first.trim_end().strip_suffix("...") {
        Some(beginning) => plain(line).starts_with(plain(beginning).trim_end()),
        None => plain(line) == plain(first),
    };
    is_same && is_shown(rest, others)
}

/// Runs all blocks of a page, and gives what is not as documented.
fn faults(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let folder = scratch();
    let mut faults = Vec::new();
    for block in blocks(&text) {
        match block.kind.as_str() {
            "sh" => {
                for line in &block.lines {
                    if line.trim().is_empty() || line.starts_with("cargo ") {
                        continue;
                    }
                    let (code, output) = run(line, folder.path());
                    if !ENDED.contains(&code) {
                        faults.push(format!("{page}: `{line}` ends with {code}: {output}"));
                    }
                }
            }
            "console" => {
                let mut lines = block.lines.as_slice();
                while let Some((command, rest)) = lines.split_first() {
                    let line = command.strip_prefix("$ ").expect("a command comes first");
                    let next = rest.iter().position(|line| line.starts_with("$ "));
                    let (shown, after) = rest.split_at(next.unwrap_or(rest.len()));
                    lines = after;
                    let (_, output) = run(line, folder.path());
                    let output: Vec<&str> = output.lines().collect();
                    if !is_shown(shown, &output) {
                        faults.push(format!("{page}: `{line}` prints\n{}", output.join("\n")));
                    }
                }
            }
            _ => {}
        }
    }
    faults
}

fn holds(page: &str) {
    let faults = faults(page);
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn the_readme_holds() {
    holds("README.md");
}

#[test]
fn the_first_run_holds() {
    holds("docs/first_run.md");
}

#[test]
fn the_way_from_jmeter_holds() {
    holds("docs/from_jmeter.md");
}

#[test]
fn the_page_on_ci_holds() {
    holds("docs/ci.md");
}

#[test]
fn the_page_on_reports_holds() {
    holds("docs/reports.md");
}

#[test]
fn the_page_on_trust_holds() {
    holds("docs/trust.md");
}

#[test]
fn the_page_on_several_machines_holds() {
    if Command::new("nats-server")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: there is no nats-server on the path");
        return;
    }
    holds("docs/distributed.md");
}

#[test]
fn the_page_on_troubles_holds() {
    holds("docs/troubleshooting.md");
}

/// The files for CI systems call the program with options that it has.
#[test]
fn recipes_for_ci_have_words_that_are_known() {
    let (_, help) = run("drumfire help run", Path::new("."));
    let mut seen = 0;
    for file in [
        "github/run.sh",
        "gitlab/drumfire.gitlab-ci.yml",
        "azure/drumfire.yml",
        "teamcity/settings.kts",
    ] {
        let text = std::fs::read_to_string(root().join("ci").join(file)).expect("it is there");
        let text = text.replace("\\\n", " ");
        let lines = text.lines().filter(|line| !line.contains("curl "));
        for word in lines.flat_map(|line| line.split([' ', '(', ')', '"'])) {
            let is_option = word.len() > 2 && word.starts_with("--");
            if is_option && word != "--annotations`" {
                assert!(
                    help.contains(&format!("{word} ")) || help.contains(&format!("{word}\n")),
                    "{file}: {word}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 20, "{seen} options were found");
}

/// The site has the pages that its table of contents names.
#[test]
fn every_page_is_in_the_sites_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    for folder in ["", "reference/"] {
        let files = std::fs::read_dir(root().join("docs").join(folder)).expect("it is there");
        for file in files.flatten() {
            let name = file.file_name().into_string().expect("names are ASCII");
            if name.ends_with(".md") && name != "SUMMARY.md" {
                let link = format!("]({folder}{name})");
                assert!(
                    contents.contains(&link),
                    "docs/SUMMARY.md lacks {folder}{name}"
                );
            }
        }
    }
}

/// Pages begin with a command that gives a result.
#[test]
fn each_page_begins_with_a_command() {
    for page in [
        "first_run",
        "from_jmeter",
        "ci",
        "reports",
        "trust",
        "troubleshooting",
    ] {
        let path = root().join(format!("docs/{page}.md"));
        let text = std::fs::read_to_string(path).expect("the page is there");
        let first = text.find("drumfire ").expect("it has a command");
        let lines = text[..first].lines().count();
        assert!(
            lines <= 6,
            "docs/{page}.md has its first command in line {lines}"
        );
    }
}

#[test]
fn numbers_differ_and_dots_stand_for_anything() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = ["a 1.25 of 2", "noise", "more", "end  7"];
    assert!(is_shown(&shown("a 9 of 9\n...\nend 8"), &output));
    assert!(is_shown(&shown("a ...\n..."), &output));
    assert!(!is_shown(&shown("a 9 of 9\nend 8"), &output));
    assert!(!is_shown(&shown("..."), &output[..0]) || is_shown(&shown("..."), &[]));
}
