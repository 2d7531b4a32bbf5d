//! Uniform Random Timer (`UniformRandomTimer`): a constant delay plus a random part that is equally likely over its range.
//!
//! Properties: `ConstantTimer.delay` and `RandomTimer.range`, both in milliseconds. `timer.factor` applies.

use drumfire_expr::Scope;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::timers::RandomDelay;
use crate::run::roles::Timer;

struct UniformRandomTimer(RandomDelay);

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::timer(UniformRandomTimer(RandomDelay::decode(d)))
}

impl Timer for UniformRandomTimer {
    fn delay_ms(&self, cx: &mut dyn Scope) -> i64 {
        let (delay_ms, range_ms) = self.0.eval(cx);
        uniform_ms(cx.random().unit(), range_ms, delay_ms)
    }
    fn is_modifiable(&self) -> bool {
        true
    }
}

fn uniform_ms(unit: f64, range_ms: f64, delay_ms: i64) -> i64 {
    (unit * range_ms + delay_ms as f64).abs() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_lies_within_the_range_above_the_offset() {
        assert_eq!(uniform_ms(0.0, 100.0, 300), 300);
        assert_eq!(uniform_ms(0.999, 100.0, 300), 399);
        assert_eq!(uniform_ms(0.5, 0.0, 0), 0);
    }

    #[test]
    fn a_negative_sum_is_turned_around() {
        assert_eq!(uniform_ms(0.5, 100.0, -200), 150);
    }
}
