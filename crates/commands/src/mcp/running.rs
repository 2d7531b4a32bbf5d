//! Tools that run plans, and those that read what runs measured.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use drumfire_edit::refused::{FILE, UNFIT};
use drumfire_edit::{Id, Refused};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds;
use super::desk::Desk;

/// How long `run` lasts at most, unless the agent says otherwise.
const RUN_LIMIT_S: u64 = 120;
/// How long one sampler may take.
const SAMPLER_LIMIT: Duration = Duration::from_secs(60);
/// How long a run that is told to stop may take for it.
const STOP: Duration = Duration::from_secs(10);
/// How often a run is looked at.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest message of a run that is passed on, in characters.
const LONGEST: usize = 4_000;

/// Parameters of `run_sampler`.
#[derive(Deserialize)]
pub struct RunSampler {
    plan: u64,
    id: Id,
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

/// Parameters of `run`.
#[derive(Deserialize)]
pub struct Run {
    plan: u64,
    #[serde(default)]
    once: bool,
    users: Option<u64>,
    duration: Option<String>,
    iterations: Option<u64>,
    #[serde(default)]
    properties: BTreeMap<String, String>,
    #[serde(default)]
    fail_on: Vec<String>,
    limit_s: Option<u64>,
}

/// Parameters of `report`.
#[derive(Deserialize)]
pub struct Report {
    path: String,
}

/// Runs one sampler, and returns what it sent and received.
pub fn run_sampler(desk: &Desk, arguments: &RunSampler) -> Result<Value, Refused> {
    let plan = arguments.plan;
    bounds::check(desk, plan)?;
    let notifications = desk.told.lock().unwrap_or_else(PoisonError::into_inner);
    while notifications.try_recv().is_ok() {}
    let order = json!({
        "plan": plan, "id": arguments.id, "kind": "this", "variables": arguments.variables,
        "properties": bounds::properties(desk),
    });
    let started = desk.request("run", order)?;
    let run = &started["run"];
    let mut numbers = Vec::new();
    let deadline = Instant::now() + SAMPLER_LIMIT;
    let outcome = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((method, parameters)) = notifications.recv_timeout(left) else {
            desk.request("run_stop", json!({"run": run}))?;
            let message = format!("the sampler took more than {} s", SAMPLER_LIMIT.as_secs());
            return Err(Refused::new(UNFIT, message).hint("set its response timeout"));
        };
        match method.as_str() {
            _ if parameters["run"] != *run => {}
            "run_sample" => numbers.push(parameters["sample"]["number"].clone()),
            "run_ended" => break parameters["outcome"].clone(),
            _ => {}
        }
    };
    let details: Result<Vec<Value>, Refused> = numbers
        .iter()
        .map(|number| desk.request("run_sample_detail", json!({"run": run, "number": number})))
        .collect();
    Ok(json!({"outcome": outcome, "samples": details?}))
}

/// Runs a saved plan in a process of its own, so that its end can be forced.
pub fn run(desk: &Desk, arguments: &Run) -> Result<Value, Refused> {
    bounds::check(desk, arguments.plan)?;
    if desk.request("tree", json!({"plan": arguments.plan}))?["dirty"] == true {
        return Err(Refused::new(UNFIT, "the plan has unsaved changes").hint("`save` it first"));
    }
    let plan = desk.path(arguments.plan)?;
    let scratch = tempfile::tempdir().map_err(|error| failed(&error))?;
    let summary = scratch.path().join("summary.json");
    let mut command = program()?;
    command.arg("run").arg(&plan).arg("--progress").arg("quiet");
    command.arg("--summary-json").arg(&summary);
    command.arg("-j").arg(scratch.path().join("jmeter.log"));
    for (name, value) in arguments.properties.iter().chain(&bounds::properties(desk)) {
        command.arg(format!("-J{name}={value}"));
    }
    let numbers = [
        ("--users", arguments.users),
        ("--iterations", arguments.iterations),
    ];
    for (option, value) in numbers {
        command.args(value.map(|value| format!("{option}={value}")));
    }
    command.args(
        arguments
            .duration
            .as_ref()
            .map(|value| format!("--duration={value}")),
    );
    command.args(
        arguments
            .fail_on
            .iter()
            .map(|value| format!("--fail-on={value}")),
    );
    command.args(arguments.once.then_some("--once"));
    let limit = Duration::from_secs(arguments.limit_s.unwrap_or(RUN_LIMIT_S));
    let (code, mut said) = carried_out(command, &desk.folder, limit)?;
    let measured = std::fs::read(&summary)
        .ok()
        .and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let Some(measured) = measured else {
        if said.is_empty() {
            said = "the run ended without a result".to_owned();
        }
        return Err(Refused::new(UNFIT, said));
    };
    Ok(json!({"exit_code": code, "result": measured, "messages": said}))
}

/// The numbers of a run file or a result file.
pub fn report(desk: &Desk, arguments: &Report) -> Result<Value, Refused> {
    let path = desk.inside(&arguments.path)?;
    let scratch = tempfile::tempdir().map_err(|error| failed(&error))?;
    let mut command = program()?;
    command
        .arg("report")
        .arg(&path)
        .arg("--csv")
        .arg(scratch.path());
    let (code, said) = carried_out(command, &desk.folder, Duration::from_secs(RUN_LIMIT_S))?;
    let table = |name: &str| std::fs::read_to_string(scratch.path().join(name)).ok();
    let Some(labels) = table("labels.csv") else {
        return Err(Refused::new(FILE, said));
    };
    Ok(json!({
        "exit_code": code, "labels": labels, "errors": table("errors.csv"), "findings": table("findings.csv"),
        "thresholds": table("thresholds.csv"), "text": said,
    }))
}

fn program() -> Result<Command, Refused> {
    std::env::current_exe()
        .map(Command::new)
        .map_err(|error| failed(&error))
}

/// Waits for a command at most so long, and returns its exit code and what it said.
fn carried_out(
    mut command: Command,
    folder: &Path,
    limit: Duration,
) -> Result<(Option<i32>, String), Refused> {
    let out = tempfile::tempfile().map_err(|error| failed(&error))?;
    let copy = |file: &std::fs::File| file.try_clone().map_err(|error| failed(&error));
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(copy(&out)?)
        .stderr(copy(&out)?);
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let started = Instant::now();
    let mut is_told = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| failed(&error))? {
            break status;
        }
        if started.elapsed() > limit && !is_told {
            // The run ends as by Ctrl-C, with what it measured.
            drumfire_platform::processes::interrupt(&mut child).map_err(|error| failed(&error))?;
            is_told = true;
        } else if started.elapsed() > limit + STOP {
            child.kill().map_err(|error| failed(&error))?;
        }
        std::thread::sleep(PAUSE);
    };
    Ok((status.code(), spoken(out)?))
}

fn spoken(mut out: std::fs::File) -> Result<String, Refused> {
    use std::io::{Read as _, Seek as _};
    let mut said = Vec::new();
    out.rewind()
        .and_then(|()| out.read_to_end(&mut said))
        .map_err(|error| failed(&error))?;
    Ok(String::from_utf8_lossy(&said)
        .chars()
        .take(LONGEST)
        .collect())
}

fn failed(error: &std::io::Error) -> Refused {
    Refused::new(FILE, drumfire_platform::causes::cause(error))
}
