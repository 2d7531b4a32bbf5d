//! Completions at a position: variables, functions, properties, settings of elements.

use std::collections::BTreeMap;

use drumfire_elements::ElementFacts;
use drumfire_jmx::{KNOWN_PROPERTIES, Node};
use drumfire_refactor::{Joined, OccurrenceKind, PlanFile, Subject};

use crate::hover;
use crate::protocol::{CompletionItem, CompletionItemKind, InsertTextFormat, MarkupContent};
use crate::settings;
use crate::workspace::element_at;

/// The kind of word that the user is typing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Context<'t> {
    /// A name or a call after `${`.
    Reference,
    /// An argument of a function, by its index.
    Argument(&'t str, usize),
    /// The name of a property of an element.
    Setting,
    /// The value of a property, by its opening tag.
    Value(&'t str),
}

/// How far back to search for the start of a reference.
const LONGEST: usize = 2_000;

/// The possible completions of a text, which is the line up to the cursor.
pub fn items(
    before: &str,
    plan: Option<&PlanFile>,
    joined: &Joined,
    properties: &[(String, String)],
    offset: usize,
) -> Vec<CompletionItem> {
    match context(before) {
        Some(Context::Reference) => {
            let mut all = variables(joined);
            all.extend(functions());
            all
        }
        Some(Context::Argument(function, at)) => arguments(function, at, joined, properties),
        Some(Context::Setting) => plan
            .map(|plan| element_properties(plan, offset))
            .unwrap_or_default(),
        Some(Context::Value(tag)) => plan
            .map(|plan| values(plan, offset, tag))
            .unwrap_or_default(),
        None => Vec::new(),
    }
}

fn context(before: &str) -> Option<Context<'_>> {
    let from = before.ceil_char_boundary(before.len().saturating_sub(LONGEST));
    let before = &before[from..];
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(sign) = before[at..].chars().next() {
        match sign {
            '$' if before[at + 1..].starts_with('{') => {
                open.push(at + 2);
                at += 1;
            }
            '}' => drop(open.pop()),
            _ => {}
        }
        at += sign.len_utf8();
    }
    if let Some(start) = open.last() {
        let inside = &before[*start..];
        return Some(match inside.split_once('(') {
            Some((function, arguments)) => {
                Context::Argument(function.trim(), arguments.matches(',').count())
            }
            None => Context::Reference,
        });
    }
    let tag = &before[before.rfind('<')?..];
    if let Some((tag, _)) = tag.split_once('>') {
        return settings::name(tag).map(|_| Context::Value(tag));
    }
    let (head, value) = tag.rsplit_once("name=\"")?;
    let is_property = head.split_whitespace().next()?.ends_with("Prop");
    (is_property && !value.contains('"')).then_some(Context::Setting)
}

fn plain(label: &str, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind,
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        insert_text: None,
        insert_text_format: None,
        documentation: None,
    }
}

/// The variables that these plans set, each with the element that sets it.
fn variables(joined: &Joined) -> Vec<CompletionItem> {
    let mut details_by_name: BTreeMap<&str, String> = BTreeMap::new();
    for plan in &joined.plans {
        for one in &plan.index().names {
            if one.subject == Subject::Variable && one.kind == OccurrenceKind::Set {
                details_by_name
                    .entry(&one.name)
                    .or_insert_with(|| plan.index().path(one.element).join(" > "));
            }
        }
    }
    details_by_name
        .into_iter()
        .map(|(name, setter)| plain(name, CompletionItemKind::VARIABLE, &setter))
        .collect()
}

fn functions() -> Vec<CompletionItem> {
    let specs = drumfire_expr::functions();
    specs
        .iter()
        .map(|spec| {
            let required = spec
                .parameters
                .iter()
                .filter(|parameter| parameter.required);
            let places: Vec<String> = required
                .enumerate()
                .map(|(at, parameter)| format!("${{{}:{}}}", at + 1, parameter.name))
                .collect();
            CompletionItem {
                insert_text: Some(format!("{}({})", spec.name, places.join(","))),
                insert_text_format: Some(InsertTextFormat::SNIPPET),
                documentation: Some(MarkupContent::markdown(hover::function(spec))),
                ..plain(
                    spec.name,
                    CompletionItemKind::FUNCTION,
                    &hover::signature(spec),
                )
            }
        })
        .collect()
}

fn arguments(
    function: &str,
    at: usize,
    joined: &Joined,
    properties: &[(String, String)],
) -> Vec<CompletionItem> {
    let Some(spec) = drumfire_expr::function(function) else {
        return Vec::new();
    };
    let Some(parameter) = spec.parameters.get(at).or(spec.parameters.last()) else {
        return Vec::new();
    };
    if parameter.name.contains("property") {
        return property_names(joined, properties);
    }
    if parameter.name.contains("variable") {
        variables(joined)
    } else {
        Vec::new()
    }
}

/// Properties that are set, that these plans name, and that Drumfire documents.
fn property_names(joined: &Joined, properties: &[(String, String)]) -> Vec<CompletionItem> {
    let mut meaning_by_name: BTreeMap<String, String> = BTreeMap::new();
    for known in KNOWN_PROPERTIES
        .iter()
        .flat_map(|section| section.properties)
    {
        if !known.name.ends_with('*') {
            meaning_by_name.insert(known.name.to_owned(), known.doc.to_owned());
        }
    }
    for plan in &joined.plans {
        let named = plan.index().names.iter();
        for one in named.filter(|one| one.subject == Subject::Property) {
            meaning_by_name.entry(one.name.clone()).or_default();
        }
    }
    for (name, value) in properties {
        meaning_by_name
            .entry(name.clone())
            .or_insert_with(|| value.clone());
    }
    meaning_by_name
        .into_iter()
        .map(|(name, detail)| plain(&name, CompletionItemKind::PROPERTY, &detail))
        .collect()
}

/// The values that a property takes: those that its element's form offers, and for any flag true and false.
fn values(plan: &PlanFile, offset: usize, tag: &str) -> Vec<CompletionItem> {
    let facts = settings::facts(plan, offset);
    let property = settings::name(tag).and_then(|name| facts?.property(name, name));
    let choices = match property {
        Some(property) => settings::choices(property),
        None if tag.starts_with("<boolProp") => vec![("true", ""), ("false", "")],
        None => Vec::new(),
    };
    choices
        .into_iter()
        .map(|(value, label)| plain(value, CompletionItemKind::VALUE, label))
        .collect()
}

/// Properties of the element at a position: those that its form shows, and those of its class in this plan.
fn element_properties(plan: &PlanFile, offset: usize) -> Vec<CompletionItem> {
    let Some(at) = element_at(&plan.index().elements, offset) else {
        return Vec::new();
    };
    let element = &plan.index().elements[at];
    let class = element.class.as_str();
    let mut items: BTreeMap<&str, CompletionItem> = BTreeMap::new();
    for property in settings::facts(plan, offset)
        .into_iter()
        .flat_map(ElementFacts::properties)
    {
        let item = CompletionItem {
            documentation: Some(MarkupContent::markdown(settings::describe(property))),
            ..plain(property.name, CompletionItemKind::FIELD, property.label)
        };
        items.insert(property.name, item);
    }
    let mut open: Vec<&Node> = plan.tree.roots.iter().collect();
    while let Some(node) = open.pop() {
        open.extend(&node.children);
        if node.class != class {
            continue;
        }
        for name in node.props.iter().map(|prop| prop.name.as_str()) {
            items
                .entry(name)
                .or_insert_with(|| plain(name, CompletionItemKind::FIELD, class));
        }
    }
    items.remove("");
    items.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts() {
        for (before, expected) in [
            ("<stringProp name=\"a\">x ${", Some(Context::Reference)),
            ("${a} ${__P(users,${de", Some(Context::Reference)),
            ("${__P(us", Some(Context::Argument("__P", 0))),
            ("${__P(${a},", Some(Context::Argument("__P", 1))),
            (
                "<boolProp name=\"a\">tr",
                Some(Context::Value("<boolProp name=\"a\"")),
            ),
            (
                "<stringProp name=\"a\">${b} ",
                Some(Context::Value("<stringProp name=\"a\"")),
            ),
            ("<hashTree> ", None),
            ("  <stringProp name=\"HTTP", Some(Context::Setting)),
            ("plain", None),
        ] {
            assert_eq!(context(before), expected, "{before}");
        }
    }
}
