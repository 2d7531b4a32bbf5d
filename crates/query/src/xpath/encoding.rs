//! The text of XML that Xerces reads from bytes: its byte order mark or its declaration tells the encoding, nothing else does.

use std::borrow::Cow;

use drumfire_java::charset::Charset;

use super::error::XPathError;

/// The longest XML declaration in which an encoding is looked for.
const LONGEST_DECLARATION: usize = 1024;

/// Decodes a document.
///
/// # Errors
/// An encoding that is unknown or contradicts the bytes, or bytes that are not UTF-8, with Xerces' message.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, XPathError> {
    let utf16 = |name: &str, bytes: &[u8]| {
        let charset = Charset::find(name).unwrap_or(Charset::UTF_8);
        Ok(Cow::Owned(charset.decode(bytes).into_owned()))
    };
    match bytes {
        [0xFE, 0xFF, rest @ ..] => return utf16("UTF-16BE", rest),
        [0xFF, 0xFE, rest @ ..] => return utf16("UTF-16LE", rest),
        [0, b'<', 0, b'?', ..] => return utf16("UTF-16BE", bytes),
        [b'<', 0, b'?', 0, ..] => return utf16("UTF-16LE", bytes),
        _ => {}
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match declared(bytes) {
        None => utf8(bytes),
        Some(name) if name.eq_ignore_ascii_case("UTF-8") => utf8(bytes),
        Some(name) if is_wide(name) => Err(XPathError::new("Content is not allowed in prolog.")),
        Some(name) => match Charset::find(name).filter(|_| is_name(name)) {
            Some(charset) => Ok(charset.decode(bytes)),
            None => Err(XPathError::new(format!(
                "Invalid encoding name \"{name}\"."
            ))),
        },
    }
}

/// Whether characters take more than one byte each, which the declaration itself does not.
fn is_wide(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("UTF-16") || name.starts_with("ISO-10646-UCS")
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(is_part)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// The encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<&str> {
    let inside = bytes.strip_prefix(b"<?xml")?;
    let inside = &inside[..inside.len().min(LONGEST_DECLARATION)];
    let end = memchr::memmem::find(inside, b"?>")?;
    let inside = std::str::from_utf8(&inside[..end]).ok()?;
    let (_, rest) = inside.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    rest[1..].split(quote).next()
}

/// Decodes UTF-8, of which Xerces accepts no wrong byte (`UTF8Reader`).
fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, XPathError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let rest = &bytes[error.valid_up_to()..];
    let length = match rest[0] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    let right = rest[1..]
        .iter()
        .take(length - 1)
        .take_while(goes_on)
        .count();
    let wrong = if length == 1 { 1 } else { right + 2 };
    let what = if rest.len() < wrong {
        format!("Expected byte {wrong} of {length}-byte UTF-8 sequence.")
    } else {
        format!("Invalid byte {wrong} of {length}-byte UTF-8 sequence.")
    };
    Err(XPathError::new(what))
}

fn goes_on(byte: &&u8) -> bool {
    matches!(**byte, 0x80..=0xBF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> String {
        match decode(bytes) {
            Ok(text) => text.into_owned(),
            Err(error) => format!("! {}", error.message),
        }
    }

    #[test]
    fn the_bytes_tell_the_encoding() {
        assert_eq!(decoded("\u{FEFF}<r>é</r>".as_bytes()), "<r>é</r>");
        assert_eq!(decoded(b"\xFF\xFE<\0r\0/\0>\0"), "<r/>");
        let declared = |name: &str, body: &[u8]| {
            let head = format!("<?xml version='1.0' encoding=\"{name}\"?>");
            let text = decoded(&[head.as_bytes(), body].concat());
            text.strip_prefix(&head).unwrap_or(&text).to_owned()
        };
        assert_eq!(declared("ISO-8859-1", "é".as_bytes()), "Ã©");
        assert_eq!(declared("utf-8", "é".as_bytes()), "é");
        assert_eq!(
            declared("nope-1", b"x"),
            "! Invalid encoding name \"nope-1\"."
        );
        assert_eq!(
            declared("UTF-16", b"x"),
            "! Content is not allowed in prolog."
        );
        assert_eq!(
            decoded(b"<r>\xE9</r>"),
            "! Invalid byte 2 of 3-byte UTF-8 sequence."
        );
        assert_eq!(
            decoded(b"<r>\xA9</r>"),
            "! Invalid byte 1 of 1-byte UTF-8 sequence."
        );
    }
}
