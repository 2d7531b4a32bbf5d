//! Constant Throughput Timer (`ConstantThroughputTimer`): delays samples so that a given number start per minute.
//!
//! Properties: `throughput` (samples per minute), `calcMode` (0 this thread only, 1 all active threads, 2 all active threads in
//! the current thread group, 3 and 4 the same two with one shared schedule). Modes may also be given by their English names, as
//! JMeter accepts those of its own language; `timer.factor` does not apply.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use drumfire_elements::timers::constant_throughput_timer as facts;
use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_jmx::Value;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::StateId;
use crate::run::roles::{Act, TimerRole};
use crate::run::view::TimerView;

const MS_PER_MINUTE: f64 = 60_000.0;
/// The wait for a throughput of 0: longer than any run, and far from overflow.
const FOREVER_MS: i64 = i64::MAX / 8;

/// Names of the modes in JMeter's English texts, which old plans have saved.
const MODE_NAMES: [&str; 5] = [
    "this thread only",
    "all active threads",
    "all active threads in current thread group",
    "all active threads (shared)",
    "all active threads in current thread group (shared)",
];

/// The due time of the last sample of each shared schedule, in milliseconds since the epoch: all threads', and each thread
/// group's.
#[derive(Default)]
pub struct Pacing {
    all: Mutex<i64>,
    groups: Mutex<HashMap<usize, i64>>,
}

impl Pacing {
    fn all_delay_ms(&self, now_ms: i64, apart_ms: i64) -> i64 {
        shared_delay_ms(
            &mut self.all.lock().unwrap_or_else(PoisonError::into_inner),
            now_ms,
            apart_ms,
        )
    }

    fn group_delay_ms(&self, group: usize, now_ms: i64, apart_ms: i64) -> i64 {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        shared_delay_ms(groups.entry(group).or_default(), now_ms, apart_ms)
    }
}

/// `ConstantThroughputTimer#calculateSharedDelay`.
fn shared_delay_ms(last_ms: &mut i64, now_ms: i64, apart_ms: i64) -> i64 {
    *last_ms = now_ms.max(last_ms.saturating_add(apart_ms));
    (*last_ms - now_ms).max(0)
}

struct ConstantThroughputTimer {
    throughput: Template,
    mode: Template,
    previous: StateId,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let timer = ConstantThroughputTimer {
        throughput: d.template(facts::THROUGHPUT.name),
        mode: mode(d),
        previous: d.new_state(),
    };
    Roles::timer(timer)
}

fn mode(d: &mut Decoder) -> Template {
    match d.element.props.value(facts::MODE.name) {
        Some(Value::Str(text)) => match MODE_NAMES.iter().position(|name| name == text) {
            Some(index) => Template::raw(&index.to_string()),
            None => d.template(facts::MODE.name),
        },
        _ => d.template(facts::MODE.name),
    }
}

impl TimerRole for ConstantThroughputTimer {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::Done(self.delay_ms(cx))
    }
}

impl ConstantThroughputTimer {
    fn delay_ms(&self, cx: &mut TimerView) -> i64 {
        let throughput = values::property_double(&self.throughput.eval(cx));
        let throughput = throughput * cx.shared().control.rate();
        // All machines share the schedule, so each one stretches its intervals; they are first rounded to milliseconds, as in
        // JMeter.
        let stretch = 1.0 / cx.shared().part.fraction();
        let of_schedule = |apart_ms: f64| rounded_ms(rounded_ms(apart_ms) as f64 * stretch);
        let mode = values::property_int(&self.mode.eval(cx));
        let now_ms = cx.clock().now_ms();
        let apart_ms = MS_PER_MINUTE / throughput;
        let (in_group, in_all) = cx.shared().active_users(cx.group);
        let delay_ms = match mode {
            1 => rounded_ms(f64::from(in_all) * apart_ms),
            2 => rounded_ms(f64::from(in_group) * apart_ms),
            3 => cx
                .statics()
                .of::<Pacing>()
                .all_delay_ms(now_ms, of_schedule(apart_ms)),
            4 => {
                cx.statics()
                    .of::<Pacing>()
                    .group_delay_ms(cx.group, now_ms, of_schedule(apart_ms))
            }
            _ => rounded_ms(apart_ms),
        };
        let previous_ms = cx.state(self.previous, || 0);
        let first = *previous_ms == 0;
        let intended_ms = *previous_ms + delay_ms;
        let wait_ms = next_delay_ms(previous_ms, now_ms, delay_ms);
        // A shared schedule computes a delay from now, so only a user's own schedule can be missed.
        let missed = !first && !matches!(mode, 3 | 4);
        if wait_ms > 0 || missed {
            cx.intend(cx.clock().instant(intended_ms));
        }
        wait_ms
    }
}

/// `Math.round`, clamped against overflow.
fn rounded_ms(ms: f64) -> i64 {
    ((ms + 0.5).floor() as i64).clamp(-FOREVER_MS, FOREVER_MS)
}

/// `ConstantThroughputTimer#delay`: the first sample starts at once; a late one starts at once, too, and the delay is not made
/// up for.
fn next_delay_ms(previous_ms: &mut i64, now_ms: i64, delay_ms: i64) -> i64 {
    let target_ms = *previous_ms + delay_ms;
    if now_ms > target_ms {
        *previous_ms = now_ms;
        return 0;
    }
    *previous_ms = target_ms;
    target_ms - now_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::view::View;

    #[test]
    fn the_first_sample_starts_at_once_and_the_next_ones_keep_their_distance() {
        let mut previous_ms = 0;
        assert_eq!(next_delay_ms(&mut previous_ms, 10_000, 500), 0);
        assert_eq!(next_delay_ms(&mut previous_ms, 10_020, 500), 480);
        assert_eq!(next_delay_ms(&mut previous_ms, 10_600, 500), 400);
        assert_eq!(next_delay_ms(&mut previous_ms, 20_000, 500), 0);
        assert_eq!(next_delay_ms(&mut previous_ms, 20_500, 500), 0);
    }

    #[test]
    fn the_intended_start_is_that_of_the_schedule_even_when_it_is_missed() {
        let xml = r#"<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="c"><intProp name="calcMode">0</intProp><doubleProp><name>throughput</name><value>6000.0</value><savedValue>0.0</savedValue></doubleProp></ConstantThroughputTimer>"#;
        let (roles, mut cx) = crate::fixture::decode(xml, decode);
        let timer = roles.timer.expect("it is a timer");
        assert_eq!(
            (timer.turn(View::of(&mut cx)).done(), cx.intended),
            (0, None)
        );
        let wait_ms = timer.turn(View::of(&mut cx)).done();
        let first = cx.intended.expect("the second sample has its place");
        assert!((1..=10).contains(&wait_ms), "{wait_ms}");
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert_eq!(timer.turn(View::of(&mut cx)).done(), 0);
        let missed = cx.intended.expect("so has the third");
        assert_eq!((missed - first).as_millis(), 10);
    }

    #[test]
    fn a_shared_schedule_hands_out_one_place_after_the_other() {
        let pacing = Pacing::default();
        assert_eq!(pacing.all_delay_ms(1_000, 100), 0);
        assert_eq!(pacing.all_delay_ms(1_000, 100), 100);
        assert_eq!(pacing.all_delay_ms(1_050, 100), 150);
        assert_eq!(pacing.all_delay_ms(5_000, 100), 0);
        assert_eq!(pacing.group_delay_ms(1, 1_000, 100), 0);
        assert_eq!(pacing.group_delay_ms(2, 1_000, 100), 0);
        assert_eq!(pacing.group_delay_ms(1, 1_000, 100), 100);
    }

    #[test]
    fn no_throughput_waits_for_ever_without_overflow() {
        let apart_ms = rounded_ms(MS_PER_MINUTE / 0.0);
        let mut previous_ms = 0;
        assert!(next_delay_ms(&mut previous_ms, 1_700_000_000_000, apart_ms) > 1 << 50);
        let mut last_ms = 0;
        assert!(shared_delay_ms(&mut last_ms, 1_700_000_000_000, apart_ms) > 1 << 50);
        assert_eq!(rounded_ms(f64::NAN), 0);
        assert_eq!(rounded_ms(2.5), 3);
    }
}
