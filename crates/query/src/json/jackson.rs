//! Reproduces Jackson's messages for invalid JSON (`ReaderBasedJsonParser`, `ParserBase`), recorded from the version in
//! JMeter 5.6.3. It does not cover truncated numbers.

/// The longest quotation of the text, in UTF-16 units (`ErrorReportConfiguration`).
const MAX_QUOTED: usize = 500;

const ANY_TOKEN: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

/// The message for the first fault in the first value; `None` if there is none, or if its message is not reproduced.
pub fn fault(text: &str) -> Option<String> {
    let mut reader = JacksonReader {
        chars: text.chars().collect(),
        at: 0,
        open: Vec::new(),
    };
    reader.read().err().flatten()
}

/// `Err(None)` is a fault whose message is not reproduced.
type Checked<T = ()> = Result<T, Option<String>>;

struct JacksonReader {
    chars: Vec<char>,
    at: usize,
    /// The enclosing brackets, with their positions.
    open: Vec<(char, usize)>,
}

impl JacksonReader {
    fn read(&mut self) -> Checked {
        loop {
            self.value()?;
            loop {
                let Some((bracket, _)) = self.open.last().copied() else {
                    return Ok(());
                };
                match (bracket, self.next_visible()?) {
                    ('{', '}') | ('[', ']') => self.close(),
                    (_, ',') => {
                        self.at += 1;
                        self.next_entry()?;
                        if bracket == '{' {
                            self.name()?;
                        }
                        break;
                    }
                    (_, '}' | ']') => return self.wrong_close(),
                    ('{', _) => {
                        return self.unexpected("was expecting comma to separate Object entries");
                    }
                    _ => return self.unexpected("was expecting comma to separate Array entries"),
                }
            }
        }
    }

    /// Reads a whole value, or its opening brackets.
    fn value(&mut self) -> Checked {
        loop {
            match self.next_visible()? {
                bracket @ ('{' | '[') => {
                    self.open.push((bracket, self.at));
                    self.at += 1;
                    match (bracket, self.next_visible()?) {
                        ('{', '}') | ('[', ']') => {
                            self.close();
                            return Ok(());
                        }
                        ('{', _) => self.name()?,
                        _ => {}
                    }
                }
                '"' => return self.string("a string value"),
                '-' | '0'..='9' => return self.number(),
                c if c.is_alphabetic() || c == '_' || c == '$' => return self.word(),
                c @ ('}' | ']')
                    if self
                        .open
                        .last()
                        .is_some_and(|(open, _)| matching(*open) != c) =>
                {
                    return self.wrong_close();
                }
                _ => return self.unexpected(&format!("expected a valid value {ANY_TOKEN}")),
            }
        }
    }

    /// Reads the name of an entry and the colon after it.
    fn name(&mut self) -> Checked {
        match self.next_visible()? {
            '"' => self.string("field name")?,
            ']' => return self.wrong_close(),
            _ => return self.unexpected("was expecting double-quote to start field name"),
        }
        match self.next_entry()? {
            ':' => {
                self.at += 1;
                self.next_entry().map(drop)
            }
            _ => self.unexpected("was expecting a colon to separate field name and value"),
        }
    }

    fn string(&mut self, what: &str) -> Checked {
        self.at += 1;
        while let Some(c) = self.chars.get(self.at).copied() {
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    self.at += 1;
                    match self.chars.get(self.at) {
                        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => {}
                        Some('u') => return Err(None),
                        Some(other) => {
                            let message = format!(
                                "Unrecognized character escape '{other}' (code {})",
                                u32::from(*other)
                            );
                            return self.fail(&message, self.after(self.at));
                        }
                        None => return Err(None),
                    }
                }
                c if c < ' ' => {
                    let message = format!(
                        "Illegal unquoted character ((CTRL-CHAR, code {})): has to be escaped using backslash to be included in {}",
                        u32::from(c),
                        if what == "field name" {
                            "name"
                        } else {
                            "string value"
                        },
                    );
                    return self.fail(&message, self.after(self.at));
                }
                _ => {}
            }
            self.at += 1;
        }
        let message = match what {
            "field name" => "Unexpected end-of-input in field name".to_owned(),
            _ => format!("Unexpected end-of-input: was expecting closing quote for {what}"),
        };
        self.fail(&message, self.position_text(self.at))
    }

    /// Reads a number; its faults are not distinguished.
    fn number(&mut self) -> Checked {
        let start = self.at;
        while self
            .chars
            .get(self.at)
            .is_some_and(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'))
        {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Ok(_) => Ok(()),
            Err(_) => Err(None),
        }
    }

    fn word(&mut self) -> Checked {
        let start = self.at;
        while self
            .chars
            .get(self.at)
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        match word.as_str() {
            "true" | "false" | "null" => Ok(()),
            "NaN" | "Infinity" => self.fail(
                &format!("Non-standard token '{word}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"),
                self.position_text(self.at),
            ),
            _ => self.fail(
                &format!("Unrecognized token '{word}': was expecting {ANY_TOKEN}"),
                self.position_text(self.at),
            ),
        }
    }

    fn close(&mut self) {
        self.open.pop();
        self.at += 1;
    }

    /// Skips white space; returns the next character.
    fn skip_blanks(&mut self) -> Option<char> {
        while let Some(c) = self.chars.get(self.at).copied() {
            if !matches!(c, ' ' | '\t' | '\r' | '\n') {
                return Some(c);
            }
            self.at += 1;
        }
        None
    }

    /// The same, if another character must follow.
    fn next_entry(&mut self) -> Checked<char> {
        if let Some(c) = self.skip_blanks() {
            return Ok(c);
        }
        let kind = match self.open.last() {
            Some(('{', _)) => "Object",
            _ => "Array",
        };
        let message = format!("Unexpected end-of-input within/between {kind} entries");
        self.fail(&message, self.position_text(self.chars.len()))
    }

    /// The same, if brackets may end.
    fn next_visible(&mut self) -> Checked<char> {
        if let Some(c) = self.skip_blanks() {
            return Ok(c);
        }
        let end = self.position_text(self.chars.len());
        let Some((bracket, start)) = self.open.last() else {
            return Err(None);
        };
        let kind = if *bracket == '{' { "Object" } else { "Array" };
        let message = format!(
            "Unexpected end-of-input: expected close marker for {kind} (start marker at {})",
            self.position_text(*start)
        );
        self.fail(&message, end)
    }

    fn wrong_close<T>(&self) -> Checked<T> {
        let Some((bracket, start)) = self.open.last() else {
            return Err(None);
        };
        let kind = if *bracket == '{' { "Object" } else { "Array" };
        let message = format!(
            "Unexpected close marker '{}': expected '{}' (for {kind} starting at {})",
            self.chars[self.at],
            matching(*bracket),
            self.position_text(*start)
        );
        self.fail(&message, self.after(self.at))
    }

    fn unexpected<T>(&self, why: &str) -> Checked<T> {
        let c = self.chars[self.at];
        let message = format!(
            "Unexpected character ('{c}' (code {})): {why}",
            u32::from(c)
        );
        self.fail(&message, self.after(self.at))
    }

    fn fail<T>(&self, message: &str, place: String) -> Checked<T> {
        Err(Some(format!("{message}\n at {place}")))
    }

    fn position_text(&self, at: usize) -> String {
        let (line, column) = self.line_and_column(at);
        format!("[{}; line: {line}, column: {column}]", self.source())
    }

    /// The position after a character that was read.
    fn after(&self, at: usize) -> String {
        let (line, column) = self.line_and_column(at);
        format!("[{}; line: {line}, column: {}]", self.source(), column + 1)
    }

    /// The text as quoted in JMeter's messages (`ContentReference#appendSourceDescription`).
    fn source(&self) -> String {
        let mut out = String::from("Source: (String)\"");
        let mut units = 0;
        for c in &self.chars {
            units += c.len_utf16();
            if units > MAX_QUOTED {
                continue;
            }
            match c {
                '\r' | '\n' => out.push(*c),
                c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(*c))),
                c => out.push(*c),
            }
        }
        out.push('"');
        if units > MAX_QUOTED {
            out.push_str(&format!("[truncated {} chars]", units - MAX_QUOTED));
        }
        out
    }

    /// Line and column, counted from 1; columns are UTF-16 units.
    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let (mut line, mut column) = (1, 1);
        for (index, c) in self.chars[..at].iter().enumerate() {
            let ends = *c == '\n' || (*c == '\r' && self.chars.get(index + 1) != Some(&'\n'));
            (line, column) = if ends {
                (line + 1, 1)
            } else {
                (line, column + c.len_utf16())
            };
        }
        (line, column)
    }
}

fn matching(bracket: char) -> char {
    if bracket == '{' { '}' } else { ']' }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message, with the source of the text shortened.
    fn says(text: &str) -> Option<String> {
        let source = format!("Source: (String)\"{text}\"");
        fault(text).map(|message| message.replace(&source, "S").replace(ANY_TOKEN, "ANY"))
    }

    #[test]
    fn the_text_is_quoted() {
        let quoted = |text: &str| {
            let message = fault(text).unwrap();
            let (_, quoted) = message.split_once(" at [Source: ").unwrap();
            quoted.rsplit_once("; line").unwrap().0.to_owned()
        };
        assert_eq!(
            quoted("x\u{1}\t\u{7f}\u{85}é\r\n'\""),
            "(String)\"x\\u0001\\u0009\\u007F\\u0085é\r\n'\"\""
        );
        let long = format!("x{}", "a".repeat(500));
        let expected = format!("(String)\"{}\"[truncated 1 chars]", &long[..500]);
        assert_eq!(quoted(&long), expected);
    }

    /// Texts and Jackson's messages.
    const FAULTS: &[(&str, &str)] = &[
        (
            "x",
            "Unrecognized token 'x': was expecting ANY\n at [S; line: 1, column: 2]",
        ),
        (
            "\n\n  foo",
            "Unrecognized token 'foo': was expecting ANY\n at [S; line: 3, column: 6]",
        ),
        (
            "abc-def",
            "Unrecognized token 'abc': was expecting ANY\n at [S; line: 1, column: 4]",
        ),
        (
            "{\"a\":tru",
            "Unrecognized token 'tru': was expecting ANY\n at [S; line: 1, column: 9]",
        ),
        (
            "NaN",
            "Non-standard token 'NaN': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow\n at [S; line: 1, column: 4]",
        ),
        (
            "<html>",
            "Unexpected character ('<' (code 60)): expected a valid value ANY\n at [S; line: 1, column: 2]",
        ),
        (
            "{\"a\":}",
            "Unexpected character ('}' (code 125)): expected a valid value ANY\n at [S; line: 1, column: 7]",
        ),
        (
            "[1,]",
            "Unexpected character (']' (code 93)): expected a valid value ANY\n at [S; line: 1, column: 5]",
        ),
        (
            "[,1]",
            "Unexpected character (',' (code 44)): expected a valid value ANY\n at [S; line: 1, column: 3]",
        ),
        (
            "{a:1}",
            "Unexpected character ('a' (code 97)): was expecting double-quote to start field name\n at [S; line: 1, column: 3]",
        ),
        (
            "{\"a\":1,}",
            "Unexpected character ('}' (code 125)): was expecting double-quote to start field name\n at [S; line: 1, column: 9]",
        ),
        (
            "{\"a\" 1}",
            "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value\n at [S; line: 1, column: 7]",
        ),
        (
            "[1 2]",
            "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries\n at [S; line: 1, column: 5]",
        ),
        (
            "{\"a\":1 \"b\"}",
            "Unexpected character ('\"' (code 34)): was expecting comma to separate Object entries\n at [S; line: 1, column: 9]",
        ),
        (
            "{]",
            "Unexpected close marker ']': expected '}' (for Object starting at [S; line: 1, column: 1])\n at [S; line: 1, column: 3]",
        ),
        (
            "[}",
            "Unexpected close marker '}': expected ']' (for Array starting at [S; line: 1, column: 1])\n at [S; line: 1, column: 3]",
        ),
        (
            "{\"a\":1",
            "Unexpected end-of-input: expected close marker for Object (start marker at [S; line: 1, column: 1])\n at [S; line: 1, column: 7]",
        ),
        (
            "[\"x\" ",
            "Unexpected end-of-input: expected close marker for Array (start marker at [S; line: 1, column: 1])\n at [S; line: 1, column: 6]",
        ),
        (
            "[",
            "Unexpected end-of-input: expected close marker for Array (start marker at [S; line: 1, column: 1])\n at [S; line: 1, column: 2]",
        ),
        (
            "{\"a\":1,",
            "Unexpected end-of-input within/between Object entries\n at [S; line: 1, column: 8]",
        ),
        (
            "{\"a\":",
            "Unexpected end-of-input within/between Object entries\n at [S; line: 1, column: 6]",
        ),
        (
            "[1,",
            "Unexpected end-of-input within/between Array entries\n at [S; line: 1, column: 4]",
        ),
        (
            "{\"a",
            "Unexpected end-of-input in field name\n at [S; line: 1, column: 4]",
        ),
        (
            "\"abc",
            "Unexpected end-of-input: was expecting closing quote for a string value\n at [S; line: 1, column: 5]",
        ),
        (
            "\"a\nb\"",
            "Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash to be included in string value\n at [S; line: 1, column: 4]",
        ),
        (
            "{\"a\":\"\\x\"}",
            "Unrecognized character escape 'x' (code 120)\n at [S; line: 1, column: 9]",
        ),
    ];

    #[test]
    fn faults_are_told_as_jackson_tells_them() {
        for (text, expected) in FAULTS.iter().copied() {
            assert_eq!(says(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn text_after_the_first_value_is_ignored() {
        for text in ["1 2", "null x", "{\"a\":1}}", "[1, {\"a\": []}]"] {
            assert_eq!(says(text), None, "{text}");
        }
    }
}
