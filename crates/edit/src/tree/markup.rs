//! The parts of the text that the tree of a plan does not describe: line ends and indentation.

use drumfire_jmx::{Node, TagKind, Tags, blanks_before};

/// The line end and the indentation of an element's children.
pub fn indent_below(text: &str, node: &Node) -> String {
    if let Some(first) = node.children.first() {
        return blanks_before(text, first.whole.start).to_owned();
    }
    let indent = blanks_before(text, node.whole.start);
    match indent {
        "" => String::new(),
        indent if indent.contains('\t') => format!("{indent}\t"),
        indent => format!("{indent}  "),
    }
}

/// XML with another indentation: the text behind `from` at the beginning of each line between tags becomes `to`. Both begin with
/// a line end, or are empty. Blanks that are the text of an element stay.
pub fn indented(xml: &str, from: &str, to: &str) -> String {
    let (old, new) = (blanks(from), blanks(to));
    let line_end = to.strip_suffix(new).unwrap_or_default();
    let mut out = String::with_capacity(xml.len() + xml.len() / 8);
    let mut written = 0;
    let mut last: Option<TagKind> = None;
    for (kind, span) in Tags::new(xml, 0) {
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
    for (kind, span) in Tags::new(xml, 0) {
        if end.is_some() || (span.start > 0 && depth == 0) {
            return false;
        }
        match kind {
            TagKind::Start => depth += 1,
            TagKind::End if depth == 0 => return false,
            TagKind::End => depth -= 1,
            TagKind::Empty | TagKind::Other => {}
        }
        if depth == 0 {
            end = (kind != TagKind::Other).then_some(span.end);
        }
    }
    end == Some(xml.len())
}

/// Whether blanks between two tags are no text of an element.
fn is_between(last: TagKind, next: TagKind) -> bool {
    last != TagKind::Other
        && next != TagKind::Other
        && !(last == TagKind::Start && next == TagKind::End)
}

fn blanks(indent: &str) -> &str {
    &indent[indent.rfind('\n').map(|at| at + 1).unwrap_or(0)..]
}

fn relaid(gap: &str, old: &str, (line_end, new): (&str, &str), out: &mut String) {
    let at = gap.rfind('\n').map(|at| at + 1).unwrap_or(0);
    let (before, indent) = gap.split_at(at);
    // Without an indentation of its own the target has no lines to keep.
    if line_end.is_empty() {
        return;
    }
    out.push_str(before);
    match indent.strip_prefix(old) {
        Some(deeper) => {
            out.push_str(new);
            out.push_str(deeper);
        }
        None => out.push_str(indent),
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
}
