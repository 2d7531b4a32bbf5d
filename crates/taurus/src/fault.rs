//! The reasons why a configuration cannot be run.

use std::path::Path;

/// A configuration that cannot be run, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The error, with its position.
    pub message: String,
    /// The remedy, as a sentence.
    pub hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn in_file(self, file: &Path) -> Fault {
        Fault {
            message: format!("{}: {}", file.display(), self.message),
            ..self
        }
    }
}
