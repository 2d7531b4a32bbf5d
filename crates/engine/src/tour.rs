//! The tour: one small plan through all nine stops, with what each passes to the next. Read it first.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_testkit::server::{ResponseStep, Server, ok};

use crate::base::clock::Clock;
use crate::bind::{Compiled, bind};
use crate::fixture::user_of;
use crate::resolve::resolve;
use crate::run::control::Control;
use crate::run::engine::{EngineOptions, run};
use crate::run::settings::RunSettings;
use crate::run::shared::Shared;
use crate::run::step::Step;
use crate::run::user::WorkerPlan;
use crate::run::walk::{Walk, Walker};

/// Two users, half a second apart, ask for one page twice, the second time within a transaction.
const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Tour"><elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
  <elementProp name="greeting" elementType="Argument"><stringProp name="Argument.name">greeting</stringProp><stringProp name="Argument.value">${__P(greeting,hello)}</stringProp></elementProp>
</collectionProp></elementProp></TestPlan><hashTree>
  <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Visitors">
    <stringProp name="ThreadGroup.num_threads">2</stringProp><stringProp name="ThreadGroup.ramp_time">1</stringProp>
    <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp><boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
  </ThreadGroup><hashTree>
    <ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp></ConfigTestElement><hashTree/>
    <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Open"><stringProp name="HTTPSampler.path">/open</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>
    <TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Visit"><boolProp name="TransactionController.parent">false</boolProp></TransactionController><hashTree>
      <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Say ${greeting}"><stringProp name="HTTPSampler.path">/say/${greeting}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>
    </hashTree>
  </hashTree>
</hashTree></hashTree></jmeterTestPlan>"#;

#[test]
fn from_xml_to_rows() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok("hi"))]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let rows = folder.path().join("tour.jtl");

    // 1. read: bytes become a tree of elements, without interpreting any element.
    let tree = drumfire_jmx::read(PLAN.as_bytes(), Path::new("tour.jmx"))
        .expect("the plan is well-formed")
        .tree;
    let group = &tree.roots[0].children[0];
    let read = ["ThreadGroup", "ConfigTestElement", "HTTPSamplerProxy"];
    let classes = group.children.iter().map(|node| node.class.as_str());
    let classes: Vec<_> = [group.class.as_str()].into_iter().chain(classes).collect();
    assert_eq!(classes[..3], read);
    assert_eq!(group.name, "Visitors");

    // 2. resolve: the plan's files become the tree that is run; nothing else is read.
    let properties = Properties::new();
    properties.set("port", server.address().port().to_string());
    properties.set("jmeter.save.saveservice.timestamp_format", "none");
    let settings = RunSettings {
        properties,
        results: Some(rows.clone()),
        ..RunSettings::default()
    };
    let settings = Arc::new(settings);
    let plan = resolve(tree, &settings.properties, &settings.base_dir);
    assert!(plan.findings.is_empty());
    let root = plan.root.as_ref().expect("there is a Test Plan");
    assert_eq!(root.children[0].children.len(), 3);

    // 3. bind: the plan becomes a program; from here on no property is looked up by name.
    let Ok(Compiled { plan, warnings }) = bind(plan, &settings) else {
        panic!("the plan can run")
    };
    assert!(warnings.is_empty());
    let program = plan.program.clone();
    assert_eq!(
        program.variables,
        [("greeting".to_owned(), "hello".to_owned())]
    );
    assert_eq!(plan.journeys[0].samplers.len(), 2);

    // 4. schedule: when each user starts and stops, as plain data.
    let shape = &program.groups[0].shape;
    let windows = shape.windows().expect("its users are known");
    let starts = windows.iter().map(|window| window.start_ms);
    assert_eq!(starts.collect::<Vec<_>>(), [0, 500]);
    assert!(windows.iter().all(|window| window.stop_ms.is_none()));

    // 5. walk: controllers and one user's state give the next sampler, without input or output.
    let plan = Rc::new(Arc::new(plan));
    assert_eq!(walk(&plan), [Step::Sampler(0), Step::Sampler(1)]);

    // 6 to 9. sample, exchange, record, write: users run, and every sample is a row.
    let (options, control) = (EngineOptions::default(), Control::default());
    let outcome = run(Arc::clone(&plan), &options, &control, &mut [])
        .expect("the results file can be opened");
    assert_eq!((outcome.users.started, outcome.users.finished), (2, 2));
    assert!(outcome.faults.is_empty());
    let requests = server.requests();
    let said = requests.iter().filter(|asked| asked.target == "/say/hello");
    assert_eq!(said.count(), 2);
    assert_eq!(
        labels(&rows),
        ["Open", "Open", "Say hello", "Say hello", "Visit", "Visit"]
    );
}

/// The labels of all rows, sorted.
fn labels(rows: &Path) -> Vec<String> {
    let written = std::fs::read_to_string(rows).expect("the rows were written");
    let labels = written.lines().skip(1).map(|row| row.split(',').nth(1));
    let mut labels: Vec<String> = labels.flatten().map(str::to_owned).collect();
    labels.sort_unstable();
    labels
}

/// The steps of a user of the first group whose samples all take no time.
fn walk(plan: &WorkerPlan) -> Vec<Step> {
    let shared = Shared::new(
        &plan.program,
        Clock::start(),
        &Control::default(),
        Default::default(),
    );
    let mut cx = user_of(shared.expect("every server is trusted"), plan.clone());
    let journey = &plan.journeys[0];
    let mut walk = Walk::new(journey);
    let mut walker = Walker {
        journey,
        cx: &mut cx,
        walk: &mut walk,
    };
    walker.initialize(0);
    std::iter::from_fn(|| walker.next(0)).collect()
}
