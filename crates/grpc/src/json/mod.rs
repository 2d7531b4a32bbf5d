//! The JSON form of messages, as `JsonFormat` of Protocol Buffers for Java reads and prints it.
//!
//! | file | its part |
//! |---|---|
//! | `read.rs` | a JSON text as a tree |
//! | `encode.rs` | the tree as a message |
//! | `numbers.rs` | numbers of both |
//! | `print.rs` | a message as JSON |
//! | `example.rs` | messages to start from |
//! | `known.rs` | times, durations and field masks |

mod encode;
mod example;
mod known;
mod numbers;
mod print;
mod read;
#[cfg(test)]
mod tests;

use drumfire_platform::message_error;

pub(crate) use read::Json;

pub use print::{PrintError, PrintStyle};

message_error! {
    /// Why a JSON text is no message of its type.
    pub struct JsonError;
}
