//! gRPC without an engine: `.proto` files compiled, messages from and to JSON, frames and statuses of calls, reflection.
//!
//! A call is an HTTP/2 exchange of `drumfire-http`, which the caller runs: [`call::head`] and [`put_frame`] write its request,
//! and [`call::read`] reads its response. JSON, statuses and limits are those of the JMeter plugin by Zalopay, which uses
//! Protocol Buffers and gRPC for Java.

#![warn(missing_docs)]

pub mod call;
mod compile;
mod dialect;
mod frame;
mod json;
mod metadata;
mod reflection;
mod schema;
mod status;
mod wire;

pub use compile::{CompileError, compile, compile_texts, descriptors};
pub use dialect::Dialect;
pub use frame::{PREFIX_BYTES, Take, messages_of, put_frame};
pub use json::{JsonError, PrintError, PrintStyle};
pub use metadata::{Metadata, MetadataError};
pub use prost_types::FileDescriptorSet;
pub use reflection::{ReflectionFailure, reflect};
pub use schema::{MessageId, Method, MethodError, Schema, SchemaError};
pub use status::{Code, Status};
pub use wire::MalformedMessage;
