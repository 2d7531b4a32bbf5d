//! Gaussian Random Timer (`GaussianRandomTimer`): a constant delay plus a normally distributed deviation.
//!
//! Properties: `ConstantTimer.delay` and `RandomTimer.range` (the standard deviation), both in milliseconds. A negative
//! sum counts as its absolute value. `timer.factor` applies.

use drumfire_expr::{Random, Scope};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::timers::RandomDelay;
use crate::run::roles::Timer;

struct GaussianRandomTimer(RandomDelay);

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::timer(GaussianRandomTimer(RandomDelay::decode(d)))
}

impl Timer for GaussianRandomTimer {
    fn delay_ms(&self, cx: &mut dyn Scope) -> i64 {
        let (delay_ms, deviation_ms) = self.0.eval(cx);
        (normal(cx.random()) * deviation_ms + delay_ms as f64).abs() as i64
    }
    fn is_modifiable(&self) -> bool {
        true
    }
}

/// A standard normal number, by Marsaglia's polar method.
fn normal(random: &mut Random) -> f64 {
    loop {
        let x = 2.0 * random.unit() - 1.0;
        let y = 2.0 * random.unit() - 1.0;
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::from_seed(11);
        let numbers: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers
            .iter()
            .map(|number| (number - mean).powi(2))
            .sum::<f64>()
            / numbers.len() as f64;
        assert!(mean.abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }
}
