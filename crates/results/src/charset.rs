//! Decodes response bytes, by the charset names that Java knows.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// Decodes `data` as `new String(data, charset)` does in Java; `None` when the charset is unknown.
/// Malformed input becomes U+FFFD.
pub(crate) fn decode<'a>(data: &'a [u8], charset: &str) -> Option<Cow<'a, str>> {
    let is = |name: &str| charset.eq_ignore_ascii_case(name);
    if is("UTF-8") || is("UTF8") {
        return Some(String::from_utf8_lossy(data));
    }
    // encoding_rs treats Latin-1 and ASCII as windows-1252, as the web does; Java does not.
    if is("ISO-8859-1") || is("ISO8859_1") || is("latin1") {
        return Some(data.iter().map(|&byte| char::from(byte)).collect());
    }
    if is("US-ASCII") || is("ASCII") {
        return Some(data.iter().map(ascii).collect());
    }
    if is("UTF-16") {
        // Without a byte order mark, Java assumes big endian and encoding_rs little endian.
        let encoding = match data {
            [0xff, 0xfe, ..] => encoding_rs::UTF_16LE,
            _ => encoding_rs::UTF_16BE,
        };
        return Some(encoding.decode_with_bom_removal(data).0);
    }
    let encoding = Encoding::for_label(charset.as_bytes())?;
    Some(encoding.decode_without_bom_handling(data).0)
}

fn ascii(&byte: &u8) -> char {
    if byte < 0x80 {
        char::from(byte)
    } else {
        '\u{fffd}'
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn known_charsets_decode_as_in_java() {
        // Golden values of `new String(bytes, name)` in Java 17.
        assert_eq!(decode(b"\xc3\xa9\xff", "utf-8").unwrap(), "é\u{fffd}");
        assert_eq!(decode(b"\x80\xe9", "iso-8859-1").unwrap(), "\u{80}é");
        assert_eq!(decode(b"\x80\xe9", "windows-1252").unwrap(), "€é");
        assert_eq!(decode(b"a\xe9", "US-ASCII").unwrap(), "a\u{fffd}");
        assert_eq!(decode(b"\0a\0b", "UTF-16").unwrap(), "ab");
        assert_eq!(decode(b"\xff\xfea\0", "UTF-16").unwrap(), "a");
        assert_eq!(decode(b"\xef\xbb\xbfa", "UTF-8").unwrap(), "\u{feff}a");
        assert!(decode(b"a", "no-such-charset").is_none());
    }
}
