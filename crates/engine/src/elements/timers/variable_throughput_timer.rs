//! Throughput Shaping Timer (`kg.apc.jmeter.timers.VariableThroughputTimer`): limits the samples per second by a table of
//! rates over time. At the end of the table, the users of the thread group stop.
//!
//! Property: `load_profile`, rows of a rate at the beginning, a rate at the end and a length (samples per second, whole
//! seconds), evaluated before the run. The JMeter property `load_profile`, or that with the timer's name and a dot before
//! it, such as `const(10,30s) line(10,20,1m) step(5,25,5,1h)`, replaces them. The properties `<name>_cntDelayed`,
//! `<name>_cntSent`, `<name>_rps` and `<name>_totalDuration`, which `__tstFeedback` reads, are set each second.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drumfire_elements::timers::throughput_shaping_timer as facts;
use drumfire_expr::Properties;
use drumfire_java::values;
use tokio::sync::Notify;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::thread_groups::{rows, short_seconds};
use crate::run::roles::{Act, TimerRole};
use crate::run::share::Slots;
use crate::run::view::TimerView;

const PROFILE: &str = facts::LOAD_PROFILE.name;
/// How long waiting users pause between checks once the table has ended.
const STOPPING_PAUSE_MS: i32 = 10;

struct VariableThroughputTimer {
    name: String,
    rows: Box<[ThroughputStretch]>,
    state: Mutex<ThroughputState>,
    /// Each user that continues wakes one that waits.
    passed: Notify,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ThroughputStretch {
    from: f64,
    to: f64,
    length_s: i32,
}

/// Fields as in `VariableThroughputTimer`.
#[derive(Debug, Default)]
struct ThroughputState {
    waiting: i32,
    second_ms: i64,
    first_second_ms: Option<i64>,
    apart_ms: f64,
    sent: i64,
    /// Samples of the table before this second, including those of other machines.
    before: u64,
    rate: f64,
    stopping: bool,
    stop_tries: u32,
}

/// The action at the end of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopAction {
    Group,
    Test,
    TestNow,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let name = d.name();
    let name = d.now(&name);
    let properties = &d.settings().properties;
    let of_property = properties.get(&format!("{name}.{PROFILE}"));
    let profile = of_property
        .filter(|profile| !profile.is_empty())
        .or_else(|| properties.get(PROFILE))
        .filter(|profile| !profile.is_empty());
    let rows = match profile {
        Some(profile) => parse_profile(&profile),
        None => rows(d, PROFILE).iter().map(|row| to_row(row)).collect(),
    };
    Roles::timer(VariableThroughputTimer {
        name,
        rows: rows.into(),
        state: Mutex::default(),
        passed: Notify::new(),
    })
}

fn to_row(texts: &[String]) -> ThroughputStretch {
    let text = |column: usize| texts.get(column).map(String::as_str).unwrap_or_default();
    ThroughputStretch {
        from: values::property_double(text(0)),
        to: values::property_double(text(1)),
        length_s: values::property_int(text(2)),
    }
}

/// `VariableThroughputTimer#trySettingLoadFromProperty`: malformed parts are ignored.
fn parse_profile(profile: &str) -> Vec<ThroughputStretch> {
    let mut rows = Vec::new();
    for chunk in profile.split(')').filter(|chunk| !chunk.is_empty()) {
        if parse_chunk(chunk, &mut rows).is_none() {
            tracing::warn!("Wrong load chunk {chunk} will be ignored");
        }
    }
    rows
}

fn parse_chunk(chunk: &str, rows: &mut Vec<ThroughputStretch>) -> Option<()> {
    let parts: Vec<&str> = chunk.split(['(', ',']).collect();
    let int = |place: usize| parts.get(place)?.trim().parse::<i32>().ok();
    let seconds = |place: usize| short_seconds(parts.get(place)?);
    match parts[0].trim().to_ascii_lowercase().as_str() {
        "const" => rows.push(row(int(1)?, int(1)?, seconds(2)?)),
        "line" => rows.push(row(int(1)?, int(2)?, seconds(3)?)),
        "step" => {
            let (from, to) = (int(1)?, int(2)?);
            let by = if from > to { -int(3)? } else { int(3)? };
            let length_s = seconds(4)?;
            let mut level = from;
            // With a step of 0 the plugin never ends.
            while by != 0 && (if by > 0 { level <= to } else { level > to }) {
                rows.push(row(level, level, length_s));
                level += by;
            }
        }
        _ => return None,
    }
    Some(())
}

fn row(from: i32, to: i32, length_s: i32) -> ThroughputStretch {
    ThroughputStretch {
        from: from.into(),
        to: to.into(),
        length_s,
    }
}

/// The rate at this time after the start (`VariableThroughputTimer#getRPSForSecond`); `None` after the end of the table.
fn rate_at(rows: &[ThroughputStretch], elapsed_s: f64) -> Option<f64> {
    let mut rest_s = elapsed_s;
    for row in rows {
        let length_s = f64::from(row.length_s);
        if rest_s - length_s <= 0.0 {
            let rate = row.from + rest_s * (row.to - row.from) / length_s;
            return (rate.is_nan() || rate >= 0.0).then_some(rate);
        }
        rest_s -= length_s;
    }
    None
}

impl ThroughputState {
    /// `VariableThroughputTimer#checkNextSecond`; returns whether a new second has begun. The table's rates are multiplied
    /// by the run's factor.
    fn begin_second(
        &mut self,
        second_ms: i64,
        rows: &[ThroughputStretch],
        run_factor: f64,
    ) -> bool {
        if self.second_ms == second_ms {
            return false;
        }
        let first_ms = *self.first_second_ms.get_or_insert(second_ms);
        if self.second_ms > 0 && self.rate.is_finite() {
            let seconds = ((second_ms - self.second_ms) / 1000).max(0) as u64;
            self.before += self.rate.ceil() as u64 * seconds;
        }
        self.second_ms = second_ms;
        match rate_at(rows, (second_ms - first_ms) as f64 / 1000.0) {
            Some(rate) => self.rate = rate * run_factor,
            None => {
                self.stopping = true;
                let factor = if self.stop_tries > 10 { 2.0 } else { 1.0 };
                self.rate = if self.rate > 0.0 {
                    self.rate * factor
                } else {
                    1.0
                };
                self.stop_tries += 1;
            }
        }
        true
    }

    /// The stop that is due, which gets harder the longer the users take (`VariableThroughputTimer#stopTest`).
    fn stop(&self) -> Option<StopAction> {
        match self.stop_tries {
            0 => None,
            1..=5 => Some(StopAction::Group),
            6..=10 => Some(StopAction::Test),
            _ => Some(StopAction::TestNow),
        }
    }

    /// The index of this machine's next sample among all samples of this second.
    fn place(&self, slots: &Slots) -> f64 {
        if slots.is_empty() {
            return self.sent as f64;
        }
        let rank = slots.count_of(self.before) + self.sent as u64;
        (slots.nth(rank) - self.before) as f64
    }

    /// `VariableThroughputTimer#getDelay`, and the effect of stopping on it. A machine that runs a part of the plan starts
    /// its share of each second's samples, at their positions.
    fn delay_ms(&self, since_second_ms: i64, slots: &Slots) -> i32 {
        let delay_ms = if (since_second_ms as f64) < self.place(slots) * self.apart_ms {
            let rate = self.rate * slots.fraction();
            (1.0 + 1000.0 * f64::from(self.waiting + 1) / rate) as i32
        } else {
            0
        };
        match self.stopping {
            true if delay_ms > 0 => STOPPING_PAUSE_MS,
            true => 0,
            false => delay_ms,
        }
    }

    fn publish(&self, name: &str, rows: &[ThroughputStretch], properties: &Properties) {
        let total_s: i64 = rows.iter().map(|row| i64::from(row.length_s)).sum();
        properties.set(&format!("{name}_totalDuration"), total_s.to_string());
        properties.set(&format!("{name}_cntDelayed"), self.waiting.to_string());
        properties.set(&format!("{name}_cntSent"), self.sent.to_string());
        let rate = values::double_to_string(self.rate);
        properties.set(&format!("{name}_rps"), rate);
    }
}

impl VariableThroughputTimer {
    fn state(&self) -> MutexGuard<'_, ThroughputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the schedule once; returns how long to wait, or `None` to continue.
    fn look(&self, cx: &TimerView) -> Option<Duration> {
        let now_ms = cx.clock().now_ms();
        let since_second_ms = now_ms % 1000;
        let mut state = self.state();
        let factor = cx.shared().control.rate();
        if state.begin_second(now_ms - since_second_ms, &self.rows, factor) {
            match state.stop() {
                None => {}
                Some(StopAction::Group) => cx.supply().stop(),
                Some(StopAction::Test) => cx.shared().stop(false),
                Some(StopAction::TestNow) => cx.shared().stop(true),
            }
            if state.stopping {
                self.passed.notify_waiters();
            }
            state.publish(&self.name, &self.rows, &cx.shared().properties);
            state.sent = 0;
            state.apart_ms = 1000.0 / state.rate;
        }
        let delay_ms = state.delay_ms(since_second_ms, &cx.shared().part.slots());
        if delay_ms < 1 {
            state.sent += 1;
            if state.waiting > 0 {
                self.passed.notify_one();
            }
            return None;
        }
        state.waiting += 1;
        Some(Duration::from_millis(delay_ms as u64))
    }

    /// `VariableThroughputTimer#delay`.
    async fn wait(&self, cx: &mut TimerView) {
        while cx.running() {
            let Some(pause) = self.look(cx) else { return };
            let waiting = WaitingUser(self);
            let stop = cx.stopped();
            let due = Instant::now() + pause;
            if !cx.interrupted {
                tokio::select! {
                    () = cx.wait_until(due) => {}
                    () = self.passed.notified() => {}
                    () = cx.interruption() => cx.interrupt_waits(),
                    () = stop => {}
                }
            }
            drop(waiting);
            if cx.interrupted {
                return;
            }
        }
    }
}

/// Counts a user as waiting until it is dropped.
struct WaitingUser<'t>(&'t VariableThroughputTimer);

impl Drop for WaitingUser<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

impl TimerRole for VariableThroughputTimer {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::wait(async {
            self.wait(cx).await;
            0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(from: f64, to: f64, length_s: i32) -> ThroughputStretch {
        ThroughputStretch { from, to, length_s }
    }

    #[test]
    fn rates_follow_the_table() {
        let rows = [row(1.0, 1.0, 2), row(10.0, 20.0, 10)];
        let rates: Vec<_> = [0.0, 2.0, 3.0, 12.0, 12.5]
            .iter()
            .map(|at| rate_at(&rows, *at))
            .collect();
        // VariableThroughputTimer#getRPSForSecond counts the end of a row as part of the row.
        assert_eq!(rates, [Some(1.0), Some(1.0), Some(11.0), Some(20.0), None]);
        assert_eq!(rate_at(&[], 0.0), None);
    }

    #[test]
    fn profiles_of_properties_are_read() {
        assert_eq!(
            parse_profile("const(10,30s) line(10, 20, 1m) step(5,15,5,1h) step(3,1,1,2) what(1)"),
            [
                row(10.0, 10.0, 30),
                row(10.0, 20.0, 60),
                row(5.0, 5.0, 3600),
                row(10.0, 10.0, 3600),
                row(15.0, 15.0, 3600),
                row(3.0, 3.0, 2),
                row(2.0, 2.0, 2)
            ]
        );
        assert_eq!(parse_profile("step(1,5,0,1s)"), []);
    }

    #[test]
    fn samples_of_a_second_keep_their_distance() {
        let all = Slots::default();
        let mut state = ThroughputState::default();
        assert!(state.begin_second(5_000, &[row(4.0, 4.0, 1)], 1.0));
        state.apart_ms = 1000.0 / state.rate;
        assert_eq!(state.delay_ms(0, &all), 0);
        state.sent = 1;
        assert_eq!(
            (state.delay_ms(249, &all), state.delay_ms(250, &all)),
            (251, 0)
        );
        state.waiting = 1;
        assert_eq!(state.delay_ms(100, &all), 501);
        assert!(!state.begin_second(5_000, &[], 1.0));
    }

    #[test]
    fn the_end_of_the_table_stops_more_and_more() {
        let all = Slots::default();
        let mut state = ThroughputState::default();
        let mut stops = Vec::new();
        for second in 1..=12 {
            state.begin_second(second * 1000, &[], 1.0);
            stops.push(state.stop());
        }
        assert_eq!(stops[..5], [Some(StopAction::Group); 5]);
        assert_eq!(stops[5..10], [Some(StopAction::Test); 5]);
        assert_eq!(stops[10..], [Some(StopAction::TestNow); 2]);
        state.sent = 100;
        state.apart_ms = 1.0;
        assert_eq!(
            (state.delay_ms(0, &all), state.rate),
            (STOPPING_PAUSE_MS, 2.0)
        );
    }

    /// Samples that two machines let begin in each of some seconds, asked every millisecond.
    #[test]
    fn machines_share_the_samples_of_each_second() {
        let rows = [row(3.0, 3.0, 8)];
        let parts = [0, 1].map(|remainder| Slots::new(2, vec![remainder]));
        let mut sums = [0; 5];
        for slots in &parts {
            let mut state = ThroughputState::default();
            for (second, sum) in (1..).zip(&mut sums) {
                state.begin_second(second * 1000, &rows, 1.0);
                (state.sent, state.apart_ms) = (0, 1000.0 / state.rate);
                for ms in 0..1000 {
                    if state.delay_ms(ms, slots) < 1 {
                        state.sent += 1;
                        *sum += 1;
                    }
                }
            }
        }
        assert_eq!(sums, [3; 5]);
    }
}
