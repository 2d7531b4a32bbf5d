//! Plan elements, one file each, and the roles they play.

pub mod arguments;
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

pub mod catalogue;
pub mod foreign;
pub mod java_thread_group;
mod json_query;
pub mod plugins;
mod refusal;
mod xpath2_query;
mod xpath_query;

pub use catalogue::{ElementClass, Role, Rung, UNKNOWN_CLASS, entries, entry, is_thread_group};
pub use foreign::decode;
