//! Records the target's own metrics beside the load: `--watch KIND=WHERE`.
//!
//! Each [`Source`] has a thread that polls once a second, or at the interval of an [`SshWatch`]. A source that does not answer
//! only leaves a gap in its curves. [`Watching::groups`] returns the curves so far, as reports and live pages show them.

#![warn(missing_docs)]

mod agent;
mod exposition;
mod http;
mod series;
mod source;
mod ssh;

pub use http::ASKS_MIRROR;
pub use source::{CountedRequests, Source, SourceError, View, Watching};
pub use ssh::{SshCommand, SshWatch};
