//! Timers.

pub mod bean_shell_timer;
pub mod bsf_timer;
pub mod constant_throughput_timer;
pub mod constant_timer;
pub mod gaussian_random_timer;
pub mod jsr223_timer;
pub mod poisson_random_timer;
pub mod precise_throughput_timer;
pub mod synchronizing_timer;
pub mod throughput_shaping_timer;
pub mod uniform_random_timer;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &bean_shell_timer::FACTS,
    &bsf_timer::FACTS,
    &constant_throughput_timer::FACTS,
    &constant_timer::FACTS,
    &gaussian_random_timer::FACTS,
    &jsr223_timer::FACTS,
    &poisson_random_timer::FACTS,
    &precise_throughput_timer::FACTS,
    &synchronizing_timer::FACTS,
    &throughput_shaping_timer::FACTS,
    &uniform_random_timer::FACTS,
];
