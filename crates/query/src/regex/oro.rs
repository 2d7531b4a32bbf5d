//! Translates a Jakarta ORO 2.0.8 pattern, with the grammar and the error messages of `Perl5Compiler`.
//!
//! These differences from Perl and Java are intended: `\w \d \s` follow Java's Unicode `Character` tests; `(?i)` and other
//! flags are never scoped to a group; a `{` that starts no repetition is a literal; `\z \p \h \Q` are literals.
//!
//! Known differences: ORO counts UTF-16 units, this counts characters. `\G` is treated as `\A`. `\b` follows Unicode's
//! definition of a word. `(?m)^` also matches after a line end at the end of the text. A failed attempt can clobber the
//! start of a group in `Perl5Matcher`; this bug is not reproduced.

use super::classes::{UNICODE_DIGIT, UNICODE_SPACE, UNICODE_WORD, oro_posix, push_literal};
use super::{PatternError, RegexOptions, Translated};
use crate::nesting;

#[derive(Clone, Copy)]
struct Flags {
    case_insensitive: bool,
    multiline: bool,
    single_line: bool,
    extended: bool,
}

/// The kind of expression that is being parsed.
#[derive(Clone, Copy, PartialEq)]
enum Paren {
    Top,
    Capture,
    Plain,
    Ahead,
    NotAhead,
}

/// The kind of a parsed atom.
enum Atom {
    /// Written to the output; `wrap` tells whether it must be wrapped before a repetition.
    Written { wrap: bool },
    /// Only flags or a comment: the branch continues.
    Nothing,
    /// Flags at the end of the pattern; `Perl5Compiler` has no message for this error.
    Lost,
}

pub(super) fn translate(text: &str, options: RegexOptions) -> Result<Translated, PatternError> {
    let start = Flags {
        case_insensitive: options.case_insensitive,
        multiline: options.multiline,
        single_line: options.single_line,
        extended: options.extended,
    };
    // Perl5Compiler parses twice, first for the size, and does not reset the flags in between. A `(?s)` anywhere therefore
    // applies from the start.
    let mut first = OroPatternParser::new(text, start);
    first.parse()?;
    let mut second = OroPatternParser::new(text, first.flags);
    second.parse()?;
    let mut out = second.out;
    // The matcher uses the flag's final state.
    if second.flags.case_insensitive {
        out.text.insert_str(0, "(?i)");
        out.ends.iter_mut().for_each(|at| *at += "(?i)".len());
        second.literal = None;
    }
    out.literal = second.literal;
    Ok(out)
}

struct OroPatternParser {
    chars: Vec<char>,
    at: usize,
    flags: Flags,
    groups_opened: usize,
    out: Translated,
    literal: Option<String>,
}

impl OroPatternParser {
    fn new(text: &str, flags: Flags) -> OroPatternParser {
        OroPatternParser {
            chars: text.chars().collect(),
            at: 0,
            flags,
            groups_opened: 0,
            out: Translated::default(),
            literal: Some(String::new()),
        }
    }

    fn parse(&mut self) -> Result<(), PatternError> {
        self.skip_trivia();
        self.expression(Paren::Top)?;
        if self.at < self.chars.len() {
            return self.fail("Unmatched parentheses.");
        }
        self.out.groups = self.groups_opened;
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, PatternError> {
        let offset = self.chars.iter().take(self.at).map(|c| c.len_utf8()).sum();
        Err(PatternError {
            message: message.into(),
            offset,
        })
    }

    /// Skips one character and the comments after it, and with `(?x)` also white space.
    fn advance(&mut self) {
        self.at += 1;
        self.skip_trivia();
    }

    fn skip_trivia(&mut self) {
        loop {
            match self.peek() {
                Some('(') if self.peek_at(1) == Some('?') && self.peek_at(2) == Some('#') => {
                    self.skip_past(')');
                }
                Some(c) if self.flags.extended && c.is_whitespace() => self.at += 1,
                Some('#') if self.flags.extended => self.skip_past('\n'),
                _ => return,
            }
        }
    }

    fn skip_past(&mut self, end: char) {
        while self.peek().is_some_and(|c| c != end) {
            self.at += 1;
        }
        self.at = (self.at + 1).min(self.chars.len());
    }

    fn expression(&mut self, paren: Paren) -> Result<(), PatternError> {
        nesting::deeper(|| self.nested_expression(paren))
            .unwrap_or_else(|| self.fail("The expression is nested too deeply."))
    }

    fn nested_expression(&mut self, paren: Paren) -> Result<(), PatternError> {
        self.alternation()?;
        while self.peek() == Some('|') {
            self.literal = None;
            self.out.text.push('|');
            self.advance();
            self.alternation()?;
        }
        if paren != Paren::Top {
            if self.peek() != Some(')') {
                return self.fail("Unmatched parentheses.");
            }
            self.out.text.push(')');
            self.advance();
        }
        Ok(())
    }

    fn alternation(&mut self) -> Result<(), PatternError> {
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            self.branch()?;
        }
        Ok(())
    }

    fn branch(&mut self) -> Result<(), PatternError> {
        let start = self.out.text.len();
        let wrap = loop {
            match self.atom()? {
                Atom::Written { wrap } => break wrap,
                Atom::Nothing => {}
                Atom::Lost => return self.fail("Unknown compilation error."),
            }
        };
        self.repetition(start, wrap)
    }

    fn repetition(&mut self, start: usize, wrap: bool) -> Result<(), PatternError> {
        let written = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.advance();
                c.to_string()
            }
            Some('{') => match self.interval_end() {
                Some(end) => self.interval(end)?,
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.literal = None;
        if wrap {
            self.out.text.insert_str(start, "(?:");
            for at in self.out.ends.iter_mut().filter(|at| **at >= start) {
                *at += "(?:".len();
            }
            self.out.text.push(')');
        }
        self.out.text.push_str(&written);
        if self.peek() == Some('?') {
            self.out.text.push('?');
            self.advance();
        }
        let again = matches!(self.peek(), Some('*' | '+' | '?')) || self.interval_end().is_some();
        if again {
            return self.fail("Nested repetitions *?+ in expression");
        }
        Ok(())
    }

    /// The position of the `}` of a well-formed `{n}`, `{n,}` or `{n,m}` at the current position; anything else is literal.
    fn interval_end(&self) -> Option<usize> {
        let mut at = self.at;
        let digits = |mut at: usize| {
            while self.chars.get(at).is_some_and(|c| c.is_ascii_digit()) {
                at += 1;
            }
            at
        };
        if self.chars.get(at) != Some(&'{') {
            return None;
        }
        at += 1;
        let after = digits(at);
        if after == at {
            return None;
        }
        at = after;
        if self.chars.get(at) == Some(&',') {
            at = digits(at + 1);
        }
        (self.chars.get(at) == Some(&'}')).then_some(at)
    }

    fn interval(&mut self, end: usize) -> Result<String, PatternError> {
        let body: String = self.chars[self.at + 1..end].iter().collect();
        let (low, high) = body.split_once(',').unwrap_or((&body, &body));
        let parsed = number(low).and_then(|min| {
            let max = if high.is_empty() {
                None
            } else {
                Some(number(high)?)
            };
            Ok((min, max))
        });
        let (min, max) = match parsed {
            Ok(bounds) => bounds,
            Err(digits) => {
                return self.fail(format!(
                    "Unexpected number format exception.  Please report this bug.\
                     NumberFormatException message: For input string: \"{digits}\""
                ));
            }
        };
        if let Some(max) = max.filter(|max| *max != 0 && *max < min) {
            return self.fail(format!("Invalid interval {{{min},{max}}}"));
        }
        self.at = end;
        self.advance();
        Ok(match max {
            Some(max) => format!("{{{min},{}}}", max.max(min)),
            None => format!("{{{min},}}"),
        })
    }

    fn atom(&mut self) -> Result<Atom, PatternError> {
        let Some(c) = self.peek() else {
            // After flags at the end of the pattern, the compiler reads past the end.
            return self.fail("Unmatched parentheses.");
        };
        match c {
            '^' => self.emit(
                if self.flags.multiline {
                    "(?m:^)"
                } else {
                    r"\A"
                },
                true,
            ),
            '$' if self.flags.multiline => self.emit("(?m:$)", true),
            '$' => self.emit_end(),
            '.' => self.emit(
                if self.flags.single_line {
                    "(?s:.)"
                } else {
                    r"[^\n]"
                },
                false,
            ),
            '[' => self.class(),
            '(' => self.group(),
            '|' | ')' => Ok(Atom::Lost),
            '?' | '+' | '*' => self.fail("?+* follows nothing in expression"),
            '\\' => self.escape(),
            _ => self.literal_char(c),
        }
    }

    fn emit(&mut self, text: &str, wrap: bool) -> Result<Atom, PatternError> {
        self.literal = None;
        self.out.text.push_str(text);
        self.advance();
        Ok(Atom::Written { wrap })
    }

    fn emit_end(&mut self) -> Result<Atom, PatternError> {
        self.out.ends.push(self.out.text.len());
        self.emit("", true)
    }

    /// A literal character; `at` is on it.
    fn literal_char(&mut self, c: char) -> Result<Atom, PatternError> {
        let c = if self.flags.case_insensitive {
            lower(c)
        } else {
            c
        };
        if let Some(literal) = &mut self.literal {
            literal.push(c);
        }
        push_literal(&mut self.out.text, c);
        self.advance();
        Ok(Atom::Written { wrap: false })
    }

    fn group(&mut self) -> Result<Atom, PatternError> {
        self.literal = None;
        if self.peek_at(1) != Some('?') {
            self.advance();
            self.groups_opened += 1;
            self.out.text.push('(');
            self.expression(Paren::Capture)?;
            return Ok(Atom::Written { wrap: false });
        }
        let (paren, opening) = match self.peek_at(2) {
            Some(':') => (Paren::Plain, "(?:"),
            Some('=') => (Paren::Ahead, "(?="),
            Some('!') => (Paren::NotAhead, "(?!"),
            Some('#') => return self.comment(),
            _ => return self.inline_flags(),
        };
        self.at += 2;
        self.advance();
        self.out.text.push_str(opening);
        let looks_ahead = matches!(paren, Paren::Ahead | Paren::NotAhead);
        self.out.backtracks |= looks_ahead;
        self.expression(paren)?;
        Ok(Atom::Written { wrap: looks_ahead })
    }

    fn comment(&mut self) -> Result<Atom, PatternError> {
        let start = self.at;
        self.skip_past(')');
        if self.chars[start..self.at].last() != Some(&')') {
            return self.fail("Sequence (?#... not terminated");
        }
        self.skip_trivia();
        self.after_nothing()
    }

    fn inline_flags(&mut self) -> Result<Atom, PatternError> {
        self.at += 2;
        let mut on = true;
        let mut changes = Vec::new();
        while let Some(c) = self.peek().filter(|c| "iogmsx-".contains(*c)) {
            if c == '-' {
                on = false;
            } else {
                changes.push((c, on));
            }
            self.at += 1;
        }
        // Enabling flags come before disabling ones.
        changes.sort_by_key(|(_, on)| !on);
        for (c, on) in changes {
            match c {
                'i' => self.flags.case_insensitive = on,
                'm' => self.flags.multiline = on,
                's' => self.flags.single_line = on,
                'x' => self.flags.extended = on,
                _ => {}
            }
        }
        match self.peek() {
            Some(')') => {
                self.advance();
                self.after_nothing()
            }
            None if self.chars[self.at - 1] == '?' => self.fail("Sequence (??...) not recognized"),
            other => self.fail(format!(
                "Sequence (?{}...) not recognized",
                other.unwrap_or('\u{FFFF}')
            )),
        }
    }

    fn after_nothing(&self) -> Result<Atom, PatternError> {
        Ok(match self.peek() {
            Some('|' | ')') => Atom::Lost,
            _ => Atom::Nothing,
        })
    }

    fn escape(&mut self) -> Result<Atom, PatternError> {
        let Some(c) = self.peek_at(1) else {
            return self.fail("Trailing \\ in expression.");
        };
        self.at += 1;
        match c {
            'A' | 'G' => self.emit(r"\A", true),
            'Z' => self.emit_end(),
            'b' => self.emit(r"\b", true),
            'B' => self.emit(r"\B", true),
            'w' => self.emit(&format!("[{UNICODE_WORD}]"), false),
            'W' => self.emit(&format!("[^{UNICODE_WORD}]"), false),
            's' => self.emit(&format!("[{UNICODE_SPACE}]"), false),
            'S' => self.emit(&format!("[^{UNICODE_SPACE}]"), false),
            'd' => self.emit(&format!("[{UNICODE_DIGIT}]"), false),
            'D' => self.emit(&format!("[^{UNICODE_DIGIT}]"), false),
            '1'..='9' => self.back_reference(),
            _ => {
                let c = self.escaped_char();
                self.at -= 1;
                self.literal_char(c)
            }
        }
    }

    fn back_reference(&mut self) -> Result<Atom, PatternError> {
        let digits: String = self.chars[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .collect();
        let number = digits.parse::<usize>().unwrap_or(usize::MAX);
        if number <= self.groups_opened {
            self.literal = None;
            self.out.backtracks = true;
            self.out.text.push_str(&format!("(?:\\{number})"));
            self.at += digits.len() - 1;
            self.advance();
            return Ok(Atom::Written { wrap: false });
        }
        if number <= 9 {
            return self.fail(format!("Invalid backreference: \\{number}"));
        }
        let c = self.octal();
        self.at -= 1;
        self.literal_char(c)
    }

    /// The character of an escape; afterwards `at` is after it.
    fn escaped_char(&mut self) -> char {
        let Some(c) = self.peek() else { return '\0' };
        self.at += 1;
        match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0C',
            'e' => '\x1B',
            'a' => '\x07',
            'x' => self.digits(16, 2),
            'c' => {
                let c = self.peek().unwrap_or('\0');
                self.at += 1;
                char::from_u32(u32::from(c.to_ascii_uppercase()) ^ 64).unwrap_or(c)
            }
            '0'..='9' => {
                self.at -= 1;
                self.octal()
            }
            _ => c,
        }
    }

    fn octal(&mut self) -> char {
        self.digits(8, 3)
    }

    fn digits(&mut self, radix: u32, most: usize) -> char {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            value = value * radix + digit;
            self.at += 1;
        }
        char::from_u32(value).expect("two hexadecimal or three octal digits are always a character")
    }

    fn class(&mut self) -> Result<Atom, PatternError> {
        self.literal = None;
        self.at += 1;
        let negated = self.peek() == Some('^');
        if negated {
            self.at += 1;
        }
        let items = self.class_items()?;
        self.advance();
        push_class(&mut self.out.text, negated, &items);
        Ok(Atom::Written { wrap: false })
    }

    /// The items up to the closing bracket, on which `at` is afterwards.
    fn class_items(&mut self) -> Result<Vec<ClassItem>, PatternError> {
        let mut items = Vec::new();
        let mut range_from: Option<char> = None;
        let mut last_posix_negated = false;
        let mut first = matches!(self.peek(), Some(']' | '-'));
        loop {
            let Some(c) = self.peek() else {
                return self.fail("Unmatched [] in expression.");
            };
            if c == ']' && !first {
                return match range_from {
                    Some(_) => self.fail("Unmatched [] in expression."),
                    None => Ok(items),
                };
            }
            first = false;
            let set = self.class_set(&mut last_posix_negated);
            if let Some(set) = set {
                if range_from.is_some() {
                    return self.fail("Invalid [] range in expression.");
                }
                items.push(ClassItem {
                    text: set,
                    flips: last_posix_negated,
                });
                continue;
            }
            let c = if c == '\\' {
                self.at += 1;
                self.class_escape()
            } else {
                self.at += 1;
                c
            };
            if let Some(from) = range_from.take() {
                if from > c {
                    return self.fail("Invalid [] range in expression.");
                }
                items.push(self.class_range(from, c));
            } else if self.peek() == Some('-') && self.peek_at(1).is_some_and(|c| c != ']') {
                self.at += 1;
                range_from = Some(c);
            } else {
                items.push(self.class_range(c, c));
            }
        }
    }

    /// A shorthand or POSIX class at the current position, which is skipped.
    fn class_set(&mut self, negated: &mut bool) -> Option<String> {
        match (self.peek()?, self.peek_at(1)?) {
            ('\\', 'w') => self.shorthand(UNICODE_WORD),
            ('\\', 'W') => self.shorthand(&format!("[^{UNICODE_WORD}]")),
            ('\\', 's') => self.shorthand(UNICODE_SPACE),
            ('\\', 'S') => self.shorthand(&format!("[^{UNICODE_SPACE}]")),
            ('\\', 'd') => self.shorthand(UNICODE_DIGIT),
            ('\\', 'D') => self.shorthand(&format!("[^{UNICODE_DIGIT}]")),
            ('[', ':') => {
                let rest: String = self.chars[self.at + 2..].iter().take(10).collect();
                let flipped = rest.starts_with('^');
                // Perl5Compiler keeps the effect of `^` even if the name is invalid.
                *negated = flipped;
                let (name, _) = rest[usize::from(flipped)..].split_once(":]")?;
                let set = oro_posix(name)?;
                self.at += 2 + usize::from(flipped) + name.len() + 2;
                Some(set.to_owned())
            }
            _ => None,
        }
    }

    fn shorthand(&mut self, set: &str) -> Option<String> {
        self.at += 2;
        Some(set.to_owned())
    }

    fn class_escape(&mut self) -> char {
        match self.peek() {
            Some('b') => {
                self.at += 1;
                '\x08'
            }
            Some('A' | 'G' | 'Z') => {
                self.at += 1;
                self.chars[self.at - 1]
            }
            _ => self.escaped_char(),
        }
    }

    fn class_range(&self, from: char, to: char) -> ClassItem {
        let fold = self.flags.case_insensitive && from.is_uppercase() && to.is_uppercase();
        let (from, to) = if fold {
            (lower(from), lower(to))
        } else {
            (from, to)
        };
        let mut text = String::new();
        push_literal(&mut text, from);
        if to > from {
            text.push('-');
            push_literal(&mut text, to);
        }
        ClassItem { text, flips: false }
    }
}

fn number(digits: &str) -> Result<i32, String> {
    digits.parse::<i32>().map_err(|_| digits.to_owned())
}

struct ClassItem {
    /// The item's syntax within a class.
    text: String,
    /// `[:^name:]`: inverts the class from here on.
    flips: bool,
}

/// Writes a class. `Perl5Matcher.__matchUnicodeClass` checks the items in order. A negated POSIX class inverts the result
/// for itself, for all later items and for the end of the list.
fn push_class(out: &mut String, negated: bool, items: &[ClassItem]) {
    if items.iter().all(|item| !item.flips) {
        out.push_str(if negated { "[^" } else { "[" });
        items.iter().for_each(|item| out.push_str(&item.text));
        out.push(']');
        return;
    }
    let mut sense = !negated;
    let senses: Vec<bool> = items
        .iter()
        .map(|item| {
            sense ^= item.flips;
            sense
        })
        .collect();
    let mut set = if sense {
        r"[^\x00-\x{10FFFF}]"
    } else {
        r"[\x00-\x{10FFFF}]"
    }
    .to_owned();
    for (item, yes) in items.iter().zip(senses).rev() {
        set = if yes {
            format!("[{}{set}]", item.text)
        } else {
            format!("[{set}&&[^{}]]", item.text)
        };
    }
    out.push_str(&set);
}

/// `Character.toLowerCase`, one to one.
fn lower(c: char) -> char {
    let mut lowered = c.to_lowercase();
    match (lowered.next(), lowered.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}
