//! Finds the names in plans (variables, properties and elements) and where each is set and used, to the byte. `rename` and the
//! language server build on it.
//!
//! Edits apply to the text of the file, so that everything else in it stays unchanged.

#![warn(missing_docs)]

mod index;
mod joined;
mod leaves;
mod mapped;
mod names;
mod places;
mod rename;
mod rename_element;

pub use index::{Computed, ElementEntry, Index, Occurrence};
pub use joined::{Joined, PlanFile, project_root};
pub use leaves::{Leaf, leaves};
pub use mapped::MappedText;
pub use names::{OccurrenceKind, Subject, base_name, derived_suffix};
pub use places::variable_property;
pub use rename::{FileChange, RenameError, Renamed, rename_variable};
pub use rename_element::{module_path, module_target, rename_element, rename_one};
