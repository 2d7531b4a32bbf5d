//! Sets properties, names and flags.

use drumfire_elements::Saved;
use drumfire_jmx::{
    Node, Prop, Props, Span, Tree, Value, add_property, add_xml, blanks_before, escaped, line_end,
    set_value, write_property, written,
};

use super::defaults::{ElementType, new_property, typed};
use super::place::{PropertyPlace, end_of_object, find};
use crate::refused::{Refused, no_element};
use crate::tree::markup::{indented, with_line_ends};
use crate::tree::{Id, Model, Piece, Step, step};

/// Sets a property of elements, or takes it out of the file.
///
/// # Errors
/// An element is not there, or the property cannot hold a text.
pub fn set(
    model: &Model,
    ids: &[Id],
    property: &str,
    value: Option<&str>,
) -> Result<Step, Refused> {
    let mut pieces = Vec::new();
    for id in ids {
        let node = model.node(*id).ok_or_else(|| no_element(*id))?;
        let recorded = model.jar_forms.saved(node, property);
        let splices = typed_field(model.tree(), node, (property, recorded), value);
        pieces.extend(splices.map_err(|refused| refused.of(*id).at(property))?);
    }
    let label = match ids {
        [_] => format!("Set {}", short(property)),
        _ => format!("Set {} of {} elements", short(property), ids.len()),
    };
    Ok(step(label, model.text(), pieces))
}

/// The last name of a path, without its class.
pub fn short(property: &str) -> &str {
    let name = property.rsplit('/').next().unwrap_or(property);
    name.rsplit('.').next().unwrap_or(name)
}

/// The pieces that give one element's property a value.
pub fn field(
    tree: &Tree,
    node: &Node,
    property: &str,
    value: Option<&str>,
) -> Result<Vec<Piece>, Refused> {
    typed_field(tree, node, (property, None), value)
}

/// [`field`] for a property that is saved as told, if no facts know better.
fn typed_field(
    tree: &Tree,
    node: &Node,
    (property, told): (&str, Option<Saved>),
    value: Option<&str>,
) -> Result<Vec<Piece>, Refused> {
    let text = tree.source.text.as_str();
    match (find(text, node, property), value) {
        (PropertyPlace::Here(prop), Some(value)) => replaced(tree, prop, value),
        (PropertyPlace::Here(prop), None) => Ok(vec![taken_out(text, prop.span)]),
        (
            PropertyPlace::Missing {
                whole,
                props,
                class,
            },
            Some(value),
        ) => Ok(added(
            tree,
            (whole, class, props),
            (node, property, told),
            value,
        )),
        (PropertyPlace::Field { object, content }, _) => {
            object_field(tree, object, content, property, value)
        }
        (PropertyPlace::Nowhere, Some(value)) => with_parents(tree, node, property, value),
        (PropertyPlace::Missing { .. } | PropertyPlace::Nowhere, None) => Ok(Vec::new()),
    }
}

fn replaced(tree: &Tree, prop: &Prop, text: &str) -> Result<Vec<Piece>, Refused> {
    let value = match &prop.value {
        Value::Bool(_) => typed(Saved::BoolProp, text),
        Value::Int(_) => typed(Saved::IntProp, text),
        Value::Long(_) => typed(Saved::LongProp, text),
        Value::Float(old) => number(text, *old, Value::Float),
        Value::Double(old) => number(text, *old, Value::Double),
        Value::Str(_) => Value::Str(text.to_owned()),
        Value::List(_) | Value::Map(_) => {
            return Err(Refused::unfit("the property is a list and holds no text")
                .hint("set its rows with `table`"));
        }
        Value::Element(_) | Value::Object(_) => {
            return Err(
                Refused::unfit("the property is an element and holds no text")
                    .hint("set a property within it: `outer/inner`"),
            );
        }
        Value::Null => {
            let new = write_property(&Prop::new(&prop.name, text));
            return Ok(vec![Piece::new(prop.span.start, prop.span.end, new)]);
        }
    };
    if value == prop.value {
        return Ok(Vec::new());
    }
    let splices = set_value(tree, prop, &value);
    Ok(splices.into_iter().map(Piece::from).collect())
}

/// A number with a fraction, or a text if it is none.
fn number<N: std::str::FromStr>(text: &str, _: N, value: fn(N) -> Value) -> Value {
    let number = text.trim().parse().ok().map(value);
    number.unwrap_or_else(|| Value::Str(text.to_owned()))
}

/// The piece that takes a property out of the file, with the line that it stands on.
pub fn taken_out(text: &str, span: Span) -> Piece {
    let start = span.start - blanks_before(text, span.start).len();
    Piece::new(start, span.end, "")
}

/// The piece that adds a property to an element.
fn added(
    tree: &Tree,
    (whole, class, props): (Span, &str, &Props),
    (node, path, told): (&Node, &str, Option<Saved>),
    value: &str,
) -> Vec<Piece> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let facts = if whole == node.whole {
        let kind = ElementType::of(node);
        kind.and_then(|own| {
            own.facts
                .properties()
                .find(|property| property.name == name)
        })
    } else {
        let top = path.split('/').next().unwrap_or(path);
        drumfire_elements::property(&node.class, top, name)
            .or_else(|| drumfire_elements::property(class, name, name))
    };
    let saved = facts
        .map(|property| property.saved)
        .or(told)
        .unwrap_or(Saved::StringProp);
    let new = Prop::new(name, typed(saved, value));
    let splice = add_property(tree, whole, props, &new);
    splice.into_iter().map(Piece::from).collect()
}

/// Adds the property together with the elements around it, as a new element of the type has them.
fn with_parents(tree: &Tree, node: &Node, path: &str, value: &str) -> Result<Vec<Piece>, Refused> {
    let none = || Refused::unfit(format!("the element has no property `{path}`"));
    let (top, rest) = path.split_once('/').ok_or_else(none)?;
    let kind = ElementType::of(node).ok_or_else(none)?;
    let facts = kind
        .facts
        .properties()
        .find(|property| property.name == top);
    let mut prop = facts.and_then(new_property).ok_or_else(none)?;
    if node.props.has(top)
        || !put(
            &mut prop,
            kind.facts
                .property(top, short_of(rest))
                .map(|property| property.saved)
                .unwrap_or(Saved::StringProp),
            rest,
            value,
        )
    {
        return Err(none());
    }
    Ok(added_whole(tree, (node.whole, &node.props), &prop)
        .into_iter()
        .collect())
}

fn short_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The piece that adds a property that may hold elements.
pub fn added_whole(tree: &Tree, (whole, props): (Span, &Props), prop: &Prop) -> Option<Piece> {
    let xml = |indent: &str| {
        let xml = indented(&write_property(prop), "\n", indent);
        with_line_ends(&xml, line_end(&tree.source.text))
    };
    add_xml(tree, whole, props, &xml).map(Piece::from)
}

/// Puts a value into a property that is not in a file yet.
fn put(prop: &mut Prop, saved: Saved, path: &str, value: &str) -> bool {
    let Value::Element(element) = &mut prop.value else {
        return false;
    };
    match path.split_once('/') {
        None => {
            element.props.put(path, typed(saved, value));
            true
        }
        Some((name, rest)) => {
            let Some(mut inner) = element.props.remove(name) else {
                return false;
            };
            let is_put = put(&mut inner, saved, rest, value);
            element.props.set(inner);
            is_put
        }
    }
}

/// Sets a field of a Java object.
fn object_field(
    tree: &Tree,
    object: Span,
    content: Option<Span>,
    property: &str,
    value: Option<&str>,
) -> Result<Vec<Piece>, Refused> {
    let text = tree.source.text.as_str();
    let name = short_of(property);
    let around = |content: Span| {
        let (open, close) = (name.len() + "<>".len(), name.len() + "</>".len());
        Span::new(content.start - open, content.end + close)
    };
    Ok(match (content, value) {
        (Some(content), Some(value)) => {
            vec![Piece::new(content.start, content.end, written(tree, value))]
        }
        (Some(content), None) => vec![taken_out(text, around(content))],
        (None, None) => Vec::new(),
        (None, Some(value)) => {
            let end = end_of_object(text, object)
                .ok_or_else(|| Refused::unfit(format!("the object has no field `{name}`")))?;
            let start = end - blanks_before(text, end).len();
            let indent = match blanks_before(text, end) {
                "" => String::new(),
                blanks => format!("{blanks}  "),
            };
            let field = format!("{indent}<{name}>{}</{name}>", escaped(value));
            vec![Piece::new(start, start, field)]
        }
    })
}

/// Enables or disables elements.
///
/// # Errors
/// An element is not there.
pub fn enable(model: &Model, ids: &[Id], is_enabled: bool) -> Result<Step, Refused> {
    let mut pieces = Vec::new();
    for id in ids {
        let node = model.node(*id).ok_or_else(|| no_element(*id))?;
        if node.enabled != is_enabled {
            let splices = drumfire_jmx::set_enabled(model.tree(), node, is_enabled);
            pieces.extend(splices.into_iter().map(Piece::from));
        }
    }
    let verb = if is_enabled { "Enable" } else { "Disable" };
    let label = match ids {
        [id] => {
            let name = model.node(*id).map(|node| node.name.as_str()).unwrap_or("");
            format!("{verb} {name}")
        }
        _ => format!("{verb} {} elements", ids.len()),
    };
    Ok(step(label, model.text(), pieces))
}

/// Replaces the text of an element, without its children.
///
/// # Errors
/// The element is not there, or the text is not one element.
pub fn set_xml(model: &Model, id: Id, xml: &str) -> Result<Step, Refused> {
    let node = model.node(id).ok_or_else(|| no_element(id))?;
    let xml = with_line_ends(xml.trim(), line_end(model.text()));
    if !crate::tree::markup::is_one_element(&xml) {
        return Err(Refused::unfit("the text is not one whole XML element").of(id));
    }
    let label = format!("Edit the text of {}", node.name);
    let piece = Piece::new(node.whole.start, node.whole.end, xml).with_ids(vec![id]);
    Ok(step(label, model.text(), vec![piece]))
}
