//! The reasons why a configuration cannot be run.

use std::path::Path;

use drumfire_platform::causes::unreadable;
use drumfire_platform::spelling::absent;

/// A configuration that cannot be run, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TaurusError {
    /// The error, with its position.
    pub message: String,
    /// The remedy, as a sentence.
    pub hint: Option<String>,
}

impl TaurusError {
    pub(crate) fn new(message: impl Into<String>) -> TaurusError {
        TaurusError {
            message: message.into(),
            hint: None,
        }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(file: &Path, error: &std::io::Error) -> TaurusError {
        let fault = TaurusError::new(unreadable(file, error));
        match error.kind() {
            std::io::ErrorKind::NotFound => fault.hint(absent(file)),
            _ => fault,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> TaurusError {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn in_file(self, file: &Path) -> TaurusError {
        TaurusError {
            message: format!("{}: {}", file.display(), self.message),
            ..self
        }
    }
}
