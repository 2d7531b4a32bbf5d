//! A fast one-pass parser for well-behaved pages. It gives up if a full tokenizer and tree builder are needed: for elements
//! that move in the tree (misnested formatting, text between the rows of a table), formulas, HTML within pictures,
//! templates, frames, and broken tags. Then html5ever parses the page.

use std::borrow::Cow;

use super::insert::Open;
use super::references::Characters;
use super::tags::{self, Tag};
use super::{Attribute, HtmlNodeKind, NONE, NodeData, Page, TextSpan};
use crate::bytes::first_of;

/// The insertion mode: which part of a page the next token belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    AfterBody,
    AfterAfterBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
}

/// Whether the page is in quirks mode, if already known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quirks {
    Yes,
    No,
    Unknown,
}

/// A start or end tag.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) tag: Tag,
    pub(super) sets: u16,
    pub(super) name: TextSpan,
    pub(super) attributes: TextSpan,
    /// Whether a slash precedes the end of the tag.
    pub(super) is_closed: bool,
}

pub(super) struct Builder<'h> {
    /// The page being parsed.
    pub(super) html: &'h str,
    pub(super) at: usize,
    pub(super) page: Page,
    pub(super) mode: Mode,
    pub(super) quirks: Quirks,
    pub(super) open: Vec<Open>,
    /// Number of the innermost open elements that belong to a picture.
    pub(super) foreign: usize,
    /// Number of open paragraphs.
    pub(super) paragraphs: usize,
    /// The open formatting elements, and markers.
    pub(super) formatting: Vec<Option<(Tag, u32)>>,
    pub(super) form: Option<u32>,
    /// The latest reference that was looked up: its name including the semicolon, and its characters.
    pub(super) reference: Option<(TextSpan, Characters)>,
    /// Comments after the body, and whether they also follow the end of `html`.
    pub(super) late_comments: Vec<(TextSpan, bool)>,
}

/// Parses the page; `None` if it is not well-behaved.
pub(super) fn parse(html: &str) -> Option<Page> {
    let html = html.strip_prefix('\u{FEFF}').unwrap_or(html);
    if memchr::memchr(0, html.as_bytes()).is_some() {
        return None;
    }
    let html = match memchr::memchr(b'\r', html.as_bytes()) {
        Some(_) => Cow::Owned(html.replace("\r\n", "\n").replace('\r', "\n")),
        None => Cow::Borrowed(html),
    };
    let mut text = String::with_capacity(html.len() + html.len() / 8 + 64);
    text.push_str(&html);
    let mut builder = Builder {
        html: &html,
        at: 0,
        page: Page {
            text,
            nodes: Vec::with_capacity(html.len() / 16 + 8),
            attributes: Vec::with_capacity(html.len() / 32),
        },
        mode: Mode::Initial,
        quirks: Quirks::Unknown,
        open: Vec::with_capacity(32),
        foreign: 0,
        paragraphs: 0,
        formatting: Vec::new(),
        form: None,
        reference: None,
        late_comments: Vec::new(),
    };
    builder.page.nodes.push(NodeData {
        kind: HtmlNodeKind::Document,
        parent: NONE,
        previous: NONE,
        end: 0,
        text: TextSpan::default(),
        attributes: TextSpan::default(),
    });
    builder.open.push(Open::document());
    builder.run()?;
    Some(builder.page)
}

impl Builder<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'<', Some(next)) if next.is_ascii_alphabetic() => self.start_tag()?,
                (b'<', Some(b'/')) => self.end_tag()?,
                (b'<', Some(b'!')) => self.declaration()?,
                (b'<', Some(b'?')) => return None,
                _ => self.text()?,
            }
        }
        self.finish()
    }

    /// The byte at this offset from the current position.
    #[inline]
    pub(super) fn byte(&self, offset: usize) -> Option<u8> {
        self.html.as_bytes().get(self.at + offset).copied()
    }

    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.html.as_bytes()[self.at..]
    }

    /// Reads a name up to white space, a slash or the end of the tag, in lower case.
    fn name(&mut self) -> Option<(TextSpan, Tag, u16)> {
        let name = self.name_in_lower_case(false)?;
        let (tag, sets) = tags::find(self.page.text[name.range()].as_bytes());
        Some((name, tag, sets))
    }

    /// Reads the name of a tag or an attribute; only ASCII capitals are converted to lower case.
    #[inline]
    pub(super) fn name_in_lower_case(&mut self, is_attribute: bool) -> Option<TextSpan> {
        let (length, has_capitals) = tags::name_length(self.rest(), is_attribute)?;
        let name = TextSpan::new(self.at, self.at + length);
        self.at += length;
        Some(if has_capitals {
            self.keep(&self.html[name.range()].to_ascii_lowercase())
        } else {
            name
        })
    }

    /// Stores a text that is not in the page.
    pub(super) fn keep(&mut self, text: &str) -> TextSpan {
        let start = self.page.text.len();
        self.page.text.push_str(text);
        TextSpan::new(start, self.page.text.len())
    }

    fn start_tag(&mut self) -> Option<()> {
        self.at += 1;
        let (name, tag, sets) = self.name()?;
        let first = self.page.attributes.len();
        let is_closed = self.attributes()?;
        let token = Token {
            tag,
            sets,
            name,
            attributes: TextSpan::new(first, self.page.attributes.len()),
            is_closed,
        };
        match self.foreign {
            0 => self.start(token),
            _ => self.start_foreign(token),
        }
    }

    fn end_tag(&mut self) -> Option<()> {
        self.at += 2;
        if !self.byte(0)?.is_ascii_alphabetic() {
            return None;
        }
        let (name, tag, sets) = self.name()?;
        let first = self.page.attributes.len();
        self.attributes()?;
        self.page.attributes.truncate(first);
        let token = Token {
            tag,
            sets,
            name,
            attributes: TextSpan::new(first, first),
            is_closed: false,
        };
        if self.foreign > 0 && self.end_foreign(token)? {
            return Some(());
        }
        self.end(token)
    }

    /// Parses a comment or a document type.
    fn declaration(&mut self) -> Option<()> {
        if self.rest().starts_with(b"<!--") {
            let inside = &self.html[self.at + 4..];
            let end = memchr::memmem::find(inside.as_bytes(), b"-->")?;
            let text = &inside[..end];
            // Irregular ends of comments are left to the other parser.
            if text.starts_with('>') || text.starts_with("->") || text.contains("--!>") {
                return None;
            }
            let span = TextSpan::new(self.at + 4, self.at + 4 + end);
            self.at = span.range().end + 3;
            self.comment(span);
            return Some(());
        }
        let start = self.rest().get(2..9)?;
        if !start.eq_ignore_ascii_case(b"doctype") {
            return None;
        }
        let length = memchr::memchr(b'>', self.rest())?;
        let inside = &self.html[self.at + 9..self.at + length];
        self.at += length + 1;
        if self.mode == Mode::Initial {
            let plain = inside.trim_matches([' ', '\n', '\t', '\x0C']);
            self.quirks = if plain.eq_ignore_ascii_case("html") {
                Quirks::No
            } else {
                Quirks::Unknown
            };
            self.mode = Mode::BeforeHtml;
        }
        Some(())
    }

    /// Parses text up to the next tag or comment.
    fn text(&mut self) -> Option<()> {
        let start = self.at;
        let mut from = start;
        let mut decoded: Option<usize> = None;
        loop {
            let bytes = self.html.as_bytes();
            let Some(length) = first_of(&bytes[self.at..], b'<', b'&') else {
                self.at = bytes.len();
                break;
            };
            self.at += length;
            if bytes[self.at] == b'<' {
                match self.byte(1) {
                    Some(next) if next.is_ascii_alphabetic() => break,
                    Some(b'/' | b'!' | b'?') => break,
                    _ => self.at += 1,
                }
                continue;
            }
            let before = self.at;
            let Some(characters) = self.reference(false)? else {
                continue;
            };
            decoded.get_or_insert(self.page.text.len());
            self.page.text.push_str(&self.html[from..before]);
            characters.push_to(&mut self.page.text);
            from = self.at;
        }
        let span = match decoded {
            Some(first) => {
                self.page.text.push_str(&self.html[from..self.at]);
                TextSpan::new(first, self.page.text.len())
            }
            None => TextSpan::new(start, self.at),
        };
        if self.foreign > 0 {
            self.append(span);
            return Some(());
        }
        self.characters(span)
    }

    /// Reads the text up to the end tag of this name, and the end tag. The text is unchanged, except that `references`
    /// decodes its references.
    pub(super) fn raw(&mut self, token: Token, references: bool) -> Option<()> {
        let name = &self.page.text[token.name.range()];
        let mut from = self.at;
        let end = loop {
            let end_tag = from + memchr::memmem::find(&self.html.as_bytes()[from..], b"</")?;
            let behind = self
                .html
                .as_bytes()
                .get(end_tag + 2..end_tag + 2 + name.len())?;
            let after = self.html.as_bytes().get(end_tag + 2 + name.len())?;
            if behind.eq_ignore_ascii_case(name.as_bytes())
                && matches!(after, b' ' | b'\n' | b'\t' | b'\x0C' | b'/' | b'>')
            {
                break end_tag;
            }
            from = end_tag + 2;
        };
        let inside = &self.html[self.at..end];
        // In a script with a comment, the first end tag may not be the script's end.
        if token.tag == Tag::Script
            && inside.contains("<!--")
            && inside.to_ascii_lowercase().contains("<script")
        {
            return None;
        }
        let closing = end + 2 + name.len();
        self.insert(token);
        let span = if references && inside.contains('&') {
            self.decoded(end)?
        } else {
            TextSpan::new(self.at, end)
        };
        self.append(span);
        self.at = closing;
        let first = self.page.attributes.len();
        self.attributes()?;
        self.page.attributes.truncate(first);
        self.pop();
        Some(())
    }

    /// Decodes references in the text up to `end`.
    fn decoded(&mut self, end: usize) -> Option<TextSpan> {
        let start = self.page.text.len();
        while self.at < end {
            let rest = &self.html.as_bytes()[self.at..end];
            let plain = memchr::memchr(b'&', rest).unwrap_or(rest.len());
            self.page
                .text
                .push_str(&self.html[self.at..self.at + plain]);
            self.at += plain;
            if self.at < end {
                match self.reference(false)? {
                    Some(characters) => characters.push_to(&mut self.page.text),
                    None => self.page.text.push('&'),
                }
            }
        }
        Some(TextSpan::new(start, self.page.text.len()))
    }

    /// Adds an attribute, unless the tag already has one with this name.
    pub(super) fn add_attribute(&mut self, first: usize, name: TextSpan, value: TextSpan) {
        let text = &self.page.text;
        let earlier = &self.page.attributes[first..];
        let is_known = earlier
            .iter()
            .any(|attribute| text[attribute.name.range()] == text[name.range()]);
        if !is_known {
            self.page.attributes.push(Attribute { name, value });
        }
    }
}
