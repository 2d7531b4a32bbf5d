//! When to stop caching.

/// Stop replacing a value after this many misses, net of hits.
const MOST: u8 = 4;

/// Misses minus hits of one cached value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Misses(u8);

impl Misses {
    pub fn count_hit(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }

    pub fn count_miss(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// Whether a new value is worth keeping.
    pub fn are_few(self) -> bool {
        self.0 < MOST
    }
}
