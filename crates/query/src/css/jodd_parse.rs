//! Parses a selector as Jodd does (`CSSellyLexer`).

use super::SelectorError;
use super::jodd::{Chain, Combinator, CompoundSelector, IndexTest, JoddTest};
use super::jsoup_parse::formula;
use crate::nesting;

pub(super) fn parse(text: &str) -> Result<Vec<Chain>, SelectorError> {
    let chains = nesting::deeper(|| text.split(',').map(parse_chain).collect());
    let too_deep = || SelectorError::new("The selector is nested too deeply".to_owned());
    chains.unwrap_or_else(|| Err(too_deep()))
}

fn parse_chain(text: &str) -> Result<Chain, SelectorError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(SelectorError::new("Empty CSS selector".to_owned()));
    }
    let mut chain = Vec::new();
    let mut combinator = Combinator::Descendant;
    while !rest.is_empty() {
        let (step, behind) = parse_step(rest, combinator)?;
        chain.push(step);
        rest = behind.trim_start();
        combinator = match rest.chars().next() {
            Some('>') => Combinator::Child,
            Some('+') => Combinator::Adjacent,
            Some('~') => Combinator::Sibling,
            _ => Combinator::Descendant,
        };
        if combinator != Combinator::Descendant {
            rest = rest[1..].trim_start();
        }
    }
    Ok(chain)
}

fn parse_step(
    text: &str,
    combinator: Combinator,
) -> Result<(CompoundSelector, &str), SelectorError> {
    let (element, mut rest) = split_name(text);
    let (element, mut tests) = (element.to_owned(), Vec::new());
    let element = match rest.strip_prefix('*') {
        Some(behind) if element.is_empty() => {
            rest = behind;
            String::new()
        }
        _ => element,
    };
    while let Some(c) = rest
        .chars()
        .next()
        .filter(|c| !c.is_whitespace() && !matches!(c, '>' | '+' | '~'))
    {
        let behind = &rest[c.len_utf8()..];
        match c {
            '#' | '.' => {
                let (name, after) = split_name(behind);
                if name.is_empty() {
                    return Err(SelectorError::new(format!("Invalid CSS selector: {text}")));
                }
                tests.push(match c {
                    '#' => JoddTest::Attribute(
                        "id".to_owned(),
                        Some(("=".to_owned(), name.to_owned())),
                    ),
                    _ => JoddTest::Class(name.to_owned()),
                });
                rest = after;
            }
            '[' => {
                let (inner, after) = match split_close(behind, '[', ']') {
                    // The lexer accepts the end of the text inside brackets, after a name or before it.
                    Err(_) if split_name(behind.trim()).1.is_empty() => (behind, ""),
                    closed => closed?,
                };
                if !inner.trim().is_empty() {
                    tests.push(parse_attribute(inner)?);
                }
                rest = after;
            }
            ':' => {
                let (test, after) = split_pseudo(behind)?;
                tests.extend(test);
                rest = after;
            }
            _ => return Err(SelectorError::new(format!("Invalid CSS selector: {text}"))),
        }
    }
    Ok((
        CompoundSelector {
            combinator,
            element,
            tests,
        },
        rest,
    ))
}

/// Parses the test of a pseudo-class; returns it with the rest of the text. An opened argument without content ends the
/// selector without a test.
fn split_pseudo(text: &str) -> Result<(Option<JoddTest>, &str), SelectorError> {
    let (name, after) = split_name(text);
    if after.trim_end() == "(" {
        return Ok((None, ""));
    }
    let (argument, after) = match after.strip_prefix('(') {
        Some(inner) => {
            let (inner, after) = split_close(inner, '(', ')')?;
            (Some(inner), after)
        }
        None => (None, after),
    };
    Ok((Some(parse_pseudo(name, argument)?), after))
}

fn split_name(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .unwrap_or(text.len());
    text.split_at(end)
}

fn split_close(text: &str, open: char, close: char) -> Result<(&str, &str), SelectorError> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Ok((&text[..at], &text[at + c.len_utf8()..]));
            }
        }
    }
    Err(SelectorError::new(format!("Invalid CSS selector: {text}")))
}

fn without_quotes(text: &str) -> &str {
    let quoted = ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(text)
}

fn parse_attribute(inner: &str) -> Result<JoddTest, SelectorError> {
    let Some((left, value)) = inner.split_once('=') else {
        return Ok(JoddTest::Attribute(inner.trim().to_owned(), None));
    };
    // Without quotes, the value must be a name.
    if !value.starts_with(['\'', '"', '-', '_']) && !value.starts_with(|c: char| c.is_alphabetic())
    {
        return Err(SelectorError::new(format!("Invalid CSS selector: {inner}")));
    }
    let (name, sign) = match left.chars().next_back() {
        Some(c @ ('~' | '|' | '^' | '$' | '*')) => (&left[..left.len() - 1], format!("{c}=")),
        _ => (left, "=".to_owned()),
    };
    Ok(JoddTest::Attribute(
        name.trim().to_owned(),
        Some((sign, without_quotes(value).trim().to_owned())),
    ))
}

fn parse_pseudo(name: &str, argument: Option<&str>) -> Result<JoddTest, SelectorError> {
    let nth = |a, b, backwards, of_type| JoddTest::Nth {
        a,
        b,
        backwards,
        of_type,
    };
    let unknown = || SelectorError::new(format!("Unsupported pseudo class: {name}"));
    let Some(argument) = argument else {
        return Ok(match name {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => JoddTest::Only { of_type: false },
            "only-of-type" => JoddTest::Only { of_type: true },
            "root" => JoddTest::Root,
            "empty" => JoddTest::Empty,
            "parent" => JoddTest::Parent,
            "header" => JoddTest::Header,
            "input" => JoddTest::Input,
            "selected" => JoddTest::Attribute("selected".to_owned(), None),
            "checked" => JoddTest::Attribute("checked".to_owned(), None),
            "first" => JoddTest::At(IndexTest::Equal(0)),
            "last" => JoddTest::At(IndexTest::Last),
            "even" => JoddTest::At(IndexTest::Even),
            "odd" => JoddTest::At(IndexTest::Odd),
            _ => {
                let types = [
                    "button", "checkbox", "file", "image", "password", "radio", "reset", "submit",
                    "text",
                ];
                JoddTest::Type(
                    types
                        .into_iter()
                        .find(|known| *known == name)
                        .ok_or_else(unknown)?,
                )
            }
        });
    };
    let number = || argument.trim().parse().map_err(|_| unknown());
    let formula = || {
        let text = argument.trim().to_lowercase();
        // Unlike jsoup, Jodd accepts a lone minus.
        formula(&text.replacen("-n", "-1n", usize::from(text.starts_with("-n"))))
            .ok_or_else(unknown)
    };
    Ok(match name {
        "nth-child" => formula().map(|(a, b)| nth(a, b, false, false))?,
        "nth-last-child" => formula().map(|(a, b)| nth(a, b, true, false))?,
        "nth-of-type" => formula().map(|(a, b)| nth(a, b, false, true))?,
        "nth-last-of-type" => formula().map(|(a, b)| nth(a, b, true, true))?,
        "eq" => JoddTest::At(IndexTest::Equal(number()?)),
        "gt" => JoddTest::At(IndexTest::Above(number()?)),
        "lt" => JoddTest::At(IndexTest::Below(number()?)),
        "contains" => JoddTest::Contains(without_quotes(argument).to_owned()),
        "has" | "not" if argument.is_empty() => return Err(unknown()),
        "has" => JoddTest::Has(parse(without_quotes(argument))?),
        "not" => JoddTest::Not(parse(without_quotes(argument))?),
        _ => return Err(unknown()),
    })
}
