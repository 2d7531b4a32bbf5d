//! Skips JSON that follows RFC 8259, which json-smart also accepts, several bytes at a time.

use super::Number;
use crate::bytes::first_of;

/// Maximum nesting of values that are skipped here: one bit per level.
const MAX_DEPTH: usize = 64;

/// The end of the object or array that begins at `start`, if it follows the standard and nests no deeper than `depth`.
/// `None` does not mean that it is invalid: json-smart accepts much more, and has its own limits.
pub(super) fn container_end(bytes: &[u8], start: usize, depth: usize) -> Option<usize> {
    let mut open = Open {
        objects: 0,
        depth: 0,
        most: depth.min(MAX_DEPTH),
    };
    let mut at = start;
    loop {
        at = white_end(bytes, at);
        at = match *bytes.get(at)? {
            b'"' => string_end(bytes, at)?,
            b'0'..=b'9' | b'-' => number_end(bytes, at)?,
            b'{' => {
                open.push(true)?;
                let inside = white_end(bytes, at + 1);
                if *bytes.get(inside)? != b'}' {
                    at = key_end(bytes, inside)?;
                    continue;
                }
                inside
            }
            b'[' => {
                open.push(false)?;
                at = white_end(bytes, at + 1);
                if *bytes.get(at)? != b']' {
                    continue;
                }
                at
            }
            b't' => word_end(bytes, at, b"true")?,
            b'f' => word_end(bytes, at, b"false")?,
            b'n' => word_end(bytes, at, b"null")?,
            _ => return None,
        };
        loop {
            at = white_end(bytes, at);
            match (*bytes.get(at)?, open.is_object()) {
                (b',', true) => {
                    at = key_end(bytes, white_end(bytes, at + 1))?;
                    break;
                }
                (b',', false) => {
                    at += 1;
                    break;
                }
                (b'}', true) | (b']', false) => {
                    at += 1;
                    open.pop();
                    if open.depth == 0 {
                        return Some(at);
                    }
                }
                _ => return None,
            }
        }
    }
}

/// The enclosing objects and arrays.
struct Open {
    /// One bit per level, the innermost lowest: whether it is an object.
    objects: u64,
    depth: usize,
    most: usize,
}

impl Open {
    fn push(&mut self, is_object: bool) -> Option<()> {
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        (self.depth <= self.most).then_some(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn is_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

#[inline]
fn white_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at)
        && *byte <= b' '
        && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    {
        at += 1;
    }
    at
}

/// The position after a key and its colon.
#[inline]
fn key_end(bytes: &[u8], at: usize) -> Option<usize> {
    if *bytes.get(at)? != b'"' {
        return None;
    }
    let colon = white_end(bytes, string_end(bytes, at)?);
    (*bytes.get(colon)? == b':').then_some(colon + 1)
}

fn word_end(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

/// The position after a number with an optional sign, fraction and exponent that is short enough for a double.
fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits_end = |from: usize| {
        let digits = bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = from + digits.count();
        (end > from).then_some(end)
    };
    let mut at = digits_end(start + usize::from(bytes[start] == b'-'))?;
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let is_signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits_end(at + 1 + usize::from(is_signed))?;
    }
    (at - start <= Number::MAX_DOUBLE_CHARS).then_some(at)
}

/// The position after a string in double quotes.
#[inline]
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let at = start + 1 + first_of(&bytes[start + 1..], b'"', b'\\')?;
    match bytes[at] {
        b'"' => Some(at + 1),
        _ => escaped_end(bytes, start + 1),
    }
}

/// The position after a string with escapes, whose content json-smart interprets.
#[cold]
fn escaped_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            0..=31 => return None,
            b'\\' => match *bytes.get(at + 1)? {
                b'u' => {
                    let digits = bytes.get(at + 2..at + 6)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                _ => return None,
            },
            _ => 1,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Option<usize> {
        container_end(text.as_bytes(), 0, 400)
    }

    #[test]
    fn steps_over_what_the_standard_says() {
        for text in [
            "{}",
            "[ ]",
            r#"{"a":1,"b":[-2.5,3e+9,"x\"\\\u00e9y",true , false,null,{}],"ä":{"c":"a string longer than eight bytes"}}"#,
            "[ [ ] , { \"k\"\n: \t\"\" } ]",
        ] {
            assert_eq!(end(&format!("{text}, more")), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn leaves_the_rest_to_the_parser() {
        for text in [
            "{'a':1}",
            "{a:1}",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\" 1}",
            "{\"a\":}",
            "[01x]",
            "[nul]",
            "[1.]",
            "[-]",
            "[\"\\x41\"]",
            "[\"\\u12g4\"]",
            "[\"a\\n\u{1A}\"]",
            "[1",
            "[\"a",
            "{",
            "{\"a",
            "[1}",
            "[1234567890123456789]",
            "[1e]",
            "{,}",
        ] {
            assert_eq!(end(text), None, "{text}");
        }
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(end(&deep(64)), Some(128));
        assert_eq!(end(&deep(65)), None);
        assert_eq!(container_end(deep(3).as_bytes(), 0, 2), None);
    }
}
