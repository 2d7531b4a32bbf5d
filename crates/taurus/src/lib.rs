//! Taurus configurations: files are merged ([`config`]), each execution becomes a plan ([`scenario`], [`script`]) with its load
//! ([`load`]), and all of them become one plan ([`test`]). Criteria of `passfail` are read and judged in [`criteria`].
//!
//! Where Taurus's documentation leaves a case open, its own program decides; tests hold plans that it wrote.

#![warn(missing_docs)]

mod amount;
mod config;
mod criteria;
mod elements;
mod extractors;
mod fault;
mod files;
mod groups;
mod hooks;
mod join;
mod load;
mod modifications;
mod requests;
mod samplers;
mod scenario;
mod script;
mod test;
mod value;
mod yaml;

pub use config::is_configuration;
pub use criteria::{Criteria, Criterion, Numbers, Subject, code_fits};
pub use fault::Fault;
pub use hooks::{Hook, Stage};
pub use test::{Test, load};
