//! The plans that an agent works on: the methods of the editor's protocol, with answers that say what an edit did.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use drumfire_edit::protocol::Host;
use drumfire_edit::refused::{FILE, PARAMETERS};
use drumfire_edit::{Id, Journals, Refused};
use drumfire_jmx::Node;
use drumfire_platform::secrets::secret;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::tools::OPERATIONS;
use crate::console::Console;
use crate::edit::{EditorProgram, JOURNALS};
use crate::engine::Engine;
use crate::lsp::Looker;
use crate::mcp::arguments::McpArguments;
use crate::refusal::Refusal;
use crate::show::secrets::masked;

/// The most lines of an outline.
const MOST_LINES: usize = 2_000;
/// The lines around a difference.
const CONTEXT: usize = 2;

/// The shortest secret that is masked in XML and differences, in bytes. A shorter one stands in other words too.
const SHORTEST: usize = 4;

/// The state behind the tools: the folder and its open plans.
pub struct Desk {
    host: Host,
    /// The folder that the program was started in. Nothing outside of it is read or written.
    pub folder: PathBuf,
    /// The hosts that `--allow-run` names.
    pub allowed: Vec<String>,
    pub looker: Looker,
    /// The notifications of the host: the method and its parameters.
    pub told: Mutex<Receiver<(String, Value)>>,
}

/// Parameters of tools that need only the plan.
#[derive(Deserialize)]
pub struct OfPlan {
    pub plan: u64,
}

/// Parameters of `open`.
#[derive(Deserialize)]
pub struct Open {
    path: String,
}

/// Parameters of `tree`.
#[derive(Deserialize)]
pub struct TreeOf {
    plan: u64,
    id: Option<Id>,
    find: Option<String>,
    #[serde(default)]
    regex: bool,
}

/// Parameters of `element`.
#[derive(Deserialize)]
pub struct ElementOf {
    pub plan: u64,
    pub id: Id,
}

/// Parameters of `edit`.
#[derive(Deserialize)]
pub struct Edit {
    plan: u64,
    operations: Vec<Value>,
}

/// A refusal as JSON.
pub fn shown(refused: &Refused) -> Value {
    let mut text = json!({"error": refused.message});
    if let Some(hint) = &refused.hint {
        text["hint"] = json!(hint);
    }
    if let Some(id) = refused.id {
        text["id"] = json!(id);
    }
    if let Some(property) = &refused.property {
        text["property"] = json!(property);
    }
    text
}

impl Desk {
    pub fn new(
        arguments: &McpArguments,
        engine: &Engine,
        console: &Console<'_>,
    ) -> Result<Desk, Refusal> {
        let folder = std::env::current_dir()
            .and_then(std::fs::canonicalize)
            .map_err(Refusal::failed)?;
        let state =
            drumfire_platform::state_folder(console.variable).map(|state| state.join(JOURNALS));
        let program = Arc::new(EditorProgram::new(Looker::new(*engine), state.as_deref()));
        let journals = state.map(Journals::new);
        let host = Host::new(program, journals, vec![folder.clone()]);
        let (tell, notifications) = channel();
        host.listen(Box::new(move |method, parameters| {
            let parameters = serde_json::from_str(parameters).unwrap_or_default();
            tell.send((method.to_owned(), parameters)).is_ok()
        }));
        Ok(Desk {
            host,
            folder,
            allowed: arguments.allow_run.clone(),
            looker: Looker::new(*engine),
            told: Mutex::new(notifications),
        })
    }

    /// Carries out a method of the editor's protocol.
    pub fn request(&self, method: &str, parameters: Value) -> Result<Value, Refused> {
        self.host.request(method, parameters)
    }

    /// A file of the folder.
    pub fn inside(&self, path: &str) -> Result<PathBuf, Refused> {
        let whole = self.folder.join(path);
        // A path to nothing cannot be followed; one that goes up could lead anywhere.
        let goes_up = Path::new(path)
            .components()
            .any(|part| part == Component::ParentDir);
        let whole = match std::fs::canonicalize(&whole) {
            Ok(whole) => whole,
            Err(_) if goes_up => PathBuf::new(),
            Err(_) => whole,
        };
        if whole.starts_with(&self.folder) {
            return Ok(whole);
        }
        let message = format!(
            "`{path}` is outside of the folder `{}`",
            self.folder.display()
        );
        Err(Refused::new(FILE, message).hint("start `drumfire mcp` in the folder that holds it"))
    }

    pub fn open(&self, arguments: &Open) -> Result<Value, Refused> {
        let path = self.inside(&arguments.path)?;
        let plan = self.request("open", json!({"path": path}))?["plan"].take();
        // With the findings, the outline knows how elements run.
        let findings = self.request("findings", json!({"plan": plan}))?;
        let opened = self.request("tree", json!({"plan": plan}))?;
        let findings = findings.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut answer = json!({
            "plan": plan,
            "version": opened["version"],
            "read_only": opened["read_only"],
            "unsaved": opened["dirty"],
            "outline": outline(&opened, None),
            "findings": counted(findings),
        });
        if let Some(plan) = plan.as_u64() {
            answer = self.without_secrets(plan, answer)?;
        }
        Ok(answer)
    }

    pub fn tree(&self, arguments: &TreeOf) -> Result<Value, Refused> {
        let plan = arguments.plan;
        match &arguments.find {
            Some(text) => self.request(
                "find",
                json!({"plan": plan, "text": text, "regex": arguments.regex, "scope": arguments.id}),
            ),
            None => {
                let opened = self.request("tree", json!({"plan": plan}))?;
                let lines = outline(&opened, arguments.id);
                if lines.is_empty() {
                    return Err(Refused::new(PARAMETERS, "the plan has no such element").hint("ask for the whole tree"));
                }
                Ok(json!({"outline": lines}))
            }
        }
    }

    pub fn element(&self, arguments: &ElementOf) -> Result<Value, Refused> {
        let parameters = json!({"plan": arguments.plan, "id": arguments.id});
        let mut element = self.request("element", parameters.clone())?;
        for field in element["fields"].as_array_mut().into_iter().flatten() {
            shorten(field);
        }
        element["variables"] = self.request("variables", parameters)?;
        let inside = self.request(
            "palette",
            json!({"plan": arguments.plan, "parent": arguments.id}),
        )?;
        let classes = inside.as_array().into_iter().flatten();
        element["may_hold"] = classes.map(|kind| kind["class"].clone()).collect();
        Ok(element)
    }

    /// Carries out all operations or none.
    pub fn edit(&self, arguments: &Edit) -> Result<Value, Refused> {
        let plan = arguments.plan;
        let before = self.text(plan)?;
        let findings_before = self.findings(plan)?;
        let mut created = Vec::new();
        for (index, operation) in arguments.operations.iter().enumerate() {
            match self.operate(plan, operation) {
                Ok(change) => {
                    created.extend(change["created"].as_array().cloned().unwrap_or_default())
                }
                Err(refused) => {
                    self.take_back(plan, &before, index)?;
                    let message = format!("operation {}: {}", index + 1, refused.message);
                    let hint = refused
                        .hint
                        .unwrap_or_else(|| "mend it, and give all operations again".to_owned());
                    return Err(Refused {
                        message,
                        hint: Some(hint),
                        ..refused
                    });
                }
            }
        }
        let after = self.text(plan)?;
        let findings = self.findings(plan)?;
        let lines = TextDiff::from_lines(&before, &after);
        let mut unified = lines.unified_diff();
        let diff = unified.context_radius(CONTEXT).header("before", "after");
        let mut answer = json!({
            "created": created,
            "new_findings": less(&findings, &findings_before),
            "gone_findings": less(&findings_before, &findings),
            "findings": counted(&findings),
            "diff": diff.to_string(),
            "unsaved": self.request("tree", json!({"plan": plan}))?["dirty"],
        });
        // The difference has secrets that are gone as well.
        hide(&mut answer, &secrets_of(&before));
        Ok(answer)
    }

    fn operate(&self, plan: u64, operation: &Value) -> Result<Value, Refused> {
        let name = operation["op"].as_str().unwrap_or_default();
        if !OPERATIONS.contains(&name) {
            let refused = Refused::new(PARAMETERS, format!("there is no operation `{name}`"));
            return Err(match drumfire_jmx::did_you_mean(name, OPERATIONS) {
                Some(near) => refused.hint(format!("did you mean `{near}`?")),
                None => refused.hint(format!("give one of {}", OPERATIONS.join(", "))),
            });
        }
        let mut parameters = operation.clone();
        if let Value::Object(fields) = &mut parameters {
            fields.remove("op");
            fields.insert("plan".to_owned(), json!(plan));
        }
        self.request(name, parameters)
    }

    /// Takes back what the first operations did. An operation that changed nothing made no step.
    fn take_back(&self, plan: u64, before: &str, operations: usize) -> Result<(), Refused> {
        for _ in 0..operations {
            if self.text(plan)? == before {
                break;
            }
            self.request("undo", json!({"plan": plan}))?;
        }
        Ok(())
    }

    pub fn save(&self, arguments: &OfPlan) -> Result<Value, Refused> {
        self.request("save", json!({"plan": arguments.plan}))?;
        Ok(json!({"saved": self.path(arguments.plan)?}))
    }

    fn text(&self, plan: u64) -> Result<String, Refused> {
        let text = self.request("text", json!({"plan": plan}))?;
        Ok(text["text"].as_str().unwrap_or_default().to_owned())
    }

    fn findings(&self, plan: u64) -> Result<Vec<Value>, Refused> {
        let findings = self.request("findings", json!({"plan": plan}))?;
        Ok(findings.as_array().cloned().unwrap_or_default())
    }

    /// An answer in which the secrets of the plan are masked.
    pub fn without_secrets(&self, plan: u64, mut answer: Value) -> Result<Value, Refused> {
        hide(&mut answer, &secrets_of(&self.text(plan)?));
        Ok(answer)
    }

    /// The file of a plan that is open.
    pub fn path(&self, plan: u64) -> Result<PathBuf, Refused> {
        let opened = self.request("tree", json!({"plan": plan}))?;
        Ok(Path::new(opened["path"].as_str().unwrap_or_default()).to_owned())
    }
}

/// The findings by severity.
fn counted(findings: &[Value]) -> Value {
    let of = |severity: &str| {
        findings
            .iter()
            .filter(|finding| finding["severity"] == severity)
            .count()
    };
    json!({"error": of("error"), "warning": of("warning"), "advice": of("advice")})
}

/// The findings that the others lack. Lines move with every edit and do not count.
fn less(findings: &[Value], others: &[Value]) -> Vec<Value> {
    let missing = findings
        .iter()
        .filter(|finding| !others.iter().any(|other| is_same_finding(finding, other)));
    missing.cloned().collect()
}

/// Whether two findings say the same about the same place.
fn is_same_finding(a: &Value, b: &Value) -> bool {
    ["severity", "id", "property", "message"]
        .iter()
        .all(|name| a[name] == b[name])
}

/// A line for each element, or for one and those below it: its number, type, name and state.
fn outline(opened: &Value, only: Option<Id>) -> Vec<String> {
    let only = only.map(|id| json!(id));
    let mut depths: HashMap<String, usize> = HashMap::new();
    let mut lines = Vec::new();
    let nodes = opened["nodes"].as_array();
    for node in nodes.into_iter().flatten() {
        let above = depths.get(&node["parent"].to_string()).copied();
        let depth = match (&only, above) {
            (_, Some(above)) => above + 1,
            (None, None) => 0,
            (Some(only), None) if node["id"] == *only => 0,
            (Some(_), None) => continue,
        };
        depths.insert(node["id"].to_string(), depth);
        if lines.len() == MOST_LINES {
            lines.push("... more: ask for one element with `id`".to_owned());
            break;
        }
        lines.push(line(node, depth));
    }
    lines
}

fn line(node: &Value, depth: usize) -> String {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    let mut line = format!(
        "{}{} {} \"{}\"",
        "  ".repeat(depth),
        node["id"],
        text("type"),
        text("name")
    );
    if node["enabled"] == false {
        line.push_str(" disabled");
    }
    if !matches!(text("runs"), "native" | "") {
        line.push_str(&format!(" runs: {}", text("runs")));
    }
    for severity in ["error", "warning"] {
        let count = node["findings"][severity].as_u64().unwrap_or_default();
        if count > 0 {
            line.push_str(&format!(" {severity}s: {count}"));
        }
    }
    line
}

/// Drops what says nothing from a field of a form.
fn shorten(field: &mut Value) {
    if let Some(choices) = field["choices"].as_array() {
        field["choices"] = choices
            .iter()
            .map(|choice| choice["value"].clone())
            .collect();
    }
    if field["secret"] == true
        && let Some(value) = field["value"].as_str()
    {
        field["value"] = json!(secret(value));
    }
    if let Value::Object(parts) = field {
        parts.retain(|name, part| {
            let is_empty =
                part.is_null() || *part == false || part.as_array().is_some_and(Vec::is_empty);
            name == "value" || !is_empty
        });
    }
}

/// The secrets in the text of a plan, the longest first.
fn secrets_of(text: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if let Ok(read) = drumfire_jmx::read(text.as_bytes(), Path::new("plan.jmx")) {
        read.tree
            .roots
            .iter()
            .for_each(|root| collect(root, &mut secrets));
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

fn collect(node: &Node, secrets: &mut Vec<String>) {
    for setting in drumfire_jmx::settings(node) {
        let value = setting.value.as_str();
        let is_masked = masked(node, &setting) == secret(value) && secret(value) != value;
        if is_masked && value.len() >= SHORTEST {
            secrets.push(value.to_owned());
        }
    }
    node.children
        .iter()
        .for_each(|child| collect(child, secrets));
}

/// Masks secrets in all texts of an answer.
fn hide(answer: &mut Value, secrets: &[String]) {
    match answer {
        Value::String(text) => {
            for hidden in secrets {
                if text.contains(hidden.as_str()) {
                    *text = text.replace(hidden.as_str(), &secret(hidden));
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| hide(part, secrets)),
        Value::Object(parts) => parts.values_mut().for_each(|part| hide(part, secrets)),
        _ => {}
    }
}
