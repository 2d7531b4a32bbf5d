//! Short texts, mostly literals: response codes, messages, encodings.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// A text that is either a literal or reference-counted; a clone never copies the bytes.
#[derive(Clone)]
pub enum Text {
    /// A literal, which costs nothing to build.
    Static(&'static str),
    /// A text built at run time.
    Shared(Rc<str>),
}

impl Text {
    /// The empty text, JMeter's default for text fields that are never null.
    pub const EMPTY: Text = Text::Static("");

    /// The text itself.
    pub fn as_str(&self) -> &str {
        match self {
            Text::Static(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Text::EMPTY
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Text::Static(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

impl From<Rc<str>> for Text {
    fn from(text: Rc<str>) -> Self {
        Text::Shared(text)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_and_shared_text_are_equal_when_their_bytes_are() {
        let shared: Rc<str> = Rc::from("200");
        assert_eq!(Text::from("200"), Text::from(shared));
        assert_eq!(Text::from(String::from("200")), *"200");
        assert_ne!(Text::from("200"), Text::EMPTY);
        assert_eq!(Text::default().len(), 0);
    }

    #[test]
    fn a_clone_of_a_shared_text_shares_it() {
        let shared: Rc<str> = Rc::from("OK");
        let text = Text::from(Rc::clone(&shared));
        let _clone = text.clone();
        assert_eq!(Rc::strong_count(&shared), 3);
    }
}
