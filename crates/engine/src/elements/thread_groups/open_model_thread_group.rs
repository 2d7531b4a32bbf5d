//! Open Model Thread Group (`OpenModelThreadGroup`): users start at a rate, independently of each other, and each runs one
//! iteration. At the end of the schedule, users that are still running are interrupted.
//!
//! Properties, evaluated before the run: `OpenModelThreadGroup.schedule`, `OpenModelThreadGroup.random_seed` (0: another sequence
//! each time). As in JMeter, the schedule counts from the start of the test, not of the group: users that are due before the
//! group's turn start at once. JMeter rounds each start to a whole millisecond; here users start at their exact times, so that
//! those within one millisecond do not start together.

use drumfire_elements::shared::group;
use drumfire_elements::thread_groups::open_model_thread_group as facts;
use drumfire_java::values;

use super::GroupLoad;
use crate::decode::Decoder;
use crate::run::controllers::ControllerKind;
use crate::run::schedule::{OpenModel, Shape};

pub fn decode(d: &mut Decoder) -> GroupLoad {
    let schedule = d.text_now(facts::SCHEDULE.name);
    let seed = values::property_long(&d.text_now(facts::RANDOM_SEED.name));
    let open = OpenModel::new(&schedule, seed);
    if let Err(message) = open.check() {
        let message = format!(
            "thread group '{}' does not start: {message}",
            d.element.name
        );
        d.warn("schedule", message);
    }
    let same_user = !d.element.props.has(group::SAME_USER.name)
        || values::property_bool(&d.text_now(group::SAME_USER.name));
    GroupLoad {
        shape: Shape::Open(Box::new(open)),
        root: ControllerKind::OneIteration,
        loops: Some(1),
        same_user,
        thread_name_suffix: "",
        java: None,
    }
}
