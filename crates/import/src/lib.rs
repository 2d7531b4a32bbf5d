//! Makes JMeter plans of what users have instead of one: recordings (HAR), API descriptions (OpenAPI, Postman, GraphQL
//! documents), cURL commands, access logs.
//!
//! Every importer gives the same thing, a [`Draft`]: requests in transactions, with the responses where the input has
//! them. [`Draft::tree`] is the only writer. Between the two, [`correlate`] finds values that the server gave and the
//! client sent back.
//!
//! Nothing is lost silently: what an importer leaves out is counted with its reason in [`Draft::left_out`], and what it
//! could not carry over is a line in [`Draft::warnings`].
//!
//! Only the command line and the recorder import this crate; the engine does not know it.

#![warn(missing_docs)]

mod access_log;
pub mod correlate;
mod curl;
mod draft;
mod elements;
mod exchange;
mod filter;
mod graphql;
mod har;
mod input;
pub mod like;
mod names;
mod openapi;
mod options;
mod plan;
mod postman;
mod powershell;
pub mod templates;
mod text;
mod tidy;
mod url;

pub use curl::import as curl;
pub use draft::{Data, Draft, Load, Step, Transaction};
pub use exchange::{Auth, Body, Exchange, Part, Request, Response};
pub use filter::Filter;
pub use input::import;
pub use options::{FORMATS, Format, ImportError, Options, ReadFile};
pub use text::Text;
pub use tidy::{Recording, draft as tidy, site};
pub use url::Address;
