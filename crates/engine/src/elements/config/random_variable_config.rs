//! Random Variable (`RandomVariableConfig`): each iteration of the controller around it puts a random number into a variable.
//!
//! Properties: `variableName`, `outputFormat` (a Java `DecimalFormat`; an invalid one is ignored), `minimumValue`,
//! `maximumValue` (both inclusive; 0 if not a number), `randomSeed` (if given, the numbers are those of Java's `Random`),
//! `perThread`. All of them are evaluated once per user. The first user determines limits and seed of the shared sequence. If
//! the minimum is above the maximum, the variable is not set.

use std::sync::{Mutex, PoisonError};

use drumfire_elements::config::random_variable as facts;
use drumfire_expr::Template;
use drumfire_java::values;

use crate::base::java_random::JavaRandom;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::config::counter_config::formatted;
use crate::run::context::StateId;
use crate::run::roles::IterationListener;
use crate::run::view::PreProcessorView;

struct RandomVariableConfig {
    name: Template,
    variable: Template,
    format: Template,
    minimum: Template,
    maximum: Template,
    seed: Template,
    per_thread: Template,
    shared: Mutex<Option<Sequence>>,
    state: StateId,
}

/// One user's settings.
struct RandomUserState {
    variable: Box<str>,
    format: Box<str>,
    /// The user's own sequence; `None` if it uses the shared one.
    own: Option<Sequence>,
}

/// Random numbers from a minimum on.
struct Sequence {
    minimum: i64,
    /// How many numbers there are; 0 if the limits are wrong.
    range: i32,
    random: JavaRandom,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let variable = d.template(facts::VARIABLE_NAME.name);
    if let Some(name) = variable.literal() {
        d.decoding.compiler.intern(name);
    }
    Roles::each_iteration(RandomVariableConfig {
        name: d.name(),
        variable,
        format: d.template(facts::OUTPUT_FORMAT.name),
        minimum: d.template(facts::MINIMUM_VALUE.name),
        maximum: d.template(facts::MAXIMUM_VALUE.name),
        seed: d.template(facts::SEED.name),
        per_thread: d.template(facts::PER_USER.name),
        shared: Mutex::default(),
        state: d.new_state(),
    })
}

impl IterationListener for RandomVariableConfig {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        if !cx.alive {
            return; // another listener ended the user: JMeter would not have come here
        }
        let Some(mut bound) = cx.bound_once(self.state, |cx| Ok(self.bind(cx))) else {
            return;
        };
        let number = match &mut bound.own {
            Some(own) => own.next(),
            None => self
                .shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut()
                .and_then(Sequence::next),
        };
        if let Some(number) = number {
            cx.vars_mut()
                .set_named(&bound.variable, formatted(&bound.format, number));
        }
        cx.put_state(self.state, bound);
    }
}

impl RandomVariableConfig {
    fn bind(&self, cx: &mut PreProcessorView) -> RandomUserState {
        let per_thread = values::property_bool(&self.per_thread.eval(cx));
        let sequence = self.sequence(cx);
        let own_random = if per_thread {
            Some(sequence)
        } else {
            self.shared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(sequence);
            None
        };
        RandomUserState {
            variable: self.variable.eval(cx).as_str().into(),
            format: self.format.eval(cx).as_str().into(),
            own: own_random,
        }
    }

    fn sequence(&self, cx: &mut PreProcessorView) -> Sequence {
        let minimum = values::property_long(&self.minimum.eval(cx));
        let maximum = values::property_long(&self.maximum.eval(cx));
        let seed_text = self.seed.eval(cx).into_string();
        let seed = values::parse_long(&seed_text);
        if seed.is_none() && !seed_text.is_empty() {
            tracing::warn!(
                "Cannot parse random seed: '{seed_text}' in element {}",
                &*self.name.eval(cx)
            );
        }
        let seed = seed.unwrap_or_else(|| cx.random().next_u64() as i64);
        Sequence {
            minimum,
            range: range(minimum, maximum),
            random: JavaRandom::new(seed),
        }
    }
}

/// `RandomVariableConfig#init`.
fn range(minimum: i64, maximum: i64) -> i32 {
    if minimum > maximum {
        tracing::error!("maximum({maximum}) must be >= minimum({minimum})");
        return 0;
    }
    match i32::try_from(maximum.wrapping_sub(minimum).wrapping_add(1)) {
        Ok(range) if range > 0 => range,
        _ => {
            tracing::warn!(
                "maximum({maximum}) - minimum({minimum}) must be <= {}",
                i32::MAX
            );
            i32::MAX
        }
    }
}

impl Sequence {
    fn next(&mut self) -> Option<i64> {
        (self.range > 0).then(|| {
            self.minimum
                .wrapping_add(i64::from(self.random.next_int(self.range)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_bounded_as_in_java() {
        assert_eq!(range(1, 10), 10);
        assert_eq!(range(5, 5), 1);
        assert_eq!(range(6, 5), 0);
        assert_eq!(range(0, i64::from(i32::MAX)), i32::MAX);
        assert_eq!(range(i64::MIN, i64::MAX), i32::MAX);
    }

    #[test]
    fn a_seed_gives_javas_numbers_from_the_minimum_on() {
        let mut sequence = Sequence {
            minimum: 10,
            range: range(10, 19),
            random: JavaRandom::new(1),
        };
        let numbers: Vec<_> = (0..5).filter_map(|_| sequence.next()).collect();
        assert_eq!(numbers, [15, 18, 17, 13, 14]);
        assert_eq!(
            Sequence {
                range: 0,
                ..sequence
            }
            .next(),
            None
        );
    }
}
