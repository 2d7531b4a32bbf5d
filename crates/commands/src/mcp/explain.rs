//! Descriptions of names: element types, functions, properties, exit codes.

use drumfire_edit::Refused;
use drumfire_edit::refused::PARAMETERS;
use drumfire_elements::ElementFacts;
use drumfire_expr::{FunctionRung, FunctionSpec};
use drumfire_jmx::{Effect, KnownProperty, did_you_mean, known_property};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit_codes;

/// Parameters of `explain`.
#[derive(Deserialize)]
pub struct Explain {
    about: String,
}

pub fn explain(arguments: &Explain) -> Result<Value, Refused> {
    let about = arguments.about.trim();
    if let Some((exit, meaning)) = exit_codes::ALL
        .iter()
        .find(|(exit, _)| exit.code().to_string() == about)
    {
        return Ok(json!({"exit_code": exit.code(), "meaning": meaning}));
    }
    let element = drumfire_elements::all().find(|facts| is_named(facts, about));
    if let Some(facts) = element {
        return Ok(element_text(facts));
    }
    let function = about.trim_start_matches("${").trim_start_matches("__");
    let function = function.split(['(', '}']).next().unwrap_or(function);
    if let Some(spec) = drumfire_expr::function(&format!("__{function}")) {
        return Ok(function_text(spec));
    }
    if let Some(property) = known_property(about) {
        return Ok(property_text(about, property));
    }
    let refused = Refused::new(PARAMETERS, format!("nothing is called `{about}`"));
    let names = drumfire_elements::all()
        .flat_map(|facts| [facts.name, facts.class])
        .chain(drumfire_expr::functions().iter().map(|spec| spec.name));
    Err(match did_you_mean(about, names) {
        Some(near) => refused.hint(format!("did you mean `{near}`?")),
        None => refused.hint("give a type such as `HTTP Request`, a function such as `__P`, a property, or an exit code"),
    })
}

fn is_named(facts: &ElementFacts, about: &str) -> bool {
    let plain = facts.class.rsplit('.').next().unwrap_or(facts.class);
    let names = [facts.name, facts.class, plain];
    names
        .into_iter()
        .any(|name| name.eq_ignore_ascii_case(about))
}

fn element_text(facts: &ElementFacts) -> Value {
    let properties: Vec<Value> = facts
        .properties()
        .map(|property| {
            let mut text = json!({"property": property.name, "label": property.label, "default": property.default});
            if !property.help.is_empty() {
                text["help"] = json!(property.help);
            }
            text
        })
        .collect();
    let mut text = json!({
        "type": facts.name, "class": facts.class, "category": facts.role.menu(), "help": facts.help, "properties": properties,
    });
    for (name, value) in [("differs", facts.differs), ("since", facts.since)] {
        if !value.is_empty() {
            text[name] = json!(value);
        }
    }
    text
}

fn function_text(spec: &FunctionSpec) -> Value {
    let parameters: Vec<&str> = spec
        .parameters
        .iter()
        .map(|parameter| parameter.name)
        .collect();
    let mut text = json!({
        "function": spec.name, "help": spec.doc, "parameters": parameters, "arguments": {"min": spec.min, "max": spec.max},
        "runs": if spec.rung() == FunctionRung::Native { "native" } else { "java" },
    });
    if !spec.differs.is_empty() {
        text["differs"] = json!(spec.differs);
    }
    text
}

fn property_text(name: &str, property: &KnownProperty) -> Value {
    let mut text = json!({"property": name, "default": property.default, "help": property.doc});
    if let Effect::None(reason) = property.effect {
        text["without_effect"] = json!(reason);
    }
    text
}
