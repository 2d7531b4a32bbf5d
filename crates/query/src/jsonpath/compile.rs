//! Parses a path (`PathCompiler`).

use super::cursor::{Cursor, unescape};
use super::{Error, ErrorKind, Parameter, Path, PathToken, filter};
use crate::nesting;

pub(super) fn compile(text: &str) -> Result<Path, Error> {
    compile_inner(text).map_err(|mut error| {
        error.kind = ErrorKind::Invalid;
        error
    })
}

fn compile_inner(text: &str) -> Result<Path, Error> {
    let mut cursor = Cursor::new(text);
    cursor.trim();
    if !matches!(cursor.char_at(0)?, '$' | '@') {
        cursor = Cursor::new(&format!("$.{text}"));
        cursor.trim();
    }
    if cursor.last() == Some('.') {
        return Err(Error::invalid("Path must not end with a '.' or '..'"));
    }
    PathCompiler {
        cursor,
        tokens: Vec::new(),
    }
    .path()
}

/// Limit of tokens. The reader of each token calls the next one's, so a longer path would
/// overflow the stack. Each level of filters around the path halves it.
const MAX_TOKENS: usize = 250;

fn stack_overflow() -> Error {
    Error::failed("java.lang.StackOverflowError")
}

struct PathCompiler {
    cursor: Cursor,
    tokens: Vec<PathToken>,
}

impl PathCompiler {
    fn path(mut self) -> Result<Path, Error> {
        while self.cursor.in_bounds() && matches!(self.cursor.current()?, ' ' | '\t' | '\r' | '\n')
        {
            self.cursor.at += 1;
        }
        let from_root = match self.cursor.current()? {
            '$' => true,
            '@' => false,
            _ => return Err(Error::invalid("Path must start with '$' or '@'")),
        };
        if !self.cursor.is_tail() {
            self.cursor.at += 1;
            if !self.cursor.is('.') && !self.cursor.is('[') {
                let at = self.cursor.at;
                return Err(Error::invalid(format!(
                    "Illegal character at position {at} expected '.' or '['"
                )));
            }
            self.token()?;
        }
        Ok(function_of_scan(Path {
            from_root,
            tokens: self.tokens,
        }))
    }

    /// `readNextToken`; every reader continues with the next token.
    fn token(&mut self) -> Result<(), Error> {
        if self.tokens.len() >= MAX_TOKENS >> nesting::depth().min(6) {
            return Err(stack_overflow());
        }
        let start = self.cursor.at;
        let read = match self.cursor.current()? {
            '[' => {
                let read = self.bracket_property()?
                    || self.array()?
                    || self.wildcard()?
                    || self.filter()?
                    || self.placeholder()?;
                if !read {
                    return Err(Error::invalid(format!(
                        "Could not parse token starting at position {start}. Expected ?, ', 0-9, * "
                    )));
                }
                true
            }
            '.' => self.dot()?,
            '*' => self.wildcard()?,
            _ => self.property_or_function()?,
        };
        if read {
            Ok(())
        } else {
            let at = self.cursor.at;
            Err(Error::invalid(format!(
                "Could not parse token starting at position {at}"
            )))
        }
    }

    fn rest(&mut self) -> Result<bool, Error> {
        if !self.cursor.is_tail() {
            self.token()?;
        }
        Ok(true)
    }

    fn dot(&mut self) -> Result<bool, Error> {
        if self
            .cursor
            .char_at(self.cursor.at + 1)
            .is_ok_and(|c| c == '.')
        {
            self.tokens.push(PathToken::Scan);
            self.cursor.at += 2;
        } else if self.cursor.is_tail() {
            return Err(Error::invalid("Path must not end with a '."));
        } else {
            self.cursor.at += 1;
        }
        if self.cursor.current()? == '.' {
            let at = self.cursor.at;
            return Err(Error::invalid(format!(
                "Character '.' on position {at} is not valid."
            )));
        }
        self.token()?;
        Ok(true)
    }

    fn property_or_function(&mut self) -> Result<bool, Error> {
        let start = self.cursor.at;
        if matches!(self.cursor.current()?, '[' | '*' | '.' | ' ') {
            return Ok(false);
        }
        let mut end = start;
        while end < self.cursor.end {
            match self.cursor.char_at(end)? {
                ' ' => {
                    return Err(Error::invalid(format!(
                        "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
                    )));
                }
                '.' | '[' | '(' => break,
                _ => end += 1,
            }
        }
        let name = self.cursor.text(start, end);
        if end < self.cursor.end && self.cursor.char_at(end)? == '(' {
            let parameters = self.function_parameters(&name, end)?;
            self.tokens.push(PathToken::Function { name, parameters });
        } else {
            self.cursor.at = end;
            self.tokens.push(PathToken::Property {
                names: vec![name],
                quote: '\'',
            });
        }
        self.rest()
    }

    /// Reads the text between parentheses; the first one is at `open`.
    fn function_parameters(&mut self, name: &str, open: usize) -> Result<Vec<Parameter>, Error> {
        let mut depth = 1;
        for at in open + 1..self.cursor.end {
            match self.cursor.char_at(at)? {
                ')' => depth -= 1,
                '(' => depth += 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        if depth != 0 {
            return Err(not_closed(name));
        }
        if self.cursor.char_at(open + 1)? == ')' {
            self.cursor.at = open + 1;
            return Ok(Vec::new());
        }
        self.cursor.at = open + 1;
        self.parameters(name)
    }

    /// `parseFunctionParameters`, including its way of counting brackets and quotes.
    fn parameters(&mut self, name: &str) -> Result<Vec<Parameter>, Error> {
        let mut kind = None;
        let mut open = Open {
            parens: 1,
            ..Open::default()
        };
        let mut done = false;
        let mut before = '\0';
        let mut parameters = Vec::new();
        let mut text = String::new();
        while self.cursor.in_bounds() && !done {
            let c = self.cursor.current()?;
            self.cursor.at += 1;
            if kind.is_none() {
                match c {
                    ' ' | '\t' | '\n' | '\r' => continue,
                    '{' | '"' | '-' | '0'..='9' => kind = Some(ParameterKind::Json),
                    '$' | '@' => kind = Some(ParameterKind::Path),
                    _ => {}
                }
            }
            open.count(c, before, self.cursor.at)?;
            if c == ')' && (open.parens < 0 || before == '(') {
                text.push(c);
            }
            if open.ends_parameter(c) {
                done = open.parens == 0;
                if let Some(kind) = kind.take() {
                    parameters.push(kind.parameter(std::mem::take(&mut text))?);
                }
            }
            let separates = c == ',' && open.braces == 0 && open.brackets == 0 && open.parens == 1;
            if kind.is_some() && !separates {
                text.push(c);
            }
            before = c;
        }
        if open.braces != 0 || open.parens != 0 || open.brackets != 0 {
            return Err(not_closed(name));
        }
        // The readers expect the position to be on the last character of a token.
        self.cursor.at -= usize::from(self.cursor.at >= self.cursor.end);
        Ok(parameters)
    }

    fn placeholder(&mut self) -> Result<bool, Error> {
        let Some(mark) = self.cursor.next_is(self.cursor.at, '?') else {
            return Ok(false);
        };
        if !matches!(self.cursor.next_significant_char(mark), ']' | ',') {
            return Ok(false);
        }
        let start = self.cursor.at + 1;
        let Some(end) = self.cursor.find(start, ']') else {
            return Ok(false);
        };
        let (text, at) = (self.cursor.text(start, end), self.cursor.at);
        Err(Error::invalid(format!(
            "Not enough predicates supplied for filter [{text}] at position {at}"
        )))
    }

    fn filter(&mut self) -> Result<bool, Error> {
        let start = self.cursor.at;
        let Some(mark) = self.cursor.next_is(start, '?') else {
            return Ok(false);
        };
        let Some(open) = self.cursor.next_is(mark, '(') else {
            return Ok(false);
        };
        let Some(close) = self.cursor.matching_close(open, '(', ')', true)? else {
            return Ok(false);
        };
        let Some(end) = self.cursor.next_is(close, ']') else {
            return Ok(false);
        };
        let filter = filter::compile(&self.cursor.text(start, end + 1))?;
        self.tokens.push(PathToken::Filter(filter));
        self.cursor.at = end + 1;
        self.rest()
    }

    fn wildcard(&mut self) -> Result<bool, Error> {
        if self.cursor.is('[') {
            let Some(star) = self.cursor.next_is(self.cursor.at, '*') else {
                return Ok(false);
            };
            let Some(close) = self.cursor.next_is(star, ']') else {
                return Err(Error::invalid(format!(
                    "Expected wildcard token to end with ']' on position {}",
                    star + 1
                )));
            };
            self.cursor.at = close + 1;
        } else {
            self.cursor.at += 1;
        }
        self.tokens.push(PathToken::Wildcard);
        self.rest()
    }

    fn array(&mut self) -> Result<bool, Error> {
        let first = self.cursor.next_significant_char(self.cursor.at);
        if !first.is_numeric() && first != '-' && first != ':' {
            return Ok(false);
        }
        let start = self.cursor.at + 1;
        let Some(end) = self.cursor.find(start, ']') else {
            return Ok(false);
        };
        let inner = self.cursor.text(start, end);
        let text = inner.trim();
        if !text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ':' | ' '))
        {
            return Ok(false);
        }
        let token = if text.contains(':') {
            slice(text)?
        } else {
            indexes(text)?
        };
        self.tokens.push(token);
        self.cursor.at = end + 1;
        self.rest()
    }

    fn bracket_property(&mut self) -> Result<bool, Error> {
        let quote = self.cursor.next_significant_char(self.cursor.at);
        if quote != '\'' && quote != '"' {
            return Ok(false);
        }
        let mut names = Vec::new();
        let mut start = self.cursor.at + 1;
        let mut end = 0;
        let (mut inside, mut escaped, mut after_comma) = (false, false, false);
        for at in self.cursor.at + 1..self.cursor.end {
            match self.cursor.char_at(at)? {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                ']' if !inside => {
                    if after_comma {
                        return Err(Error::invalid(format!(
                            "Found empty property at index {at}"
                        )));
                    }
                    break;
                }
                c if c == quote && inside => {
                    if !matches!(self.cursor.next_significant_char(at), ']' | ',') {
                        return Err(Error::invalid(format!(
                            "Property must be separated by comma or Property must be terminated close square bracket at index {at}"
                        )));
                    }
                    end = at;
                    names.push(unescape(&self.cursor.text(start, end))?);
                    inside = false;
                }
                c if c == quote => {
                    start = at + 1;
                    inside = true;
                    after_comma = false;
                }
                ',' if !inside => {
                    if after_comma {
                        return Err(Error::invalid(format!(
                            "Found empty property at index {at}"
                        )));
                    }
                    after_comma = true;
                }
                _ => {}
            }
        }
        if inside {
            return Err(Error::invalid(format!(
                "Property has not been closed - missing closing {quote}"
            )));
        }
        if names.is_empty() {
            return Err(Error::invalid("Empty properties"));
        }
        // Jayway then starts over from the beginning, until its stack overflows.
        let close = self.cursor.next_is(end, ']').ok_or_else(stack_overflow)?;
        self.cursor.at = close + 1;
        self.tokens.push(PathToken::Property { names, quote });
        self.rest()
    }
}

/// The form of a function's parameter.
#[derive(Clone, Copy)]
enum ParameterKind {
    Json,
    Path,
}

impl ParameterKind {
    fn parameter(self, text: String) -> Result<Parameter, Error> {
        match self {
            ParameterKind::Json => Ok(Parameter::Json(text)),
            ParameterKind::Path => {
                let compiler = PathCompiler {
                    cursor: Cursor::new(&text),
                    tokens: Vec::new(),
                };
                compiler.path().map(Parameter::Path)
            }
        }
    }
}

/// Brackets and quotes that are open while parameters are parsed.
#[derive(Default)]
struct Open {
    parens: i32,
    brackets: i32,
    braces: i32,
    quotes: i32,
}

impl Open {
    fn count(&mut self, c: char, before: char, at: usize) -> Result<(), Error> {
        match c {
            '"' if before != '\\' && self.quotes > 0 => self.quotes -= 1,
            '"' => self.quotes += 1,
            '(' => self.parens += 1,
            ')' => self.parens -= 1,
            '{' => self.braces += 1,
            '[' => self.brackets += 1,
            '}' => close(&mut self.braces, "brace", c, at)?,
            ']' => close(&mut self.brackets, "bracket", c, at)?,
            _ => {}
        }
        Ok(())
    }

    fn ends_parameter(&self, c: char) -> bool {
        let outside = self.quotes == 0 && self.braces == 0 && self.brackets == 0;
        let last = c == ')' && self.parens == 0;
        matches!(c, ')' | ',') && outside && (last || self.parens == 1)
    }
}

fn close(open: &mut i32, what: &str, c: char, at: usize) -> Result<(), Error> {
    if *open == 0 {
        return Err(Error::invalid(format!(
            "Unexpected close {what} '{c}' at character position: {at}"
        )));
    }
    *open -= 1;
    Ok(())
}

fn not_closed(name: &str) -> Error {
    Error::invalid(format!(
        "Arguments to function: '{name}' are not closed properly."
    ))
}

/// `ArrayIndexOperation.parse`.
fn indexes(text: &str) -> Result<PathToken, Error> {
    text.split(',')
        .map(|part| {
            let part = part.trim_matches(' ');
            part.parse().map_err(|_| {
                Error::invalid(format!(
                    "Failed to parse token in ArrayIndexOperation: {part}"
                ))
            })
        })
        .collect::<Result<_, _>>()
        .map(PathToken::Index)
}

/// `ArraySliceOperation.parse`; ignores the text after a second colon.
fn slice(text: &str) -> Result<PathToken, Error> {
    if !text
        .chars()
        .all(|c| c.is_ascii_digit() || c == '-' || c == ':')
    {
        return Err(Error::invalid(format!(
            "Failed to parse SliceOperation: {text}"
        )));
    }
    let mut parts = text.split(':').map(|part| match part {
        "" => Ok(None),
        part => match part.parse::<i32>() {
            Ok(index) => Ok(Some(index)),
            Err(_) => Err(Error::failed(format!(
                "java.lang.NumberFormatException: For input string: \"{part}\""
            ))),
        },
    });
    let from = parts.next().unwrap_or(Ok(None))?;
    let to = parts.next().unwrap_or(Ok(None))?;
    if from.is_none() && to.is_none() {
        return Err(Error::invalid(format!(
            "Failed to parse SliceOperation: {text}"
        )));
    }
    Ok(PathToken::Slice { from, to })
}

/// `CompiledPath` turns `$..path.function()` into `$.function($..path)`.
fn function_of_scan(mut path: Path) -> Path {
    let is_scan = matches!(path.tokens.first(), Some(PathToken::Scan));
    if !path.ends_with_function() || !is_scan {
        return path;
    }
    let first = path
        .tokens
        .iter()
        .position(|token| matches!(token, PathToken::Function { .. }));
    let mut tokens = path
        .tokens
        .split_off(first.expect("the last token is a function"));
    if let Some(PathToken::Function { parameters, .. }) = tokens.first_mut() {
        *parameters = vec![Parameter::Path(Path {
            from_root: path.from_root,
            tokens: path.tokens,
        })];
    }
    Path {
        from_root: true,
        tokens,
    }
}
