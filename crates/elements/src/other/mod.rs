//! The Test Plan, and elements that do nothing in a run.

pub mod http_simple_table_control;
pub mod mirror_server;
pub mod property_display;
pub mod script_recorder;
pub mod test_plan;
pub mod work_bench;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &http_simple_table_control::FACTS,
    &mirror_server::FACTS,
    &property_display::FACTS,
    &script_recorder::FACTS,
    &test_plan::FACTS,
    &work_bench::FACTS,
];
