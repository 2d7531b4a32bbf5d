//! `TSTFeedback` of jmeter-plugins: the number of users that a Throughput Shaping Timer needs, for a Concurrency
//! Thread Group.

use std::sync::atomic::{AtomicBool, Ordering};

use drumfire_java::values::{parse_double, parse_float, parse_int};

use crate::call::{Args, CallError, CallResult, Stateful, not_a_number};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// Share of the users that may wait without counting as surplus.
const DEFAULT_SPARE: f64 = 0.1;

/// One call in a plan.
#[derive(Debug)]
pub(super) struct Feedback {
    just_started: AtomicBool,
}

impl Feedback {
    pub(super) fn prepare(_: Args<'_>, _: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
        Ok(Box::new(Feedback {
            just_started: AtomicBool::new(true),
        }))
    }
}

impl Stateful for Feedback {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let timer = args.text(0, scope)?;
        let property = format!("{timer}_concurrency");
        if self.just_started.swap(false, Ordering::Relaxed) {
            let first = args.text(1, scope)?;
            scope.properties().set(&property, first.as_str());
        }
        let limit = args
            .given(2, scope)?
            .and_then(|limit| parse_int(&limit))
            .unwrap_or(i32::MAX);
        let spare = match args.given(3, scope)? {
            Some(spare) => parse_double(&spare).unwrap_or(1.0),
            None => DEFAULT_SPARE,
        };
        let read = |name: &str, default: &str| {
            let value = scope.properties().get(name);
            value
                .map(|value| value.to_string())
                .unwrap_or_else(|| default.to_owned())
        };
        let users = int(read(&property, "1"))?;
        let waiting = int(read(&format!("{timer}_cntDelayed"), "0"))?;
        let sent = int(read(&format!("{timer}_cntSent"), "0"))?;
        let rate = read(&format!("{timer}_rps"), "0");
        let rate = parse_float(&rate).ok_or(Raised::exception(rate))?;
        let needed = needed(users, waiting, sent, rate, spare);
        let needed = limited(needed, limit, scope);
        scope.properties().set(&property, needed.to_string());
        scope.properties().set(&format!("{timer}_rps"), "0");
        Ok(Text::Owned(needed.to_string()))
    }
}

fn int(text: String) -> Result<i32, Raised> {
    parse_int(&text).ok_or_else(|| not_a_number(&text))
}

fn needed(users: i32, waiting: i32, sent: i32, rate: f32, spare: f64) -> i32 {
    if rate <= 0.0 {
        return users;
    }
    if waiting > 0 {
        return fewer(users, waiting, spare);
    }
    if (sent as f32) < rate {
        return f64::from(users as f32 * (2.0 - sent as f32 / rate)).ceil() as i32;
    }
    users
}

/// `TSTFeedback#decreaseNeeded`: a spare of 1 or more is a number of users.
fn fewer(users: i32, waiting: i32, spare: f64) -> i32 {
    if spare >= 1.0 {
        let needed = (f64::from(users) - (f64::from(waiting) - spare)) as i32;
        return if f64::from(users) > spare {
            spare.max(needed.into()) as i32
        } else {
            needed
        };
    }
    if f64::from(waiting) > (f64::from(users) * spare).ceil() {
        return (f64::from(users) * (1.0 - spare)) as i32;
    }
    users
}

fn limited(needed: i32, limit: i32, scope: &mut dyn Scope) -> i32 {
    let mut needed = needed;
    if needed <= 0 {
        scope.log(
            Level::Warn,
            &format!("Got concurrency less than zero: {needed}"),
        );
        needed = 1;
    }
    if needed > limit {
        scope.log(
            Level::Warn,
            &format!("Got concurrency more than limit: {needed}"),
        );
        needed = limit;
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_added_while_samples_are_missing_and_dropped_while_users_wait() {
        // (users, waiting, sent, rate, spare), computed by TSTFeedback.
        assert_eq!(needed(10, 0, 5, 0.0, 0.1), 10);
        assert_eq!(needed(10, 0, 5, 10.0, 0.1), 15);
        assert_eq!(needed(10, 0, 10, 10.0, 0.1), 10);
        assert_eq!(needed(10, 1, 10, 10.0, 0.1), 10);
        assert_eq!(needed(10, 2, 10, 10.0, 0.1), 9);
        assert_eq!(needed(10, 6, 10, 10.0, 3.0), 7);
        assert_eq!(needed(10, 9, 10, 10.0, 3.0), 4);
        assert_eq!(needed(2, 9, 10, 10.0, 3.0), -4);
    }
}
