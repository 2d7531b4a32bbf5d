//! The run: the program, the users that run it, and what an element may see of them.

pub mod alarm;
pub mod branch;
pub mod context;
pub mod control;
pub mod defects;
pub mod engine;
pub mod java;
pub mod named_locks;
pub mod parsed;
pub mod program;
pub mod room;
pub mod sample;
pub mod schedule;
pub mod scoped;
pub mod shared;
pub mod stages;
pub mod supply;
pub mod transaction;
pub mod user;
pub mod walk;
pub mod worker;
