//! Timers.

pub mod constant_throughput_timer;
mod constant_timer;
mod gaussian_random_timer;
mod poisson_random_timer;
pub mod precise_throughput_timer;
mod sync_timer;
mod uniform_random_timer;
mod variable_throughput_timer;

use drumfire_elements::timers::uniform_random_timer as facts;
use drumfire_expr::{Scope, Template};
use drumfire_java::values;

pub use constant_throughput_timer::decode as constant_throughput;
pub use constant_timer::decode as constant;
pub use gaussian_random_timer::decode as gaussian_random;
pub use poisson_random_timer::decode as poisson_random;
pub use precise_throughput_timer::decode as precise_throughput;
pub use sync_timer::decode as sync;
pub use uniform_random_timer::decode as uniform_random;
pub use variable_throughput_timer::decode as variable_throughput;

/// Shared by all `RandomTimer`s: the delay of the Constant Timer and a range.
struct RandomDelay {
    delay: Template,
    range: Template,
}

impl RandomDelay {
    fn decode(d: &mut crate::decode::Decoder) -> RandomDelay {
        RandomDelay {
            delay: d.template(facts::DELAY.name),
            range: d.template(facts::RANGE.name),
        }
    }

    /// The constant delay in milliseconds and the range, 0 if they are not numbers.
    fn eval(&self, cx: &mut dyn Scope) -> (i64, f64) {
        let delay_ms = values::property_long(&self.delay.eval(cx));
        (delay_ms, values::property_double(&self.range.eval(cx)))
    }
}
