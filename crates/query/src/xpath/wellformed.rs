//! Scans well-formed XML. The first fault is reported with Xerces' message, because a plan's failure messages contain it.
//! Namespaces are ignored, and so is the document type, whose entities were replaced before.

use std::fmt::Display;
use std::ops::Range;

use super::error::XPathError;
use super::tree::{Name, Span, Tree};
use super::xml::Builder;
use crate::bytes::first_mark;

pub(super) const UNFINISHED: &str =
    "XML document structures must start and end within the same entity.";
const NOT_CONTENT: &str =
    "The content of elements must consist of well-formed character data or markup.";
const BEFORE_ROOT: &str =
    "The markup in the document preceding the root element must be well-formed.";
const AFTER_ROOT: &str =
    "The markup in the document following the root element must be well-formed.";
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
/// The first byte of characters that XML does not allow, apart from control characters.
const WIDE: u8 = 0xEF;

pub(super) type Checked<T = ()> = Result<T, XPathError>;

/// Parses a whole document.
///
/// # Errors
/// The first fault.
pub(super) fn read(text: &str, builder: Builder) -> Checked<Tree> {
    let mut scanner = Scanner {
        text,
        at: 0,
        is_newer: false,
        open: Vec::new(),
        builder,
    };
    match scanner.document() {
        Ok(true) => Ok(scanner.builder.into_tree()),
        Ok(false) => fault("Premature end of file."),
        Err(error) => Err(XPathError {
            at: Some(if error.message == UNFINISHED {
                text.len()
            } else {
                scanner.at
            }),
            ..error
        }),
    }
}

pub(super) fn fault<T>(message: impl Into<String>) -> Checked<T> {
    Err(XPathError::new(message))
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Whether the document is XML 1.1, where references may stand for control characters.
    is_newer: bool,
    /// Names of the open elements.
    open: Vec<&'t str>,
    builder: Builder,
}

/// The class of a byte in a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InName {
    Part,
    Colon,
    /// The start of a multi-byte character that must be checked.
    Wide,
    No,
}

const IN_NAME: [InName; 256] = {
    let mut table = [InName::No; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => InName::Part,
            b':' => InName::Colon,
            128.. => InName::Wide,
            _ => InName::No,
        };
        byte += 1;
    }
    table
};

impl<'t> Scanner<'t> {
    /// Reads the whole document; false if it has no element.
    fn document(&mut self) -> Checked<bool> {
        self.declaration()?;
        let mut has_root = false;
        loop {
            if self.open.is_empty() {
                self.between(has_root)?;
                if self.is_end() {
                    return Ok(has_root);
                }
                has_root |= self.markup(has_root)?;
            } else {
                self.content()?;
                if self.is_end() {
                    return fault(UNFINISHED);
                }
                self.markup(has_root)?;
            }
        }
    }

    /// Reports a fault after the next character, which Xerces has read.
    fn expected_after<T>(&mut self, message: impl Into<String>) -> Checked<T> {
        let next = self.rest().chars().next();
        let ends = self.is_end();
        self.at += next.map(char::len_utf8).unwrap_or(0);
        if ends {
            fault(UNFINISHED)
        } else {
            fault(message)
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn is_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Skips `prefix`, if it comes next.
    #[inline]
    fn skip(&mut self, prefix: &str) -> bool {
        let (prefix, rest) = (prefix.as_bytes(), &self.text.as_bytes()[self.at..]);
        // The texts are short, so comparing bytes inline is faster than a function call.
        let follows = rest.len() >= prefix.len() && prefix.iter().eq(&rest[..prefix.len()]);
        self.at += if follows { prefix.len() } else { 0 };
        follows
    }

    /// Skips white space; false if there is none.
    fn space(&mut self) -> bool {
        let start = self.at;
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads a name; `None` if none comes next.
    fn name(&mut self) -> Option<Name> {
        let start = self.at;
        let mut local = start;
        if matches!(self.byte()?, b'0'..=b'9' | b'-' | b'.') {
            return None;
        }
        while let Some(byte) = self.byte() {
            match IN_NAME[usize::from(byte)] {
                InName::Part => self.at += 1,
                InName::Colon => {
                    self.at += 1;
                    if local == start {
                        local = self.at;
                    }
                }
                InName::Wide => {
                    let c = self.rest().chars().next().filter(|c| {
                        if self.at == start {
                            is_name_start(*c)
                        } else {
                            is_name(*c)
                        }
                    });
                    let Some(c) = c else { break };
                    self.at += c.len_utf8();
                }
                InName::No => break,
            }
        }
        (self.at > start).then(|| Name::new(start, local, self.at))
    }

    fn name_text(&self, name: Name) -> &'t str {
        &self.text[name.range()]
    }

    /// Reports a fault here, or the end of the text if it ends here.
    fn expected<T>(&self, message: impl Into<String>) -> Checked<T> {
        if self.is_end() {
            fault(UNFINISHED)
        } else {
            fault(message)
        }
    }

    /// Reads the XML declaration, if there is one.
    fn declaration(&mut self) -> Checked {
        let rest = self.text.strip_prefix("<?xml");
        if !rest.is_some_and(|rest| rest.starts_with(SPACE)) {
            return Ok(());
        }
        self.at = "<?xml".len();
        let mut has_version = false;
        loop {
            self.space();
            if self.skip("?>") {
                break;
            }
            let Some(name) = self.name() else {
                return self.expected("A pseudo attribute name is expected.");
            };
            let name = self.name_text(name);
            let value = self.pseudo_value(name)?;
            match name {
                "version" if !matches!(value, "1.0" | "1.1") => {
                    return fault(format!(
                        "XML version \"{value}\" is not supported, only XML 1.0 is supported."
                    ));
                }
                "version" => {
                    has_version = true;
                    self.is_newer = value == "1.1";
                }
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
        if has_version {
            Ok(())
        } else {
            fault("The version is required in the XML declaration.")
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
        let quoted = self
            .rest()
            .split_at_checked(1)
            .filter(|(quote, _)| matches!(*quote, "\"" | "'"));
        let Some((value, _)) = quoted.and_then(|(quote, rest)| rest.split_once(quote)) else {
            return self.expected(format!(
                "The value following \"{name}\" in the XML declaration must be a quoted string."
            ));
        };
        self.at += value.len() + 2;
        Ok(value)
    }

    /// Reads the text before or after the root element, which must be white space.
    fn between(&mut self, has_root: bool) -> Checked {
        self.space();
        match (self.byte(), has_root) {
            (None | Some(b'<'), _) => Ok(()),
            (_, true) => fault("Content is not allowed in trailing section."),
            (Some(b'&'), false) => self.expected_after("Reference is not allowed in prolog."),
            (_, false) => fault("Content is not allowed in prolog."),
        }
    }

    /// Reads the text of an element, up to the next `<`.
    fn content(&mut self) -> Checked {
        loop {
            let start = self.at;
            let mut has_return = false;
            loop {
                self.at = first_mark(self.text.as_bytes(), self.at, [b'<', b'&', b']', WIDE]);
                match self.byte() {
                    None | Some(b'<' | b'&') => break,
                    Some(b']') if self.rest().starts_with("]]>") => {
                        self.at += "]]>".len();
                        return fault(
                            "The character sequence \"]]>\" must not appear in content unless used to mark the end of a CDATA section.",
                        );
                    }
                    Some(b']') => {}
                    Some(b'\r') => has_return = true,
                    Some(_) => self.character("element content of the document")?,
                }
                self.at += 1;
            }
            self.builder.text(start..self.at, has_return);
            if !self.skip("&") {
                return Ok(());
            }
            let c = self.reference()?;
            self.builder.character(c);
        }
    }

    /// Checks that XML allows the next character.
    fn character(&self, place: impl Display) -> Checked {
        match self.rest().chars().next() {
            Some(c) if !is_character(c) => wrong_character(c, place),
            _ => Ok(()),
        }
    }

    /// Reads a reference after its `&`.
    fn reference(&mut self) -> Checked<char> {
        if self.skip("#") {
            return self.character_reference();
        }
        let Some(name) = self.name() else {
            return fault(
                "The entity name must immediately follow the '&' in the entity reference.",
            );
        };
        let name = self.name_text(name);
        if !self.skip(";") {
            return fault(format!(
                "The reference to entity \"{name}\" must end with the ';' delimiter."
            ));
        }
        Ok(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                return fault(format!(
                    "The entity \"{name}\" was referenced, but not declared."
                ));
            }
        })
    }

    fn character_reference(&mut self) -> Checked<char> {
        let is_hexadecimal = self.skip("x");
        let (radix, kind, prefix) = if is_hexadecimal {
            (16, "hexadecimal", "&#x")
        } else {
            (10, "decimal", "&#")
        };
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_digit(radix));
        let digits = &rest[..end.unwrap_or(rest.len())];
        self.at += digits.len();
        if digits.is_empty() {
            return fault(format!(
                "A {kind} representation must immediately follow the \"{prefix}\" in a character reference."
            ));
        }
        if !self.skip(";") {
            return fault("The character reference must end with the ';' delimiter.");
        }
        let code = u32::from_str_radix(digits, radix).ok();
        let is_allowed = |c: &char| is_character(*c) || (self.is_newer && matches!(c, '\u{1}'..));
        let is_allowed = |c: &char| is_allowed(c) && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
        match code.and_then(char::from_u32).filter(is_allowed) {
            Some(c) => Ok(c),
            None => fault(format!(
                "Character reference \"{prefix}{digits}\" is an invalid XML character."
            )),
        }
    }

    /// Reads markup starting with `<`. Returns true for the start of an element.
    fn markup(&mut self, has_root: bool) -> Checked<bool> {
        let in_element = !self.open.is_empty();
        let wrong = match (in_element, has_root) {
            (true, _) => NOT_CONTENT,
            (false, true) => AFTER_ROOT,
            (false, false) => BEFORE_ROOT,
        };
        self.skip("<");
        // Most markup is the start of an element.
        if !matches!(self.byte(), Some(b'!' | b'?' | b'/')) {
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
            self.characters(&data, "CDATA section")?;
            self.builder.section(data);
        } else if !has_root && self.skip("!DOCTYPE") {
            self.document_type()?;
        } else if !in_element && has_root && self.byte() == Some(b'!') {
            return self.expected_after("Comment must start with \"<!--\".");
        } else if self.rest() == "!" {
            return fault(UNFINISHED);
        } else if self.byte() == Some(b'!') || (has_root && self.byte() == Some(b'/')) {
            return self.expected_after(wrong);
        } else {
            return self.element(in_element, has_root, wrong);
        }
        Ok(false)
    }

    /// Reads the start of an element.
    fn element(&mut self, in_element: bool, has_root: bool, wrong: &str) -> Checked<bool> {
        let start = self.at;
        match self.name() {
            Some(name) if in_element || !has_root => self.start_tag(name)?,
            Some(_) => {
                self.at = start;
                return fault(wrong);
            }
            None => return self.expected(wrong),
        }
        Ok(true)
    }

    /// Reads and skips everything up to and including `end`; returns the range before it.
    fn until(&mut self, end: &str) -> Checked<Range<usize>> {
        let start = self.at;
        let Some(length) = self.rest().find(end) else {
            return fault(UNFINISHED);
        };
        self.at += length + end.len();
        Ok(start..start + length)
    }

    fn comment(&mut self) -> Checked {
        let comment = self.until("--")?;
        self.characters(&comment, "comment")?;
        if !self.skip(">") {
            return self.expected("The string \"--\" is not permitted within comments.");
        }
        self.builder.comment(comment);
        Ok(())
    }

    fn instruction(&mut self) -> Checked {
        let Some(target) = self.name() else {
            return self
                .expected("The processing instruction must begin with the name of the target.");
        };
        if self.name_text(target).eq_ignore_ascii_case("xml") {
            return fault(
                "The processing instruction target matching \"[xX][mM][lL]\" is not allowed.",
            );
        }
        if self.skip("?>") {
            self.builder.instruction(target, 0..0);
            return Ok(());
        }
        if !self.space() {
            return self.expected(
                "White space is required between the processing instruction target and data.",
            );
        }
        let data = self.until("?>")?;
        self.characters(&data, "processing instruction")?;
        self.builder.instruction(target, data);
        Ok(())
    }

    /// Skips a document type with its internal subset.
    fn document_type(&mut self) -> Checked {
        let (mut depth, mut quote) = (0_u32, None);
        for (at, c) in self.rest().char_indices() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '[') => depth += 1,
                (None, ']') => depth = depth.saturating_sub(1),
                (None, '>') if depth == 0 => {
                    self.at += at + 1;
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
        if !self.skip(">") {
            return self.expected(format!(
                "The end-tag for element type \"{name}\" must end with a '>' delimiter."
            ));
        }
        self.builder.end();
        Ok(())
    }

    fn start_tag(&mut self, element: Name) -> Checked {
        let element_text = self.name_text(element);
        let mut repeated = Ok(());
        loop {
            let spaced = self.space();
            if self.skip(">") {
                repeated?;
                self.builder.start(element);
                self.open.push(element_text);
                return Ok(());
            }
            if self.skip("/>") {
                repeated?;
                self.builder.start(element);
                self.builder.end();
                return Ok(());
            }
            self.skip("/");
            let name = if spaced { self.name() } else { None };
            let Some(name) = name else {
                return self.expected(format!(
                    "Element type \"{element_text}\" must be followed by either attribute specifications, \">\" or \"/>\"."
                ));
            };
            let name_text = self.name_text(name);
            let value = self.attribute(name_text, element_text)?;
            if !self.builder.attribute(name, value) && repeated.is_ok() {
                repeated = fault(format!(
                    "Attribute \"{name_text}\" was already specified for element \"{element_text}\"."
                ));
                // A parser that knows namespaces looks only once it has the whole tag.
                if !self.builder.knows_namespaces() {
                    return repeated;
                }
            }
        }
    }

    /// Reads an attribute after its name; returns its value.
    fn attribute(&mut self, name: &str, element: &str) -> Checked<Span> {
        self.space();
        if !self.skip("=") {
            return self.expected(format!(
                "Attribute name \"{name}\" associated with an element type \"{element}\" must be followed by the ' = ' character."
            ));
        }
        self.space();
        let quote = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => {
                return self.expected(format!(
                    "Open quote is expected for attribute \"{name}\" associated with an  element type  \"{element}\"."
                ));
            }
        };
        self.at += 1;
        self.value(quote, name, element)
    }

    /// Reads an attribute's value after its opening quote.
    fn value(&mut self, quote: u8, name: &str, element: &str) -> Checked<Span> {
        let start = self.at;
        // Replaces the text up to `done`.
        let mut changed: Option<String> = None;
        let mut done = start;
        loop {
            self.at = first_mark(self.text.as_bytes(), self.at, [quote, b'<', b'&', WIDE]);
            let plain = &self.text[done..self.at];
            let c = match self.byte() {
                None => return fault(UNFINISHED),
                Some(end) if end == quote => break,
                Some(b'<') => {
                    return fault(format!(
                        "The value of attribute \"{name}\" associated with an element type \"{element}\" must not contain the '<' character."
                    ));
                }
                Some(b'&') => {
                    self.at += 1;
                    self.reference()?
                }
                Some(b'\n' | b'\r' | b'\t') => {
                    let is_pair = self.skip("\r\n");
                    self.at += usize::from(!is_pair);
                    ' '
                }
                Some(_) => {
                    self.attribute_character(quote, name, element)?;
                    self.at += 1;
                    continue;
                }
            };
            let changed = changed.get_or_insert_default();
            changed.push_str(plain);
            changed.push(c);
            done = self.at;
        }
        self.at += 1;
        Ok(match changed {
            None => Span::new(start, self.at - 1),
            Some(mut changed) => {
                changed.push_str(&self.text[done..self.at - 1]);
                self.builder.value(&changed)
            }
        })
    }

    /// Checks that XML allows all characters.
    fn characters(&mut self, range: &Range<usize>, place: impl Display) -> Checked {
        match wrong(&self.text[range.clone()]) {
            None => Ok(()),
            Some((at, c)) => {
                self.at = range.start + at;
                wrong_character(c, place)
            }
        }
    }

    /// Checks that an attribute value may contain the next character; a missing end of the value is reported first.
    fn attribute_character(&self, quote: u8, name: &str, element: &str) -> Checked {
        let position = format_args!("value of attribute \"{name}\" and element is \"{element}\"");
        let checked = self.character(position);
        if checked.is_err() && memchr::memchr3(quote, b'<', b'&', self.rest().as_bytes()).is_none()
        {
            return fault(UNFINISHED);
        }
        checked
    }
}

/// The first character that XML does not allow.
fn wrong(text: &str) -> Option<(usize, char)> {
    if text
        .bytes()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        return None;
    }
    text.char_indices().find(|(_, c)| !is_character(*c))
}

/// Nearly all text is plain, which this checks many bytes at a time.
fn is_plain(byte: u8) -> bool {
    (byte >= b' ' && byte != 0xEF) | matches!(byte, b'\t' | b'\n' | b'\r')
}

#[cold]
fn wrong_character<T>(c: char, place: impl Display) -> Checked<T> {
    fault(format!(
        "An invalid XML character (Unicode: 0x{:x}) was found in the {place}.",
        u32::from(c)
    ))
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
