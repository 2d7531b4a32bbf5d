//! A small random generator that can be seeded. JMeter's functions use `ThreadLocalRandom`, which cannot be seeded, so only
//! the ranges of its results are reproduced, not the sequence.

/// A xoshiro256++ generator: 32 bytes of state, small enough for one per worker or user.
#[derive(Debug, Clone)]
pub struct Random([u64; 4]);

impl Random {
    /// A generator whose sequence depends only on `seed`.
    pub fn from_seed(seed: u64) -> Random {
        let mut state = seed;
        Random(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }))
    }

    /// A generator seeded from the operating system's randomness.
    pub fn from_entropy() -> Random {
        use std::hash::{BuildHasher, RandomState};
        Random::from_seed(RandomState::new().hash_one(std::time::SystemTime::now()))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`, with negligible modulo bias (128-bit multiplication).
    ///
    /// A `bound` of 0 stands for the whole range of `u64`.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return self.next_u64();
        }
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, inclusive; `low` must not exceed `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64;
        low.wrapping_add(self.below(width.wrapping_add(1)) as i64)
    }

    /// An index into a slice of `len` items; `len` must not be 0.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// A number in `0.0..1.0` with 53 random bits, like Java's `Random.nextDouble`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_sequence() {
        let mut a = Random::from_seed(7);
        let mut b = Random::from_seed(7);
        assert!((0..100).all(|_| a.next_u64() == b.next_u64()));
        assert_ne!(
            Random::from_seed(8).next_u64(),
            Random::from_seed(7).next_u64()
        );
    }

    #[test]
    fn both_ends_of_a_range_are_reached_and_never_passed() {
        let mut random = Random::from_seed(1);
        let drawn: Vec<i64> = (0..500).map(|_| random.between(-2, 2)).collect();
        assert_eq!(drawn.iter().min(), Some(&-2));
        assert_eq!(drawn.iter().max(), Some(&2));
        assert_eq!(random.between(5, 5), 5);
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let mut random = Random::from_seed(1);
        let drawn: Vec<i64> = (0..50)
            .map(|_| random.between(i64::MIN, i64::MAX))
            .collect();
        assert!(drawn.iter().any(|n| *n < 0) && drawn.iter().any(|n| *n > 0));
    }

    #[test]
    fn unit_stays_below_one() {
        let mut random = Random::from_seed(3);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}
