//! Whether an element matches a jsoup selector (`Evaluator`, `StructuralEvaluator`).

use drumfire_java::text::trim;

use super::decided::{Decided, KnownNodes, by_position, none};
use super::text;
use super::tree::{self, Element};
use crate::html::HtmlNodeKind;
use crate::regex::Pattern;

/// Counting up to a position is cheaper than deciding for a page, if the position is at most this.
pub(super) const NEAR: i64 = 16;

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

    /// Whether the result depends on where a search began.
    fn is_rooted(&self) -> bool {
        match self {
            Test::Start | Test::Root | Test::IndexBelow(_) | Test::ParentRun(_) => true,
            Test::Ancestor(_) | Test::Previous(_) | Test::Preceding(_) => true,
            Test::And(tests) | Test::Or(tests) => tests.iter().any(Test::is_rooted),
            Test::Not(test) => test.is_rooted(),
            _ => false,
        }
    }
}

/// A search in a page.
pub(super) struct PageSearch<'a> {
    /// The document.
    page: Element<'a>,
    decided: Decided<'a, Test>,
}

impl<'a> PageSearch<'a> {
    pub(super) fn new(page: Element<'a>) -> PageSearch<'a> {
        PageSearch {
            page,
            decided: Decided::new(page),
        }
    }

    /// Whether the element matches in a search of the whole page.
    pub(super) fn matches(&self, test: &Test, element: Element<'a>) -> bool {
        self.matches_from(self.page, test, element)
    }

    /// Whether the element matches in a search that began at `root`.
    fn matches_from(&self, root: Element<'a>, test: &Test, element: Element<'a>) -> bool {
        match test {
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
            Test::Nth {
                a: 0,
                b,
                backwards,
                of_type,
            } if *b <= NEAR => {
                has_parent_element(element) && is_at(element, (0, *b), *backwards, *of_type)
            }
            Test::Nth { .. } => has_parent_element(element) && self.is_decided(test, element),
            Test::IndexBelow(_) => root != element && self.is_decided(test, element),
            Test::IndexAbove(_) | Test::Index(_) => self.is_decided(test, element),
            Test::Empty => is_empty(element),
            Test::Root => tree::children(root).next() == Some(element),
            Test::Start => root == element,
            Test::And(tests) => tests
                .iter()
                .all(|test| self.matches_from(root, test, element)),
            Test::Or(tests) => tests
                .iter()
                .any(|test| self.matches_from(root, test, element)),
            Test::Not(test) => !self.matches_from(root, test, element),
            Test::Has(inner) if inner.is_rooted() => {
                tree::descendants(element).any(|below| self.matches_from(element, inner, below))
            }
            Test::Has(_) => self.is_decided(test, element),
            Test::Ancestor(inner) if root == self.page => {
                self.leads_to(inner, element, tree::parent, &self.decided.known(test))
            }
            Test::Preceding(inner) if root == self.page => {
                self.leads_to(inner, element, tree::previous, &self.decided.known(test))
            }
            Test::Ancestor(_) | Test::ParentRun(_) | Test::Previous(_) | Test::Preceding(_) => {
                self.matches_structure(root, test, element)
            }
            _ => test.matches_text(element),
        }
    }

    fn is_decided(&self, test: &Test, element: Element<'a>) -> bool {
        let decide = || self.decide(test);
        self.decided.passes(test, element, decide)
    }

    /// Which nodes of the page pass a test that reads other elements.
    fn decide(&self, test: &Test) -> Vec<bool> {
        let by_index = |passes: &dyn Fn(i64) -> bool| {
            let mut passing =
                by_position(self.page, (false, false), |position| passes(position - 1));
            passing[self.page.index()] = passes(0);
            passing
        };
        match test {
            Test::IndexBelow(index) => by_index(&|place| place < *index),
            Test::IndexAbove(index) => by_index(&|place| place > *index),
            Test::Index(index) => by_index(&|place| place == *index),
            Test::Nth {
                a,
                b,
                backwards,
                of_type,
            } => by_position(self.page, (*backwards, *of_type), |position| {
                is_nth(position, *a, *b)
            }),
            Test::Has(test) => {
                let mut passing = none(self.page);
                for below in tree::descendants(self.page).rev() {
                    if let Some(parent) = tree::parent(below)
                        && (passing[below.index()] || self.matches(test, below))
                    {
                        passing[parent.index()] = true;
                    }
                }
                passing
            }
            other => unreachable!("{other:?} reads only its element"),
        }
    }

    /// Whether a test matches one of the elements that `step` leads to. The elements on the way have the same answer, so each is
    /// tested once.
    fn leads_to(
        &self,
        test: &Test,
        element: Element<'a>,
        step: fn(Element<'a>) -> Option<Element<'a>>,
        known: &KnownNodes,
    ) -> bool {
        let mut last = element;
        let found = loop {
            if let Some(found) = known[last.index()].get() {
                break found;
            }
            match step(last) {
                Some(next) if self.matches(test, next) => break true,
                Some(next) => last = next,
                None => break false,
            }
        };
        let way = std::iter::successors(Some(element), |one| {
            (*one != last).then(|| step(*one)).flatten()
        });
        way.for_each(|one| known[one.index()].set(Some(found)));
        found
    }

    fn matches_structure(&self, root: Element<'a>, test: &Test, element: Element<'a>) -> bool {
        if root == element {
            return false;
        }
        let matches = |test: &Test, element: Element<'a>| self.matches_from(root, test, element);
        match test {
            Test::Ancestor(test) => {
                let mut above = element;
                while above != root {
                    let Some(parent) = tree::parent(above) else {
                        return false;
                    };
                    if matches(test, parent) {
                        return true;
                    }
                    above = parent;
                }
                false
            }
            Test::ParentRun(run) => {
                let mut at = Some(element);
                run.iter().rev().all(|test| {
                    let matched = at.is_some_and(|element| matches(test, element));
                    at = at.and_then(tree::parent);
                    matched
                })
            }
            Test::Previous(test) => {
                tree::previous(element).is_some_and(|before| matches(test, before))
            }
            Test::Preceding(test) => tree::preceding(element).any(|before| matches(test, before)),
            _ => false,
        }
    }
}

impl Test {
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

/// Whether a position, from 1, is `an + b`.
pub(super) fn is_nth(position: i64, a: i64, b: i64) -> bool {
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
