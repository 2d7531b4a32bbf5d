//! Prepares an element for Java.

use drumfire_jmx::{Element, Prop, Props, Value};

use crate::decode::Decoder;
use crate::run::java::plan::TEMPLATE_MARK;

/// The element being decoded. Its texts with variables and functions become templates of the plan, and marks
/// replace them.
pub fn element(d: &mut Decoder) -> Element {
    let element = d.element;
    Element {
        class: element.class.clone(),
        gui_class: element.gui_class.clone(),
        name: text(d, &element.name).into(),
        enabled: true,
        props: props(d, &element.props),
        ..Element::default()
    }
}

/// Returns the text, or a mark that refers to its template if it has one.
fn text(d: &mut Decoder, written: &str) -> String {
    if !written.contains("${") {
        return written.to_owned();
    }
    let template = d.compile(written);
    if template.literal() == Some(written) {
        return written.to_owned();
    }
    d.decoding.java.templates.push(template);
    format!("{TEMPLATE_MARK}{}", d.decoding.java.templates.len() - 1)
}

/// The plan's own properties if none of them needs evaluation.
fn props(d: &mut Decoder, props: &Props) -> Props {
    if !props.iter().any(|prop| may_change(&prop.value)) {
        return props.clone();
    }
    props.iter().map(|one| prop(d, one)).collect()
}

fn may_change(value: &Value) -> bool {
    match value {
        Value::Str(written) => written.contains("${"),
        Value::Element(element) => {
            element.name.contains("${") || element.props.iter().any(|prop| may_change(&prop.value))
        }
        Value::List(items) | Value::Map(items) => items.iter().any(|item| may_change(&item.value)),
        _ => false,
    }
}

fn prop(d: &mut Decoder, prop: &Prop) -> Prop {
    let mut all = |items: &[Prop]| items.iter().map(|item| self::prop(d, item)).collect();
    let value = match &prop.value {
        Value::List(items) => Value::List(all(items)),
        Value::Map(items) => Value::Map(all(items)),
        Value::Str(written) => Value::Str(text(d, written)),
        Value::Element(element) => {
            let element = Element {
                name: text(d, &element.name).into(),
                props: props(d, &element.props),
                ..Element::clone(element)
            };
            element.into()
        }
        other => other.clone(),
    };
    Prop {
        name: prop.name.clone(),
        value,
        span: prop.span,
    }
}
