//! Writes an element as in a plan file, for JMeter's own reader (`SaveService`), if `element.rs` has no form for it.

use drumfire_jmx::{Element, Object, Prop, Props, Value, class_to_tag};

/// The element as a whole file.
pub fn write(element: &Element) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tag = class_to_tag(&element.class);
    open(
        &mut out,
        &tag,
        &[
            ("guiclass", &element.gui_class),
            ("testclass", &element.class),
            ("testname", &element.name),
            ("enabled", "true"),
        ],
    );
    props(&mut out, &element.props);
    close(&mut out, &tag);
    out
}

fn props(out: &mut String, props: &Props) {
    for prop in props {
        value(out, prop);
    }
}

fn value(out: &mut String, prop: &Prop) {
    match &prop.value {
        Value::Str(text) => leaf(out, "stringProp", &prop.name, text),
        Value::Bool(_) => leaf(out, "boolProp", &prop.name, &prop.value.as_str()),
        Value::Int(_) => leaf(out, "intProp", &prop.name, &prop.value.as_str()),
        Value::Long(_) => leaf(out, "longProp", &prop.name, &prop.value.as_str()),
        Value::Float(_) => fields(out, "FloatProperty", prop),
        Value::Double(_) => fields(out, "doubleProp", prop),
        Value::Element(element) => nested(out, &prop.name, element),
        Value::List(items) => {
            open(out, "collectionProp", &[("name", &prop.name)]);
            items.iter().for_each(|item| value(out, item));
            close(out, "collectionProp");
        }
        Value::Map(items) => {
            open(out, "mapProp", &[("name", &prop.name)]);
            items.iter().for_each(|item| value(out, item));
            close(out, "mapProp");
        }
        Value::Object(object) => {
            out.push_str("<objProp><name>");
            escape(out, &prop.name);
            out.push_str("</name>");
            write_object(out, object);
            out.push_str("</objProp>");
        }
        Value::Null => {}
    }
}

fn nested(out: &mut String, name: &str, element: &Element) {
    open(
        out,
        "elementProp",
        &[
            ("name", name),
            ("elementType", &element.class),
            ("guiclass", &element.gui_class),
            ("testclass", &element.class),
            ("testname", &element.name),
            ("enabled", "true"),
        ],
    );
    props(out, &element.props);
    close(out, "elementProp");
}

fn write_object(out: &mut String, object: &Object) {
    if object.class.is_empty() {
        open(out, &object.name, &[]);
    } else {
        open(out, &object.name, &[("class", &object.class)]);
    }
    escape(out, &object.text);
    for child in &object.children {
        write_object(out, child);
    }
    close(out, &object.name);
}

/// Numbers that XStream writes by their fields.
fn fields(out: &mut String, tag: &str, prop: &Prop) {
    open(out, tag, &[]);
    out.push_str("<name>");
    escape(out, &prop.name);
    out.push_str("</name><value>");
    escape(out, &prop.value.as_str());
    out.push_str("</value><savedValue>0.0</savedValue>");
    close(out, tag);
}

fn leaf(out: &mut String, tag: &str, name: &str, content: &str) {
    open(out, tag, &[("name", name)]);
    escape(out, content);
    close(out, tag);
}

fn open(out: &mut String, tag: &str, attributes: &[(&str, &str)]) {
    out.push('<');
    out.push_str(tag);
    for (name, value) in attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value);
        out.push('"');
    }
    out.push('>');
}

fn close(out: &mut String, tag: &str) {
    out.push_str("</");
    out.push_str(tag);
    out.push_str(">\n");
}

/// Escapes text for XML 1.0; characters that it cannot contain are left out.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c if c < ' ' => {}
            c => out.push(c),
        }
    }
}
