//! Values that apply because other elements in the scope say so: defaults, header fields, cookies.

use drumfire_elements::config::{cookie_manager, header_manager};
use drumfire_elements::{Role, items};
use drumfire_jmx::{Node, Prop, Value};

use crate::operations::defaults::role;
use crate::protocol::types::{Column, Effective, Field, Table};
use crate::tree::{Id, Model};

/// The heading of what other elements add to a request.
const INHERITED: &str = "From other elements";

/// The enabled configuration elements in the scope of an element, the nearest first. Those of one parent come in their order.
fn in_scope(model: &Model, id: Id) -> Vec<(Id, &Node)> {
    let outline = model.outline();
    let mut configs_in_scope = Vec::new();
    let Some(at) = outline.index(id) else {
        return configs_in_scope;
    };
    for holder in outline.upwards(at) {
        let children = outline.entries[holder]
            .children
            .iter()
            .zip(&model.node_at(holder).children);
        let configs = children
            .filter(|(own, node)| **own != id && node.enabled && role(node) == Some(Role::Config));
        configs_in_scope.extend(configs.map(|(own, node)| (*own, node)));
    }
    configs_in_scope
}

/// Adds to empty fields the values of the defaults in scope (`AbstractTestElement#mergeIn`: the nearest that is not empty).
pub fn inherit(model: &Model, id: Id, fields: &mut [Field]) {
    if model.node(id).and_then(role) != Some(Role::Sampler) {
        return;
    }
    let scope = in_scope(model, id);
    let is_empty = |field: &&mut Field| {
        field.table.is_none() && field.value.as_deref().is_none_or(str::is_empty)
    };
    for field in fields.iter_mut().filter(is_empty) {
        let given = scope.iter().find_map(|(own, node)| {
            let value = node.props.str(&field.property);
            (!value.is_empty()).then(|| Effective {
                value: value.into_owned(),
                from: *own,
                name: node.name.to_string(),
            })
        });
        field.effective = given;
    }
}

/// The header fields and cookies that other elements add to a request.
pub fn sent(model: &Model, id: Id) -> Vec<Field> {
    let scope = in_scope(model, id);
    let all = |class: &str, list: &str| {
        let managers = scope.iter().filter(|(_, node)| node.class == class);
        let rows =
            managers.flat_map(|(_, node)| node.props.list(list).iter().map(|item| (*node, item)));
        rows.collect::<Vec<_>>()
    };
    let headers = all(header_manager::CLASS, header_manager::HEADERS.name);
    let name = |item: &Prop| text(item, items::HEADER_NAME.name);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (manager, item) in headers {
        // The nearest manager wins (`HeaderManager#merge`).
        let is_set = rows
            .iter()
            .any(|row| row[0].eq_ignore_ascii_case(&name(item)));
        if !is_set {
            rows.push(vec![
                name(item),
                text(item, items::HEADER_VALUE.name),
                manager.name.to_string(),
            ]);
        }
    }
    // Of several cookie managers, JMeter takes the nearest.
    let manager = scope
        .iter()
        .find(|(_, node)| node.class == cookie_manager::CLASS);
    let cookies = manager.into_iter().flat_map(|(_, node)| {
        let list = node.props.list(cookie_manager::COOKIES.name).iter();
        list.map(|item| {
            let name = match &item.value {
                Value::Element(element) => element.name.to_string(),
                _ => String::new(),
            };
            vec![
                name,
                text(item, items::COOKIE_VALUE.name),
                node.name.to_string(),
            ]
        })
    });
    [("Header fields", rows), ("Cookies", cookies.collect())]
        .into_iter()
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(label, rows)| shown(label, rows))
        .collect()
}

fn text(item: &Prop, property: &str) -> String {
    match &item.value {
        Value::Element(element) => element.props.str(property).into_owned(),
        _ => String::new(),
    }
}

fn shown(label: &str, rows: Vec<Vec<String>>) -> Field {
    let columns = ["Name", "Value", "From"].map(|label| Column {
        property: label.to_lowercase(),
        label: label.to_owned(),
        kind: "text".to_owned(),
        ..Column::default()
    });
    Field {
        property: format!("inherited/{}", label.to_lowercase()),
        label: label.to_owned(),
        kind: "table".to_owned(),
        section: Some(INHERITED.to_owned()),
        read_only: true,
        table: Some(Table {
            columns: columns.to_vec(),
            rows,
        }),
        ..Field::default()
    }
}
