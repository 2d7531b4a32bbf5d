//! Encoded words in headers (RFC 2047), and long header lines (`MimeUtility`).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_java::charset::Charset;

use crate::ascii::Ascii;
use crate::encoding::{decode_base64, decode_hex, push_hex};
use crate::latin::{low_bytes, units};

/// The characters of a line before it is folded.
const LINE_CHARS: usize = 76;
/// The characters of an encoded word (RFC 2047 section 2), of which its marks take seven.
const WORD_CHARS: usize = 75 - 7;

/// Where an encoded word stands, which decides about the characters that it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPlace {
    /// In a text, such as a subject (`MimeUtility#encodeText`).
    Text,
    /// In a name in front of an address (`MimeUtility#encodeWord`).
    Phrase,
}

impl WordPlace {
    fn must_encode(self, byte: u8) -> bool {
        let specials: &[u8] = match self {
            WordPlace::Text => b"=_?",
            WordPlace::Phrase => b"=_?\"#$%&'(),.:;<>@[\\]^`{|}~",
        };
        !(0x20..0x7f).contains(&byte) || specials.contains(&byte)
    }
}

/// Encodes a text with characters outside ASCII.
pub fn encode(text: &str, charset: &Charset, place: WordPlace) -> String {
    let is_base64 = match Ascii::of_text(text) {
        Ascii::All => return text.to_owned(),
        Ascii::Mostly => false,
        Ascii::Rarely => true,
    };
    let mut out = String::new();
    let encoder = Encoder {
        charset,
        place,
        is_base64,
        room: WORD_CHARS.saturating_sub(charset.name().len()),
    };
    let all: Vec<char> = text.chars().collect();
    encoder.encode(&all, &mut out);
    out
}

struct Encoder<'c> {
    charset: &'c Charset,
    place: WordPlace,
    is_base64: bool,
    room: usize,
}

impl Encoder<'_> {
    /// Halves the text until it fits.
    fn encode(&self, text: &[char], out: &mut String) {
        let string: String = text.iter().collect();
        let bytes = self.charset.encode(&string);
        if self.length(&bytes) > self.room && text.len() > 1 {
            let (first, second) = text.split_at(self.middle(text));
            self.encode(first, out);
            return self.encode(second, out);
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let mark = if self.is_base64 { "B" } else { "Q" };
        out.extend(["=?", self.charset.name(), "?", mark, "?"]);
        if self.is_base64 {
            STANDARD.encode_string(&bytes, out);
        } else {
            out.push_str(&self.quoted(&bytes));
        }
        out.push_str("?=");
    }

    /// Half of the UTF-16 units; JavaMail may cut a pair of surrogates, which this does not.
    fn middle(&self, text: &[char]) -> usize {
        let total: usize = text.iter().map(|c| c.len_utf16()).sum();
        let mut before = 0;
        let mut at = 0;
        while before < total / 2 {
            before += text[at].len_utf16();
            at += 1;
        }
        at.min(text.len() - 1).max(1)
    }

    fn length(&self, bytes: &[u8]) -> usize {
        if self.is_base64 {
            return bytes.len().div_ceil(3) * 4;
        }
        bytes.len()
            + 2 * bytes
                .iter()
                .filter(|byte| self.place.must_encode(**byte))
                .count()
    }

    fn quoted(&self, bytes: &[u8]) -> String {
        let mut out = Vec::with_capacity(bytes.len() * 2);
        for &byte in bytes {
            match byte {
                b' ' => out.push(b'_'),
                _ if self.place.must_encode(byte) => push_hex(b'=', byte, &mut out),
                _ => out.push(byte),
            }
        }
        String::from_utf8(out).expect("everything outside ASCII is encoded")
    }
}

/// Decodes the encoded words of a text (`MimeUtility#decodeText`). White space between two of them disappears. A charset that is
/// not known leaves the whole text as it is, as JMeter's samplers do.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains("=?") {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut white = String::new();
    let mut follows_word = false;
    for token in text.split_inclusive(is_white).flat_map(split_end) {
        if token.starts_with(is_white) {
            white.push_str(token);
            continue;
        }
        let decoded = match decode_word(token) {
            Word::UnknownCharset => return Cow::Borrowed(text),
            Word::Decoded(word) => Some(word),
            Word::None => None,
        };
        if !(follows_word && decoded.is_some()) {
            out.push_str(&white);
        }
        white.clear();
        follows_word = decoded.is_some();
        out.push_str(decoded.as_deref().unwrap_or(token));
    }
    out.push_str(&white);
    Cow::Owned(out)
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Separates a token and the white space at its end.
fn split_end(token: &str) -> impl Iterator<Item = &str> {
    let end = token.trim_end_matches(is_white).len();
    let (word, white) = token.split_at(end);
    [word, white].into_iter().filter(|part| !part.is_empty())
}

enum Word {
    Decoded(String),
    UnknownCharset,
    None,
}

/// `MimeUtility#decodeWord`: text after the end of an encoded word stays.
fn decode_word(token: &str) -> Word {
    let parts = token.strip_prefix("=?").and_then(|rest| {
        let (charset, rest) = rest.split_once('?')?;
        let (encoding, rest) = rest.split_once('?')?;
        let (coded, rest) = rest.split_once("?=")?;
        Some((charset, encoding, coded, rest))
    });
    let Some((charset, encoding, coded, rest)) = parts else {
        return Word::None;
    };
    let name = charset.split_once('*').map_or(charset, |(name, _)| name);
    let coded = low_bytes(coded);
    let bytes = match encoding {
        "B" | "b" => decode_base64(&coded),
        "Q" | "q" => {
            let spaced: Vec<u8> = coded
                .iter()
                .map(|byte| if *byte == b'_' { b' ' } else { *byte })
                .collect();
            let mut bytes = Vec::new();
            decode_hex(b'=', &spaced, &mut bytes);
            bytes
        }
        _ => return Word::UnknownCharset,
    };
    match find_charset(name) {
        Some(charset) => Word::Decoded(format!("{}{rest}", charset.decode(&bytes))),
        None => Word::UnknownCharset,
    }
}

/// A charset by its MIME name; JavaMail reads `us-ascii` as ISO-8859-1 (`MimeUtility#javaCharset`).
pub fn find_charset(name: &str) -> Option<Charset> {
    match name.to_ascii_lowercase().as_str() {
        "us-ascii" | "x-us-ascii" => Charset::find("ISO-8859-1"),
        _ => Charset::find(name),
    }
}

/// Breaks a header value into lines at white space; `used` characters stand in front of it (`MimeUtility#fold`).
pub fn fold(used: usize, text: &str) -> String {
    let mut rest = text.trim_end_matches(is_white);
    let mut used = used;
    let mut out = String::with_capacity(rest.len() + 4);
    while used + units(rest) > LINE_CHARS {
        let Some(at) = break_at(rest, used) else {
            break;
        };
        out.push_str(&rest[..at]);
        out.push_str("\r\n");
        out.push_str(&rest[at..=at]);
        rest = &rest[at + 1..];
        used = 1;
    }
    out.push_str(rest);
    out
}

/// The last white space within the line, or the first one after it. The start of a run counts.
fn break_at(text: &str, used: usize) -> Option<usize> {
    let mut last_space = None;
    let mut last = '\0';
    for (index, (at, c)) in text.char_indices().enumerate() {
        if last_space.is_some() && used + index > LINE_CHARS {
            break;
        }
        if matches!(c, ' ' | '\t') && !matches!(last, ' ' | '\t') {
            last_space = Some(at);
        }
        last = c;
    }
    last_space
}

/// Joins the lines of a header value (`MimeUtility#unfold`). A line break after a backslash stays.
pub fn unfold(text: &str) -> Cow<'_, str> {
    if !text.contains(['\r', '\n']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        let length = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        let after = &rest[at + length..];
        let next = after.trim_start_matches([' ', '\t']);
        if at > 0 && rest.as_bytes()[at - 1] == b'\\' {
            out.push_str(&rest[..at - 1]);
            out.push_str(&rest[at..at + length]);
            rest = after;
        } else if next.len() < after.len() {
            if at > 0 {
                out.push_str(&rest[..at]);
                out.push(' ');
            }
            rest = next;
        } else {
            out.push_str(&rest[..at + length]);
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The specials of MIME (`HeaderTokenizer.MIME`).
const MIME_SPECIALS: &str = "()<>@,;:\\\"\t []/?=";

/// A value of a parameter, in quotes if it needs them (`MimeUtility#quote`).
pub fn quote(word: &str) -> Cow<'_, str> {
    if word.is_empty() {
        return Cow::Borrowed("\"\"");
    }
    if word.contains(['"', '\\', '\r', '\n']) {
        let mut out = String::from("\"");
        let mut last = '\0';
        for c in word.chars() {
            if matches!(c, '"' | '\\' | '\r') || (c == '\n' && last != '\r') {
                out.push('\\');
            }
            out.push(c);
            last = c;
        }
        out.push('"');
        return Cow::Owned(out);
    }
    if word.contains(|c: char| !(' '..'\u{7f}').contains(&c) || MIME_SPECIALS.contains(c)) {
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Borrowed(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of JavaMail 1.5.0-b01.
    #[test]
    fn words_are_encoded_as_javamail_does() {
        let utf8 = Charset::UTF_8;
        let text = |text| encode(text, &utf8, WordPlace::Text);
        assert_eq!(text("plain"), "plain");
        assert_eq!(text("h\u{e9}llo world"), "=?UTF-8?Q?h=C3=A9llo_world?=");
        assert_eq!(
            text("\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30e1}\u{30fc}\u{30eb}"),
            "=?UTF-8?B?5pel5pys6Kqe44Gu44Oh44O844Or?="
        );
        let long = "\u{fc}ber a long subject with many words so that it must be folded somewhere after seventy six characters";
        assert_eq!(
            fold(9, &text(long)),
            "=?UTF-8?Q?=C3=BCber_a_long_subject_with_many_words_so_that_it_mus?=\r\n \
             =?UTF-8?Q?t_be_folded_somewhere_after_seventy_six_characters?="
        );
        assert_eq!(
            encode("J\u{fc}rgen M\u{fc}ller ", &utf8, WordPlace::Phrase),
            "=?UTF-8?Q?J=C3=BCrgen_M=C3=BCller_?="
        );
    }

    #[test]
    fn words_are_decoded() {
        for (coded, plain) in [
            ("=?UTF-8?Q?h=C3=A9llo_world?=", "h\u{e9}llo world"),
            (
                "a =?utf-8?B?w6k=?=  =?UTF-8?q?=C3=A9?= b",
                "a \u{e9}\u{e9} b",
            ),
            ("=?iso-8859-1*de?Q?=E9?=,", "\u{e9},"),
            ("=?no-such?Q?a?= b", "=?no-such?Q?a?= b"),
            ("=?broken", "=?broken"),
        ] {
            assert_eq!(decode(coded), plain);
        }
    }

    #[test]
    fn long_lines_are_folded_and_joined_again() {
        let long = "a long subject with many words so that it must be folded somewhere after seventy six characters, and again after another seventy six of them, is it not?";
        let folded = fold(9, long);
        assert_eq!(
            folded,
            "a long subject with many words so that it must be folded somewhere\r\n after seventy six characters, and again after \
             another seventy six of them,\r\n is it not?"
        );
        assert_eq!(unfold(&folded), long);
        let unbreakable = "x".repeat(90);
        assert_eq!(fold(9, &unbreakable), unbreakable);
        assert_eq!(fold(0, "a \t\r\n"), "a");
        assert_eq!(unfold("a\\\r\n b\nc\r\n\t d"), "a\r\n b\nc d");
    }

    #[test]
    fn values_of_parameters_are_quoted() {
        for (word, quoted) in [
            ("a.txt", "a.txt"),
            ("with space.png", "\"with space.png\""),
            ("n\u{e4}me.txt", "\"n\u{e4}me.txt\""),
            ("a\"b", "\"a\\\"b\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
