//! The requests of a scenario with their blocks: conditions, loops, transactions, actions.

use drumfire_elements::controllers::{
    foreach_controller, if_controller, loop_controller, once_only_controller, simple_controller,
    transaction_controller, while_controller,
};
use drumfire_elements::samplers::flow_control_action;
use drumfire_jmx::Node;
use serde_json::Value;

use crate::amount::seconds;
use crate::elements::{head, set_variables};
use crate::error::TaurusError;
use crate::extractors::scripts;
use crate::files::Files;
use crate::samplers::{InheritedSettings, http_request};
use crate::value::{Table, as_table, flag, text, text_or};

/// How deep blocks and included scenarios may be nested.
const MAX_DEPTH: usize = 100;

/// Compiles scenarios to elements.
pub(crate) struct ScenarioCompiler<'c> {
    /// All scenarios by name.
    pub scenarios: &'c Table,
    pub files: &'c Files,
    /// The scenarios that are being included, outermost first.
    pub path: Vec<String>,
    pub depth: usize,
}

impl ScenarioCompiler<'_> {
    /// All elements of a scenario that go into its thread group.
    pub fn scenario(&mut self, scenario: &Table) -> Result<Vec<Node>, TaurusError> {
        let mut nodes = head(scenario, self.files)?;
        nodes.extend(self.requests(scenario.get("requests"), scenario)?);
        scripts(scenario, self.files, &mut nodes)?;
        Ok(nodes)
    }

    fn requests(
        &mut self,
        list: Option<&Value>,
        scenario: &Table,
    ) -> Result<Vec<Node>, TaurusError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TaurusError::new("blocks of requests are nested too deeply"));
        }
        let mut nodes = Vec::new();
        let empty = Vec::new();
        let list = match list {
            Some(Value::Array(list)) => list,
            None | Some(Value::Null) => &empty,
            Some(other) => {
                let fault = TaurusError::new(format!(
                    "requests must be a list, and `{}` is not one",
                    text(other)
                ));
                return Err(fault.hint("write `- url: …` for each"));
            }
        };
        for request in list {
            let request = as_table(request, "url");
            nodes.extend(self.request(&request, scenario)?);
        }
        self.depth -= 1;
        Ok(nodes)
    }

    fn request(&mut self, request: &Table, scenario: &Table) -> Result<Vec<Node>, TaurusError> {
        if request.contains_key("if") {
            return self.conditional(request, scenario);
        }
        if let Some(controller) = self.controller(request, scenario)? {
            return Ok(vec![controller]);
        }
        let node = if request.contains_key("include-scenario") {
            self.included(&text_or(request, "include-scenario", ""))?
        } else if request.contains_key("action") {
            action(request, self.files)?
        } else if let Some(Value::Object(variables)) = request.get("set-variables") {
            set_variables(variables)
        } else {
            for key in ["setup", "teardown", "mqtt", "grpc"] {
                if request.contains_key(key) {
                    return Err(
                        TaurusError::new(format!("`{key}` blocks are not supported"))
                            .hint("leave them out"),
                    );
                }
            }
            let around = InheritedSettings {
                scenario,
                files: self.files,
            };
            http_request(request, &around)?
        };
        Ok(vec![node])
    }

    /// An `if` block: a controller for `then`, and one with the negated condition for `else`.
    fn conditional(&mut self, request: &Table, scenario: &Table) -> Result<Vec<Node>, TaurusError> {
        let condition = text_or(request, "if", "");
        let then = self.requests(Some(inner(request, "then")?), scenario)?;
        let mut nodes = vec![if_controller(&condition).above(then)];
        let otherwise = self.requests(request.get("else"), scenario)?;
        if !otherwise.is_empty() {
            nodes.push(if_controller(&format!("!({condition})")).above(otherwise));
        }
        Ok(nodes)
    }

    /// The controller of a block that contains requests; `None` for other requests.
    fn controller(
        &mut self,
        request: &Table,
        scenario: &Table,
    ) -> Result<Option<Node>, TaurusError> {
        let has = |key: &str| request.contains_key(key);
        if has("once") {
            let below = self.requests(request.get("once"), scenario)?;
            let node = once_only_controller::FACTS.node("Once Only Controller");
            return Ok(Some(node.above(below)));
        }
        let kinds = ["loop", "while", "foreach", "transaction"];
        let Some(kind) = kinds.into_iter().find(|kind| has(kind)) else {
            return Ok(None);
        };
        let below = self.requests(Some(inner(request, "do")?), scenario)?;
        let written = text_or(request, kind, "");
        let node = match kind {
            "loop" => looped(request),
            "while" => while_controller::FACTS
                .node("While Controller")
                .with(while_controller::CONDITION.name, written),
            "foreach" => foreach(&written)?,
            _ => transaction(&written, request, scenario),
        };
        Ok(Some(node.above(below)))
    }

    fn included(&mut self, name: &str) -> Result<Node, TaurusError> {
        if self.path.iter().any(|own| own == name) {
            return Err(TaurusError::new(format!(
                "the scenario `{name}` includes itself"
            )));
        }
        let Some(scenario) = self.scenarios.get(name).and_then(Value::as_object) else {
            return Err(TaurusError::new(format!(
                "`include-scenario` names `{name}`, which is not among the scenarios"
            )));
        };
        self.path.push(name.to_owned());
        let below = self.scenario(scenario)?;
        self.path.pop();
        Ok(simple_controller::FACTS.node(name).above(below))
    }
}

/// The requests within a block, which are required.
fn inner<'a>(request: &'a Table, key: &str) -> Result<&'a Value, TaurusError> {
    request.get(key).ok_or_else(|| {
        let kind = request.keys().next().map(String::as_str).unwrap_or("");
        TaurusError::new(format!("a `{kind}` block lacks `{key}`"))
            .hint(format!("write `{key}:` with a list of requests"))
    })
}

fn looped(request: &Table) -> Node {
    let loops = match text_or(request, "loop", "1") {
        forever if forever == "forever" => "-1".to_owned(),
        loops => loops,
    };
    loop_controller::FACTS
        .node("Loop Controller")
        .with(loop_controller::CONTINUE_FOREVER.name, true)
        .with(loop_controller::LOOPS.name, loops)
}

fn transaction(name: &str, request: &Table, scenario: &Table) -> Node {
    let parent = request
        .get("force-parent-sample")
        .or(scenario.get("force-parent-sample"));
    transaction_controller::FACTS
        .node(name)
        .with(
            transaction_controller::PARENT.name,
            crate::value::is_true(parent),
        )
        .with(
            transaction_controller::INCLUDE_TIMERS.name,
            flag(request, "include-timers", false),
        )
}

fn if_controller(condition: &str) -> Node {
    if_controller::FACTS
        .node("If Controller")
        .with(if_controller::CONDITION.name, condition)
}

fn foreach(written: &str) -> Result<Node, TaurusError> {
    let Some((variable, list)) = written.rsplit_once(" in ") else {
        let fault = TaurusError::new(format!("`foreach: {written}` does not name a list"));
        return Err(fault.hint("write `foreach: item in items`"));
    };
    Ok(foreach_controller::FACTS
        .node("ForEach Controller")
        .with(foreach_controller::INPUT.name, list)
        .with(foreach_controller::OUTPUT.name, variable)
        .with(foreach_controller::USE_SEPARATOR.name, true))
}

fn action(request: &Table, files: &Files) -> Result<Node, TaurusError> {
    let one_of = |key: &str, default: &str, known: &[(&str, i32)]| {
        let written = text_or(request, key, default);
        known
            .iter()
            .find(|(name, _)| *name == written)
            .map(|(_, number)| *number)
            .ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                TaurusError::new(format!("`{key}: {written}` is not known"))
                    .hint(format!("write one of {}", names.join(", ")))
            })
    };
    let actions = [("stop", 0), ("pause", 1), ("stop-now", 2), ("continue", 3)];
    let action = one_of("action", "", &actions)?;
    let target = one_of(
        "target",
        "current-thread",
        &[("current-thread", 0), ("all-threads", 2)],
    )?;
    let pause = request
        .get("pause-duration")
        .map(|time| seconds(&text(time)))
        .unwrap_or(Ok(0.0))
        .map_err(TaurusError::new)?;
    let mut below = Vec::new();
    scripts(request, files, &mut below)?;
    Ok(flow_control_action::FACTS
        .node("Test Action")
        .with("ActionProcessor.action", action)
        .with("ActionProcessor.target", target)
        .with(
            "ActionProcessor.duration",
            format!("{}", (pause * 1000.0).trunc()),
        )
        .above(below))
}
