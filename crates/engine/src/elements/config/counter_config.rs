//! Counter (`CounterConfig`): each iteration of the controller around it puts the next number into a variable.
//!
//! Properties: `CounterConfig.start`, `.end` (empty: no end), `.incr`, `.name`, `.format` (a Java `DecimalFormat`; an
//! invalid one is ignored), `.per_user`, `.reset_on_tg_iteration` (per user only).
//!
//! Difference: texts with variables are evaluated at every count, in JMeter once per iteration of the thread group.

use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use drumfire_elements::config::counter as facts;
use drumfire_expr::{Template, format_decimal};
use drumfire_java::values;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::StateId;
use crate::run::fleet::{LeaseError, LeaseRequest, Leased};
use crate::run::roles::IterationListener;
use crate::run::view::PreProcessorView;

/// The value of the shared counter before its first count.
const UNSET: i64 = i64::MIN;

struct CounterConfig {
    start: Template,
    end: Template,
    increment: Template,
    variable: Template,
    format: Template,
    per_user: Template,
    resets_on_iteration: Template,
    shared: Mutex<i64>,
    /// The numbers leased to this machine if several machines run the plan.
    leased: Leased,
    state: StateId,
}

/// One user's own count.
struct Count {
    current: i64,
    iteration: u32,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable = d.template(facts::NAME.name);
    if let Some(name) = variable.literal() {
        d.decoding.compiler.intern(name);
    }
    Roles::each_iteration(CounterConfig {
        start: d.template(facts::START.name),
        end: d.template(facts::MAXIMUM.name),
        increment: d.template(facts::INCREMENT.name),
        variable,
        format: d.template(facts::FORMAT.name),
        per_user: d.template(facts::PER_USER.name),
        resets_on_iteration: d.template(facts::RESET.name),
        shared: Mutex::new(UNSET),
        leased: Leased::default(),
        state: d.new_state(),
    })
}

/// Where a counter starts and ends, and its increment.
#[derive(Clone, Copy)]
struct Range {
    start: i64,
    end: i64,
    increment: i64,
}

impl Range {
    /// How many numbers it counts before it starts again; `None` if it never does.
    fn length(self) -> Option<u64> {
        let steps = self
            .end
            .checked_sub(self.start)?
            .checked_div(self.increment)?;
        let ends = self.increment > 0 && self.end < i64::MAX;
        // With an end below the start, JMeter gives the start again and again.
        ends.then(|| u64::try_from(steps).map(|steps| steps + 1).unwrap_or(1))
    }

    /// The number at a place of the sequence, counted from 0.
    fn at(self, place: u64) -> i64 {
        let index = self.length().map(|length| place % length).unwrap_or(place);
        let step = self.increment.wrapping_mul(index as i64);
        self.start.wrapping_add(step)
    }
}

impl IterationListener for CounterConfig {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        if !cx.alive {
            return; // another listener ended the user: JMeter would not have come here
        }
        let range = self.range(cx);
        let per_user = values::property_bool(&self.per_user.eval(cx));
        let number = if per_user {
            let resets = values::property_bool(&self.resets_on_iteration.eval(cx));
            let iteration = cx.iteration;
            if cx.iteration == 1 {
                self.start.repeat(cx, 1); // the initial value of the user's number
            }
            let start = || Count {
                current: range.start,
                iteration: 1,
            };
            if resets && cx.state(self.state, start).iteration != iteration {
                self.start.repeat(cx, 1); // the number starts again
            }
            let count = cx.state(self.state, start);
            count.next(range, resets.then_some(iteration))
        } else {
            match self.shared_number(cx, range) {
                Ok(number) => number,
                Err(reason) => return cx.test_failed(&reason.to_string()),
            }
        };
        let text = formatted(&self.format.eval(cx), number);
        let variable = self.variable.eval(cx);
        cx.vars_mut().set_named(&variable, text);
        cx.ended_by_exception();
    }
}

impl CounterConfig {
    fn shared_number(&self, cx: &PreProcessorView, range: Range) -> Result<i64, LeaseError> {
        let Some(fleet) = cx.shared().part.shared_with() else {
            let mut counter = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(next_shared(&mut counter, range));
        };
        let request = LeaseRequest {
            element: &format!("counter {}", self.state.0),
            length: range.length(),
            is_recycled: true,
        };
        let number = self.leased.next(fleet, &request)?;
        Ok(range.at(number.unwrap_or_default()))
    }

    fn range(&self, cx: &mut PreProcessorView) -> Range {
        let end = self.end.eval(cx);
        let end = if end.is_empty() {
            self.end.repeat(cx, 1); // CounterConfig#getEnd reads it as a number first
            i64::MAX
        } else {
            values::property_long(&end)
        };
        Range {
            start: crate::base::number::long(&self.start.eval(cx)),
            end,
            increment: crate::base::number::long(&self.increment.eval(cx)),
        }
    }
}

fn next_shared(counter: &mut i64, range: Range) -> i64 {
    if *counter == UNSET || *counter > range.end {
        *counter = range.start;
    }
    let number = *counter;
    *counter = counter.wrapping_add(range.increment);
    number
}

impl Count {
    /// Gives the next number. `iteration` is the thread group's; it is absent if a new one does not reset the count.
    fn next(&mut self, range: Range, iteration: Option<u32>) -> i64 {
        if let Some(iteration) = iteration {
            if iteration != self.iteration {
                self.current = range.start;
            }
            self.iteration = iteration;
        }
        let number = self.current;
        self.current = number.wrapping_add(range.increment);
        if self.current > range.end {
            self.current = range.start;
        }
        number
    }
}

/// Formats a number as the element wants it; in plain digits if the format is empty or invalid.
pub fn formatted(format: &str, number: i64) -> Rc<str> {
    if !format.is_empty() {
        match format_decimal(format, number) {
            Ok(text) => return text.into(),
            Err(_) => tracing::warn!("Error formatting {number} at format {format}, using default"),
        }
    }
    itoa::Buffer::new().format(number).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_counter_starts_again_behind_its_end() {
        let range = Range {
            start: 2,
            end: 6,
            increment: 2,
        };
        let mut counter = UNSET;
        let numbers: Vec<_> = (0..5).map(|_| next_shared(&mut counter, range)).collect();
        assert_eq!(numbers, [2, 4, 6, 2, 4]);
    }

    #[test]
    fn places_have_the_numbers_that_one_machine_counts() {
        let cases = [(2, 6, 2), (5, 3, 1), (1, i64::MAX, 7), (10, 12, 5)];
        for (start, end, increment) in cases {
            let range = Range {
                start,
                end,
                increment,
            };
            let mut counter = UNSET;
            for place in 0..9 {
                assert_eq!(range.at(place), next_shared(&mut counter, range));
            }
        }
    }

    #[test]
    fn a_count_beyond_the_largest_number_goes_round() {
        let range = Range {
            start: i64::MAX,
            end: i64::MAX,
            increment: 1,
        };
        let mut counter = UNSET;
        assert_eq!(next_shared(&mut counter, range), i64::MAX);
        assert_eq!(next_shared(&mut counter, range), i64::MAX);
    }

    #[test]
    fn a_users_own_counter_can_start_again_with_each_iteration() {
        let range = Range {
            start: 1,
            end: 9,
            increment: 1,
        };
        let mut count = Count {
            current: 1,
            iteration: 1,
        };
        let numbers: Vec<_> = [1, 1, 1, 2, 2, 3]
            .iter()
            .map(|iteration| count.next(range, Some(*iteration)))
            .collect();
        assert_eq!(numbers, [1, 2, 3, 1, 2, 1]);
        let mut count = Count {
            current: 1,
            iteration: 1,
        };
        let numbers: Vec<_> = (0..4)
            .map(|_| count.next(Range { end: 3, ..range }, None))
            .collect();
        assert_eq!(numbers, [1, 2, 3, 1]);
    }

    #[test]
    fn a_bad_format_is_ignored() {
        assert_eq!(&*formatted("user_000", 7), "user_007");
        assert_eq!(&*formatted("", -7), "-7");
        assert_eq!(&*formatted("00#", 7), "7");
    }
}
