//! What lies between two boundary texts, as `BoundaryExtractor` finds it.

use memchr::memmem;

use crate::java::is_blank;

/// A left and a right boundary, compiled once.
#[derive(Debug)]
pub struct Boundary {
    left: memmem::Finder<'static>,
    right: memmem::Finder<'static>,
}

impl Boundary {
    /// Either boundary may be empty: an empty left one stands for the start of the text, an empty right one for its end.
    pub fn new(left: &str, right: &str) -> Boundary {
        Boundary {
            left: memmem::Finder::new(left.as_bytes()).into_owned(),
            right: memmem::Finder::new(right.as_bytes()).into_owned(),
        }
    }

    /// The fragments in turn. They may overlap: after a fragment the search goes on behind its left boundary, so that
    /// `[a[b]` between `[` and `]` gives `a[b` and `b` (`BoundaryExtractor.extract`).
    ///
    /// A text of white space only gives nothing. With one empty boundary at most one fragment is found; if the other
    /// boundary does not occur, JMeter goes on as if both were given, so an empty left boundary then finds nothing.
    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let (left, right) = (self.left.needle().len(), self.right.needle().len());
        let once = match (left, right) {
            _ if is_blank(text) => Some(None),
            (0, 0) => Some(Some(text)),
            (0, _) => Some(self.right.find(text.as_bytes()).map(|end| &text[..end])),
            (_, 0) => Some(
                self.left
                    .find(text.as_bytes())
                    .map(|start| &text[start + left..]),
            ),
            _ => None,
        };
        let many = once.is_none();
        let mut from = 0;
        let pairs = std::iter::from_fn(move || {
            let start = from + self.left.find(&text.as_bytes()[from..])? + left;
            let end = start + self.right.find(&text.as_bytes()[start..])?;
            from = start;
            Some(&text[start..end])
        });
        once.flatten()
            .into_iter()
            .chain(pairs.take(if many { usize::MAX } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(left: &str, right: &str, text: &str) -> Vec<String> {
        Boundary::new(left, right)
            .find_iter(text)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn finds_all_between() {
        assert_eq!(
            find("<a>", "</a>", "<a>1</a><b/><a></a><a>é</a>"),
            ["1", "", "é"]
        );
        assert_eq!(find("<a>", "</a>", "<a>1</a><a>2"), ["1"]);
        assert!(find("x", "y", "yx").is_empty());
    }

    #[test]
    fn fragments_overlap() {
        assert_eq!(find("[", "]", "[a[b]"), ["a[b", "b"]);
        assert_eq!(find("\"", "\"", "\"a\",\"b\""), ["a", ",", "b"]);
    }

    #[test]
    fn empty_boundaries_reach_to_the_ends() {
        assert_eq!(find("", "", "abc"), ["abc"]);
        assert_eq!(find("", "b", "abcb"), ["a"]);
        assert_eq!(find("b", "", "abcb"), ["cb"]);
        assert!(find("", "x", "abc").is_empty());
        assert!(find("x", "", "abc").is_empty());
    }

    #[test]
    fn blank_text_gives_nothing() {
        assert!(find("", "", "").is_empty());
        assert!(find("", "", " \n\u{2003}").is_empty());
        assert_eq!(find("", "", "\u{a0}"), ["\u{a0}"]);
    }
}
