//! Plan elements, one file each, and the roles they play.

mod arguments;
pub mod assertions;
pub mod config;
pub mod controllers;
pub mod java;
pub mod jdbc;
pub mod listeners;
pub mod post;
pub mod pre;
pub mod samplers;
pub mod thread_groups;
pub mod timers;

mod catalogue;
mod xpath2_query;
mod xpath_query;

pub use catalogue::{Entry, Role, Rung, UNKNOWN_CLASS, decode, entries, entry, is_thread_group};

pub use arguments::assignments;
