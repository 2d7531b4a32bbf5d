//! Pre-processors.

pub mod bean_shell_pre_processor;
pub mod bsf_pre_processor;
pub mod fifo_pop;
pub mod html_link_parser;
pub mod jdbc_pre_processor;
pub mod jsr223_pre_processor;
pub mod regex_user_parameters;
pub mod sample_timeout;
pub mod url_rewriting_modifier;
pub mod user_parameters;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &bean_shell_pre_processor::FACTS,
    &bsf_pre_processor::FACTS,
    &fifo_pop::FACTS,
    &html_link_parser::FACTS,
    &jdbc_pre_processor::FACTS,
    &jsr223_pre_processor::FACTS,
    &regex_user_parameters::FACTS,
    &sample_timeout::FACTS,
    &url_rewriting_modifier::FACTS,
    &user_parameters::FACTS,
];
