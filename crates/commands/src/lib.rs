//! The `drumfire` command: its arguments (JMeter's own and ours), its output, its exit codes.
//!
//! Each command has a folder with its arguments, its work and its words. [`args`] reads the program's own command line and
//! [`jmeter`] reads JMeter's; both give a [`command::Command`] with the arguments of one command, which [`dispatch`] carries
//! out. [`engine`] is everything that the commands need from the engine.

mod agent;
pub mod args;
mod calibrate;
mod capacity;
mod check;
pub mod command;
mod compare;
pub mod console;
mod ctl;
mod debug;
pub mod demo;
pub mod dispatch;
mod doctor;
mod edit;
pub mod engine;
pub mod exit_codes;
mod fleet;
mod fmt;
mod git;
mod import;
pub mod jmeter;
mod jvm;
mod k8s;
pub mod log;
mod lsp;
mod matrix;
mod mcp;
mod merge_plan;
mod mirror;
mod new;
mod plan;
mod record;
pub mod refusal;
mod rename;
mod report;
pub mod run;
mod runs;
mod set;
pub mod settings;
mod show;
pub mod signals;
pub mod terminal;
mod whole_file;
