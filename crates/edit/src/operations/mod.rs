//! The operations. Each makes a step for the plan as it is, and changes nothing itself.

pub mod amend;
pub mod defaults;
pub mod extract;
pub mod modules;
pub mod part;
pub mod paste;
pub mod place;
pub mod put;
pub mod rename;
pub mod retype;
pub mod search;
pub mod set;
pub mod structure;
pub mod table;
pub mod take;
