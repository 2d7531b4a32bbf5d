//! Edits to the text of a file.

use drumfire_jmx::Span;

/// A range of a file and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Byte offsets in the decoded text of the file.
    pub span: Span,
    /// The new text, as XML.
    pub text: String,
}

/// The text after all edits. Edits must not overlap; duplicates are applied once.
pub fn apply(source: &str, edits: &[TextEdit]) -> String {
    let mut ordered: Vec<&TextEdit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.span.start, edit.span.end));
    ordered.dedup();
    let mut text = String::with_capacity(source.len());
    let mut from = 0;
    for edit in ordered {
        if edit.span.start < from {
            continue;
        }
        text.push_str(&source[from..edit.span.start]);
        text.push_str(&edit.text);
        from = edit.span.end;
    }
    text.push_str(&source[from..]);
    text
}

/// A text escaped for XML, with the references that JMeter writes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            _ => out.push(sign),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_any_order_and_once() {
        let edit = |start, end, text: &str| TextEdit {
            span: Span::new(start, end),
            text: text.to_owned(),
        };
        let edits = [
            edit(4, 5, "E"),
            edit(0, 2, "x"),
            edit(4, 5, "E"),
            edit(6, 6, "!"),
        ];
        assert_eq!(apply("abcdef", &edits), "xcdEf!");
    }
}
