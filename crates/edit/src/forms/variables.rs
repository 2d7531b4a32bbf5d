//! The variables in the scope of an element, and completion.

use std::collections::BTreeMap;

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::{FileUse, Role};
use drumfire_jmx::{Node, Prop, Props, Span, Value};
use drumfire_refactor::{Index, OccurrenceKind, Subject, base_name};

use super::files;
use crate::operations::defaults::{ElementType, role};
use crate::protocol::types::{Completion, Reader, Setter, Variable};
use crate::session::Session;
use crate::tree::{Id, Model};

/// The thread group around an element.
fn group(model: &Model, at: usize) -> Option<usize> {
    let mut upwards = model.outline().upwards(at);
    upwards.find(|at| role(model.node_at(*at)) == Some(Role::ThreadGroup))
}

/// The variables in the scope of an element: those that its thread group, or elements outside of all thread groups, name.
pub fn variables(session: &Session, id: Id) -> Vec<Variable> {
    let model = session.model();
    let outline = model.outline();
    let own_group = outline.index(id).and_then(|at| group(model, at));
    let index = Index::of(model.tree());
    let mut by_name: BTreeMap<&str, Variable> = BTreeMap::new();
    for one in index
        .names
        .iter()
        .filter(|one| one.subject == Subject::Variable)
    {
        let around = group(model, one.element);
        let Some(entry) = outline.entries.get(one.element) else {
            continue;
        };
        if own_group.is_some() && around.is_some() && around != own_group {
            continue;
        }
        let variable = by_name.entry(&one.name).or_insert_with(|| Variable {
            name: one.name.clone(),
            ..Variable::default()
        });
        let node = model.node_at(one.element);
        if one.kind == OccurrenceKind::Set {
            let setter = Setter {
                id: entry.id,
                how: how(node),
            };
            if !variable.set_by.contains(&setter) {
                variable.set_by.push(setter);
            }
            variable.value = variable
                .value
                .take()
                .or_else(|| start_value(session, node, &one.name));
        } else {
            let reader = Reader {
                id: entry.id,
                property: property_at(node, one.span),
            };
            if !variable.read_by.contains(&reader) {
                variable.read_by.push(reader);
            }
        }
    }
    let set: Vec<String> = by_name
        .values()
        .filter(|one| !one.set_by.is_empty())
        .map(|one| one.name.clone())
        .collect();
    let mut all: Vec<Variable> = by_name.into_values().collect();
    for variable in &mut all {
        let is_part = || set.iter().any(|name| name == base_name(&variable.name));
        variable.never_set = variable.set_by.is_empty() && !is_part();
    }
    all
}

/// How an element sets a variable.
fn how(node: &Node) -> String {
    let kind = ElementType::of(node);
    let file = kind
        .and_then(|kind| kind.facts.data_file())
        .map(|name| node.props.str(name));
    match file.filter(|file| !file.is_empty()) {
        Some(file) => format!("column of {file}"),
        None => kind.map_or_else(|| node.class.to_string(), |kind| kind.name.to_owned()),
    }
}

/// The path of the property that holds an offset of the text.
pub fn property_at(node: &Node, span: Span) -> Option<String> {
    let mut property = None;
    crate::operations::search::props(&node.props, "", &mut |path, prop| {
        if prop.span.start <= span.start && span.end <= prop.span.end {
            property = Some(path.to_owned());
        }
    });
    property
}

/// The value of a variable when users start, if the element says it.
fn start_value(session: &Session, node: &Node, name: &str) -> Option<String> {
    let facts = ElementType::of(node)?.facts;
    if let Some(file) = facts.data_file() {
        return first_cell(session, node, facts, file, name);
    }
    let is_list = node.class == user_defined_variables::CLASS || facts.role == Role::Plan;
    is_list.then(|| argument(&node.props, name)).flatten()
}

/// The value of the argument with a name, in a list at any depth.
fn argument(props: &Props, name: &str) -> Option<String> {
    props.iter().find_map(|prop| within(prop, name))
}

fn within(prop: &Prop, name: &str) -> Option<String> {
    match &prop.value {
        Value::Element(element) if element.props.has("Argument.name") => {
            let is_it = element.props.str("Argument.name") == name;
            is_it.then(|| element.props.str("Argument.value").into_owned())
        }
        Value::Element(element) => argument(&element.props, name),
        Value::List(items) => items.iter().find_map(|item| within(item, name)),
        _ => None,
    }
}

/// The first value of a column of a data file.
fn first_cell(
    session: &Session,
    node: &Node,
    facts: &drumfire_elements::ElementFacts,
    file: &str,
    name: &str,
) -> Option<String> {
    let mut given = facts
        .set_names()
        .map(|property| node.props.str(property.name).into_owned());
    let names: String = given
        .find(|names| !names.trim().is_empty())
        .unwrap_or_default();
    let lines = files::file(session.path(), &node.props.str(file), FileUse::Data)?.first;
    let separator = node.props.str_or("delimiter", ",").into_owned();
    let separator = if separator == "\\t" {
        "\t".to_owned()
    } else {
        separator
    };
    let split = |line: &str| -> Vec<String> {
        line.split(separator.as_str())
            .map(|cell| cell.trim().trim_matches('"').to_owned())
            .collect()
    };
    let has_heading = names.trim().is_empty() || node.props.bool("ignoreFirstLine", false);
    let columns = if names.trim().is_empty() {
        split(lines.first()?)
    } else {
        names
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect()
    };
    let at = columns.iter().position(|column| column == name)?;
    let row = lines.get(usize::from(has_heading))?;
    split(row).get(at).cloned()
}

/// The byte offset of a position in UTF-16 units.
pub fn byte_offset(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, sign) in text.char_indices() {
        if left < sign.len_utf16() {
            return at;
        }
        left -= sign.len_utf16();
    }
    text.len()
}

/// The ways to complete the reference before the cursor: variables and functions.
pub fn complete(session: &Session, id: Id, text: &str, offset: usize) -> Vec<Completion> {
    let cursor = byte_offset(text, offset);
    let before = &text[..cursor];
    let Some(start) = before
        .rfind("${")
        .filter(|start| !before[*start..].contains(['}', '(']))
    else {
        return Vec::new();
    };
    let typed = before[start + "${".len()..].to_lowercase();
    let has_end = text[cursor..].starts_with('}');
    let completion = |insert: String, label: &str, detail: String| Completion {
        insert,
        start: drumfire_java::text::utf16_index(text, start),
        end: drumfire_java::text::utf16_index(text, cursor + usize::from(has_end)),
        label: label.to_owned(),
        detail,
    };
    let fits = |name: &str| name.to_lowercase().contains(&typed);
    let mut all: Vec<Completion> = variables(session, id)
        .into_iter()
        .map(|one| {
            let how = one
                .set_by
                .first()
                .map(|setter| setter.how.as_str())
                .unwrap_or("");
            let detail = match &one.value {
                Some(value) => format!("{value} ({how})"),
                None => how.to_owned(),
            };
            completion(format!("${{{}}}", one.name), &one.name, detail)
        })
        .collect();
    let functions = drumfire_expr::functions();
    all.extend(
        functions
            .iter()
            .filter(|function| fits(function.name))
            .map(|function| {
                let names: Vec<&str> = function
                    .parameters
                    .iter()
                    .map(|parameter| parameter.name)
                    .collect();
                let required = names.get(..function.min).unwrap_or(&names).join(",");
                let call = if function.max == Some(0) {
                    format!("${{{}}}", function.name)
                } else {
                    format!("${{{}({required})}}", function.name)
                };
                completion(
                    call,
                    &format!("{}({})", function.name, names.join(", ")),
                    function.doc.to_owned(),
                )
            }),
    );
    // Names that begin with the typed text come first.
    all.sort_by_key(|one| !one.label.to_lowercase().starts_with(&typed));
    all
}
