//! Elements and scripts that Java code runs, and what that code may see and change of a user.

pub mod host;
pub mod plan;
pub mod visit;
