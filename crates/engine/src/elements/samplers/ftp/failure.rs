//! Failures of a sample, as the texts of Java's exceptions.

use std::{fmt, io};

use crate::elements::samplers::system_sampler::words;

/// Why a sample fails, other than by a reply of the server.
#[derive(Debug, PartialEq, Eq)]
pub enum FtpFailure {
    /// The text of an `IOException`.
    Io(String),
    /// The text of an exception that the sampler does not catch, so that there is no sample.
    Uncaught(String),
}

impl FtpFailure {
    pub fn io(class: &str, message: impl fmt::Display) -> FtpFailure {
        FtpFailure::Io(format!("{class}: {message}"))
    }

    /// A connection that broke while it was read.
    pub fn reading(error: &io::Error) -> FtpFailure {
        let message = match error.kind() {
            io::ErrorKind::ConnectionReset => "Connection reset".to_owned(),
            _ => words(error),
        };
        FtpFailure::io("java.net.SocketException", message)
    }

    /// A connection that broke while it was written to.
    pub fn writing(error: &io::Error) -> FtpFailure {
        FtpFailure::io("java.net.SocketException", words(error))
    }

    /// A file that broke while it was read or written.
    pub fn file(error: &io::Error) -> FtpFailure {
        FtpFailure::io("java.io.IOException", words(error))
    }

    /// A file that cannot be opened.
    pub fn opening(name: &str, error: &io::Error) -> FtpFailure {
        let message = format!("{name} ({})", words(error));
        FtpFailure::io("java.io.FileNotFoundException", message)
    }

    /// Something larger than a property allows.
    pub fn too_large(what: &str, limit: u64, property: &str) -> FtpFailure {
        let message = format!("the {what} exceeds {limit} bytes ({property})");
        FtpFailure::io("java.io.IOException", message)
    }
}
