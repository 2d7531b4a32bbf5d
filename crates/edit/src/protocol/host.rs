//! Answers requests: the plans that are open, and the methods.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::findings::Inspectee;
use super::jar_forms::{self, Told};
use super::loads::Loads;
use super::marks::{Committed, Marks, marks};
use super::methods;
use super::records::Records;
use super::runs::Runs;
use super::shown::OpenPlan;
use super::types::{Opened, PlanEntry};
use crate::jar_forms::JarForms;
use crate::program::Program;
use crate::refused::{FILE, NO_JSON, NO_METHOD, NO_REQUEST, PARAMETERS, Refused, UNFIT};
use crate::session::{Journals, Outside, Session};
use crate::tree::{Changed, Id};

/// How long a plan rests after a change before it is inspected.
const REST: Duration = Duration::from_millis(150);
/// How often files and journals are looked after.
const TICK: Duration = Duration::from_secs(1);
/// The most plans that `files` lists.
const MOST_FILES: usize = 500;

/// Receives notifications: the method and its parameters as JSON. Returns `false` to receive no more.
pub type Listener = Box<dyn Fn(&str, &str) -> bool + Send>;

/// The work of a thread, which ends when the host is gone.
type Watcher = fn(&Weak<Shared>);

/// The plans that are open. Ends its threads when it is dropped.
pub struct Host(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) program: Arc<dyn Program>,
    journals: Option<Journals>,
    /// The folders whose plans may be opened; any plan if there are none.
    folders: Vec<PathBuf>,
    plans: Mutex<Plans>,
    /// Signalled after a change, and at the end.
    woken: Condvar,
    listeners: Mutex<Vec<Listener>>,
    pub(super) runs: Mutex<Runs>,
    pub(super) told: Mutex<Told>,
    pub(super) loads: Mutex<Loads>,
    pub(super) records: Mutex<Records>,
}

#[derive(Default)]
struct Plans {
    next: u64,
    open: BTreeMap<u64, OpenPlan>,
    /// The plans that changed after their last inspection, and when.
    stale: BTreeMap<u64, Instant>,
    is_over: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    /// A host whose sessions keep their journals in a folder, if there is one. If `folders` are given, only plans in them can be
    /// opened.
    pub fn new(
        program: Arc<dyn Program>,
        journals: Option<Journals>,
        folders: Vec<PathBuf>,
    ) -> Host {
        let shared = Arc::new(Shared {
            program,
            journals,
            folders,
            plans: Mutex::new(Plans::default()),
            woken: Condvar::new(),
            listeners: Mutex::new(Vec::new()),
            runs: Mutex::new(Runs::default()),
            told: Mutex::default(),
            loads: Mutex::default(),
            records: Mutex::default(),
        });
        let threads: [(&str, Watcher); 2] = [("inspect plans", inspect), ("watch plans", watch)];
        for (name, run) in threads {
            let weak = Arc::downgrade(&shared);
            let thread = std::thread::Builder::new().name(name.to_owned());
            // Without the thread there are no findings, or no merges before the next save.
            let _ = thread.spawn(move || run(&weak));
        }
        Host(shared)
    }

    /// Passes notifications to a listener.
    pub fn listen(&self, listener: Listener) {
        lock(&self.0.listeners).push(listener);
    }

    /// Opens a plan and returns its number.
    ///
    /// # Errors
    /// The file cannot be read as a plan.
    pub fn open(&self, path: &Path) -> Result<u64, Refused> {
        self.0.open(path, None)
    }

    /// Answers a message: a request, or several in a list. A notification has no answer.
    pub fn answer(&self, message: &[u8]) -> Option<String> {
        match serde_json::from_slice::<Value>(message) {
            Err(error) => Some(failed(
                &Value::Null,
                &Refused::new(NO_JSON, format!("the message is no JSON: {error}")),
            )),
            Ok(Value::Array(batch)) if batch.is_empty() => Some(failed(
                &Value::Null,
                &Refused::new(NO_REQUEST, "the list has no requests"),
            )),
            Ok(Value::Array(batch)) => {
                let answers: Vec<String> =
                    batch.into_iter().filter_map(|one| self.one(one)).collect();
                (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
            }
            Ok(one) => self.one(one),
        }
    }

    /// Carries out a method and returns its result.
    ///
    /// # Errors
    /// There is no such method, or it refuses.
    pub fn request(&self, method: &str, parameters: Value) -> Result<Value, Refused> {
        let result = self.carry_out(method, parameters)?;
        serde_json::from_str(&result).map_err(|error| Refused::new(UNFIT, error.to_string()))
    }

    fn carry_out(&self, method: &str, parameters: Value) -> Result<String, Refused> {
        if methods::all().any(|own| own.name == method) {
            return self.0.carry_out(method, parameters);
        }
        let names = methods::all().map(|own| own.name);
        let near = drumfire_jmx::did_you_mean(method, names);
        let refused = Refused::new(NO_METHOD, format!("there is no method `{method}`"));
        Err(match near {
            Some(near) => refused.hint(format!("did you mean `{near}`?")),
            None => refused,
        })
    }

    fn one(&self, mut request: Value) -> Option<String> {
        let parameters = request
            .get_mut("params")
            .map(Value::take)
            .unwrap_or_else(|| json!({}));
        let id = request.get("id");
        let Some(method) = request.get("method").and_then(Value::as_str) else {
            let refused = Refused::new(NO_REQUEST, "the message has no `method`");
            return Some(failed(id.unwrap_or(&Value::Null), &refused));
        };
        let done = self.carry_out(method, parameters);
        let id = id?;
        Some(match done {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(refused) => failed(id, &refused),
        })
    }
}

impl Host {
    /// Ends the runs with load, the recording and the host's threads. A thread may hold the host until the process ends, so that nothing drops it.
    pub fn end(&self) {
        lock(&self.0.plans).is_over = true;
        self.0.woken.notify_all();
        lock(&self.0.loads).stop();
        self.0.end_recording(None);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

fn failed(id: &Value, refused: &Refused) -> String {
    let mut data = serde_json::Map::new();
    if let Some(hint) = &refused.hint {
        data.insert("hint".to_owned(), json!(hint));
    }
    if let Some(id) = refused.id {
        data.insert("id".to_owned(), json!(id));
    }
    if let Some(property) = &refused.property {
        data.insert("property".to_owned(), json!(property));
    }
    let error = json!({"code": refused.code, "message": refused.message, "data": data});
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

/// Reads the parameters of a method.
pub(super) fn read<T: DeserializeOwned>(parameters: Value) -> Result<T, Refused> {
    serde_json::from_value(parameters)
        .map_err(|error| Refused::new(PARAMETERS, format!("the parameters do not fit: {error}")))
}

/// A result as JSON. It is written at once: as values, the elements of a large plan would take ten times the memory.
pub(super) fn written(result: &impl Serialize) -> Result<String, Refused> {
    serde_json::to_string(result).map_err(|error| Refused::new(UNFIT, error.to_string()))
}

fn no_plan(number: u64) -> Refused {
    Refused::new(
        PARAMETERS,
        format!("no plan with the number {number} is open"),
    )
    .hint("open it with `open`")
}

impl Shared {
    pub(super) fn notify(&self, method: &str, parameters: &str) {
        lock(&self.listeners).retain(|listener| listener(method, parameters));
    }

    /// The folders whose plans may be opened; none if any plan may.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The whole path of a file that may be read.
    pub(super) fn allowed(&self, path: &Path) -> Result<PathBuf, Refused> {
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_allowed =
            self.folders.is_empty() || self.folders.iter().any(|folder| whole.starts_with(folder));
        if is_allowed {
            return Ok(whole);
        }
        let message = format!("`{}` is outside of the opened folders", path.display());
        Err(Refused::new(FILE, message).hint("start `drumfire edit` with this plan"))
    }

    /// Opens a plan: the file, or a text that another program holds.
    pub(super) fn open(&self, path: &Path, text: Option<&str>) -> Result<u64, Refused> {
        let whole = self.allowed(path)?;
        let mut plans = lock(&self.plans);
        if let Some((number, _)) = plans
            .open
            .iter()
            .find(|(_, open)| open.session.path() == whole)
        {
            return Ok(*number);
        }
        let session = match text {
            Some(text) => Session::of_text(&whole, text)?,
            None => Session::open(&whole, self.journals.as_ref())?,
        };
        plans.next += 1;
        let number = plans.next;
        let open = OpenPlan {
            number,
            session,
            inspected: super::findings::Inspected::default(),
            marks: Marks::default(),
        };
        plans.open.insert(number, open);
        plans.stale.insert(number, Instant::now());
        drop(plans);
        self.woken.notify_all();
        Ok(number)
    }

    /// Passes a plan to `see`.
    pub(super) fn with<T>(
        &self,
        number: u64,
        see: impl FnOnce(&mut OpenPlan) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let mut plans = lock(&self.plans);
        see(plans.open.get_mut(&number).ok_or_else(|| no_plan(number))?)
    }

    /// Changes a plan, and tells all listeners.
    pub(super) fn change(
        &self,
        number: u64,
        (revision, ids): (Option<u64>, &[Id]),
        make: impl FnOnce(&mut Session) -> Result<Changed, Refused>,
    ) -> Result<String, Refused> {
        let mut plans = lock(&self.plans);
        let open = plans.open.get_mut(&number).ok_or_else(|| no_plan(number))?;
        open.session.check(revision, ids)?;
        let before = open.session.model().outline().clone();
        let seen = open.session.revision();
        let changed = make(&mut open.session)?;
        let change = written(&open.change(&changed, &before))?;
        let is_new = open.session.revision() != seen;
        if is_new {
            plans.stale.insert(number, Instant::now());
        }
        drop(plans);
        if is_new {
            self.changed(number, &change);
        }
        Ok(change)
    }

    fn changed(&self, number: u64, change: &str) {
        self.woken.notify_all();
        self.notify(
            "changed",
            &format!(r#"{{"plan":{number},"change":{change}}}"#),
        );
    }

    /// Tells of a change by another program.
    fn tell_outside(&self, number: u64, outside: Option<Outside>) {
        let Some(outside) = outside else { return };
        let mut plans = lock(&self.plans);
        let Some(open) = plans.open.get(&number) else {
            return;
        };
        match outside {
            Outside::Merged(changed) => {
                // What is new is not told apart: the caller did not make it.
                let change = written(&open.change(&changed, open.session.model().outline()));
                plans.stale.insert(number, Instant::now());
                drop(plans);
                if let Ok(change) = change {
                    self.changed(number, &change);
                }
            }
            Outside::Conflict(_) => {
                let conflicts = open.conflicts();
                drop(plans);
                for conflict in conflicts {
                    let parameters = json!({"plan": number, "conflict": conflict});
                    self.notify("conflict", &parameters.to_string());
                }
            }
        }
    }

    pub(super) fn save(&self, number: u64) -> Result<u64, Refused> {
        let (saved, revision) = self.with(number, |open| {
            let saved = open.session.save();
            Ok((saved, open.session.revision()))
        })?;
        let outside = match saved {
            Ok(outside) => outside,
            Err(refused) => {
                self.tell_outside(number, Some(Outside::Conflict(Vec::new())));
                return Err(refused);
            }
        };
        self.tell_outside(number, outside);
        Ok(revision)
    }

    pub(super) fn close(&self, number: u64) -> Result<(), Refused> {
        let mut plans = lock(&self.plans);
        plans.stale.remove(&number);
        plans
            .open
            .remove(&number)
            .map(drop)
            .ok_or_else(|| no_plan(number))
    }

    /// The plans that are open, and the others of the opened folders.
    pub(super) fn files(&self) -> Vec<PlanEntry> {
        let plans = lock(&self.plans);
        let mut all: Vec<PlanEntry> = plans
            .open
            .values()
            .map(|open| {
                entry(
                    open.session.path(),
                    Some(open.number),
                    open.session.is_dirty(),
                )
            })
            .collect();
        let mut paths = Vec::new();
        for folder in &self.folders {
            collect(folder, 0, &mut paths);
        }
        paths.sort();
        paths.dedup();
        paths.retain(|path| plans.open.values().all(|open| open.session.path() != path));
        all.extend(paths.iter().map(|path| entry(path, None, false)));
        all
    }

    /// The plans that are open.
    pub(super) fn trees(&self) -> Vec<Opened> {
        lock(&self.plans)
            .open
            .values()
            .map(OpenPlan::opened)
            .collect()
    }

    /// The plan as it is, to be inspected without keeping others from working.
    pub(super) fn inspectee(&self, number: u64) -> Result<Inspectee, Refused> {
        self.with(number, |open| {
            let model = open.session.model();
            Ok(Inspectee {
                path: open.session.path().to_owned(),
                tree: model.tree().clone(),
                outline: model.outline().clone(),
                warnings: model.warnings.clone(),
                revision: open.session.revision(),
            })
        })
    }

    /// Inspects a plan and tells of the findings.
    pub(super) fn inspect(&self, number: u64) -> Result<String, Refused> {
        let inspectee = self.inspectee(number)?;
        let inspection = self.program.inspect(&inspectee.path, &inspectee.tree);
        let inspected = inspectee.told(inspection);
        self.mark(number, &inspectee);
        drop(inspectee);
        let findings = written(&inspected.findings)?;
        let revision = inspected.revision;
        self.with(number, |open| {
            if inspected.revision >= open.inspected.revision {
                open.inspected = inspected;
            }
            Ok(())
        })?;
        self.notify(
            "findings",
            &format!(r#"{{"plan":{number},"revision":{revision},"findings":{findings}}}"#),
        );
        Ok(findings)
    }

    /// Gives all plans the forms of jars. Returns the numbers of the plans.
    pub(super) fn take_forms(&self, forms: &Arc<JarForms>) -> Vec<u64> {
        let mut plans = lock(&self.plans);
        for open in plans.open.values_mut() {
            open.session.model_mut().jar_forms = forms.clone();
        }
        plans.open.keys().copied().collect()
    }

    /// Compares a plan with its last commit, and tells what differs.
    fn mark(&self, number: u64, inspectee: &Inspectee) {
        let marks = self
            .program
            .committed(&inspectee.path)
            .and_then(|bytes| Committed::read(&bytes))
            .map(|committed| marks(&committed, &inspectee.tree, &inspectee.outline))
            .unwrap_or_default();
        let parameters = json!({
            "plan": number,
            "revision": inspectee.revision,
            "added": marks.added,
            "changed": marks.changed,
        });
        let is_new = self.with(number, |open| {
            let is_new = open.marks != marks;
            open.marks = marks;
            Ok(is_new)
        });
        if is_new == Ok(true) {
            self.notify("marks", &parameters.to_string());
        }
    }
}

fn entry(path: &Path, plan: Option<u64>, dirty: bool) -> PlanEntry {
    let name = path.file_name().unwrap_or_default();
    PlanEntry {
        plan,
        path: path.display().to_string(),
        name: name.to_string_lossy().into_owned(),
        dirty,
    }
}

/// The plans of a folder and of those below it.
fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    /// How deep folders are searched.
    const DEPTH: usize = 4;
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let is_hidden = name.to_string_lossy().starts_with('.');
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if found.len() >= MOST_FILES {
            return;
        }
        if is_folder && !is_hidden && depth < DEPTH {
            collect(&path, depth + 1, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
        {
            found.push(path);
        }
    }
}

/// Inspects plans some time after they change.
fn inspect(shared: &Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let mut plans = lock(&shared.plans);
        if plans.is_over {
            return;
        }
        let due = plans
            .stale
            .iter()
            .find(|(_, since)| since.elapsed() >= REST);
        let Some(number) = due.map(|(number, _)| *number) else {
            if plans.stale.is_empty() {
                drop(shared.woken.wait(plans));
            } else {
                drop(shared.woken.wait_timeout(plans, REST));
            }
            continue;
        };
        plans.stale.remove(&number);
        drop(plans);
        // The plan may have been closed.
        let _ = shared.inspect(number);
        jar_forms::ask(&shared, number);
    }
}

/// Looks after files and journals.
fn watch(shared: &Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let mut plans = lock(&shared.plans);
        if plans.is_over {
            return;
        }
        let mut outside = Vec::new();
        let mut unforced = Vec::new();
        for (number, open) in &mut plans.open {
            unforced.extend(open.session.unforced().map(|file| (*number, file)));
            outside.push((*number, open.session.poll()));
        }
        drop(plans);
        // The disk may be slow; requests do not wait for it.
        for (number, file) in unforced {
            if let Err(error) = file.sync_data() {
                let _ = shared.with(number, |open| {
                    open.session.journal_failed(&error);
                    Ok(())
                });
            }
        }
        for (number, outside) in outside {
            shared.tell_outside(number, outside);
        }
        let plans = lock(&shared.plans);
        let waited = shared
            .woken
            .wait_timeout_while(plans, TICK, |plans| !plans.is_over);
        drop(waited);
    }
}
