//! Errors of the command line in the program's own words: clap finds them, and this says what is wrong and what to write.

use std::error::Error as _;
use std::num::{ParseFloatError, ParseIntError};

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::refusal::Refusal;

/// The refusal of a command line that clap does not accept.
pub fn refusal(error: &Error) -> Refusal {
    let usage = usage(error);
    let (message, hint) = match error.kind() {
        ErrorKind::ValueValidation => wrong_value(error),
        ErrorKind::InvalidValue => no_such_value(error),
        ErrorKind::UnknownArgument => unknown(error),
        ErrorKind::InvalidSubcommand => no_such_command(error, &usage),
        ErrorKind::ArgumentConflict => (
            format!(
                "{} cannot be used with {}",
                quoted(&texts(error, ContextKind::InvalidArg)),
                quoted(&texts(error, ContextKind::PriorArg))
            ),
            Some("leave out one of them".to_owned()),
        ),
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            (format!("{} is missing", quoted(&missing)), None)
        }
        _ => (first_line(error), None),
    };
    let hint =
        hint.unwrap_or_else(|| format!("`{} --help` lists what can be written", command(&usage)));
    let mut refusal = Refusal::usage(message);
    if error.kind() == ErrorKind::MissingRequiredArgument && !usage.is_empty() {
        refusal.err.push_str(&format!("{usage}\n"));
    }
    refusal.hint(hint)
}

/// A value that its parser refuses.
fn wrong_value(error: &Error) -> (String, Option<String>) {
    let [option, value] =
        [ContextKind::InvalidArg, ContextKind::InvalidValue].map(|kind| text(error, kind));
    let name = option_name(&option);
    let message = format!("`{value}` is not a value of `{name}`");
    let why = error
        .source()
        .map(|why| why.to_string())
        .unwrap_or_default();
    let is_whole = error.source().is_some_and(|why| why.is::<ParseIntError>());
    let is_number = error
        .source()
        .is_some_and(|why| why.is::<ParseFloatError>());
    let range = why
        .split_once(" is not in ")
        .and_then(|(_, range)| range.split_once("..="));
    let hint = match range {
        _ if is_whole => "write a whole number".to_owned(),
        _ if is_number => "write a number".to_owned(),
        Some((least, most)) => format!("write a whole number from {least} to {most}"),
        None if why.starts_with("write ") => why,
        // The program's own parsers say what is wrong; those of the standard library only say that something is.
        None if why.starts_with('`') => return (why, None),
        None if why.contains("IP address") => "write an IP address such as `127.0.0.1`".to_owned(),
        None => format!("write {} as `{name}` takes it", placeholder(&option)),
    };
    (message, Some(hint))
}

/// A value that is not one of a list.
fn no_such_value(error: &Error) -> (String, Option<String>) {
    let [option, value] =
        [ContextKind::InvalidArg, ContextKind::InvalidValue].map(|kind| text(error, kind));
    let name = option_name(&option);
    let possible = texts(error, ContextKind::ValidValue);
    if value.is_empty() {
        let hint = if possible.is_empty() {
            format!("write `{option}`")
        } else {
            format!("write one of {}", quoted(&possible))
        };
        return (format!("`{name}` has no value"), Some(hint));
    }
    let hint = match texts(error, ContextKind::SuggestedValue).last() {
        Some(near) => format!("write `{near}`"),
        None => format!("write one of {}", quoted(&possible)),
    };
    (format!("`{value}` is not a value of `{name}`"), Some(hint))
}

fn unknown(error: &Error) -> (String, Option<String>) {
    let word = text(error, ContextKind::InvalidArg);
    let message = if word.starts_with('-') {
        format!("there is no option `{word}`")
    } else {
        format!("`{word}` is one argument too many")
    };
    let near = texts(error, ContextKind::SuggestedArg);
    (
        message,
        near.first()
            .map(|near| format!("write `{}`", option_name(near))),
    )
}

fn no_such_command(error: &Error, usage: &str) -> (String, Option<String>) {
    let word = text(error, ContextKind::InvalidSubcommand);
    // clap sorts its proposals by similarity, the most similar last.
    let near = texts(error, ContextKind::SuggestedSubcommand);
    let hint = near
        .last()
        .map(|near| format!("write `{} {near}`", command(usage)));
    (format!("there is no command `{word}`"), hint)
}

/// The first line of clap's own text, with the quotes of this program.
fn first_line(error: &Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").replace('\'', "`")
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        _ => Vec::new(),
    }
}

fn text(error: &Error, kind: ContextKind) -> String {
    texts(error, kind).into_iter().next().unwrap_or_default()
}

fn quoted(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

/// `--users` of `--users <COUNT>`; the whole text of a positional argument.
fn option_name(option: &str) -> &str {
    if option.starts_with('-') {
        option.split([' ', '=', '[']).next().unwrap_or(option)
    } else {
        option
    }
}

/// `COUNT` of `--users <COUNT>`.
fn placeholder(option: &str) -> &str {
    let inside = option
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inside.map(|(name, _)| name).unwrap_or("it")
}

/// `Usage: drumfire run …`, without the colours.
fn usage(error: &Error) -> String {
    text(error, ContextKind::Usage)
}

/// The program and its subcommand, from the usage.
fn command(usage: &str) -> String {
    let words: Vec<&str> = usage
        .trim_start_matches("Usage:")
        .split_whitespace()
        .take_while(|word| !word.starts_with(['[', '<', '-']))
        .collect();
    if words.is_empty() {
        "drumfire".to_owned()
    } else {
        words.join(" ")
    }
}
