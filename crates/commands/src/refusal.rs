//! Why the program does not carry out a command line.

use std::io::ErrorKind;
use std::path::Path;

use drumfire_platform::causes::{cause, unreadable};
use drumfire_platform::message_error;
use drumfire_platform::spelling::absent;

use crate::exit_codes::Exit;

/// A command line that the program refuses to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The exit code.
    pub exit: Exit,
    /// The text for standard output: the lines that JMeter prints there and that scripts may look for.
    pub out: String,
    /// The text for standard error.
    pub err: String,
}

impl Refusal {
    /// A refusal that is printed to standard error only.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Refusal {
            exit,
            out: String::new(),
            err: format!("error: {}\n", message.into()),
        }
    }

    /// A refusal because of how the command was called.
    pub fn usage(message: impl Into<String>) -> Self {
        Refusal::new(Exit::Usage, message)
    }

    /// A refusal because the command could not do its work.
    pub fn run_failed(message: impl Into<String>) -> Self {
        Refusal::new(Exit::RunFailed, message)
    }

    /// A refusal because of an error of the operating system.
    pub fn failed(error: std::io::Error) -> Self {
        Refusal::run_failed(cause(&error))
    }

    /// A refusal because a file cannot be read; names the file that was probably meant.
    pub fn unreadable(exit: Exit, path: &Path, error: &std::io::Error) -> Self {
        let refusal = Refusal::new(exit, unreadable(path, error));
        match error.kind() {
            ErrorKind::NotFound => refusal.hint(absent(path)),
            _ => refusal,
        }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl std::fmt::Display) -> Self {
        self.err.push_str(&format!("hint: {hint}\n"));
        self
    }
}

message_error! {
    /// A fault in the words of a command line or in the project's settings, with the remedy.
    pub struct UsageError;
}

impl From<UsageError> for Refusal {
    fn from(error: UsageError) -> Refusal {
        Refusal::usage(error)
    }
}

message_error! {
    /// Which file cannot be read or written, and why.
    pub struct FileFailure;
}

impl From<FileFailure> for Refusal {
    fn from(failure: FileFailure) -> Refusal {
        Refusal::run_failed(failure)
    }
}

impl Refusal {
    /// The same refusal, printed to standard error only.
    #[must_use]
    pub fn off_standard_output(self) -> Self {
        let out = self.out.replacen("An error occurred: ", "error: ", 1);
        Refusal {
            exit: self.exit,
            out: String::new(),
            err: out + &self.err,
        }
    }
}
