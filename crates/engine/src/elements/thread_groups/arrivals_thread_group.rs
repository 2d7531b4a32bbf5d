//! Arrivals Thread Group (`com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup`): starts iterations at a rate. A
//! user that has finished one waits for the next arrival; if none waits, a new user is started.
//!
//! Properties: `TargetLevel` (per `Unit`, `M` or `S`), `RampUp`, `Steps`, `Hold`, `ConcurrencyLimit` (while that many users
//! are busy, arrivals are dropped), `ArrivalsLimit`, `Iterations` (per user), `same_user_on_next_iteration`. All but
//! `Iterations` are evaluated before the run, while the plugin evaluates them for every arrival.
//!
//! As in the plugin, nothing arrives during a ramp-up without steps: its rate grows with the number of arrivals so far.

use drumfire_elements::shared::group;
use drumfire_java::values;

use super::concurrency_thread_group::{same_user, text_or, unit_s, virtual_user, warn_of_log_file};
use super::{GroupLoad, rows};
use crate::decode::Decoder;
use crate::run::controllers::ControllerKind;
use crate::run::schedule::{Arrivals, Level, Rate, Shape};

pub fn decode(d: &mut Decoder) -> GroupLoad {
    let unit_s = unit_s(d);
    let target = text_or(d, group::TARGET_LEVEL.name, "1");
    let hold = text_or(d, group::HOLD.name, "1");
    let level = Level {
        target: f64::from(values::property_int(&d.now(&target))) / unit_s,
        ramp_up_s: Level::seconds(&d.text_now(group::LEVEL_RAMP_UP.name), unit_s),
        steps: values::property_long(&d.text_now(group::STEPS.name)),
        hold_s: Level::seconds(&d.now(&hold), unit_s),
        shift_s: 0.0,
    };
    load(d, Rate::Level(level))
}

/// Rows of `Schedule`: rates are per unit, lengths are in units.
pub fn free_form_rate(d: &mut Decoder) -> Rate {
    let unit_s = unit_s(d);
    let schedule = rows(d, "Schedule");
    let rows = schedule.iter().map(|row| {
        [
            number(row, 0) / unit_s,
            number(row, 1) / unit_s,
            number(row, 2) * unit_s,
        ]
    });
    Rate::FreeForm(rows.collect())
}

fn number(row: &[String], column: usize) -> f64 {
    row.get(column)
        .map(|text| values::property_double(text))
        .unwrap_or(0.0)
}

pub fn load(d: &mut Decoder, rate: Rate) -> GroupLoad {
    warn_of_log_file(d);
    let arrivals = Arrivals {
        rate,
        concurrency_limit: limit(d, group::CONCURRENCY_LIMIT.name),
        arrivals_limit: limit(d, group::ARRIVALS_LIMIT.name),
    };
    GroupLoad {
        root: ControllerKind::VirtualUser(Box::new(virtual_user(d, true))),
        shape: Shape::Arrivals(Box::new(arrivals)),
        loops: None,
        same_user: same_user(d),
        thread_name_suffix: "-ThreadStarter",
        java: None,
    }
}

fn limit(d: &mut Decoder, property: &str) -> i64 {
    values::property_long(&d.text_now(property))
}
