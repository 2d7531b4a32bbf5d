//! A plan that is open: its model, undo and redo, its journal, and the file on the disk.

mod conflicted;
mod encoding;
mod history;
mod journal;
mod outside;
mod replay;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use drumfire_jmx::{Conflict, Diagnostic};
use drumfire_platform::causes::unwritable;
use drumfire_platform::files::read_regular;
use drumfire_platform::replacement::replace;

use crate::refused::{CONFLICT, FILE, Refused, STALE, UNFIT, no_element};
use crate::tree::{Changed, Id, Model, Step, step};
pub use encoding::Encoding;
use history::History;
pub use journal::Journals;
use journal::{Entry, Journal, hash};
use outside::{Outcome, merged, pieces};

/// The label of a step that another program made.
const FROM_OUTSIDE: &str = "Change by another program";

/// A plan that is open.
#[derive(Debug)]
pub struct Session {
    path: PathBuf,
    encoding: Encoding,
    model: Model,
    history: History,
    revision: u64,
    /// The revision that changed an element last.
    changed_at: HashMap<Id, u64>,
    journal: Option<Journal>,
    /// Why the plan cannot be changed.
    read_only: Option<String>,
    /// A fault that keeps undo from surviving the end of the program.
    journal_fault: Option<String>,
    disk: Disk,
    conflict: Option<Pending>,
    /// Whether another program holds the text and saves it.
    is_held: bool,
}

/// The file as it was last read or written.
#[derive(Debug, Clone)]
struct Disk {
    /// Its text; `None` while the history leads to it.
    text: Option<String>,
    hash: String,
    stamp: Option<(SystemTime, u64)>,
}

/// A version of the file that cannot be merged.
#[derive(Debug, Clone)]
struct Pending {
    theirs: String,
    hash: String,
    conflicts: Vec<Conflict>,
    /// The common version, if it is known.
    base: Option<String>,
    /// Whether the file has git's conflict markers.
    is_marked: bool,
}

/// The versions of a conflict beside the plan as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The version of the file.
    pub theirs: String,
    /// The common version, if it is known.
    pub base: Option<String>,
    /// Whether the file has git's conflict markers.
    pub is_marked: bool,
}

/// A change that another program made to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outside {
    /// It is part of the plan now.
    Merged(Changed),
    /// It changes what was changed here as well.
    Conflict(Vec<Conflict>),
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len()))
}

/// The first error in words.
fn first_error(faults: &[Diagnostic]) -> String {
    let fault = faults.iter().find(|fault| fault.is_error());
    fault.map(|fault| fault.message.clone()).unwrap_or_default()
}

/// The refusal of a file that is no plan.
fn unreadable(path: &Path, faults: &[Diagnostic]) -> Refused {
    let fault = faults.iter().find(|fault| fault.is_error());
    let line =
        fault.and_then(|fault| Some(fault.source.as_ref()?.line_column(fault.span?.start).0));
    let line = line.map_or_else(String::new, |line| format!(" at line {line}"));
    let message = format!(
        "`{}` cannot be read as a plan{line}: {}",
        path.display(),
        first_error(faults)
    );
    Refused {
        hint: fault.and_then(|fault| fault.help.clone()),
        ..Refused::new(FILE, message)
    }
}

impl Session {
    /// Opens a plan. With a journal, undo and unsaved changes of earlier sessions are there again.
    ///
    /// # Errors
    /// The file cannot be read as a plan.
    pub fn open(path: &Path, journals: Option<&Journals>) -> Result<Session, Refused> {
        let stamp = stamp(path);
        let bytes = read_regular(path).map_err(|error| {
            let fault = Diagnostic::from_io(path, &error);
            let refused = Refused::new(FILE, format!("`{}`: {}", path.display(), fault.message));
            Refused {
                hint: fault.help,
                ..refused
            }
        })?;
        let read = match drumfire_jmx::read(&bytes, path) {
            Ok(read) => read,
            Err(faults) => {
                let marked = conflicted::open(path, &bytes, &faults, stamp);
                return marked.ok_or_else(|| unreadable(path, &faults));
            }
        };
        let mut session = Session::new(path, read, &bytes, stamp);
        if let Some(journals) = journals.filter(|_| session.read_only.is_none()) {
            session.take_journal(journals);
        }
        Ok(session)
    }

    /// Opens a text that another program holds. The session neither reads nor writes the file.
    ///
    /// # Errors
    /// The text cannot be read as a plan.
    pub fn of_text(path: &Path, text: &str) -> Result<Session, Refused> {
        let read = drumfire_jmx::read(text.as_bytes(), path)
            .map_err(|faults| unreadable(path, &faults))?;
        let mut session = Session::new(path, read, text.as_bytes(), None);
        session.is_held = true;
        Ok(session)
    }

    /// A session of a plan that was read.
    fn new(
        path: &Path,
        read: drumfire_jmx::Read,
        bytes: &[u8],
        stamp: Option<(SystemTime, u64)>,
    ) -> Session {
        let encoding = Encoding::of(bytes, &read.tree.source.text);
        let read_only = encoding
            .is_none()
            .then(|| "some bytes of the file are no text; save it as UTF-8 first".to_owned());
        Session {
            path: path.to_owned(),
            encoding: encoding.unwrap_or(Encoding::plain()),
            model: Model::new(path, read),
            history: History::new(),
            revision: 1,
            changed_at: HashMap::new(),
            journal: None,
            read_only,
            journal_fault: None,
            disk: Disk {
                text: None,
                hash: hash(bytes),
                stamp,
            },
            conflict: None,
            is_held: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The plan, for operations that make new elements.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// The number of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The name of the file's encoding.
    pub fn encoding(&self) -> &'static str {
        self.encoding.name()
    }

    /// Why the plan cannot be changed.
    pub fn read_only(&self) -> Option<&str> {
        self.read_only.as_deref()
    }

    /// A fault that keeps undo from surviving the end of the program.
    pub fn journal_fault(&self) -> Option<&str> {
        self.journal_fault.as_deref()
    }

    /// Whether the text differs from the file.
    pub fn is_dirty(&self) -> bool {
        self.history.is_dirty()
    }

    /// The label of the step that undo would take back.
    pub fn can_undo(&self) -> Option<&str> {
        self.history.last().map(|step| step.label.as_str())
    }

    /// The label of the step that redo would make again.
    pub fn can_redo(&self) -> Option<&str> {
        self.history.next().map(|step| step.label.as_str())
    }

    /// The settings that this session and another program changed in different ways.
    pub fn conflicts(&self) -> &[Conflict] {
        self.conflict
            .as_ref()
            .map(|pending| &pending.conflicts[..])
            .unwrap_or(&[])
    }

    /// The versions of the conflict with another program's change of the file, if there is one.
    pub fn sides(&self) -> Option<Sides> {
        let pending = self.conflict.as_ref()?;
        Some(Sides {
            theirs: pending.theirs.clone(),
            base: pending.base.clone(),
            is_marked: pending.is_marked,
        })
    }

    /// Refuses a request whose caller has not seen what became of an element.
    ///
    /// # Errors
    /// An element changed after the revision, or is gone.
    pub fn check(&self, revision: Option<u64>, ids: &[Id]) -> Result<(), Refused> {
        for id in ids {
            let node = self.model.node(*id).ok_or_else(|| no_element(*id))?;
            let changed = self.changed_at.get(id).copied().unwrap_or_default();
            if revision.is_some_and(|revision| changed > revision) {
                let message = format!(
                    "`{}` was changed in revision {changed}, after the one that the request names",
                    node.name
                );
                return Err(Refused::new(STALE, message)
                    .hint("ask for the element again")
                    .of(*id));
            }
        }
        Ok(())
    }

    /// Makes a step. Returns what it changed.
    ///
    /// # Errors
    /// The plan cannot be changed, or the text would no longer be a plan.
    pub fn make(&mut self, step: Step) -> Result<Changed, Refused> {
        self.writable()?;
        self.made(step)
    }

    /// Makes a step also in a plan that is open for reading only.
    fn made(&mut self, mut step: Step) -> Result<Changed, Refused> {
        if step.is_empty() {
            return Ok(Changed::default());
        }
        if self.disk.text.is_none() && self.history.loses_saved() {
            self.disk.text = Some(self.saved_text().into_owned());
        }
        let changed = self.applied(&mut step)?;
        self.log(&Entry::Made(&step));
        self.history.made(step);
        Ok(changed)
    }

    /// Makes a step that refers to a new file in the plan's folder, and writes that file.
    ///
    /// # Errors
    /// As [`Session::make`]; or the file is there already, or cannot be written.
    pub fn make_with_file(
        &mut self,
        step: Step,
        name: &str,
        text: &str,
    ) -> Result<Changed, Refused> {
        self.writable()?;
        let path = self.path.parent().unwrap_or(Path::new("")).join(name);
        let file = File::create_new(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| {
            let refused = Refused::new(FILE, unwritable(&path, &error));
            match error.kind() {
                io::ErrorKind::AlreadyExists => refused.hint("choose another name"),
                io::ErrorKind::NotFound => refused.hint("create its folder first"),
                _ => refused,
            }
        })?;
        let made = self.make(step);
        if made.is_err() {
            // It was made for the step alone.
            let _ = std::fs::remove_file(&path);
        }
        made
    }

    /// Makes a step, as part of the last one if both change the same place.
    ///
    /// # Errors
    /// As [`Session::make`].
    pub fn make_joined(&mut self, mut step: Step) -> Result<Changed, Refused> {
        if step.is_empty() || !self.history.joins(&step) {
            return self.make(step);
        }
        self.writable()?;
        let changed = self.applied(&mut step)?;
        self.log(&Entry::Joined(&step));
        self.history.joined(&step);
        Ok(changed)
    }

    /// The text of the file as it was last read or written.
    fn saved_text(&self) -> Cow<'_, str> {
        let text = self.model.text();
        match &self.disk.text {
            Some(saved) => Cow::Borrowed(saved),
            None => self.history.saved_text(text).unwrap_or(Cow::Borrowed(text)),
        }
    }

    fn writable(&self) -> Result<(), Refused> {
        match &self.read_only {
            Some(why) => Err(Refused::unfit(format!(
                "the plan is open for reading only: {why}"
            ))),
            None => Ok(()),
        }
    }

    /// Changes the model.
    fn applied(&mut self, step: &mut Step) -> Result<Changed, Refused> {
        if !self.history.is_dirty() {
            self.begin_journal();
        }
        let changed = self.model.apply(step).map_err(|faults| {
            let why = first_error(&faults);
            Refused::unfit(format!("the file would no longer be a plan: {why}"))
        })?;
        self.revision += 1;
        for id in &changed.nodes {
            self.changed_at.insert(*id, self.revision);
        }
        for id in &changed.removed {
            self.changed_at.remove(id);
        }
        Ok(changed)
    }

    /// Takes the last step back.
    ///
    /// # Errors
    /// There is none, or the plan cannot be changed.
    pub fn undo(&mut self) -> Result<Changed, Refused> {
        self.writable()?;
        let last = self
            .history
            .last()
            .ok_or_else(|| Refused::unfit("there is nothing to undo"))?;
        let mut inverse = last.inverse();
        let changed = self.applied(&mut inverse)?;
        self.log(&Entry::Undone);
        self.history.taken_back(&inverse);
        Ok(changed)
    }

    /// Makes the step again that was taken back last.
    ///
    /// # Errors
    /// There is none, or the plan cannot be changed.
    pub fn redo(&mut self) -> Result<Changed, Refused> {
        self.writable()?;
        let next = self
            .history
            .next()
            .ok_or_else(|| Refused::unfit("there is nothing to redo"))?;
        let mut step = next.clone();
        let changed = self.applied(&mut step)?;
        self.log(&Entry::Redone);
        self.history.made_again(step);
        Ok(changed)
    }

    /// Writes the text to the file, after changes of other programs were merged. Returns what those changed.
    ///
    /// # Errors
    /// The file cannot be written, or another program changed what was changed here.
    pub fn save(&mut self) -> Result<Option<Outside>, Refused> {
        self.writable()?;
        if self.is_held {
            return Err(Refused::unfit(
                "another program holds the plan and saves it",
            ));
        }
        let outside = self.poll();
        if let Some(pending) = &self.conflict {
            let first = pending.conflicts.first();
            let element = first.map_or("", |conflict| conflict.element.as_str());
            let message = format!(
                "another program changed `{}` in {} places that were changed here, first {element}",
                self.path.display(),
                pending.conflicts.len()
            );
            return Err(Refused::new(CONFLICT, message).hint("choose a version with `resolve`"));
        }
        if self.is_dirty() || self.disk.stamp.is_none() {
            let bytes = self.encoding.bytes(self.model.text());
            let written = replace(&self.path, |file| file.write_all(&bytes));
            written.map_err(|error| Refused::new(FILE, unwritable(&self.path, &error)))?;
            self.disk = Disk {
                text: None,
                hash: hash(&bytes),
                stamp: stamp(&self.path),
            };
            self.history.saved();
            self.log(&Entry::Saved(self.disk.hash.clone()));
            self.force();
        }
        Ok(outside)
    }

    /// Looks whether another program changed the file.
    pub fn poll(&mut self) -> Option<Outside> {
        if self.is_held {
            return None;
        }
        let now = stamp(&self.path);
        if now == self.disk.stamp || now.is_none() {
            self.disk.stamp = now;
            return None;
        }
        let bytes = read_regular(&self.path).ok()?;
        let hash_now = hash(&bytes);
        let last_hash = self
            .conflict
            .as_ref()
            .map(|pending| &pending.hash)
            .unwrap_or(&self.disk.hash);
        if hash_now == *last_hash {
            self.disk.stamp = now;
            return None;
        }
        // A program that is still writing leaves no plan; the next look finds it.
        let read = drumfire_jmx::read(&bytes, &self.path).ok()?;
        self.disk.stamp = now;
        self.taken_over(&read.tree.source.text, hash_now)
    }

    /// Takes over a version of the file.
    fn taken_over(&mut self, theirs: &str, hash: String) -> Option<Outside> {
        let ours = self.model.text();
        let is_clean = !self.history.is_dirty();
        let outcome = if is_clean || ours == theirs {
            Outcome::Merged(theirs.to_owned())
        } else {
            merged(&self.path, &self.saved_text(), ours, theirs)
        };
        let text = match outcome {
            Outcome::Merged(text) => text,
            Outcome::Conflict(conflicts) => {
                let base = self.saved_text().into_owned();
                self.conflict = Some(Pending {
                    theirs: theirs.to_owned(),
                    hash,
                    conflicts: conflicts.clone(),
                    base: Some(base),
                    is_marked: false,
                });
                return Some(Outside::Conflict(conflicts));
            }
        };
        self.replaced(&text, theirs, hash).ok().map(Outside::Merged)
    }

    /// Makes the text another one, of which the file holds the version of another program.
    fn replaced(&mut self, text: &str, theirs: &str, hash: String) -> Result<Changed, Refused> {
        let replacing = step(
            FROM_OUTSIDE.to_owned(),
            self.model.text(),
            pieces(self.model.text(), text),
        );
        let is_saved = text == theirs;
        let changed = self.made(replacing)?;
        self.disk.hash = hash;
        self.disk.text = (!is_saved).then(|| theirs.to_owned());
        self.conflict = None;
        if is_saved {
            self.history.saved();
            self.log(&Entry::Saved(self.disk.hash.clone()));
        } else {
            self.history.diverged();
        }
        Ok(changed)
    }

    /// Ends a conflict with the version of one side.
    ///
    /// # Errors
    /// There is no conflict, or the version cannot be taken.
    pub fn resolve(&mut self, takes_theirs: bool) -> Result<Changed, Refused> {
        let pending = self
            .conflict
            .take()
            .ok_or_else(|| Refused::unfit("there is no conflict"))?;
        if takes_theirs {
            return self.replaced(&pending.theirs.clone(), &pending.theirs, pending.hash);
        }
        self.disk.hash = pending.hash;
        self.disk.text = Some(pending.theirs);
        self.history.diverged();
        Ok(Changed::default())
    }

    /// Ends a conflict with a text that was made from both versions.
    ///
    /// # Errors
    /// There is no conflict, or the text is no plan.
    pub fn resolve_with(&mut self, text: &str) -> Result<Changed, Refused> {
        if self.conflict.is_none() {
            return Err(Refused::unfit("there is no conflict"));
        }
        let pieces = pieces(self.model.text(), text);
        let resolving = step("Resolve the conflict".to_owned(), self.model.text(), pieces);
        let changed = self.made(resolving)?;
        self.resolve(false)?;
        Ok(changed)
    }

    /// Takes over the text of the program that holds the plan.
    ///
    /// # Errors
    /// No other program holds it, or the text is no plan.
    pub fn sync(&mut self, text: &str) -> Result<Changed, Refused> {
        if !self.is_held {
            return Err(
                Refused::unfit("no other program holds the plan").hint("open it with `text`")
            );
        }
        let pieces = pieces(self.model.text(), text);
        self.made(step("Edit the text".to_owned(), self.model.text(), pieces))
    }

    /// The journal's file, if something was written to it that the disk may lack.
    pub fn unforced(&mut self) -> Option<File> {
        match self.journal.as_mut()?.unforced() {
            Ok(file) => file,
            Err(error) => {
                self.journal_failed(&error);
                None
            }
        }
    }

    /// Notes that undo will not survive the end of the program.
    pub fn journal_failed(&mut self, error: &io::Error) {
        self.journal_fault = Some(error.to_string());
    }

    fn force(&mut self) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.force_now()
        {
            self.journal_fault = Some(error.to_string());
        }
    }

    /// Begins the journal before the first change, or anew if it is large.
    fn begin_journal(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let is_large = journal.has_begun() && journal.is_large();
        if journal.has_begun() && !is_large {
            return;
        }
        if is_large {
            // A new journal cannot take back what the old one holds.
            self.history = History::new();
        }
        if let Err(error) = journal.begin(self.model.text()) {
            self.journal_fault = Some(error.to_string());
            self.journal = None;
        }
    }

    fn log(&mut self, entry: &Entry<&Step>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if let Err(error) = journal.add(entry) {
            self.journal_fault = Some(error.to_string());
            self.journal = None;
        }
    }
}

/// The message for a property that was written and reads as something else.
pub(crate) fn unwritable_property(path: &Path, property: &str) -> Refused {
    let message = format!("`{property}` cannot be written in the form that the plan has");
    Refused::new(UNFIT, message)
        .hint(format!(
            "rewrite the plan first: `drumfire fmt {}`",
            path.display()
        ))
        .at(property)
}
