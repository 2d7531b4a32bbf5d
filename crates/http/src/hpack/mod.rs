//! Header compression (RFC 7541).
//!
//! Fields are kept as lines of HTTP/1.1, the form in which the callers pass and receive heads, so that a reference to a table is
//! one copy.
//!
//! | file | its part |
//! |---|---|
//! | `huffman.rs` | the code of strings |
//! | `table.rs` | the static and the dynamic table |
//! | `decoder.rs` | blocks of servers |
//! | `encoder.rs` | blocks of requests |
//! | `fields.rs` | what a request consists of |
//! | `parts.rs` | integers, and what the other files share |

mod decoder;
mod encoder;
mod fields;
mod huffman;
mod parts;
mod table;

pub(crate) use decoder::{Decoder, LineSink};
pub(crate) use encoder::Encoder;
pub(crate) use fields::RequestFields;
pub(crate) use parts::TABLE_BYTES;
