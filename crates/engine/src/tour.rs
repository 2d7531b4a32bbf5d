//! The tour: one small plan through all eight stops, with what each gives to the next. Read it first.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Properties;
use drumfire_results::{ExistingFile, Live, Place, Recorder, ResultWriter};
use drumfire_testkit::server::{Server, Step as Answer, ok};

use crate::clock::Clock;
use crate::compile::{Compiled, Settings, compile};
use crate::context::{Context, Identity};
use crate::control::Control;
use crate::program::Program;
use crate::run::{Counts, Observer, Options, Progress, Shared, run};
use crate::schedule::Window;
use crate::walk::{Step, Walk, Walker};
use crate::worker::Worker;

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
    let server = Server::start(|_| vec![Answer::Send(ok("hi"))]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let rows = folder.path().join("tour.jtl");

    // 1. read: bytes become a tree of elements, which knows no element's meaning.
    let tree = drumfire_jmx::read(PLAN.as_bytes(), Path::new("tour.jmx"))
        .expect("the plan is well-formed")
        .tree;
    let group = &tree.roots[0].children[0];
    assert_eq!(
        (group.class.as_str(), group.name.as_str()),
        ("ThreadGroup", "Visitors")
    );
    let classes: Vec<_> = group
        .children
        .iter()
        .map(|node| node.class.as_str())
        .collect();
    assert_eq!(
        classes,
        [
            "ConfigTestElement",
            "HTTPSamplerProxy",
            "TransactionController"
        ]
    );

    // 2. compile: the tree and the properties become a program; from here on no property is looked up by name.
    let properties = Properties::new();
    properties.set("port", server.address().port().to_string());
    properties.set("jmeter.save.saveservice.timestamp_format", "none");
    let settings = Settings {
        properties,
        results: Some(rows.clone()),
        ..Settings::default()
    };
    let Ok(Compiled { program, warnings }) = compile(tree, Arc::new(settings)) else {
        panic!("the plan can run")
    };
    assert!(warnings.is_empty());
    let program = Arc::new(program);
    assert_eq!(
        program.variables,
        [("greeting".to_owned(), "hello".to_owned())]
    );
    assert_eq!(program.groups[0].samplers.len(), 2);

    // 3. schedule: when each user starts and stops, as plain data.
    let shape = &program.groups[0].shape;
    assert_eq!(
        shape.windows().expect("its users are known"),
        [
            Window {
                start_ms: 0,
                stop_ms: None
            },
            Window {
                start_ms: 500,
                stop_ms: None
            }
        ]
    );

    // 4. walk: controllers and one user's state give the next sampler, without input or output.
    assert_eq!(walk(&program), [Step::Sampler(0), Step::Sampler(1)]);

    // 5 to 8. sample, exchange, record, write: users run, and every sample is a row.
    let outcome = run(
        program,
        &Options::default(),
        &Control::default(),
        &mut Silent,
    )
    .expect("the results file can be opened");
    assert_eq!(
        (
            outcome.users.started,
            outcome.users.finished,
            outcome.faults.len()
        ),
        (2, 2, 0)
    );
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.target.clone())
        .collect();
    assert_eq!(
        asked
            .iter()
            .filter(|target| *target == "/say/hello")
            .count(),
        2,
        "{asked:?}"
    );
    let written = std::fs::read_to_string(rows).expect("the rows were written");
    let mut labels: Vec<_> = written
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(1).unwrap_or(""))
        .collect();
    labels.sort_unstable();
    assert_eq!(
        labels,
        ["Open", "Open", "Say hello", "Say hello", "Visit", "Visit"]
    );
}

/// The steps of a user of the first group whose samples all take no time.
fn walk(program: &Arc<Program>) -> Vec<Step> {
    let mut cx = user(program);
    let group = &program.groups[0];
    let mut walk = Walk::new(group);
    let mut walker = Walker {
        group,
        cx: &mut cx,
        walk: &mut walk,
    };
    walker.initialize(0);
    std::iter::from_fn(|| walker.next(0)).collect()
}

fn user(program: &Arc<Program>) -> Context {
    let shared = Arc::new(Shared {
        program: program.clone(),
        properties: program.settings.properties.clone(),
        clock: Clock::start(),
        control: Control::default(),
        counts: Counts::new(program.groups.len()),
        timer_factor: 1.0,
        reset_state: true,
        last_sample_ok: program.names.slot(crate::context::LAST_SAMPLE_OK),
        statics: Default::default(),
        defects: Default::default(),
        supplies: Box::default(),
        tls: crate::elements::samplers::http::new_tls(&program.settings.properties),
        announcements: Default::default(),
        java_start: Default::default(),
        loop_late_us: Default::default(),
        stages: Default::default(),
    });
    let place = Place {
        base_dir: std::path::PathBuf::new(),
        base_prefix: "~/".to_owned(),
        existing: ExistingFile::Append,
    };
    let writer = ResultWriter::open(Vec::new(), &place).expect("there is no file to open");
    let recorder = Recorder::new(&writer.inlet(), &Arc::new(Live::new(0)), false);
    let worker = Rc::new(Worker::new(&shared, recorder));
    let identity = Identity {
        thread_name: "Visitors 1-1".into(),
        group_name: "Visitors".into(),
        group: 0,
        number: 0,
        same_user: true,
        end_ms: None,
        interrupted_at_end: false,
    };
    Context::new(&shared, &worker, identity)
}

struct Silent;

impl Observer for Silent {
    fn tick(&mut self, _: &Progress<'_>) {}
    fn summary_line(&mut self, _: &str) {}
    fn warning(&mut self, _: &str) {}
    fn ending(&mut self) {}
}
