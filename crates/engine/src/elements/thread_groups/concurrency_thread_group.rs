//! Concurrency Thread Group (`com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup`): keeps as many users
//! running as its level says, starting new ones as others end.
//!
//! Properties: `TargetLevel`, `RampUp`, `Steps`, `Hold`, `Unit` (`M` or `S`), `Iterations` (per user), and
//! `same_user_on_next_iteration`. Level, ramp-up, steps and hold are evaluated again and again while the group runs, so that
//! functions (`__tstFeedback`) can steer it. The level is checked once a second and whenever a user ends. The plugin's own
//! log file (`LogFilename`) is not written.

use std::time::Duration;

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
        target: text_or(d, "TargetLevel", "1"),
        ramp_up: d.template("RampUp"),
        steps: d.template("Steps"),
        hold: text_or(d, "Hold", "1"),
        unit_s: unit_s(d),
        shift_s: shift.map_or(0.0, |text| values::property_long(text.trim()) as f64),
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
    if d.text_now("Unit") == "M" { 60.0 } else { 1.0 }
}

pub fn virtual_user(d: &mut Decoder, arrives: bool) -> VirtualUser {
    VirtualUser {
        iterations: d.template("Iterations"),
        arrives,
    }
}

pub fn same_user(d: &mut Decoder) -> bool {
    !d.element.props.has("same_user_on_next_iteration")
        || values::property_bool(&d.text_now("same_user_on_next_iteration"))
}

pub fn warn_of_log_file(d: &mut Decoder) {
    if !d.text("LogFilename").is_empty() {
        let message = format!(
            "Drumfire does not write the log of thread states of '{}'",
            d.element.name
        );
        d.warn("thread-log", message);
    }
}
