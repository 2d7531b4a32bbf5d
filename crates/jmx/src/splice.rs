//! Changes to a plan's file that move no other byte: line ends, comments, attributes and the encoding stay as they are.
//!
//! A [`Splice`] replaces a range of the file's text. [`set_value`], [`set_attribute`] and [`add_property`] make splices for
//! one property of one element; [`spliced`] applies them to the bytes of the file.

use drumfire_java::charset::Charset;
use drumfire_java::url_coding::append_url_encoded;

use crate::sniff::{Encoding, MARK};
use crate::source::Span;
use crate::tree::{Prop, Props, Tree, Value};
use crate::xml_writer::escape;

/// A range of a text and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Byte offsets in the decoded text of the file.
    pub span: Span,
    /// The new text, as XML.
    pub text: String,
}

impl Splice {
    /// A replacement of the bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize, text: impl Into<String>) -> Splice {
        Splice {
            span: Span::new(start, end),
            text: text.into(),
        }
    }
}

/// The splices in the order of the text. Duplicates, and splices that overlap an earlier one, are left out.
fn ordered(splices: &[Splice]) -> Vec<&Splice> {
    let mut ordered: Vec<&Splice> = splices.iter().collect();
    ordered.sort_by_key(|splice| (splice.span.start, splice.span.end));
    ordered.dedup();
    let mut from = 0;
    ordered.retain(|splice| {
        let is_free = splice.span.start >= from;
        if is_free {
            from = splice.span.end;
        }
        is_free
    });
    ordered
}

/// The text after all splices.
pub fn spliced_text(source: &str, splices: &[Splice]) -> String {
    let mut text = String::with_capacity(source.len());
    let mut from = 0;
    for splice in ordered(splices) {
        text.push_str(&source[from..splice.span.start]);
        text.push_str(&splice.text);
        from = splice.span.end;
    }
    text.push_str(&source[from..]);
    text
}

/// The bytes of a plan's file after all splices, whose spans refer to the text that [`crate::read`] decodes. The byte order
/// mark, the encoding, and bytes that are no text stay.
pub fn spliced(bytes: &[u8], splices: &[Splice]) -> Vec<u8> {
    let encoding = Encoding::of(bytes);
    let mut out = Vec::with_capacity(bytes.len());
    let mut cursor = Cursor::new(bytes, encoding);
    let mut from = 0;
    for splice in ordered(splices) {
        let start = cursor.byte_of(splice.span.start);
        let end = cursor.byte_of(splice.span.end);
        out.extend_from_slice(&bytes[from..start]);
        encoding.append(&splice.text, &mut out);
        from = end;
    }
    out.extend_from_slice(&bytes[from..]);
    out
}

/// Finds the bytes of increasing offsets in the decoded text.
struct Cursor<'b> {
    bytes: &'b [u8],
    encoding: Encoding,
    in_bytes: usize,
    in_text: usize,
}

impl<'b> Cursor<'b> {
    fn new(bytes: &'b [u8], encoding: Encoding) -> Cursor<'b> {
        let mark = match encoding {
            Encoding::Utf8 if bytes.starts_with(MARK) => MARK.len(),
            Encoding::Utf16 { .. } if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) => 2,
            _ => 0,
        };
        Cursor {
            bytes,
            encoding,
            in_bytes: mark,
            in_text: 0,
        }
    }

    fn byte_of(&mut self, offset: usize) -> usize {
        while self.in_text < offset && self.in_bytes < self.bytes.len() {
            let rest = &self.bytes[self.in_bytes..];
            let (bytes, text) = self.encoding.step(rest, offset - self.in_text);
            self.in_bytes += bytes;
            self.in_text += text;
        }
        self.in_bytes
    }
}

impl Encoding {
    /// How many bytes to advance, and how much text they are: not beyond `wanted` bytes of text.
    fn step(self, rest: &[u8], wanted: usize) -> (usize, usize) {
        let Encoding::Utf16 { is_little } = self else {
            let Some(chunk) = rest.utf8_chunks().next() else {
                return (rest.len(), wanted);
            };
            return match chunk.valid().len() {
                0 => (
                    chunk.invalid().len(),
                    char::REPLACEMENT_CHARACTER.len_utf8(),
                ),
                valid => (valid.min(wanted), valid.min(wanted)),
            };
        };
        let units = rest.chunks_exact(2).map(|pair| {
            if is_little {
                u16::from_le_bytes([pair[0], pair[1]])
            } else {
                u16::from_be_bytes([pair[0], pair[1]])
            }
        });
        match char::decode_utf16(units).next() {
            Some(Ok(sign)) => (2 * sign.len_utf16(), sign.len_utf8()),
            Some(Err(_)) => (2, char::REPLACEMENT_CHARACTER.len_utf8()),
            None => (rest.len(), wanted),
        }
    }

    fn append(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Encoding::Utf8 => out.extend_from_slice(text.as_bytes()),
            Encoding::Utf16 { is_little: true } => {
                out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            }
            Encoding::Utf16 { is_little: false } => {
                out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
            }
        }
    }
}

/// A text escaped for XML as JMeter writes it.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, false, &mut out);
    out
}

/// The splices that give a property a value. Its tag changes only if the value is of another kind, as when a number becomes
/// a text with a variable.
pub fn set_value(tree: &Tree, prop: &Prop, value: &Value) -> Vec<Splice> {
    let source = tree.source.text.as_str();
    let text = value.as_str();
    let keeps_kind = std::mem::discriminant(&prop.value) == std::mem::discriminant(value);
    // XStream writes some numbers field by field: `<doubleProp><name>…</name><value>…</value></doubleProp>`.
    let field = content_span(source, prop.span)
        .and_then(|content| Some((content, field_span(source, content, "value")?)))
        .filter(|_| matches!(prop.value, Value::Float(_) | Value::Double(_)));
    if let Some((_, field)) = field {
        return if keeps_kind {
            vec![Splice::new(field.start, field.end, written(tree, &text))]
        } else {
            let property = property_xml(tree, &Prop::new(&prop.name, text.as_ref()));
            vec![Splice::new(prop.span.start, prop.span.end, property)]
        };
    }
    let mut splices = Vec::new();
    let tag_start = prop.span.start + 1;
    let tag = tag_name(source, prop.span);
    let new_tag = if keeps_kind { tag } else { "stringProp" };
    if new_tag != tag {
        splices.push(Splice::new(tag_start, tag_start + tag.len(), new_tag));
    }
    match content_span(source, prop.span) {
        Some(content) => {
            splices.push(content_splice(tree, content, &text));
            if new_tag != tag {
                let end = content.end + "</".len();
                splices.push(Splice::new(end, end + tag.len(), new_tag));
            }
        }
        None => splices.extend(opened(source, prop.span, &written(tree, &text), new_tag)),
    }
    splices
}

/// The splice that replaces the text between two tags. A CDATA section stays one.
fn content_splice(tree: &Tree, content: Span, text: &str) -> Splice {
    const OPEN: &str = "<![CDATA[";
    const CLOSE: &str = "]]>";
    let old = &tree.source.text[content.start..content.end];
    let is_section = old.starts_with(OPEN) && old.find(CLOSE) == old.len().checked_sub(CLOSE.len());
    if is_section && !text.contains(CLOSE) && text.chars().all(fits) && tree.version != "1.0" {
        return Splice::new(
            content.start + OPEN.len(),
            content.end - CLOSE.len(),
            text.replace('\n', line_end(&tree.source.text)),
        );
    }
    Splice::new(content.start, content.end, written(tree, text))
}

fn fits(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\t')
}

/// The splice that opens an empty tag for a content; `None` without a content.
fn opened(source: &str, span: Span, content: &str, tag: &str) -> Option<Splice> {
    if content.is_empty() {
        return None;
    }
    let start = span.start + source[span.start..span.end].rfind("/>")?;
    Some(Splice::new(start, span.end, format!(">{content}</{tag}>")))
}

/// The splice that sets an attribute of a start tag, which gets it if it has none.
pub fn set_attribute(tree: &Tree, tag: Span, name: &str, value: &str) -> Splice {
    let source = tree.source.text.as_str();
    let mut text = String::new();
    escape(&encoded(tree, value), true, &mut text);
    match attribute_span(source, tag, name) {
        Some(span) => {
            // JMeter writes quotes as references, so either quote may enclose the value.
            Splice::new(span.start, span.end, text)
        }
        None => {
            let inside = source[tag.start..tag.end].trim_end_matches('>');
            let end = tag.start + inside.trim_end_matches('/').trim_end().len();
            Splice::new(end, end, format!(" {name}=\"{text}\""))
        }
    }
}

/// The splice that adds a property to an element: `whole` is the element, from its start tag to its end tag, and `props` are
/// its properties. The new one follows the last of them and is indented like it.
pub fn add_property(tree: &Tree, whole: Span, props: &Props, new: &Prop) -> Option<Splice> {
    add_xml(tree, whole, props, &|_| property_xml(tree, new))
}

/// The splice that adds a property as XML, as [`add_property`] does. `xml` gets the line end and the indentation before the new
/// property.
pub fn add_xml(
    tree: &Tree,
    whole: Span,
    props: &Props,
    xml: &dyn Fn(&str) -> String,
) -> Option<Splice> {
    let source = tree.source.text.as_str();
    let is_inside = |span: Span| span.start > whole.start && span.end < whole.end;
    let last = props
        .iter()
        .map(|prop| prop.span)
        .filter(|span| is_inside(*span));
    if let Some(last) = last.max_by_key(|span| span.end) {
        let before = blanks_before(source, last.start);
        return Some(Splice::new(
            last.end,
            last.end,
            format!("{before}{}", xml(before)),
        ));
    }
    let outer = blanks_before(source, whole.start);
    let inner = if outer.is_empty() {
        String::new()
    } else {
        format!("{outer}  ")
    };
    let property = xml(&inner);
    match content_span(source, whole) {
        Some(content) => {
            let old = &source[content.start..content.end];
            let end = content.start + old.trim_end().len();
            Some(Splice::new(
                end,
                content.end,
                format!("{inner}{property}{outer}"),
            ))
        }
        None => {
            let tag = tag_name(source, whole);
            opened(source, whole, &format!("{inner}{property}{outer}"), tag)
        }
    }
}

/// A property with a simple value as XML.
fn property_xml(tree: &Tree, prop: &Prop) -> String {
    let tag = match prop.value {
        Value::Bool(_) => "boolProp",
        Value::Int(_) => "intProp",
        Value::Long(_) => "longProp",
        _ => "stringProp",
    };
    let mut name = String::new();
    escape(&prop.name, true, &mut name);
    let text = written(tree, &prop.value.as_str());
    format!("<{tag} name=\"{name}\">{text}</{tag}>")
}

/// A text as this file writes it.
pub fn written(tree: &Tree, text: &str) -> String {
    let escaped = escaped(&encoded(tree, text));
    match line_end(&tree.source.text) {
        "\n" => escaped,
        end => escaped.replace('\n', end),
    }
}

/// Texts of plans of version 1.0 are URL-encoded.
fn encoded(tree: &Tree, text: &str) -> String {
    if tree.version != "1.0" {
        return text.to_owned();
    }
    let mut out = String::new();
    let charset = Charset::find("UTF-8").expect("Java has UTF-8");
    append_url_encoded(text, &charset, &mut out);
    out
}

/// The line end of a file: that of its first line.
pub fn line_end(source: &str) -> &'static str {
    match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The line end and the blanks directly before a tag.
pub fn blanks_before(source: &str, at: usize) -> &str {
    let before = &source[..at];
    let blanks = &before[before.trim_end().len()..];
    // An empty line above is not part of the indentation.
    let start = blanks.rfind('\n').unwrap_or(0);
    let start = start - usize::from(blanks[..start].ends_with('\r'));
    &blanks[start..]
}

/// The name in the start tag of an XML element.
pub fn tag_name(source: &str, whole: Span) -> &str {
    let inside = &source[whole.start + 1..whole.end];
    &inside[..inside.find(is_end).unwrap_or(inside.len())]
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '>' | '/')
}

/// The content of a child without attributes.
fn field_span(source: &str, content: Span, name: &str) -> Option<Span> {
    let inside = &source[content.start..content.end];
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = inside.find(&open)? + open.len();
    let end = start + inside[start..].find(&close)?;
    Some(Span::new(content.start + start, content.start + end))
}

/// The position of the text within an XML element; `None` for an empty tag.
pub fn content_span(source: &str, whole: Span) -> Option<Span> {
    let text = source.get(whole.start..whole.end)?;
    let start = tag_end(text)?;
    let end = text.rfind("</").filter(|end| *end >= start)?;
    Some(Span::new(whole.start + start, whole.start + end))
}

/// The end of the start tag; `None` for an empty tag.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if open == sign => quote = None,
            (None, '>') if text[..at].ends_with('/') => return None,
            (None, '>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The position of an attribute's value in a start tag.
pub fn attribute_span(source: &str, tag: Span, name: &str) -> Option<Span> {
    let text = source.get(tag.start..tag.end)?;
    let mut quote: Option<char> = None;
    let mut value_start = 0;
    let mut is_wanted = false;
    for (at, sign) in text.char_indices() {
        match quote {
            None if sign == '>' => return None,
            None if matches!(sign, '"' | '\'') => {
                let before = text[..at].trim_end().strip_suffix('=')?.trim_end();
                is_wanted = before
                    .strip_suffix(name)
                    .is_some_and(|rest| rest.ends_with(char::is_whitespace));
                quote = Some(sign);
                value_start = at + 1;
            }
            Some(open) if open == sign => {
                if is_wanted {
                    return Some(Span::new(tag.start + value_start, tag.start + at));
                }
                quote = None;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn contents_and_attributes_have_places() {
        let xml = r#"<a x="1>" name = "n&gt;" y='2'>text</a><b/>"#;
        let whole = Span::new(0, xml.find("<b").expect("b"));
        let text = |span: Option<Span>| span.map(|span| &xml[span.start..span.end]);
        assert_eq!(text(content_span(xml, whole)), Some("text"));
        assert_eq!(text(attribute_span(xml, whole, "name")), Some("n&gt;"));
        assert_eq!(text(attribute_span(xml, whole, "y")), Some("2"));
        assert_eq!(text(attribute_span(xml, whole, "me")), None);
        assert_eq!(content_span(xml, Span::new(whole.end, xml.len())), None);
    }

    #[test]
    fn splices_apply_in_any_order_and_once() {
        let splices = [
            Splice::new(4, 5, "E"),
            Splice::new(0, 2, "x"),
            Splice::new(4, 5, "E"),
            Splice::new(6, 6, "!"),
        ];
        assert_eq!(spliced_text("abcdef", &splices), "xcdEf!");
    }

    /// The plan with these properties of a group, as text.
    fn plan(props: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\r\n<!-- kept --><jmeterTestPlan  jmeter='6.0' version=\"1.2\">\r\n <hashTree><TestPlan guiclass=\"G\" testclass=\"TestPlan\" testname=\"t\"/>\r\n<hashTree><X.Y testname=\"é\" guiclass='g'>{props}</X.Y><hashTree/></hashTree></hashTree></jmeterTestPlan>\r\n"
        )
    }

    fn read(bytes: &[u8]) -> Tree {
        let read = crate::read(bytes, Path::new("p.jmx"));
        read.unwrap_or_else(|findings| panic!("{}", findings[0].render(false)))
            .tree
    }

    /// The properties after the first got the value, in every encoding.
    fn set(props: &str, value: Value) -> String {
        let before = plan(props);
        let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let marked = format!("\u{feff}{before}");
            marked.encode_utf16().flat_map(unit).collect()
        };
        let mut results = [
            before.clone().into_bytes(),
            format!("\u{feff}{before}").into_bytes(),
            utf16(u16::to_le_bytes),
            utf16(u16::to_be_bytes),
            [before.as_bytes(), b"\xff"].concat(),
        ]
        .map(|bytes| {
            let tree = read(&bytes);
            let prop = tree.roots[0].children[0].props.iter().next().expect("one");
            let after = spliced(&bytes, &set_value(&tree, prop, &value));
            let again = read(&after);
            let own = again.roots[0].children[0].props.iter().next().expect("one");
            assert_eq!(own.value, value, "{props}");
            // The mark and the bytes that are no text stay.
            assert_eq!(after[..2], bytes[..2]);
            assert_eq!(after.last(), bytes.last());
            again.source.text.trim_end_matches('\u{fffd}').to_owned()
        });
        results.sort_unstable();
        assert_eq!(results[0], results[4], "all encodings give the same");
        let [result, ..] = results;
        let (start, end) = plan("|")
            .split_once('|')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .expect("a mark");
        let inside = result
            .strip_prefix(&start)
            .and_then(|rest| rest.strip_suffix(&end));
        inside
            .unwrap_or_else(|| panic!("other bytes moved: {result}"))
            .to_owned()
    }

    #[test]
    fn only_the_bytes_of_a_property_change() {
        let text = |text: &str| Value::Str(text.to_owned());
        for (before, value, after) in [
            (
                "<stringProp a='1'  name=\"x\">o<!-- c -->ld</stringProp >",
                text("n<\"'\n\r\u{1}é"),
                "<stringProp a='1'  name=\"x\">n&lt;&quot;&apos;\r\n&#xd;&#x1;é</stringProp >",
            ),
            (
                "<stringProp name=\"x\" />",
                text("v"),
                "<stringProp name=\"x\" >v</stringProp>",
            ),
            (
                "<stringProp name=\"x\"/>",
                text(""),
                "<stringProp name=\"x\"/>",
            ),
            (
                "<stringProp name=\"x\">v</stringProp>",
                text(""),
                "<stringProp name=\"x\"></stringProp>",
            ),
            (
                "<stringProp name=\"x\"><![CDATA[a<b]]></stringProp>",
                text("c&\nd"),
                "<stringProp name=\"x\"><![CDATA[c&\r\nd]]></stringProp>",
            ),
            (
                "<stringProp name=\"x\"><![CDATA[a]]></stringProp>",
                text("]]>"),
                "<stringProp name=\"x\">]]&gt;</stringProp>",
            ),
            (
                "<intProp name=\"x\">5</intProp>",
                Value::Int(7),
                "<intProp name=\"x\">7</intProp>",
            ),
            (
                "<intProp name=\"x\">5</intProp>",
                text("${n}"),
                "<stringProp name=\"x\">${n}</stringProp>",
            ),
            (
                "<boolProp name=\"x\"/>",
                Value::Bool(true),
                "<boolProp name=\"x\">true</boolProp>",
            ),
            (
                "<boolProp name=\"x\"/>",
                text("${b}"),
                "<stringProp name=\"x\">${b}</stringProp>",
            ),
            (
                "<doubleProp>\n<name>x</name> <value>1.5</value><savedValue>0.0</savedValue></doubleProp>",
                Value::Double(2.5),
                "<doubleProp>\n<name>x</name> <value>2.5</value><savedValue>0.0</savedValue></doubleProp>",
            ),
            (
                "<doubleProp><name>x</name><value>1.5</value></doubleProp>",
                text("${d}"),
                "<stringProp name=\"x\">${d}</stringProp>",
            ),
        ] {
            assert_eq!(set(before, value), after);
        }
    }

    #[test]
    fn missing_properties_and_attributes_are_added() {
        let added = |props: &str| {
            let tree = read(plan(props).as_bytes());
            let node = &tree.roots[0].children[0];
            let new = Prop::new("n", true);
            let splice = add_property(&tree, node.whole, &node.props, &new).expect("a place");
            let text = spliced_text(&tree.source.text, &[splice]);
            let again = read(text.as_bytes());
            let node = &again.roots[0].children[0];
            assert_eq!(node.props.value("n"), Some(&Value::Bool(true)));
            text[node.whole.start..node.whole.end].to_owned()
        };
        assert!(added("\r\n   <intProp name=\"x\">5</intProp>\r\n  ").ends_with(
            "\r\n   <intProp name=\"x\">5</intProp>\r\n   <boolProp name=\"n\">true</boolProp>\r\n  </X.Y>"
        ));
        assert!(added("").ends_with("'g'><boolProp name=\"n\">true</boolProp></X.Y>"));
        let tree = read(plan("").as_bytes());
        let root = &tree.roots[0];
        let new = Prop::new("n", "v");
        let splices = [
            add_property(&tree, root.whole, &root.props, &new).expect("a place"),
            set_attribute(&tree, root.children[0].span, "enabled", "false"),
            set_attribute(&tree, root.children[0].span, "testname", "a\"\nb"),
        ];
        let again = read(spliced_text(&tree.source.text, &splices).as_bytes());
        assert_eq!(
            again.roots[0].props.value("n"),
            Some(&Value::Str("v".to_owned()))
        );
        let node = &again.roots[0].children[0];
        assert!(!node.enabled && node.name.as_str() == "a\"\nb");
    }
}
