//! Unchecked Java exceptions that functions throw, including wrapped ones: a failed HTTP sample lists all of them in its
//! response data.

use std::borrow::Cow;

use crate::java_time::DatePatternError;

/// An unchecked Java exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaException {
    /// The full name of its class.
    pub class: Cow<'static, str>,
    /// `getMessage()`.
    pub message: Option<String>,
    /// The wrapped exception.
    pub cause: Option<Box<JavaException>>,
}

impl JavaException {
    /// An exception without a cause.
    pub fn new(class: &'static str, message: impl Into<String>) -> JavaException {
        JavaException {
            class: Cow::Borrowed(class),
            message: Some(message.into()),
            cause: None,
        }
    }

    pub(crate) fn caused_by(mut self, cause: JavaException) -> JavaException {
        self.cause = Some(Box::new(cause));
        self
    }
}

/// Parses the first line of a trace: `class: message`.
impl From<String> for JavaException {
    fn from(text: String) -> JavaException {
        let (class, message) = match text.split_once(": ") {
            Some((class, message)) if !class.contains(' ') => {
                (class.to_owned(), Some(message.to_owned()))
            }
            _ => (text, None),
        };
        JavaException {
            class: Cow::Owned(class),
            message,
            cause: None,
        }
    }
}

/// Prints the first line of the trace.
impl std::fmt::Display for JavaException {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.class),
            None => f.write_str(&self.class),
        }
    }
}

impl std::error::Error for JavaException {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}

/// The exception of a `__time` with an invalid format.
pub(crate) fn no_date_pattern(pattern: &str, error: &DatePatternError) -> JavaException {
    let class = "java.lang.IllegalArgumentException";
    let message = format!("Unable to parse date format {pattern}");
    JavaException::new(class, message).caused_by(JavaException::new(class, error.0.clone()))
}
