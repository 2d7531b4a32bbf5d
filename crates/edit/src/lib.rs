//! Editing sessions of plans: operations on the text, undo, journal, forms, and the protocol of `drumfire edit`.
//!
//! A plan is its text. An operation makes a [`Step`], which replaces ranges of the text and knows its inverse; no other byte
//! changes. A [`Session`] makes steps, takes them back, keeps them in a journal, and merges what other programs do to the file.
//! Each element has a number that outlives changes.
//!
//! The crate does not import the engine. The command line answers its questions through a [`Program`].

#![warn(missing_docs)]

pub mod condition;
pub mod fixes;
mod forms;
mod jar_forms;
pub mod operations;
mod program;
pub mod protocol;
pub mod refused;
mod session;
mod tree;

pub use program::{
    Hint, Inspection, LoadListener, PartEvent, PartListener, PartOrder, Program, ProposedExtractor,
    ProposedVariable, RecordEvent, RecordListener, RecordOrder, RecordedElements, Rung,
    RunningLoad, RunningPart, RunningRecording, StoredResponse, TemplateMade, Trial, TrialOrder,
};
pub use refused::Refused;
pub use session::{Journals, Outside, Session};
pub use tree::{Changed, Id, Model, Outline, Patch, Piece, Step};
