//! The commands by task, as `drumfire --help` lists them.

use std::fmt::Write as _;

use clap::Command;

use crate::terminal::format::wrap;

/// The tasks and the commands of each, the most frequently used first.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Run a plan",
        &["run", "check", "plan", "debug", "capacity", "ctl"],
    ),
    (
        "Look at runs",
        &["report", "compare", "merge", "runs", "matrix"],
    ),
    ("Get a plan", &["new", "record", "import"]),
    (
        "Work on plans",
        &[
            "edit",
            "show",
            "diff",
            "set",
            "rename",
            "fmt",
            "merge-plan",
            "lsp",
            "mcp",
            "schema",
        ],
    ),
    (
        "Several machines",
        &["agent", "agents", "attach", "fleet", "k8s"],
    ),
    (
        "This machine",
        &[
            "doctor",
            "calibrate",
            "jvm",
            "demo",
            "mirror",
            "completions",
            "version",
        ],
    ),
];

/// The width to which the list is wrapped, in columns.
const COLUMNS: usize = 100;
/// The heading above the examples of a command.
const HEADING: &str = "Examples:";
/// The width of a command's name, in columns.
const NAME: usize = 13;

/// Adds the list of commands by task to the program's help, and a heading to the examples of each command.
pub fn listed(program: Command) -> Command {
    let program = program.mut_subcommands(with_heading);
    let mut list = String::new();
    for (task, names) in GROUPS {
        let _ = writeln!(list, "{task}:");
        for name in *names {
            let command = program.find_subcommand(name);
            let about = command
                .and_then(Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let lines = wrap(&about, &" ".repeat(NAME + 2), COLUMNS);
            let text = lines.join("\n");
            let _ = writeln!(list, "  {name:<NAME$}{}", text.trim_start());
        }
        list.push('\n');
    }
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

/// Puts a heading above the examples of a command and of its own commands.
fn with_heading(command: Command) -> Command {
    let examples = command.get_before_help().map(ToString::to_string);
    let command = match examples {
        // A literal that begins with a continued line has lost the indent of its first line.
        Some(examples) => command.before_help(format!("{HEADING}\n  {}", examples.trim_start())),
        None => command,
    };
    command.mut_subcommands(with_heading)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::args::{program, read};

    /// Splits a line into words as a shell does, up to the first operator. A comment begins after three blanks.
    fn words(line: &str) -> Vec<String> {
        let line = line.trim();
        let line = line.split_once("   ").map_or(line, |(line, _)| line);
        let line = line.split(['|', '>']).next().unwrap_or(line);
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_command_begins_its_help_with_an_example_that_is_understood() {
        for command in program()
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let name = command.get_name();
            let help = command
                .get_before_help()
                .unwrap_or_else(|| panic!("{name}: no example"));
            let help = help.to_string();
            let first = help
                .lines()
                .nth(1)
                .expect("it has a line below the heading");
            let (program, words) = match words(first).split_first() {
                Some((program, words)) => (program.clone(), words.to_vec()),
                None => panic!("{name}: no example"),
            };
            // A quoted argument is one word for a shell.
            if program == "drumfire" && !first.contains('\'') {
                assert!(read(&words).is_ok(), "{name}: {first}");
            }
        }
    }

    /// The commands of the program, with the commands below them.
    fn commands(command: &Command, all: &mut Vec<Command>) {
        for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            all.push(below.clone());
            commands(below, all);
        }
    }

    #[test]
    fn no_example_wraps_on_a_terminal_of_80_columns() {
        let mut all = Vec::new();
        commands(&program(), &mut all);
        let mut examples = 0;
        for command in &mut all {
            let name = command.get_name().to_owned();
            let Some(help) = command.get_before_help().map(ToString::to_string) else {
                continue;
            };
            let shown = command
                .clone()
                .term_width(80)
                .render_long_help()
                .to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
                assert!(
                    shown.lines().any(|shown| shown == line),
                    "{name}: {line}: {shown}"
                );
                examples += 1;
            }
        }
        assert!(examples > 50, "{examples}");
    }

    #[test]
    fn only_options_of_the_load_stand_under_load() {
        let program = program();
        let run = program.find_subcommand("run").expect("a command");
        let load = run
            .get_arguments()
            .filter(|argument| argument.get_help_heading() == Some("Load"))
            .filter_map(|argument| argument.get_long());
        let expected = [
            "users",
            "ramp-up",
            "duration",
            "iterations",
            "rate",
            "group",
            "once",
        ];
        assert_eq!(load.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_page_is_called_report_by_every_command_and_html_is_still_understood() {
        let mut all = Vec::new();
        commands(&program(), &mut all);
        let mut pages = 0;
        for command in &all {
            for argument in command.get_arguments() {
                let name = command.get_name();
                assert_ne!(argument.get_long(), Some("html"), "{name}");
                let is_page = argument
                    .get_value_names()
                    .is_some_and(|names| names.iter().any(|value| value.as_str() == "FILE.html"));
                if is_page {
                    assert_eq!(argument.get_long(), Some("report"), "{name}");
                    assert_eq!(argument.get_all_aliases(), Some(vec!["html"]), "{name}");
                    let shown = argument.get_visible_aliases().unwrap_or_default();
                    assert_eq!(shown, Vec::<&str>::new(), "{name}");
                    pages += 1;
                }
            }
        }
        assert_eq!(
            pages, 8,
            "run, attach, report, compare, diff, matrix, runs compare, runs trend"
        );
    }

    #[test]
    fn every_command_has_one_task() {
        let listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let program = program();
        let shown = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), shown);
        assert_eq!(listed.len(), shown.len(), "none is listed twice");
    }
}
