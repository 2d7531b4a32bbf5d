//! Interned names: a plan repeats the same names many times.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

/// The name of a class, a property or an element. Equal names of a file share their text, so that a clone does not
/// allocate.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// Hash and order are those of the text.
impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.into())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name(text.into())
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// The names seen so far while reading a file.
#[derive(Default)]
pub(crate) struct NameInterner(HashSet<Name, FxBuildHasher>);

impl NameInterner {
    /// The interned name with this text.
    pub fn get(&mut self, text: &str) -> Name {
        if let Some(shared) = self.0.get(text) {
            return shared.clone();
        }
        let name = Name::from(text);
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_of_a_file_share_their_text() {
        let mut names = NameInterner::default();
        let (first, again, other) = (names.get("a"), names.get("a"), names.get("b"));
        assert!(Arc::ptr_eq(&first.0, &again.0));
        assert!(first == "a" && other == "b" && first != other);
        assert_eq!(format!("{first} {other:?}"), "a \"b\"");
    }
}
