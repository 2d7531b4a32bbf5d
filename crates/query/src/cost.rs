//! Estimates whether a query may take too long to run on an event loop.
//!
//! A worker runs all its users on one thread, so a query of 10 ms delays every other user by 10 ms. The caller calls
//! `is_long` with the size of the text before it runs the query, and moves long ones to another thread. The answer depends
//! only on the query and the size, never on the text: small bodies always stay on the worker.

/// Limit for queries that read the text a fixed number of times; these take a few milliseconds for this many bytes.
pub(crate) const LINEAR_BYTES: usize = 1 << 20;

/// Limit for queries that usually read the text once, but in the worst case once per match.
pub(crate) const REPEATED_BYTES: usize = 64 << 10;

/// Limit for queries whose worst case grows faster than the square of the text: backtracking, or comparisons of all nodes
/// with all others.
pub(crate) const BACKTRACKING_BYTES: usize = 8 << 10;

/// Limit of a query's result. Texts of nested nodes overlap, so a result can be far larger than the body.
pub(crate) const MOST_RESULT_BYTES: usize = 256 << 20;

/// The message for a result larger than [`MOST_RESULT_BYTES`].
pub(crate) const RESULT_TOO_LARGE: &str = "The result is larger than 256 MiB";

/// The matches that a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matches {
    /// Whether there is a match, or the first one.
    First,
    /// All matches, in order.
    All,
}

/// Collects texts, unless their total size exceeds the limit.
pub(crate) fn within_limit<T>(
    texts: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
) -> Option<Vec<T>> {
    let mut left = MOST_RESULT_BYTES;
    let mut affordable = Vec::new();
    for text in texts {
        left = left.checked_sub(bytes(&text))?;
        affordable.push(text);
    }
    Some(affordable)
}
