//! Measures how samples spend their time in the generator. Only one sample in many is timed; the others pay for a countdown.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use drumfire_health::{Stage, StageTimes};
use drumfire_http::Times;

/// One sample in this many is timed. It is a prime, so that it does not pick the same sampler in every iteration.
const ONE_IN: u32 = 61;

/// The times of one worker's samples.
#[derive(Default)]
pub struct Stages {
    /// Samples until the next one that is timed.
    left: Cell<u32>,
    times: RefCell<StageTimes>,
}

impl Stages {
    /// Begins a sample. Returns the start of its first stage, if the sample is timed.
    pub fn begin(&self) -> Option<Instant> {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            return None;
        }
        self.left.set(ONE_IN - 1);
        self.times.borrow_mut().samples += 1;
        Some(Instant::now())
    }

    /// Ends a stage that began at `since`, and begins the next one.
    pub fn lap(&self, since: &mut Option<Instant>, stage: Stage) {
        if let Some(since) = since {
            let now = Instant::now();
            self.add(stage, now.saturating_duration_since(*since));
            *since = now;
        }
    }

    /// Begins the next stage. The time since the last one belongs to no stage.
    pub fn skip(&self, since: &mut Option<Instant>) {
        if let Some(since) = since {
            *since = Instant::now();
        }
    }

    /// Adds the parts of an exchange of a sample that is timed; `last` is the part in which it ended. On a connection
    /// without TLS there is no handshake.
    pub fn add_exchange(&self, times: &Times, secure: bool, last: Stage) {
        let handshake = if secure {
            Stage::Handshake
        } else {
            Stage::Connect
        };
        // From then on, it is this program that keeps the response waiting.
        let arrived = times.arrivals.map(|(first, _)| first);
        let mut since = times.begin;
        let parts = [
            (Stage::Resolve, times.resolved),
            (Stage::Connect, times.tcp_connected),
            (handshake, times.connected),
            (Stage::Write, times.sent),
            (Stage::Wait, arrived.or(times.first_byte)),
            (last, Some(times.end)),
        ];
        for (stage, end) in parts {
            // On a reused connection the first three are missing.
            if let Some(end) = end {
                self.add(stage, end.saturating_duration_since(since));
                since = since.max(end);
            }
        }
    }

    fn add(&self, stage: Stage, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.times.borrow_mut().add(stage, ns);
    }
}

/// The times of all workers that have ended.
#[derive(Default)]
pub struct StageSums(Mutex<StageTimes>);

impl StageSums {
    /// Adds the times of a worker.
    pub fn add(&self, stages: &Stages) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.merge(&stages.times.borrow());
    }

    pub fn sum(&self) -> StageTimes {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_in_many_is_timed() {
        let stages = Stages::default();
        let timed = (0..ONE_IN * 3).filter(|_| stages.begin().is_some());
        assert_eq!(timed.count(), 3);
        let mut since = None;
        stages.lap(&mut since, Stage::Extract);
        let sums = StageSums::default();
        sums.add(&stages);
        assert_eq!(
            (sums.sum().samples, sums.sum().mean_us(Stage::Extract)),
            (3, 0.0)
        );
    }

    #[test]
    fn the_parts_of_an_exchange_follow_each_other() {
        let begin = Instant::now();
        let at = |us| Some(begin + Duration::from_micros(us));
        let fresh = Times {
            begin,
            resolved: at(100),
            tcp_connected: at(300),
            connected: at(700),
            sent: at(710),
            arrivals: None,
            first_byte: at(5710),
            first_body: at(5710),
            end: begin + Duration::from_micros(5720),
        };
        let mean = |times: &Times, secure, last| {
            let stages = Stages::default();
            stages.begin();
            stages.add_exchange(times, secure, last);
            let sums = StageSums::default();
            sums.add(&stages);
            Stage::EXCHANGE.map(|stage| sums.sum().mean_us(stage))
        };
        assert_eq!(
            mean(&fresh, true, Stage::Read),
            [100.0, 200.0, 400.0, 10.0, 5000.0, 10.0]
        );
        let kept = Times {
            resolved: None,
            tcp_connected: None,
            connected: None,
            ..fresh
        };
        assert_eq!(
            mean(&kept, true, Stage::Read),
            [0.0, 0.0, 0.0, 710.0, 5000.0, 10.0]
        );
        assert_eq!(
            mean(&fresh, false, Stage::Read),
            [100.0, 600.0, 0.0, 10.0, 5000.0, 10.0]
        );
        let refused = Times {
            resolved: at(100),
            tcp_connected: None,
            connected: None,
            sent: None,
            first_byte: None,
            first_body: None,
            end: begin + Duration::from_micros(400),
            ..fresh
        };
        assert_eq!(
            mean(&refused, false, Stage::Connect),
            [100.0, 300.0, 0.0, 0.0, 0.0, 0.0]
        );
    }
}
