//! Thread Group (`ThreadGroup`, `SetupThreadGroup`, `PostThreadGroup`): a number of users, started evenly over a ramp-up, each
//! for a number of iterations or until the time is over.
//!
//! Properties, evaluated when the group starts: `ThreadGroup.num_threads`, `.ramp_time`, `.delayedStart`, `.scheduler`, `.delay`,
//! `.duration` (seconds), `.same_user_on_next_iteration`, and the loop controller in `ThreadGroup.main_controller`.

use drumfire_elements::shared::group;

use super::GroupLoad;
use crate::base::number;
use crate::decode::Decoder;
use crate::run::schedule::{Ramp, Shape};

pub fn decode(d: &mut Decoder) -> Option<GroupLoad> {
    let scheduler = is_true(d, group::SCHEDULER.name).then(|| {
        let delay_s = number::long(&d.text_now(group::DELAY.name));
        let duration_s = number::long(&d.text_now(group::DURATION.name));
        (delay_s, duration_s)
    });
    let ramp = Ramp {
        threads: number::int(&d.text_now(group::USERS.name)),
        ramp_up_s: number::int(&d.text_now(group::RAMP_TIME.name)),
        delayed_start: is_true(d, group::DELAYED_START.name),
        scheduler,
    };
    let same_user =
        !d.element.props.has(group::SAME_USER.name) || is_true(d, group::SAME_USER.name);
    super::looping(d, Shape::Ramp(ramp), same_user)
}

fn is_true(d: &mut Decoder, property: &str) -> bool {
    d.text_now(property).eq_ignore_ascii_case("true")
}
