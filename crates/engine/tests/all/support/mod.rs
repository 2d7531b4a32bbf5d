//! Runs small plans against a server of the test's own.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::Path;
use std::sync::Arc;

use drumfire_engine::{Compiled, Control, EngineOptions, RunSettings, compile, run};
use drumfire_expr::Properties;
use drumfire_jmx::Diagnostic;

/// A row of the results, by column.
pub type Row = std::collections::HashMap<String, String>;

/// The files that a run wrote.
pub struct Ran {
    pub rows: Vec<Row>,
    /// Users that were started.
    pub users: u64,
    /// How many samples have an intended start.
    pub intended: u64,
    /// How many samples have a known own part of the generator.
    pub owned: u64,
}

impl Ran {
    /// One column of all rows.
    pub fn column(&self, name: &str) -> Vec<&str> {
        self.rows.iter().map(|row| row[name].as_str()).collect()
    }
}

/// Runs a plan whose thread group has `group` settings and `body` below it. System properties begin with `-D`.
pub fn run_group(group: &str, body: &str, properties: &[(&str, &str)]) -> Ran {
    run_plan(&plan(group, body), properties)
}

fn plan(group: &str, body: &str) -> String {
    drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G">{group}</ThreadGroup><hashTree>{body}</hashTree>
"#
    ))
}

/// Settings of a thread group: users, iterations, and whether each iteration is the same user.
pub fn group(users: u32, loops: u32, same_user: bool) -> String {
    format!(
        r#"<stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<boolProp name="ThreadGroup.same_user_on_next_iteration">{same_user}</boolProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>"#
    )
}

/// A GET request; `more` are further properties, `children` is what stands below it.
pub fn get(name: &str, port: u16, path: &str, more: &str, children: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>{more}</HTTPSamplerProxy><hashTree>{children}</hashTree>"#
    )
}

/// Why a plan like that of [`run_group`] is refused.
pub fn refusals(group: &str, body: &str, properties: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let faults = compiled(&plan(group, body), properties, folder.path()).err();
    let faults = faults.unwrap_or_default();
    faults.iter().map(|fault| fault.render(false)).collect()
}

/// Runs a plan and reads its rows.
pub fn run_plan(plan: &str, properties: &[(&str, &str)]) -> Ran {
    run_plan_on(0, plan, properties)
}

/// The same with as many workers; 0 is one per core.
pub fn run_plan_on(workers: usize, plan: &str, properties: &[(&str, &str)]) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let Compiled { plan: bound, .. } = match compiled(plan, properties, folder.path()) {
        Ok(compiled) => compiled,
        Err(faults) => panic!(
            "{}",
            faults
                .iter()
                .map(|fault| fault.render(false))
                .collect::<String>()
        ),
    };
    let outcome = run(
        Arc::new(bound),
        &EngineOptions {
            workers,
            ..EngineOptions::default()
        },
        &Control::default(),
        &mut [],
    )
    .expect("the results can be written");
    assert_eq!(outcome.faults, Vec::<String>::new());
    let text = std::fs::read_to_string(folder.path().join(ROWS)).unwrap_or_default();
    Ran {
        rows: rows(&text),
        users: outcome.users.started,
        intended: outcome.recording.total().response.count(),
        owned: outcome.recording.total().own.count(),
    }
}

/// The file of results in a run's folder.
const ROWS: &str = "rows.jtl";

fn compiled(
    plan: &str,
    properties: &[(&str, &str)],
    folder: &Path,
) -> Result<Compiled, Vec<Diagnostic>> {
    let settings = RunSettings {
        properties: Properties::new(),
        results: Some(folder.join(ROWS)),
        base_dir: folder.into(),
        ..RunSettings::default()
    };
    settings
        .properties
        .set("jmeter.save.saveservice.subresults", "false");
    for (name, value) in properties {
        match name.strip_prefix("-D") {
            Some(system) => settings.properties.set_system(system, *value),
            None => drop(settings.properties.set(name, *value)),
        }
    }
    let read =
        drumfire_jmx::read(plan.as_bytes(), Path::new("p.jmx")).expect("the plan is well-formed");
    compile(read.tree, Arc::new(settings))
}

fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .map(|row| row.expect("the rows are CSV"))
        .collect()
}
