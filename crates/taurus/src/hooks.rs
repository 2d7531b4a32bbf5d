//! The commands of the `shellexec` service, which run around a test.

use std::path::PathBuf;

use serde_json::Value;

use crate::error::TaurusError;
use crate::files::Files;
use crate::value::{Table, as_table, flag, list, table, text, text_or};

/// When a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before the plan is read.
    Prepare,
    /// Just before the first request.
    Startup,
    /// When the run has ended.
    Shutdown,
    /// After the results have been judged.
    PostProcess,
}

/// A shell command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// When it runs.
    pub stage: Stage,
    /// The command line for `sh -c`.
    pub command: String,
    /// The folder in which it runs; the working folder if none is given.
    pub folder: Option<PathBuf>,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
    /// Whether the run continues without waiting for it.
    pub in_background: bool,
    /// Whether the run continues if it fails.
    pub may_fail: bool,
}

const STAGES: [(&str, Stage); 4] = [
    ("prepare", Stage::Prepare),
    ("startup", Stage::Startup),
    ("shutdown", Stage::Shutdown),
    ("post-process", Stage::PostProcess),
];

/// The commands of all services. Services of other kinds are reported in `notes`.
pub(crate) fn read(
    config: &Table,
    files: &Files,
    notes: &mut Vec<String>,
) -> Result<Vec<Hook>, TaurusError> {
    let mut hooks = Vec::new();
    for service in list(config, "services") {
        let service = as_table(service, "module");
        let module = text_or(&service, "module", "");
        if module != "shellexec" {
            notes.push(format!("the service `{module}` is left out"));
            continue;
        }
        if service.contains_key("check") {
            notes.push("`check` of shellexec is left out".to_owned());
        }
        for (key, stage) in STAGES {
            for task in list(&service, key) {
                hooks.push(hook(&as_table(task, "command"), stage, files)?);
            }
        }
    }
    Ok(hooks)
}

fn hook(task: &Table, stage: Stage, files: &Files) -> Result<Hook, TaurusError> {
    let Some(command) = task.get("command").map(text) else {
        return Err(
            TaurusError::new("a task of shellexec has no command").hint("write `command: …`")
        );
    };
    let folder = task
        .get("cwd")
        .map(text)
        .filter(|folder| folder != "artifacts-dir");
    let environment = table(task, "env").into_iter().flatten();
    Ok(Hook {
        stage,
        command,
        folder: folder.map(|folder| files.find(&folder)),
        environment: environment
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        in_background: flag(task, "background", false),
        may_fail: flag(task, "ignore-failure", false),
    })
}

/// Tables of names and values, such as properties and environment variables. A null removes the
/// entry.
pub(crate) fn pairs(of: Option<&Table>) -> Vec<(String, String)> {
    let all = of.into_iter().flatten();
    all.filter(|(_, value)| !value.is_null())
        .map(|(name, value)| {
            let value = match value {
                Value::Bool(value) => value.to_string(),
                other => text(other),
            };
            (name.clone(), value)
        })
        .collect()
}
