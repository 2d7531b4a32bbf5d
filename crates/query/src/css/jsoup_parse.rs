//! Parses a selector as jsoup does (`QueryParser`).

use drumfire_java::text::trim;

use super::SelectorError;
use super::jsoup::{Match, Test};
use super::queue::{TokenQueue, unescape};
use super::text::push_collapsed;
use crate::nesting;
use crate::regex::{Dialect, Pattern, RegexOptions};

/// How many compounds a selector may join: each is tested within the one before.
const MOST_JOINED: usize = 200;

pub(super) fn parse(text: &str) -> Result<Test, SelectorError> {
    nesting::deeper(|| parse_nested(text)).unwrap_or_else(|| Err(too_deep()))
}

fn too_deep() -> SelectorError {
    SelectorError::new("The selector is nested too deeply")
}

fn parse_nested(text: &str) -> Result<Test, SelectorError> {
    if text.is_empty() {
        return Err(SelectorError::new("String must not be empty"));
    }
    let text = trim(text);
    let mut parser = JsoupParser {
        text,
        queue: TokenQueue::new(text),
        tests: Vec::new(),
        joined: 0,
    };
    parser.queue.take_white();
    if parser.queue.at_combinator() {
        parser.tests.push(Test::Start);
        parser.combinator()?;
    } else {
        let test = parser.simple()?;
        parser.tests.push(test);
    }
    while !parser.queue.is_empty() {
        let white = parser.queue.take_white();
        if parser.queue.at_combinator() {
            parser.combinator()?;
        } else if white {
            parser.combine(' ')?;
        } else {
            let test = parser.simple()?;
            parser.tests.push(test);
        }
    }
    Ok(all_of(parser.tests))
}

fn all_of(mut tests: Vec<Test>) -> Test {
    if tests.len() == 1 {
        tests.remove(0)
    } else {
        Test::all(tests)
    }
}

struct JsoupParser<'t> {
    text: &'t str,
    queue: TokenQueue<'t>,
    tests: Vec<Test>,
    /// How many compounds were joined since the last comma.
    joined: usize,
}

impl JsoupParser<'_> {
    fn combinator(&mut self) -> Result<(), SelectorError> {
        let combinator = self.queue.next().unwrap_or(' ');
        self.combine(combinator)
    }

    /// Joins the tests so far with the next compound. A comma joins all of them, other combinators only those after
    /// the last comma.
    fn combine(&mut self, combinator: char) -> Result<(), SelectorError> {
        self.queue.take_white();
        self.joined = if combinator == ',' {
            0
        } else {
            self.joined + 1
        };
        if self.joined > MOST_JOINED {
            return Err(too_deep());
        }
        let next = parse(&self.sub_query()?)?;
        let before = all_of(std::mem::take(&mut self.tests));
        let joined = match (before, combinator) {
            (Test::Or(mut tests), ',') => {
                tests.push(next);
                Test::Or(tests)
            }
            (before, ',') => Test::Or(vec![before, next]),
            (Test::Or(mut tests), _) => {
                let last = tests.pop().expect("an alternative always has parts");
                tests.push(join(last, combinator, next));
                Test::Or(tests)
            }
            (before, _) => join(before, combinator, next),
        };
        self.tests.push(joined);
        Ok(())
    }

    fn sub_query(&mut self) -> Result<String, SelectorError> {
        let mut out = String::new();
        let mut seen_other = false;
        while let Some(c) = self.queue.peek() {
            match c {
                '(' => out.push_str(&format!("({})", self.queue.balanced('(', ')')?)),
                '[' => out.push_str(&format!("[{}]", self.queue.balanced('[', ']')?)),
                _ if self.queue.at_combinator() => {
                    if seen_other {
                        break;
                    }
                    out.extend(self.queue.next());
                }
                _ => {
                    seen_other = true;
                    out.extend(self.queue.next());
                }
            }
        }
        Ok(out)
    }

    fn simple(&mut self) -> Result<Test, SelectorError> {
        if self.queue.take("#") {
            return self.identifier().map(Test::Id);
        }
        if self.queue.take(".") {
            return self
                .identifier()
                .map(|class| Test::Class(class.trim().to_owned()));
        }
        match self.queue.peek() {
            Some('[') => self.attribute(),
            Some(c) if c.is_alphanumeric() => self.tag(),
            Some('*') if self.queue.rest().starts_with("*|") => self.tag(),
            Some('*') => {
                self.queue.next();
                Ok(Test::All)
            }
            Some(':') => {
                self.queue.next();
                self.pseudo()
            }
            _ => self.unexpected(),
        }
    }

    fn unexpected<T>(&self) -> Result<T, SelectorError> {
        Err(SelectorError::new(format!(
            "Could not parse query '{}': unexpected token at '{}'",
            self.text,
            self.queue.rest()
        )))
    }

    fn identifier(&mut self) -> Result<String, SelectorError> {
        match self.queue.identifier(&["-", "_"]) {
            name if name.is_empty() => Err(SelectorError::new("String must not be empty")),
            name => Ok(name),
        }
    }

    fn tag(&mut self) -> Result<Test, SelectorError> {
        let name = normal(&self.queue.identifier(&["*|", "|", "_", "-"]));
        Ok(match name.strip_prefix("*|") {
            Some(plain) => Test::Or(vec![
                Test::Tag(plain.to_owned()),
                Test::TagEnd(format!(":{plain}")),
            ]),
            None => Test::Tag(name.replace('|', ":")),
        })
    }

    fn attribute(&mut self) -> Result<Test, SelectorError> {
        let inner = self.queue.balanced('[', ']')?;
        let operators = ["=", "!=", "^=", "$=", "*=", "~="];
        let first_operator = inner.char_indices().find_map(|(at, _)| {
            operators
                .iter()
                .find(|sign| inner[at..].starts_with(**sign))
                .map(|sign| (at, *sign))
        });
        let (key, rest) = first_operator
            .map(|(at, sign)| (&inner[..at], Some((sign, &inner[at + sign.len()..]))))
            .unwrap_or((inner, None));
        if key.is_empty() {
            return Err(SelectorError::new("String must not be empty"));
        }
        let Some((sign, value)) = rest else {
            return Ok(match key.strip_prefix('^') {
                Some("") => return Err(SelectorError::new("String must not be empty")),
                Some(prefix) => Test::AttributePrefix(prefix.to_lowercase()),
                None => Test::Attribute(key.to_owned()),
            });
        };
        let key = normal(key);
        if sign == "~=" {
            return pattern(value).map(|pattern| Test::AttributePattern(key, pattern));
        }
        if value.is_empty() {
            return Err(SelectorError::new("String must not be empty"));
        }
        let operator = match sign {
            "=" => Match::Equal,
            "!=" => Match::NotEqual,
            "^=" => Match::Start,
            "$=" => Match::End,
            _ => Match::Contain,
        };
        Ok(Test::AttributeValue(
            key,
            operator,
            attribute_value(value, operator),
        ))
    }

    fn pseudo(&mut self) -> Result<Test, SelectorError> {
        let name = self.queue.identifier(&["-", "_"]);
        Ok(match name.as_str() {
            "lt" => Test::IndexBelow(self.index()?),
            "gt" => Test::IndexAbove(self.index()?),
            "eq" => Test::Index(self.index()?),
            "has" => Test::Has(Box::new(self.sub_selector("has")?)),
            "is" => self.sub_selector("is")?,
            "not" => Test::Not(Box::new(self.sub_selector("not")?)),
            "contains" | "containsOwn" => {
                let mut text = String::new();
                push_collapsed(&mut text, &self.search_text(&name)?);
                Test::Contains {
                    text: text.to_lowercase(),
                    own: name == "containsOwn",
                }
            }
            "containsWholeText" | "containsWholeOwnText" => Test::ContainsWhole {
                text: self.search_text(&name)?,
                own: name == "containsWholeOwnText",
            },
            "containsData" => Test::ContainsData(self.search_text(&name)?.to_lowercase()),
            "matches" | "matchesOwn" => Test::Matches {
                pattern: self.pattern(&name)?,
                own: name == "matchesOwn",
            },
            "matchesWholeText" | "matchesWholeOwnText" => Test::MatchesWhole {
                pattern: self.pattern(&name)?,
                own: name == "matchesWholeOwnText",
            },
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(true, false)?,
            "nth-of-type" => self.nth(false, true)?,
            "nth-last-of-type" => self.nth(true, true)?,
            "first-child" => Test::nth(0, 1, false, false),
            "last-child" => Test::nth(0, 1, true, false),
            "first-of-type" => Test::nth(0, 1, false, true),
            "last-of-type" => Test::nth(0, 1, true, true),
            "only-child" => Test::all(vec![
                Test::nth(0, 1, false, false),
                Test::nth(0, 1, true, false),
            ]),
            "only-of-type" => Test::all(vec![
                Test::nth(0, 1, false, true),
                Test::nth(0, 1, true, true),
            ]),
            "empty" => Test::Empty,
            "root" => Test::Root,
            "matchText" => {
                return Err(SelectorError::new(
                    "The pseudo selector :matchText is not supported",
                ));
            }
            _ => return self.unexpected(),
        })
    }

    fn parens(&mut self) -> Result<&str, SelectorError> {
        self.queue.balanced('(', ')')
    }

    fn index(&mut self) -> Result<i64, SelectorError> {
        let text = self.parens()?.trim().to_owned();
        match text.parse() {
            Ok(index) if text.bytes().all(|c| c.is_ascii_digit()) => Ok(index),
            _ => Err(SelectorError::new("Index must be numeric")),
        }
    }

    fn sub_selector(&mut self, name: &str) -> Result<Test, SelectorError> {
        let text = self.parens()?.to_owned();
        if text.is_empty() {
            let sub = if name == "not" {
                "subselect"
            } else {
                "sub-select"
            };
            return Err(SelectorError::new(format!(
                ":{name}(selector) {sub} must not be empty"
            )));
        }
        parse(&text)
    }

    fn search_text(&mut self, name: &str) -> Result<String, SelectorError> {
        match unescape(self.parens()?) {
            text if text.is_empty() => Err(SelectorError::new(format!(
                ":{name}(text) query must not be empty"
            ))),
            text => Ok(text),
        }
    }

    fn pattern(&mut self, name: &str) -> Result<Box<Pattern>, SelectorError> {
        match self.parens()? {
            "" => Err(SelectorError::new(format!(
                ":{name}(regex) query must not be empty"
            ))),
            text => pattern(text),
        }
    }

    fn nth(&mut self, backwards: bool, of_type: bool) -> Result<Test, SelectorError> {
        let text = normal(self.parens()?);
        match formula(&text) {
            Some((a, b)) => Ok(Test::nth(a, b, backwards, of_type)),
            None => Err(SelectorError::new(format!(
                "Could not parse nth-index '{text}': unexpected format"
            ))),
        }
    }
}

fn join(before: Test, combinator: char, next: Test) -> Test {
    match (before, combinator) {
        (Test::ParentRun(mut run), '>') => {
            run.push(next);
            Test::ParentRun(run)
        }
        (before, '>') => Test::ParentRun(vec![before, next]),
        (before, '+') => Test::all(vec![Test::Previous(Box::new(before)), next]),
        (before, '~') => Test::all(vec![Test::Preceding(Box::new(before)), next]),
        (before, _) => Test::all(vec![Test::Ancestor(Box::new(before)), next]),
    }
}

/// `an+b`, `odd`, `even` or a number.
pub(super) fn formula(text: &str) -> Option<(i64, i64)> {
    match text {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let Some((a, b)) = text.split_once('n') else {
        return Some((0, number(text)?));
    };
    // `-n` without a number counts as `n`, as in QueryParser.
    let a = match a {
        "" | "+" | "-" => 1,
        a => number(a)?,
    };
    Some((a, if b.trim().is_empty() { 0 } else { number(b)? }))
}

fn number(text: &str) -> Option<i64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.strip_prefix('+').unwrap_or(&text).parse::<i64>().ok()
}

/// `Normalizer.normalize`
fn normal(text: &str) -> String {
    trim(&text.to_lowercase()).to_owned()
}

/// A value with or without quotes, in lower case. Blanks inside quotes are significant for `^=` and `$=`.
fn attribute_value(value: &str, operator: Match) -> String {
    let inner = ['\'', '"']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    match (inner, operator) {
        (Some(inner), Match::Start | Match::End) => inner.to_lowercase(),
        (inner, _) => normal(inner.unwrap_or(value)),
    }
}

fn pattern(text: &str) -> Result<Box<Pattern>, SelectorError> {
    match Pattern::compile(text, Dialect::Java, RegexOptions::default()) {
        Ok(pattern) => Ok(Box::new(pattern)),
        Err(error) => Err(SelectorError::new(error.message)),
    }
}
