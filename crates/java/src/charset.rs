//! Character sets by their Java names (`java.nio.charset.Charset`).

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding};

use crate::exception::Exception;

/// A character set as `java.nio.charset.Charset.forName` finds it.
///
/// ISO-8859-1, US-ASCII and the UTF-16 family follow Java; on the web, the first two mean windows-1252.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charset {
    kind: CharsetKind,
    name: Cow<'static, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharsetKind {
    Utf8,
    Latin1,
    Ascii,
    Utf16 { big_endian: bool, mark: bool },
    Other(&'static Encoding),
}

/// Java's spellings of names that the encoding library spells differently.
const CANONICAL: [(&str, &str); 3] = [
    ("gb18030", "GB18030"),
    ("windows-874", "x-windows-874"),
    ("macintosh", "x-MacRoman"),
];

impl Charset {
    /// UTF-8, JMeter's default for requests.
    pub const UTF_8: Self = Self {
        kind: CharsetKind::Utf8,
        name: Cow::Borrowed("UTF-8"),
    };
    /// ISO-8859-1.
    pub const ISO_8859_1: Self = Self {
        kind: CharsetKind::Latin1,
        name: Cow::Borrowed("ISO-8859-1"),
    };
    /// US-ASCII.
    pub const US_ASCII: Self = Self {
        kind: CharsetKind::Ascii,
        name: Cow::Borrowed("US-ASCII"),
    };

    /// `Charset.forName`.
    ///
    /// # Errors
    /// `IllegalCharsetNameException` or `UnsupportedCharsetException`, whose message is the name.
    pub fn for_name(name: &str) -> Result<Self, Exception> {
        if name.is_empty()
            || !name.bytes().all(legal)
            || !name.as_bytes()[0].is_ascii_alphanumeric()
        {
            return Err(Exception::new(
                "java.nio.charset.IllegalCharsetNameException",
                name.to_owned(),
            ));
        }
        Self::find(name).ok_or_else(|| {
            Exception::new(
                "java.nio.charset.UnsupportedCharsetException",
                name.to_owned(),
            )
        })
    }

    /// The character set with this name, if Java supports it.
    pub fn find(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let utf16 = |big_endian, mark, name| Self {
            kind: CharsetKind::Utf16 { big_endian, mark },
            name: Cow::Borrowed(name),
        };
        Some(match lower.as_str() {
            "utf-8" | "utf8" => Self::UTF_8,
            "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "iso8859_1" | "iso_8859_1" | "8859_1"
            | "latin1" | "l1" | "iso-ir-100" | "cp819" | "ibm819" | "ibm-819" | "819"
            | "csisolatin1" => Self::ISO_8859_1,
            "us-ascii" | "ascii" | "iso646-us" | "646" | "cp367" | "ansi_x3.4-1968" | "csascii" => {
                Self::US_ASCII
            }
            "utf-16" | "utf16" | "utf_16" | "unicode" | "unicodebig" => utf16(true, true, "UTF-16"),
            "utf-16be" | "utf_16be" | "x-utf-16be" | "unicodebigunmarked" => {
                utf16(true, false, "UTF-16BE")
            }
            "utf-16le" | "utf_16le" | "x-utf-16le" | "unicodelittleunmarked" => {
                utf16(false, false, "UTF-16LE")
            }
            _ => {
                let encoding = Encoding::for_label_no_replacement(lower.as_bytes())?;
                let web_name = encoding.name();
                let name =
                    if let Some((_, java)) = CANONICAL.iter().find(|(web, _)| *web == web_name) {
                        Cow::Borrowed(*java)
                    } else if lower.starts_with("iso-8859-") {
                        // The web decodes some ISO sets as their Windows supersets; the name stays the ISO one.
                        Cow::Owned(lower.to_ascii_uppercase())
                    } else {
                        Cow::Borrowed(web_name)
                    };
                Self {
                    kind: CharsetKind::Other(encoding),
                    name,
                }
            }
        })
    }

    /// `Charset.name()`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `String.getBytes(charset)`: characters that cannot be encoded become `?`.
    pub fn encode<'a>(&self, text: &'a str) -> Cow<'a, [u8]> {
        match self.kind {
            CharsetKind::Utf8 => Cow::Borrowed(text.as_bytes()),
            CharsetKind::Latin1 | CharsetKind::Ascii | CharsetKind::Other(_)
                if text.is_ascii() && self.is_ascii_compatible() =>
            {
                Cow::Borrowed(text.as_bytes())
            }
            CharsetKind::Latin1 => Cow::Owned(
                text.chars()
                    .map(|c| u8::try_from(c).unwrap_or(b'?'))
                    .collect(),
            ),
            CharsetKind::Ascii => Cow::Owned(
                text.chars()
                    .map(|c| if c.is_ascii() { c as u8 } else { b'?' })
                    .collect(),
            ),
            CharsetKind::Utf16 { big_endian, mark } => {
                let mark = (mark && !text.is_empty()).then_some(0xfeff);
                Cow::Owned(
                    mark.into_iter()
                        .chain(text.encode_utf16())
                        .flat_map(|unit| {
                            if big_endian {
                                unit.to_be_bytes()
                            } else {
                                unit.to_le_bytes()
                            }
                        })
                        .collect(),
                )
            }
            CharsetKind::Other(encoding) => Cow::Owned(encode_with(encoding, text)),
        }
    }

    fn is_ascii_compatible(&self) -> bool {
        match self.kind {
            CharsetKind::Utf8 | CharsetKind::Latin1 | CharsetKind::Ascii => true,
            CharsetKind::Utf16 { .. } => false,
            CharsetKind::Other(encoding) => encoding.is_ascii_compatible(),
        }
    }

    /// Whether `CharsetEncoder.canEncode` holds for the character.
    pub fn can_encode(&self, c: char) -> bool {
        match self.kind {
            CharsetKind::Utf8 | CharsetKind::Utf16 { .. } => true,
            CharsetKind::Latin1 => (c as u32) < 0x100,
            CharsetKind::Ascii => c.is_ascii(),
            CharsetKind::Other(encoding) => !encoding.encode(c.encode_utf8(&mut [0; 4])).2,
        }
    }

    /// `new String(bytes, charset)`: malformed input becomes U+FFFD.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        match self.kind {
            CharsetKind::Utf8 => decode_utf8(bytes),
            CharsetKind::Latin1 => decode_latin1(bytes),
            CharsetKind::Ascii => Cow::Owned(
                bytes
                    .iter()
                    .map(|b| {
                        if b.is_ascii() {
                            char::from(*b)
                        } else {
                            '\u{fffd}'
                        }
                    })
                    .collect(),
            ),
            CharsetKind::Utf16 { mark: true, .. } => {
                let little = bytes.starts_with(&[0xff, 0xfe]);
                let encoding = if little {
                    encoding_rs::UTF_16LE
                } else {
                    encoding_rs::UTF_16BE
                };
                encoding.decode_with_bom_removal(bytes).0
            }
            CharsetKind::Utf16 {
                big_endian: true, ..
            } => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
            CharsetKind::Utf16 { .. } => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0,
            CharsetKind::Other(encoding) => encoding.decode_without_bom_handling(bytes).0,
        }
    }
}

fn legal(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-+.:_".contains(&b)
}

/// Decodes UTF-8 and replaces invalid bytes by U+FFFD. Valid text is borrowed; the check processes many bytes at a
/// time.
pub fn decode_utf8(bytes: &[u8]) -> Cow<'_, str> {
    // Checks several bytes at once, unlike the standard library.
    let valid = encoding_rs::UTF_8.decode_without_bom_handling_and_without_replacement(bytes);
    valid.unwrap_or_else(|| String::from_utf8_lossy(bytes))
}

/// Decodes ISO-8859-1; plain ASCII is borrowed.
pub fn decode_latin1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(bytes.iter().map(|b| char::from(*b)).collect()),
    }
}

fn encode_with(encoding: &'static Encoding, mut text: &str) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let mut out = Vec::with_capacity(text.len() + 16);
    loop {
        out.reserve(text.len() + 16);
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(text, &mut out, true);
        text = &text[read..];
        match result {
            EncoderResult::InputEmpty => return out,
            EncoderResult::OutputFull => out.reserve(2 * text.len() + 32),
            EncoderResult::Unmappable(_) => out.push(b'?'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        let name = |n: &str| Charset::for_name(n).map(|c| c.name().to_owned());
        assert_eq!(name("utf-8").unwrap(), "UTF-8");
        assert_eq!(name("latin1").unwrap(), "ISO-8859-1");
        assert_eq!(name("ISO-8859-9").unwrap(), "ISO-8859-9");
        assert_eq!(name("Cp1252").unwrap(), "windows-1252");
        assert_eq!(name("gb18030").unwrap(), "GB18030");
        let failure = name("nope").unwrap_err();
        assert_eq!(
            failure.class,
            "java.nio.charset.UnsupportedCharsetException"
        );
        assert_eq!(failure.message.unwrap(), "nope");
        assert_eq!(
            name("a b").unwrap_err().class,
            "java.nio.charset.IllegalCharsetNameException"
        );
    }

    #[test]
    fn unencodable_characters_become_question_marks() {
        assert_eq!(&*Charset::ISO_8859_1.encode("ü€"), b"\xfc?");
        assert_eq!(
            &*Charset::for_name("windows-1251").unwrap().encode("aж漢b"),
            b"a\xe6?b"
        );
        assert_eq!(
            &*Charset::for_name("UTF-16").unwrap().encode("a"),
            b"\xfe\xff\0a"
        );
        assert!(!Charset::ISO_8859_1.can_encode('€') && Charset::UTF_8.can_encode('€'));
    }
}
