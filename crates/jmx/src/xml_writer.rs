//! Writes XML in the layout of XStream's `PrettyPrintWriter`: two blanks for each level, `<tag/>` for an element
//! without text and children, `<tag></tag>` for one whose text is empty.

use std::fmt::Write as _;

use crate::undefined::is_defined;

pub(crate) struct XmlWriter {
    out: String,
    open: Vec<String>,
    /// The start tag is written, except for its `>`.
    in_tag: bool,
    /// The last thing written was text, so the end tag follows on the same line.
    after_text: bool,
}

impl XmlWriter {
    pub fn new() -> Self {
        XmlWriter {
            out: String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"),
            open: Vec::new(),
            in_tag: false,
            after_text: false,
        }
    }

    /// A writer of elements without the declaration of a document.
    pub fn fragment() -> Self {
        XmlWriter {
            out: String::new(),
            ..XmlWriter::new()
        }
    }

    /// What was written, from the first tag on.
    pub fn fragment_text(self) -> String {
        self.out.trim_start_matches('\n').to_owned()
    }

    pub fn start(&mut self, tag: &str) {
        self.close_tag();
        self.new_line();
        self.out.push('<');
        self.out.push_str(tag);
        self.open.push(tag.to_owned());
        self.in_tag = true;
        self.after_text = false;
    }

    /// Writes an attribute of the element that was started last.
    pub fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(value, true, &mut self.out);
        self.out.push('"');
    }

    pub fn text(&mut self, text: &str) {
        self.close_tag();
        escape(text, false, &mut self.out);
        self.after_text = true;
    }

    /// Copies a whole element that is already XML.
    pub fn raw(&mut self, element: &str) {
        self.close_tag();
        self.new_line();
        self.out.push_str(element);
        self.after_text = false;
    }

    pub fn end(&mut self) {
        let Some(tag) = self.open.pop() else {
            return;
        };
        if self.in_tag {
            self.out.push_str("/>");
            self.in_tag = false;
        } else {
            if !self.after_text {
                self.new_line();
            }
            self.out.push_str("</");
            self.out.push_str(&tag);
            self.out.push('>');
        }
        self.after_text = false;
    }

    pub fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    fn close_tag(&mut self) {
        if self.in_tag {
            self.out.push('>');
            self.in_tag = false;
        }
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        for _ in &self.open {
            self.out.push_str("  ");
        }
    }
}

/// `PrettyPrintWriter.writeText` in its `XML_QUIRKS` mode, which writes characters that XML 1.0 forbids.
pub(crate) fn escape(text: &str, is_attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' if !is_attribute => out.push(c),
            _ if c.is_control() || !is_defined(c) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "&#x{:x};", u32::from(c));
            }
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped_as_xstream_does() {
        let escaped = |text, is_attribute| {
            let mut out = String::new();
            escape(text, is_attribute, &mut out);
            out
        };
        assert_eq!(escaped("a<b>&\"'", false), "a&lt;b&gt;&amp;&quot;&apos;");
        assert_eq!(escaped("\r\n\t", false), "&#xd;\n\t");
        assert_eq!(escaped("\r\n\t", true), "&#xd;&#xa;&#x9;");
        assert_eq!(
            escaped("\0\u{1}\u{85}é\u{fffe}😀", false),
            "&#x0;&#x1;&#x85;é&#xfffe;😀"
        );
    }
}
