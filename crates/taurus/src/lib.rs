//! Runs Taurus configurations. It merges the files ([`config`]), turns each execution into a plan ([`scenario`], [`script`])
//! with its load ([`load`]), and joins the plans into one ([`test`]). [`criteria`] reads and judges the criteria of `passfail`.
//!
//! Where Taurus's documentation leaves a case open, Taurus itself is the reference; tests contain plans that it wrote.

#![warn(missing_docs)]

mod amount;
mod cmdline;
mod config;
mod criteria;
mod elements;
mod error;
mod extractors;
mod files;
mod groups;
mod hooks;
mod join;
mod keys;
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
pub use error::TaurusError;
pub use hooks::{Hook, Stage};
pub use test::{Test, load};
