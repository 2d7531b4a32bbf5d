//! Recordings into plans.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use drumfire_elements::samplers::http_request;
use drumfire_jmx::line_end;
use drumfire_platform::causes::unreadable;
use serde_json::{Value, json};

use super::host::{Shared, lock, read, written};
use super::methods::OfPlan;
use super::record_messages as m;
use crate::forms;
use crate::operations::amend::{Versions, amend};
use crate::operations::structure::{self, Branch, Target};
use crate::program::{
    ProposedVariable, RecordEvent, RecordOrder, RecordedElements, RunningRecording,
};
use crate::refused::{BUSY, FILE, NO_RUN, PARAMETERS, Refused, no_element};
use crate::tree::{Id, Model};

/// How many recordings are kept: each has the bodies of all responses.
const KEPT: usize = 4;
/// How long a recording may take to end.
const END: Duration = Duration::from_secs(60);
/// How long the end of the program waits for one.
const LAST: Duration = Duration::from_secs(5);
/// The most remarks of a recording.
const MOST_NOTES: usize = 50;

/// The recordings of the program.
#[derive(Default)]
pub struct Records {
    last: u64,
    all: BTreeMap<u64, Arc<Recorded>>,
}

/// A recording and its progress.
struct Recorded {
    progress: Mutex<Progress>,
    /// Signalled when it is over and its requests were inserted, or could not be, and after replays.
    settled: Condvar,
    /// Set when it has begun.
    run: Mutex<Option<Arc<dyn RunningRecording>>>,
}

#[derive(Default)]
struct Progress {
    recording: m::Recording,
    rows: Vec<m::RecordRow>,
    /// Whether nothing is recorded any more.
    is_over: bool,
    /// The samplers, in the order of the recording.
    samplers: Vec<Id>,
}

impl Progress {
    fn is_settled(&self) -> bool {
        let is_inserted = matches!(self.recording.state.as_str(), "done" | "failed");
        is_inserted && !self.recording.proving
    }

    fn proposal(&mut self, number: usize) -> Result<&mut m::RecordProposal, Refused> {
        let proposals = &mut self.recording.proposals;
        proposals.get_mut(number).ok_or_else(|| {
            let message = format!("the recording has no proposal with the number {number}");
            Refused::new(PARAMETERS, message)
        })
    }

    /// Takes the proposals, and keeps what became of those that are known.
    fn propose(&mut self, all: Vec<ProposedVariable>) {
        let earlier = std::mem::take(&mut self.recording.proposals);
        let of = |at: usize| self.samplers.get(at).copied();
        let proposals = all.into_iter().enumerate().filter_map(|(number, one)| {
            let old = earlier.get(number);
            Some(m::RecordProposal {
                number,
                variable: old.map(|old| old.variable.clone()).unwrap_or(one.variable),
                value: one.value,
                kind: one.kind,
                expression: one.expression,
                found: one.found,
                matches: one.matches,
                from: of(one.from)?,
                used_in: one.used_in.into_iter().filter_map(of).collect(),
                proof: one.proof,
                extractor: old.and_then(|old| old.extractor),
                refused: old.is_some_and(|old| old.refused),
            })
        });
        self.recording.proposals = proposals.collect();
    }
}

impl Recorded {
    fn run(&self) -> Result<Arc<dyn RunningRecording>, Refused> {
        let run = lock(&self.run).clone();
        run.ok_or_else(|| Refused::new(BUSY, "the recording has not begun yet"))
    }
}

impl Records {
    fn get(&self, number: u64) -> Result<Arc<Recorded>, Refused> {
        self.all.get(&number).cloned().ok_or_else(|| {
            let message = format!("there is no recording with the number {number}");
            Refused::new(PARAMETERS, message).hint(format!("the last {KEPT} are kept"))
        })
    }

    fn under_way(&self) -> Option<Arc<Recorded>> {
        let mut all = self.all.values();
        all.find(|one| !lock(&one.progress).is_over).cloned()
    }
}

impl Shared {
    /// Methods about recordings.
    pub(super) fn records(
        self: &Arc<Self>,
        method: &str,
        parameters: Value,
    ) -> Result<String, Refused> {
        match method {
            "record_settings" => {
                let OfPlan { plan } = read(parameters)?;
                self.with(plan, |open| {
                    written(&self.program.record_settings(open.session.model().tree()))
                })
            }
            "record" => self.record(&read(parameters)?),
            "record_pause" => {
                let m::RecordPause { recording, paused } = read(parameters)?;
                lock(&self.records).get(recording)?.run()?.pause(paused);
                Ok("null".to_owned())
            }
            "record_name" => {
                let m::RecordName { recording, name } = read(parameters)?;
                let name = name.trim();
                if name.is_empty() {
                    return Err(Refused::new(PARAMETERS, "the transaction has no name"));
                }
                lock(&self.records).get(recording)?.run()?.name(name);
                Ok("null".to_owned())
            }
            "record_stop" => self.record_stop(&read(parameters)?),
            "record_state" => {
                let OfPlan { plan } = read(parameters)?;
                self.record_state(plan)
            }
            "record_accept" => self.record_accept(&read(parameters)?),
            "record_refuse" => {
                let asked: m::RecordRefuse = read(parameters)?;
                let recorded = lock(&self.records).get(asked.recording)?;
                lock(&recorded.progress).proposal(asked.number)?.refused = asked.refused;
                self.tell_recording(&recorded)
            }
            "record_verify" => self.record_verify(&read(parameters)?),
            _ => {
                let m::OfRecording { recording } = read(parameters)?;
                self.record_close(recording)
            }
        }
    }

    fn record(self: &Arc<Self>, asked: &m::Record) -> Result<String, Refused> {
        let (plan, tree) = self.with(asked.plan, |open| {
            open.session.check(None, &[asked.into])?;
            if let Some(why) = open.session.read_only() {
                return Err(Refused::unfit(format!("the plan can only be read: {why}")));
            }
            let model = open.session.model();
            structure::movable(model)?;
            structure::fits(model, asked.into, &http_request::FACTS.node(""))?;
            Ok((open.session.path().to_owned(), model.tree().clone()))
        })?;
        let offer = self.program.record_settings(&tree);
        let order = RecordOrder {
            plan,
            tree,
            in_browser: asked.browser,
            url: asked.url.clone().filter(|url| !url.trim().is_empty()),
            headless: asked.headless,
            scripts: asked.scripts.clone(),
            settings: settings(&offer.settings, asked.settings.as_ref())?,
        };
        let recorded = self.begun(asked)?;
        let (host, listener) = (Arc::downgrade(self), Arc::downgrade(&recorded));
        let take_event = move |event: RecordEvent| {
            if let (Some(host), Some(recorded)) = (host.upgrade(), listener.upgrade()) {
                host.take_event(&recorded, event);
            }
        };
        let run = self.program.record(order, Box::new(take_event));
        let number = lock(&recorded.progress).recording.recording;
        let run = run.inspect_err(|_| {
            lock(&self.records).all.remove(&number);
        })?;
        {
            let mut progress = lock(&recorded.progress);
            progress.recording.address = run.address();
            let certificate = run.certificate();
            progress.recording.is_new = certificate.as_ref().is_some_and(|(_, is_new)| *is_new);
            progress.recording.certificate = certificate.map(|(certificate, _)| certificate);
        }
        *lock(&recorded.run) = Some(run);
        let answer = self.tell_recording(&recorded)?;
        let is_over = lock(&recorded.progress).is_over;
        if is_over {
            self.settle(&recorded);
        }
        Ok(answer)
    }

    /// A place for a new recording; older ones are forgotten.
    fn begun(&self, asked: &m::Record) -> Result<Arc<Recorded>, Refused> {
        let mut records = lock(&self.records);
        if records.under_way().is_some() {
            let refused = Refused::new(BUSY, "a recording goes on already");
            return Err(refused.hint("end it with `record_stop`"));
        }
        records.last += 1;
        let number = records.last;
        let earlier = records.all.iter().filter(|(_, one)| {
            let other = &lock(&one.progress).recording;
            other.plan == asked.plan && other.state == "done"
        });
        let earlier = earlier.map(|(number, _)| *number).collect();
        let recorded = Arc::new(Recorded {
            progress: Mutex::default(),
            settled: Condvar::new(),
            run: Mutex::new(None),
        });
        lock(&recorded.progress).recording = m::Recording {
            recording: number,
            plan: asked.plan,
            into: asked.into,
            state: "recording".to_owned(),
            earlier,
            ..m::Recording::default()
        };
        records.all.insert(number, recorded.clone());
        while records.all.len() > KEPT {
            records.all.pop_first();
        }
        Ok(recorded)
    }

    fn take_event(self: &Arc<Self>, recorded: &Arc<Recorded>, event: RecordEvent) {
        let mut progress = lock(&recorded.progress);
        match event {
            RecordEvent::Row(row) => {
                let position = progress
                    .rows
                    .iter()
                    .position(|one| one.number == row.number);
                match position {
                    Some(at) => progress.rows[at] = row.clone(),
                    None => progress.rows.push(row.clone()),
                }
                let m::Recording {
                    plan, recording, ..
                } = progress.recording;
                drop(progress);
                return self.tell_row(plan, recording, &row);
            }
            RecordEvent::Named(name) => progress.recording.name = name,
            RecordEvent::Paused(paused) => {
                progress.recording.state = if paused { "paused" } else { "recording" }.to_owned();
            }
            RecordEvent::Note(note) => {
                if progress.recording.notes.len() < MOST_NOTES {
                    progress.recording.notes.push(note);
                }
            }
            RecordEvent::Ended(message) => {
                progress.recording.message = message;
                progress.is_over = true;
                drop(progress);
                return self.settle(recorded);
            }
        }
        drop(progress);
        // The listeners may be gone.
        let _ = self.tell_recording(recorded);
    }

    fn tell_row(&self, plan: u64, recording: u64, row: &m::RecordRow) {
        if let Ok(row) = written(row) {
            let parameters = format!(r#"{{"plan":{plan},"recording":{recording},"row":{row}}}"#);
            self.notify("record_row", &parameters);
        }
    }

    /// Tells the state of a recording, and returns it.
    fn tell_recording(&self, recorded: &Recorded) -> Result<String, Refused> {
        let (plan, recording) = {
            let progress = lock(&recorded.progress);
            (progress.recording.plan, written(&progress.recording)?)
        };
        let parameters = format!(r#"{{"plan":{plan},"recording":{recording}}}"#);
        self.notify("record_changed", &parameters);
        Ok(recording)
    }

    /// Inserts the requests of a recording that is over.
    fn settle(self: &Arc<Self>, recorded: &Recorded) {
        let Ok(run) = recorded.run() else {
            // It ended before the program returned it, which settles it then.
            return;
        };
        {
            let mut progress = lock(&recorded.progress);
            if matches!(progress.recording.state.as_str(), "ending" | "done") {
                return;
            }
            progress.recording.state = "ending".to_owned();
        }
        let inserted = self.insert_recorded(recorded, &*run);
        let mut progress = lock(&recorded.progress);
        match inserted {
            Ok(()) => progress.recording.state = "done".to_owned(),
            Err(refused) => {
                progress.recording.state = "failed".to_owned();
                let why = progress.recording.message.take().unwrap_or(refused.message);
                progress.recording.message = Some(why);
            }
        }
        drop(progress);
        recorded.settled.notify_all();
        let _ = self.tell_recording(recorded);
    }

    fn insert_recorded(
        self: &Arc<Self>,
        recorded: &Recorded,
        run: &dyn RunningRecording,
    ) -> Result<(), Refused> {
        let (plan, into) = {
            let progress = lock(&recorded.progress);
            (progress.recording.plan, progress.recording.into)
        };
        let (tree, way, taken) = self.with(plan, |open| {
            let model = open.session.model();
            let names: Vec<String> = forms::variables(&open.session, into)
                .into_iter()
                .map(|one| one.name)
                .collect();
            Ok((model.tree().clone(), way(model, into)?, names))
        })?;
        let recorded_elements = run.elements(&tree, &way, taken)?;
        drop(tree);
        let (created, samplers) = self.insert_elements(plan, into, &recorded_elements)?;
        let mut progress = lock(&recorded.progress);
        progress.recording.requests = samplers.len();
        progress.recording.created = created;
        progress.samplers = samplers;
        progress.recording.left_out = recorded_elements.left_out;
        progress.recording.notes.extend(recorded_elements.notes);
        progress.recording.message = None;
        progress.propose(recorded_elements.proposals);
        let recording = progress.recording.recording;
        let mut judged = Vec::new();
        for row in &mut progress.rows {
            let why = recorded_elements.omitted.get(&row.number).cloned();
            if row.left_out != why {
                row.left_out = why;
                judged.push(row.clone());
            }
        }
        drop(progress);
        judged
            .iter()
            .for_each(|row| self.tell_row(plan, recording, row));
        Ok(())
    }

    /// Inserts elements in one step. Returns their numbers, and those of the samplers among them.
    fn insert_elements(
        &self,
        plan: u64,
        into: Id,
        recorded: &RecordedElements,
    ) -> Result<(Vec<Id>, Vec<Id>), Refused> {
        if recorded.nodes.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut created, mut samplers) = (Vec::new(), Vec::new());
        self.change(plan, (None, &[into]), |session| {
            let model = session.model();
            let line = line_end(model.text());
            let branches: Vec<Branch> = recorded
                .nodes
                .iter()
                .map(|node| Branch::new(node, line))
                .collect();
            let target = Target {
                parent: into,
                index: usize::MAX,
            };
            let nodes: Vec<_> = recorded.nodes.iter().collect();
            let holder = model.node(into).ok_or_else(|| no_element(into))?;
            let label = format!("Record into {}", holder.name);
            let step = structure::insert(model, target, &branches, &nodes, label)?;
            let changed = session.make(step)?;
            let outline = session.model().outline();
            let children = &outline
                .entry(into)
                .ok_or_else(|| no_element(into))?
                .children;
            created = children[children.len() - recorded.nodes.len()..].to_vec();
            for id in &created {
                let at = outline.index(*id).ok_or_else(|| no_element(*id))?;
                let below = at..at + outline.entries[at].below + 1;
                let below =
                    below.filter(|at| session.model().node_at(*at).class == http_request::CLASS);
                samplers.extend(below.map(|at| outline.entries[at].id));
            }
            Ok(changed)
        })?;
        Ok((created, samplers))
    }

    fn record_stop(self: &Arc<Self>, asked: &m::RecordStop) -> Result<String, Refused> {
        let recorded = lock(&self.records).get(asked.recording)?;
        let run = recorded.run()?;
        let (is_over, is_failed) = {
            let mut progress = lock(&recorded.progress);
            let is_failed = progress.recording.state == "failed";
            if let Some(into) = asked.into.filter(|_| !progress.is_settled() || is_failed) {
                progress.recording.into = into;
            }
            (progress.is_over, is_failed)
        };
        if is_over && is_failed {
            self.settle(&recorded);
        } else {
            run.stop();
            if !recorded.wait(END) {
                return Err(Refused::new(BUSY, "the recording has not ended yet"));
            }
        }
        self.tell_recording(&recorded)
    }

    fn record_state(&self, plan: u64) -> Result<String, Refused> {
        let records = lock(&self.records);
        let mut all = records.all.values().rev();
        let recorded = all.find(|one| lock(&one.progress).recording.plan == plan);
        let state = recorded.map(|own| {
            let progress = lock(&own.progress);
            m::RecordState {
                recording: progress.recording.clone(),
                rows: progress.rows.clone(),
            }
        });
        written(&state)
    }

    fn record_close(&self, number: u64) -> Result<String, Refused> {
        let mut records = lock(&self.records);
        let recorded = records.get(number)?;
        let progress = lock(&recorded.progress);
        if !progress.is_over {
            return Err(Refused::new(BUSY, "the recording goes on").hint("end it first"));
        }
        let parameters = json!({"plan": progress.recording.plan, "recording": number});
        drop(progress);
        records.all.remove(&number);
        drop(records);
        self.notify("record_closed", &parameters.to_string());
        Ok("null".to_owned())
    }

    /// Ends the recording that goes on and the replays, of one plan or of all. The requests come into the plan, whose journal keeps
    /// them.
    pub(super) fn end_recording(&self, plan: Option<u64>) {
        let all: Vec<Arc<Recorded>> = lock(&self.records).all.values().cloned().collect();
        for recorded in all {
            let (plan_recorded, is_over) = {
                let progress = lock(&recorded.progress);
                (progress.recording.plan, progress.is_over)
            };
            let Some(run) = recorded
                .run()
                .ok()
                .filter(|_| plan.is_none_or(|plan| plan == plan_recorded))
            else {
                continue;
            };
            run.give_up();
            if !is_over {
                run.stop();
            }
            recorded.wait(LAST);
        }
    }

    /// Forgets the recordings into a plan that was closed.
    pub(super) fn forget_recordings(&self, plan: u64) {
        let mut records = lock(&self.records);
        records
            .all
            .retain(|_, own| lock(&own.progress).recording.plan != plan);
    }

    fn record_accept(self: &Arc<Self>, asked: &m::RecordAccept) -> Result<String, Refused> {
        let recorded = lock(&self.records).get(asked.recording)?;
        let run = recorded.run()?;
        let (plan, samplers, proposals) = {
            let progress = lock(&recorded.progress);
            let recording = &progress.recording;
            let proposals = recording.proposals.clone();
            (recording.plan, progress.samplers.clone(), proposals)
        };
        let proposal = proposals.get(asked.number).ok_or_else(|| {
            Refused::new(PARAMETERS, "the recording has no proposal with this number")
        })?;
        let variable = asked
            .name
            .as_deref()
            .map_or(proposal.variable.as_str(), str::trim);
        if variable.is_empty() || variable.contains(['$', '{', '}', ',']) {
            let message = format!("`{variable}` is not the name of a variable");
            return Err(Refused::new(PARAMETERS, message).hint("use letters, digits and `_`"));
        }
        let mut accepted: Vec<(usize, String)> = self.with(plan, |open| {
            let model = open.session.model();
            Ok(proposals
                .iter()
                .filter(|one| one.extractor.is_some_and(|id| model.node(id).is_some()))
                .map(|one| (one.number, one.variable.clone()))
                .collect())
        })?;
        if accepted.iter().any(|(number, _)| *number == asked.number) {
            return Err(Refused::unfit(format!(
                "`{variable}` is a variable already"
            )));
        }
        let before = run.samplers(&accepted)?;
        accepted.push((asked.number, variable.to_owned()));
        let after = run.samplers(&accepted)?;
        let pairs = samplers.iter().zip(before.iter().zip(&after));
        let versions: Vec<Versions<'_>> = pairs
            .map(|(id, (before, after))| Versions {
                id: *id,
                before,
                after,
            })
            .collect();
        let label = format!(
            "Extract {variable}, sent by {} requests",
            proposal.used_in.len()
        )
        .replace(" 1 requests", " 1 request");
        let mut extractor = None;
        let change = self.change(plan, (None, &[proposal.from]), |session| {
            let earlier = children(session.model(), proposal.from);
            let step = amend(session.model(), &versions, label)?;
            let changed = session.make(step)?;
            extractor = children(session.model(), proposal.from)
                .difference(&earlier)
                .next()
                .copied();
            Ok(changed)
        })?;
        let mut progress = lock(&recorded.progress);
        let proposal = progress.proposal(asked.number)?;
        proposal.extractor = extractor;
        proposal.variable = variable.to_owned();
        proposal.refused = false;
        drop(progress);
        self.tell_recording(&recorded)?;
        Ok(change)
    }

    /// A recording in the folders that may be read.
    fn har(&self, plan: u64, file: &str) -> Result<String, Refused> {
        let folder = self.with(plan, |open| Ok(open.session.path().with_file_name("")))?;
        let path = self.allowed(&folder.join(file.trim()))?;
        read_to_string(&path).map_err(|error| {
            let refused = Refused::new(FILE, unreadable(&path, &error));
            refused.hint("name a HAR in the folder of the plan")
        })
    }

    fn record_verify(self: &Arc<Self>, asked: &m::RecordVerify) -> Result<String, Refused> {
        let recorded = lock(&self.records).get(asked.recording)?;
        let run = recorded.run()?;
        let other = match (asked.with, &asked.har) {
            (Some(number), _) => {
                let har = lock(&self.records).get(number)?.run()?.har();
                Some(har.ok_or_else(|| Refused::unfit("the other recording is not over"))?)
            }
            (None, Some(file)) => {
                let plan = lock(&recorded.progress).recording.plan;
                Some(self.har(plan, file)?)
            }
            (None, None) => None,
        };
        {
            let mut progress = lock(&recorded.progress);
            if progress.recording.proving || progress.recording.state != "done" {
                let refused =
                    Refused::new(BUSY, "the recording is not there yet, or is being tried");
                return Err(refused.hint("wait until it is done"));
            }
            progress.recording.proving = true;
            progress.recording.remarks.clear();
        }
        let host = self.clone();
        let tried = recorded.clone();
        let thread = std::thread::Builder::new().name("try proposals".to_owned());
        let spawned = thread.spawn(move || {
            let verified = run.verify(other);
            let mut progress = lock(&tried.progress);
            progress.recording.proving = false;
            match verified {
                Ok((proposals, remarks)) => {
                    progress.propose(proposals);
                    progress.recording.remarks = remarks;
                }
                Err(refused) => progress.recording.remarks = vec![refused.message],
            }
            drop(progress);
            tried.settled.notify_all();
            let _ = host.tell_recording(&tried);
        });
        spawned.map_err(|error| Refused::new(NO_RUN, error.to_string()))?;
        self.tell_recording(&recorded)?;
        Ok("null".to_owned())
    }
}

/// The children of an element; none if it is gone.
fn children(model: &Model, id: Id) -> BTreeSet<Id> {
    let entry = model.outline().entry(id).into_iter();
    entry.flat_map(|entry| entry.children.clone()).collect()
}

impl Recorded {
    /// Waits until its requests were inserted and no replay runs; returns whether that is so.
    fn wait(&self, limit: Duration) -> bool {
        let progress = lock(&self.progress);
        let waited = self
            .settled
            .wait_timeout_while(progress, limit, |told| !told.is_settled());
        waited.is_ok_and(|(told, _)| told.is_settled())
    }
}

/// The indices among siblings from the roots down to an element.
fn way(model: &Model, id: Id) -> Result<Vec<usize>, Refused> {
    let outline = model.outline();
    let at = outline.index(id).ok_or_else(|| no_element(id))?;
    let above: Vec<usize> = outline.upwards(at).collect();
    let mut way: Vec<usize> = above.iter().map(|at| outline.entries[*at].place).collect();
    way.reverse();
    Ok(way)
}

/// The settings with those that a request changes.
fn settings(
    usual: &m::RecordSettings,
    changed: Option<&Value>,
) -> Result<m::RecordSettings, Refused> {
    let mut all = serde_json::to_value(usual).unwrap_or_default();
    let changed = match changed {
        None => return Ok(usual.clone()),
        Some(Value::Object(changed)) => changed,
        Some(_) => return Err(Refused::new(PARAMETERS, "`settings` is no object")),
    };
    for (name, value) in changed {
        let Some(setting) = all.get_mut(name) else {
            let names = all.as_object().into_iter().flat_map(|all| all.keys());
            let near = drumfire_jmx::did_you_mean(name, names.map(String::as_str));
            let refused = Refused::new(PARAMETERS, format!("there is no setting `{name}`"));
            return Err(match near {
                Some(near) => refused.hint(format!("did you mean `{near}`?")),
                None => refused,
            });
        };
        *setting = value.clone();
    }
    read(all)
}
