//! `IntSum`, `LongSum`, `IterationCounter`, and `DoubleSum` of jmeter-plugins.

use std::sync::atomic::{AtomicI32, Ordering};

use drumfire_java::values::{double_to_string, parse_bool, parse_double, parse_int, parse_long};

use crate::call::{Args, CallError, CallResult, Stateful, next_instance, not_a_number, store};
use crate::scope::Scope;
use crate::text::Text;

/// `IntSum`: wraps around like Java's `int`.
pub(super) fn int_sum<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    sum(
        args,
        scope,
        |text| parse_int(text).map(i64::from),
        |sum| i64::from(sum as i32),
    )
}

/// `LongSum`: wraps around like Java's `long`.
pub(super) fn long_sum<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    sum(args, scope, parse_long, |sum| sum)
}

/// `DoubleSum` of jmeter-plugins.
pub(super) fn double_sum<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let last = args.trimmed(args.len() - 1, scope)?;
    let mut sum = 0.0;
    for index in 0..args.len() - 1 {
        let text = args.text(index, scope)?;
        sum += parse_double(&text).ok_or_else(|| not_a_number(&text))?;
    }
    let number = parse_double(&last);
    let total = double_to_string(sum + number.unwrap_or(0.0));
    if number.is_none() {
        store(&last, &total, scope);
    }
    Ok(Text::Owned(total))
}

/// The last argument is a variable's name, unless it is a number. All others must be
/// numbers.
fn sum<'a>(
    args: Args<'a>,
    scope: &mut dyn Scope,
    parse: fn(&str) -> Option<i64>,
    wrap: fn(i64) -> i64,
) -> CallResult<'a> {
    let last = args.trimmed(args.len() - 1, scope)?;
    let mut sum = 0i64;
    for index in 0..args.len() - 1 {
        let text = args.text(index, scope)?;
        sum = wrap(sum.wrapping_add(parse(&text).ok_or_else(|| not_a_number(&text))?));
    }
    let number = parse(&last);
    let total = wrap(sum.wrapping_add(number.unwrap_or(0))).to_string();
    if number.is_none() {
        store(&last, &total, scope);
    }
    Ok(Text::Owned(total))
}

/// `IterationCounter`: one counter per call in the plan, and one per user and call.
#[derive(Debug)]
pub(super) struct Counter {
    shared: AtomicI32,
    instance: u32,
}

impl Counter {
    pub(super) fn prepare(_: Args<'_>, _: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
        Ok(Box::new(Counter {
            shared: AtomicI32::new(0),
            instance: next_instance(),
        }))
    }
}

impl Stateful for Counter {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let per_user = parse_bool(&args.text(0, scope)?);
        let variable = args.trimmed(1, scope)?;
        let count = if per_user {
            let counters = &mut scope.vars_mut().locals().counters;
            let count = counters.entry(self.instance).or_insert(0);
            *count = count.wrapping_add(1);
            *count
        } else {
            scope
                .shared_count(self.instance)
                .unwrap_or_else(|| self.shared.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
        };
        let text = count.to_string();
        store(&variable, &text, scope);
        Ok(Text::Owned(text))
    }
}
