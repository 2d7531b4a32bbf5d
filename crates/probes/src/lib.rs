//! The target's own metrics beside the load: `--watch KIND=WHERE`.
//!
//! Each [`Source`] has a thread that asks once a second, or as often as an [`SshWatch`] says. A source that does not answer leaves a gap in its curves and nothing
//! else. [`Watching::groups`] gives the curves up to now, as reports and live pages show them.

#![warn(missing_docs)]

mod agent;
mod exposition;
mod http;
mod series;
mod source;
mod ssh;

pub use source::{KINDS, Source, SourceError, View, Watching};
pub use ssh::{SshCommand, SshWatch};
