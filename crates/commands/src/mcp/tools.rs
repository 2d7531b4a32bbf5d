//! The tools: their names, what they do, and their parameters.

use std::sync::Arc;

use drumfire_edit::Refused;
use drumfire_edit::protocol::described::notation;
use drumfire_edit::protocol::methods::METHODS;
use drumfire_edit::refused::PARAMETERS;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::desk::{self, Desk};
use super::{explain, running};

/// The effect of a tool on its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Changes,
    /// Sends requests.
    Sends,
}

struct ToolText {
    name: &'static str,
    about: &'static str,
    effect: Effect,
    /// Name, type in JSON Schema, whether it must be given, meaning.
    parameters: &'static [(&'static str, &'static str, bool, &'static str)],
}

const PLAN: (&str, &str, bool, &str) = (
    "plan",
    "integer",
    true,
    "The number that `open` gave the plan.",
);
const ID: (&str, &str, bool, &str) = ("id", "integer", true, "The number of the element.");

/// The operations of `edit`, which are methods of the editor's protocol.
pub const OPERATIONS: [&str; 17] = [
    "set",
    "table",
    "set_xml",
    "rename",
    "enable",
    "insert",
    "paste",
    "move",
    "remove",
    "duplicate",
    "wrap",
    "unwrap",
    "change_type",
    "replace",
    "undo",
    "redo",
    "resolve",
];

const TOOLS: [ToolText; 10] = [
    ToolText {
        name: "open",
        about: "Opens a plan of the folder and returns its number, its outline and its findings. Unsaved changes of an earlier session are there again.",
        effect: Effect::Reads,
        parameters: &[(
            "path",
            "string",
            true,
            "The file (.jmx), relative to the folder.",
        )],
    },
    ToolText {
        name: "tree",
        about: "Returns the outline of a plan: a line for each element with its number, type, name and state. With `find`, returns the places of a text in names and values instead.",
        effect: Effect::Reads,
        parameters: &[
            PLAN,
            (
                "id",
                "integer",
                false,
                "Only this element and those below it.",
            ),
            ("find", "string", false, "A text to find."),
            (
                "regex",
                "boolean",
                false,
                "Read `find` as a regular expression.",
            ),
        ],
    },
    ToolText {
        name: "element",
        about: "Returns an element: its properties with labels, values, defaults and choices, its XML, the variables in its scope, its findings, and the types that may be inserted below it.",
        effect: Effect::Reads,
        parameters: &[PLAN, ID],
    },
    ToolText {
        name: "edit",
        about: "Carries out operations on a plan, all or none. Returns the elements that are new, the findings that are new or gone, and the difference of the text.",
        effect: Effect::Changes,
        parameters: &[
            PLAN,
            (
                "operations",
                "array",
                true,
                "The operations, in their order.",
            ),
        ],
    },
    ToolText {
        name: "save",
        about: "Writes a plan to its file, after changes of other programs were merged.",
        effect: Effect::Changes,
        parameters: &[PLAN],
    },
    ToolText {
        name: "check",
        about: "Returns all findings of a plan: what JMeter or Drumfire would refuse, what will not do what it seems to, with line, remedy and fixes. Sends nothing.",
        effect: Effect::Reads,
        parameters: &[PLAN],
    },
    ToolText {
        name: "run_sampler",
        about: "Runs one sampler once with its configuration, extractors and assertions, as the plan stands, saved or not. Returns request, response, failures and variables. Needs --allow-run.",
        effect: Effect::Sends,
        parameters: &[
            PLAN,
            ID,
            (
                "variables",
                "object",
                false,
                "Values of variables that earlier samplers would set.",
            ),
        ],
    },
    ToolText {
        name: "run",
        about: "Runs a saved plan as load and returns verdict, totals and numbers of each label. Needs --allow-run.",
        effect: Effect::Sends,
        parameters: &[
            PLAN,
            (
                "once",
                "boolean",
                false,
                "One user and one iteration of each thread group.",
            ),
            ("users", "integer", false, "Users in all."),
            (
                "duration",
                "string",
                false,
                "How long each thread group runs, such as `30s`.",
            ),
            (
                "iterations",
                "integer",
                false,
                "How many iterations each user runs.",
            ),
            (
                "properties",
                "object",
                false,
                "JMeter properties, which `__P` reads.",
            ),
            (
                "fail_on",
                "array",
                false,
                "Conditions that fail the run, such as `p95 > 300ms`.",
            ),
            (
                "limit_s",
                "integer",
                false,
                "Seconds after which the run is stopped; 120 if missing.",
            ),
        ],
    },
    ToolText {
        name: "report",
        about: "Returns verdict, totals and numbers of each label of a run file (.drumfire) or a result file (.jtl) of the folder.",
        effect: Effect::Reads,
        parameters: &[("path", "string", true, "The file, relative to the folder.")],
    },
    ToolText {
        name: "explain",
        about: "Describes an element type (by its class or its name in JMeter's menu), a function such as `__P`, a property of JMeter or Drumfire, or an exit code.",
        effect: Effect::Reads,
        parameters: &[(
            "about",
            "string",
            true,
            "The name, or the number of an exit code.",
        )],
    },
];

/// The tools as the protocol describes them.
pub fn all() -> Vec<Tool> {
    TOOLS.iter().map(tool).collect()
}

fn tool(text: &ToolText) -> Tool {
    let mut properties = JsonObject::new();
    for (name, kind, _, about) in text.parameters {
        let mut schema = json!({"type": kind, "description": about});
        match *name {
            "operations" => schema["items"] = operation(),
            "variables" | "properties" => {
                schema["additionalProperties"] = json!({"type": "string"})
            }
            "fail_on" => schema["items"] = json!({"type": "string"}),
            _ => {}
        }
        properties.insert((*name).to_owned(), schema);
    }
    let required: Vec<&str> = text
        .parameters
        .iter()
        .filter(|(_, _, must, _)| *must)
        .map(|(name, ..)| *name)
        .collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    let hints = ToolAnnotations::new()
        .read_only(text.effect == Effect::Reads)
        .destructive(false)
        .open_world(text.effect == Effect::Sends);
    Tool::new(text.name, text.about, Arc::new(schema)).with_annotations(hints)
}

/// An operation of `edit`. Its description lists the parameters of each, as the editor's protocol has them.
fn operation() -> Value {
    let mut about = String::from("One of:");
    for method in METHODS
        .iter()
        .filter(|method| OPERATIONS.contains(&method.name))
    {
        let fields = method.parameters.fields.iter();
        let parameters: Vec<String> = fields
            .filter(|field| {
                !matches!(
                    field.name,
                    "plan" | "revision" | "join" | "preview" | "skip"
                )
            })
            .map(|field| format!("{}: {}", json_name(field.name), notation(field.kind)))
            .collect();
        about.push_str(&format!(
            "\n{} {{{}}}: {}",
            method.name,
            parameters.join(", "),
            method.about
        ));
    }
    json!({
        "type": "object",
        "description": about,
        "properties": {"op": {"type": "string", "enum": OPERATIONS}},
        "required": ["op"],
    })
}

/// The name of a field in JSON: `where` is a word of Rust.
fn json_name(field: &str) -> &str {
    if field == "places" { "where" } else { field }
}

/// Calls a tool.
pub fn call(desk: &Desk, name: &str, arguments: JsonObject) -> Result<Value, Refused> {
    let Some(text) = TOOLS.iter().find(|tool| tool.name == name) else {
        let refused = Refused::new(PARAMETERS, format!("there is no tool `{name}`"));
        return Err(nearest(refused, name, TOOLS.iter().map(|tool| tool.name)));
    };
    if let Some(stray) = arguments
        .keys()
        .find(|key| text.parameters.iter().all(|(own, ..)| own != key))
    {
        let refused = Refused::new(PARAMETERS, format!("`{name}` has no parameter `{stray}`"));
        return Err(nearest(
            refused,
            stray,
            text.parameters.iter().map(|(own, ..)| *own),
        ));
    }
    let plan = arguments.get("plan").and_then(Value::as_u64);
    let answer = carried_out(desk, name, Value::Object(arguments))?;
    match plan {
        Some(plan) => desk.without_secrets(plan, answer),
        None => Ok(answer),
    }
}

fn carried_out(desk: &Desk, name: &str, arguments: Value) -> Result<Value, Refused> {
    match name {
        "open" => desk.open(&read(arguments)?),
        "tree" => desk.tree(&read(arguments)?),
        "element" => desk.element(&read(arguments)?),
        "edit" => desk.edit(&read(arguments)?),
        "save" => desk.save(&read(arguments)?),
        "check" => {
            let desk::OfPlan { plan } = read(arguments)?;
            desk.request("findings", json!({"plan": plan}))
                .map(|findings| json!({"findings": findings}))
        }
        "run_sampler" => running::run_sampler(desk, &read(arguments)?),
        "run" => running::run(desk, &read(arguments)?),
        "report" => running::report(desk, &read(arguments)?),
        _ => explain::explain(&read(arguments)?),
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Refused> {
    serde_json::from_value(arguments)
        .map_err(|error| Refused::new(PARAMETERS, format!("the parameters do not fit: {error}")))
}

/// Adds the name that was probably meant.
fn nearest<'n>(refused: Refused, name: &str, names: impl Iterator<Item = &'n str>) -> Refused {
    match drumfire_jmx::did_you_mean(name, names) {
        Some(near) => refused.hint(format!("did you mean `{near}`?")),
        None => refused,
    }
}
