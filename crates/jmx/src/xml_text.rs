//! Decodes references, line ends and blanks in XML text and attributes as MXParser does.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2, memchr3};

use crate::source::Span;
use crate::xml::XmlError;

/// Decodes text between tags, which starts at `offset` of the file. Line ends become `\n`.
pub(crate) fn decode_text<'a>(
    raw: &'a str,
    offset: usize,
    lone_surrogates: &mut Vec<Span>,
) -> Result<Cow<'a, str>, XmlError> {
    if let Some(at) = cdata_end(raw) {
        let span = Span::new(offset + at, offset + at + 3);
        return Err(
            XmlError::new("xml-cdata-end", span, "]]> outside a CDATA section")
                .help("write ]]&gt;"),
        );
    }
    decode(raw, offset, '\n', lone_surrogates)
}

/// The position of `]]>`.
fn cdata_end(raw: &str) -> Option<usize> {
    memchr_iter(b']', raw.as_bytes()).find(|&at| raw[at..].starts_with("]]>"))
}

/// Decodes the value of an attribute. Line ends and tabs become blanks.
pub(crate) fn decode_attribute<'a>(
    raw: &'a str,
    offset: usize,
    lone_surrogates: &mut Vec<Span>,
) -> Result<Cow<'a, str>, XmlError> {
    decode(raw, offset, ' ', lone_surrogates)
}

/// Decodes the content of a CDATA section, which contains no references.
pub(crate) fn decode_cdata(raw: &str) -> Cow<'_, str> {
    if memchr(b'\r', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
}

fn decode<'a>(
    raw: &'a str,
    offset: usize,
    line_end: char,
    lone_surrogates: &mut Vec<Span>,
) -> Result<Cow<'a, str>, XmlError> {
    let blank_out = line_end == ' ';
    // Finds characters that cannot simply be copied.
    let special = |bytes: &[u8]| {
        if blank_out {
            let at = memchr3(b'&', b'\r', b'\n', bytes);
            let before = at.map(|at| &bytes[..at]).unwrap_or(bytes);
            memchr(b'\t', before).or(at)
        } else {
            memchr2(b'&', b'\r', bytes)
        }
    };
    let Some(first) = special(raw.as_bytes()) else {
        return Ok(Cow::Borrowed(raw));
    };
    let mut out = String::with_capacity(raw.len());
    out.push_str(&raw[..first]);
    let mut at = first;
    while at < raw.len() {
        match raw.as_bytes()[at] {
            b'&' => at += reference(raw, at, offset, &mut out, lone_surrogates)?,
            b'\r' => {
                out.push(line_end);
                at += if raw[at..].starts_with("\r\n") { 2 } else { 1 };
            }
            b'\n' | b'\t' if blank_out => {
                out.push(line_end);
                at += 1;
            }
            _ => {
                let length = special(&raw.as_bytes()[at..]).unwrap_or(raw.len() - at);
                out.push_str(&raw[at..at + length]);
                at += length;
            }
        }
    }
    Ok(Cow::Owned(out))
}

/// Decodes the reference at `at` and returns its length.
fn reference(
    raw: &str,
    at: usize,
    offset: usize,
    out: &mut String,
    lone_surrogates: &mut Vec<Span>,
) -> Result<usize, XmlError> {
    let span = |length: usize| Span::new(offset + at, offset + at + length);
    if raw[at + 1..].starts_with('#') {
        let (code, mut length) =
            character_code(&raw[at..]).ok_or_else(|| bad_character(&raw[at..], offset + at))?;
        let decoded = match code {
            0xd800..=0xdbff => {
                // Java strings store the two halves of a pair one after the other.
                let low = character_code(&raw[at + length..])
                    .filter(|(low, _)| (0xdc00..=0xdfff).contains(low));
                low.and_then(|(low, more)| {
                    length += more;
                    char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00))
                })
            }
            _ => char::from_u32(code),
        };
        if decoded.is_none() {
            lone_surrogates.push(span(length));
        }
        // Java encodes half a pair as '?' in every charset.
        out.push(decoded.unwrap_or('?'));
        return Ok(length);
    }
    let name_length = raw[at + 1..]
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | ':'))
        .unwrap_or(raw.len() - at - 1);
    let name = &raw[at + 1..at + 1 + name_length];
    if name.is_empty() || !raw[at + 1 + name_length..].starts_with(';') {
        return Err(XmlError::new(
            "xml-bare-ampersand",
            span(1),
            "& does not start a reference",
        )
        .help("write &amp; for an & that is text"));
    }
    let length = name_length + 2;
    out.push(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            return Err(XmlError::new("xml-unknown-entity", span(length), format!("&{name}; is not an entity of XML"))
                .help("XML has &lt; &gt; &amp; &quot; &apos; and numbers such as &#233;; if the & is text, write &amp;"));
        }
    });
    Ok(length)
}

/// The code of a reference such as `&#10;` or `&#xA;` and its length; `None` if the text is not one or the
/// code is beyond Unicode.
fn character_code(text: &str) -> Option<(u32, usize)> {
    let digits = text.strip_prefix("&#")?;
    let (digits, radix, prefix) = match digits.strip_prefix('x') {
        Some(digits) => (digits, 16, 3),
        None => (digits, 10, 2),
    };
    let length = digits.find(';')?;
    let mut code: u32 = 0;
    for c in digits[..length].chars() {
        code = code.checked_mul(radix)?.checked_add(c.to_digit(radix)?)?;
    }
    (length > 0 && code <= 0x10_ffff).then_some((code, prefix + length + 1))
}

fn bad_character(text: &str, start: usize) -> XmlError {
    const LONGEST: usize = 12;
    let length = text
        .char_indices()
        .take(LONGEST)
        .find(|&(_, c)| c == ';')
        .map(|(at, _)| at + 1)
        .unwrap_or(2);
    let message = format!("{} is not a character", &text[..length]);
    XmlError::new(
        "xml-bad-character",
        Span::new(start, start + length),
        message,
    )
    .help("write a character as &#233; or, in hexadecimal, &#xE9;, up to &#x10FFFF;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        decode_text(raw, 0, &mut Vec::new()).map_or_else(
            |fault| format!("{} {:?}", fault.code, fault.span),
            Cow::into_owned,
        )
    }

    fn attribute(raw: &str) -> String {
        decode_attribute(raw, 0, &mut Vec::new())
            .map_or_else(|fault| fault.code.to_string(), Cow::into_owned)
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(
            decode_text("a\n\tb", 0, &mut Vec::new()),
            Ok(Cow::Borrowed("a\n\tb"))
        ));
        assert!(matches!(decode_cdata("a&lt;"), Cow::Borrowed("a&lt;")));
    }

    #[test]
    fn references_of_all_kinds() {
        assert_eq!(
            text("a&#x1;b&#0;c&#31;&#x1F600;&#128512;z"),
            "a\u{1}b\0c\u{1f}😀😀z"
        );
        assert_eq!(text("&lt;&gt;&amp;&quot;&apos;"), "<>&\"'");
        assert_eq!(text("&amp;lt;"), "&lt;", "decoded once");
    }

    #[test]
    fn halves_of_a_surrogate_pair() {
        assert_eq!(text("&#xD83D;&#xDE00;z"), "😀z");
        let mut lone = Vec::new();
        assert_eq!(
            decode_text("a&#xD83D;z", 10, &mut lone).ok().as_deref(),
            Some("a?z")
        );
        assert_eq!(lone, [Span::new(11, 19)]);
        assert_eq!(text("&#xDE00;&#xD83D;"), "??");
    }

    #[test]
    fn line_ends() {
        assert_eq!(text("a\r\nb\rc&#xd;d&#13;&#10;e\tf"), "a\nb\nc\rd\r\ne\tf");
        assert_eq!(
            attribute("a\r\nb\nc\td&#10;e&#9;f&#xd;g"),
            "a b c d\ne\tf\rg"
        );
        assert_eq!(decode_cdata("a\r\nb\rc"), "a\nb\nc");
    }

    #[test]
    fn malformed_references_are_located() {
        assert_eq!(
            text("a & b"),
            "xml-bare-ampersand Span { start: 2, end: 3 }"
        );
        assert_eq!(
            text("a&b c;"),
            "xml-bare-ampersand Span { start: 1, end: 2 }"
        );
        assert_eq!(text("a&"), "xml-bare-ampersand Span { start: 1, end: 2 }");
        assert_eq!(
            text("a&foo;"),
            "xml-unknown-entity Span { start: 1, end: 6 }"
        );
        assert_eq!(
            text("&#x110000;"),
            "xml-bad-character Span { start: 0, end: 10 }"
        );
        assert_eq!(
            text("&#99999999999999;"),
            "xml-bad-character Span { start: 0, end: 2 }"
        );
        assert_eq!(text("&#xZ;"), "xml-bad-character Span { start: 0, end: 5 }");
        assert_eq!(text("&#;"), "xml-bad-character Span { start: 0, end: 3 }");
        assert_eq!(text("a]]>b"), "xml-cdata-end Span { start: 1, end: 4 }");
        assert_eq!(attribute("a]]>b"), "a]]>b");
    }
}
