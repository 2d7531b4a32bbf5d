//! Turns a configuration into a test: its plan, properties, criteria and commands.

use std::path::{Path, PathBuf};

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::other::test_plan;
use drumfire_jmx::{Element, Node, Tree};
use drumfire_platform::secrets;
use serde_json::Value;

use crate::amount::{Amount, seconds};
use crate::cmdline;
use crate::config;
use crate::criteria::Criteria;
use crate::error::TaurusError;
use crate::files::Files;
use crate::groups::{self, GroupRules, PlainGroup};
use crate::hooks::{self, Hook};
use crate::join::{ExecutionPlan, join};
use crate::keys;
use crate::load::Load;
use crate::modifications;
use crate::requests::ScenarioCompiler;
use crate::scenario::{Execution, executions};
use crate::script;
use crate::value::{Table, as_table, flag, list, table, text, text_or};

/// A test as the configuration defines it.
#[derive(Debug, Clone)]
pub struct Test {
    /// The plan with its load.
    pub tree: Tree,
    /// JMeter properties.
    pub properties: Vec<(String, String)>,
    /// System properties of Java.
    pub system_properties: Vec<(String, String)>,
    /// More options of JMeter's command line, each with its value, that set properties.
    pub options: Vec<String>,
    /// Criteria of `passfail`.
    pub criteria: Criteria,
    /// Commands around the run.
    pub hooks: Vec<Hook>,
    /// The file for the result in JUnit's format, for CI systems (`junit-xml`).
    pub junit: Option<PathBuf>,
    /// The settings that have no effect here, with the reason.
    pub notes: Vec<String>,
    /// The merged configuration with masked secrets.
    pub effective: Value,
}

/// Reads a configuration and applies overrides such as `execution.0.concurrency=5`.
///
/// # Errors
/// The first error that prevents a run.
pub fn load(file: &Path, overrides: &[String]) -> Result<Test, TaurusError> {
    let files = Files::around(file);
    let mut config = config::read(file, overrides, &files)?;
    let environment = environment(&config);
    let mut whole = Value::Object(config);
    config::expand(&mut whole, &environment);
    config = match whole {
        Value::Object(config) => config,
        _ => Table::new(),
    };
    if let Some(fault) = importable(&config, file) {
        return Err(fault);
    }
    let mut notes = Vec::new();
    let executions = executions(&mut config, &files)?;
    keys::check(&config, &executions)?;
    let module = table(&config, "modules")
        .and_then(|all| all.get("jmeter"))
        .map(|module| as_table(module, "class"))
        .unwrap_or_default();
    let mut parts = Vec::new();
    let mut criteria = Criteria::default();
    let mut properties = hooks::pairs(table(&module, "properties"));
    passfail(&config, &mut criteria)?;
    for (place, execution) in executions.iter().enumerate() {
        let part = part(execution, &config, &module, &files, &mut notes);
        parts.push(part.map_err(|fault| in_execution(fault, place, executions.len()))?);
        properties.extend(hooks::pairs(table(&execution.scenario, "properties")));
        for around in [&execution.config, &execution.scenario] {
            if let Some(written) = around.get("criteria") {
                criteria.read(written)?;
            }
        }
    }
    let source = parts.first().map(|(_, tree)| tree.clone());
    let is_alone = parts.len() == 1;
    let slots = slots(&config)?;
    let plan = join(parts.into_iter().map(|(part, _)| part).collect(), slots)?;
    let mut tree = match source.flatten().filter(|_| is_alone) {
        Some(tree) => tree,
        None => Tree::new(Node::default()),
    };
    tree.roots = [plan].into();
    tell(&config, &mut notes);
    let cmdline = cmdline::read(&text_or(&module, "cmdline", ""));
    for other in &cmdline.others {
        notes.push(format!(
            "`{other}` of `modules.jmeter.cmdline` has no effect here"
        ));
    }
    Ok(Test {
        tree,
        properties,
        options: cmdline.taken,
        system_properties: hooks::pairs(table(&module, "system-properties")),
        criteria,
        hooks: hooks::read(&config, &files, &mut notes)?,
        junit: junit(&config),
        notes,
        effective: masked(Value::Object(config)),
    })
}

/// The fault of a recording or an API description in the place of a configuration.
fn importable(config: &Table, file: &Path) -> Option<TaurusError> {
    let is_recording = table(config, "log").is_some_and(|log| log.contains_key("entries"));
    let is_collection = table(config, "info").is_some_and(|info| info.contains_key("_postman_id"));
    let kind = match config.contains_key("openapi") || config.contains_key("swagger") {
        _ if is_recording => "a recording (HAR)",
        _ if is_collection => "a Postman collection",
        true => "an API description",
        false => return None,
    };
    let (name, plan) = (file.display(), file.with_extension("jmx"));
    let fault = TaurusError::new(format!("`{name}` is {kind}, not a Taurus configuration"));
    Some(fault.hint(format!(
        "write `drumfire import {name} -o {}`",
        plan.display()
    )))
}

fn in_execution(fault: TaurusError, place: usize, count: usize) -> TaurusError {
    match count {
        1 => fault,
        _ => TaurusError {
            message: format!("execution {}: {}", place + 1, fault.message),
            ..fault
        },
    }
}

/// The variables of `settings.env`, whose values may refer to environment variables.
fn environment(config: &Table) -> Vec<(String, String)> {
    let settings = table(config, "settings");
    let mut pairs = hooks::pairs(settings.and_then(|settings| table(settings, "env")));
    for (_, value) in &mut pairs {
        for (name, own) in std::env::vars() {
            for sign in [format!("${{{name}}}"), format!("${name}")] {
                if value.contains(&sign) {
                    *value = value.replace(&sign, &own);
                }
            }
        }
    }
    pairs
}

/// The plan of an execution, and the file that it was read from.
fn part(
    execution: &Execution,
    config: &Table,
    module: &Table,
    files: &Files,
    notes: &mut Vec<String>,
) -> Result<(ExecutionPlan, Option<Tree>), TaurusError> {
    let load = Load::of(&execution.config)?;
    let delay = seconds(&text_or(&execution.config, "delay", "0")).map_err(TaurusError::new)?;
    if execution.config.contains_key("start-at") {
        let fault = TaurusError::new("`start-at` is not supported");
        return Err(fault.hint("write `delay`, or start the run at that time"));
    }
    let scenario = &execution.scenario;
    let script = text_or(scenario, "script", "");
    let (mut plan, tree) = if script.is_empty() {
        (from_requests(execution, config, files)?, None)
    } else {
        let (plan, tree) = from_file(&script, files)?;
        (plan, Some(tree))
    };
    let is_generated = tree.is_none();
    script::adjust(&mut plan, scenario, is_generated);
    modifications::apply(&mut plan, scenario, notes)?;
    let waits = delay > 0.0 || slots(config)?.is_some();
    let rules = GroupRules {
        force_concurrency: flag(module, "force-ctg", true),
        is_generated,
        waits,
    };
    groups::apply(&mut plan, &load, &rules, notes)?;
    let is_timed = load.duration > 0.0 && !load.iterations.is_set();
    let part = ExecutionPlan {
        plan,
        delay,
        lasts: is_timed.then_some(load.duration),
    };
    Ok((part, tree))
}

fn from_file(script: &str, files: &Files) -> Result<(Node, Tree), TaurusError> {
    let file = files.find(script);
    if !file.is_file() {
        return Err(files.missing(script));
    }
    let read = drumfire_jmx::read_file(&file).map_err(|faults| {
        let first = faults.iter().find(|fault| fault.is_error());
        let message = first.map(|fault| fault.message.clone()).unwrap_or_default();
        TaurusError::new(format!(
            "the script `{script}` is not a JMeter plan: {message}"
        ))
        .hint(format!("run `drumfire check {script}`"))
    })?;
    let roots = read.tree.roots.iter();
    let plan = roots
        .into_iter()
        .find(|root| root.class == test_plan::CLASS)
        .cloned();
    let Some(mut plan) = plan else {
        return Err(TaurusError::new(format!(
            "the script `{script}` has no Test Plan"
        )));
    };
    script::absolute_files(&mut plan, file.parent().unwrap_or(Path::new("")));
    Ok((plan, read.tree))
}

fn from_requests(
    execution: &Execution,
    config: &Table,
    files: &Files,
) -> Result<Node, TaurusError> {
    let scenario = &execution.scenario;
    if list(scenario, "requests").is_empty() {
        let fault = TaurusError::new(format!(
            "the scenario `{}` has neither a script nor requests",
            execution.label
        ));
        return Err(fault.hint("write `script: plan.jmx` or `requests:`"));
    }
    let empty = Table::new();
    let mut compiler = ScenarioCompiler {
        scenarios: table(config, "scenarios").unwrap_or(&empty),
        files,
        path: vec![execution.label.clone()],
        depth: 0,
    };
    let below = compiler.scenario(scenario)?;
    let group = groups::plain_group(&PlainGroup {
        name: &execution.label,
        users: Amount::Number(1.0),
        ramp_up: Amount::Number(0.0),
        adds_ramp_up: true,
        hold: Amount::Number(0.0),
        iterations: Amount::Number(0.0),
        on_error: Some("continue".to_owned()),
        keeps_user: true,
    });
    let variables = Element::new(user_defined_variables::CLASS).shown("ArgumentsPanel", "");
    Ok(
        Node::new(test_plan::CLASS, "TestPlanGui", "BZT Generated Test Plan")
            .with("TestPlan.user_defined_variables", variables)
            .above([group.above(below)]),
    )
}

/// How many executions run at a time.
fn slots(config: &Table) -> Result<Option<usize>, TaurusError> {
    let local = table(config, "modules").and_then(|modules| table(modules, "local"));
    let Some(local) = local else {
        return Ok(None);
    };
    if flag(local, "sequential", false) {
        return Ok(Some(1));
    }
    match local.get("capacity").map(text) {
        None => Ok(None),
        Some(capacity) => match capacity.parse::<usize>() {
            Ok(0) => Ok(None),
            Ok(slots) => Ok(Some(slots)),
            Err(_) => Err(TaurusError::new(format!(
                "`capacity: {capacity}` is not a number"
            ))),
        },
    }
}

fn passfail(config: &Table, criteria: &mut Criteria) -> Result<(), TaurusError> {
    for reporter in list(config, "reporting") {
        let reporter = as_table(reporter, "module");
        if text_or(&reporter, "module", "") == "passfail"
            && let Some(written) = reporter.get("criteria")
        {
            criteria.read(written)?;
        }
    }
    Ok(())
}

fn junit(config: &Table) -> Option<PathBuf> {
    let reporters = list(config, "reporting")
        .into_iter()
        .map(|reporter| as_table(reporter, "module"));
    let mut of_kind = reporters.filter(|reporter| text_or(reporter, "module", "") == "junit-xml");
    of_kind
        .next()
        .map(|reporter| PathBuf::from(text_or(&reporter, "filename", "xunit.xml")))
}

/// Notes reporters that have no effect.
fn tell(config: &Table, notes: &mut Vec<String>) {
    for reporter in list(config, "reporting") {
        let module = text_or(&as_table(reporter, "module"), "module", "");
        if ![
            "passfail",
            "junit-xml",
            "final-stats",
            "final_stats",
            "console",
        ]
        .contains(&module.as_str())
        {
            notes.push(format!("the reporter `{module}` is left out"));
        }
    }
}

/// Masks passwords, secrets and tokens.
fn masked(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let entries = table.into_iter().map(|(key, value)| {
                let value = match value {
                    Value::String(text) => Value::from(secrets::shown(&key, &text)),
                    Value::Number(_) if secrets::is_secret(&key) => Value::from(secrets::MASK),
                    other => masked(other),
                };
                (key, value)
            });
            Value::Object(entries.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(masked).collect()),
        Value::String(text) => Value::from(secrets::text(&text)),
        other => other,
    }
}
