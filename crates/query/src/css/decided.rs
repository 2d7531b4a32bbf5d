//! Tests that read other elements, decided for a whole page. Without this, each element would read the same nodes again, and the
//! time would grow with the square of the page.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::tree::{self, Element};

/// Which nodes pass a test, by their index in the page; `None` where that is not decided yet.
pub(super) type KnownNodes = Rc<[Cell<Option<bool>>]>;

/// The results of tests, by the address of the test.
pub(super) struct Decided<'a, T> {
    page: Element<'a>,
    known: RefCell<HashMap<*const T, KnownNodes>>,
}

impl<'a, T> Decided<'a, T> {
    pub(super) fn new(page: Element<'a>) -> Decided<'a, T> {
        Decided {
            page,
            known: RefCell::default(),
        }
    }

    /// The nodes for which the test has been decided so far.
    pub(super) fn known(&self, test: &T) -> KnownNodes {
        let mut known = self.known.borrow_mut();
        let nodes = known
            .entry(test)
            .or_insert_with(|| vec![Cell::new(None); self.page.end()].into());
        Rc::clone(nodes)
    }

    /// Whether the element passes the test, which `decide` finds out for all nodes on first use.
    pub(super) fn passes(
        &self,
        test: &T,
        element: Element<'_>,
        decide: impl FnOnce() -> Vec<bool>,
    ) -> bool {
        let known = self.known(test);
        known[element.index()].get().unwrap_or_else(|| {
            let passing = decide();
            for (node, passes) in known.iter().zip(&passing) {
                node.set(Some(*passes));
            }
            passing[element.index()]
        })
    }
}

/// No node of the page.
pub(super) fn none(page: Element<'_>) -> Vec<bool> {
    vec![false; page.end()]
}

/// The elements whose position among their siblings passes, counted from 1. `of_type` counts only siblings of the same name.
pub(super) fn by_position<'a>(
    page: Element<'a>,
    (backwards, of_type): (bool, bool),
    passes: impl Fn(i64) -> bool,
) -> Vec<bool> {
    let mut passing = none(page);
    let mut counts = vec![0; page.end()];
    let mut typed = HashMap::new();
    let count = |element: Element<'a>| {
        let parent = tree::parent(element).map_or(0, Element::index);
        let position = match of_type {
            true => typed.entry((parent, tree::name(element))).or_insert(0),
            false => &mut counts[parent],
        };
        *position += 1;
        passing[element.index()] = passes(*position);
    };
    if backwards {
        tree::descendants(page).rev().for_each(count);
    } else {
        tree::descendants(page).for_each(count);
    }
    passing
}
