//! Elements and scripts that Java code runs, and the view of a user that this code may read and change.

pub mod host;
pub mod plan;
pub mod visit;
