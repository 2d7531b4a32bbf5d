//! Splits an expression into tokens.

use num_bigint::BigInt;

use super::{Dialect, JexlError};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum JexlToken {
    /// A name or a keyword.
    Word(String),
    Int(i64),
    Big(BigInt),
    Double(f64),
    Text(String),
    /// A punctuation mark or operator.
    Mark(&'static str),
    End,
}

/// Ordered by length, so that the first match is the longest.
const MARKS: [&str; 54] = [
    "...", "##", "->", "?.", "?:", "??", "&&", "||", "==", "!=", ">=", "<=", "=~", "!~", "=^",
    "=$", "!^", "!$", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "..", "(", ")", "{", "}",
    "[", "]", ";", ":", ",", ".", "?", ">", "<", "=", "+", "-", "*", "/", "%", "!", "&", "|", "^",
    "~", "@", "`", "#",
];

/// Tokens that JEXL 2 lacks.
const NEW_MARKS: [&str; 13] = [
    "??", "=^", "=$", "!^", "!$", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// All tokens with their positions; the last one is [`JexlToken::End`].
pub(super) fn tokens(text: &str, dialect: Dialect) -> Result<Vec<(JexlToken, usize)>, JexlError> {
    let mut lexer = JexlLexer {
        text,
        at: 0,
        dialect,
    };
    let mut tokens: Vec<(JexlToken, usize)> = Vec::new();
    loop {
        lexer.skip_space();
        let at = lexer.at;
        let after_dot = matches!(tokens.last(), Some((JexlToken::Mark("." | "?."), _)));
        let token = lexer.token(after_dot)?;
        let end = token == JexlToken::End;
        tokens.push((token, at));
        if end {
            return Ok(tokens);
        }
    }
}

struct JexlLexer<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
}

impl JexlLexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// White space and the three kinds of comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let skipped = if rest.starts_with("##") || rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2).unwrap_or(rest.len())
            } else {
                rest.len()
                    - rest
                        .trim_start_matches([' ', '\t', '\n', '\r', '\u{c}'])
                        .len()
            };
            if skipped == 0 {
                return;
            }
            self.at += skipped;
        }
    }

    fn take(&mut self, len: usize) -> String {
        let taken = self.rest()[..len].to_owned();
        self.at += len;
        taken
    }

    fn token(&mut self, after_dot: bool) -> Result<JexlToken, JexlError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(JexlToken::End);
        };
        let starts_name = is_name(first) && !first.is_ascii_digit() && first != '@';
        if starts_name || after_dot && is_name(first) {
            let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            return Ok(JexlToken::Word(self.take(len)));
        }
        if first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            return self.number();
        }
        if first == '"' || first == '\'' {
            return self.string(first);
        }
        if let Some(pattern) = rest.strip_prefix("~/")
            && self.dialect == Dialect::Jexl3
        {
            return self.regex(pattern.len());
        }
        let mark = MARKS
            .iter()
            .find(|mark| rest.starts_with(**mark))
            .filter(|mark| self.dialect == Dialect::Jexl3 || !NEW_MARKS.contains(mark))
            .ok_or_else(|| syntax(self.at, &first.to_string()))?;
        self.at += mark.len();
        Ok(JexlToken::Mark(mark))
    }

    fn number(&mut self) -> Result<JexlToken, JexlError> {
        let rest = self.rest();
        if rest.starts_with("0x") || rest.starts_with("0X") {
            let len = rest[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
            let text = self.take(2 + len);
            return self.integer(&text[2..], 16);
        }
        let mut len = digits(rest);
        let mut floating = false;
        if rest[len..].starts_with('.') && digits(&rest[len + 1..]) > 0 {
            floating = true;
            len += 1 + digits(&rest[len + 1..]);
        }
        if rest[len..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[len + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[len + 1 + sign..]);
            if exponent > 0 {
                floating = true;
                len += 1 + sign + exponent;
            }
        }
        let suffix = rest[len..].chars().next();
        let pointless =
            !rest[..len].contains('.') && (floating || matches!(suffix, Some('d' | 'D')));
        if self.dialect == Dialect::Jexl2 && pointless {
            return Err(syntax(self.at, rest));
        }
        let text = self.take(len);
        match suffix {
            Some('f' | 'F' | 'd' | 'D') => {
                self.at += 1;
                double(&text)
            }
            Some('h' | 'H') if !floating => {
                self.at += 1;
                Ok(JexlToken::Big(text.parse().unwrap_or_default()))
            }
            Some('b' | 'B' | 'h' | 'H') => Err(JexlError::Unsupported("big numbers".to_owned())),
            _ if floating => double(&text),
            _ if text.len() > 1 && text.starts_with('0') => self.integer(&text, 8),
            _ => self.integer(&text, 10),
        }
    }

    fn integer(&mut self, digits: &str, radix: u32) -> Result<JexlToken, JexlError> {
        if self.rest().starts_with(['l', 'L']) {
            self.at += 1;
        }
        if digits.is_empty() {
            return Err(syntax(self.at, "0x"));
        }
        match i64::from_str_radix(digits, radix) {
            Ok(number) => Ok(JexlToken::Int(number)),
            Err(_) if radix == 8 && digits.contains(['8', '9']) => Err(syntax(self.at, digits)),
            Err(_) => match BigInt::parse_bytes(digits.as_bytes(), radix) {
                Some(number) => Ok(JexlToken::Big(number)),
                None => Err(syntax(self.at, digits)),
            },
        }
    }

    /// `StringParser.read`: only known escapes drop their backslash.
    fn string(&mut self, quote: char) -> Result<JexlToken, JexlError> {
        let start = self.at;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.at += at + 1;
                    return Ok(JexlToken::Text(out));
                }
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => break,
                '\\' => match chars.next() {
                    None => break,
                    Some((_, c @ ('b' | 't' | 'n' | 'f' | 'r')))
                        if self.dialect == Dialect::Jexl2 =>
                    {
                        out.push('\\');
                        out.push(c);
                    }
                    Some((_, 'b')) => out.push('\u{8}'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 'f')) => out.push('\u{c}'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, c)) if c == quote || c == '\\' => out.push(c),
                    Some((at, 'u')) => match unicode(&self.rest()[at + 1..]) {
                        Some(c) => {
                            out.push(c);
                            chars.nth(3);
                        }
                        None => out.push_str("\\u"),
                    },
                    Some((_, c)) => {
                        out.push('\\');
                        out.push(c);
                    }
                },
                _ => out.push(c),
            }
        }
        Err(syntax(start, &self.text[start..]))
    }

    /// `~/…/`: a regular expression, which behaves like its text.
    fn regex(&mut self, len: usize) -> Result<JexlToken, JexlError> {
        let start = self.at + 2;
        let body = &self.text[start..start + len];
        let mut escaped = false;
        for (at, c) in body.char_indices() {
            match c {
                '/' if !escaped => {
                    self.at = start + at + 1;
                    return Ok(JexlToken::Text(body[..at].replace("\\/", "/")));
                }
                '\n' | '\r' => break,
                _ => escaped = c == '\\' && !escaped,
            }
        }
        self.at += 1;
        Ok(JexlToken::Mark("~"))
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '@')
}

fn double(text: &str) -> Result<JexlToken, JexlError> {
    let number = text.parse().map_err(|_| syntax(0, text))?;
    Ok(JexlToken::Double(number))
}

fn unicode(text: &str) -> Option<char> {
    let digits = text.get(..4)?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

pub(super) fn syntax(at: usize, near: &str) -> JexlError {
    JexlError::Syntax(format!("parsing error at column {} in '{near}'", at + 1))
}
