//! Transfer encodings (RFC 2045 section 6), with the line breaks of JavaMail's encoders.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use crate::ascii::TransferEncoding;

/// Bytes of a line of Base64, which becomes 76 characters.
const BASE64_LINE_BYTES: usize = 57;
/// Characters of a line of quoted-printable, without its soft line break.
const QUOTED_LINE_CHARS: usize = 75;

/// Writes bytes in an encoding.
pub fn encode(bytes: &[u8], encoding: TransferEncoding, out: &mut Vec<u8>) {
    match encoding {
        TransferEncoding::SevenBit => out.extend_from_slice(bytes),
        TransferEncoding::QuotedPrintable => QuotedPrintable::new(out).write(bytes),
        TransferEncoding::Base64 => base64_lines(bytes, out),
    }
}

/// `BASE64EncoderStream`: full lines have a line break, and the last one does not.
fn base64_lines(bytes: &[u8], out: &mut Vec<u8>) {
    let mut text = String::with_capacity(80);
    for line in bytes.chunks(BASE64_LINE_BYTES) {
        text.clear();
        STANDARD.encode_string(line, &mut text);
        out.extend_from_slice(text.as_bytes());
        if line.len() == BASE64_LINE_BYTES {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// `QPEncoderStream`.
struct QuotedPrintable<'o> {
    out: &'o mut Vec<u8>,
    /// Characters of the current line.
    count: usize,
}

impl<'o> QuotedPrintable<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        QuotedPrintable { out, count: 0 }
    }

    /// A space is encoded in front of a line break. One at the end of the bytes is lost, as in JavaMail, which flushes the
    /// stream and does not close it.
    fn write(&mut self, bytes: &[u8]) {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if at > 0 && bytes[at - 1] == b'\r' => {}
                b'\r' | b'\n' => {
                    self.out.extend_from_slice(b"\r\n");
                    self.count = 0;
                }
                b' ' => match bytes.get(at + 1) {
                    Some(b'\r' | b'\n') => self.encoded(b' '),
                    Some(_) => self.plain(b' '),
                    None => {}
                },
                b'=' | 0..0x20 | 0x7f.. => self.encoded(byte),
                _ => self.plain(byte),
            }
        }
    }

    fn encoded(&mut self, byte: u8) {
        self.make_room(3);
        push_hex(b'=', byte, self.out);
    }

    fn plain(&mut self, byte: u8) {
        self.make_room(1);
        self.out.push(byte);
    }

    fn make_room(&mut self, chars: usize) {
        self.count += chars;
        if self.count > QUOTED_LINE_CHARS {
            self.out.extend_from_slice(b"=\r\n");
            self.count = chars;
        }
    }
}

/// Appends a byte as a sign and two hexadecimal digits.
pub fn push_hex(sign: u8, byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digits = [
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ];
    out.extend_from_slice(&[sign, digits[0], digits[1]]);
}

/// An encoding that JavaMail does not know either (`MimeUtility#decode`), or uuencode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEncoding(pub String);

/// Decodes the bytes of a part; `None` for its encoding means that it names none.
///
/// # Errors
/// The encoding is not known.
pub fn decode<'b>(
    bytes: &'b [u8],
    encoding: Option<&str>,
) -> Result<Cow<'b, [u8]>, UnknownEncoding> {
    let Some(encoding) = encoding else {
        return Ok(Cow::Borrowed(bytes));
    };
    match encoding.to_ascii_lowercase().as_str() {
        "7bit" | "8bit" | "binary" => Ok(Cow::Borrowed(bytes)),
        "base64" => Ok(Cow::Owned(decode_base64(bytes))),
        "quoted-printable" => Ok(Cow::Owned(decode_quoted(bytes))),
        _ => Err(UnknownEncoding(encoding.to_owned())),
    }
}

/// Decodes Base64 and skips everything that is not of its alphabet, up to the padding.
pub fn decode_base64(bytes: &[u8]) -> Vec<u8> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let coded = bytes.iter().copied().take_while(|byte| *byte != b'=');
    let mut coded: Vec<u8> = coded
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .collect();
    if coded.len() % 4 == 1 {
        coded.pop();
    }
    LENIENT
        .decode(&coded)
        .expect("only letters of the alphabet are left, in a possible number")
}

/// `QPDecoderStream`: white space at the end of a line does not count.
pub fn decode_quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let is_ended = line.ends_with(b"\n");
        let (text, is_soft) = match text.strip_suffix(b"=") {
            Some(text) if is_ended => (text, true),
            _ => (text, false),
        };
        decode_hex(b'=', text, &mut out);
        if is_ended && !is_soft {
            out.extend_from_slice(if line.ends_with(b"\r\n") {
                b"\r\n"
            } else {
                b"\n"
            });
        } else if !is_ended {
            out.extend_from_slice(&line[text.len()..]);
        }
    }
    out
}

/// Replaces signs with two hexadecimal digits by their bytes; a sign without digits stays.
pub fn decode_hex(sign: u8, bytes: &[u8], out: &mut Vec<u8>) {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at] == sign, digit(at + 1), digit(at + 2)) {
            (true, Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> String {
        let mut out = Vec::new();
        encode(text.as_bytes(), TransferEncoding::QuotedPrintable, &mut out);
        String::from_utf8(out).expect("it is ASCII")
    }

    #[test]
    fn quoted_printable_as_javamail_writes_it() {
        assert_eq!(quoted("h\u{e9}llo w\u{f6}rld"), "h=C3=A9llo w=C3=B6rld");
        assert_eq!(quoted("a \nb=\tc "), "a=20\r\nb=3D=09c");
        assert_eq!(quoted("a\r\nb\rc\n"), "a\r\nb\r\nc\r\n");
        let long = "0".repeat(76);
        assert_eq!(quoted(&long), format!("{}=\r\n0", "0".repeat(75)));
    }

    #[test]
    fn base64_has_lines_of_76_characters_and_no_break_at_the_end() {
        let mut out = Vec::new();
        encode(&[0; 58], TransferEncoding::Base64, &mut out);
        let expected = format!("{}\r\nAA==", "A".repeat(76));
        assert_eq!(out, expected.as_bytes());
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let bytes: Vec<u8> = (0..=255).chain(*b" line \r\nend=").collect();
        for encoding in [TransferEncoding::Base64, TransferEncoding::QuotedPrintable] {
            let mut coded = Vec::new();
            encode(&bytes, encoding, &mut coded);
            let decoded = decode(&coded, Some(encoding.name())).expect("it is known");
            // Quoted-printable writes each line break as CR LF.
            let is_quoted = encoding == TransferEncoding::QuotedPrintable;
            let expected = if is_quoted {
                with_crlf(&bytes)
            } else {
                bytes.clone()
            };
            assert_eq!(*decoded, expected, "{encoding:?}");
        }
        assert_eq!(decode_base64(b"aGk=\r\nignored"), b"hi");
        assert_eq!(decode_quoted(b"a=\r\nb \r\nc=4"), b"ab\r\nc=4");
        assert!(decode(b"", Some("x-uuencode")).is_err());
    }

    fn with_crlf(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if at > 0 && bytes[at - 1] == b'\r' => {}
                b'\r' | b'\n' => out.extend_from_slice(b"\r\n"),
                other => out.push(*other),
            }
        }
        out
    }
}
