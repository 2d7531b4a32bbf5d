//! The FTP Request of JMeter, which speaks as FTPClient of Apache Commons Net 3.10 does.
//!
//! | file | what |
//! |---|---|
//! | `sampler.rs` | the element's settings, and one sample |
//! | `control.rs` | the connection of commands and replies |
//! | `reply.rs` | a reply, and the addresses in it |
//! | `transfer.rs` | files over a data connection, with their line ends |
//! | `check.rs` | faults that are known before the run |

mod check;
mod control;
mod reply;
mod sampler;
mod transfer;

use super::system_sampler::words;

pub use check::{faults, may_add_properties};
pub use sampler::decode;

/// Why a sample fails, other than by a reply of the server.
#[derive(Debug, PartialEq, Eq)]
pub enum FtpFailure {
    /// The text of an `IOException`.
    Io(String),
    /// The text of an exception that the sampler does not catch, so that there is no sample.
    Uncaught(String),
}

impl FtpFailure {
    fn io(class: &str, message: impl std::fmt::Display) -> FtpFailure {
        FtpFailure::Io(format!("{class}: {message}"))
    }

    /// A connection that broke while it was read.
    fn reading(error: &std::io::Error) -> FtpFailure {
        let message = match error.kind() {
            std::io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
            _ => words(error),
        };
        FtpFailure::io("java.net.SocketException", message)
    }

    /// A connection that broke while it was written to.
    fn writing(error: &std::io::Error) -> FtpFailure {
        FtpFailure::io("java.net.SocketException", words(error))
    }

    /// A file that broke while it was read or written.
    fn file(error: &std::io::Error) -> FtpFailure {
        FtpFailure::io("java.io.IOException", words(error))
    }

    /// A file that cannot be opened.
    fn opening(name: &str, error: &std::io::Error) -> FtpFailure {
        let message = format!("{name} ({})", words(error));
        FtpFailure::io("java.io.FileNotFoundException", message)
    }

    /// Something larger than a property allows.
    fn too_large(what: &str, limit: u64, property: &str) -> FtpFailure {
        let message = format!("the {what} exceeds {limit} bytes ({property})");
        FtpFailure::io("java.io.IOException", message)
    }
}
