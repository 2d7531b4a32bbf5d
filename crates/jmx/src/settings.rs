//! Flattens the settings of an element into a list of paths and texts, which `show` prints and `diff`
//! compares.

use crate::tree::{Node, Prop, Props, Value};

/// A setting: its path within the element, and its value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The property names joined by dots; list items in brackets.
    pub path: String,
    /// The property of the element that holds it.
    pub top: String,
    /// The innermost property that holds it.
    pub property: String,
    /// The text, as JMeter's screen would show it.
    pub value: String,
}

/// All settings of an element except empty texts and empty lists.
pub fn settings(node: &Node) -> Vec<Setting> {
    let mut all = Vec::new();
    if !node.enabled {
        all.push(Setting {
            path: "enabled".to_owned(),
            top: String::new(),
            property: String::new(),
            value: "false".to_owned(),
        });
    }
    let of_node = Place {
        path: "",
        top: None,
        property: "",
    };
    of_props(&of_node, &node.class, &node.props, &mut all);
    all
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p str,
    /// The property of the element; `None` at the element itself.
    top: Option<&'p str>,
    property: &'p str,
}

/// A property's name without its class prefix: `num_threads` of `ThreadGroup.num_threads`.
pub(crate) fn short_name(name: &str) -> &str {
    match name.split_once('.') {
        Some((before, rest))
            if before.starts_with(|c: char| c.is_uppercase()) && !rest.is_empty() =>
        {
            rest
        }
        _ => name,
    }
}

fn of_props(place: &Place<'_>, class: &str, props: &Props, all: &mut Vec<Setting>) {
    for prop in props {
        let is_special = prop.name.starts_with("TestElement.");
        // The path of an argument's value already contains its name.
        let is_name = matches!(
            prop.name.as_str(),
            "Argument.name" | "Header.name" | "Argument.metadata"
        );
        let is_beside = is_name && matches!(class, "Argument" | "HTTPArgument" | "Header");
        if !is_special && !is_beside {
            let path = own_path(place.path, class, &prop.name);
            let inner = Place {
                path: &path,
                top: Some(place.top.unwrap_or(&prop.name)),
                property: &prop.name,
            };
            of_value(&inner, &prop.value, all);
        }
    }
}

/// The path of a property within the element that `path` leads to. The value of an argument or of a header field stands for the
/// whole item.
pub fn own_path(path: &str, class: &str, name: &str) -> String {
    let is_item = matches!(class, "Argument" | "HTTPArgument" | "Header");
    if is_item && matches!(name, "Argument.value" | "Header.value") {
        return path.to_owned();
    }
    joined(path, short_name(name))
}

pub(crate) fn joined(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => path.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

fn of_value(place: &Place<'_>, value: &Value, all: &mut Vec<Setting>) {
    let path = place.path;
    match value {
        Value::Element(element) => {
            of_props(place, &element.class, &element.props, all);
            // Elements that code makes have no such attribute.
            if !element.enabled && !element.enabled_as.is_empty() {
                let path = joined(path, "enabled");
                let inner = Place {
                    path: &path,
                    ..*place
                };
                push(&inner, "false".to_owned(), all);
            }
        }
        Value::List(items) | Value::Map(items) => {
            for (number, item) in (1..).zip(items) {
                let name = item_name(item);
                let path = if name.is_empty() {
                    format!("{path}[{number}]")
                } else {
                    format!("{path}[{name}]")
                };
                let inner = Place {
                    path: &path,
                    ..*place
                };
                of_value(&inner, &item.value, all);
            }
        }
        Value::Object(object) => {
            let fields = object.children.iter().filter(|field| field.text != "false");
            let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
            push(place, names.join(" "), all);
        }
        other => push(place, other.as_str().into_owned(), all),
    }
}

/// The name that identifies an item of a list: that of an argument or a header field. Others have none.
pub fn item_name(item: &Prop) -> String {
    let Value::Element(element) = &item.value else {
        return String::new();
    };
    let named = [
        "Argument.name",
        "Header.name",
        "Cookie.name",
        "File.path",
        "Authorization.url",
    ];
    let name = named.iter().find_map(|name| element.props.value(name));
    name.map(|name| name.as_str().into_owned())
        .unwrap_or_default()
}

fn push(place: &Place<'_>, value: String, all: &mut Vec<Setting>) {
    if !value.is_empty() {
        all.push(Setting {
            path: place.path.to_owned(),
            top: place.top.unwrap_or_default().to_owned(),
            property: place.property.to_owned(),
            value,
        });
    }
}
