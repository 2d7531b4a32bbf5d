//! The steps that were made, and those that were taken back.

use std::borrow::Cow;

use crate::tree::Step;

/// Undo and redo.
#[derive(Debug, Clone, Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// How many steps the file on the disk holds; `None` if it holds steps that were taken back and replaced.
    saved: Option<usize>,
}

impl History {
    /// A history of a file that is as it was opened.
    pub fn new() -> History {
        History {
            saved: Some(0),
            ..History::default()
        }
    }

    /// The text of the file on the disk, from the text as it is now; `None` if no step leads to it.
    pub fn saved_text<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let saved = self.saved?;
        let mut text = Cow::Borrowed(text);
        for step in self.done.iter().skip(saved).rev() {
            text = Cow::Owned(step.inverse().applied(&text)?);
        }
        let missing = saved.saturating_sub(self.done.len());
        for step in self.undone.iter().rev().take(missing) {
            text = Cow::Owned(step.applied(&text)?);
        }
        Some(text)
    }

    /// Whether a new step would replace steps that the file on the disk holds.
    pub fn loses_saved(&self) -> bool {
        self.saved.is_some_and(|saved| saved > self.done.len())
    }

    /// Notes a step that was made. What was taken back before is gone.
    pub fn made(&mut self, step: Step) {
        if self.loses_saved() {
            self.saved = None;
        }
        self.undone.clear();
        self.done.push(step);
    }

    /// Whether a step may become part of the last one: both change the same place, and the file does not hold the text between.
    pub fn joins(&self, step: &Step) -> bool {
        self.undone.is_empty()
            && self.saved != Some(self.done.len())
            && self
                .done
                .last()
                .is_some_and(|last| last.then(step).is_some())
    }

    /// Makes a step part of the last one.
    pub fn joined(&mut self, step: &Step) {
        if let Some(last) = self.done.last_mut()
            && let Some(both) = last.then(step)
        {
            *last = both;
        }
    }

    /// The step that undo takes back.
    pub fn last(&self) -> Option<&Step> {
        self.done.last()
    }

    /// The step that redo makes again.
    pub fn next(&self) -> Option<&Step> {
        self.undone.last()
    }

    /// Notes that the last step was taken back by its inverse, which knows the elements that came back.
    pub fn taken_back(&mut self, inverse: &Step) {
        if self.done.pop().is_some() {
            self.undone.push(inverse.inverse());
        }
    }

    /// Notes that the next step was made again.
    pub fn made_again(&mut self, step: Step) {
        if self.undone.pop().is_some() {
            self.done.push(step);
        }
    }

    /// Notes that the file on the disk holds the text.
    pub fn saved(&mut self) {
        self.saved = Some(self.done.len());
    }

    /// Notes that the file on the disk holds another text.
    pub fn diverged(&mut self) {
        self.saved = None;
    }

    /// Whether the text differs from the file on the disk.
    pub fn is_dirty(&self) -> bool {
        self.saved != Some(self.done.len())
    }
}
