//! Finds tags in a page as Jodd's `LagartoParser` does.

use std::borrow::Cow;

use html5ever::data::NAMED_ENTITIES;

/// An event of the scanner.
pub(super) enum Event<'s, 't> {
    /// A start tag; for a script, reported after its text.
    Tag(&'s Tag<'t>),
    /// `[if …` of a conditional comment.
    Condition(&'t str),
    /// `<![endif]`
    EndCondition,
    /// `<!--->`, on which Lagarto fails.
    Fault,
}

/// A start tag.
#[derive(Default)]
pub(super) struct Tag<'t> {
    pub(super) name: &'t str,
    attributes: Vec<(&'t str, Option<&'t str>)>,
}

impl<'t> Tag<'t> {
    /// The value of the first attribute with this name, ignoring case, with decoded
    /// entities.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'t, str>> {
        let (_, value) = self
            .attributes
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        value.map(decode)
    }
}

/// Tags whose content is never parsed as markup.
const RAW_TEXT: [&str; 9] = [
    "xmp", "style", "iframe", "noembed", "noframes", "noscript", "script", "textarea", "title",
];

pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    conditional: bool,
    /// Where the comment that was read last ends, with the length of its closing mark. Comments that begin within it end there, too.
    comment_end: Option<(usize, usize)>,
    tag: Tag<'t>,
}

impl<'t> Scanner<'t> {
    /// With `conditional`, conditional comments are reported and their content is scanned.
    pub(super) fn new(text: &'t str, conditional: bool) -> Scanner<'t> {
        Scanner {
            text,
            at: 0,
            conditional,
            comment_end: None,
            tag: Tag::default(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Event<'_, 't>> {
        loop {
            self.at += memchr::memchr(b'<', &self.text.as_bytes()[self.at..])? + 1;
            match self.byte()? {
                b'!' => {
                    self.at += 1;
                    if let Some(event) = self.declaration() {
                        return Some(event);
                    }
                }
                b'/' => {
                    self.at += 1;
                    match self.byte()? {
                        c if c.is_ascii_alphabetic() => self.tag()?,
                        _ => self.skip_past(">"),
                    }
                }
                c if c.is_ascii_alphabetic() => {
                    self.tag()?;
                    self.skip_raw_text();
                    return Some(Event::Tag(&self.tag));
                }
                b'?' => self.skip_past(">"),
                _ => {}
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_past(&mut self, end: &str) {
        self.at = self
            .rest()
            .find(end)
            .map(|found| self.at + found + end.len())
            .unwrap_or(self.text.len());
    }

    /// After `<!`: a comment, a doctype or a condition.
    fn declaration<'s>(&mut self) -> Option<Event<'s, 't>> {
        let rest = self.rest();
        if rest.starts_with("--") {
            self.at += 2;
            return self.comment();
        }
        if self.conditional && rest.starts_with("[if ") {
            let end = rest.find("]>").unwrap_or(rest.len());
            self.at = (self.at + end + 2).min(self.text.len());
            return Some(Event::Condition(&rest[1..end]));
        }
        if self.conditional && rest.starts_with("[endif]") {
            self.skip_past(">");
            return Some(Event::EndCondition);
        }
        self.skip_past(">");
        None
    }

    /// After `<!--`. In a hidden condition, the scan continues after the condition.
    fn comment<'s>(&mut self) -> Option<Event<'s, 't>> {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("->") {
            return Some(Event::Fault);
        }
        let (end, close) = match self.comment_end {
            _ if rest.starts_with('>') => (start, 1),
            Some(known) if start <= known.0 => known,
            _ => {
                let (length, close) = comment_end(rest);
                *self.comment_end.insert((start + length, close))
            }
        };
        let length = end - start;
        self.at = end + close;
        if !self.conditional {
            return None;
        }
        let comment = &rest[..length];
        if comment.starts_with("[if ") {
            let bracket = comment.find(']').unwrap_or(length);
            self.at = (start + bracket + 2).min(self.text.len());
            return Some(Event::Condition(&comment[1..bracket]));
        }
        comment
            .ends_with("<![endif]")
            .then_some(Event::EndCondition)
    }

    /// Parses a tag from its name on, and stops after its `>`. `None` if the text ends
    /// within it.
    fn tag(&mut self) -> Option<()> {
        let start = self.at;
        while !is_space(self.byte()?) && !matches!(self.byte()?, b'/' | b'>') {
            self.at += 1;
        }
        self.tag.name = &self.text[start..self.at];
        self.tag.attributes.clear();
        loop {
            match self.byte()? {
                b'>' => break,
                b'/' => self.at += 1,
                c if is_space(c) => self.at += 1,
                _ => self.read_attribute()?,
            }
        }
        self.at += 1;
        Some(())
    }

    fn read_attribute(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        while !is_space(self.byte()?) && !matches!(self.byte()?, b'/' | b'>' | b'=') {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        self.skip_space()?;
        if self.byte()? != b'=' {
            self.tag.attributes.push((name, None));
            return Some(());
        }
        self.at += 1;
        self.skip_space()?;
        let value = match self.byte()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let length = memchr::memchr(quote, &self.text.as_bytes()[self.at..])?;
                let value = &self.text[self.at..self.at + length];
                self.at += length + 1;
                Some(value)
            }
            b'>' => None,
            _ => {
                let start = self.at;
                while !is_space(self.byte()?) && self.byte()? != b'>' {
                    self.at += 1;
                }
                Some(&self.text[start..self.at])
            }
        };
        self.tag.attributes.push((name, value));
        Some(())
    }

    fn skip_space(&mut self) -> Option<()> {
        while is_space(self.byte()?) {
            self.at += 1;
        }
        Some(())
    }

    /// Skips the content of a raw-text element.
    fn skip_raw_text(&mut self) {
        let name = self.tag.name;
        let Some(raw) = RAW_TEXT
            .into_iter()
            .find(|raw| raw.eq_ignore_ascii_case(name))
        else {
            return;
        };
        let mut at = self.at;
        let bytes = self.text.as_bytes();
        while let Some(length) = memchr::memmem::find(&bytes[at..], b"</") {
            at += length;
            let end = at + 2 + raw.len();
            let closes = bytes
                .get(at + 2..end)
                .is_some_and(|name| name.eq_ignore_ascii_case(raw.as_bytes()))
                && bytes
                    .get(end)
                    .is_some_and(|c| is_space(*c) || matches!(c, b'/' | b'>'));
            if closes {
                self.at = at;
                return;
            }
            at += 2;
        }
        self.at = self.text.len();
    }
}

/// The length of a comment, and of its closing mark.
fn comment_end(text: &str) -> (usize, usize) {
    let mut from = 0;
    while let Some(length) = text[from..].find("--") {
        let at = from + length;
        let rest = &text[at + 2..];
        if rest.starts_with('>') {
            return (at, 3);
        }
        if rest.starts_with("!>") {
            return (at, 4);
        }
        from = at + 1;
    }
    (text.len(), 0)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}

/// Decodes `&name;` and `&#number;`; in an attribute, both require a semicolon.
fn decode(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('&') else {
        return Cow::Borrowed(text);
    };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let decoded = rest
            .find(';')
            .and_then(|end| entity(&rest[..end + 1]).map(|decoded| (decoded, &rest[end + 1..])));
        match decoded {
            Some((decoded, behind)) => {
                out.extend(decoded.into_iter().flatten());
                rest = behind;
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// An entity without its `&`, but with its `;`.
fn entity(name: &str) -> Option<[Option<char>; 2]> {
    if let Some(digits) = name.strip_prefix('#') {
        return number(digits.strip_suffix(';')?).map(|c| [Some(c), None]);
    }
    let (first, second) = NAMED_ENTITIES.get(name)?;
    Some([
        char::from_u32(*first),
        char::from_u32(*second).filter(|c| *c != '\0'),
    ])
}

/// `65` or `x41`
pub(super) fn number(digits: &str) -> Option<char> {
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    code.ok().and_then(char::from_u32)
}
