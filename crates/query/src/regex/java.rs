//! Translates a `java.util.regex.Pattern` (Java 17), for `jmeter.regex.engine=java`.
//!
//! Known differences: Java counts UTF-16 units, this counts characters. `(?i)` folds as Unicode does even without
//! `(?u)`. `(?c)` canonical equivalence does not exist. A class with an `&&` intersection follows the operator
//! precedence of the `regex` family.

use super::classes::{UNICODE_DIGIT, UNICODE_WORD, push_literal};
use super::{PatternError, RegexOptions, Translated};
use crate::nesting;

const WORD: &str = "a-zA-Z_0-9";
const DIGIT: &str = "0-9";
const SPACE: &str = r"\t-\r\x20";
const HORIZONTAL_SPACE: &str =
    r"\t\x20\u{A0}\u{1680}\u{180E}\u{2000}-\u{200A}\u{202F}\u{205F}\u{3000}";
const VERTICAL_SPACE: &str = r"\n-\r\u{85}\u{2028}\u{2029}";
/// The characters that the dot does not match.
const LINE_ENDS: &str = r"\n\r\u{85}\u{2028}\u{2029}";
const ANY_LINE_END: &str = r"(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])";

#[derive(Clone, Copy)]
struct Flags {
    case_insensitive: bool,
    multiline: bool,
    single_line: bool,
    extended: bool,
    unix_lines: bool,
    unicode: bool,
}

pub(super) fn translate(text: &str, options: RegexOptions) -> Result<Translated, PatternError> {
    let flags = Flags {
        case_insensitive: options.case_insensitive,
        multiline: options.multiline,
        single_line: options.single_line,
        extended: options.extended,
        unix_lines: false,
        unicode: false,
    };
    let mut parser = JavaPatternParser {
        chars: text.chars().collect(),
        at: 0,
        flags,
        out: Translated::default(),
        literal: Some(String::new()),
        names: Vec::new(),
    };
    if options.case_insensitive {
        parser.literal = None;
        parser.out.text.push_str("(?i)");
    }
    parser.alternatives()?;
    if parser.at < parser.chars.len() {
        parser.at = parser.at.saturating_sub(1);
        return parser.fail("Unmatched closing ')'");
    }
    parser.out.literal = parser.literal;
    Ok(parser.out)
}

struct JavaPatternParser {
    chars: Vec<char>,
    at: usize,
    flags: Flags,
    out: Translated,
    literal: Option<String>,
    names: Vec<(String, usize)>,
}

impl JavaPatternParser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn rest_starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(i, c)| self.chars.get(self.at + i) == Some(&c))
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, PatternError> {
        let offset = self.chars.iter().take(self.at).map(|c| c.len_utf8()).sum();
        Err(PatternError {
            message: message.into(),
            offset,
        })
    }

    fn skip_trivia(&mut self) {
        while self.flags.extended {
            match self.peek() {
                Some(c) if c.is_ascii_whitespace() || c == '\x0B' => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn alternatives(&mut self) -> Result<(), PatternError> {
        loop {
            self.skip_trivia();
            match self.peek() {
                None | Some(')') => return Ok(()),
                Some('|') => {
                    self.plain("|");
                    self.at += 1;
                }
                Some(_) => self.piece()?,
            }
        }
    }

    /// Appends something other than literal characters.
    fn plain(&mut self, text: &str) {
        self.literal = None;
        self.out.text.push_str(text);
    }

    fn piece(&mut self) -> Result<(), PatternError> {
        let start = self.out.text.len();
        let wrap = self.atom()?;
        self.skip_trivia();
        let Some(times) = self.repetition()? else {
            return Ok(());
        };
        if wrap {
            self.out.text.insert_str(start, "(?:");
            self.out
                .ends
                .iter_mut()
                .filter(|at| **at >= start)
                .for_each(|at| *at += 3);
            self.out.text.push(')');
        }
        self.plain(&times);
        match self.peek() {
            Some('?') => self.step("?"),
            Some('+') => {
                self.out.backtracks = true;
                self.step("+");
            }
            _ => {}
        }
        if let Some(c @ ('*' | '+' | '?')) = self.peek() {
            return self.fail(format!("Dangling meta character '{c}'"));
        }
        Ok(())
    }

    fn step(&mut self, text: &str) {
        self.out.text.push_str(text);
        self.at += 1;
    }

    fn repetition(&mut self) -> Result<Option<String>, PatternError> {
        match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.at += 1;
                Ok(Some(c.to_string()))
            }
            Some('{') => {
                self.at += 1;
                let Some(close) = self.chars[self.at..].iter().position(|c| *c == '}') else {
                    if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                        return self.fail("Illegal repetition");
                    }
                    self.at = self.chars.len();
                    return self.fail("Unclosed counted closure");
                };
                let body: String = self.chars[self.at..self.at + close].iter().collect();
                let (low, high) = body.split_once(',').unwrap_or((&body, &body));
                let low = match low.parse::<u32>() {
                    Ok(low) => low,
                    Err(_) => return self.fail("Illegal repetition"),
                };
                let high = match high {
                    "" => None,
                    digits => match digits.parse::<u32>() {
                        Ok(high) => Some(high),
                        Err(_) => return self.fail("Illegal repetition range"),
                    },
                };
                if high.is_some_and(|high| high < low) {
                    self.at += close;
                    return self.fail("Illegal repetition range");
                }
                self.at += close + 1;
                Ok(Some(format!("{{{body}}}")))
            }
            _ => Ok(None),
        }
    }

    /// Writes one atom; returns whether it must be wrapped before a repetition.
    fn atom(&mut self) -> Result<bool, PatternError> {
        let Some(c) = self.peek() else {
            return Ok(true);
        };
        match c {
            '^' => {
                self.at += 1;
                let text = match (self.flags.multiline, self.flags.unix_lines) {
                    (false, _) => r"\A",
                    (true, true) => "(?m:^)",
                    (true, false) => "(?mR:^)",
                };
                self.plain(text);
                Ok(true)
            }
            '$' => {
                self.at += 1;
                match (self.flags.multiline, self.flags.unix_lines) {
                    (false, _) => self.end(),
                    (true, true) => self.plain("(?m:$)"),
                    (true, false) => self.plain("(?mR:$)"),
                }
                Ok(true)
            }
            '.' => {
                self.at += 1;
                match (self.flags.single_line, self.flags.unix_lines) {
                    (true, _) => self.plain("(?s:.)"),
                    (false, true) => self.plain(r"[^\n]"),
                    (false, false) => self.plain(&format!("[^{LINE_ENDS}]")),
                }
                Ok(false)
            }
            '[' => {
                self.literal = None;
                let class = self.class()?;
                self.plain(&class);
                Ok(false)
            }
            '(' => self.group(),
            '\\' => self.escape(),
            '*' | '+' | '?' => self.fail(format!("Dangling meta character '{c}'")),
            // After nothing, or after another repetition, it has nothing to repeat.
            '{' => Ok(true),
            _ => {
                self.at += 1;
                self.character(c);
                Ok(false)
            }
        }
    }

    fn end(&mut self) {
        self.literal = None;
        self.out.ends.push(self.out.text.len());
    }

    fn character(&mut self, c: char) {
        if let Some(literal) = &mut self.literal {
            literal.push(c);
        }
        push_literal(&mut self.out.text, c);
    }

    fn group(&mut self) -> Result<bool, PatternError> {
        self.literal = None;
        self.at += 1;
        if self.peek() != Some('?') {
            return self.capture(None);
        }
        self.at += 1;
        let looks = [
            ("=", "(?="),
            ("!", "(?!"),
            ("<=", "(?<="),
            ("<!", "(?<!"),
            (">", "(?>"),
        ];
        if let Some((mark, opening)) = looks
            .into_iter()
            .find(|(mark, _)| self.rest_starts_with(mark))
        {
            self.at += mark.len();
            self.out.backtracks = true;
            self.inside(opening)?;
            return Ok(mark != ">");
        }
        if self.peek() == Some(':') {
            self.at += 1;
            self.inside("(?:")?;
            return Ok(false);
        }
        if self.peek() == Some('<') {
            self.at += 1;
            let name = self.group_name()?;
            return self.capture(Some(name));
        }
        self.inline_flags()
    }

    fn capture(&mut self, name: Option<String>) -> Result<bool, PatternError> {
        self.out.groups += 1;
        if let Some(name) = name {
            if self.names.iter().any(|(known, _)| *known == name) {
                return self.fail(format!("Named capturing group <{name}> is already defined"));
            }
            self.names.push((name, self.out.groups));
        }
        self.inside("(")?;
        Ok(false)
    }

    fn group_name(&mut self) -> Result<String, PatternError> {
        let name: String = self.chars[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric())
            .collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.fail("capturing group name does not start with a Latin letter");
        }
        self.at += name.len();
        if self.peek() != Some('>') {
            return self.fail("named capturing group is missing trailing '>'");
        }
        self.at += 1;
        Ok(name)
    }

    fn inside(&mut self, opening: &str) -> Result<(), PatternError> {
        let flags = self.flags;
        self.plain(opening);
        nesting::deeper(|| self.alternatives())
            .unwrap_or_else(|| self.fail("The expression is nested too deeply"))?;
        if self.peek() != Some(')') {
            return self.fail("Unclosed group");
        }
        self.at += 1;
        self.out.text.push(')');
        self.flags = flags;
        Ok(())
    }

    fn inline_flags(&mut self) -> Result<bool, PatternError> {
        let before = self.flags;
        let mut on = true;
        loop {
            let Some(c) = self.peek() else {
                return self.fail("Unknown inline modifier");
            };
            match c {
                '-' => on = false,
                'i' => self.flags.case_insensitive = on,
                'm' => self.flags.multiline = on,
                's' => self.flags.single_line = on,
                'x' => self.flags.extended = on,
                'd' => self.flags.unix_lines = on,
                'u' => {}
                'U' => self.flags.unicode = on,
                ')' | ':' => break,
                _ => return self.fail("Unknown inline modifier"),
            }
            self.at += 1;
        }
        let scoped = self.peek() == Some(':');
        self.at += 1;
        let folding = match (before.case_insensitive, self.flags.case_insensitive) {
            (false, true) => "i",
            (true, false) => "-i",
            _ => "",
        };
        if scoped {
            self.inside(&format!("(?{folding}:"))?;
            self.flags = before;
        } else if !folding.is_empty() {
            self.plain(&format!("(?{folding})"));
        }
        Ok(!scoped)
    }

    fn escape(&mut self) -> Result<bool, PatternError> {
        let Some(&c) = self.chars.get(self.at + 1) else {
            self.at += 1;
            return self.fail("Unexpected internal error");
        };
        if let Some(set) = self.shorthand(c) {
            self.at += 2;
            self.plain(&set);
            return Ok(false);
        }
        self.at += 2;
        match c {
            'Q' => self.quoted(),
            'A' => self.plain(r"\A"),
            'z' => self.plain(r"\z"),
            'Z' => self.end(),
            'b' => self.plain(r"\b"),
            'B' => self.plain(r"\B"),
            'G' => {
                self.out.backtracks = true;
                self.plain(r"\G");
            }
            'R' => self.plain(ANY_LINE_END),
            'X' => self.plain(r"(?:\P{M}\p{M}*|\p{M}+)"),
            'p' | 'P' => {
                let set = self.property(c == 'P')?;
                self.plain(&set);
            }
            '1'..='9' => self.back_reference(c)?,
            'k' => self.named_reference()?,
            _ => {
                self.at -= 1;
                let c = self.escaped_char()?;
                self.character(c);
                return Ok(false);
            }
        }
        Ok(matches!(c, 'A' | 'z' | 'Z' | 'b' | 'B' | 'G' | 'Q'))
    }

    /// `\Q…\E`: a repetition after it only applies to its last character, so it is written as one group per
    /// character.
    fn quoted(&mut self) {
        while self.at < self.chars.len() && !self.rest_starts_with(r"\E") {
            let c = self.chars[self.at];
            self.at += 1;
            self.character(c);
        }
        self.at = (self.at + 2).min(self.chars.len());
    }

    fn back_reference(&mut self, first: char) -> Result<(), PatternError> {
        let mut number = first.to_digit(10).unwrap_or(0) as usize;
        // Java takes further digits only if that many groups exist.
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let longer = number * 10 + digit as usize;
            if longer > self.out.groups {
                break;
            }
            number = longer;
            self.at += 1;
        }
        self.out.backtracks = true;
        if number <= self.out.groups {
            self.plain(&format!("(?:\\{number})"))
        } else {
            // A reference to a missing group never matches.
            self.plain("(?!)")
        }
        Ok(())
    }

    fn named_reference(&mut self) -> Result<(), PatternError> {
        if self.peek() != Some('<') {
            return self.fail("\\k is not followed by '<' for named capturing group");
        }
        self.at += 1;
        let name = self.group_name()?;
        let Some((_, number)) = self.names.iter().find(|(known, _)| *known == name) else {
            return self.fail(format!("named capturing group <{name}> does not exist"));
        };
        self.out.backtracks = true;
        let text = format!("(?:\\{number})");
        self.plain(&text);
        Ok(())
    }

    fn shorthand(&self, c: char) -> Option<String> {
        let (word, digit, space) = if self.flags.unicode {
            (UNICODE_WORD, UNICODE_DIGIT, r"\p{White_Space}")
        } else {
            (WORD, DIGIT, SPACE)
        };
        let set = match c.to_ascii_lowercase() {
            'w' => word,
            'd' => digit,
            's' => space,
            'h' => HORIZONTAL_SPACE,
            'v' => VERTICAL_SPACE,
            _ => return None,
        };
        Some(format!(
            "[{}{set}]",
            if c.is_ascii_uppercase() { "^" } else { "" }
        ))
    }

    /// `\p{…}` or `\pL`; `at` is after the `p`.
    fn property(&mut self, negated: bool) -> Result<String, PatternError> {
        let name: String = if self.peek() == Some('{') {
            let Some(close) = self.chars[self.at..].iter().position(|c| *c == '}') else {
                return self.fail("Unclosed character family");
            };
            let name = self.chars[self.at + 1..self.at + close].iter().collect();
            self.at += close + 1;
            name
        } else {
            self.at += 1;
            self.chars.get(self.at - 1).iter().copied().collect()
        };
        let Some(set) = property_set(&name) else {
            return self.fail(format!("Unknown character property name {{{name}}}"));
        };
        let class = format!("[{}{set}]", if negated { "^" } else { "" });
        match regex_automata::meta::Regex::new(&class) {
            Ok(_) => Ok(class),
            Err(_) => self.fail(format!("Unknown character property name {{{name}}}")),
        }
    }

    /// The character of an escape. `at` is on the character after the backslash, and afterwards after the escape.
    fn escaped_char(&mut self) -> Result<char, PatternError> {
        let Some(c) = self.peek() else {
            return self.fail("Illegal/unsupported escape sequence");
        };
        self.at += 1;
        Ok(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0C',
            'e' => '\x1B',
            'a' => '\x07',
            '0' => self.octal()?,
            'x' if self.peek() == Some('{') => {
                let close = self.chars[self.at..]
                    .iter()
                    .position(|c| *c == '}')
                    .unwrap_or(0);
                let digits: String = self.chars[self.at + 1..(self.at + close).max(self.at + 1)]
                    .iter()
                    .collect();
                self.at += close + 1;
                match u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32)
                {
                    Some(c) => c,
                    None => return self.fail("Hexadecimal codepoint is too big"),
                }
            }
            'x' => self.hexadecimal(2, "Illegal hexadecimal escape sequence")?,
            'u' => self.hexadecimal(4, "Illegal Unicode escape sequence")?,
            'c' => {
                let Some(c) = self.peek() else {
                    return self.fail("Illegal control escape sequence");
                };
                self.at += 1;
                char::from_u32(u32::from(c) ^ 64).unwrap_or(c)
            }
            c if c.is_ascii_alphabetic() => {
                self.at -= 1;
                return self.fail("Illegal/unsupported escape sequence");
            }
            c => c,
        })
    }

    fn hexadecimal(&mut self, digits: usize, message: &str) -> Result<char, PatternError> {
        let end = (self.at + digits).min(self.chars.len());
        let text: String = self.chars[self.at..end].iter().collect();
        let value = u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.len() == digits);
        match value.and_then(char::from_u32) {
            Some(c) => {
                self.at = end;
                Ok(c)
            }
            None => self.fail(message),
        }
    }

    fn octal(&mut self) -> Result<char, PatternError> {
        let mut value = 0;
        let mut count = 0;
        while count < 3 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            if value * 8 + digit > 0o377 {
                break;
            }
            value = value * 8 + digit;
            count += 1;
            self.at += 1;
        }
        match (count, char::from_u32(value)) {
            (1.., Some(c)) => Ok(c),
            _ => self.fail("Illegal octal escape sequence"),
        }
    }

    /// A class, including nested ones and intersections. `at` is on the bracket, and afterwards after the closing
    /// one.
    fn class(&mut self) -> Result<String, PatternError> {
        let mut out = String::from("[");
        self.at += 1;
        if self.peek() == Some('^') {
            out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek() else {
                self.at -= 1;
                return self.fail("Unclosed character class");
            };
            match c {
                ']' if !first => {
                    self.at += 1;
                    out.push(']');
                    // Keeps it from being read as a POSIX class.
                    return Ok(out.replacen(r"[\x{3A}", r"[\x{3A}-\x{3A}", 1));
                }
                '[' => {
                    let nested = nesting::deeper(|| self.class());
                    out.push_str(
                        &nested
                            .unwrap_or_else(|| self.fail("The expression is nested too deeply"))?,
                    );
                }
                '&' if self.rest_starts_with("&&") => {
                    out.push_str("&&");
                    self.at += 2;
                }
                c if self.flags.extended && c.is_ascii_whitespace() => self.at += 1,
                _ => self.class_item(&mut out)?,
            }
            first = false;
        }
    }

    fn class_item(&mut self, out: &mut String) -> Result<(), PatternError> {
        if self.rest_starts_with(r"\Q") {
            self.at += 2;
            while self.at < self.chars.len() && !self.rest_starts_with(r"\E") {
                push_literal(out, self.chars[self.at]);
                self.at += 1;
            }
            self.at = (self.at + 2).min(self.chars.len());
            return Ok(());
        }
        if self.peek() == Some('\\') {
            let c = self.chars.get(self.at + 1).copied().unwrap_or('\\');
            if let Some(set) = self.shorthand(c) {
                self.at += 2;
                out.push_str(&set);
                return Ok(());
            }
            if c == 'p' || c == 'P' {
                self.at += 2;
                out.push_str(&self.property(c == 'P')?);
                return Ok(());
            }
        }
        let from = self.class_char()?;
        push_literal(out, from);
        let ranges = self.peek() == Some('-')
            && self
                .chars
                .get(self.at + 1)
                .is_some_and(|c| *c != ']' && *c != '[');
        if ranges {
            self.at += 1;
            let shorthand = self.peek() == Some('\\')
                && self
                    .chars
                    .get(self.at + 1)
                    .is_some_and(|c| self.shorthand(*c).is_some());
            let to = if shorthand { '\0' } else { self.class_char()? };
            if to < from {
                self.at -= usize::from(!shorthand);
                return self.fail("Illegal character range");
            }
            out.push('-');
            push_literal(out, to);
        }
        Ok(())
    }

    fn class_char(&mut self) -> Result<char, PatternError> {
        let Some(c) = self.peek() else {
            return self.fail("Unclosed character class");
        };
        self.at += 1;
        match c {
            '\\' => self.escaped_char(),
            _ => Ok(c),
        }
    }
}

/// The items of a class for a name in `\p{…}`.
fn property_set(name: &str) -> Option<String> {
    let posix = match name {
        "Lower" => "a-z",
        "Upper" => "A-Z",
        "ASCII" => r"\x00-\x7F",
        "Alpha" => "a-zA-Z",
        "Digit" => "0-9",
        "Alnum" => "a-zA-Z0-9",
        "Punct" => r"!-/:-@\[-`\{-~",
        "Graph" => "!-~",
        "Print" => r"\x20-~",
        "Blank" => r"\t\x20",
        "Cntrl" => r"\x00-\x1F\x7F",
        "XDigit" => "0-9a-fA-F",
        "Space" => SPACE,
        "javaLowerCase" => r"\p{Lowercase}",
        "javaUpperCase" => r"\p{Uppercase}",
        "javaWhitespace" => super::classes::UNICODE_SPACE,
        "javaLetter" | "javaAlphabetic" => r"\p{L}",
        "javaDigit" => UNICODE_DIGIT,
        "javaLetterOrDigit" => r"\p{L}\p{Nd}",
        "L1" => r"\x00-\u{FF}",
        "LC" => r"\p{Lu}\p{Ll}\p{Lt}",
        _ => "",
    };
    if !posix.is_empty() {
        return Some(posix.to_owned());
    }
    // Categories, scripts and binary properties keep their name, without `Is` and `In`.
    let name = match name.split_once('=') {
        Some((key, value)) => ["script", "sc", "general_category", "gc", "block", "blk"]
            .contains(&key.to_ascii_lowercase().as_str())
            .then_some(value)?,
        None => name
            .strip_prefix("Is")
            .or_else(|| name.strip_prefix("In"))
            .unwrap_or(name),
    };
    Some(format!(r"\p{{{name}}}"))
}
