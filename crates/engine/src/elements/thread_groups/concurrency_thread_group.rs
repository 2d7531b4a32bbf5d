//! Concurrency Thread Group (`com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup`): keeps as many users
//! running as its level says, starting new ones as others end.
//!
//! Properties: `TargetLevel`, `RampUp`, `Steps`, `Hold`, `Unit` (`M` or `S`), `Iterations` (per user), and
//! `same_user_on_next_iteration`. Level, ramp-up, steps and hold are evaluated again and again while the group runs, so that
//! functions (`__tstFeedback`) can steer it. The level is checked once a second and whenever a user ends. The plugin's own
//! log file (`LogFilename`) is not written.

use std::time::Duration;

use drumfire_elements::shared::group;
use drumfire_expr::Template;
use drumfire_java::values;

use super::GroupLoad;
use crate::decode::Decoder;
use crate::run::controllers::{ControllerKind, VirtualUser};
use crate::run::schedule::{Concurrency, Level, Shape};

pub fn decode(d: &mut Decoder) -> GroupLoad {
    warn_of_log_file(d);
    let property = |d: &Decoder, name: &str| d.settings().properties.get(name);
    let shift = property(d, "dynamic_tg.shift_rampup_start");
    let pause = d
        .settings()
        .properties
        .get_long("dynamic_tg.temporisation", 10);
    let mut concurrency = Concurrency {
        target: text_or(d, group::TARGET_LEVEL.name, "1"),
        ramp_up: d.template(group::LEVEL_RAMP_UP.name),
        steps: d.template(group::STEPS.name),
        hold: text_or(d, group::HOLD.name, "1"),
        unit_s: unit_s(d),
        shift_s: shift
            .map(|text| values::property_long(text.trim()) as f64)
            .unwrap_or(0.0),
        idle_pause: Duration::from_millis(pause.try_into().unwrap_or(0)),
        planned: Level::default(),
    };
    concurrency.planned = concurrency.level(d.decoding.compiler.scope_mut());
    GroupLoad {
        root: ControllerKind::VirtualUser(Box::new(virtual_user(d, false))),
        shape: Shape::Concurrency(Box::new(concurrency)),
        loops: None,
        same_user: same_user(d),
        thread_name_suffix: "-ThreadStarter",
        java: None,
    }
}

/// A property's text, or the plugin's default if it is missing.
pub fn text_or(d: &mut Decoder, property: &str, default: &str) -> Template {
    d.optional(property)
        .unwrap_or_else(|| Template::raw(default))
}

/// `AbstractDynamicThreadGroup#getUnitFactor`.
pub fn unit_s(d: &mut Decoder) -> f64 {
    if d.text_now(group::UNIT.name) == "M" {
        60.0
    } else {
        1.0
    }
}

pub fn virtual_user(d: &mut Decoder, arrives: bool) -> VirtualUser {
    VirtualUser {
        iterations: d.template(group::ITERATIONS.name),
        arrives,
    }
}

pub fn same_user(d: &mut Decoder) -> bool {
    !d.element.props.has(group::LEVEL_SAME_USER.name)
        || values::property_bool(&d.text_now(group::LEVEL_SAME_USER.name))
}

pub fn warn_of_log_file(d: &mut Decoder) {
    if !d.text(group::LOG_FILE.name).is_empty() {
        let message = format!(
            "Drumfire does not write the log of thread states of '{}'",
            d.element.name
        );
        d.warn("thread-log", message);
    }
}
