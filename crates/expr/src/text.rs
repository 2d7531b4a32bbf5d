//! The result of an evaluation, borrowed whenever possible.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::vars::Value;

/// The value of a template: a string that is copied only if it had to be built.
#[derive(Debug, Clone)]
pub enum Text<'a> {
    /// Part of the template itself.
    Literal(&'a str),
    /// The value of one variable.
    Shared(Value),
    /// The value of one JMeter property.
    Property(Arc<str>),
    /// Built for this evaluation.
    Owned(String),
}

impl Text<'_> {
    /// The text as a plain string slice.
    pub fn as_str(&self) -> &str {
        match self {
            Text::Literal(text) => text,
            Text::Shared(text) => text,
            Text::Property(text) => text,
            Text::Owned(text) => text,
        }
    }

    /// Converts the text to a variable's value; a value that came from a variable is not
    /// copied.
    pub fn into_value(self) -> Value {
        match self {
            Text::Shared(value) => value,
            Text::Owned(text) => Rc::from(text),
            other => Rc::from(other.as_str()),
        }
    }

    /// Converts the text to an owned string.
    pub fn into_string(self) -> String {
        match self {
            Text::Owned(text) => text,
            other => other.as_str().to_owned(),
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Owned(text)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::Literal(text)
    }
}
