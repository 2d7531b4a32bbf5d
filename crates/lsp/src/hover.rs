//! The hover text at a position: documentation, definitions and values.

use drumfire_expr::FunctionSpec;
use drumfire_jmx::known_property;
use drumfire_refactor::{Joined, Occurrence, OccurrenceKind, PlanFile, Subject};

use crate::names::{Named, occurrences};
use crate::workspace::element_at;
use crate::{docs, settings, values};

/// Markdown about a position in a plan.
pub fn text(
    plan: &PlanFile,
    written: &str,
    joined: &Joined,
    properties: &[(String, String)],
    target: Option<&Named>,
    offset: usize,
) -> Option<String> {
    match target {
        Some(Named::Name(name)) => match name.subject {
            Subject::Variable => Some(variable(joined, properties, name)),
            Subject::Property => Some(property(properties, &name.name)),
            Subject::Function => {
                let called = name.name.split('(').next().unwrap_or(&name.name);
                drumfire_expr::function(called).map(function)
            }
            Subject::Timer => element(plan, offset),
        },
        Some(Named::Module(path)) => Some(format!("Leads to {}", path.join(" > "))),
        Some(Named::File(file)) => Some(format!("`{}`", file.display())),
        Some(Named::Element(_)) => element(plan, offset),
        None => match settings::at(plan, written, offset) {
            Some(property) => Some(settings::describe(property)),
            None => element(plan, offset),
        },
    }
}

fn variable(joined: &Joined, properties: &[(String, String)], name: &Occurrence) -> String {
    let mut text = format!("**`${{{}}}`**\n", name.name);
    let mut defined = Vec::new();
    for plan in &joined.plans {
        defined.extend(values::defined(&plan.tree));
    }
    let definition = defined.iter().find(|(own, _)| *own == name.name);
    if let Some((_, written)) = definition {
        let value = values::evaluated(written, &defined, properties);
        match value.filter(|value| value != written) {
            Some(value) => text.push_str(&format!("\n`{written}` = `{value}`\n")),
            None => text.push_str(&format!("\n`{written}`\n")),
        }
    }
    let mut lines = Vec::new();
    for (plan, names) in occurrences(joined, name) {
        for one in names.iter().filter(|one| one.kind == OccurrenceKind::Set) {
            let path = plan.index().path(one.element).join(" > ");
            let class = plan
                .index()
                .elements
                .get(one.element)
                .map(|element| element.class.as_str())
                .unwrap_or("");
            let line = format!("- set by {path} ({class})");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() && definition.is_none() {
        lines.push("- no element here sets it".to_owned());
    }
    text.push('\n');
    text.push_str(&lines.join("\n"));
    text
}

fn property(properties: &[(String, String)], name: &str) -> String {
    let mut text = format!("**Property `{name}`**\n");
    let set = properties.iter().rev().find(|(own, _)| own == name);
    match set {
        Some((_, value)) => text.push_str(&format!("\n`{value}`\n")),
        None => text.push_str("\nnot set\n"),
    }
    if let Some(property) = known_property(name) {
        text.push_str(&format!("\n{}\n", property.doc));
        if !property.default.is_empty() {
            text.push_str(&format!("\nDefault: `{}`\n", property.default));
        }
    }
    text
}

/// The call of a function with its parameters.
pub fn signature(spec: &FunctionSpec) -> String {
    let mut parameters = spec
        .parameters
        .iter()
        .map(|parameter| {
            if parameter.required {
                parameter.name.to_owned()
            } else {
                format!("[{}]", parameter.name)
            }
        })
        .collect::<Vec<_>>()
        .join(", ");
    if spec.max.is_none() {
        parameters.push_str(", …");
    }
    format!("${{{}({parameters})}}", spec.name)
}

/// Markdown about a function.
pub fn function(spec: &FunctionSpec) -> String {
    let mut text = format!("```\n{}\n```\n{}\n", signature(spec), spec.doc);
    if !spec.differs.is_empty() {
        text.push_str(&format!("\nDiffers from JMeter: {}\n", spec.differs));
    }
    text
}

fn element(plan: &PlanFile, offset: usize) -> Option<String> {
    let at = element_at(&plan.index().elements, offset)?;
    let element = &plan.index().elements[at];
    let path = plan.index().path(at).join(" > ");
    let Some((title, text)) = docs::of_class(&element.class) else {
        return Some(format!("**{}**\n\n{path}", element.class));
    };
    Some(format!(
        "**{title}** (`{}`)\n\n{path}\n\n{text}",
        element.class
    ))
}
