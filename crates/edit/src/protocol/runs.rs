//! Runs of parts of plans, and their samples.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use super::host::{Host, Shared, lock, read, written};
use super::methods as m;
use super::types::{RunEntry, RunProposal, RunProposals, RunYield, SentPlace, SentValue, Started};
use crate::forms;
use crate::operations::part::{Part, PartOptions, part};
use crate::operations::put;
use crate::program::{PartEvent, PartOrder, RunningPart, StoredResponse};
use crate::refused::{BUSY, PARAMETERS, Refused};
use crate::tree::{Id, Model};

/// How many runs keep their samples.
const KEPT: usize = 20;

/// How many responses of a sampler prove an extractor.
const MOST_PROVED: usize = 50;

/// How many values of a name are looked for.
const MOST_SENT: usize = 8;

/// A sample: the number of its run, the run, its own number.
type SampleOf = (u64, Arc<dyn RunningPart>, usize);

/// A run: its number, the run, what it has told.
pub type RunOf = (u64, Arc<dyn RunningPart>, Arc<Mutex<RunEntry>>);

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
    /// The breakpoints of each plan.
    breakpoints: BTreeMap<u64, BTreeSet<Id>>,
}

impl Runs {
    fn is_busy(&self) -> bool {
        self.begins || self.all.values().any(|kept| !kept.run.is_over())
    }

    /// The plan and the sampler of a sample, and the last samples of this sampler, the oldest first.
    fn of_sampler(&self, run: u64, number: usize) -> Result<(u64, Id, Vec<SampleOf>), Refused> {
        self.get(run)?;
        let part = &self.all[&run];
        let id = lock(&part.entry)
            .samples
            .iter()
            .find_map(|sample| (sample.number == number).then_some(sample.id))
            .ok_or_else(|| Refused::new(PARAMETERS, "the run has no such sample"))?
            .ok_or_else(|| {
                Refused::unfit("the sampler is in another plan")
                    .hint("open that plan, and run it there")
            })?;
        let mut all = Vec::new();
        let of_plan = self.all.iter().filter(|(_, one)| one.plan == part.plan);
        for (other, one) in of_plan {
            let entry = lock(&one.entry);
            let samples = entry.samples.iter().filter(|sample| sample.id == Some(id));
            all.extend(samples.map(|sample| (*other, one.run.clone(), sample.number)));
        }
        let is_own = |one: &SampleOf| (one.0, one.2) == (run, number);
        let last = all.len().saturating_sub(MOST_PROVED);
        let all = all
            .into_iter()
            .enumerate()
            .filter(|(at, one)| *at >= last || is_own(one));
        Ok((part.plan, id, all.map(|(_, one)| one).collect()))
    }

    /// The runs of a plan, the oldest first.
    pub(super) fn of_plan(&self, plan: u64) -> Vec<RunOf> {
        self.all
            .iter()
            .filter(|(_, part)| part.plan == plan)
            .map(|(number, part)| (*number, part.run.clone(), part.entry.clone()))
            .collect()
    }

    fn get(&self, run: u64) -> Result<Arc<dyn RunningPart>, Refused> {
        let part = self.all.get(&run);
        part.map(|part| part.run.clone()).ok_or_else(|| {
            Refused::new(PARAMETERS, format!("there is no run with the number {run}"))
                .hint(format!("the last {KEPT} runs are kept"))
        })
    }
}

impl Host {
    /// Lets users of runs with a `pace` stand still before the elements with these names.
    ///
    /// # Errors
    /// No element has one of the names.
    pub fn break_before(&self, plan: u64, names: &[String]) -> Result<(), Refused> {
        let mut ids = BTreeSet::new();
        for name in names {
            let named = self
                .0
                .with(plan, |open| Ok(named(open.session.model(), name)))?;
            if named.is_empty() {
                let message = format!("no element has the name `{name}`");
                return Err(Refused::new(PARAMETERS, message)
                    .hint("write the name as it stands in the plan, with its `${…}`"));
            }
            ids.extend(named);
        }
        lock(&self.0.runs).breakpoints.insert(plan, ids);
        Ok(())
    }
}

/// The elements with a name.
fn named(model: &Model, name: &str) -> Vec<Id> {
    let mut entries = model.outline().entries.iter();
    let mut ids = Vec::new();
    crate::tree::each(&model.tree().roots, &mut |node| {
        let entry = entries.next().filter(|_| node.name == name);
        ids.extend(entry.map(|entry| entry.id));
    });
    ids
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
            "run_go" => {
                let order: m::RunGo = read(parameters)?;
                let run = lock(&self.runs).get(order.run)?;
                run.go(order)?;
                Ok("null".to_owned())
            }
            "breakpoints" => self.breakpoints(read(parameters)?),
            "run_test" => {
                let asked: m::RunTest = read(parameters)?;
                let run = lock(&self.runs).get(asked.run)?;
                written(&run.test(&asked)?)
            }
            "run_propose" => self.propose(&read(parameters)?),
            "run_stop" => {
                let m::RunStop { run } = read(parameters)?;
                lock(&self.runs).get(run)?.stop();
                Ok("null".to_owned())
            }
            "runs" => {
                let m::OfPlan { plan } = read(parameters)?;
                let runs = lock(&self.runs);
                let entries: Vec<RunEntry> = runs
                    .all
                    .values()
                    .filter(|kept| kept.plan == plan)
                    .map(|kept| lock(&kept.entry).clone())
                    .collect();
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

    fn breakpoints(&self, asked: m::Breakpoints) -> Result<String, Refused> {
        let m::Breakpoints { plan, ids } = asked;
        // An element that was removed since stops nobody.
        self.with(plan, |_| Ok(()))?;
        let Some(ids) = ids else {
            return written(lock(&self.runs).breakpoints.entry(plan).or_default());
        };
        let ids: BTreeSet<Id> = ids.into_iter().collect();
        let running: Vec<Arc<dyn RunningPart>> = {
            let mut runs = lock(&self.runs);
            runs.breakpoints.insert(plan, ids.clone());
            let of_plan = runs.all.values().filter(|part| part.plan == plan);
            of_plan.map(|part| part.run.clone()).collect()
        };
        for run in running.iter().filter(|run| !run.is_over()) {
            run.break_at(ids.clone());
        }
        self.notify(
            "breakpoints",
            &json!({"plan": plan, "ids": ids}).to_string(),
        );
        written(&ids)
    }

    /// Proposes extractors for a text of a response.
    fn propose(&self, asked: &m::RunPropose) -> Result<String, Refused> {
        let (plan, sampler, all) = lock(&self.runs).of_sampler(asked.run, asked.number)?;
        let read = |(number, run, sample): &(u64, Arc<dyn RunningPart>, usize)| {
            let response = run.response(*sample)?;
            Ok(StoredResponse {
                run: *number,
                ..response
            })
        };
        let all: Vec<StoredResponse> = all.iter().map(read).collect::<Result<_, Refused>>()?;
        let sample = all
            .iter()
            .find(|one| (one.run, one.number) == (asked.run, asked.number))
            .ok_or_else(|| Refused::new(PARAMETERS, "the run has no such sample"))?;
        let proposed = self.program.propose(&asked.text, asked.at, sample, &all);
        let (sent, taken) = self.with(plan, |open| {
            let taken: BTreeSet<String> = forms::variables(&open.session, sampler)
                .into_iter()
                .map(|one| one.name)
                .collect();
            let names = proposed.iter().map(|one| one.name.as_str());
            let sent = sent(open.session.model(), sampler, &asked.text, names)?;
            Ok((sent, taken))
        })?;
        let proposals = proposed.into_iter().map(|one| {
            let name = match &asked.name {
                Some(name) => name.trim().to_owned(),
                None => unused(&one.name, &taken),
            };
            RunProposal {
                kind: one.kind,
                expression: one.expression,
                number: one.number,
                matches: one.matches,
                cost_us: one.cost_us,
                element: drumfire_jmx::write_elements(&[(one.element)(&name)]),
                name,
                found: all
                    .iter()
                    .zip(one.values)
                    .map(|(response, value)| RunYield {
                        run: response.run,
                        number: response.number,
                        value,
                    })
                    .collect(),
            }
        });
        written(&RunProposals {
            proposals: proposals.collect(),
            sent,
        })
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
        let shared_entry = entry.clone();
        let tell = move |event: PartEvent| {
            let Some(host) = host.upgrade() else { return };
            let (method, what, value) = match event {
                PartEvent::Sample(sample) => {
                    let text = written(&sample);
                    lock(&shared_entry).samples.push(sample);
                    ("run_sample", "sample", text)
                }
                PartEvent::Halted(halted) => {
                    let text = written(&halted);
                    lock(&shared_entry).halted = halted;
                    ("run_halted", "halted", text)
                }
                PartEvent::Ended(mut outcome) => {
                    outcome.elapsed_ms = begun.elapsed().as_millis() as u64;
                    let text = written(&outcome);
                    lock(&shared_entry).outcome = Some(outcome);
                    ("run_ended", "outcome", text)
                }
            };
            if let Ok(value) = value {
                let parameters = format!(r#"{{"plan":{plan},"run":{number},"{what}":{value}}}"#);
                host.notify(method, &parameters);
            }
        };
        let run = self.program.run(order, Box::new(tell));
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
        let property = |name: &str| match asked.properties.get(name) {
            Some(value) => Some(value.clone()),
            None => self.program.property(&path, name),
        };
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
        let part = part(&model, asked.id, kind, &options)?;
        let users = match asked.user {
            Some(user) => {
                let user = u32::try_from(user.max(1)).unwrap_or(u32::MAX);
                user..=user
            }
            None => 1..=number("testplan_validation.nb_threads_per_thread_group"),
        };
        Ok(PartOrder {
            ids: ids(&part),
            tree: part.tree().clone(),
            users,
            samples: asked.samples,
            iterations: number("testplan_validation.number_iterations"),
            variables: asked.variables.clone(),
            properties: asked.properties.clone(),
            pace: asked.pace.clone(),
            breakpoints: lock(&self.runs)
                .breakpoints
                .get(&asked.plan)
                .cloned()
                .unwrap_or_default(),
            plan: path,
        })
    }
}

/// The values in whose place a variable may come: a text, and what is sent under the names.
fn sent<'n>(
    model: &Model,
    sampler: Id,
    text: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<SentValue>, Refused> {
    /// Names of attributes that hold values of any name.
    const NO_NAMES: [&str; 3] = ["value", "content", "href"];
    let mut values = vec![text.to_owned()];
    for name in names.filter(|name| !NO_NAMES.contains(name)) {
        for value in put::sent_as(model, sampler, name)? {
            if values.len() <= MOST_SENT && !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let mut all = Vec::new();
    for value in values {
        let uses = put::uses(model, sampler, &value)?.into_iter();
        let uses: Vec<SentPlace> = uses
            .map(|one| SentPlace {
                id: one.id,
                property: one.property,
                count: one.count,
            })
            .collect();
        if !uses.is_empty() {
            all.push(SentValue { value, uses });
        }
    }
    Ok(all)
}

/// A name that no variable has.
fn unused(wish: &str, taken: &BTreeSet<String>) -> String {
    let mut numbered = (2..).map(|number: usize| format!("{wish}_{number}"));
    if taken.contains(wish) {
        numbered.find(|name| !taken.contains(name))
    } else {
        None
    }
    .unwrap_or_else(|| wish.to_owned())
}

/// The number of the element that begins at each offset.
fn ids(model: &Model) -> HashMap<usize, Id> {
    let mut entries = model.outline().entries.iter();
    let mut ids = HashMap::new();
    crate::tree::each(&model.tree().roots, &mut |node| {
        if let Some(entry) = entries.next() {
            ids.insert(node.span.start, entry.id);
        }
    });
    ids
}
