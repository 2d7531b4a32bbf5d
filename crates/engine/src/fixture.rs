//! For unit tests: an element decoded from its XML, and a user to run it.

use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::{Compiler, Properties};
use drumfire_jmx::Diagnostic;
use drumfire_results::{
    AssertionResult, ExistingFile, Handover, Recorder, ResultFolder, ResultWriter, Sample,
};

use crate::base::clock::Clock;
use crate::decode::{Decoder, DecodingContext};
use crate::resolve::Resolver;
use crate::run::action::OnError;
use crate::run::context::{Context, Identity};
use crate::run::control::Control;
use crate::run::controllers::Hook;
use crate::run::journey::BoundPlan;
use crate::run::program::Program;
use crate::run::roles::Act;
use crate::run::settings::RunSettings;
use crate::run::shared::{Counts, Shared};
use crate::run::user::{User, WorkerPlan};
use crate::run::view::{AssertionView, View};
use crate::run::worker::Worker;

/// Decodes one element and makes a user for it.
pub fn decode<T>(xml: &str, decode: impl FnOnce(&mut Decoder) -> T) -> (T, Context) {
    let (decoded, cx, findings) = decode_with_findings(&[], xml, decode);
    assert!(findings.is_empty(), "{findings:?}");
    (decoded, cx)
}

/// Decodes one element under JMeter properties; also returns the findings.
pub fn decode_with_findings<T>(
    properties: &[(&str, &str)],
    xml: &str,
    decode: impl FnOnce(&mut Decoder) -> T,
) -> (T, Context, Vec<Diagnostic>) {
    let settings = Arc::new(RunSettings {
        properties: Properties::new(),
        ..RunSettings::default()
    });
    for (name, value) in properties {
        settings.properties.set(name, *value);
    }
    let plan = drumfire_testkit::plans::plan(&format!(r#"{xml}<hashTree/>"#));
    let read = drumfire_jmx::read(plan.as_bytes(), std::path::Path::new("p.jmx"))
        .expect("the element is well-formed");
    let plan = Resolver::new(read.tree, &settings.properties, &settings.base_dir)
        .resolve()
        .expect("there is a test plan");
    let mut decoding =
        DecodingContext::empty(&settings, Compiler::new(settings.properties.clone()));
    let decoded = decode(&mut Decoder::new(&plan.children[0], &mut decoding));
    let DecodingContext {
        compiler,
        findings,
        state_count,
        ..
    } = decoding;
    (decoded, user(compiler, state_count, &settings), findings)
}

fn user(compiler: Compiler, state_count: u32, settings: &Arc<RunSettings>) -> Context {
    let (names, _) = compiler.finish();
    let program = Program {
        follows_jmeter6: false,
        script: "p.jmx".to_owned(),
        base_dir: std::path::PathBuf::new(),
        names,
        variables: Vec::new(),
        groups: Vec::new(),
        outputs: Vec::new(),
        summarisers: Vec::new(),
        backends: Vec::new(),
        collectors: Vec::new(),
        monitors: Vec::new(),
        serialized: false,
        tear_down_on_shutdown: false,
        state_count,
        sample_variables: Vec::new(),
        keeps_previous: false,
        has_rates: false,
        waits_in_functions: false,
        java: Default::default(),
        settings: settings.clone(),
        open_slot: crate::elements::samplers::http::open_slot,
    };
    let program = Arc::new(program);
    let shared = Shared {
        counts: Counts::new(1),
        ..Shared::new(
            &program,
            Clock::start(),
            &Control::default(),
            Default::default(),
        )
        .expect("every server is trusted")
    };
    let plan = BoundPlan {
        program,
        journeys: Vec::new(),
        preparations: Vec::new(),
    };
    user_of(shared, Rc::new(Arc::new(plan)))
}

/// A plan with one thread group of one user, who runs `body` `iterations` times.
pub fn one_user(iterations: u32, body: &str) -> BoundPlan {
    one_user_with(&[], iterations, body)
}

/// Does the same with JMeter properties.
pub fn one_user_with(properties: &[(&str, &str)], iterations: u32, body: &str) -> BoundPlan {
    let settings = RunSettings::default();
    for (name, value) in properties {
        settings.properties.set(name, *value);
    }
    let plan = drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{iterations}</stringProp></elementProp></ThreadGroup><hashTree>
{body}
</hashTree>"#
    ));
    let read = drumfire_jmx::read(plan.as_bytes(), std::path::Path::new("p.jmx"));
    let tree = read.expect("the plan is well-formed").tree;
    match crate::compile(tree, Arc::new(settings)) {
        Ok(compiled) => compiled.plan,
        Err(faults) => panic!("{faults:?}"),
    }
}

/// The first user of a plan's first thread group, before the first step.
pub fn user_of_plan(plan: BoundPlan) -> User {
    let plan = Rc::new(Arc::new(plan));
    let shared = Shared::new(
        &plan.program,
        Clock::start(),
        &Control::default(),
        Default::default(),
    );
    let first = user_of(shared.expect("every server is trusted"), plan.clone());
    User::new(&first.shared, &first.worker, &plan, first_user())
}

/// The first user of a run whose results go nowhere.
pub fn user_of(shared: Shared, plan: WorkerPlan) -> Context {
    let shared = Arc::new(shared);
    let place = ResultFolder {
        base_dir: std::path::PathBuf::new(),
        base_prefix: "~/".to_owned(),
        existing: ExistingFile::Append,
    };
    let writer = ResultWriter::open(Vec::new(), &place).expect("there is no file to open");
    let recorder = Recorder::new(&writer.inlet(), &Arc::new(Handover::new(0)), false);
    let worker = Rc::new(Worker::new(&shared, recorder, plan));
    Context::new(&shared, &worker, first_user())
}

/// The first user of the first thread group.
pub fn first_user() -> Identity {
    Identity {
        thread_name: "Thread Group 1-1".into(),
        group_name: "Thread Group".into(),
        group: 0,
        number: 0,
        same_user: true,
        on_error: OnError::Continue,
        end_ms: None,
        interrupted_at_end: false,
    }
}

/// A successful HTTP result with a body.
pub fn sample(body: &str) -> Sample {
    let mut sample = Sample {
        kind: drumfire_results::SampleKind::Http,
        response_data: Some(body.as_bytes().into()),
        ..Sample::default()
    };
    sample.set_ok();
    sample
}

/// The verdict of an assertion that searches on the worker, and also in the pool: both must be equal.
pub fn on_worker_and_in_pool(
    cx: &mut Context,
    judge: impl AsyncFn(&mut AssertionView) -> AssertionResult,
) -> AssertionResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime needs nothing of the system");
    let mut verdict = |in_pool| {
        cx.parsed.clear();
        cx.set_searches_apart(in_pool);
        runtime.block_on(judge(View::of(cx)))
    };
    let (on_worker, in_pool) = (verdict(false), verdict(true));
    let shown =
        |verdict: &AssertionResult| (verdict.failure, verdict.error, verdict.message.clone());
    assert_eq!(shown(&on_worker), shown(&in_pool));
    on_worker
}

/// All variables of a user whose names start with `prefix`, sorted, as `name=value`.
pub fn variables(cx: &Context, prefix: &str) -> Vec<String> {
    let mut found: Vec<_> = cx
        .vars
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
        .collect();
    found.sort();
    found
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

impl<T> Act<'_, T> {
    /// The outcome of an element that does not wait.
    pub fn done(self) -> T {
        match self {
            Act::Done(outcome) => outcome,
            Act::Wait(_) => panic!("the element waits"),
        }
    }
}

impl Hook {
    /// Tells an element that does not wait that an iteration starts.
    pub fn iteration_start(&self, cx: &mut Context, iteration: i32) {
        match self {
            Hook::Element(element) => element.iteration_start(View::of(cx), iteration),
            _ => panic!("no element that goes on at once"),
        }
    }
}
