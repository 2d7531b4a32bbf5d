//! Whether a plan reads a user's previous result: then every sampler keeps its body, so this must be known before the first
//! of them is decoded.

use drumfire_jmx::{Props, Value};

use crate::compile::Element;

/// Elements that look into the previous result (`JMeterContext#getPreviousResult`).
const CLASSES: [&str; 2] = ["URLRewritingModifier", "AnchorModifier"];
/// The function that does, unless it is given a variable.
const FUNCTION: &str = "${__regexFunction(";

/// Whether the element, or one below it, reads the previous result.
pub fn is_read(element: &Element) -> bool {
    CLASSES.contains(&element.class.as_str())
        || element.name.contains(FUNCTION)
        || reads(&element.props)
        || element.children.iter().any(is_read)
}

fn reads(props: &Props) -> bool {
    props.iter().any(|prop| value_reads(&prop.value))
}

fn value_reads(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains(FUNCTION),
        Value::Element(element) => reads(&element.props),
        Value::List(items) | Value::Map(items) => items.iter().any(|item| value_reads(&item.value)),
        _ => false,
    }
}
