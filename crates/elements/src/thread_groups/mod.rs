//! Thread groups.

pub mod arrivals_thread_group;
pub mod concurrency_thread_group;
pub mod free_form_arrivals_thread_group;
pub mod open_model_thread_group;
pub mod setup_thread_group;
pub mod stepping_thread_group;
pub mod teardown_thread_group;
pub mod thread_group;
pub mod ultimate_thread_group;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &arrivals_thread_group::FACTS,
    &concurrency_thread_group::FACTS,
    &free_form_arrivals_thread_group::FACTS,
    &open_model_thread_group::FACTS,
    &setup_thread_group::FACTS,
    &stepping_thread_group::FACTS,
    &teardown_thread_group::FACTS,
    &thread_group::FACTS,
    &ultimate_thread_group::FACTS,
];
