//! Splits an expression into tokens.

use bigdecimal::BigDecimal;

use super::XPath2Error;
use super::ast::Literal;

#[derive(Clone, Debug)]
pub(super) enum XPathToken {
    /// A name with its prefix, if it has one: `a`, `p:a`.
    Name(Option<String>, String),
    /// `p:*`
    PrefixWildcard(String),
    /// `*:a`
    LocalWildcard(String),
    /// `Q{uri}a`
    Expanded(String, String),
    Literal(Literal),
    Symbol(&'static str),
    End,
}

impl XPathToken {
    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self, XPathToken::Symbol(own) if *own == symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, XPathToken::Name(None, own) if own == word)
    }

    /// The token as in Saxon's messages.
    pub(super) fn shown(&self) -> String {
        match self {
            XPathToken::Name(None, local) => format!("name \"{local}\""),
            XPathToken::Name(Some(prefix), local) => format!("name \"{prefix}:{local}\""),
            XPathToken::PrefixWildcard(_) => "\"<prefix:*>\"".to_owned(),
            XPathToken::LocalWildcard(_) => "\"<*:local-name>\"".to_owned(),
            XPathToken::Expanded(uri, local) => format!("name \"Q{{{uri}}}{local}\""),
            XPathToken::Literal(Literal::Text(_)) => "\"<string-literal>\"".to_owned(),
            XPathToken::Literal(_) => "\"<numeric-literal>\"".to_owned(),
            XPathToken::Symbol(symbol) => format!("\"{symbol}\""),
            XPathToken::End => "\"<eof>\"".to_owned(),
        }
    }
}

/// Each symbol precedes its prefixes.
const SYMBOLS: [&str; 34] = [
    "<<", ">>", "<=", ">=", "!=", "=>", "||", "::", "//", "..", ":=", "(", ")", "[", "]", "{", "}",
    ",", "/", "@", "$", "*", "+", "-", "=", "<", ">", "|", "!", ".", "?", "#", "%", ":",
];

/// All tokens, followed by an end token.
pub(super) fn tokens(text: &str) -> Result<Vec<XPathToken>, XPath2Error> {
    let mut lexer = XPathLexer { rest: text };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let is_end = matches!(token, XPathToken::End);
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

struct XPathLexer<'a> {
    rest: &'a str,
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{B7}')
}

impl<'a> XPathLexer<'a> {
    fn next(&mut self) -> Result<XPathToken, XPath2Error> {
        self.skip_blanks()?;
        let Some(first) = self.rest.chars().next() else {
            return Ok(XPathToken::End);
        };
        let digit_at = |index: usize| self.rest[index..].starts_with(|c: char| c.is_ascii_digit());
        if digit_at(0) || (first == '.' && digit_at(1)) {
            return self.number();
        }
        if matches!(first, '"' | '\'') {
            return self
                .quoted(first)
                .map(|text| XPathToken::Literal(Literal::Text(text)));
        }
        if let Some(rest) = self.rest.strip_prefix("Q{") {
            let Some((uri, rest)) = rest.split_once('}') else {
                return Err(XPath2Error::malformed("No closing '}' found for Q{"));
            };
            self.rest = rest;
            return Ok(XPathToken::Expanded(
                uri.trim().to_owned(),
                self.name().to_owned(),
            ));
        }
        if starts_name(first) {
            return Ok(self.qualified());
        }
        if let Some(rest) = self.rest.strip_prefix("*:")
            && rest.starts_with(starts_name)
        {
            self.rest = rest;
            return Ok(XPathToken::LocalWildcard(self.name().to_owned()));
        }
        match SYMBOLS
            .iter()
            .find(|symbol| self.rest.starts_with(**symbol))
        {
            Some(symbol) => {
                self.rest = &self.rest[symbol.len()..];
                Ok(XPathToken::Symbol(symbol))
            }
            None => Err(XPath2Error::malformed(format!(
                "Invalid character '{first}' (x{:x}) in expression",
                u32::from(first)
            ))),
        }
    }

    /// Skips white space and comments, which may be nested.
    fn skip_blanks(&mut self) -> Result<(), XPath2Error> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
            if !self.rest.starts_with("(:") {
                return Ok(());
            }
            let mut depth = 0;
            loop {
                if let Some(rest) = self.rest.strip_prefix("(:") {
                    depth += 1;
                    self.rest = rest;
                } else if let Some(rest) = self.rest.strip_prefix(":)") {
                    depth -= 1;
                    self.rest = rest;
                    if depth == 0 {
                        break;
                    }
                } else {
                    let mut chars = self.rest.chars();
                    if chars.next().is_none() {
                        return Err(XPath2Error::malformed("Unclosed XPath comment"));
                    }
                    self.rest = chars.as_str();
                }
            }
        }
    }

    fn name(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_name_part(c));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    fn qualified(&mut self) -> XPathToken {
        let first = self.name().to_owned();
        let Some(rest) = self.rest.strip_prefix(':') else {
            return XPathToken::Name(None, first);
        };
        if let Some(rest) = rest.strip_prefix('*') {
            self.rest = rest;
            return XPathToken::PrefixWildcard(first);
        }
        if rest.starts_with(starts_name) {
            self.rest = rest;
            return XPathToken::Name(Some(first), self.name().to_owned());
        }
        XPathToken::Name(None, first)
    }

    /// Reads a literal in quotes; a doubled quote stands for one.
    fn quoted(&mut self, quote: char) -> Result<String, XPath2Error> {
        let mut out = String::new();
        let mut rest = &self.rest[1..];
        loop {
            let Some((part, behind)) = rest.split_once(quote) else {
                return Err(XPath2Error::malformed("Unmatched quote in expression"));
            };
            out.push_str(part);
            match behind.strip_prefix(quote) {
                Some(more) => {
                    out.push(quote);
                    rest = more;
                }
                None => {
                    self.rest = behind;
                    return Ok(out);
                }
            }
        }
    }

    fn number(&mut self) -> Result<XPathToken, XPath2Error> {
        let bytes = self.rest.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut end = digits(0);
        let is_whole = bytes.get(end) != Some(&b'.');
        if !is_whole {
            end = digits(end + 1);
        }
        let mut is_double = false;
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + signed);
            is_double = exponent > end + 1 + signed;
            if is_double {
                end = exponent;
            }
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(XPathToken::Literal(if is_double {
            Literal::Double(text.parse().unwrap_or(f64::NAN))
        } else if is_whole {
            let whole = text.parse();
            Literal::Whole(
                whole.map_err(|_| XPath2Error::not_built("whole numbers beyond 64 bits"))?,
            )
        } else {
            let decimal = text.trim_end_matches('.').parse::<BigDecimal>();
            Literal::Decimal(
                decimal.map_err(|_| XPath2Error::malformed("Invalid numeric literal"))?,
            )
        }))
    }
}
