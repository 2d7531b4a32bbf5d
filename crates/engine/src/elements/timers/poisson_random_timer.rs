//! Poisson Random Timer (`PoissonRandomTimer`): a constant delay plus a Poisson distributed part.
//!
//! Properties: `ConstantTimer.delay` in milliseconds and `RandomTimer.range` (the Poisson lambda, rounded).
//! `timer.factor` applies. Above a lambda of 30, J. D. Cook's rejection method is used, as in JMeter.

use drumfire_expr::{Random, Scope};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::timers::RandomDelay;
use crate::run::roles::Timer;

struct PoissonRandomTimer(RandomDelay);

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::timer(PoissonRandomTimer(RandomDelay::decode(d)))
}

impl Timer for PoissonRandomTimer {
    fn delay_ms(&self, cx: &mut dyn Scope) -> i64 {
        let (delay_ms, lambda) = self.0.eval(cx);
        poisson(cx.random(), (lambda + 0.5).floor() as i32)
            .wrapping_add(delay_ms)
            .saturating_abs()
    }
    fn is_modifiable(&self) -> bool {
        true
    }
}

fn poisson(random: &mut Random, lambda: i32) -> i64 {
    if lambda <= 30 {
        by_product(random, f64::from(lambda))
    } else {
        by_rejection(random, f64::from(lambda))
    }
}

/// Knuth's method.
fn by_product(random: &mut Random, lambda: f64) -> i64 {
    let limit = (-lambda).exp();
    let mut product = random.unit();
    let mut count = 0;
    while product > limit {
        product *= random.unit();
        count += 1;
    }
    count
}

/// Atkinson's method.
fn by_rejection(random: &mut Random, lambda: f64) -> i64 {
    let c = 0.767 - 3.36 / lambda;
    let beta = std::f64::consts::PI / (3.0 * lambda).sqrt();
    let alpha = beta * lambda;
    let k = c.ln() - lambda - beta.ln();
    loop {
        let u = random.unit();
        let x = (alpha - ((1.0 - u) / u).ln()) / beta;
        let n = (x + 0.5).floor();
        if !(0.0..1e15).contains(&n) {
            continue;
        }
        let v = random.unit();
        let y = alpha - beta * x;
        let left = y + (v / (1.0 + y.exp()).powi(2)).ln();
        if left <= k + n * lambda.ln() - ln_factorial(n) {
            return n as i64;
        }
    }
}

/// The logarithm of `n!`, by Stirling's series; exact enough for the rejection, whose numbers are mostly above 10.
fn ln_factorial(n: f64) -> f64 {
    if n < 10.0 {
        return (2..=n as u64).map(|factor| (factor as f64).ln()).sum();
    }
    let x = n + 1.0;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0 / (12.0 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_and_the_variance_are_lambda() {
        for lambda in [1, 12, 30, 31, 300] {
            let mut random = Random::from_seed(lambda as u64);
            let numbers: Vec<f64> = (0..10_000)
                .map(|_| poisson(&mut random, lambda) as f64)
                .collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let variance = numbers
                .iter()
                .map(|number| (number - mean).powi(2))
                .sum::<f64>()
                / numbers.len() as f64;
            let expected = f64::from(lambda);
            assert!((mean / expected - 1.0).abs() < 0.05, "{lambda}: {mean}");
            assert!(
                (variance / expected - 1.0).abs() < 0.1,
                "{lambda}: {variance}"
            );
        }
    }

    #[test]
    fn no_lambda_gives_nothing() {
        let mut random = Random::from_seed(3);
        assert_eq!(poisson(&mut random, 0), 0);
        assert_eq!(poisson(&mut random, -5), 0);
    }

    #[test]
    fn factorials_agree_with_their_products() {
        let product: f64 = (2..=20).map(|factor| f64::from(factor).ln()).sum();
        assert!((ln_factorial(20.0) - product).abs() < 1e-5);
        assert_eq!(ln_factorial(1.0), 0.0);
        assert!((ln_factorial(3.0) - 6f64.ln()).abs() < 1e-12);
    }
}
