//! Makes JMeter plans from other sources: recordings (HAR), API descriptions (OpenAPI, Postman, GraphQL documents),
//! cURL commands and access logs.
//!
//! Every importer produces a [`Draft`]: requests in transactions, with their responses if the input has them.
//! [`Draft::tree`] is the only writer. Between the two, [`correlate`] finds values that the server sent and the client
//! sent back.
//!
//! Nothing is lost silently. [`Draft::left_out`] counts the requests that an importer left out, by reason, and
//! [`Draft::warnings`] has a line for everything that it could not carry over.
//!
//! Only the command line and the recorder use this crate; the engine does not depend on it.

#![warn(missing_docs)]

mod access_log;
mod cookies;
pub mod correlate;
mod curl;
mod draft;
mod elements;
mod exchange;
mod extractor;
mod filter;
mod graphql;
#[cfg(test)]
mod growth;
mod grpc;
mod har;
mod input;
pub mod like;
mod live;
mod names;
mod openapi;
mod options;
mod plan;
mod postman;
mod powershell;
mod servers;
pub mod templates;
mod text;
mod tidy;
mod url;

pub use curl::import as curl;
pub use draft::{BroughtCookie, Data, Draft, DraftLoad, DraftStep, Transaction};
pub use exchange::{Auth, Exchange, FormPart, Redirect, Request, RequestBody, Response};
pub use filter::Filter;
pub use grpc::{GrpcMethod, GrpcServer, grpc_plan, grpc_sampler};
pub use input::import;
pub use live::Watch;
pub use options::{FORMATS, Format, ImportError, ImportOptions, ReadFile};
pub use text::PlanText;
pub use tidy::{Recording, draft as tidy, site};
pub use url::Address;
