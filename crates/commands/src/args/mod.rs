//! The program's own command line, parsed by clap.

pub mod faults;
mod groups;
pub mod headings;
pub mod quantities;

use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser};
use drumfire_serve::ListenAddress;

use crate::command::Command;
use crate::refusal::Refusal;

/// `drumfire COMMAND …`
#[derive(Debug, Parser)]
#[command(
    name = "drumfire",
    version,
    about = "Runs Apache JMeter test plans at close to the cost of a bare socket loop",
    after_help = "JMeter's own command line works as it is:\n  drumfire -n -t plan.jmx -l results.jtl -Jusers=50\n  \
                  drumfire -?    lists its options\n\nExit codes: drumfire help run"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The whole command line, its commands listed by task.
fn program() -> clap::Command {
    groups::listed(Arguments::command())
}

/// Reads the words of the command line (without the program's name).
///
/// # Errors
/// A [`Refusal`] with clap's text if the command line is wrong.
pub fn read(words: &[String]) -> Result<Command, Refusal> {
    let name = std::iter::once("drumfire".to_owned());
    let words = name.chain(with_joined_ui(words));
    let matches = program().try_get_matches_from(words);
    match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => Ok(arguments.command.settled()?),
        Err(error) if error.use_stderr() => Err(faults::refusal(&error)),
        Err(help) => Ok(Command::Print(help.render().to_string())),
    }
}

/// Joins `--ui` of `run` and its address into one word. The next word is taken as the address only if it looks like one, so
/// `--ui` may stand before the plan or the URL.
pub fn with_joined_ui(words: &[String]) -> Vec<String> {
    let is_run = words.first().is_some_and(|word| word == "run");
    let mut joined = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if !is_run || word != "--ui" {
            joined.push(word.clone());
            continue;
        }
        let address = words
            .next_if(|next| is_address(next))
            .cloned()
            .unwrap_or_else(|| ListenAddress::default().0.to_string());
        joined.push(format!("--ui={address}"));
    }
    joined
}

/// Whether a word is meant as an address to listen on, even if its port is too high.
fn is_address(word: &str) -> bool {
    let port = word.rsplit(':').next().unwrap_or(word);
    !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether an option of a command, as the user spelt it, takes the next word as its value.
pub fn takes_value(command: &str, option: &str) -> bool {
    let program = program();
    let Some(command) = program.find_subcommand(command) else {
        return false;
    };
    command.get_arguments().any(|argument| {
        let mut names = argument.get_long_and_visible_aliases().unwrap_or_default();
        names.extend(argument.get_all_aliases().unwrap_or_default());
        let long = option
            .strip_prefix("--")
            .is_some_and(|option| names.contains(&option));
        let short = argument
            .get_short()
            .is_some_and(|short| option.strip_prefix('-') == Some(short.to_string().as_str()));
        (long || short) && argument.get_action().takes_values()
    })
}

/// The text of `drumfire --help`.
pub fn help() -> String {
    program().render_long_help().to_string()
}

/// The text of `drumfire --version`.
pub fn version() -> String {
    let java = if cfg!(all(feature = "jvm", not(target_env = "musl"))) {
        ""
    } else {
        "; this build has no Java"
    };
    let build = if cfg!(debug_assertions) {
        "; unoptimized build, not for real loads"
    } else {
        ""
    };
    format!(
        "drumfire {} (runs plans of Apache JMeter up to 5.6.3{java}{build})\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The script with which a shell completes the command line.
pub fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program(), "drumfire", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes a man page for the program and one for each of its commands.
///
/// # Errors
/// If the folder or a page cannot be written.
pub fn write_man_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(program().disable_help_subcommand(true), folder)
}

#[cfg(test)]
mod tests;
