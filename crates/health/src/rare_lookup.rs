//! Caches numbers that the system may take long to provide.

use std::time::{Duration, Instant};

/// After each lookup, wait this many times its duration before the next. With a hundred thousand sockets, a lookup takes a good
/// part of a second of one core, and the measurement would suffer.
const PAUSE: u32 = 200;

/// A number that is looked up less often the longer a lookup takes.
#[derive(Debug, Default)]
pub struct RareLookup {
    value: u64,
    /// The time of the next lookup, since the start of the run.
    again: Duration,
}

impl RareLookup {
    /// The number at `elapsed` since the start of the run, possibly from the cache.
    pub fn at(&mut self, elapsed: Duration, look: impl FnOnce() -> u64) -> u64 {
        if elapsed >= self.again {
            let begin = Instant::now();
            self.value = look();
            self.again = elapsed + begin.elapsed() * PAUSE;
        }
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_lookups_are_made_less_often() {
        let long = Duration::from_millis(20);
        let second = Duration::from_secs(1);
        let mut number = RareLookup::default();
        let slow = |value| {
            move || {
                std::thread::sleep(long);
                value
            }
        };
        assert_eq!(number.at(second, slow(1)), 1);
        assert_eq!(number.at(4 * second, slow(2)), 1);
        assert_eq!(number.at(3600 * second, slow(3)), 3);
    }

    #[test]
    fn instant_lookups_are_made_each_time() {
        let mut number = RareLookup::default();
        // An hour apart: no machine pauses for that long.
        for hour in 0..3 {
            assert_eq!(number.at(Duration::from_hours(hour), || hour), hour);
        }
    }
}
