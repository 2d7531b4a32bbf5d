//! The encoding of a file, which stays as it was.

use drumfire_jmx::{Splice, spliced};

/// How a file encodes its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    /// The first bytes of the file, which tell the encoding and hold the byte order mark.
    head: Vec<u8>,
    /// The name for people.
    name: &'static str,
}

/// The bytes of a file that tell its encoding.
const HEAD: usize = 4;

impl Encoding {
    /// The encoding of a file with this text. `None` if its bytes cannot be made from the text again, because some of them are no
    /// text.
    pub fn of(bytes: &[u8], text: &str) -> Option<Encoding> {
        let name = match bytes {
            [0xef, 0xbb, 0xbf, ..] => "UTF-8 with a byte order mark",
            [0xff, 0xfe, ..] | [_, 0, ..] => "UTF-16 LE",
            [0xfe, 0xff, ..] | [0, _, ..] => "UTF-16 BE",
            _ => "UTF-8",
        };
        let encoding = Encoding {
            head: bytes[..bytes.len().min(HEAD)].to_vec(),
            name,
        };
        (encoding.bytes(text) == bytes).then_some(encoding)
    }

    /// UTF-8 without a byte order mark.
    pub fn plain() -> Encoding {
        Encoding {
            head: Vec::new(),
            name: "UTF-8",
        }
    }

    /// The name for people.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A text as the bytes of the file.
    pub fn bytes(&self, text: &str) -> Vec<u8> {
        // Everything behind the byte order mark is replaced.
        spliced(&self.head, &[Splice::new(0, usize::MAX, text)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_kept_and_bytes_that_are_no_text_are_noticed() {
        let text = "<?xml version=\"1.0\"?><é😀/>";
        let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(unit).collect()
        };
        let marked = format!("\u{feff}{text}");
        for (bytes, name) in [
            (text.as_bytes().to_vec(), "UTF-8"),
            (marked.clone().into_bytes(), "UTF-8 with a byte order mark"),
            (utf16(&marked, u16::to_le_bytes), "UTF-16 LE"),
            (utf16(&marked, u16::to_be_bytes), "UTF-16 BE"),
            (utf16(text, u16::to_le_bytes), "UTF-16 LE"),
        ] {
            let encoding = Encoding::of(&bytes, text).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(encoding.name(), name);
            assert_eq!(encoding.bytes(text), bytes);
        }
        assert_eq!(Encoding::of(b"<a>\xff</a>", "<a>\u{fffd}</a>"), None);
    }
}
