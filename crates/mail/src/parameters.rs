//! Header values with parameters, such as `text/plain; charset=us-ascii` (RFC 2045 section 5).

use std::fmt::Write as _;

use drumfire_java::charset::Charset;

use crate::encoding::decode_hex;
use crate::latin::{low_bytes, units};
use crate::words::{find_charset, fold, quote};

/// Writes a value and its parameters, folded as `ParameterList#toString` does.
pub struct ParameterWriter {
    out: String,
    used: usize,
}

impl ParameterWriter {
    /// Begins with a value, of a header with this name.
    pub fn new(header: &str, value: &str) -> ParameterWriter {
        ParameterWriter {
            out: value.to_owned(),
            used: header.len() + 2 + value.len(),
        }
    }

    /// Appends a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> ParameterWriter {
        let value = quote(value);
        let length = units(&value);
        self.out.push_str("; ");
        self.used += 2;
        if self.used + name.len() + length + 1 > 76 {
            self.out.push_str("\r\n\t");
            self.used = 8;
        }
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{name}=");
        self.used += name.len() + 1;
        if self.used + length > 76 {
            let folded = fold(self.used, &value);
            self.used += match folded.rfind('\n') {
                Some(at) => units(&folded[at + 1..]),
                None => units(&folded),
            };
            self.out.push_str(&folded);
        } else {
            self.out.push_str(&value);
            self.used += length;
        }
        self
    }

    /// The whole value.
    pub fn finish(self) -> String {
        self.out
    }
}

/// A header value that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The value in front of the parameters.
    pub value: String,
    all: Vec<(String, String)>,
}

impl Parameters {
    /// Reads a value; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Parameters> {
        let mut rest = text;
        let value = take_until(&mut rest, ";");
        let mut parameters = Parameters {
            value: drumfire_java::text::trim(&value).to_owned(),
            all: Vec::new(),
        };
        while let Some(after) = rest.strip_prefix(';') {
            rest = after;
            let name = take_until(&mut rest, "=;").trim().to_ascii_lowercase();
            if name.is_empty() && rest.is_empty() {
                break;
            }
            rest = rest.strip_prefix('=')?;
            let value = take_value(&mut rest);
            parameters.all.push((name, value));
        }
        parameters.join_segments();
        Some(parameters)
    }

    /// The value of a parameter, whose name is in small letters.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Decodes `name*=charset'language'text` and joins `name*0=…; name*1=…` (RFC 2231).
    fn join_segments(&mut self) {
        let mut joined: Vec<(String, String)> = Vec::new();
        for (name, value) in std::mem::take(&mut self.all) {
            let Some((plain, mark)) = name.split_once('*') else {
                joined.push((name, value));
                continue;
            };
            let value = if mark.is_empty() || mark.ends_with('*') {
                decode_extended(&value)
            } else {
                value
            };
            match joined.iter_mut().find(|(known, _)| known == plain) {
                Some((_, before)) if !matches!(mark, "" | "0" | "0*") => before.push_str(&value),
                _ => joined.push((plain.to_owned(), value)),
            }
        }
        self.all = joined;
    }
}

fn decode_extended(value: &str) -> String {
    let mut parts = value.splitn(3, '\'');
    let (charset, text) = match (parts.next(), parts.next(), parts.next()) {
        (Some(charset), Some(_), Some(text)) if !charset.is_empty() => {
            (find_charset(charset).unwrap_or(Charset::UTF_8), text)
        }
        _ => (Charset::UTF_8, value),
    };
    let mut bytes = Vec::new();
    decode_hex(b'%', &low_bytes(text), &mut bytes);
    charset.decode(&bytes).into_owned()
}

/// Takes text up to one of these signs, without comments.
fn take_until(rest: &mut &str, signs: &str) -> String {
    let mut out = String::new();
    let mut nesting = 0;
    let end = rest.char_indices().find(|&(_, c)| {
        match c {
            '(' => nesting += 1,
            ')' if nesting > 0 => nesting -= 1,
            c if nesting == 0 && signs.contains(c) => return true,
            c if nesting == 0 => out.push(c),
            _ => {}
        }
        false
    });
    *rest = end.map(|(at, _)| &rest[at..]).unwrap_or("");
    out
}

/// Takes a word or a text in quotes.
fn take_value(rest: &mut &str) -> String {
    let trimmed = rest.trim_start();
    let Some(quoted) = trimmed.strip_prefix('"') else {
        return take_until(rest, ";").trim().to_owned();
    };
    let mut out = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                *rest = &quoted[at + 1..];
                take_until(rest, ";");
                return out;
            }
            '\\' => out.extend(chars.next().map(|(_, c)| c)),
            '\r' | '\n' => {}
            _ => out.push(c),
        }
    }
    *rest = "";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_folded_as_javamail_does() {
        let boundary = "----=_Part_0_381259350.1795803256123";
        let value =
            ParameterWriter::new("Content-Type", "multipart/mixed").with("boundary", boundary);
        let expected = format!("multipart/mixed; \r\n\tboundary=\"{boundary}\"");
        assert_eq!(value.finish(), expected);
        let name = "a very long file name that does not fit into one line of seventy six characters at all.txt";
        let value =
            ParameterWriter::new("Content-Disposition", "attachment").with("filename", name);
        assert_eq!(
            value.finish(),
            "attachment; \r\n\tfilename=\"a very long file name that does not fit into one line of\r\n seventy six characters at all.txt\""
        );
    }

    #[test]
    fn parameters_are_read() {
        let read = Parameters::parse(
            "text/plain (it is); Charset=\"utf-8\" ; x=a\\\"b; name=\"a; \\\"b\"; ",
        )
        .expect("it is right");
        assert_eq!(read.value, "text/plain");
        assert_eq!(read.get("charset"), Some("utf-8"));
        assert_eq!(read.get("name"), Some("a; \"b"));
        let read = Parameters::parse("a/b; n*=UTF-8''%C3%A9%20x; m*0=\"ab\"; m*1=cd")
            .expect("it is right");
        assert_eq!(
            (read.get("n"), read.get("m")),
            (Some("\u{e9} x"), Some("abcd"))
        );
        assert_eq!(Parameters::parse("a/b; name"), None);
    }
}
