//! Bounds of nesting, which protect the stack: queries come from plans of strangers, and a variable may complete them.

use std::cell::Cell;

/// How deeply parts of a query may be nested. Each level takes several frames of the stack.
const MOST_NESTED: usize = 60;
/// The weight that a text of tokens may have: a chain such as `a.b.c` becomes a tree that is as deep as it is long.
const MOST_WEIGHT: usize = 500;
/// The weight of a bracket.
const BRACKET: usize = 8;
/// The weight of a sign that may stand before its operand: parsers descend through all their levels for each.
const SIGN: usize = 5;

thread_local! {
    /// The levels that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Leaves a level, also after a panic.
struct Level;

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Reads a nested part; `None` beyond the bound.
pub(crate) fn deeper<T>(read: impl FnOnce() -> T) -> Option<T> {
    if DEPTH.get() >= MOST_NESTED {
        return None;
    }
    DEPTH.set(DEPTH.get() + 1);
    let _level = Level;
    Some(read())
}

/// The levels that this thread is in.
pub(crate) fn depth() -> usize {
    DEPTH.get()
}

/// The role of a token in the nesting of an expression.
pub(crate) enum Nests {
    Opens,
    Closes,
    /// Begins the next of several parts that are beside each other.
    Separates,
    /// May stand before its operand.
    Signs,
    No,
}

/// Whether an expression of these tokens may be parsed.
pub(crate) fn is_flat(tokens: impl Iterator<Item = Nests>) -> bool {
    let mut outside = Vec::new();
    let (mut above, mut weight) = (0, 0);
    for token in tokens {
        match token {
            Nests::Opens => {
                outside.push((above, weight));
                above += weight + BRACKET;
                weight = 0;
            }
            Nests::Closes => {
                (above, weight) = outside.pop().unwrap_or((0, weight));
                weight += 1;
            }
            Nests::Separates => weight = 0,
            Nests::Signs => weight += SIGN,
            Nests::No => weight += 1,
        }
        if above + weight > MOST_WEIGHT {
            return false;
        }
    }
    true
}
