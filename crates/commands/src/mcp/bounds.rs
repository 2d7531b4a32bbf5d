//! What plans an agent may run: those that send to the hosts of `--allow-run` only, and that touch no file outside of the folder.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use drumfire_edit::Refused;
use drumfire_edit::refused::UNFIT;
use drumfire_elements::{ElementFacts, Kind, Role, config, listeners, pre, samplers};
use drumfire_jmx::Node;
use serde_json::json;

use super::desk::Desk;
use crate::engine::Rung;

/// The property by which the run refuses requests to other hosts.
const ALLOWED_HOSTS: &str = "drumfire.http.allowed_hosts";
/// Lifts all bounds.
const ANY: &str = "*";

/// Functions that run code or touch files.
const FUNCTIONS: [&str; 10] = [
    "__StringToFile",
    "__StringFromFile",
    "__FileToString",
    "__CSVRead",
    "__XPath",
    "__groovy",
    "__BeanShell",
    "__javaScript",
    "__jexl2",
    "__jexl3",
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
        _ => return true,
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
        return Some(format!("`{name}` is a {}", facts.name));
    }
    let texts: Vec<&str> = node.props.texts().chain([&*node.name]).collect();
    let is_called = |function: &&&str| texts.iter().any(|text| text.contains(**function));
    let function = FUNCTIONS.iter().find(is_called);
    if let Some(function) = function {
        return Some(format!("`{name}` calls a function such as `{function}`"));
    }
    let far = facts
        .properties()
        .filter(|property| matches!(property.kind, Kind::File(_)));
    let far = far
        .map(|property| node.props.str(property.name))
        .find(|file| !is_inside(file));
    far.map(|file| format!("`{name}` names the file `{file}`"))
}

/// Whether a file stays in the folder of its plan, whatever the run computes.
fn is_inside(file: &str) -> bool {
    let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !file.contains("${") && Path::new(file.trim()).components().all(stays)
}
