//! Splits JMeter's own command line into options, in every form that `CLArgsParser` accepts: `-tplan.jmx`, `-t
//! plan.jmx`, `-t=plan.jmx`, `-nft plan.jmx`, `--testfile plan.jmx`, `--testfile=plan.jmx`, `-Jname=value`, `-J
//! name=value`, `-J name value`, `-Jname`.
//!
//! Like `CLArgsParser`, this reads one stream of characters in which NUL ends each word. For that reason the
//! value of a pair may be the next word, and a word after an option is its argument even if it looks like an
//! option (`-t -n` is a plan named `-n`).

use super::descriptors::{self, Arity, Descriptor};
use crate::refusal::UsageError;

const END: char = '\0';

/// An item of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLineItem {
    /// An option with its arguments.
    Option {
        /// The option's letter, whichever spelling was used.
        letter: char,
        /// The argument, or the name of a pair; empty for a switch.
        argument: String,
        /// The value of a pair; empty if it was left out.
        value: String,
    },
    /// A word that belongs to no option. JMeter refuses such words.
    Text(String),
}

/// Splits the words of the command line (without the program's name).
///
/// # Errors
/// JMeter's own message for a wrong command line, without its leading `Error: `.
pub fn parse(words: &[String]) -> Result<Vec<CommandLineItem>, UsageError> {
    let mut parser = SwitchParser::new(words);
    parser.run()?;
    check_incompatible(&parser.items)?;
    Ok(parser.items)
}

struct SwitchParser {
    chars: Vec<char>,
    at: usize,
    items: Vec<CommandLineItem>,
    /// Whether the current option was spelt with two dashes. Messages repeat the user's spelling.
    long: bool,
}

impl SwitchParser {
    fn new(words: &[String]) -> Self {
        let mut chars = Vec::new();
        for word in words {
            chars.extend(word.chars());
            chars.push(END);
        }
        SwitchParser {
            chars,
            at: 0,
            items: Vec::new(),
            long: false,
        }
    }

    fn peek(&self) -> char {
        self.chars.get(self.at).copied().unwrap_or(END)
    }

    fn next(&mut self) -> char {
        let next_char = self.peek();
        self.at += 1;
        next_char
    }

    /// Whether only the end of the last word is left.
    fn is_finished(&self) -> bool {
        self.at + 1 >= self.chars.len()
    }

    /// The characters up to a separator. Consumes the separator.
    fn token(&mut self, separators: &[char]) -> (String, char) {
        let mut text = String::new();
        loop {
            let next_char = self.next();
            if separators.contains(&next_char) || self.at > self.chars.len() {
                return (text, next_char);
            }
            text.push(next_char);
        }
    }

    fn run(&mut self) -> Result<(), UsageError> {
        while !self.is_finished() {
            if self.peek() != '-' {
                let (text, _) = self.token(&[END]);
                if !text.is_empty() {
                    self.items.push(CommandLineItem::Text(text));
                }
                continue;
            }
            self.next();
            match self.peek() {
                END => return Err("Malformed option -".into()),
                '-' => {
                    self.next();
                    if self.peek() == END {
                        self.next();
                        self.rest_is_text();
                    } else {
                        self.long_option()?;
                    }
                }
                _ => self.short_options()?,
            }
        }
        Ok(())
    }

    /// Takes all words after `--` as text, since none of them is an option.
    fn rest_is_text(&mut self) {
        while !self.is_finished() {
            let (text, _) = self.token(&[END]);
            self.items.push(CommandLineItem::Text(text));
        }
        self.at = self.chars.len();
    }

    fn long_option(&mut self) -> Result<(), UsageError> {
        let (name, _) = self.token(&[END, '=']);
        self.long = true;
        let Some(option) = descriptors::by_name(&name) else {
            return Err(format!("Unknown option --{name}").into());
        };
        self.arguments(option)
    }

    /// Reads a group of letters. The first option that takes an argument takes the rest of the word.
    fn short_options(&mut self) -> Result<(), UsageError> {
        while self.peek() != END {
            let letter = self.next();
            self.long = false;
            let Some(option) = descriptors::by_letter(letter) else {
                return Err(format!("Unknown option -{letter}").into());
            };
            self.arguments(option)?;
            if option.arity != Arity::None {
                return Ok(());
            }
        }
        self.next();
        Ok(())
    }

    fn arguments(&mut self, option: &Descriptor) -> Result<(), UsageError> {
        let (argument, value) = match option.arity {
            Arity::None => (String::new(), String::new()),
            Arity::One => (self.single_argument(option)?, String::new()),
            Arity::Pair => self.pair(option)?,
        };
        self.items.push(CommandLineItem::Option {
            letter: option.letter,
            argument,
            value,
        });
        Ok(())
    }

    fn single_argument(&mut self, option: &Descriptor) -> Result<String, UsageError> {
        if self.is_finished() {
            return Err(self.missing_argument(option));
        }
        if matches!(self.peek(), '=' | END) {
            self.next();
        }
        Ok(self.token(&[END]).0)
    }

    fn pair(&mut self, option: &Descriptor) -> Result<(String, String), UsageError> {
        if self.is_finished() {
            return Err(self.missing_argument(option));
        }
        if !self.long && self.peek() == END {
            self.next();
        }
        if matches!(self.peek(), '=' | END) {
            return Err(format!(
                "Unable to parse first argument for option {}",
                self.spelling(option)
            )
            .into());
        }
        let (name, separator) = self.token(&[END, '=']);
        // The next word may be the value, unless it is an option.
        if separator == END && (self.peek() == '-' || self.at >= self.chars.len()) {
            return Ok((name, String::new()));
        }
        Ok((name, self.token(&[END]).0))
    }

    fn missing_argument(&self, option: &Descriptor) -> UsageError {
        format!("Missing argument to option {}", self.spelling(option)).into()
    }

    fn spelling(&self, option: &Descriptor) -> String {
        if self.long {
            format!("--{}", option.name)
        } else {
            format!("-{}", option.letter)
        }
    }
}

/// `CLArgsParser.checkIncompatibilities`: repetitions, and options that exclude one another.
fn check_incompatible(items: &[CommandLineItem]) -> Result<(), UsageError> {
    let letters: Vec<char> = items
        .iter()
        .filter_map(|item| match item {
            CommandLineItem::Option { letter, .. } => Some(*letter),
            CommandLineItem::Text(_) => None,
        })
        .collect();
    for (index, letter) in letters.iter().enumerate() {
        let Some(option) = descriptors::by_letter(*letter) else {
            continue;
        };
        for (other_index, other) in letters.iter().enumerate() {
            if index == other_index || !option.incompatible.contains(*other) {
                continue;
            }
            if letter == other {
                return Err(
                    format!("Duplicate options for {} found.", both_spellings(*letter)).into(),
                );
            }
            // The stray dash before the first name is JMeter's (CLArgsParser.checkIncompatible).
            return Err(format!(
                "Incompatible options -{} and {} found.",
                both_spellings(*other),
                both_spellings(*letter)
            )
            .into());
        }
    }
    Ok(())
}

fn both_spellings(letter: char) -> String {
    let name = descriptors::by_letter(letter)
        .map(|option| option.name)
        .unwrap_or("");
    if letter.is_alphabetic() {
        format!("-{letter}/--{name}")
    } else {
        format!("--{name}")
    }
}

#[cfg(test)]
mod tests;
