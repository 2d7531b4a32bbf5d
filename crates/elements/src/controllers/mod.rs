//! Controllers.

pub mod critical_section_controller;
pub mod foreach_controller;
pub mod http_async_controller;
pub mod if_controller;
pub mod include_controller;
pub mod interleave_controller;
pub mod loop_controller;
pub mod module_controller;
pub mod once_only_controller;
pub mod parallel_controller;
pub mod parameterized_controller;
pub mod random_controller;
pub mod random_order_controller;
pub mod recording_controller;
pub mod runtime_controller;
pub mod simple_controller;
pub mod switch_controller;
pub mod test_fragment;
pub mod throughput_controller;
pub mod transaction_controller;
pub mod weighted_switch_controller;
pub mod while_controller;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &critical_section_controller::FACTS,
    &foreach_controller::FACTS,
    &http_async_controller::FACTS,
    &if_controller::FACTS,
    &include_controller::FACTS,
    &interleave_controller::FACTS,
    &loop_controller::FACTS,
    &module_controller::FACTS,
    &once_only_controller::FACTS,
    &parallel_controller::FACTS,
    &parameterized_controller::FACTS,
    &random_controller::FACTS,
    &random_order_controller::FACTS,
    &recording_controller::FACTS,
    &runtime_controller::FACTS,
    &simple_controller::FACTS,
    &switch_controller::FACTS,
    &test_fragment::FACTS,
    &throughput_controller::FACTS,
    &transaction_controller::FACTS,
    &weighted_switch_controller::FACTS,
    &while_controller::FACTS,
];
