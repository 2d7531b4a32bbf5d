//! Jodd's selectors (`CSSelly`, `NodeSelector`): each step filters the list of the step before it, so `:eq`, `:first` and
//! similar tests count matches, not siblings.

use super::SelectorError;
use super::jsoup::is_at;
use super::jsoup_parse::formula;
use super::text;
use super::tree::{self, Element};
use crate::nesting;

/// One of the selectors separated by commas.
pub(super) type Chain = Vec<CompoundSelector>;

/// A compound selector, and the combinator that joins it to its predecessor.
#[derive(Debug)]
pub(super) struct CompoundSelector {
    combinator: Combinator,
    element: String,
    tests: Vec<JoddTest>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Combinator {
    Descendant,
    Child,
    Adjacent,
    Sibling,
}

#[derive(Debug)]
enum JoddTest {
    Attribute(String, Option<(String, String)>),
    Class(String),
    Nth {
        a: i64,
        b: i64,
        backwards: bool,
        of_type: bool,
    },
    Only {
        of_type: bool,
    },
    Root,
    Empty,
    Parent,
    Type(&'static str),
    Header,
    Input,
    Has(Vec<Chain>),
    Not(Vec<Chain>),
    Contains(String),
    /// Tests of the index in the list of matches.
    At(IndexTest),
}

#[derive(Clone, Copy, Debug)]
enum IndexTest {
    Equal(i64),
    Above(i64),
    Below(i64),
    Last,
    Even,
    Odd,
}

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

/// `NodeSelector.select`: the matches of all selectors, without duplicates.
pub(super) fn select<'a>(chains: &[Chain], root: Element<'a>) -> Vec<Element<'a>> {
    let mut all = Vec::new();
    for chain in chains {
        for element in select_chain(chain, root) {
            if !all.contains(&element) {
                all.push(element);
            }
        }
    }
    all
}

fn select_chain<'a>(chain: &[CompoundSelector], root: Element<'a>) -> Vec<Element<'a>> {
    let mut selected = vec![root];
    for step in chain {
        let mut matched: Vec<Element<'a>> = Vec::new();
        for from in selected {
            let candidates: Vec<Element<'a>> = match step.combinator {
                Combinator::Descendant => tree::descendants(from).collect(),
                Combinator::Child => tree::children(from).collect(),
                Combinator::Adjacent => tree::following(from).take(1).collect(),
                Combinator::Sibling => tree::following(from).collect(),
            };
            for element in candidates {
                if step.accepts(element) && !matched.contains(&element) {
                    matched.push(element);
                }
            }
        }
        let length = matched.len() as i64;
        let mut index = -1;
        matched.retain(|_| {
            index += 1;
            step.accepts_place(index, length)
        });
        selected = matched;
    }
    selected
}

impl CompoundSelector {
    fn accepts(&self, element: Element<'_>) -> bool {
        (self.element.is_empty() || self.element == tree::name(element))
            && self.tests.iter().all(|test| test.accepts(element))
    }

    fn accepts_place(&self, index: i64, length: i64) -> bool {
        self.tests.iter().all(|test| match test {
            JoddTest::At(place) => match place {
                IndexTest::Equal(wanted) if *wanted < 0 => index == length + wanted,
                IndexTest::Equal(wanted) => index == *wanted,
                IndexTest::Above(wanted) => index > *wanted,
                IndexTest::Below(wanted) => index < *wanted,
                IndexTest::Last => index == length - 1,
                IndexTest::Even => index % 2 == 0,
                IndexTest::Odd => index % 2 != 0,
            },
            _ => true,
        })
    }
}

impl JoddTest {
    fn accepts(&self, element: Element<'_>) -> bool {
        match self {
            JoddTest::Attribute(name, wanted) => {
                tree::attr(element, name).is_some_and(|value| match wanted {
                    None => true,
                    Some((sign, wanted)) => compare(value, sign, wanted),
                })
            }
            JoddTest::Class(class) => {
                tree::attr(element, "class").is_some_and(|value| compare(value, "~=", class))
            }
            JoddTest::Nth {
                a,
                b,
                backwards,
                of_type,
            } => is_at(element, (*a, *b), *backwards, *of_type),
            JoddTest::Only { of_type } => {
                is_at(element, (0, 1), false, *of_type) && is_at(element, (0, 1), true, *of_type)
            }
            JoddTest::Root => tree::parent(element).is_some_and(tree::is_document),
            JoddTest::Empty => element.first_child().is_none(),
            JoddTest::Parent => element.first_child().is_some(),
            JoddTest::Type(name) => tree::attr(element, "type") == Some(name),
            JoddTest::Header => {
                let name = tree::name(element).as_bytes();
                name.len() == 2 && name[0] == b'h' && matches!(name[1], b'1'..=b'6')
            }
            JoddTest::Input => matches!(
                tree::name(element),
                "button" | "input" | "select" | "textarea"
            ),
            JoddTest::Has(chains) => !select(chains, element).is_empty(),
            JoddTest::Not(chains) => {
                let top = element.ancestors().last().unwrap_or(element);
                !select(chains, top).contains(&element)
            }
            JoddTest::Contains(text) => text::content(element).contains(text.as_str()),
            JoddTest::At(_) => true,
        }
    }
}

/// `Match.compare`: case-sensitive; an empty value only matches itself.
fn compare(value: &str, sign: &str, wanted: &str) -> bool {
    match sign {
        "=" => value == wanted,
        "|=" => {
            value == wanted
                || value
                    .strip_prefix(wanted)
                    .is_some_and(|rest| rest.starts_with('-'))
        }
        _ if wanted.is_empty() => false,
        "~=" => value == wanted || value.split([' ', '\t']).any(|word| word == wanted),
        "^=" => value.starts_with(wanted),
        "$=" => value.ends_with(wanted),
        _ => value.contains(wanted),
    }
}
