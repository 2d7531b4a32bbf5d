//! The gRPC samplers of Zalopay's plugin: GRPC Request, and the GrpcRequest of its first version. Messages, frames and statuses
//! are the crate `grpc`'s; the calls run over the connections of the crate `http`.
//!
//! | file | what |
//! |---|---|
//! | `decode.rs` | the plan's properties |
//! | `settings.rs` | what a user evaluates once, at its first sample, and what each sample evaluates |
//! | `schemas.rs` | compiled `.proto` files, once for a run |
//! | `channel.rs` | a user's connection of one sampler |
//! | `sampler.rs` | one sample (`GRPCSampler#sample`) |
//! | `outcome.rs` | the sample of a status |
//! | `check.rs` | faults that are known before the run |

mod channel;
mod check;
mod decode;
mod outcome;
mod sampler;
mod schemas;
mod settings;

use drumfire_elements::samplers::{grpc_request, old_grpc_request};

pub use check::GrpcCheck;
pub use decode::decode;

/// The samplers' classes.
pub const CLASSES: [&str; 2] = [grpc_request::CLASS, old_grpc_request::CLASS];
