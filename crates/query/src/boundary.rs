//! Finds the text between two boundaries, as `BoundaryExtractor` does.

use memchr::memmem;

use drumfire_java::text::is_blank;

/// A left and a right boundary, compiled once.
#[derive(Debug)]
pub struct Boundary {
    left: Searcher,
    right: Searcher,
}

/// A text to search for. Searching only its rarest byte is faster than searching two of its bytes, as long as that byte is
/// rare in the body.
#[derive(Debug)]
struct Searcher {
    finder: memmem::Finder<'static>,
    /// Offset of the byte that is rarest in pages and similar bodies.
    rarest: usize,
}

/// Bytes from the most to the least common; bytes that are not listed are rarer still.
const COMMON: &[u8] =
    b" e\"ta=</>iorsnldcp-umh:.,f1020g;bv3y495678w(){}&_'?#x\nkT\tASCIEPDRLNMOBHFGzjqVUWKYJXQZ";

/// The rank of a byte's rarity. Bytes of non-English letters may be common, so they rank as most common.
fn rarity(byte: u8) -> usize {
    let rank = COMMON.iter().position(|common| *common == byte);
    match byte {
        128.. => 0,
        _ => rank.unwrap_or(COMMON.len()),
    }
}

/// The minimum average distance between occurrences of the rarest byte at which searching it alone pays off.
const APART_BYTES: usize = 128;

impl Searcher {
    fn new(text: &str) -> Searcher {
        let bytes = text.as_bytes().iter().enumerate();
        let rarest = bytes.max_by_key(|(_, byte)| rarity(**byte));
        Searcher {
            finder: memmem::Finder::new(text.as_bytes()).into_owned(),
            rarest: rarest.map(|(at, _)| at).unwrap_or(0),
        }
    }

    fn needle(&self) -> &[u8] {
        self.finder.needle()
    }

    /// Offset of the first occurrence of the text.
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        let needle = self.needle();
        let Some(rarest) = needle.get(self.rarest) else {
            return Some(0);
        };
        let mut from = self.rarest;
        let mut misses = 0;
        loop {
            let rarest_at = from + memchr::memchr(*rarest, bytes.get(from..)?)?;
            let start = rarest_at - self.rarest;
            if bytes[start..].starts_with(needle) {
                return Some(start);
            }
            from = rarest_at + 1;
            misses += 1;
            if misses > 8 + from / APART_BYTES {
                let rest = start + 1;
                return Some(rest + self.finder.find(&bytes[rest..])?);
            }
        }
    }
}

impl Boundary {
    /// Either boundary may be empty: an empty left boundary is the start of the text, an empty right one its end.
    pub fn new(left: &str, right: &str) -> Boundary {
        Boundary {
            left: Searcher::new(left),
            right: Searcher::new(right),
        }
    }

    /// The fragments, in order. They may overlap: after a fragment, the search continues after its left boundary, so that `[a[b]`
    /// between `[` and `]` gives `a[b` and `b` (`BoundaryExtractor.extract`).
    ///
    /// A text of only white space gives nothing. With one empty boundary, at most one fragment is found. If the other
    /// boundary does not occur, JMeter continues as if both were given, so an empty left boundary then finds nothing.
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

    #[test]
    fn the_searcher_finds_what_the_standard_library_finds() {
        let mut random = fastrand::Rng::with_seed(5);
        let letters = ["a", "b", "k", "é", "\"", "="];
        let text = |random: &mut fastrand::Rng, most: usize, kinds: usize| -> String {
            let count = random.usize(..most);
            (0..count).map(|_| letters[random.usize(..kinds)]).collect()
        };
        for round in 0..4_000 {
            let kinds = 2 + round % 5;
            let searched = text(&mut random, 60, kinds).repeat(1 + round % 40);
            let needle = text(&mut random, 6, kinds);
            let found = Searcher::new(&needle).find(searched.as_bytes());
            assert_eq!(found, searched.find(&needle), "{needle} in {searched}");
        }
    }

    #[test]
    fn the_rarest_byte_is_known() {
        let rarest = |text: &str| text.as_bytes()[Searcher::new(text).rarest];
        assert_eq!(rarest("name=\"token\" value=\""), b'k');
        assert_eq!(rarest("<a href='"), b'\'');
        assert_eq!(rarest("é="), b'=');
    }
}
