//! The run's clock: wall time anchored once, then advanced by the monotonic clock, as `SampleResult` does with
//! `sampleresult.useNanoTime`: a sample's times never jump with the system's.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    anchor: Instant,
    anchor_ns: u64,
}

impl Clock {
    /// Reads the system's time once; from then on only the monotonic clock advances it.
    pub fn start() -> Clock {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Clock {
            anchor: Instant::now(),
            anchor_ns: since_epoch.as_nanos() as u64,
        }
    }

    /// Starts a clock that runs `offset_ns` ahead of the system's time, so that it agrees with another machine's clock.
    pub fn start_ahead(offset_ns: i64) -> Clock {
        let mut clock = Clock::start();
        clock.anchor_ns = clock.anchor_ns.saturating_add_signed(offset_ns);
        clock
    }

    /// When the clock was started, in milliseconds since the epoch: for a run's clock, the start of the run.
    pub fn start_ms(&self) -> i64 {
        (self.anchor_ns / 1_000_000) as i64
    }

    /// Nanoseconds since the epoch.
    pub fn now_ns(&self) -> u64 {
        self.ns(Instant::now())
    }

    /// Milliseconds since the epoch, rounded down.
    pub fn now_ms(&self) -> i64 {
        (self.now_ns() / 1_000_000) as i64
    }

    /// Nanoseconds since the epoch of an instant of this run.
    pub fn ns(&self, at: Instant) -> u64 {
        match at.checked_duration_since(self.anchor) {
            Some(after) => self.anchor_ns + after.as_nanos() as u64,
            None => self.anchor_ns - (self.anchor - at).as_nanos() as u64,
        }
    }

    /// Milliseconds since the epoch of an instant of this run, rounded down.
    pub fn ms(&self, at: Instant) -> i64 {
        (self.ns(at) / 1_000_000) as i64
    }

    /// The instant of a time in milliseconds since the epoch.
    pub fn instant(&self, ms: i64) -> Instant {
        self.instant_ns((ms.max(0) as u64).saturating_mul(1_000_000))
    }

    /// The instant of a time in nanoseconds since the epoch.
    pub fn instant_ns(&self, ns: u64) -> Instant {
        if ns >= self.anchor_ns {
            self.anchor + Duration::from_nanos(ns - self.anchor_ns)
        } else {
            self.anchor
                .checked_sub(Duration::from_nanos(self.anchor_ns - ns))
                .unwrap_or(self.anchor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_and_instants_agree_within_one() {
        let clock = Clock::start();
        let now_ms = clock.now_ms();
        let round_trip_ms = clock.ms(clock.instant(now_ms + 1_500));
        assert_eq!(round_trip_ms, now_ms + 1_500);
    }

    #[test]
    fn an_instant_before_the_anchor_is_earlier() {
        let before = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        let clock = Clock::start();
        assert!(clock.ns(before) < clock.now_ns());
    }
}
