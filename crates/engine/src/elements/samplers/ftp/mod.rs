//! The FTP Request of JMeter, which speaks as FTPClient of Apache Commons Net 3.10 does.
//!
//! | file | what |
//! |---|---|
//! | `sampler.rs` | the element's settings, and one sample |
//! | `control.rs` | the connection of commands and replies |
//! | `reply.rs` | a reply, and the addresses in it |
//! | `transfer.rs` | files over a data connection, with their line ends |
//! | `failure.rs` | failures as Java's exceptions |
//! | `check.rs` | faults that are known before the run |

mod check;
mod control;
mod failure;
mod reply;
mod sampler;
mod transfer;

pub use check::{faults, may_add_properties};
pub use sampler::decode;
