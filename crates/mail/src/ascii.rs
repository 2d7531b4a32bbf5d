//! Which bytes of a text are outside ASCII, and which transfer encoding it therefore gets (`MimeUtility#checkAscii`).

/// A line may have as many bytes without its end (RFC 5322 section 2.1.1).
const MAX_LINE_BYTES: usize = 998;

/// The bytes of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ascii {
    /// All of them are printable ASCII or white space.
    All,
    /// Most of them are, or a line is too long.
    Mostly,
    /// At most half of them are.
    Rarely,
}

impl Ascii {
    /// Judges a text by its UTF-16 units.
    pub fn of_text(text: &str) -> Ascii {
        let units = text.encode_utf16();
        let others = units.filter(|unit| is_outside(*unit)).count();
        judge(crate::latin::units(text), others)
    }

    /// Judges the bytes of a text, whose lines may be too long.
    pub fn of_content(bytes: &[u8]) -> Ascii {
        let others = bytes.iter().filter(|byte| is_outside(**byte)).count();
        match judge(bytes.len(), others) {
            Ascii::All if has_long_line(bytes) => Ascii::Mostly,
            judged => judged,
        }
    }
}

fn judge(all: usize, others: usize) -> Ascii {
    match others {
        0 => Ascii::All,
        _ if all - others > others => Ascii::Mostly,
        _ => Ascii::Rarely,
    }
}

fn is_outside(unit: impl Into<u32>) -> bool {
    let unit = unit.into();
    unit >= 0x7f || (unit < 0x20 && !matches!(unit, 9 | 10 | 13))
}

fn has_long_line(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| matches!(byte, b'\r' | b'\n'));
    lines.any(|line| line.len() > MAX_LINE_BYTES)
}

/// How the bytes of a part travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferEncoding {
    /// As they are.
    SevenBit,
    /// Bytes outside ASCII as `=XX`.
    QuotedPrintable,
    /// In lines of 76 characters.
    Base64,
}

impl TransferEncoding {
    /// The encoding that JavaMail chooses (`MimeUtility#getEncoding`).
    pub fn choose(bytes: &[u8], is_text: bool) -> TransferEncoding {
        match Ascii::of_content(bytes) {
            Ascii::All => TransferEncoding::SevenBit,
            Ascii::Mostly if is_text || has_only_ascii(bytes) => TransferEncoding::QuotedPrintable,
            _ => TransferEncoding::Base64,
        }
    }

    /// Its name in a header.
    pub fn name(self) -> &'static str {
        match self {
            TransferEncoding::SevenBit => "7bit",
            TransferEncoding::QuotedPrintable => "quoted-printable",
            TransferEncoding::Base64 => "base64",
        }
    }
}

/// A file that is no text is encoded with quoted-printable only because of a long line.
fn has_only_ascii(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| is_outside(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_those_that_javamail_chooses() {
        use TransferEncoding::{Base64, QuotedPrintable, SevenBit};
        let long = [b'0'; 999];
        for (bytes, of_text, of_file) in [
            (&b"a\tb\r\n"[..], SevenBit, SevenBit),
            (b"", SevenBit, SevenBit),
            ("h\u{e9}llo".as_bytes(), QuotedPrintable, Base64),
            ("\u{e9}\u{e9}".as_bytes(), Base64, Base64),
            (b"a\0", Base64, Base64),
            (&long, QuotedPrintable, QuotedPrintable),
            (&long[1..], SevenBit, SevenBit),
        ] {
            assert_eq!(TransferEncoding::choose(bytes, true), of_text, "{bytes:?}");
            assert_eq!(TransferEncoding::choose(bytes, false), of_file, "{bytes:?}");
        }
    }
}
