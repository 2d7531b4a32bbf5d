//! JMeter's mail samplers. Mails and the replies of servers are the crate `mail`'s; bytes move over the dialogues of the crate `http`.
//!
//! | file | what |
//! |---|---|
//! | `decode.rs` | the plan's properties |
//! | `settings.rs` | what an SMTP Sampler evaluates |
//! | `security.rs` | TLS: when, and whom to trust |
//! | `machine.rs` | how this machine and its user are called |
//! | `wire.rs` | a connection that is written to the log |
//! | `smtp.rs` | one sample of an SMTP Sampler |
//! | `transport.rs` | its conversation with the server |
//! | `reader.rs` | one sample of a Mail Reader Sampler |
//! | `mailbox.rs`, `pop3.rs`, `imap.rs` | its conversation with the server |
//! | `check.rs` | faults that are known before the run |

mod check;
mod decode;
mod imap;
mod machine;
mod mailbox;
mod pop3;
mod reader;
mod security;
mod settings;
mod smtp;
mod transport;
mod wire;

pub use check::faults;
pub use decode::{reader, smtp};
