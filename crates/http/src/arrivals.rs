//! When bytes reached this machine, by the kernel's stamps.

use std::time::{Duration, Instant, SystemTime};

/// The kernel stamps by the wall clock. After this time, the difference to the program's clock is looked up again.
const SAME_CLOCK: Duration = Duration::from_secs(1);

/// The arrivals that the reads of a worker see.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// When the kernel received the last byte of the latest read; `None` if it does not say.
    pub last: Option<Instant>,
    /// The same moment on the program's clock and on the wall clock, since the Unix epoch.
    anchor: Option<(Instant, Duration)>,
}

impl Arrivals {
    /// Notes the stamp of a read, since the Unix epoch.
    pub fn note(&mut self, stamp: Option<Duration>) {
        self.last = stamp.and_then(|stamp| self.moment(stamp));
    }

    /// A time of the wall clock on the program's clock. After the wall clock was set, times within [`SAME_CLOCK`] are wrong;
    /// [`crate::Times::own`] leaves out those that cannot be.
    fn moment(&mut self, stamp: Duration) -> Option<Instant> {
        let near = |(_, wall): &(Instant, Duration)| stamp.abs_diff(*wall) < SAME_CLOCK;
        let (moment, wall) = match self.anchor.filter(near) {
            Some(anchor) => anchor,
            None => {
                let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                *self.anchor.insert((Instant::now(), wall.ok()?))
            }
        };
        match stamp.checked_sub(wall) {
            Some(later) => moment.checked_add(later),
            None => moment.checked_sub(wall - stamp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_becomes_a_moment_of_the_programs_clock() {
        let mut arrivals = Arrivals::default();
        let wall = || {
            let now = SystemTime::now();
            now.duration_since(SystemTime::UNIX_EPOCH)
                .expect("a clock after 1970")
        };
        for ago_ms in [0, 30, 2_500] {
            let (before, stamp) = (Instant::now(), wall());
            let ago = Duration::from_millis(ago_ms);
            arrivals.note(Some(stamp - ago));
            let error = arrivals.last.expect("a moment").abs_diff(before - ago);
            assert!(error < Duration::from_millis(20), "{error:?}");
        }
        arrivals.note(None);
        assert_eq!(arrivals.last, None);
    }

    trait AbsDiff {
        fn abs_diff(self, other: Self) -> Duration;
    }

    impl AbsDiff for Instant {
        fn abs_diff(self, other: Instant) -> Duration {
            self.saturating_duration_since(other) + other.saturating_duration_since(self)
        }
    }
}
