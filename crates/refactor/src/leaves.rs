//! The texts of a plan with their positions.

use drumfire_jmx::{Node, Prop, Props, Span, Tree, Value};

/// A text property of an element, however deep inside collections.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'t> {
    /// The test element.
    pub node: &'t Node,
    /// The index of the test element, in the order of the file.
    pub number: usize,
    /// The class of the innermost element: `Argument` for an argument, otherwise the test element's.
    pub class: &'t str,
    /// The property of the test element that contains the text.
    pub top: &'t str,
    /// The name of the property, or of the collection that it is an item of.
    pub name: &'t str,
    /// The decoded text.
    pub value: &'t str,
    /// The whole XML element.
    pub span: Span,
    /// The property with the innermost element. Its `name` attribute repeats the name of an argument.
    pub around: Option<Span>,
}

/// All texts of a plan in the order of the file.
pub fn leaves(tree: &Tree) -> Vec<Leaf<'_>> {
    fn walk<'t>(nodes: &'t [Node], next: &mut usize, found: &mut Vec<Leaf<'t>>) {
        for node in nodes {
            let number = *next;
            *next += 1;
            let inside = Inside {
                node,
                number,
                class: &node.class,
                top: "",
                around: None,
            };
            inside.props(&node.props, found);
            walk(&node.children, next, found);
        }
    }
    let mut found = Vec::new();
    walk(&tree.roots, &mut 0, &mut found);
    found
}

#[derive(Clone, Copy)]
struct Inside<'t> {
    node: &'t Node,
    number: usize,
    class: &'t str,
    top: &'t str,
    around: Option<Span>,
}

impl<'t> Inside<'t> {
    fn props(self, props: &'t Props, found: &mut Vec<Leaf<'t>>) {
        for prop in props {
            let top = match self.top {
                "" => prop.name.as_str(),
                top => top,
            };
            Inside { top, ..self }.value(&prop.name, prop, found);
        }
    }

    fn value(self, name: &'t str, prop: &'t Prop, found: &mut Vec<Leaf<'t>>) {
        match &prop.value {
            Value::Str(value) => found.push(Leaf {
                node: self.node,
                number: self.number,
                class: self.class,
                top: self.top,
                name,
                value,
                span: prop.span,
                around: self.around,
            }),
            Value::Element(element) => {
                let inner = Inside {
                    class: &element.class,
                    around: Some(prop.span),
                    ..self
                };
                inner.props(&element.props, found);
            }
            Value::List(items) | Value::Map(items) => {
                for item in items {
                    self.value(name, item, found);
                }
            }
            _ => {}
        }
    }
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
pub(crate) fn attribute_span(source: &str, tag: Span, name: &str) -> Option<Span> {
    let text = source.get(tag.start..tag.end)?;
    let wanted = format!("{name}=");
    let mut quote: Option<char> = None;
    let mut value_start = 0;
    let mut is_wanted = false;
    for (at, sign) in text.char_indices() {
        match quote {
            None if sign == '>' => return None,
            None if matches!(sign, '"' | '\'') => {
                let before = text[..at].trim_end();
                is_wanted = before
                    .strip_suffix(wanted.as_str())
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
    use super::*;

    #[test]
    fn contents_and_attributes_have_places() {
        let xml = r#"<a x="1>" name="n&gt;" y='2'>text</a><b/>"#;
        let whole = Span::new(0, xml.find("<b").expect("b"));
        let text = |span: Option<Span>| span.map(|span| &xml[span.start..span.end]);
        assert_eq!(text(content_span(xml, whole)), Some("text"));
        assert_eq!(text(attribute_span(xml, whole, "name")), Some("n&gt;"));
        assert_eq!(text(attribute_span(xml, whole, "y")), Some("2"));
        assert_eq!(text(attribute_span(xml, whole, "me")), None);
        assert_eq!(content_span(xml, Span::new(whole.end, xml.len())), None);
    }
}
