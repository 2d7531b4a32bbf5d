//! Searches response bodies: text in, matches out.
//!
//! All extractors and assertions that search a body use this crate; it does not depend on plans or samples. Compiled
//! queries (`Pattern`, `JsonPath`, `Selector`) are `Send + Sync` and shared by all users. All extractors of a sample can
//! share its parsed body (`Json`, `Document`).
//!
//! The rules are those of JMeter 5.6.3 and of the libraries it ships: Jakarta ORO 2.0.8 and `java.util.regex` for
//! regular expressions, json-smart and Jayway JsonPath for JSON, jsoup and Jodd for CSS selectors, Lagarto for the
//! resources of a page.

#![warn(missing_docs)]

pub mod boundary;
mod bytes;
mod cost;
pub mod css;
mod html;
pub mod jmespath;
pub mod json;
pub mod jsonpath;
mod nesting;
pub mod page;
pub mod regex;
pub mod resources;
pub mod xpath;
pub mod xpath2;

pub use cost::Matches;
