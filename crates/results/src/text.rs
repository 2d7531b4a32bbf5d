//! Short texts, mostly literals: response codes, messages, encodings.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// A text that is either a literal or reference-counted; a clone never copies the bytes.
#[derive(Clone)]
pub enum SharedText {
    /// A literal, which costs nothing to build.
    Static(&'static str),
    /// A text built at run time.
    Shared(Rc<str>),
}

impl SharedText {
    /// The empty text, JMeter's default for text fields that are never null.
    pub const EMPTY: SharedText = SharedText::Static("");

    /// The text itself.
    pub fn as_str(&self) -> &str {
        match self {
            SharedText::Static(text) => text,
            SharedText::Shared(text) => text,
        }
    }
}

impl Default for SharedText {
    fn default() -> Self {
        SharedText::EMPTY
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&'static str> for SharedText {
    fn from(text: &'static str) -> Self {
        SharedText::Static(text)
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        SharedText::Shared(text.into())
    }
}

impl From<Rc<str>> for SharedText {
    fn from(text: Rc<str>) -> Self {
        SharedText::Shared(text)
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SharedText {}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for SharedText {
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
        assert_eq!(SharedText::from("200"), SharedText::from(shared));
        assert_eq!(SharedText::from(String::from("200")), *"200");
        assert_ne!(SharedText::from("200"), SharedText::EMPTY);
        assert_eq!(SharedText::default().len(), 0);
    }

    #[test]
    fn a_clone_of_a_shared_text_shares_it() {
        let shared: Rc<str> = Rc::from("OK");
        let text = SharedText::from(Rc::clone(&shared));
        let _clone = text.clone();
        assert_eq!(Rc::strong_count(&shared), 3);
    }
}
