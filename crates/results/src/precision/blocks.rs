//! Variances of sums over steps that depend on each other: batch means with a block length chosen by the autocorrelation.
//!
//! The blocks begin at one step and double while the correlation of neighbouring blocks exceeds [`CORRELATED`], as long as at
//! least [`FEWEST_BLOCKS`] remain (Law and Carson 1979 proceed in the same way). The correlation that then remains enlarges the
//! variance as in an autoregressive process of the first order.

/// Neighbouring blocks whose correlation is at most this are independent enough.
const CORRELATED: f64 = 0.1;
/// The number of blocks that doubling their length must leave.
const FEWEST_BLOCKS: usize = 12;
/// The largest correlation between blocks that enlarges a variance. A run with a larger one is shorter than its slowest change.
const MOST_CORRELATED: f64 = 0.8;
/// The fewest degrees of freedom.
const LEAST_FREEDOM: f64 = 2.0;

/// The variance of the sum of a series.
pub struct BlockSums {
    /// The variance of the sum.
    pub variance: f64,
    /// Its degrees of freedom: the number of independent blocks minus one.
    pub freedom: f64,
}

impl BlockSums {
    /// Estimates the variance from blocks of this many steps.
    pub fn of(series: &[f64], block: usize) -> BlockSums {
        let sums = sums(series, block);
        let blocks = sums.len() as f64;
        let (correlation, squares) = correlation(&sums);
        let correlation = correlation.clamp(0.0, MOST_CORRELATED);
        let enlarged = (1.0 + correlation) / (1.0 - correlation);
        BlockSums {
            variance: squares / (blocks - 1.0).max(1.0) * blocks * enlarged,
            freedom: ((blocks - 1.0) / enlarged).max(LEAST_FREEDOM),
        }
    }
}

/// The block length of a series, in steps.
pub fn block_length(series: &[f64]) -> usize {
    let mut block = 1;
    while series.len() / (2 * block) >= FEWEST_BLOCKS
        && correlation(&sums(series, block)).0 > CORRELATED
    {
        block *= 2;
    }
    block
}

/// The sums of the blocks; the last one takes the steps that are left.
fn sums(series: &[f64], block: usize) -> Vec<f64> {
    let blocks = (series.len() / block).max(1);
    let mut sums = vec![0.0; blocks];
    for (step, value) in series.iter().enumerate() {
        sums[(step / block).min(blocks - 1)] += value;
    }
    sums
}

/// The correlation of neighbours, and the sum of squared deviations from the mean.
fn correlation(sums: &[f64]) -> (f64, f64) {
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    if squares <= 0.0 {
        return (0.0, 0.0);
    }
    let pairs = sums.windows(2);
    let products: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let raw = products / squares;
    // The estimate is too small by about this much (Marriott and Pope 1954).
    (raw + (1.0 + 4.0 * raw) / count, squares)
}

/// The quantile of Student's distribution that belongs to one of the normal distribution (Cornish-Fisher; Abramowitz and Stegun
/// 26.7.5).
pub fn t_quantile(normal: f64, freedom: f64) -> f64 {
    let power = |exponent| normal.powi(exponent);
    let terms = [
        (power(3) + normal) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * normal) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * normal) / 384.0,
        (79.0 * power(9) + 776.0 * power(7) + 1482.0 * power(5)
            - 1920.0 * power(3)
            - 945.0 * normal)
            / 92_160.0,
    ];
    let sum = terms
        .iter()
        .rev()
        .fold(0.0, |sum, term| (sum + term) / freedom);
    normal + sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, quantile) in [(5.0, 2.571), (10.0, 2.228), (30.0, 2.042), (1e9, 1.960)] {
            let found = t_quantile(1.959_964, freedom);
            assert!((found - quantile).abs() < 0.002, "{freedom}: {found}");
        }
    }

    #[test]
    fn blocks_grow_with_the_correlation() {
        let alternating: Vec<f64> = (0..240).map(|step| f64::from(step % 2)).collect();
        assert_eq!(block_length(&alternating), 1);
        let waves: Vec<f64> = (0..240).map(|step| (f64::from(step) / 3.0).sin()).collect();
        assert!(block_length(&waves) > 4);
        let ramp: Vec<f64> = (0..240).map(f64::from).collect();
        assert_eq!(block_length(&ramp), 16, "the fewest blocks are left");
    }

    #[test]
    fn independent_steps_have_the_variance_of_their_sum() {
        let scrambled = |step: u32| (step.wrapping_mul(2_654_435_769) ^ 0x5bd1_e995) >> 8;
        let series = (0..1_000).map(|step| f64::from(scrambled(step * step + step) % 1_000));
        let series: Vec<f64> = series.collect();
        let sums = BlockSums::of(&series, 1);
        let expected = 1_000.0 * (1_000.0_f64.powi(2) - 1.0) / 12.0;
        assert!(
            (sums.variance / expected - 1.0).abs() < 0.1,
            "{}",
            sums.variance / expected
        );
    }
}
