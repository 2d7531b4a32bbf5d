//! Runs parts of plans for the editor. The debugger's session follows the users; bodies go to files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_edit::protocol::methods::{RunGo, RunSampleDetail, RunTest};
use drumfire_edit::protocol::types::{
    RunAssertion, RunDetail, RunHalt, RunOutcome, RunRequest, RunResponse, RunSample, RunStep,
    VariableChange,
};
use drumfire_edit::refused::{FILE, NO_RUN, PARAMETERS};
use drumfire_edit::{Id, PartEvent, PartListener, PartOrder, Refused, RunningPart, StoredResponse};
use drumfire_engine::{ElementKind, ElementPlace, ElementTurn, SampleView};
use drumfire_jmx::{Diagnostic, Read};

use crate::debug::session::{
    DebugSession, Followed, HaltedUser, OnChange, OnSample, Pace, SessionChange, Shown, part_name,
};
use crate::debug::{curl, testers};
use crate::edit::bodies::{Bodies, unreadable};
use crate::engine::{CompiledPlan, Control, Debugging, Engine, RunOrder, Stopping};
use crate::settings::properties::RunProperties;

/// The most samples of a run.
const MOST_SAMPLES: usize = 10_000;
/// The length of a part of a body, unless the request asks for another one.
const WINDOW: u64 = 64 << 10;
/// How much of a body expressions are tried on, in bytes.
const MOST_TESTED: u64 = 16 << 20;
/// How much of a body is read to make extractors, in bytes. The search leaves out a body of this length.
const MOST_SEARCHED: u64 = (4 << 20) + 1;

/// A part that runs, or has run.
pub struct PartRun {
    session: DebugSession,
    control: Control,
    elements: Elements,
    bodies: Bodies,
    /// Whether its users stand still at breakpoints.
    is_debugged: bool,
}

/// Finds the elements of the plan that turns are about.
#[derive(Debug, Clone)]
struct Elements {
    plan: PathBuf,
    ids: Arc<HashMap<usize, Id>>,
}

impl Elements {
    fn of(&self, turn: &ElementTurn) -> Option<Id> {
        let ElementPlace { path, start } = turn.place.as_ref()?;
        let is_here = *path == self.plan;
        self.ids.get(start).copied().filter(|_| is_here)
    }

    /// The sampler of a sample.
    fn sampler(&self, shown: &Shown) -> Option<Id> {
        let mut steps = shown.steps.iter();
        let step = steps.find(|step| step.turn.part == ElementKind::Sampler)?;
        self.of(&step.turn)
    }
}

/// Starts a run. `folder` is where bodies go.
///
/// # Errors
/// The part cannot run, or the folder cannot be written.
pub fn start(
    engine: Engine,
    mut settings: RunProperties,
    folder: &Path,
    order: PartOrder,
    listener: PartListener,
) -> Result<Arc<dyn RunningPart>, Refused> {
    set_properties(&mut settings, &order);
    let bodies = Bodies::new(folder).map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", folder.display());
        Refused::new(FILE, message)
    })?;
    let elements = Elements {
        plan: order.plan.clone(),
        ids: Arc::new(order.ids),
    };
    let listener = Arc::new(listener);
    let control = Control::default();
    let is_debugged = order.pace.is_some();
    let pace = order.pace.map_or(Ok(Pace::Run), |pace| pace_of(&pace))?;
    let followed = Followed {
        users: order.users,
        most: order
            .samples
            .map(|most| most.min(MOST_SAMPLES))
            .unwrap_or(MOST_SAMPLES),
        pace,
        variables: order
            .variables
            .into_iter()
            .map(|(name, value)| (name, Some(value)))
            .collect(),
    };
    let on_sample = on_sample(elements.clone(), bodies.clone(), listener.clone());
    let on_change = on_change(elements.clone(), listener.clone());
    let session = DebugSession::new(control.clone(), followed, on_sample, on_change);
    let run = PartRun {
        session: session.clone(),
        control,
        elements,
        bodies,
        is_debugged,
    };
    run.break_at(order.breakpoints);
    let run_order = RunOrder {
        debugging: Debugging::by(Arc::new(session)),
        ..RunOrder::default()
    };
    let read = Read {
        tree: order.tree,
        warnings: Vec::new(),
    };
    let compiled = engine.compile_read(&order.plan, read, &settings, &run_order);
    let (plan, _) = compiled.map_err(|findings| wrong(&findings))?;
    let run = Arc::new(run);
    let running = run.clone();
    let thread = std::thread::Builder::new().name("run a part".to_owned());
    let spawned = thread.spawn(move || {
        let outcome = running.ended(engine, plan, &run_order);
        running.session.end();
        listener(PartEvent::Ended(outcome));
    });
    spawned.map_err(|error| Refused::new(NO_RUN, format!("no thread can start: {error}")))?;
    Ok(run)
}

/// Sets the properties of a run, and its users and iterations.
fn set_properties(settings: &mut RunProperties, order: &PartOrder) {
    let load = match order.iterations {
        1 => ("drumfire.load.once", "true".to_owned()),
        more => ("drumfire.load.iterations", more.to_string()),
    };
    for (name, value) in &order.properties {
        settings.properties.set(name, value);
        settings.given.push(name.clone());
    }
    for (name, value) in [load, ("drumfire.load.users", order.users.end().to_string())] {
        settings.properties.set(name, value);
    }
}

/// Why a part cannot run.
fn wrong(findings: &[Diagnostic]) -> Refused {
    let fault = findings.iter().find(|finding| finding.is_error());
    let message = fault.map_or("the plan cannot run", |fault| fault.message.as_str());
    let refused = Refused::new(NO_RUN, message);
    match fault.and_then(|fault| fault.help.clone()) {
        Some(help) => refused.hint(help),
        None => refused,
    }
}

/// Stores the bodies of each sample, and tells the listener.
fn on_sample(elements: Elements, bodies: Bodies, listener: Arc<PartListener>) -> OnSample {
    let iterations: Mutex<BTreeMap<(String, Option<Id>), usize>> = Mutex::default();
    Box::new(move |number, shown| {
        bodies.store(&mut vec![number], &mut shown.sample);
        let id = elements.sampler(shown);
        let iteration = {
            let mut all = iterations.lock().unwrap_or_else(PoisonError::into_inner);
            let iteration = all.entry((shown.thread_name.clone(), id)).or_default();
            *iteration += 1;
            *iteration
        };
        let sample = RunSample {
            id,
            iteration,
            ..brief(
                &bodies,
                &mut vec![number],
                &shown.sample,
                &shown.thread_name,
            )
        };
        listener(PartEvent::Sample(sample));
    })
}

/// Tells the listener where a user stands still.
fn on_change(elements: Elements, listener: Arc<PartListener>) -> OnChange {
    let is_halted = AtomicBool::new(false);
    Box::new(move |change| match change {
        SessionChange::Halted(user) => {
            is_halted.store(true, Ordering::Relaxed);
            listener(PartEvent::Halted(Some(halt(&elements, user))));
        }
        SessionChange::Freed if is_halted.swap(false, Ordering::Relaxed) => {
            listener(PartEvent::Halted(None));
        }
        SessionChange::Freed | SessionChange::Other => {}
    })
}

fn halt(elements: &Elements, user: &HaltedUser) -> RunHalt {
    RunHalt {
        id: elements.of(&user.turn),
        part: part_name(user.turn.part).to_owned(),
        name: user.turn.name.clone(),
        class: user.turn.class.clone(),
        thread: user.thread_name.clone(),
        variables: user.variables.clone(),
    }
}

fn pace_of(word: &str) -> Result<Pace, Refused> {
    Pace::of_word(word).map_err(|message| Refused::new(PARAMETERS, message))
}

/// A sample as a message; `path` has its number and those of the samples around it.
fn brief(bodies: &Bodies, path: &mut Vec<usize>, sample: &SampleView, thread: &str) -> RunSample {
    let mut children = Vec::with_capacity(sample.children.len());
    for (number, child) in (1..).zip(&sample.children) {
        path.push(number);
        children.push(brief(bodies, path, child, thread));
        path.pop();
    }
    let failed = sample
        .assertions
        .iter()
        .filter(|(_, fault)| fault.is_some());
    RunSample {
        number: path.last().copied().unwrap_or_default(),
        id: None,
        iteration: 1,
        thread: thread.to_owned(),
        label: sample.label.clone(),
        success: sample.success,
        code: sample.code.clone(),
        message: sample.message.clone(),
        start_ms: sample.start_ms,
        elapsed_us: sample.elapsed_us,
        latency_ms: sample.latency_ms,
        connect_ms: sample.connect_ms,
        sent_bytes: sample.sent_bytes,
        received_bytes: sample.received_bytes,
        method: sample.method.clone(),
        url: sample.url.clone(),
        content_type: sample.content_type.clone(),
        body_bytes: bodies.size(path),
        assertions: failed.count(),
        children,
    }
}

impl PartRun {
    /// Runs the plan to its end.
    fn ended(&self, engine: Engine, plan: CompiledPlan, order: &RunOrder) -> RunOutcome {
        let outcome = engine.run(plan, order, &self.control, &mut []);
        let (samples, failed) = self.session.samples(|samples| {
            let failed = samples.iter().filter(|shown| !shown.sample.success);
            (samples.len(), failed.count())
        });
        let (ended, message) = match outcome {
            Err(error) => ("failed", Some(error.to_string())),
            Ok(outcome) => match (outcome.stopped, outcome.faults.into_iter().next()) {
                (_, Some(fault)) => ("failed", Some(fault)),
                (Stopping::No, None) => ("done", outcome.nothing_sent),
                (_, None) if samples >= MOST_SAMPLES => {
                    let message = format!("the run ended after {MOST_SAMPLES} samples");
                    ("stopped", Some(message))
                }
                _ => ("stopped", None),
            },
        };
        RunOutcome {
            ended: ended.to_owned(),
            samples,
            failed,
            elapsed_ms: 0,
            message,
        }
    }

    fn shown(&self, number: usize) -> Result<Shown, Refused> {
        let at = number.checked_sub(1).ok_or_else(no_sample)?;
        let shown = self.session.samples(|samples| samples.get(at).cloned());
        shown.ok_or_else(no_sample)
    }

    fn steps(&self, shown: &Shown) -> Vec<RunStep> {
        let steps = shown.steps.iter().map(|step| RunStep {
            part: part_name(step.turn.part).to_owned(),
            name: step.turn.name.clone(),
            class: step.turn.class.clone(),
            id: self.elements.of(&step.turn),
            changes: step
                .changes
                .iter()
                .map(|change| VariableChange {
                    name: change.name.clone(),
                    before: change.before.clone(),
                    after: change.after.clone(),
                })
                .collect(),
        });
        steps.collect()
    }
}

fn no_sample() -> Refused {
    Refused::new(PARAMETERS, "the run has no such sample")
}

/// The sub-result to which the numbers lead.
fn within<'s>(sample: &'s SampleView, path: &[usize]) -> Result<&'s SampleView, Refused> {
    path.iter().try_fold(sample, |sample, number| {
        let child = number.checked_sub(1).and_then(|at| sample.children.get(at));
        child.ok_or_else(no_sample)
    })
}

/// The variables before the steps of a sample.
fn before(shown: &Shown) -> BTreeMap<String, String> {
    let mut variables = shown.variables.clone();
    for change in shown.steps.iter().rev().flat_map(|step| &step.changes) {
        match &change.before {
            Some(value) => drop(variables.insert(change.name.clone(), value.clone())),
            None => drop(variables.remove(&change.name)),
        }
    }
    variables
}

impl RunningPart for PartRun {
    fn stop(&self) {
        // A user that stands still before a sampler does not send it any more.
        match self.session.halted() {
            Some(_) => self.control.stop_now(),
            None => self.control.shutdown_soon(),
        }
        self.session.end();
    }

    fn is_over(&self) -> bool {
        self.session.is_over()
    }

    fn go(&self, order: RunGo) -> Result<(), Refused> {
        let pace = pace_of(&order.pace)?;
        self.session.go_on(pace, order.edits.into_iter().collect());
        Ok(())
    }

    fn break_at(&self, breakpoints: BTreeSet<Id>) {
        if !self.is_debugged {
            return;
        }
        let elements = self.elements.clone();
        let is_breakpoint = move |turn: &ElementTurn| {
            let id = elements.of(turn);
            id.is_some_and(|id| breakpoints.contains(&id))
        };
        self.session.break_where(Box::new(is_breakpoint));
    }

    fn response(&self, number: usize) -> Result<StoredResponse, Refused> {
        let sample = self.shown(number)?.sample;
        Ok(StoredResponse {
            run: 0,
            number,
            headers: sample.response_headers,
            content_type: sample.content_type,
            body: self.bodies.text(&[number], MOST_SEARCHED)?,
        })
    }

    fn test(&self, asked: &RunTest) -> Result<Vec<String>, Refused> {
        let shown = self.shown(asked.number)?;
        within(&shown.sample, &asked.path)?;
        let mut path = vec![asked.number];
        path.extend(&asked.path);
        let body = self.bodies.text(&path, MOST_TESTED)?;
        testers::find(&asked.kind, &asked.expression, &body)
            .map_err(|message| Refused::new(PARAMETERS, message))
    }

    fn search(&self, text: &str) -> Vec<usize> {
        let text = text.to_lowercase();
        let count = self.session.samples(<[Shown]>::len);
        // A run that goes on does not wait while bodies are read.
        (1..=count)
            .filter(|number| {
                let shown = self.session.samples(|all| all.get(number - 1).cloned());
                shown.is_some_and(|shown| {
                    self.bodies
                        .has_text(&mut vec![*number], &shown.sample, &text)
                })
            })
            .collect()
    }

    fn sample(&self, asked: &RunSampleDetail) -> Result<RunDetail, Refused> {
        let shown = self.shown(asked.number)?;
        let view = within(&shown.sample, &asked.path)?;
        let mut path = vec![asked.number];
        path.extend(&asked.path);
        let body = self
            .bodies
            .window(
                &path,
                asked.offset,
                asked.length.unwrap_or(WINDOW),
                !view.is_binary,
            )
            .map_err(|error| unreadable(&error))?;
        let id = self
            .elements
            .sampler(&shown)
            .filter(|_| asked.path.is_empty());
        Ok(RunDetail {
            sample: RunSample {
                id,
                ..brief(&self.bodies, &mut path, view, &shown.thread_name)
            },
            request: RunRequest {
                headers: view.request_headers.clone(),
                cookies: view.cookies.clone(),
                body: view.request_body.clone(),
                curl: curl::command(view),
            },
            response: RunResponse {
                headers: view.response_headers.clone(),
                content_type: view.content_type.clone(),
                is_binary: view.is_binary,
                body,
            },
            assertions: view
                .assertions
                .iter()
                .map(|(name, fault)| RunAssertion {
                    name: name.clone(),
                    fault: fault.clone(),
                })
                .collect(),
            steps: self.steps(&shown),
            before: before(&shown),
            variables: shown.variables,
        })
    }
}
