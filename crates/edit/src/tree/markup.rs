//! The parts of the text that the tree of a plan does not describe: the `hashTree` behind each element, and indentation.

use drumfire_jmx::{Node, Span, blanks_before, canonical_class, tag_name};

/// A tag, or what else stands between texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    End,
    Empty,
    /// A comment, a CDATA section or a processing instruction.
    Other,
}

/// Finds the tags of a text that is well-formed XML.
struct Tags<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Tags<'_> {
    type Item = (Kind, Span);

    fn next(&mut self) -> Option<(Kind, Span)> {
        let start = self.at + memchr(self.text.get(self.at..)?, '<')?;
        let rest = &self.text[start..];
        let (kind, length) = if rest.starts_with("<!--") {
            (Kind::Other, rest.find("-->")? + "-->".len())
        } else if rest.starts_with("<![CDATA[") {
            (Kind::Other, rest.find("]]>")? + "]]>".len())
        } else if rest.starts_with("<?") {
            (Kind::Other, rest.find("?>")? + "?>".len())
        } else if rest.starts_with("<!") {
            (Kind::Other, rest.find('>')? + 1)
        } else if rest.starts_with("</") {
            (Kind::End, rest.find('>')? + 1)
        } else {
            let length = tag_length(rest)?;
            let kind = if rest[..length].ends_with("/>") {
                Kind::Empty
            } else {
                Kind::Start
            };
            (kind, length)
        };
        self.at = start + length;
        Some((kind, Span::new(start, self.at)))
    }
}

fn memchr(text: &str, sign: char) -> Option<usize> {
    text.find(sign)
}

/// The length of a start tag; a `>` in an attribute does not end it.
fn tag_length(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, sign) in rest.char_indices() {
        match (quote, sign) {
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if open == sign => quote = None,
            (None, '>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The first tag at or behind an offset, without comments and processing instructions.
fn next_tag(text: &str, at: usize) -> Option<(Kind, Span)> {
    Tags { text, at }.find(|(kind, _)| *kind != Kind::Other)
}

/// The tags of the `hashTree` that holds an element's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildTree {
    /// The element is the last one of its parent, and has none.
    Missing,
    /// `<hashTree/>`.
    Empty(Span),
    /// A start tag and an end tag.
    Whole {
        /// The start tag.
        open: Span,
        /// The end tag.
        close: Span,
    },
}

/// Finds the `hashTree` of an element.
pub fn child_tree(text: &str, node: &Node) -> ChildTree {
    let Some((kind, open)) = next_tag(text, node.whole.end) else {
        return ChildTree::Missing;
    };
    let is_tree = matches!(kind, Kind::Start | Kind::Empty)
        && canonical_class(tag_name(text, open)) == "hashTree";
    match kind {
        Kind::Empty if is_tree => return ChildTree::Empty(open),
        Kind::Start if is_tree => {}
        _ => return ChildTree::Missing,
    }
    let inside = node
        .children
        .last()
        .map_or(open.end, |last| subtree(text, last).end);
    match next_tag(text, inside) {
        Some((Kind::End, close)) => ChildTree::Whole { open, close },
        _ => ChildTree::Missing,
    }
}

/// An element with its `hashTree`.
pub fn subtree(text: &str, node: &Node) -> Span {
    let end = match child_tree(text, node) {
        ChildTree::Missing => node.whole.end,
        ChildTree::Empty(tree) => tree.end,
        ChildTree::Whole { close, .. } => close.end,
    };
    Span::new(node.whole.start, end)
}

/// An element with its `hashTree` and the line end and the blanks before it.
pub fn subtree_with_blanks(text: &str, node: &Node) -> Span {
    let Span { start, end } = subtree(text, node);
    Span::new(start - blanks_before(text, start).len(), end)
}

/// The line end and the indentation of an element's children.
pub fn indent_below(text: &str, node: &Node) -> String {
    if let Some(first) = node.children.first() {
        return blanks_before(text, first.whole.start).to_owned();
    }
    let own = blanks_before(text, node.whole.start);
    match own {
        "" => String::new(),
        own if own.contains('\t') => format!("{own}\t"),
        own => format!("{own}  "),
    }
}

/// XML with another indentation: the text behind `from` at the beginning of each line between tags becomes `to`. Both begin with
/// a line end, or are empty. Blanks that are the text of an element stay.
pub fn indented(xml: &str, from: &str, to: &str) -> String {
    let (old, new) = (blanks(from), blanks(to));
    let line_end = to.strip_suffix(new).unwrap_or_default();
    let mut out = String::with_capacity(xml.len() + xml.len() / 8);
    let mut written = 0;
    let mut last: Option<Kind> = None;
    for (kind, span) in (Tags { text: xml, at: 0 }) {
        let gap = &xml[written..span.start];
        let is_layout = gap.contains('\n')
            && gap.trim().is_empty()
            && last.is_some_and(|last| is_between(last, kind));
        if is_layout {
            relaid(gap, old, (line_end, new), &mut out);
        } else {
            out.push_str(gap);
        }
        out.push_str(&xml[span.start..span.end]);
        written = span.end;
        last = Some(kind);
    }
    out.push_str(&xml[written..]);
    out
}

/// Whether a text begins and ends with the tags of one element.
pub fn is_one_element(xml: &str) -> bool {
    let mut depth = 0_usize;
    let mut end = None;
    for (kind, span) in (Tags { text: xml, at: 0 }) {
        if end.is_some() || (span.start > 0 && depth == 0) {
            return false;
        }
        match kind {
            Kind::Start => depth += 1,
            Kind::End if depth == 0 => return false,
            Kind::End => depth -= 1,
            Kind::Empty | Kind::Other => {}
        }
        if depth == 0 {
            end = (kind != Kind::Other).then_some(span.end);
        }
    }
    end == Some(xml.len())
}

/// Whether blanks between two tags are no text of an element.
fn is_between(last: Kind, next: Kind) -> bool {
    last != Kind::Other && next != Kind::Other && !(last == Kind::Start && next == Kind::End)
}

fn blanks(indent: &str) -> &str {
    &indent[indent.rfind('\n').map_or(0, |at| at + 1)..]
}

fn relaid(gap: &str, old: &str, (line_end, new): (&str, &str), out: &mut String) {
    let at = gap.rfind('\n').map_or(0, |at| at + 1);
    let (before, own) = gap.split_at(at);
    // Without an indentation of its own the target has no lines to keep.
    if line_end.is_empty() {
        return;
    }
    out.push_str(before);
    match own.strip_prefix(old) {
        Some(deeper) => {
            out.push_str(new);
            out.push_str(deeper);
        }
        None => out.push_str(own),
    }
}

/// Text from elsewhere with the line ends of the plan.
pub fn with_line_ends(text: &str, line_end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    match line_end {
        "\n" => plain,
        end => plain.replace('\n', end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blanks_between_tags_are_indented_anew() {
        let xml = "<a x=\">\">\n      <b>\n      </b>\n      <c>t\n      u</c><!-- x -->\n      <d/>\n    </a>\n    <hashTree/>";
        let after = indented(xml, "\n    ", "\n\t");
        assert_eq!(
            after,
            "<a x=\">\">\n\t  <b>\n      </b>\n\t  <c>t\n      u</c><!-- x -->\n      <d/>\n\t</a>\n\t<hashTree/>"
        );
        assert_eq!(indented("<a>\n  <b/>\n</a>", "\n", ""), "<a><b/></a>");
    }

    #[test]
    fn one_element_is_told_from_several() {
        assert!(is_one_element("<a x='>'><b/><!-- </a> --></a>") && is_one_element("<a/>"));
        for other in [
            "",
            "<a>",
            "<a/><b/>",
            "x<a/>",
            "<a/>x",
            "<!-- --><a/>",
            "</a>",
        ] {
            assert!(!is_one_element(other), "{other}");
        }
    }

    #[test]
    fn a_tree_is_found_behind_comments() {
        let text = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="G" testname="p"/><!-- <hashTree/> --><hashTree>
<X.Y guiclass="g" testname="one"/><hashTree/><!-- -->
<X.Y guiclass="g" testname="two"/></hashTree></hashTree></jmeterTestPlan>"#;
        let read = drumfire_jmx::read(text.as_bytes(), std::path::Path::new("p.jmx"));
        let read = read.unwrap_or_else(|faults| panic!("{}", faults[0].render(false)));
        let plan = &read.tree.roots[0];
        let whole = subtree(text, plan);
        assert!(text[..whole.end].ends_with("\"two\"/></hashTree>"));
        assert!(matches!(child_tree(text, plan), ChildTree::Whole { .. }));
        assert!(matches!(
            child_tree(text, &plan.children[0]),
            ChildTree::Empty(_)
        ));
        assert_eq!(child_tree(text, &plan.children[1]), ChildTree::Missing);
    }
}
