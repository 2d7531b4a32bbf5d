//! Why a text or an expression cannot be read.

/// A body that is not well-formed, or an expression that cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct XPathError {
    /// `getLocalizedMessage()` of the exception, if known.
    pub message: String,
    /// Where the parser was, in bytes.
    pub(crate) at: Option<usize>,
    /// The same as line and column.
    pub place: Option<(usize, usize)>,
}

impl XPathError {
    pub(crate) fn new(message: impl Into<String>) -> XPathError {
        XPathError {
            message: message.into(),
            at: None,
            place: None,
        }
    }

    /// Whether bytes cannot be decoded, which Java reports as an error of reading.
    pub fn is_of_bytes(&self) -> bool {
        self.message.ends_with("-byte UTF-8 sequence.")
    }

    /// The error with its line and column in the document, as Xerces counts them.
    pub(super) fn placed(self, text: &str) -> XPathError {
        let line_and_column = self.at.and_then(|at| text.get(..at)).map(|before| {
            let ends = before.replace("\r\n", "\n").replace('\r', "\n");
            let (line, last) = ends.split('\n').enumerate().last().unwrap_or((0, ""));
            (line + 1, last.encode_utf16().count() + 1)
        });
        XPathError {
            place: line_and_column,
            ..self
        }
    }
}
