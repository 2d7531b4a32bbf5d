//! Property files as `java.util.Properties.load` reads them.
//!
//! JMeter loads all of its files (`jmeter.properties`, `user.properties`, `system.properties`, `-q`, `-S`, `-G`) from a
//! byte stream, which Java decodes as ISO-8859-1. An `é` in a UTF-8 file therefore becomes two characters.

use std::path::Path;
use std::sync::Arc;

use crate::conflicts;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceFile, Span};

/// One entry `key=value`, with continuation lines joined and escapes decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyEntry {
    /// The name, unescaped.
    pub key: String,
    /// The value, unescaped.
    pub value: String,
    /// The line, from 1, on which the key starts.
    pub line: usize,
}

/// A property file. The last entry of a repeated key counts.
#[derive(Debug)]
pub struct PropertyFile {
    /// The file, for diagnostics.
    pub source: Arc<SourceFile>,
    /// In the order of the file.
    pub entries: Vec<PropertyEntry>,
    /// Malformed escapes (errors: Java refuses the file) and bytes that were probably meant as UTF-8 (warnings).
    pub findings: Vec<Diagnostic>,
}

/// The pairs of a property file, in order.
///
/// # Errors
/// The first error: the file cannot be read, or Java would refuse it. [`read_properties_file`] gives all findings.
#[expect(
    clippy::result_large_err,
    reason = "called a few times at the start of a run"
)]
pub fn load(path: &Path) -> Result<Vec<(String, String)>, Diagnostic> {
    let file = read_properties_file(path)?;
    match file.findings.into_iter().find(Diagnostic::is_error) {
        Some(error) => Err(error),
        None => Ok(file
            .entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()),
    }
}

/// Reads a property file together with all its findings.
///
/// # Errors
/// The file cannot be read.
#[expect(
    clippy::result_large_err,
    reason = "called a few times at the start of a run"
)]
pub fn read_properties_file(path: &Path) -> Result<PropertyFile, Diagnostic> {
    let bytes = drumfire_platform::files::read_named(path)
        .map_err(|error| Diagnostic::from_io(path, &error))?;
    Ok(read_properties(&bytes, path))
}

/// Parses the bytes of a property file. The path is only shown in diagnostics.
pub fn read_properties(bytes: &[u8], path: &Path) -> PropertyFile {
    // The bytes of ISO-8859-1 are the first 256 characters of Unicode.
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let source = Arc::new(SourceFile::new(path, text));
    let mut reader = Lines {
        text: &source.text,
        at: 0,
    };
    let mut entries = Vec::new();
    let mut findings = Vec::new();
    while let Some(line) = reader.next_logical() {
        let (key, value) = split(&line.characters);
        let mut decode = |part: Part<'_>| {
            unescape(part).unwrap_or_else(|span| {
                findings.push(
                    Diagnostic::error("props-bad-escape", "\\u is not followed by four hexadecimal digits")
                        .at(&source, span)
                        .help("write a backslash as \\\\ (in Windows paths too) and a character as \\u00e9"),
                );
                String::new()
            })
        };
        let entry = (decode(key), decode(value));
        let line = source.line_column(line.start).0;
        entries.push(PropertyEntry {
            key: entry.0,
            value: entry.1,
            line,
        });
    }
    findings.extend(conflicts::finding(&source));
    findings.extend(charset_warning(bytes, &source));
    PropertyFile {
        source,
        entries,
        findings,
    }
}

/// Warns about valid UTF-8 beyond ASCII, which is hardly ever meant as ISO-8859-1.
fn charset_warning(bytes: &[u8], source: &Arc<SourceFile>) -> Option<Diagnostic> {
    let first = bytes.iter().position(|&byte| byte > 127)?;
    let text = std::str::from_utf8(bytes).ok()?;
    let meant = text[first..].chars().next()?;
    let length = meant.len_utf8();
    // In the decoded text, each byte before the first such character takes one byte, and each after it takes two.
    let span = Span::new(first, first + 2 * length);
    if meant == '\u{feff}' {
        let finding = Diagnostic::warning(
            "props-charset",
            "the file starts with a byte order mark, which JMeter reads as part of the first key",
        );
        return Some(
            finding
                .at(source, Span::new(0, 6))
                .help("save the file without a byte order mark"),
        );
    }
    let mut units = [0; 2];
    let escape: String = meant
        .encode_utf16(&mut units)
        .iter()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect();
    let message = format!(
        "{meant} becomes {length} other characters: JMeter reads property files as ISO-8859-1"
    );
    Some(
        Diagnostic::warning("props-charset", message)
            .at(source, span)
            .help(format!("write {escape}")),
    )
}

/// A piece of a logical line.
type Part<'a> = &'a [(char, usize)];

/// A line with its continuation lines joined and its escapes still undecoded.
struct Logical {
    /// The offset of the line.
    start: usize,
    /// The characters, each with the offset it came from.
    characters: Vec<(char, usize)>,
}

struct Lines<'a> {
    text: &'a str,
    at: usize,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0c')
}

impl Lines<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.peek().filter(|&c| is_blank(c)) {
            self.at += c.len_utf8();
        }
    }

    /// Moves past a line end.
    fn skip_line_end(&mut self) {
        let rest = &self.text[self.at..];
        self.at += if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(!rest.is_empty())
        };
    }

    /// The next line that is neither blank nor a comment, with its continuation lines; `None` at the end.
    fn next_logical(&mut self) -> Option<Logical> {
        loop {
            self.skip_blanks();
            match self.peek()? {
                '\r' | '\n' => self.skip_line_end(),
                '#' | '!' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find(['\r', '\n']).unwrap_or(rest.len());
                }
                _ => {
                    let start = self.at;
                    if let Some(characters) = self.logical() {
                        return Some(Logical { start, characters });
                    }
                }
            }
        }
    }

    /// Reads one line with its continuation lines. `None` if a backslash stands alone on a line, which starts the line
    /// over; at the end of the file it makes an empty line instead.
    fn logical(&mut self) -> Option<Vec<(char, usize)>> {
        let mut line = Vec::new();
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                '\r' | '\n' => {
                    self.skip_line_end();
                    break;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        None => break,
                        Some('\r' | '\n') if self.at + 1 == self.text.len() => {
                            self.at += 1;
                            break;
                        }
                        Some('\r' | '\n') => {
                            self.skip_line_end();
                            self.skip_blanks();
                            if line.is_empty() {
                                return None;
                            }
                        }
                        Some(next) => {
                            line.push(('\\', start));
                            line.push((next, self.at));
                            self.at += next.len_utf8();
                        }
                    }
                }
                _ => {
                    line.push((c, start));
                    self.at += c.len_utf8();
                }
            }
        }
        Some(line)
    }
}

/// Splits a line into key and value. The key ends at the first unescaped `=`, `:` or blank; blanks around the separator
/// belong to neither.
fn split(line: Part<'_>) -> (Part<'_>, Part<'_>) {
    let mut end = 0;
    while end < line.len() {
        match line[end].0 {
            '\\' => end += 2,
            c if is_blank(c) || matches!(c, '=' | ':') => break,
            _ => end += 1,
        }
    }
    let mut value = end.min(line.len());
    let blanks = |from: usize| {
        line[from..]
            .iter()
            .take_while(|(c, _)| is_blank(*c))
            .count()
    };
    value += blanks(value);
    if matches!(line.get(value), Some(('=' | ':', _))) {
        value += 1;
        value += blanks(value);
    }
    (&line[..end], &line[value..])
}

/// Decodes the escapes; fails with the position of the first malformed `\u`.
fn unescape(part: Part<'_>) -> Result<String, Span> {
    let mut units: Vec<u16> = Vec::with_capacity(part.len());
    let mut at = 0;
    while let Some(&(c, offset)) = part.get(at) {
        at += 1;
        let mut unit = c as u32;
        if c == '\\' {
            let Some(&(escaped, _)) = part.get(at) else {
                break;
            };
            at += 1;
            unit = match escaped {
                't' => 9,
                'n' => 10,
                'r' => 13,
                'f' => 12,
                'u' => {
                    let digits = part.get(at..at + 4).unwrap_or(&[]);
                    let code = digits
                        .iter()
                        .try_fold(0, |code, (c, _)| Some(code * 16 + c.to_digit(16)?));
                    at += 4;
                    match code {
                        Some(code) if digits.len() == 4 => code,
                        _ => return Err(Span::new(offset, offset + 2)),
                    }
                }
                other => other as u32,
            };
        }
        units
            .push(u16::try_from(unit).expect("ISO-8859-1 and four hexadecimal digits fit 16 bits"));
    }
    // Java encodes half a surrogate pair as '?' in every charset.
    Ok(char::decode_utf16(units)
        .map(|c| c.unwrap_or('?'))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> PropertyFile {
        read_properties(bytes, Path::new("user.properties"))
    }

    fn pairs(text: &str) -> Vec<(String, String)> {
        file(text.as_bytes())
            .entries
            .into_iter()
            .map(|e| (e.key, e.value))
            .collect()
    }

    fn one(text: &str) -> (String, String) {
        let mut all = pairs(text);
        assert_eq!(all.len(), 1, "{text:?} gives {all:?}");
        all.remove(0)
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_string(), value.to_string())
    }

    #[test]
    fn separators_and_blanks() {
        for text in [
            "a=b",
            "a:b",
            "a b",
            "  a  =  b",
            "a\t:\tb",
            "a \x0c b",
            "a =b",
            "a=b\r\n",
            "\n\n a=b",
        ] {
            assert_eq!(one(text), pair("a", "b"), "{text:?}");
        }
        assert_eq!(one("a = = b"), pair("a", "= b"));
        assert_eq!(one("a  b = c"), pair("a", "b = c"));
        assert_eq!(one("a=b  "), pair("a", "b  "), "blanks at the end stay");
        assert_eq!(one("a"), pair("a", ""));
        assert_eq!(one("=b"), pair("", "b"));
    }

    #[test]
    fn escapes() {
        assert_eq!(one(r"a\=b\:c\ d=e"), pair("a=b:c d", "e"));
        assert_eq!(
            one(r"a=\t\n\r\f\\\q\u00e9\uD83D\uDE00"),
            pair("a", "\t\n\r\x0c\\q\u{e9}😀")
        );
        assert_eq!(one(r"a=C:\temp\new"), pair("a", "C:\temp\new"));
        assert_eq!(one(r"a=\uD83D!"), pair("a", "?!"));
        assert_eq!(
            one("a=b\\"),
            pair("a", "b"),
            "a backslash at the end of the file is dropped"
        );
    }

    #[test]
    fn continuation_and_comments() {
        assert_eq!(one("a=b,\\\n    c,\\\r\n\td"), pair("a", "b,c,d"));
        assert_eq!(
            one("a=b\\\n#c"),
            pair("a", "b#c"),
            "no comment inside a value"
        );
        assert_eq!(
            one("a=b\\\\\n"),
            pair("a", "b\\"),
            "an escaped backslash does not continue"
        );
        assert_eq!(
            pairs("a=b\\\n\nc=d"),
            [pair("a", "b"), pair("c", "d")],
            "an empty line ends it"
        );
        assert_eq!(
            pairs("#x=1\\\n!y=2\n  # z\na=1"),
            [pair("a", "1")],
            "comments are not continued"
        );
        assert_eq!(pairs("a=1\rb=2"), [pair("a", "1"), pair("b", "2")]);
        assert_eq!(
            pairs("\\\n#c\na=1"),
            [pair("a", "1")],
            "a lone backslash starts over"
        );
        assert_eq!(
            pairs("\\\n"),
            [pair("", "")],
            "unless the file ends with it"
        );
        assert_eq!(pairs("\\\r\n"), []);
        assert_eq!(pairs("\\"), [pair("", "")]);
    }

    #[test]
    fn lines_are_counted_where_keys_start() {
        let lines: Vec<usize> = file(b"# c\na=1,\\\n 2\n\nb=3")
            .entries
            .iter()
            .map(|e| e.line)
            .collect();
        assert_eq!(lines, [2, 5]);
    }

    #[test]
    fn bytes_are_latin_1() {
        let read = file(b"a=caf\xe9");
        assert_eq!(read.entries[0].value, "caf\u{e9}");
        assert!(read.findings.is_empty());
        let read = file("a=café".as_bytes());
        assert_eq!(read.entries[0].value, "caf\u{c3}\u{a9}");
        assert_eq!(read.findings[0].code, "props-charset");
    }
}
