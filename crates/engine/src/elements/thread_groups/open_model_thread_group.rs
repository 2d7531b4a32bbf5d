//! Open Model Thread Group (`OpenModelThreadGroup`): users start at a rate, whatever the others do, and each runs one
//! iteration. When the schedule is over, those that still run are interrupted.
//!
//! Properties, computed before the run: `OpenModelThreadGroup.schedule`, `OpenModelThreadGroup.random_seed` (0: another
//! sequence each time). As in JMeter, the schedule counts from the start of the test, not of the group: what was due
//! before the group's turn starts at once. JMeter rounds each start to a whole millisecond; here users start when the schedule has
//! them, so that those of one millisecond do not come together.

use drumfire_expr::values;

use super::Load;
use crate::decode::Decoder;
use crate::run::controllers::Kind;
use crate::run::schedule::{OpenModel, Shape};

pub fn decode(d: &mut Decoder) -> Load {
    let schedule = d.text_now("OpenModelThreadGroup.schedule");
    let seed = values::property_long(&d.text_now("OpenModelThreadGroup.random_seed"));
    let open = OpenModel::new(&schedule, seed);
    if let Err(message) = open.check() {
        let message = format!(
            "thread group '{}' does not start: {message}",
            d.element.name
        );
        d.warn("schedule", message);
    }
    let same_user = !d
        .element
        .props
        .has("ThreadGroup.same_user_on_next_iteration")
        || values::property_bool(&d.text_now("ThreadGroup.same_user_on_next_iteration"));
    Load {
        shape: Shape::Open(Box::new(open)),
        root: Kind::OneIteration,
        loops: Some(1),
        same_user,
        thread_name_suffix: "",
        java: None,
    }
}
