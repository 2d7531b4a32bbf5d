//! Whether a query may take so long that it must not run on an event loop.
//!
//! A worker runs all its users on one thread, so a query of 10 ms delays every other user by 10 ms. The caller asks
//! `is_long` with the size of the text before it runs the query, and hands long ones to another thread. The answer depends on
//! the query and the size only, never on the text: a small body always stays on the worker.

/// Queries that read the text a fixed number of times take a few milliseconds for so many bytes.
pub(crate) const LINEAR_BYTES: usize = 1 << 20;

/// Queries that usually read the text once, and in the worst case once for each match.
pub(crate) const REPEATED_BYTES: usize = 64 << 10;

/// Queries whose worst case grows faster than the square of the text: backtracking, comparisons of all nodes with all others.
pub(crate) const BACKTRACKING_BYTES: usize = 8 << 10;

/// The largest result of a query. Texts of nested nodes overlap, so a result can be far larger than the body.
pub(crate) const MOST_RESULT_BYTES: usize = 256 << 20;

/// The message of a result that is larger than [`MOST_RESULT_BYTES`].
pub(crate) const RESULT_TOO_LARGE: &str = "The result is larger than 256 MiB";

/// The matches that a caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matches {
    /// Whether there is a match, or the first one.
    First,
    /// All of them in turn.
    All,
}

/// Collects texts, unless they are too large together.
pub(crate) fn within_limit<T>(
    texts: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
) -> Option<Vec<T>> {
    let mut left = MOST_RESULT_BYTES;
    let mut kept = Vec::new();
    for text in texts {
        left = left.checked_sub(bytes(&text))?;
        kept.push(text);
    }
    Some(kept)
}
