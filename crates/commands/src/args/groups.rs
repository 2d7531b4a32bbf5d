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
            "show",
            "diff",
            "set",
            "rename",
            "fmt",
            "merge-plan",
            "lsp",
            "schema",
        ],
    ),
    (
        "Several machines",
        &["agent", "agents", "attach", "fleet", "k8s"],
    ),
    (
        "This machine",
        &["doctor", "jvm", "demo", "mirror", "completions", "version"],
    ),
];

/// The width to which the list is wrapped, in columns.
const COLUMNS: usize = 100;
/// The width of a command's name, in columns.
const NAME: usize = 13;

/// Adds the list of commands by task to the program's help.
pub fn listed(program: Command) -> Command {
    let mut list = String::new();
    for (task, names) in GROUPS {
        let _ = writeln!(list, "{task}:");
        for name in *names {
            let command = program.find_subcommand(name);
            let about = command.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
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
            let first = help.lines().next().expect("it has a line");
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
