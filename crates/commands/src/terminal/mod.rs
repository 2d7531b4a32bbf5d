//! A run in the terminal: a live view on a terminal, JMeter's lines elsewhere, a summary at the end.
//!
//! Functions without side effects make the text of everything that is shown ([`frame`], [`summary`],
//! [`milestones`]); only [`live`] writes control sequences.

pub mod advice;
pub mod escape;
pub mod feed;
pub mod findings;
pub mod format;
pub mod frame;
pub mod live;
pub mod milestones;
pub mod precision;
pub mod snapshot;
pub mod style;
pub mod summary;
pub mod verdict;
