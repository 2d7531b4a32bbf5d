use drumfire_health::{Cause, Reason};
use drumfire_results::Sample;

use super::*;
use crate::run::needs::Needs;
use crate::run::roles::{PostProcessor, PreProcessor};
use crate::run::view::{PostProcessorView, PreProcessorView};
use crate::{Compiled, RunSettings, compile};

/// Panics for the first user.
struct Broken;

impl PreProcessor for Broken {
    fn process(&self, cx: &mut PreProcessorView) {
        assert_ne!(cx.number, 0, "this user is broken");
    }
}

#[derive(Default)]
struct Told(Vec<String>);

impl Subscriber for Told {
    fn receive(&mut self, event: &Event, _: &Recording) {
        if let Event::Warning(text) = event {
            self.0.push(text.to_string());
        }
    }
}

fn plan(results: &std::path::Path) -> BoundPlan {
    let plan = drumfire_testkit::plans::plan(
        r#"
        <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp>
        <stringProp name="ThreadGroup.num_threads">3</stringProp></ThreadGroup><hashTree>
        <DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="sample"/><hashTree/>
        </hashTree>"#,
    );
    let read = drumfire_jmx::read(plan.as_bytes(), std::path::Path::new("p.jmx"))
        .expect("the plan is well-formed");
    let settings = RunSettings {
        results: Some(results.to_owned()),
        ..RunSettings::default()
    };
    match compile(read.tree, Arc::new(settings)) {
        Ok(Compiled { plan, .. }) => plan,
        Err(faults) => panic!("{faults:?}"),
    }
}

#[test]
fn a_user_that_panics_takes_nobody_with_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let results = folder.path().join("rows.jtl");
    let mut plan = plan(&results);
    plan.journeys[0].samplers[0].pre.push(Arc::new(Broken));
    let (control, mut told) = (Control::default(), Told::default());
    let options = EngineOptions::default();
    let outcome = run(Arc::new(plan), &options, &control, &mut [&mut told]).expect("it runs");
    assert_eq!((outcome.users.started, outcome.users.finished), (3, 3));
    let [fault] = outcome.faults.as_slice() else {
        panic!("{:?}", outcome.faults)
    };
    assert!(
        fault.starts_with("a bug in Drumfire ended 1 user early, the others went on: ")
            && fault.contains("this user is broken"),
        "{fault}"
    );
    let rows = std::fs::read_to_string(&results).expect("the rows were written");
    assert_eq!(rows.lines().count(), 1 + 2 * 2, "{rows}");
    assert!(told.0.is_empty());
    let balance = outcome.balance.expect("one machine knows it");
    assert_eq!(
        (balance.begun, balance.lost()),
        (4, 0),
        "it broke before its sampler"
    );
}

/// Panics after a sample of the first user.
struct BrokenAfter;

impl PostProcessor for BrokenAfter {
    fn process(&self, cx: &mut PostProcessorView, _: &mut Sample) {
        assert_ne!(cx.number, 0, "this user is broken");
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }
}

#[test]
fn a_sample_that_is_in_no_result_is_told_by_the_verdict() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut plan = plan(&folder.path().join("rows.jtl"));
    let (control, mut told) = (Control::default(), Told::default());
    plan.journeys[0].samplers[0]
        .post
        .push(Arc::new(BrokenAfter));
    let options = EngineOptions::default();
    let outcome = run(Arc::new(plan), &options, &control, &mut [&mut told]).expect("it runs");
    let balance = outcome.balance.expect("one machine knows it");
    assert_eq!((balance.begun, balance.recorded), (5, 4));
    assert_eq!((balance.lost(), balance.surplus()), (1, 0));
    let verdict = outcome.verdict.expect("a verdict");
    let is_it = |reason: &&Reason| reason.cause == Cause::SamplesUnaccounted;
    let reason = verdict.reasons.iter().find(is_it).expect("it is told");
    assert_eq!(reason.measured, "1 sample without a result");
}

#[test]
fn a_results_file_that_cannot_be_opened_is_told_at_once_and_in_the_end() {
    let folder = tempfile::tempdir().expect("there is room");
    let plan = plan(folder.path());
    let (control, mut told) = (Control::default(), Told::default());
    let options = EngineOptions::default();
    let outcome = run(Arc::new(plan), &options, &control, &mut [&mut told]).expect("it runs");
    assert_eq!(outcome.users.finished, 3);
    assert_eq!(told.0, outcome.faults);
    assert!(
        told.0[0].ends_with("cannot be written: it is a folder"),
        "{told:?}",
        told = told.0
    );
}
