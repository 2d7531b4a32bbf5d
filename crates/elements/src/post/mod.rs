//! Post-processors.

pub mod bean_shell_post_processor;
pub mod boundary_extractor;
pub mod bsf_post_processor;
pub mod css_extractor;
pub mod debug_post_processor;
pub mod dummy_subresult;
pub mod fifo_put;
pub mod jdbc_post_processor;
pub mod jmespath_extractor;
pub mod json_extractor;
pub mod json_path_extractor;
pub mod jsr223_post_processor;
pub mod regex_extractor;
pub mod result_status_action;
pub mod xpath2_extractor;
pub mod xpath_extractor;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &bean_shell_post_processor::FACTS,
    &boundary_extractor::FACTS,
    &bsf_post_processor::FACTS,
    &css_extractor::FACTS,
    &debug_post_processor::FACTS,
    &dummy_subresult::FACTS,
    &fifo_put::FACTS,
    &jdbc_post_processor::FACTS,
    &jmespath_extractor::FACTS,
    &json_extractor::FACTS,
    &json_path_extractor::FACTS,
    &jsr223_post_processor::FACTS,
    &regex_extractor::FACTS,
    &result_status_action::FACTS,
    &xpath2_extractor::FACTS,
    &xpath_extractor::FACTS,
];
