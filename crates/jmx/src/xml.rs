//! Parses text into a flat arena of XML elements, by the rules of JMeter's parser (MXParser).
//!
//! That parser does not validate and differs from XML 1.0: it accepts control characters, raw or as references. JMeter stops
//! reading at the end of the plan's outer `<hashTree>`, so text after it causes no error.

use std::borrow::Cow;
use std::collections::HashSet;

use drumfire_platform::spelling::did_you_mean;
use memchr::memchr;
use quick_xml::Reader;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::Event;

use crate::source::Span;
use crate::xml_text::{decode_attribute, decode_cdata, decode_text};

/// How deep XML elements may be nested. Two levels make one level of JMeter's tree.
pub const MAX_DEPTH: usize = 512;

/// The root tag of a plan.
pub(crate) const PLAN_TAG: &str = "jmeterTestPlan";

/// Index of an element in the arena.
pub(crate) type NodeId = u32;

/// The largest file that is read, in bytes: element offsets are stored in 32 bits.
const MAX_BYTES: usize = u32::MAX as usize - 1;

/// An optional index into the arena in four bytes. A large plan has about 100,000 elements with five of them each.
#[derive(Clone, Copy)]
struct Link(u32);

impl Link {
    const NONE: Link = Link(u32::MAX);

    fn get(self) -> Option<NodeId> {
        (self.0 != u32::MAX).then_some(self.0)
    }
}

/// A span in half the size.
#[derive(Clone, Copy)]
struct ShortSpan {
    start: u32,
    end: u32,
}

impl ShortSpan {
    fn new(span: Span) -> ShortSpan {
        ShortSpan {
            start: short(span.start),
            end: short(span.end),
        }
    }

    fn get(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

fn short(offset: usize) -> u32 {
    u32::try_from(offset).expect("a larger file is refused")
}

pub(crate) struct XmlNode<'a> {
    /// The tag as written.
    pub name: &'a str,
    /// The text up to the first child, without comments, as XStream's `getValue` returns it.
    pub text: Cow<'a, str>,
    parent: Link,
    previous: Link,
    next: Link,
    first_child: Link,
    last_child: Link,
    attributes: std::ops::Range<u32>,
    tag: ShortSpan,
    /// 0 if reading stopped inside the element.
    end: u32,
    text_end: u32,
}

impl XmlNode<'_> {
    pub fn parent(&self) -> Option<NodeId> {
        self.parent.get()
    }

    /// The sibling before it.
    pub fn previous(&self) -> Option<NodeId> {
        self.previous.get()
    }

    /// The sibling behind it.
    pub fn next(&self) -> Option<NodeId> {
        self.next.get()
    }

    pub fn first_child(&self) -> Option<NodeId> {
        self.first_child.get()
    }

    /// The start tag.
    pub fn tag(&self) -> Span {
        self.tag.get()
    }

    /// Offset after the end tag; `None` if reading stopped inside the element.
    pub fn end(&self) -> Option<usize> {
        (self.end > 0).then_some(self.end as usize)
    }

    /// The whole element; the start tag only if its end was not found.
    pub fn span(&self) -> Span {
        let tag = self.tag();
        Span::new(tag.start, self.end().unwrap_or(tag.end))
    }

    /// The text, or the start tag if there is none.
    pub fn text_span(&self) -> Span {
        // Where the end tag or the first child starts; until one of them is seen, the end of the start tag.
        let (tag, end) = (self.tag(), self.text_end as usize);
        if end > tag.end {
            Span::new(tag.end, end)
        } else {
            tag
        }
    }
}

pub(crate) struct Attribute<'a> {
    pub name: &'a str,
    pub value: Cow<'a, str>,
    span: ShortSpan,
}

impl Attribute<'_> {
    pub fn span(&self) -> Span {
        self.span.get()
    }
}

/// A syntax error in the XML.
#[derive(Debug)]
pub(crate) struct XmlError {
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
    pub span: Span,
    /// The innermost element that was open.
    pub node: Option<NodeId>,
}

impl XmlError {
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        XmlError {
            code,
            message: message.into(),
            help: None,
            span,
            node: None,
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The elements of a file in the order of their start tags. The root is the first.
#[derive(Default)]
pub(crate) struct Document<'a> {
    nodes: Vec<XmlNode<'a>>,
    attributes: Vec<Attribute<'a>>,
    /// Why reading stopped, unless it reached the end of the plan.
    pub fault: Option<XmlError>,
    /// Positions of references to half a surrogate pair, which were replaced.
    pub lone_surrogates: Vec<Span>,
    /// Text after the plan that JMeter never reads.
    pub trailing: Option<Span>,
}

impl<'a> Document<'a> {
    pub fn root(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then_some(0)
    }

    pub fn node(&self, id: NodeId) -> &XmlNode<'a> {
        &self.nodes[id as usize]
    }

    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).first_child(), |&child| {
            self.node(child).next()
        })
    }

    pub fn attributes(&self, id: NodeId) -> &[Attribute<'a>] {
        let range = &self.node(id).attributes;
        &self.attributes[range.start as usize..range.end as usize]
    }

    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.attributes(id)
            .iter()
            .find(|a| a.name == name)
            .map(|a| &*a.value)
    }
}

/// Reads a file up to the end of the plan's outer `<hashTree>`, or up to the first syntax error. If the root is not a plan,
/// reading stops there.
pub(crate) fn parse(text: &str) -> Document<'_> {
    let mut parser = XmlParser {
        text,
        document: Document::default(),
        open: Vec::new(),
        run: None,
    };
    if let Err(mut fault) = parser.run() {
        fault.node = parser.open.last().copied();
        parser.document.fault = Some(fault);
    }
    parser.document
}

struct XmlParser<'a> {
    text: &'a str,
    document: Document<'a>,
    open: Vec<NodeId>,
    /// Text and references that were scanned but not yet decoded.
    run: Option<Span>,
}

/// Whether there is more to read.
enum Progress {
    More,
    Done,
}

impl<'a> XmlParser<'a> {
    fn run(&mut self) -> Result<(), XmlError> {
        if self.text.len() > MAX_BYTES {
            let start = Span::new(0, 0);
            return Err(
                XmlError::new("xml-size", start, "the file is larger than 4 GiB")
                    .help("split the plan: fragments can be joined by an Include Controller"),
            );
        }
        self.reserve();
        let mut reader = Reader::from_str(self.text);
        let config = reader.config_mut();
        config.allow_dangling_amp = true;
        config.allow_unmatched_ends = true;
        config.check_end_names = false;
        config.check_comments = true;
        loop {
            let start = offset(reader.buffer_position());
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = offset(reader.error_position());
                    return Err(self.syntax_fault(&error, at));
                }
            };
            let span = Span::new(start, offset(reader.buffer_position()));
            if let Progress::Done = self.event(event, span)? {
                return Ok(());
            }
        }
    }

    /// Reserves room for as many elements as there are start tags, and for their attributes. Growing in steps would leave up to
    /// half of the memory of a large plan unused. Reserved pages that are never written cost no memory.
    fn reserve(&mut self) {
        /// Plans have fewer attributes for each element.
        const ATTRIBUTES: usize = 4;
        let bytes = self.text.as_bytes();
        let tags = memchr::memchr_iter(b'<', bytes).count();
        let ends = memchr::memmem::find_iter(bytes, b"</").count();
        let elements = tags - ends;
        let attributes = memchr::memmem::find_iter(bytes, b"=\"").count();
        self.document.nodes.reserve_exact(elements);
        let attributes = attributes.min(elements * ATTRIBUTES);
        self.document.attributes.reserve_exact(attributes);
    }

    fn event(&mut self, event: Event<'a>, span: Span) -> Result<Progress, XmlError> {
        match event {
            Event::Text(_) | Event::GeneralRef(_) => {
                let start = self.run.map(|run| run.start).unwrap_or(span.start);
                self.run = Some(Span::new(start, span.end));
                return Ok(Progress::More);
            }
            Event::Comment(_) | Event::PI(_) => {
                self.flush_text()?;
                return Ok(Progress::More);
            }
            _ => self.flush_text()?,
        }
        match event {
            Event::Start(_) => {
                self.start(span, false)?;
                Ok(self.progress_after_start())
            }
            Event::Empty(_) => {
                self.start(span, true)?;
                if let Progress::Done = self.progress_after_start() {
                    return Ok(Progress::Done);
                }
                Ok(self.close(span.end, span.end))
            }
            Event::End(_) => self.end(span),
            Event::CData(_) => self.cdata(span),
            Event::Decl(declaration) => self.declaration(&declaration, span),
            Event::DocType(_) => Err(doctype(span)),
            Event::Eof => Err(self.unexpected_end()),
            Event::Text(_) | Event::GeneralRef(_) | Event::Comment(_) | Event::PI(_) => {
                Ok(Progress::More)
            }
        }
    }

    /// Stops after the root if it is not a plan.
    fn progress_after_start(&self) -> Progress {
        let root = &self.document.nodes[0];
        if self.document.nodes.len() == 1 && root.name != PLAN_TAG {
            Progress::Done
        } else {
            Progress::More
        }
    }

    fn declaration(
        &self,
        declaration: &quick_xml::events::BytesDecl<'_>,
        span: Span,
    ) -> Result<Progress, XmlError> {
        if span.start != 0 {
            return Err(XmlError::new(
                "xml-late-declaration",
                span,
                "the XML declaration is not the first thing in the file",
            )
            .help("remove what is before <?xml, blanks and empty lines too"));
        }
        match declaration.version().as_deref() {
            Ok("1.0" | "1.1") => Ok(Progress::More),
            Ok(version) => Err(XmlError::new(
                "xml-version",
                span,
                format!("XML version {version} does not exist"),
            )
            .help("write version=\"1.0\"")),
            Err(_) => Err(
                XmlError::new("xml-version", span, "the XML declaration has no version")
                    .help("start the file with <?xml version=\"1.0\" encoding=\"UTF-8\"?>"),
            ),
        }
    }

    fn start(&mut self, span: Span, empty: bool) -> Result<(), XmlError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(XmlError::new(
                "xml-depth",
                span,
                format!("elements are nested more than {MAX_DEPTH} deep"),
            )
            .help("no plan needs this; the file was probably not written by JMeter"));
        }
        let inner_end = span.end - if empty { 2 } else { 1 };
        let inner = &self.text[span.start + 1..inner_end];
        let name_length = position(inner, is_blank_byte).unwrap_or(inner.len());
        let name = &inner[..name_length];
        check_name(name, span)?;
        let first = self.document.attributes.len();
        self.attributes(span.start + 1 + name_length, inner_end)?;
        // The index fits, because an element takes at least three bytes.
        let id = short(self.document.nodes.len());
        let parent = self.open.last().copied();
        let mut node = XmlNode {
            name,
            text: Cow::Borrowed(""),
            parent: parent.map(Link).unwrap_or(Link::NONE),
            previous: Link::NONE,
            next: Link::NONE,
            first_child: Link::NONE,
            last_child: Link::NONE,
            attributes: short(first)..short(self.document.attributes.len()),
            tag: ShortSpan::new(span),
            end: 0,
            text_end: short(span.end),
        };
        if let Some(parent) = parent {
            let parent = &mut self.document.nodes[parent as usize];
            node.previous = std::mem::replace(&mut parent.last_child, Link(id));
            match node.previous() {
                Some(previous) => self.document.nodes[previous as usize].next = Link(id),
                None => {
                    parent.first_child = Link(id);
                    parent.text_end = short(span.start);
                }
            }
        }
        self.document.nodes.push(node);
        self.open.push(id);
        Ok(())
    }

    /// Reads the attributes of a start tag between two offsets.
    fn attributes(&mut self, mut at: usize, end: usize) -> Result<(), XmlError> {
        /// From this number on, names are compared by hash: a hostile tag may have a million attributes.
        const FEW: usize = 16;
        let first = self.document.attributes.len();
        let mut names: HashSet<&str> = HashSet::new();
        while let Some(attribute) =
            next_attribute(self.text, &mut at, end, &mut self.document.lone_surrogates)?
        {
            let earlier = &self.document.attributes[first..];
            let repeated = if earlier.len() < FEW {
                earlier.iter().any(|a| a.name == attribute.name)
            } else {
                if names.is_empty() {
                    names.extend(earlier.iter().map(|a| a.name));
                }
                !names.insert(attribute.name)
            };
            if repeated {
                let message = format!("the attribute {} appears twice", attribute.name);
                return Err(
                    XmlError::new("xml-duplicate-attribute", attribute.span(), message)
                        .help("remove one of them"),
                );
            }
            self.document.attributes.push(attribute);
        }
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<Progress, XmlError> {
        let name = self.text[span.start + 2..span.end - 1].trim_end_matches(is_blank);
        match self.open.last() {
            Some(&top) if self.document.node(top).name == name => {
                Ok(self.close(span.start, span.end))
            }
            _ => Err(self.mismatch(name, span)),
        }
    }

    /// Closes the innermost element. The plan ends when the outer `<hashTree>` is closed.
    fn close(&mut self, text_end: usize, end: usize) -> Progress {
        if let Some(id) = self.open.pop() {
            let node = &mut self.document.nodes[id as usize];
            node.end = short(end);
            if node.first_child().is_none() {
                node.text_end = short(text_end);
            }
        }
        if self.open.len() > 1 {
            return Progress::More;
        }
        let rest = &self.text[end..];
        let expected = rest
            .trim()
            .strip_prefix("</")
            .and_then(|rest| rest.strip_suffix('>'));
        let closed = self.open.is_empty() && rest.trim().is_empty();
        if !closed && expected.map(str::trim_end) != Some(PLAN_TAG) {
            self.document.trailing = Some(Span::new(end, self.text.len()));
        }
        Progress::Done
    }

    fn mismatch(&self, name: &str, span: Span) -> XmlError {
        let Some(&top) = self.open.last() else {
            return XmlError::new(
                "xml-stray-end-tag",
                span,
                format!("</{name}> closes nothing"),
            )
            .help("remove it, or add the start tag that is missing");
        };
        let open = self.document.node(top);
        if self
            .open
            .iter()
            .any(|&id| self.document.node(id).name == name)
        {
            return XmlError::new(
                "xml-unclosed-tag",
                open.tag(),
                format!("<{}> is not closed before </{name}>", open.name),
            )
            .help(format!("write </{}> where the element ends", open.name));
        }
        let message = format!("</{name}> does not match the open tag <{}>", open.name);
        if did_you_mean(name, [open.name]).is_some() {
            let help = format!("did you mean </{}>?", open.name);
            return XmlError::new("xml-mismatched-tag", span, message).help(help);
        }
        let help = format!("remove it, or put back the <{name}> that is missing before it");
        XmlError::new("xml-stray-end-tag", span, message).help(help)
    }

    fn cdata(&mut self, span: Span) -> Result<Progress, XmlError> {
        let content = Span::new(span.start + "<![CDATA[".len(), span.end - "]]>".len());
        if self.open.is_empty() {
            return Err(outside_root(span));
        }
        self.append(decode_cdata(&self.text[content.start..content.end]));
        Ok(Progress::More)
    }

    fn flush_text(&mut self) -> Result<(), XmlError> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        let raw = &self.text[run.start..run.end];
        if self.open.is_empty() {
            return if raw.chars().all(is_blank) {
                Ok(())
            } else {
                Err(outside_root(trimmed(raw, run)))
            };
        }
        let decoded = decode_text(raw, run.start, &mut self.document.lone_surrogates)?;
        self.append(decoded);
        Ok(())
    }

    /// Adds to the text of the innermost element, unless it already has a child: JMeter never reads the rest.
    fn append(&mut self, more: Cow<'a, str>) {
        let Some(&top) = self.open.last() else {
            return;
        };
        let node = &mut self.document.nodes[top as usize];
        if node.first_child().is_some() {
            return;
        }
        if node.text.is_empty() {
            node.text = more;
        } else {
            node.text.to_mut().push_str(&more);
        }
    }

    fn unexpected_end(&self) -> XmlError {
        let end = Span::new(self.text.len(), self.text.len());
        let Some(&top) = self.open.last() else {
            return XmlError::new("jmx-empty", end, "the file holds no XML element")
                .help(crate::sniff::SAVE_AGAIN);
        };
        let node = self.document.node(top);
        truncated(node.tag(), format!("the file ends inside <{}>", node.name))
    }

    fn syntax_fault(&self, error: &quick_xml::Error, at: usize) -> XmlError {
        let rest = Span::new(at.min(self.text.len()), (at + 1).min(self.text.len()));
        match error {
            quick_xml::Error::Syntax(kind) => match kind {
                SyntaxError::UnclosedComment => truncated(rest, "a comment <!-- has no end -->"),
                SyntaxError::UnclosedCData => truncated(rest, "a <![CDATA[ section has no end ]]>"),
                SyntaxError::UnclosedDoctype => doctype(rest),
                SyntaxError::UnclosedPI | SyntaxError::UnclosedXmlDecl => {
                    truncated(rest, "a <? has no end ?>")
                }
                SyntaxError::UnclosedSingleQuotedAttributeValue
                | SyntaxError::UnclosedDoubleQuotedAttributeValue => XmlError::new(
                    "xml-unclosed-quote",
                    rest,
                    "the value of an attribute in this tag has no closing quote",
                )
                .help("add the quote"),
                SyntaxError::UnclosedTag => truncated(rest, "a tag has no closing >"),
                SyntaxError::InvalidBangMarkup => XmlError::new(
                    "xml-syntax",
                    rest,
                    "<! starts neither a comment nor a CDATA section",
                )
                .help("write &lt; for a < that is text"),
            },
            quick_xml::Error::IllFormed(IllFormedError::DoubleHyphenInComment) => {
                XmlError::new("xml-comment", rest, "a comment holds --, which XML forbids")
                    .help("remove one of the hyphens")
            }
            quick_xml::Error::IllFormed(IllFormedError::MissingDoctypeName) => doctype(rest),
            other => XmlError::new("xml-syntax", rest, format!("this is not XML: {other}")),
        }
    }
}

fn offset(position: u64) -> usize {
    usize::try_from(position).expect("an offset into a string in memory fits")
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn truncated(span: Span, message: impl Into<String>) -> XmlError {
    XmlError::new("xml-truncated", span, message)
        .help("the file was probably cut off: copy it again, or add what is missing at its end")
}

fn doctype(span: Span) -> XmlError {
    XmlError::new(
        "xml-doctype",
        span,
        "Drumfire refuses a document type definition (DOCTYPE)",
    )
    .help("remove it: JMeter writes none, and its entities could pull other files into the plan")
}

fn outside_root(span: Span) -> XmlError {
    XmlError::new(
        "xml-text-outside",
        span,
        "there is text before the first tag",
    )
    .help("a plan starts with <?xml or <jmeterTestPlan; remove what is before it")
}

/// The span of a text without the blanks around it.
fn trimmed(raw: &str, span: Span) -> Span {
    let start = span.end - raw.trim_start_matches(is_blank).len();
    let end = span.start + raw.trim_end_matches(is_blank).len();
    Span::new(start, end)
}

/// [`is_blank`] for a byte. Bytes of multi-byte characters are not blank.
fn is_blank_byte(byte: u8) -> bool {
    is_blank(char::from(byte))
}

/// The offset of the first byte that satisfies a predicate.
fn position(text: &str, is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    text.bytes().position(is_wanted)
}

fn is_name(name: &str) -> bool {
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(plain) {
        return true;
    }
    let good_start = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | ':'));
    good_start && name.chars().all(good)
}

/// Most names are ASCII and need no tables.
fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn good(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{b7}')
}

fn check_name(name: &str, tag: Span) -> Result<(), XmlError> {
    if is_name(name) {
        return Ok(());
    }
    let span = Span::new(tag.start, tag.start + 1 + name.len());
    Err(XmlError::new(
        "xml-bad-name",
        span,
        "< is not followed by the name of a tag",
    )
    .help("write &lt; for a < that is text"))
}

/// The attribute at or after `at`, which is moved past it; `None` at the end of the tag.
fn next_attribute<'a>(
    text: &'a str,
    at: &mut usize,
    end: usize,
    lone_surrogates: &mut Vec<Span>,
) -> Result<Option<Attribute<'a>>, XmlError> {
    let blanks = |from: usize| position(&text[from..end], |byte| !is_blank_byte(byte));
    let Some(start) = blanks(*at).map(|blanks| *at + blanks) else {
        return Ok(None);
    };
    let rest = &text[start..end];
    let name_length =
        position(rest, |byte| is_blank_byte(byte) || byte == b'=').unwrap_or(rest.len());
    let name = &rest[..name_length];
    let after_name = rest[name_length..].trim_start_matches(is_blank);
    let name_span = Span::new(start, start + name_length);
    if !is_name(name) {
        let message = format!("{name:?} cannot be the name of an attribute");
        return Err(XmlError::new("xml-attribute-name", name_span, message)
            .help("write name=\"…\", or remove it"));
    }
    let Some(value) = after_name.strip_prefix('=') else {
        let message = format!("the attribute {name} has no value");
        return Err(XmlError::new("xml-attribute-value", name_span, message)
            .help(format!("write {name}=\"…\"")));
    };
    let value = value.trim_start_matches(is_blank);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else {
        let message = format!("the value of the attribute {name} is not in quotes");
        return Err(XmlError::new("xml-attribute-quotes", name_span, message)
            .help(format!("write {name}=\"…\"")));
    };
    let value_start = end - value.len() + 1;
    let behind = &text.as_bytes()[value_start..end];
    let length = memchr(quote as u8, behind).ok_or_else(|| {
        let message = format!("the value of the attribute {name} has no closing quote");
        XmlError::new("xml-unclosed-quote", name_span, message).help("add the quote")
    })?;
    let raw = &text[value_start..value_start + length];
    *at = value_start + length + 1;
    let span = Span::new(start, *at);
    if let Some(bracket) = memchr(b'<', raw.as_bytes()) {
        let bracket_span = Span::new(value_start + bracket, value_start + bracket + 1);
        let message = format!("< in the value of the attribute {name}");
        return Err(
            XmlError::new("xml-attribute-bracket", bracket_span, message)
                .help("write &lt;, or add the closing quote if that is what is missing"),
        );
    }
    let value = decode_attribute(raw, value_start, lone_surrogates)?;
    Ok(Some(Attribute {
        name,
        value,
        span: ShortSpan::new(span),
    }))
}
