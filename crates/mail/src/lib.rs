//! Mails as JavaMail 1.5 writes and reads them, and SMTP and IMAP without I/O.
//!
//! JMeter's mail samplers use JavaMail, so a receiver must get the same bytes: the same headers in the same order, folded at the same
//! places, and the same encodings. Values that JavaMail draws at random are given by the caller.
//!
//! | file | what |
//! |---|---|
//! | `compose.rs` | a new mail from its parts |
//! | `message.rs` | its bytes, and how JMeter shows it |
//! | `received.rs` | a mail that was read, and its parts |
//! | `headers.rs` | headers in order |
//! | `parameters.rs` | header values with parameters |
//! | `words.rs` | encoded words, and long lines |
//! | `address.rs` | addresses |
//! | `ascii.rs`, `encoding.rs` | transfer encodings: which, and how |
//! | `file_types.rs` | media types of files |
//! | `latin.rs` | texts of which each character is a byte |
//! | `date.rs` | dates |
//! | `smtp.rs` | replies and commands of SMTP |
//! | `imap.rs` | responses of IMAP |

#![warn(missing_docs)]

mod address;
mod ascii;
mod compose;
mod date;
mod encoding;
mod file_types;
mod headers;
pub mod imap;
mod latin;
mod message;
mod parameters;
mod received;
pub mod smtp;
mod words;

pub use address::{Address, AddressError, decoded_name, join, parse_list};
pub use compose::{Attachment, Draft, DraftContent, Stamp};
pub use date::millis as date_millis;
pub use encoding::UnknownEncoding;
pub use headers::Headers;
pub use message::Message;
pub use received::{Parts, Received, ReceivedContent};
pub use words::{WordPlace, decode as decode_words, encode as encode_words, unfold};
