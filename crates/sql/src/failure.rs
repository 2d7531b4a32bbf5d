//! Failures with the class, message and codes of Java's `SQLException`.

use std::borrow::Cow;
use std::fmt;

/// An exception of a JDBC driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlFailure {
    /// The name of its class, with the package.
    pub class: Cow<'static, str>,
    /// `getMessage()` of the exception.
    pub message: String,
    /// `SQLException#getSQLState`.
    pub state: Option<String>,
    /// `SQLException#getErrorCode`.
    pub code: i32,
}

impl SqlFailure {
    /// A failure without a vendor code.
    pub fn new(class: &'static str, message: impl Into<String>, state: Option<&str>) -> SqlFailure {
        SqlFailure {
            class: class.into(),
            message: message.into(),
            state: state.map(str::to_owned),
            code: 0,
        }
    }

    /// A plain `java.sql.SQLException`.
    pub fn plain(message: impl Into<String>) -> SqlFailure {
        SqlFailure::new("java.sql.SQLException", message, None)
    }
}

/// Formats the failure like `Throwable#toString`.
impl fmt::Display for SqlFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}

impl std::error::Error for SqlFailure {}
