//! Evaluates texts for the editor without a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use drumfire_edit::{Trial, TrialOrder};
use drumfire_expr::{
    Compiler, Level, Properties, Raised, Random, Scope, ScriptCall, StaticScope, Template, Value,
    Vars, functions,
};

use crate::settings::properties::RunProperties;

/// How long an evaluation may take. A script may loop for ever.
const DEADLINE: Duration = Duration::from_secs(2);
/// How many evaluations may go on beyond their deadlines.
const MOST_STUCK: usize = 4;
/// The longest value that is shown, in characters.
const LONGEST: usize = 4096;
/// The number of evaluations that go on.
#[derive(Default)]
pub struct Trials(Arc<AtomicUsize>);

impl Trials {
    /// Evaluates a text in a thread of its own, until the deadline.
    pub fn evaluate(&self, settings: &RunProperties, order: TrialOrder) -> Trial {
        let properties = Properties::new();
        for (name, value) in settings.properties.iter() {
            properties.set(name, value);
        }
        for (name, value) in settings.system.iter() {
            properties.set_system(name, value);
        }
        if self.0.fetch_add(1, Ordering::Relaxed) >= MOST_STUCK {
            self.0.fetch_sub(1, Ordering::Relaxed);
            return refused("Earlier evaluations still go on");
        }
        let (send, receive) = mpsc::channel();
        let going = Going(self.0.clone());
        let thread = std::thread::Builder::new().name("evaluate a text".to_owned());
        let spawned = thread.spawn(move || {
            let trial = evaluated(&order, properties);
            drop(going);
            // Nobody may wait any more.
            let _ = send.send(trial);
        });
        if let Err(error) = spawned {
            return refused(&format!("No thread can start: {error}"));
        }
        match receive.recv_timeout(DEADLINE) {
            Ok(trial) => trial,
            Err(RecvTimeoutError::Timeout) => {
                refused("The evaluation takes longer than two seconds")
            }
            Err(RecvTimeoutError::Disconnected) => {
                refused("The evaluation ended without a value, which is a bug in Drumfire")
            }
        }
    }
}

/// A trial that was not evaluated.
fn refused(why: &str) -> Trial {
    Trial {
        outcome: Err(why.to_owned()),
        is_wrong: false,
        variables: BTreeMap::new(),
    }
}

/// An evaluation that goes on. It is counted until it is dropped, also by a panic or if its thread never starts.
struct Going(Arc<AtomicUsize>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn evaluated(order: &TrialOrder, properties: Properties) -> Trial {
    let mut compiler = Compiler::new(properties.clone());
    let name = order.plan.file_name().unwrap_or_default().to_string_lossy();
    let folder = order.plan.parent().unwrap_or(Path::new("."));
    compiler.set_plan(&name, folder);
    define(order, &mut compiler);
    let template = match Template::compile(&order.text, &mut compiler) {
        Ok(template) => template,
        Err(fault) => {
            let help = fault
                .help
                .map(|help| format!("; {help}"))
                .unwrap_or_default();
            return Trial {
                outcome: Err(format!("{}{help}", fault.message)),
                is_wrong: true,
                variables: BTreeMap::new(),
            };
        }
    };
    let warning = compiler.take_warnings().into_iter().next();
    let (names, vars) = compiler.finish();
    let value = |name: &str| vars.get_named(name).map(|value| shortened(value));
    let mut variables: BTreeMap<String, Option<String>> = BTreeMap::new();
    let slots = template.reads();
    let read = slots.iter().map(|slot| names.name(*slot));
    for name in read.chain(order.named.iter().map(String::as_str)) {
        variables.insert(name.to_owned(), value(name));
    }
    let (outcome, is_wrong) = if let Some(why) = untried(&template, &vars) {
        (Err(why), false)
    } else if let Some(warning) = warning {
        (Err(warning.message), true)
    } else {
        let scope = TrialScope::new(order, properties, vars, folder, &name);
        (samples(&template, order.times, scope), false)
    };
    Trial {
        outcome,
        is_wrong,
        variables,
    }
}

/// Defines the variables: those of the run as they are; without one, those of the start evaluated.
fn define(order: &TrialOrder, compiler: &mut Compiler) {
    for element in order.at_start.iter().filter(|_| order.variables.is_empty()) {
        let mut values = Vec::new();
        for (name, text) in element {
            let template =
                Template::compile(text, compiler).unwrap_or_else(|_| Template::raw(text));
            let is_tried = untried(&template, &Vars::new(Arc::default())).is_none();
            let value = if is_tried {
                template.eval(compiler.scope_mut()).to_string()
            } else {
                text.clone()
            };
            values.push((name, value));
        }
        for (name, value) in values {
            compiler.define(name, value.as_str());
        }
    }
    for (name, value) in &order.variables {
        compiler.define(name, value.as_str());
    }
    // They are not about the text.
    compiler.take_warnings();
}

/// Why a text is not evaluated.
fn untried(template: &Template, vars: &Vars) -> Option<String> {
    let called = template.functions();
    if let Some(spec) = called.iter().find(|spec| !spec.effect.is_empty()) {
        return Some(format!(
            "`{}` is not evaluated here: {}",
            spec.name, spec.effect
        ));
    }
    if template.needs_jvm() {
        let spec = called
            .iter()
            .find(|spec| spec.rung() == drumfire_expr::FunctionRung::Jvm);
        let name = spec
            .or(called.first())
            .map(|spec| spec.name)
            .unwrap_or("the text");
        return Some(format!("`{name}` is not evaluated here: Java runs it"));
    }
    if template.reads_previous_response() {
        return Some(
            "`__regexFunction` is not evaluated here: it reads the response of the sampler before"
                .to_owned(),
        );
    }
    let source = template.source();
    if called
        .iter()
        .any(|spec| spec.name.starts_with("__jexl") || spec.name == "__javaScript")
        && source.contains("OUT")
    {
        return Some("the script is not evaluated here: it may write to the output".to_owned());
    }
    // Texts in variables may call functions as well.
    let evaluates = called
        .iter()
        .any(|spec| matches!(spec.name, "__eval" | "__evalVar"));
    let is_risky =
        evaluates && (has_effect(source) || vars.iter().any(|(_, value)| has_effect(value)));
    is_risky.then(|| {
        "the text in the variable is not evaluated here: it calls a function that has an effect"
            .to_owned()
    })
}

/// Whether a text calls a function that has an effect.
fn has_effect(text: &str) -> bool {
    let mut with_effect = functions().iter().filter(|spec| !spec.effect.is_empty());
    with_effect.any(|spec| text.contains(spec.name))
}

/// The values, or why the evaluation fails with these variables.
fn samples(
    template: &Template,
    times: usize,
    mut scope: TrialScope,
) -> Result<Vec<String>, String> {
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        match template.try_eval(&mut scope) {
            _ if scope.needs_java => {
                return Err("the script is not evaluated here: Java runs it".to_owned());
            }
            Ok(text) => all.push(shortened(&text)),
            Err(raised) => return Err(failed(&raised.to_string())),
        }
    }
    // A script with an error gives an empty text, as in JMeter.
    match scope.failures.into_iter().next() {
        Some(message) if all.iter().all(String::is_empty) => Err(failed(&message)),
        _ => Ok(all),
    }
}

/// The message about an evaluation that failed.
fn failed(message: &str) -> String {
    format!("The evaluation fails: {message}")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first user of a thread group before its first sample.
struct TrialScope {
    outside: StaticScope,
    vars: Vars,
    element: String,
    group: String,
    thread: String,
    folder: std::path::PathBuf,
    plan: String,
    failures: Vec<String>,
    /// Whether a script cannot be run without Java.
    needs_java: bool,
}

impl TrialScope {
    fn new(
        order: &TrialOrder,
        properties: Properties,
        vars: Vars,
        folder: &Path,
        plan: &str,
    ) -> TrialScope {
        TrialScope {
            outside: StaticScope::new(properties),
            vars,
            element: order.element.clone(),
            group: order.group.clone(),
            thread: format!("{} 1-1", order.group),
            folder: folder.to_owned(),
            plan: plan.to_owned(),
            failures: Vec::new(),
            needs_java: false,
        }
    }
}

impl Scope for TrialScope {
    fn vars(&self) -> &Vars {
        &self.vars
    }
    fn vars_mut(&mut self) -> &mut Vars {
        &mut self.vars
    }
    fn properties(&self) -> &Properties {
        self.outside.properties()
    }
    fn thread_number(&self) -> u32 {
        0
    }
    fn thread_name(&self) -> &str {
        &self.thread
    }
    fn thread_group_name(&self) -> &str {
        &self.group
    }
    fn has_sampler(&self) -> bool {
        true
    }
    fn sampler_name(&mut self) -> Option<Value> {
        Some(Value::from(self.element.as_str()))
    }
    fn iteration(&self) -> u32 {
        1
    }
    fn previous_response(&self) -> Option<Cow<'_, str>> {
        None
    }
    fn test_plan_name(&self) -> &str {
        &self.plan
    }
    fn base_dir(&self) -> &Path {
        &self.folder
    }
    fn now_ms(&self) -> i64 {
        self.outside.now_ms()
    }
    fn random(&mut self) -> &mut Random {
        self.outside.random()
    }
    fn nesting(&mut self) -> &mut usize {
        self.outside.nesting()
    }
    fn log(&mut self, _: Level, _: &str) {}
    fn log_failure(&mut self, _: Level, message: &str) {
        self.failures.push(message.to_owned());
    }
    fn raise(&mut self, raised: Raised) {
        self.failures.push(raised.to_string());
    }
    fn run_script(&mut self, _: &ScriptCall<'_>) -> Result<String, Raised> {
        self.needs_java = true;
        Ok(String::new())
    }
}
