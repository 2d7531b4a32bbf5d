//! Whether an element matches a jsoup selector (`Evaluator`, `StructuralEvaluator`).

use drumfire_java::text::trim;

use super::text;
use super::tree::{self, Element};
use crate::html::HtmlNodeKind;
use crate::regex::Pattern;

/// A compiled selector or a part of one.
#[derive(Debug)]
pub(super) enum Test {
    All,
    Tag(String),
    TagEnd(String),
    Id(String),
    Class(String),
    Attribute(String),
    AttributePrefix(String),
    AttributeValue(String, Match, String),
    AttributePattern(String, Box<Pattern>),
    IndexBelow(i64),
    IndexAbove(i64),
    Index(i64),
    Nth {
        a: i64,
        b: i64,
        backwards: bool,
        of_type: bool,
    },
    Contains {
        text: String,
        own: bool,
    },
    ContainsWhole {
        text: String,
        own: bool,
    },
    ContainsData(String),
    Matches {
        pattern: Box<Pattern>,
        own: bool,
    },
    MatchesWhole {
        pattern: Box<Pattern>,
        own: bool,
    },
    Empty,
    Root,
    Has(Box<Test>),
    Not(Box<Test>),
    And(Vec<Test>),
    Or(Vec<Test>),
    /// `a b`: the test of the ancestor.
    Ancestor(Box<Test>),
    /// `a > b > c`
    ParentRun(Vec<Test>),
    /// `a + b`
    Previous(Box<Test>),
    /// `a ~ b`
    Preceding(Box<Test>),
    /// The start of a selector that begins with a combinator.
    Start,
}

/// How an attribute's value is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Match {
    Equal,
    NotEqual,
    Start,
    End,
    Contain,
}

impl Test {
    pub(super) fn nth(a: i64, b: i64, backwards: bool, of_type: bool) -> Test {
        Test::Nth {
            a,
            b,
            backwards,
            of_type,
        }
    }

    /// Combines tests that must all hold, cheapest first (`CombiningEvaluator` also sorts
    /// them).
    pub(super) fn all(mut tests: Vec<Test>) -> Test {
        tests.sort_by_key(Test::cost);
        Test::And(tests)
    }

    /// The relative cost of a test. It wraps around, as Java's numbers do.
    fn cost(&self) -> i32 {
        match self {
            Test::All | Test::Tag(_) | Test::TagEnd(_) | Test::Start | Test::Root => 1,
            Test::Id(_) | Test::Attribute(_) => 2,
            Test::Class(_) | Test::AttributeValue(..) | Test::AttributePrefix(_) => 3,
            Test::AttributePattern(..) | Test::Empty => 5,
            Test::Index(_) | Test::IndexBelow(_) | Test::IndexAbove(_) | Test::Nth { .. } => 10,
            Test::Not(test) | Test::Previous(test) => test.cost().wrapping_add(2),
            Test::And(tests) | Test::Or(tests) | Test::ParentRun(tests) => {
                tests.iter().map(Test::cost).fold(0, i32::wrapping_add)
            }
            Test::Ancestor(test) | Test::Preceding(test) => test.cost().wrapping_mul(8),
            Test::Has(test) => test.cost().wrapping_mul(64),
            _ => 100,
        }
    }

    /// Whether the element matches in a search that began at `root`.
    pub(super) fn matches(&self, root: Element<'_>, element: Element<'_>) -> bool {
        match self {
            Test::All => true,
            Test::Tag(name) => tree::name(element) == name,
            Test::TagEnd(end) => tree::name(element).ends_with(end.as_str()),
            Test::Id(id) => tree::attr(element, "id").unwrap_or("") == id,
            Test::Class(class) => tree::has_class(element, class),
            Test::Attribute(name) => tree::attr(element, name).is_some(),
            Test::AttributePrefix(prefix) => has_attribute_prefix(element, prefix),
            Test::AttributeValue(name, operator, value) => {
                operator.matches(tree::attr(element, name), value)
            }
            Test::AttributePattern(name, pattern) => {
                tree::attr(element, name).is_some_and(|value| pattern.is_match(value))
            }
            Test::IndexBelow(index) => root != element && sibling_index(element) < *index,
            Test::IndexAbove(index) => sibling_index(element) > *index,
            Test::Index(index) => sibling_index(element) == *index,
            Test::Nth {
                a,
                b,
                backwards,
                of_type,
            } => has_parent_element(element) && is_at(element, (*a, *b), *backwards, *of_type),
            Test::Empty => is_empty(element),
            Test::Root => tree::children(root).next() == Some(element),
            Test::Start => root == element,
            Test::And(tests) => tests.iter().all(|test| test.matches(root, element)),
            Test::Or(tests) => tests.iter().any(|test| test.matches(root, element)),
            Test::Not(test) => !test.matches(root, element),
            Test::Has(test) => tree::descendants(element).any(|below| test.matches(element, below)),
            Test::Ancestor(_) | Test::ParentRun(_) | Test::Previous(_) | Test::Preceding(_) => {
                self.matches_structure(root, element)
            }
            _ => self.matches_text(element),
        }
    }

    fn matches_structure(&self, root: Element<'_>, element: Element<'_>) -> bool {
        if root == element {
            return false;
        }
        match self {
            Test::Ancestor(test) => {
                let mut above = element;
                while above != root {
                    let Some(parent) = tree::parent(above) else {
                        return false;
                    };
                    if test.matches(root, parent) {
                        return true;
                    }
                    above = parent;
                }
                false
            }
            Test::ParentRun(run) => {
                let mut at = Some(element);
                run.iter().rev().all(|test| {
                    let matched = at.is_some_and(|element| test.matches(root, element));
                    at = at.and_then(tree::parent);
                    matched
                })
            }
            Test::Previous(test) => {
                tree::previous(element).is_some_and(|before| test.matches(root, before))
            }
            Test::Preceding(test) => {
                tree::preceding(element).any(|before| test.matches(root, before))
            }
            _ => false,
        }
    }

    fn matches_text(&self, element: Element<'_>) -> bool {
        let seen = |own: bool| {
            if own {
                text::own_text(element)
            } else {
                text::text(element)
            }
        };
        match self {
            Test::Contains { text, own } => seen(*own).to_lowercase().contains(text.as_str()),
            Test::ContainsWhole { text, own } => {
                text::whole_text(element, *own).contains(text.as_str())
            }
            Test::ContainsData(text) => text::data(element).to_lowercase().contains(text.as_str()),
            Test::Matches { pattern, own } => pattern.is_match(&seen(*own)),
            Test::MatchesWhole { pattern, own } => {
                pattern.is_match(&text::whole_text(element, *own))
            }
            _ => false,
        }
    }
}

impl Match {
    /// Compares ignoring case; the wanted value is in lower case.
    fn matches(self, value: Option<&str>, wanted: &str) -> bool {
        let lower = value.map(str::to_lowercase);
        match (self, lower) {
            (Match::NotEqual, lower) => lower.unwrap_or_default() != wanted,
            (_, None) => false,
            (Match::Equal, Some(lower)) => trim(&lower) == wanted,
            (Match::Start, Some(lower)) => lower.starts_with(wanted),
            (Match::End, Some(lower)) => lower.ends_with(wanted),
            (Match::Contain, Some(lower)) => lower.contains(wanted),
        }
    }
}

fn has_attribute_prefix(element: Element<'_>, prefix: &str) -> bool {
    element
        .attributes()
        .any(|(name, _)| name.to_lowercase().starts_with(prefix))
}

/// `elementSiblingIndex`: 0 for the document.
fn sibling_index(element: Element<'_>) -> i64 {
    tree::preceding(element).count() as i64
}

fn has_parent_element(element: Element<'_>) -> bool {
    tree::parent(element).is_some_and(|parent| !tree::is_document(parent))
}

/// Whether the position among the siblings, from 1, is `an + b`.
pub(super) fn is_at(
    element: Element<'_>,
    (a, b): (i64, i64),
    backwards: bool,
    of_type: bool,
) -> bool {
    // For a fixed position, counting up to it suffices.
    let most = match (a, usize::try_from(b)) {
        (0, Ok(place)) => place,
        (0, Err(_)) => return false,
        _ => usize::MAX,
    };
    let name = tree::name(element);
    let counts = |sibling: &Element<'_>| !of_type || tree::name(*sibling) == name;
    let before = if backwards {
        tree::following(element).filter(counts).take(most).count()
    } else {
        tree::preceding(element).filter(counts).take(most).count()
    };
    is_nth(before as i64 + 1, a, b)
}

fn is_nth(position: i64, a: i64, b: i64) -> bool {
    match a {
        0 => position == b,
        _ => (position - b) * a >= 0 && (position - b) % a == 0,
    }
}

/// `Evaluator.IsEmpty`: the first text child decides.
fn is_empty(element: Element<'_>) -> bool {
    for child in element.children() {
        match child.kind() {
            HtmlNodeKind::Text => {
                return child.text().chars().all(is_white);
            }
            HtmlNodeKind::Comment => {}
            _ => return false,
        }
    }
    true
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0C' | '\r')
}
