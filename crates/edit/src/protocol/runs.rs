//! Runs of parts of plans, and their samples.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use super::host::{Shared, lock, read, written};
use super::methods as m;
use super::types::{RunEntry, Started};
use crate::operations::part::{Part, PartOptions, part};
use crate::program::{PartEvent, PartOrder, RunningPart};
use crate::refused::{BUSY, PARAMETERS, Refused};
use crate::tree::Model;

/// How many runs keep their samples.
const KEPT: usize = 20;

/// A run with what it has told.
struct KeptRun {
    plan: u64,
    run: Arc<dyn RunningPart>,
    entry: Arc<Mutex<RunEntry>>,
}

/// The runs of the program.
#[derive(Default)]
pub struct Runs {
    last: u64,
    /// A run is about to begin.
    begins: bool,
    all: BTreeMap<u64, KeptRun>,
}

impl Runs {
    fn is_busy(&self) -> bool {
        self.begins || self.all.values().any(|kept| !kept.run.is_over())
    }

    fn get(&self, run: u64) -> Result<Arc<dyn RunningPart>, Refused> {
        let kept = self.all.get(&run).map(|kept| kept.run.clone());
        kept.ok_or_else(|| {
            Refused::new(PARAMETERS, format!("there is no run with the number {run}"))
                .hint(format!("the last {KEPT} runs are kept"))
        })
    }
}

impl Shared {
    /// Methods about runs.
    pub(super) fn runs(
        self: &Arc<Self>,
        method: &str,
        parameters: Value,
    ) -> Result<String, Refused> {
        match method {
            "run" => self.run(&read(parameters)?),
            "run_stop" => {
                let m::RunStop { run } = read(parameters)?;
                lock(&self.runs).get(run)?.stop();
                Ok("null".to_owned())
            }
            "runs" => {
                let m::OfPlan { plan } = read(parameters)?;
                let runs = lock(&self.runs);
                let own = runs.all.values().filter(|kept| kept.plan == plan);
                let entries: Vec<RunEntry> = own.map(|kept| lock(&kept.entry).clone()).collect();
                written(&entries)
            }
            "run_search" => {
                let m::RunSearch { run, text } = read(parameters)?;
                let run = lock(&self.runs).get(run)?;
                written(&run.search(&text))
            }
            _ => {
                let asked: m::RunSampleDetail = read(parameters)?;
                let run = lock(&self.runs).get(asked.run)?;
                written(&run.sample(&asked)?)
            }
        }
    }

    fn run(self: &Arc<Self>, asked: &m::Run) -> Result<String, Refused> {
        let order = self.order(asked)?;
        let number = {
            let mut runs = lock(&self.runs);
            if runs.is_busy() {
                return Err(Refused::new(BUSY, "a part of a plan runs already")
                    .hint("end it with `run_stop`"));
            }
            runs.begins = true;
            runs.last += 1;
            runs.last
        };
        let plan = asked.plan;
        let started = json!({"plan": plan, "run": number, "kind": asked.kind, "id": asked.id});
        self.notify("run_started", &started.to_string());
        let host = Arc::downgrade(self);
        let begun = Instant::now();
        let entry = Arc::new(Mutex::new(RunEntry {
            run: number,
            kind: asked.kind.clone(),
            id: asked.id,
            ..RunEntry::default()
        }));
        let kept = entry.clone();
        let told = move |event: PartEvent| {
            let Some(host) = host.upgrade() else { return };
            let (method, what, value) = match event {
                PartEvent::Sample(sample) => {
                    let text = written(&sample);
                    lock(&kept).samples.push(sample);
                    ("run_sample", "sample", text)
                }
                PartEvent::Ended(mut outcome) => {
                    outcome.elapsed_ms = begun.elapsed().as_millis() as u64;
                    let text = written(&outcome);
                    lock(&kept).outcome = Some(outcome);
                    ("run_ended", "outcome", text)
                }
            };
            if let Ok(value) = value {
                let told = format!(r#"{{"plan":{plan},"run":{number},"{what}":{value}}}"#);
                host.notify(method, &told);
            }
        };
        let run = self.program.run(order, Box::new(told));
        let mut runs = lock(&self.runs);
        runs.begins = false;
        let run = run.inspect_err(|refused| {
            let outcome = json!({"ended": "failed", "samples": 0, "failed": 0, "elapsed_ms": 0, "message": refused.message});
            let ended = json!({"plan": plan, "run": number, "outcome": outcome});
            self.notify("run_ended", &ended.to_string());
        })?;
        runs.all.insert(number, KeptRun { plan, run, entry });
        while runs.all.len() > KEPT {
            runs.all.pop_first();
        }
        written(&Started { run: number })
    }

    /// The order for the program. It is made of the plan as it is now.
    fn order(&self, asked: &m::Run) -> Result<PartOrder, Refused> {
        let kind = match asked.kind.as_str() {
            "this" | "branch" => Part::Branch,
            "to_here" => Part::UpTo,
            "group" => Part::Group,
            "plan" => Part::Plan,
            other => {
                let message =
                    format!("`{other}` is none of `this`, `to_here`, `branch`, `group` and `plan`");
                return Err(Refused::new(PARAMETERS, message));
            }
        };
        let (path, model) = self.with(asked.plan, |open| {
            Ok((open.session.path().to_owned(), open.session.model().clone()))
        })?;
        // JMeter's validation of thread groups reads the same properties (`TreeClonerForValidation`).
        let property = |name: &str| self.program.property(&path, name);
        let flag =
            |name| property(name).is_none_or(|value| value.trim().eq_ignore_ascii_case("true"));
        let number = |name| {
            let value = property(name).and_then(|value| value.trim().parse().ok());
            value.filter(|value| *value > 0).unwrap_or(1)
        };
        let options = PartOptions {
            ignores_timers: flag("testplan_validation.ignore_timers"),
            ignores_backends: flag("testplan_validation.ignore_backends"),
            variables: asked.variables.clone(),
        };
        let own = part(&model, asked.id, kind, &options)?;
        Ok(PartOrder {
            ids: ids(&own),
            tree: own.tree().clone(),
            users: number("testplan_validation.nb_threads_per_thread_group"),
            iterations: number("testplan_validation.number_iterations"),
            variables: asked.variables.clone(),
            properties: asked.properties.clone(),
            plan: path,
        })
    }
}

/// The number of the element that begins at each offset.
fn ids(model: &Model) -> HashMap<usize, crate::tree::Id> {
    let mut entries = model.outline().entries.iter();
    let mut ids = HashMap::new();
    crate::tree::each(&model.tree().roots, &mut |node| {
        if let Some(entry) = entries.next() {
            ids.insert(node.span.start, entry.id);
        }
    });
    ids
}
