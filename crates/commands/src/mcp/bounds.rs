//! The bounds of an agent's runs: a plan may send to the hosts of `--allow-run` only, and touch no file outside of its folder.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use drumfire_edit::Refused;
use drumfire_edit::refused::UNFIT;
use drumfire_elements::controllers::include_controller;
use drumfire_elements::{ElementFacts, Kind, Role, config, listeners, pre, samplers};
use drumfire_expr::FunctionRung;
use drumfire_jmx::{Node, Props, Value};
use serde_json::json;

use super::desk::Desk;
use crate::engine::Rung;

/// The property by which the run refuses requests to other hosts.
const ALLOWED_HOSTS: &str = "drumfire.http.allowed_hosts";
/// Lifts all bounds.
const ANY: &str = "*";

/// Functions that Drumfire runs itself and that run code, touch files, read the environment, or evaluate a text that a server sent.
const UNHELD_FUNCTIONS: [&str; 12] = [
    "__StringToFile",
    "__StringFromFile",
    "__FileToString",
    "__CSVRead",
    "__XPath",
    "__groovy",
    "__javaScript",
    "__jexl2",
    "__jexl3",
    "__env",
    "__eval",
    "__evalVar",
];

/// The samplers, configurations, listeners and pre-processors whose effects the bounds hold. Controllers, timers, assertions and
/// extractors have none beyond their variables.
fn is_held(facts: &ElementFacts) -> bool {
    let held: &[&str] = match facts.role {
        Role::Sampler => &[
            samplers::http_request::CLASS,
            samplers::debug_sampler::CLASS,
            samplers::dummy_sampler::CLASS,
            samplers::flow_control_action::CLASS,
            samplers::set_variables_action::CLASS,
        ],
        Role::Config | Role::Data => &[
            config::auth_manager::CLASS,
            config::cache_manager::CLASS,
            config::cookie_manager::CLASS,
            config::counter::CLASS,
            config::csv_data_set::CLASS,
            config::header_manager::CLASS,
            config::http_defaults::CLASS,
            config::random_variable::CLASS,
            config::user_defined_variables::CLASS,
        ],
        Role::Listener => &[
            listeners::result_collector::CLASS,
            listeners::summariser::CLASS,
        ],
        Role::PreProcessor => &[pre::user_parameters::CLASS, pre::sample_timeout::CLASS],
        // The elements of an included plan are not looked at.
        _ => return facts.class != include_controller::CLASS,
    };
    held.contains(&facts.class)
}

/// The properties that hold a run within its bounds.
pub fn properties(desk: &Desk) -> BTreeMap<String, String> {
    let hosts = (!is_unbounded(desk)).then(|| desk.allowed.join(","));
    hosts
        .into_iter()
        .map(|hosts| (ALLOWED_HOSTS.to_owned(), hosts))
        .collect()
}

fn is_unbounded(desk: &Desk) -> bool {
    desk.allowed.iter().any(|host| host == ANY)
}

/// Refuses a plan that may not be run.
pub fn check(desk: &Desk, plan: u64) -> Result<(), Refused> {
    if desk.allowed.is_empty() {
        let refused = Refused::new(UNFIT, "this server may not run plans");
        return Err(refused.hint("start `drumfire mcp --allow-run HOST`, or with `*` for any plan"));
    }
    if is_unbounded(desk) {
        return Ok(());
    }
    let text = desk.request("text", json!({"plan": plan}))?;
    let path = desk.path(plan)?;
    let text = text["text"].as_str().unwrap_or_default();
    let read = drumfire_jmx::read(text.as_bytes(), &path).map_err(|_| {
        Refused::new(UNFIT, "the plan cannot be read").hint("see its findings with `check`")
    })?;
    let rungs = desk.looker.glance(&path, &read.tree, true).rungs;
    let mut bounds = Bounds {
        rungs: rungs.into_iter(),
        beyond: None,
    };
    bounds.nodes(&read.tree.roots, true);
    match bounds.beyond {
        None => Ok(()),
        Some(beyond) => Err(Refused::new(
            UNFIT,
            format!("{beyond}, which --allow-run with a host does not cover"),
        )
        .hint("let the user start `drumfire mcp --allow-run '*'`")),
    }
}

struct Bounds {
    /// How each element runs, in the order of the file.
    rungs: std::vec::IntoIter<Rung>,
    /// The first effect that the bounds do not hold.
    beyond: Option<String>,
}

impl Bounds {
    fn nodes(&mut self, nodes: &[Node], is_enabled: bool) {
        for node in nodes {
            let is_enabled = is_enabled && node.enabled;
            let rung = self.rungs.next();
            if is_enabled && self.beyond.is_none() {
                self.beyond = beyond(node, rung.as_ref());
            }
            self.nodes(&node.children, is_enabled);
        }
    }
}

/// The effect of an element that the bounds do not hold.
fn beyond(node: &Node, rung: Option<&Rung>) -> Option<String> {
    let name = &node.name;
    if !matches!(rung, Some(Rung::Native | Rung::Skipped)) {
        return Some(format!("`{name}` runs by Java"));
    }
    let Some(facts) = drumfire_elements::of_class(&node.class) else {
        return Some(format!("`{name}` is of an unknown class"));
    };
    if !is_held(facts) {
        return Some(format!("`{name}` is of the type {}", facts.name));
    }
    let mut texts = node.props.texts().chain([&*node.name]);
    if let Some(function) = texts.find_map(unheld_function) {
        return Some(format!("`{name}` calls `{function}`"));
    }
    let mut files = Vec::new();
    collect_files(facts, &node.props, None, &mut files);
    let far = files.into_iter().find(|file| !is_inside(file));
    far.map(|file| format!("`{name}` names the file `{file}`"))
}

/// The first function in a text that the bounds do not hold.
fn unheld_function(text: &str) -> Option<&str> {
    text.match_indices("${__").find_map(|(at, _)| {
        let called = &text[at + 2..];
        let end = called.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = &called[..end.unwrap_or(called.len())];
        let is_native =
            drumfire_expr::function(name).is_some_and(|spec| spec.rung() == FunctionRung::Native);
        let is_held = is_native && !UNHELD_FUNCTIONS.contains(&name);
        (!is_held).then_some(name)
    })
}

/// The values of all settings for files, also of elements within the element, such as uploads.
fn collect_files(facts: &ElementFacts, props: &Props, top: Option<&str>, files: &mut Vec<String>) {
    for prop in props {
        let top = top.unwrap_or(&prop.name);
        let kind = facts
            .property(top, &prop.name)
            .map(|property| property.kind);
        if let Some(Kind::File(_)) = kind {
            files.push(prop.value.as_str().into_owned());
        }
        collect_within(facts, &prop.value, top, files);
    }
}

fn collect_within(facts: &ElementFacts, value: &Value, top: &str, files: &mut Vec<String>) {
    match value {
        Value::Element(element) => collect_files(facts, &element.props, Some(top), files),
        Value::List(props) | Value::Map(props) => {
            for prop in props {
                collect_within(facts, &prop.value, top, files);
            }
        }
        _ => {}
    }
}

/// Whether a file stays in the folder of its plan, whatever the run computes.
fn is_inside(file: &str) -> bool {
    !file.contains("${")
        && Path::new(file.trim())
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
