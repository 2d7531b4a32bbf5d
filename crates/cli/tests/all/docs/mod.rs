//! Runs the commands that the pages show, as a reader would who pastes them, and compares their exit codes and outputs with what
//! the pages say.
//!
//! A block of `sh` holds commands, and so does a block without a tag that has a line with a program's name in front. A block of
//! `console` holds commands behind `$ `, each with what it prints. A command succeeds, unless a remark beside it announces
//! another code: `# exit code 5`, or `# exit code 6 if …` if it may also succeed. A page that says `in the folder of the clone`
//! is read there; all others are read in an empty folder.
//!
//! `<!-- not run: REASON -->` before a block keeps its commands from being run, and `<!-- needs: PROGRAM -->` where the program is
//! missing. A remark with the words `requests fail` announces failed requests. The options in all blocks and code spans are checked in any case. Commands of cargo are left to
//! `cargo xtask release-check`.

mod blocks;
mod reader;
mod shown;
mod words;

use std::path::Path;

use blocks::{Block, BlockKind, Page, root};
use reader::Reader;

/// How many blocks are not run. Adding one needs a reason, and a look at whether it can be run after all.
const NOT_RUN: usize = 34;

/// Defines the test of each page, and the list of all pages.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page,)*];

        $(#[test]
        fn $name() {
            holds($page);
        })*
    };
}

pages! {
    readme_holds: "README.md",
    contributing_holds: "CONTRIBUTING.md",
    security_holds: "SECURITY.md",
    the_extension_of_vs_code_holds: "editors/vscode/README.md",
    capacity_holds: "docs/capacity.md",
    ci_holds: "docs/ci.md",
    command_line_holds: "docs/command_line.md",
    debug_holds: "docs/debug.md",
    distributed_holds: "docs/distributed.md",
    edit_holds: "docs/edit.md",
    editors_holds: "docs/editors.md",
    first_run_holds: "docs/first_run.md",
    from_browser_holds: "docs/from-browser.md",
    from_jmeter_holds: "docs/from_jmeter.md",
    from_k6_holds: "docs/from_k6.md",
    from_nothing_holds: "docs/from-nothing.md",
    ftp_holds: "docs/ftp.md",
    gallery_holds: "docs/gallery.md",
    git_holds: "docs/git.md",
    grpc_holds: "docs/grpc.md",
    index_holds: "docs/index.md",
    install_holds: "docs/install.md",
    java_holds: "docs/java.md",
    jmeter6_holds: "docs/jmeter6.md",
    live_holds: "docs/live.md",
    mcp_holds: "docs/mcp.md",
    mail_holds: "docs/mail.md",
    mqtt_holds: "docs/mqtt.md",
    outputs_holds: "docs/outputs.md",
    streams_holds: "docs/streams.md",
    performance_holds: "docs/performance.md",
    profiles_holds: "docs/profiles.md",
    reports_holds: "docs/reports.md",
    scripts_holds: "docs/scripts.md",
    stability_holds: "docs/stability.md",
    contents_hold: "docs/SUMMARY.md",
    taurus_holds: "docs/taurus.md",
    traces_holds: "docs/traces.md",
    troubleshooting_holds: "docs/troubleshooting.md",
    trust_holds: "docs/trust.md",
    reference_edit_holds: "docs/reference/edit.md",
    reference_of_elements_holds: "docs/reference/elements.md",
    reference_of_functions_holds: "docs/reference/functions.md",
    reference_of_properties_holds: "docs/reference/properties.md",
    reference_of_secrets_holds: "docs/reference/secrets.md",
    reference_of_the_summary_holds: "docs/reference/summary.md",
    reference_of_trouble_holds: "docs/reference/trouble.md",
}

/// Checks the words of all commands of a page, and runs those that can be run.
fn holds(name: &str) {
    let page = Page::read(name);
    let mut reader = Reader::of(&page);
    let mut faults = Vec::new();
    for block in &page.blocks {
        for command in block.commands() {
            let unknown = words::faults(&command.text).into_iter();
            faults.extend(unknown.map(|fault| format!("{name}:{}: {fault}", block.line)));
        }
        if block.not_run.is_none() {
            faults.extend(reader.paste(&page, block));
        }
    }
    for span in page.spans() {
        if span.starts_with("drumfire ") {
            faults.extend(words::faults_of_span(span));
        }
    }
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
}

#[test]
fn blocks_that_are_not_run_have_a_reason_and_are_counted() {
    let mut count = 0;
    for name in PAGES {
        for block in &Page::read(name).blocks {
            let Some(reason) = &block.not_run else {
                continue;
            };
            println!("{name}:{}: not run: {reason}", block.line);
            assert!(reason.len() > 10, "{name}:{}: no reason", block.line);
            let is_run = |block: &Block| !matches!(block.kind, BlockKind::Other(_));
            assert!(is_run(block), "{name}:{}: it has no command", block.line);
            count += 1;
        }
    }
    assert_eq!(count, NOT_RUN);
}

#[test]
fn every_page_is_read() {
    for folder in ["", "docs", "docs/reference", "editors/vscode"] {
        let files = std::fs::read_dir(root().join(folder)).expect("the clone has the folder");
        for file in files.flatten() {
            let name = file.file_name().into_string().expect("names are ASCII");
            let page = Path::new(folder).join(&name).display().to_string();
            // These have no commands for a reader.
            let is_other = ["ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md"];
            if name.ends_with(".md") && !is_other.contains(&name.as_str()) {
                assert!(PAGES.contains(&page.as_str()), "{page} has no test");
            }
        }
    }
}

/// The first lines of a command's help are examples.
#[test]
fn examples_in_the_help_have_words_that_are_known() {
    let reader = Reader::of(&Page::read("docs/stability.md"));
    let help = reader.output(&["help"]);
    let commands = help.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (!name.starts_with('-') && !name.is_empty() && name.chars().all(is_name)).then_some(name)
    });
    let mut count = 0;
    for command in commands.filter(|name| *name != "drumfire") {
        let help = reader.output(&["help", command]);
        for line in help.lines().take_while(|line| !line.starts_with("Usage")) {
            let example = line.split("    ").find(|part| !part.is_empty());
            let Some(example) = example.filter(|_| line.starts_with("  drumfire ")) else {
                continue;
            };
            assert_eq!(words::faults(example), [""; 0], "help {command}");
            count += 1;
        }
    }
    assert!(count >= 40, "{count} examples were found");
}

/// The files for CI systems, and the pages' blocks for them, call the program with words that it has.
#[test]
fn recipes_for_ci_have_words_that_are_known() {
    for (file, count) in [
        ("ci/github/install.sh", 1),
        ("ci/github/run.sh", 5),
        ("ci/gitlab/drumfire.gitlab-ci.yml", 2),
        ("ci/azure/drumfire.yml", 1),
        ("ci/teamcity/settings.kts", 1),
        ("ci/jenkins/Jenkinsfile", 1),
        ("docs/ci.md", 6),
    ] {
        let text = std::fs::read_to_string(root().join(file)).expect("it is in the clone");
        let lines = words::of_ci_file(&text);
        assert!(lines.len() >= count, "{file}: {lines:#?}");
        for line in lines {
            assert_eq!(words::faults(&line), [""; 0], "{file}");
        }
    }
}

/// The site has the pages that its table of contents names.
#[test]
fn every_page_is_in_the_sites_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    for page in PAGES {
        let Some(name) = page.strip_prefix("docs/") else {
            continue;
        };
        let is_listed = contents.contains(&format!("]({name})"));
        assert!(name == "SUMMARY.md" || is_listed, "{page} is not listed");
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
        let text = Page::read(&format!("docs/{page}.md")).text;
        let first = text.find("drumfire ").expect("it has a command");
        let lines = text[..first].lines().count();
        assert!(
            lines <= 8,
            "docs/{page}.md has its first command in line {lines}"
        );
    }
}
