//! Executions and their scenarios.

use serde_json::Value;

use crate::error::TaurusError;
use crate::files::Files;
use crate::value::{Table, as_table, text, text_or};

/// An execution with its scenario.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    pub config: Table,
    /// The name of the scenario, which also names a thread group made from requests.
    pub label: String,
    pub scenario: Table,
}

/// All executions. Inline scenarios become named ones.
pub(crate) fn executions(config: &mut Table, files: &Files) -> Result<Vec<Execution>, TaurusError> {
    if let Some(provisioning) = config
        .get("provisioning")
        .map(text)
        .filter(|place| place != "local")
    {
        let fault = TaurusError::new(format!(
            "`provisioning: {provisioning}` runs the test elsewhere"
        ));
        return Err(fault.hint("write `provisioning: local`"));
    }
    let written = written_executions(config)?;
    let settings = config.get("settings").and_then(Value::as_object);
    let default = settings
        .map(|settings| text_or(settings, "default-executor", "jmeter"))
        .unwrap_or("jmeter".to_owned());
    let mut scenarios = config
        .get("scenarios")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for (name, scenario) in &mut scenarios {
        if !scenario.is_object() && !scenario.is_string() {
            return Err(TaurusError::new(format!(
                "the scenario `{name}` must be a table, and `{}` is not one",
                text(scenario)
            )));
        }
        *scenario = Value::Object(as_table(scenario, "script"));
    }
    refuse_others(&written, &default)?;
    let mut executions = Vec::new();
    for (place, execution) in written.into_iter().enumerate() {
        let Value::Object(execution) = execution else {
            let fault = TaurusError::new(format!(
                "execution {} must be a table, and `{}` is not one",
                place + 1,
                text(&execution)
            ));
            return Err(fault.hint("write `- scenario: …`"));
        };
        let (label, scenario) = scenario_of(&execution, &mut scenarios, files, place)?;
        executions.push(Execution {
            config: execution,
            label,
            scenario,
        });
    }
    config.insert("scenarios".to_owned(), Value::Object(scenarios));
    Ok(executions)
}

/// Refuses executions for other tools, and tells how to leave them out.
fn refuse_others(written: &[Value], default: &str) -> Result<(), TaurusError> {
    let executions = written.iter().enumerate();
    let others: Vec<(usize, String)> = executions
        .filter_map(|(place, execution)| {
            let executor = text_or(execution.as_object()?, "executor", default);
            (executor != "jmeter").then_some((place, executor))
        })
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let named = others.iter().map(|(place, executor)| {
        format!("execution {} is for the executor `{executor}`", place + 1)
    });
    let fault = TaurusError::new(named.collect::<Vec<_>>().join(", "));
    if others.len() == written.len() {
        return Err(fault.hint("only `executor: jmeter` is run here"));
    }
    // From the last to the first, because each removal moves those behind it.
    let removals = others
        .iter()
        .rev()
        .map(|(place, _)| format!("-o '^execution.{place}='"))
        .collect::<Vec<_>>()
        .join(" ");
    Err(fault.hint(format!(
        "only `executor: jmeter` is run here; leave the rest out with `{removals}`"
    )))
}

/// The list `execution`; a single table counts as a list of one.
fn written_executions(config: &Table) -> Result<Vec<Value>, TaurusError> {
    let written = match config.get("execution") {
        Some(Value::Array(all)) => all.clone(),
        Some(one @ Value::Object(_)) => vec![one.clone()],
        None | Some(Value::Null) => Vec::new(),
        Some(other) => {
            let fault = TaurusError::new(format!(
                "`execution` must be a list, and `{}` is not one",
                text(other)
            ));
            return Err(fault.hint("write `execution:` with `- scenario: …` below it"));
        }
    };
    if written.is_empty() {
        let fault = TaurusError::new("the configuration has no `execution`");
        return Err(fault.hint("write `execution:` with `- scenario: …` below it"));
    }
    Ok(written)
}

fn scenario_of(
    execution: &Table,
    scenarios: &mut Table,
    files: &Files,
    place: usize,
) -> Result<(String, Table), TaurusError> {
    let Some(written) = execution.get("scenario") else {
        let fault = TaurusError::new(format!("execution {} has no scenario", place + 1));
        return Err(fault.hint("write `scenario:` with a name, a script or requests"));
    };
    let inline = match written {
        Value::Object(scenario) => Some(scenario.clone()),
        Value::String(name) if !scenarios.contains_key(name) && files.find(name).exists() => {
            Some(as_table(written, "script"))
        }
        Value::Array(_) => {
            let fault =
                TaurusError::new(format!("the scenario of execution {} is a list", place + 1));
            return Err(fault.hint("put `requests:` before the list"));
        }
        _ => None,
    };
    let Some(scenario) = inline else {
        let label = text(written);
        let Some(scenario) = scenarios.get(&label).and_then(Value::as_object) else {
            let names: Vec<&str> = scenarios.keys().map(String::as_str).collect();
            let fault = TaurusError::new(format!(
                "there is no scenario `{label}`, neither by name nor as a file"
            ));
            return Err(if names.is_empty() {
                fault
            } else {
                fault.hint(format!("scenarios are: {}", names.join(", ")))
            });
        };
        return Ok((label, scenario.clone()));
    };
    let script = text_or(&scenario, "script", "");
    let base = std::path::Path::new(&script).file_name();
    let label = match base.map(|name| name.to_string_lossy().into_owned()) {
        Some(name) if !scenarios.contains_key(&name) => name,
        _ => format!("autogenerated_{}", place + 1),
    };
    scenarios.insert(label.clone(), Value::Object(scenario.clone()));
    Ok((label, scenario))
}
