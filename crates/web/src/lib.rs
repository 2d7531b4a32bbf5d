//! Everything that JMeter's HTTP sampler does around an exchange, as pure functions: addresses, bodies, headers, cookies,
//! cache, authorization, and the texts of its results.
//!
//! The rules are those of JMeter 5.6.3 with its HttpClient4 implementation; comments on odd rules name JMeter's class.
//! Nothing here does I/O except reading the size of upload files, and the time is always an argument.

#![warn(missing_docs)]

mod body_parts;
mod encoding_error;
mod header_value;
mod multipart;
mod wire;

pub mod access_log;
pub mod auth;
pub mod body;
pub mod cache;
pub mod cookies;
pub mod headers;
pub mod http_date;
pub mod java_client;
pub mod local_file;
pub mod property;
pub mod redirect;
pub mod response;
pub mod server_timing;
pub mod status;
pub mod stream;
pub mod traceparent;
pub mod url;
