//! Runs that last longer than planned: which users went on after the end of their thread group, and where they were held.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::clock::Clock;
use crate::run::held::{HeldAt, HeldUsers, Overruns};
use crate::run::journey::{BoundPlan, Package};

/// A run that exceeds its plan by less than this has only finished its last samples.
const LEAST_MS: i64 = 1_000;
/// The share of the planned duration that it must exceed, too.
const LEAST_SHARE: f64 = 0.01;
/// The most places to list.
const MOST_PLACES: usize = 3;

impl Overruns {
    pub fn new(groups: usize) -> Overruns {
        Overruns {
            ends_ms: (0..groups).map(|_| AtomicI64::new(i64::MAX)).collect(),
            held: Mutex::default(),
        }
    }

    /// Stores when a thread group should end.
    pub fn plan(&self, group: usize, end_ms: i64) {
        self.ends_ms[group].store(end_ms, Ordering::Relaxed);
    }

    /// Whether the planned end of a thread group has passed.
    pub fn is_over(&self, group: usize, clock: Clock) -> bool {
        let end_ms = self.ends_ms[group].load(Ordering::Relaxed);
        end_ms != i64::MAX && clock.now_ms() > end_ms
    }

    /// Records that a user ends now.
    pub fn note(&self, place: HeldAt, now_ms: i64) {
        let end_ms = self.ends_ms[place.group].load(Ordering::Relaxed);
        let late_ms = now_ms.saturating_sub(end_ms);
        if late_ms < LEAST_MS {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let users = held.entry(place).or_default();
        users.count += 1;
        users.longest_ms = users.longest_ms.max(late_ms);
    }

    /// How much longer than planned the run lasted, and where users were held. `before` and `after` are the durations of the
    /// setUp and tearDown thread groups. `None` if it ended in time.
    pub fn told(
        &self,
        plan: &BoundPlan,
        planned_ms: u64,
        elapsed: Duration,
        (before, after): (Duration, Duration),
    ) -> Option<String> {
        let over_ms = elapsed.as_millis() as i64 - planned_ms as i64;
        if over_ms < LEAST_MS || (over_ms as f64) < planned_ms as f64 * LEAST_SHARE {
            return None;
        }
        let mut causes: Vec<(i64, String)> = Vec::new();
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, users) in held.iter() {
            let package = &plan.journeys[place.group].samplers[place.sampler as usize];
            causes.push((users.longest_ms, users.told(*place, package)));
        }
        for (took, kind) in [(before, "setUp"), (after, "tearDown")] {
            let ms = took.as_millis() as i64;
            if ms >= LEAST_MS {
                let seconds = seconds(ms);
                causes.push((ms, format!("the {kind} thread groups took {seconds}")));
            }
        }
        causes.sort_by_key(|(ms, _)| std::cmp::Reverse(*ms));
        causes.truncate(MOST_PLACES);
        let causes: Vec<String> = causes.into_iter().map(|(_, cause)| cause).collect();
        let causes = if causes.is_empty() {
            String::new()
        } else {
            format!(": {}", causes.join("; "))
        };
        Some(format!(
            "the run lasted {} instead of the planned {}{causes}",
            seconds(elapsed.as_millis() as i64),
            seconds(planned_ms as i64)
        ))
    }
}

impl HeldUsers {
    fn told(self, place: HeldAt, package: &Package) -> String {
        let who = match self.count {
            1 => "1 user waited".to_owned(),
            count => format!("{count} users waited up to"),
        };
        let name = package.name.source();
        let is_request = package
            .sampler
            .element()
            .is_some_and(|element| element.as_request().is_some());
        let place = if place.is_in_timers {
            timers(&package.timer_names)
        } else if is_request {
            format!("for the response of `{name}`")
        } else {
            format!("for the sampler `{name}`")
        };
        format!("{who} {} {place}", seconds(self.longest_ms))
    }
}

fn timers(names: &[std::sync::Arc<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [only] => format!("in the timer {only}"),
        all => format!("in the timers {}", all.join(", ")),
    }
}

/// Seconds with a decimal, unless they are whole.
pub fn seconds(ms: i64) -> String {
    let text = format!("{:.1}", ms as f64 / 1000.0);
    format!("{} s", text.strip_suffix(".0").unwrap_or(&text))
}
