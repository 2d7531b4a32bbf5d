//! Finds properties by their path: names and places in lists, joined by `/`.

use drumfire_jmx::{Node, Object, Prop, Props, Span, Value, content_span};

/// The position of a property.
#[derive(Debug, Clone, Copy)]
pub enum PropertyPlace<'t> {
    /// The property is in the file.
    Here(&'t Prop),
    /// An element is in the file, and lacks the property.
    Missing {
        /// The element that would hold it, from its start tag to its end tag.
        whole: Span,
        /// The properties of that element.
        props: &'t Props,
        /// The class of that element.
        class: &'t str,
    },
    /// A field of a Java object.
    Field {
        /// The property that holds the object.
        object: Span,
        /// The value, between the tags; `None` if the object lacks the field.
        content: Option<Span>,
    },
    /// The property that would hold it is missing as well.
    Nowhere,
}

/// Finds a property of an element.
pub fn find<'t>(text: &str, node: &'t Node, path: &str) -> PropertyPlace<'t> {
    within(text, (node.whole, node.class.as_str()), &node.props, path)
}

fn within<'t>(
    text: &str,
    (whole, class): (Span, &'t str),
    props: &'t Props,
    path: &str,
) -> PropertyPlace<'t> {
    if let Some(prop) = props.get(path) {
        return PropertyPlace::Here(prop);
    }
    for prop in props {
        let rest = path.strip_prefix(prop.name.as_str());
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix('/')) {
            return inside(text, prop, rest);
        }
    }
    if path.contains('/') {
        return PropertyPlace::Nowhere;
    }
    PropertyPlace::Missing {
        whole,
        props,
        class,
    }
}

fn inside<'t>(text: &str, prop: &'t Prop, path: &str) -> PropertyPlace<'t> {
    match &prop.value {
        Value::Element(element) => within(
            text,
            (prop.span, element.class.as_str()),
            &element.props,
            path,
        ),
        Value::List(items) | Value::Map(items) => {
            let (index, rest) = match path.split_once('/') {
                Some((index, rest)) => (index, Some(rest)),
                None => (path, None),
            };
            let item = index
                .parse::<usize>()
                .ok()
                .and_then(|place| items.get(place));
            match (item, rest) {
                (None, _) => PropertyPlace::Nowhere,
                (Some(item), None) => PropertyPlace::Here(item),
                (Some(item), Some(rest)) => inside(text, item, rest),
            }
        }
        Value::Object(object) => field(text, prop.span, object, path),
        _ => PropertyPlace::Nowhere,
    }
}

/// A field of an object, whose tag is the field's name.
fn field<'t>(text: &str, whole: Span, object: &Object, path: &str) -> PropertyPlace<'t> {
    let is_name = !path.is_empty()
        && path
            .chars()
            .all(|sign| sign.is_alphanumeric() || sign == '_');
    if !is_name
        || object
            .child(path)
            .is_some_and(|field| !field.children.is_empty())
    {
        return PropertyPlace::Nowhere;
    }
    let source = &text[whole.start..whole.end];
    let (open, close) = (format!("<{path}>"), format!("</{path}>"));
    let content = source.find(&open).and_then(|at| {
        let start = at + open.len();
        let end = start + source[start..].find(&close)?;
        Some(Span::new(whole.start + start, whole.start + end))
    });
    PropertyPlace::Field {
        object: whole,
        content,
    }
}

/// The end of the content of an object's value, where a further field goes.
pub fn end_of_object(text: &str, whole: Span) -> Option<usize> {
    let content = content_span(text, whole)?;
    let inside = &text[content.start..content.end];
    Some(content.start + inside.rfind("</")?)
}
