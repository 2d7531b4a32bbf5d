//! The run: the program, the users that run it, and what an element may see of them.

pub mod action;
pub mod alarm;
pub mod assignments;
pub mod branch;
pub mod context;
pub mod control;
pub mod defects;
pub mod engine;
pub mod input;
pub mod java;
pub mod named_locks;
pub mod needs;
pub mod parsed;
pub mod program;
pub mod roles;
pub mod room;
pub mod sample;
pub mod schedule;
pub mod shared;
pub mod stages;
pub mod supply;
pub mod thread_end;
pub mod transaction;
pub mod user;
pub mod walk;
pub mod worker;
