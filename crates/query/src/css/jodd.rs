//! Jodd's selectors (`CSSelly`, `NodeSelector`): each step filters the list of the step before it, so `:eq`, `:first` and
//! similar tests count matches, not siblings.
//!
//! Jodd searches the descendants of each match anew, and the whole page for each element that it tests with `:not`. Here a step
//! reads each node once, and tests that read other elements are decided for the whole page at once, so the time grows with the
//! nodes of the page times the steps of the selector. The exception is an index within `:has`, such as `:has(p:first)`, which
//! is searched once for each element: it grows with the depth of the page, too.

use memchr::memmem::Finder;

use super::decided::{Decided, by_position, none};
use super::jsoup::{NEAR, is_at, is_nth};
use super::tree::{self, Element};
use crate::html::HtmlNodeKind;

/// One of the selectors separated by commas.
pub(super) type Chain = Vec<CompoundSelector>;

/// A compound selector, and the combinator that joins it to its predecessor.
#[derive(Debug)]
pub(super) struct CompoundSelector {
    pub(super) combinator: Combinator,
    pub(super) element: String,
    pub(super) tests: Vec<JoddTest>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    Adjacent,
    Sibling,
}

#[derive(Debug)]
pub(super) enum JoddTest {
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
pub(super) enum IndexTest {
    Equal(i64),
    Above(i64),
    Below(i64),
    Last,
    Even,
    Odd,
}

/// `NodeSelector.select`: the matches of all selectors in the page, without duplicates.
pub(super) fn select<'a>(chains: &[Chain], page: Element<'a>) -> Vec<Element<'a>> {
    let search = PageSearch {
        page,
        decided: Decided::new(page),
    };
    search.select(chains)
}

/// A search in a page.
struct PageSearch<'a> {
    /// The document.
    page: Element<'a>,
    decided: Decided<'a, JoddTest>,
}

impl<'a> PageSearch<'a> {
    fn select(&self, chains: &[Chain]) -> Vec<Element<'a>> {
        let mut all = Vec::new();
        let mut seen = SeenNodes::below(self.page);
        for chain in chains {
            let found = self.select_chain(chain, self.page);
            all.extend(found.into_iter().filter(|element| seen.insert(*element)));
        }
        all
    }

    fn select_chain(&self, chain: &[CompoundSelector], root: Element<'a>) -> Vec<Element<'a>> {
        let mut selected = vec![root];
        for step in chain {
            let mut matched = Vec::new();
            let mut seen = SeenNodes::below(root);
            for from in selected {
                step.combinator.each(from, &mut seen, |element| {
                    if step.accepts(element, self) {
                        matched.push(element);
                    }
                });
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

    /// Which nodes of the page pass a test that reads other elements.
    fn decide(&self, test: &JoddTest) -> Vec<bool> {
        let mut passing = none(self.page);
        match test {
            JoddTest::Has(chains) => {
                for chain in chains {
                    let found = self.leading_to(chain);
                    let both = passing.iter_mut().zip(found);
                    both.for_each(|(passes, is_found)| *passes |= is_found);
                }
            }
            JoddTest::Not(chains) => {
                passing.fill(true);
                for element in self.select(chains) {
                    passing[element.index()] = false;
                }
            }
            JoddTest::Contains(text) => self.containing(text, &mut passing),
            JoddTest::Nth {
                a,
                b,
                backwards,
                of_type,
            } => {
                passing = by_position(self.page, (*backwards, *of_type), |position| {
                    is_nth(position, *a, *b)
                });
            }
            other => unreachable!("{other:?} reads only its element"),
        }
        passing
    }

    fn elements(&self) -> impl DoubleEndedIterator<Item = Element<'a>> {
        tree::descendants(self.page)
    }

    /// The elements from which the chain selects something.
    fn leading_to(&self, chain: &[CompoundSelector]) -> Vec<bool> {
        let mut leading = none(self.page);
        if chain.iter().any(CompoundSelector::counts) {
            for element in self.elements() {
                leading[element.index()] = !self.select_chain(chain, element).is_empty();
            }
            return leading;
        }
        // From the last step to the first, so that each step knows whether the next ones find something.
        leading.fill(true);
        for step in chain.iter().rev() {
            for element in self.elements() {
                leading[element.index()] &= step.accepts(element, self);
            }
            leading = self.before(step.combinator, &leading);
        }
        leading
    }

    /// The elements from which the combinator reaches one of these.
    fn before(&self, combinator: Combinator, reached: &[bool]) -> Vec<bool> {
        let mut before = none(self.page);
        for element in self.elements().rev() {
            let is_reached = reached[element.index()];
            let leads_on = is_reached || before[element.index()];
            let from = match combinator {
                Combinator::Descendant if leads_on => tree::parent(element),
                Combinator::Child if is_reached => tree::parent(element),
                Combinator::Sibling if leads_on => tree::previous(element),
                Combinator::Adjacent if is_reached => tree::previous(element),
                _ => None,
            };
            if let Some(from) = from {
                before[from.index()] = true;
            }
        }
        before
    }

    /// The elements whose `getTextContent()` contains the text. Each has a range of the page's text, and these ranges begin in the
    /// order of the elements.
    fn containing(&self, wanted: &str, passing: &mut [bool]) {
        let mut text = String::new();
        let mut starts = vec![0];
        for node in self.page.descendants() {
            starts.push(text.len());
            if node.kind() == HtmlNodeKind::Text {
                text.push_str(node.text());
            }
        }
        starts.push(text.len());
        let finder = Finder::new(wanted);
        let mut found = finder.find(text.as_bytes());
        for element in self.elements() {
            let start = starts[element.index()];
            if found.is_some_and(|at| at < start) {
                let behind = finder.find(&text.as_bytes()[start..]);
                found = behind.map(|at| start + at);
            }
            passing[element.index()] =
                found.is_some_and(|at| at + wanted.len() <= starts[element.end()]);
        }
    }
}

/// The nodes below an element that a step has read.
struct SeenNodes {
    first: usize,
    seen: Vec<bool>,
}

impl SeenNodes {
    fn below(root: Element<'_>) -> SeenNodes {
        SeenNodes {
            first: root.index(),
            seen: vec![false; root.end() - root.index()],
        }
    }

    /// False if the node was seen before.
    fn insert(&mut self, node: Element<'_>) -> bool {
        !std::mem::replace(&mut self.seen[node.index() - self.first], true)
    }
}

impl Combinator {
    /// Visits the elements that the combinator reaches from an element and from none before it.
    fn each<'a>(self, from: Element<'a>, seen: &mut SeenNodes, mut visit: impl FnMut(Element<'a>)) {
        match self {
            Combinator::Descendant => {
                let mut index = from.index() + 1;
                while index < from.end() {
                    let node = from.at_index(index);
                    // All below a node that was seen were seen with it.
                    index = node.end();
                    if seen.insert(node) {
                        index = node.index() + 1;
                        if tree::is_element(&node) {
                            visit(node);
                        }
                    }
                }
            }
            Combinator::Child => tree::children(from).for_each(visit),
            Combinator::Adjacent => tree::following(from).take(1).for_each(visit),
            // All that follow an element that was seen were seen with it.
            Combinator::Sibling => tree::following(from)
                .take_while(|element| seen.insert(*element))
                .for_each(visit),
        }
    }
}

impl CompoundSelector {
    fn accepts<'a>(&self, element: Element<'a>, search: &PageSearch<'a>) -> bool {
        (self.element.is_empty() || self.element == tree::name(element))
            && self.tests.iter().all(|test| test.accepts(element, search))
    }

    /// Whether it counts the matches before it.
    fn counts(&self) -> bool {
        let mut tests = self.tests.iter();
        tests.any(|test| matches!(test, JoddTest::At(_)))
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
    fn accepts<'a>(&self, element: Element<'a>, search: &PageSearch<'a>) -> bool {
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
            } if *a == 0 && *b <= NEAR => is_at(element, (*a, *b), *backwards, *of_type),
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
            JoddTest::Nth { .. } | JoddTest::Has(_) | JoddTest::Not(_) | JoddTest::Contains(_) => {
                search.decided.passes(self, element, || search.decide(self))
            }
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
