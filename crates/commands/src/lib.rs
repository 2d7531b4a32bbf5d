//! The `drumfire` command: its arguments (JMeter's own and ours), its output, its exit codes.
//!
//! A command line is read in two steps: [`args`] and [`jmeter`] parse the words, and [`options`] holds their meaning.
//! The rest of the crate uses the meaning alone and does not depend on the spelling. [`engine`] is everything that the
//! commands need from the engine.

pub mod args;
mod authorities;
mod backends;
mod baseline;
mod capacity;
mod capacity_arguments;
mod collectors;
pub mod command;
pub mod commands;
pub mod console;
mod ctl_arguments;
mod debug_arguments;
mod debugger;
pub mod demo;
pub mod ending;
pub mod engine;
pub mod escape;
pub mod exit_codes;
pub mod exports;
pub mod findings;
mod fingerprint;
mod fleet_arguments;
pub mod fleet_options;
mod guards;
pub mod history;
pub mod jmeter;
mod judge;
mod k8s_arguments;
pub mod kept_run;
mod load_arguments;
pub mod log;
pub mod messages;
pub mod mirror;
pub mod options;
pub mod outputs;
mod plan_arguments;
mod plan_file;
mod profiles;
pub mod project;
mod project_faults;
pub mod properties;
mod quantities;
pub mod recent;
pub mod reports;
mod run_facts;
mod run_record;
mod run_rows;
pub mod signals;
mod summary_json;
pub mod terminal;
mod thresholds;
mod ui;
mod whole_file;
