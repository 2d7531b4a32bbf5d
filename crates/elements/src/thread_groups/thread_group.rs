//! Thread Group.

use crate::form::{ElementFacts, Role, section};
use crate::shared::group;

pub const CLASS: &str = "ThreadGroup";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::ThreadGroup, CLASS, "Thread Group", "ThreadGroupGui")
        .help("Runs a number of users, each of which repeats the group's elements.")
        .fields(&[group::ON_SAMPLE_ERROR])
        .sections(&[
            section(
                "Thread Properties",
                &[
                    group::USERS,
                    group::RAMP_TIME,
                    group::MAIN_LOOP,
                    group::SAME_USER,
                    group::DELAYED_START,
                ],
            ),
            group::LIFETIME,
        ]);
