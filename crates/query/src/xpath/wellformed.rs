//! Whether a text is well-formed XML, and the first fault in the words of Xerces, which plans see in failure messages.
//!
//! Namespaces and what a document type declares are not looked at.

use std::fmt::Display;

use super::XPathError;
use crate::bytes::first_of;

const UNFINISHED: &str = "XML document structures must start and end within the same entity.";
const NOT_CONTENT: &str =
    "The content of elements must consist of well-formed character data or markup.";
const BEFORE_ROOT: &str =
    "The markup in the document preceding the root element must be well-formed.";
const AFTER_ROOT: &str =
    "The markup in the document following the root element must be well-formed.";
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

type Checked<T = ()> = Result<T, XPathError>;

/// Checks a whole document.
///
/// # Errors
/// With the first fault.
pub(super) fn check(text: &str) -> Checked {
    let mut scanner = Scanner {
        rest: text,
        open: Vec::new(),
    };
    scanner.declaration()?;
    let mut has_root = false;
    loop {
        if scanner.open.is_empty() {
            scanner.between(has_root)?;
            if scanner.rest.is_empty() {
                break;
            }
            has_root |= scanner.markup(has_root)?;
        } else {
            scanner.text()?;
            if scanner.rest.is_empty() {
                return fault(UNFINISHED);
            }
            scanner.markup(has_root)?;
        }
    }
    match has_root {
        true => Ok(()),
        false => fault("Premature end of file."),
    }
}

fn fault<T>(message: impl Into<String>) -> Checked<T> {
    Err(XPathError::new(message))
}

struct Scanner<'t> {
    rest: &'t str,
    /// Names of the elements that are not closed yet.
    open: Vec<&'t str>,
}

impl<'t> Scanner<'t> {
    /// Goes past `prefix`, if it comes next.
    fn skip(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Goes past white space; false if there is none.
    fn space(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(SPACE);
        let found = rest.len() < self.rest.len();
        self.rest = rest;
        found
    }

    /// A name; empty if none comes next.
    fn name(&mut self) -> &'t str {
        let is_start = self.rest.starts_with(is_name_start);
        let end = match is_start {
            true => self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len()),
            false => 0,
        };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// A fault here, unless the text ends here.
    fn expected<T>(&self, message: impl Into<String>) -> Checked<T> {
        match self.rest.is_empty() {
            true => fault(UNFINISHED),
            false => fault(message),
        }
    }

    /// The XML declaration, if there is one.
    fn declaration(&mut self) -> Checked {
        let is_declaration = self
            .rest
            .strip_prefix("<?xml")
            .is_some_and(|rest| rest.starts_with(SPACE));
        if !is_declaration {
            return Ok(());
        }
        self.rest = &self.rest["<?xml".len()..];
        let mut has_version = false;
        loop {
            self.space();
            if self.skip("?>") {
                break;
            }
            let name = self.name();
            if name.is_empty() {
                return self.expected("A pseudo attribute name is expected.");
            }
            let value = self.pseudo_value(name)?;
            match name {
                "version" if !matches!(value, "1.0" | "1.1") => {
                    return fault(format!(
                        "XML version \"{value}\" is not supported, only XML 1.0 is supported."
                    ));
                }
                "version" => has_version = true,
                _ if !has_version => {
                    return fault("The version is required in the XML declaration.");
                }
                "standalone" if !matches!(value, "yes" | "no") => {
                    return fault(format!(
                        "The standalone document declaration value must be \"yes\" or \"no\", not \"{value}\"."
                    ));
                }
                _ => {}
            }
        }
        match has_version {
            true => Ok(()),
            false => fault("The version is required in the XML declaration."),
        }
    }

    fn pseudo_value(&mut self, name: &str) -> Checked<&'t str> {
        self.space();
        if !self.skip("=") {
            return self.expected(format!(
                "The '=' character must follow \"{name}\" in the XML declaration."
            ));
        }
        self.space();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some((value, rest)) = quote.and_then(|quote| self.rest[1..].split_once(quote)) else {
            return self.expected(format!(
                "The value following \"{name}\" in the XML declaration must be a quoted string."
            ));
        };
        self.rest = rest;
        Ok(value)
    }

    /// What is not markup before and after the root element: white space alone.
    fn between(&mut self, has_root: bool) -> Checked {
        self.space();
        match (self.rest.chars().next(), has_root) {
            (None | Some('<'), _) => Ok(()),
            (_, true) => fault("Content is not allowed in trailing section."),
            (Some('&'), false) => fault("Reference is not allowed in prolog."),
            (_, false) => fault("Content is not allowed in prolog."),
        }
    }

    /// Text of an element, up to the next `<`.
    fn text(&mut self) -> Checked {
        loop {
            let end = first_of(self.rest.as_bytes(), b'<', b'&').unwrap_or(self.rest.len());
            let (text, rest) = self.rest.split_at(end);
            self.rest = rest;
            let has_bracket = first_of(text.as_bytes(), b']', b']').is_some();
            if has_bracket && let Some(at) = text.find("]]>") {
                characters(&text[..at], "element content of the document")?;
                return fault(
                    "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
                );
            }
            characters(text, "element content of the document")?;
            if !self.skip("&") {
                return Ok(());
            }
            self.reference()?;
        }
    }

    /// What follows an `&`.
    fn reference(&mut self) -> Checked {
        if self.skip("#") {
            return self.character_reference();
        }
        let name = self.name();
        if name.is_empty() {
            return fault(
                "The entity name must immediately follow the '&' in the entity reference.",
            );
        }
        if !self.skip(";") {
            return fault(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            ));
        }
        match name {
            "amp" | "lt" | "gt" | "quot" | "apos" => Ok(()),
            _ => fault(format!(
                "The entity \"{name}\" was referenced, but not declared."
            )),
        }
    }

    fn character_reference(&mut self) -> Checked {
        let is_hexadecimal = self.skip("x");
        let (radix, kind, prefix) = match is_hexadecimal {
            true => (16, "hexadecimal", "&#x"),
            false => (10, "decimal", "&#"),
        };
        let is_digit = |c: char| c.is_digit(radix);
        let end = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        if digits.is_empty() {
            return fault(format!(
                "A {kind} representation must immediately follow the \"{prefix}\" in a character reference."
            ));
        }
        if !self.skip(";") {
            return fault("The character reference must end with the ';' delimiter.");
        }
        let code = u32::from_str_radix(digits, radix).ok();
        match code.and_then(char::from_u32).is_some_and(is_character) {
            true => Ok(()),
            false => fault(format!(
                "Character reference \"{prefix}{digits}\" is an invalid XML character."
            )),
        }
    }

    /// What starts with `<`; true for the start of an element.
    fn markup(&mut self, has_root: bool) -> Checked<bool> {
        let in_element = !self.open.is_empty();
        let wrong = match (in_element, has_root) {
            (true, _) => NOT_CONTENT,
            (false, true) => AFTER_ROOT,
            (false, false) => BEFORE_ROOT,
        };
        self.skip("<");
        // Most of it is elements.
        if !self.rest.starts_with(['!', '?', '/']) {
            return self.element(in_element, has_root, wrong);
        }
        if self.skip("!--") {
            self.comment()?;
        } else if self.skip("?") {
            self.instruction()?;
        } else if in_element && self.skip("/") {
            self.end_tag()?;
        } else if in_element && self.skip("![CDATA[") {
            let data = self.until("]]>")?;
            characters(data, "CDATA section")?;
        } else if !has_root && self.skip("!DOCTYPE") {
            self.document_type()?;
        } else if !in_element && has_root && self.rest.starts_with('!') {
            return self.expected("Comment must start with \"<!--\".");
        } else if self.rest == "!" {
            return fault(UNFINISHED);
        } else {
            return self.element(in_element, has_root, wrong);
        }
        Ok(false)
    }

    /// The start of an element.
    fn element(&mut self, in_element: bool, has_root: bool, wrong: &str) -> Checked<bool> {
        let name = self.name();
        if name.is_empty() || (!in_element && has_root) {
            return self.expected(wrong);
        }
        self.start_tag(name)?;
        Ok(true)
    }

    /// Everything up to `end`, which is gone past.
    fn until(&mut self, end: &str) -> Checked<&'t str> {
        let Some((inside, rest)) = self.rest.split_once(end) else {
            return fault(UNFINISHED);
        };
        self.rest = rest;
        Ok(inside)
    }

    fn comment(&mut self) -> Checked {
        let comment = self.until("--")?;
        characters(comment, "comment")?;
        match self.skip(">") {
            true => Ok(()),
            false => self.expected("The string \"--\" is not permitted within comments."),
        }
    }

    fn instruction(&mut self) -> Checked {
        let target = self.name();
        if target.is_empty() {
            return self
                .expected("The processing instruction must begin with the name of the target.");
        }
        if target.eq_ignore_ascii_case("xml") {
            return fault(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
            );
        }
        if self.skip("?>") {
            return Ok(());
        }
        if !self.space() {
            return self.expected(
                "White space is required between the processing instruction target and data.",
            );
        }
        let data = self.until("?>")?;
        characters(data, "processing instruction")
    }

    /// Goes past a document type with its internal subset.
    fn document_type(&mut self) -> Checked {
        let (mut depth, mut quote) = (0_u32, None);
        for (at, c) in self.rest.char_indices() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '[') => depth += 1,
                (None, ']') => depth = depth.saturating_sub(1),
                (None, '>') if depth == 0 => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(());
                }
                (None, _) => {}
            }
        }
        fault(UNFINISHED)
    }

    fn end_tag(&mut self) -> Checked {
        let name = self.open.pop().unwrap_or_default();
        if !self.skip(name) {
            return self.expected(format!(
                "The element type \"{name}\" must be terminated by the matching end-tag \"</{name}>\"."
            ));
        }
        self.space();
        match self.skip(">") {
            true => Ok(()),
            false => self.expected(format!(
                "The end-tag for element type \"{name}\" must end with a '>' delimiter."
            )),
        }
    }

    fn start_tag(&mut self, element: &'t str) -> Checked {
        let mut names: Vec<&str> = Vec::new();
        loop {
            let spaced = self.space();
            if self.skip(">") {
                self.open.push(element);
                return Ok(());
            }
            if self.skip("/>") {
                return Ok(());
            }
            let name = match spaced {
                true => self.name(),
                false => "",
            };
            if name.is_empty() {
                return self.expected(format!(
                    "Element type \"{element}\" must be followed by either attribute specifications, \">\" or \"/>\"."
                ));
            }
            self.attribute(name, element)?;
            if names.contains(&name) {
                return fault(format!(
                    "Attribute \"{name}\" was already specified for element \"{element}\"."
                ));
            }
            names.push(name);
        }
    }

    fn attribute(&mut self, name: &str, element: &str) -> Checked {
        self.space();
        if !self.skip("=") {
            return self.expected(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be followed by the ' = ' character."
            ));
        }
        self.space();
        let quote = match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => {
                return self.expected(format!(
                    "Open quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
                ));
            }
        };
        self.rest = &self.rest[1..];
        loop {
            let Some(end) = memchr::memchr3(quote as u8, b'<', b'&', self.rest.as_bytes()) else {
                return fault(UNFINISHED);
            };
            let (value, rest) = self.rest.split_at(end);
            characters(
                value,
                format_args!("value of attribute \"{name}\" and element is \"{element}\""),
            )?;
            self.rest = rest;
            if self.skip("&") {
                self.reference()?;
            } else if self.skip("<") {
                return fault(format!(
                    "The value of attribute \"{name}\" associated with an element type \"{element}\" must not contain the '<' character."
                ));
            } else {
                self.rest = &self.rest[1..];
                return Ok(());
            }
        }
    }
}

/// That all characters are such as XML allows.
fn characters(text: &str, place: impl Display) -> Checked {
    // Nearly all text is plain, which is seen many bytes at a time.
    let is_plain =
        |byte: u8| (byte >= b' ' && byte != 0xEF) | matches!(byte, b'\t' | b'\n' | b'\r');
    if text
        .bytes()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        return Ok(());
    }
    let is_wrong = |c: char| !is_character(c);
    match text.chars().find(|c| is_wrong(*c)) {
        None => Ok(()),
        Some(c) => fault(format!(
            "An invalid XML character (Unicode: 0x{:x}) was found in the {place}.",
            u32::from(c)
        )),
    }
}

fn is_character(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | ':')
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{B7}')
}
