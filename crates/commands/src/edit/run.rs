//! Runs parts of plans for the editor. The debugger's session follows the users; bodies go to files.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_edit::protocol::methods::RunSampleDetail;
use drumfire_edit::protocol::types::{
    BodyWindow, RunAssertion, RunDetail, RunOutcome, RunRequest, RunResponse, RunSample, RunStep,
    VariableChange,
};
use drumfire_edit::refused::{FILE, NO_RUN, PARAMETERS};
use drumfire_edit::{Id, PartEvent, PartListener, PartOrder, Refused, RunningPart};
use drumfire_engine::{ElementKind, ElementPlace, ElementTurn, SampleView};
use drumfire_jmx::{Diagnostic, Read};
use drumfire_platform::files;

use crate::debug::curl;
use crate::debug::session::{DebugSession, Followed, OnSample, Pace, Shown, part_name};
use crate::engine::{CompiledPlan, Control, Debugging, Engine, RunOrder, Stopping};
use crate::settings::properties::RunProperties;

/// The most samples of a run.
const MOST_SAMPLES: usize = 10_000;
/// The length of a part of a body, unless the request asks for another one, and the longest part.
const WINDOW: u64 = 64 << 10;
const LONGEST_WINDOW: u64 = 1 << 20;

/// A part that runs, or has run.
pub struct PartRun {
    session: DebugSession,
    control: Control,
    elements: Elements,
    bodies: Bodies,
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
    let load = match order.iterations {
        1 => ("drumfire.load.once", "true".to_owned()),
        more => ("drumfire.load.iterations", more.to_string()),
    };
    for (name, value) in &order.properties {
        settings.properties.set(name, value);
        settings.given.push(name.clone());
    }
    for (name, value) in [load, ("drumfire.load.users", order.users.to_string())] {
        settings.properties.set(name, value);
    }
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
    let followed = Followed {
        users: 1..=order.users,
        most: MOST_SAMPLES,
        pace: Pace::Run,
        variables: order
            .variables
            .into_iter()
            .map(|(name, value)| (name, Some(value)))
            .collect(),
    };
    let on_sample = on_sample(elements.clone(), bodies.clone(), listener.clone());
    let session = DebugSession::new(control.clone(), followed, on_sample, Box::new(|| {}));
    let run_order = RunOrder {
        debugging: Debugging::by(Arc::new(session.clone())),
        ..RunOrder::default()
    };
    let read = Read {
        tree: order.tree,
        warnings: Vec::new(),
    };
    let compiled = engine.compile_read(&order.plan, read, &settings, &run_order);
    let (plan, _) = compiled.map_err(|findings| wrong(&findings))?;
    let run = Arc::new(PartRun {
        session,
        control,
        elements,
        bodies,
    });
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
            let own = all.entry((shown.thread_name.clone(), id)).or_default();
            *own += 1;
            *own
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
        self.control.shutdown_soon();
        self.session.end();
    }

    fn is_over(&self) -> bool {
        self.session.is_over()
    }

    fn search(&self, text: &str) -> Vec<usize> {
        let text = text.to_lowercase();
        let count = self.session.samples(<[Shown]>::len);
        // A run that goes on does not wait while bodies are read.
        let has_text = |number: &usize| {
            let shown = self.session.samples(|all| all.get(number - 1).cloned());
            shown.is_some_and(|shown| {
                self.bodies
                    .has_text(&mut vec![*number], &shown.sample, &text)
            })
        };
        (1..=count).filter(has_text).collect()
    }

    fn sample(&self, asked: &RunSampleDetail) -> Result<RunDetail, Refused> {
        let none = || Refused::new(PARAMETERS, "the run has no such sample");
        let number = asked.number.checked_sub(1).ok_or_else(none)?;
        let shown = self.session.samples(|samples| samples.get(number).cloned());
        let shown = shown.ok_or_else(none)?;
        let mut view = &shown.sample;
        for number in &asked.path {
            let child = number.checked_sub(1).and_then(|at| view.children.get(at));
            view = child.ok_or_else(none)?;
        }
        let mut path = vec![asked.number];
        path.extend(&asked.path);
        let body = self.bodies.window(
            &path,
            asked.offset,
            asked.length.unwrap_or(WINDOW),
            !view.is_binary,
        );
        let body = body.map_err(|error| {
            Refused::new(
                FILE,
                format!("the body of the sample cannot be read: {error}"),
            )
        })?;
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

/// The bodies of a run's samples, each in a file.
#[derive(Debug, Clone)]
struct Bodies(Arc<tempfile::TempDir>);

impl Bodies {
    fn new(folder: &Path) -> io::Result<Bodies> {
        files::private_folder(folder)?;
        let own = tempfile::Builder::new().prefix("run-").tempdir_in(folder)?;
        Ok(Bodies(Arc::new(own)))
    }

    fn path(&self, path: &[usize]) -> PathBuf {
        let numbers: Vec<String> = path.iter().map(usize::to_string).collect();
        self.0.path().join(numbers.join("-"))
    }

    /// Writes the bodies of a sample and of its sub-results, and keeps none in memory. Without a place on the disk, a body counts
    /// as empty.
    fn store(&self, path: &mut Vec<usize>, sample: &mut SampleView) {
        if let Some(body) = sample.response_data.take().filter(|body| !body.is_empty()) {
            let _ = files::private(&self.path(path)).and_then(|mut file| file.write_all(&body));
        }
        sample.response_body = String::new();
        for (number, child) in (1..).zip(&mut sample.children) {
            path.push(number);
            self.store(path, child);
            path.pop();
        }
    }

    /// Whether a sample, or a sub-result of it, has a text. `text` is in lower case.
    fn has_text(&self, path: &mut Vec<usize>, sample: &SampleView, text: &str) -> bool {
        let parts = [
            &sample.label,
            &sample.code,
            &sample.message,
            &sample.url,
            &sample.request_headers,
            &sample.cookies,
            &sample.request_body,
            &sample.response_headers,
        ];
        let body = || {
            let bytes = std::fs::read(self.path(path)).unwrap_or_default();
            String::from_utf8_lossy(&bytes)
                .to_lowercase()
                .contains(text)
        };
        if parts.iter().any(|part| part.to_lowercase().contains(text)) || body() {
            return true;
        }
        (1..).zip(&sample.children).any(|(number, child)| {
            path.push(number);
            let found = self.has_text(path, child, text);
            path.pop();
            found
        })
    }

    fn size(&self, path: &[usize]) -> u64 {
        std::fs::metadata(self.path(path)).map_or(0, |file| file.len())
    }

    /// A part of a body. That of a text ends behind a whole character.
    fn window(
        &self,
        path: &[usize],
        offset: u64,
        length: u64,
        is_text: bool,
    ) -> io::Result<BodyWindow> {
        let size = self.size(path);
        let offset = offset.min(size);
        let mut bytes = Vec::new();
        if offset < size {
            let mut file = File::open(self.path(path))?;
            file.seek(SeekFrom::Start(offset))?;
            file.take(length.clamp(4, LONGEST_WINDOW))
                .read_to_end(&mut bytes)?;
        }
        if is_text && offset + (bytes.len() as u64) < size {
            bytes.truncate(whole_characters(&bytes));
        }
        let next = offset + bytes.len() as u64;
        let (text, base64) = match is_text {
            true => (Some(String::from_utf8_lossy(&bytes).into_owned()), None),
            false => (None, Some(STANDARD.encode(&bytes))),
        };
        Ok(BodyWindow {
            offset,
            next,
            size,
            text,
            base64,
        })
    }
}

/// The length without a character at the end that is cut off.
fn whole_characters(bytes: &[u8]) -> usize {
    /// The longest character of UTF-8 has four bytes.
    const REST: usize = 3;
    let from = bytes.len().saturating_sub(REST);
    match bytes[from..].iter().rposition(|byte| byte & 0xc0 != 0x80) {
        Some(at) => match std::str::from_utf8(&bytes[from + at..]) {
            Err(error) if error.error_len().is_none() => from + at,
            _ => bytes.len(),
        },
        None => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_text_end_behind_characters_and_give_it_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let bodies = Bodies::new(folder.path()).expect("it can be written");
        let text = "aé€😀".repeat(50);
        let mut sample = SampleView {
            response_data: Some(text.as_bytes().into()),
            ..SampleView::default()
        };
        bodies.store(&mut vec![1], &mut sample);
        assert!(sample.response_data.is_none());
        for length in 4..20 {
            let (mut read, mut offset) = (String::new(), 0);
            while offset < text.len() as u64 {
                let window = bodies.window(&[1], offset, length, true).expect("a part");
                assert!(window.next > offset, "{window:?}");
                read.push_str(&window.text.expect("it is text"));
                offset = window.next;
            }
            assert_eq!(read, text, "{length}");
        }
        let window = bodies.window(&[1], 3, 4, false).expect("a part");
        let bytes = STANDARD.decode(window.base64.expect("it is no text"));
        assert_eq!(bytes.as_deref(), Ok(&text.as_bytes()[3..7]));
        let nothing = bodies.window(&[2], 9, 4, true).expect("an empty part");
        assert_eq!((nothing.size, nothing.text.as_deref()), (0, Some("")));
    }
}
