//! Takes up the journal of an earlier session.

use drumfire_jmx::read;

use super::history::History;
use super::journal::{Entry, Journals, Kept, hash};
use super::{Model, Session};

/// The text and the history that a journal gives.
struct Replayed {
    text: String,
    history: History,
    /// The text that the file held last, and the hash of its bytes.
    saved: (String, String),
}

impl Session {
    /// Opens the journal of the plan, and takes up what it holds.
    pub(super) fn take_journal(&mut self, journals: &Journals) {
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let (journal, entries) = match journals.open(&path) {
            Ok(Some(opened)) => opened,
            Ok(None) => {
                self.read_only = Some("another `drumfire edit` has it open".to_owned());
                return;
            }
            Err(error) => {
                self.journal_fault = Some(error.to_string());
                return;
            }
        };
        self.journal = Some(journal);
        let Some(entries) = entries else { return };
        match self.replayed(entries) {
            Some(replayed) => self.take_up(replayed),
            // The journal does not fit the program that reads it. The next change begins a new one.
            None => self.begin_journal_anew(),
        }
    }

    fn begin_journal_anew(&mut self) {
        let text = self.model.text().to_owned();
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.begin(&text)
        {
            self.journal_fault = Some(error.to_string());
        }
    }

    /// Makes the steps of a journal with its text alone, which is fast; the plan is read once, at the end.
    fn replayed(&self, kept: Kept) -> Option<Replayed> {
        let mut history = History::new();
        let mut text = kept.text;
        let mut saved = (text.clone(), hash(&self.encoding.bytes(&text)));
        for entry in kept.entries {
            match entry {
                Entry::Made(step) => {
                    text = step.applied(&text)?;
                    history.made(step);
                }
                Entry::Joined(step) => {
                    text = step.applied(&text)?;
                    history.joined(&step);
                }
                Entry::Undone => {
                    let inverse = history.last()?.inverse();
                    text = inverse.applied(&text)?;
                    history.taken_back(&inverse);
                }
                Entry::Redone => {
                    let step = history.next()?.clone();
                    text = step.applied(&text)?;
                    history.made_again(step);
                }
                Entry::Saved(hash) => {
                    history.saved();
                    saved = (text.clone(), hash);
                }
            }
        }
        Some(Replayed {
            text,
            history,
            saved,
        })
    }

    fn take_up(&mut self, replayed: Replayed) {
        let Replayed {
            text,
            history,
            saved: (saved, hash),
        } = replayed;
        let theirs = self.model.text().to_owned();
        if text != theirs {
            let Ok(read) = read(text.as_bytes(), &self.path) else {
                return self.begin_journal_anew();
            };
            self.model = Model::new(&self.path, read);
        }
        self.history = history;
        let on_disk = std::mem::replace(&mut self.disk.hash, hash);
        let leads = self.history.saved_text(self.model.text()).is_some();
        self.disk.text = (!leads).then_some(saved);
        if on_disk != self.disk.hash {
            self.taken_over(&theirs, on_disk);
        }
    }
}
