//! Measures the offset of an agent's clock from the coordinator's, with an error bound.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The number of probes in one measurement.
pub const PROBES: usize = 16;
/// The pause between measurements.
pub const PAUSE: Duration = Duration::from_secs(10);

/// A request for the time and its answer, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When the request was sent, by the agent's clock.
    pub asked_ns: i64,
    /// The coordinator's time in the answer.
    pub answer_ns: i64,
    /// When the answer arrived, by the agent's clock.
    pub came_ns: i64,
}

/// How far the agent's clock is behind the coordinator's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    pub offset_ns: i64,
    /// The largest possible error of the offset.
    pub bound_ns: u64,
}

impl Probe {
    fn round_trip_ns(&self) -> i64 {
        (self.came_ns - self.asked_ns).max(0)
    }

    fn offset(&self) -> Offset {
        let half_ns = self.round_trip_ns() / 2;
        Offset {
            offset_ns: self.answer_ns - (self.asked_ns + half_ns),
            bound_ns: half_ns as u64 + 1,
        }
    }
}

/// The offset from the probe with the shortest round trip; the other probes were delayed somewhere.
pub fn best(probes: &[Probe]) -> Option<Offset> {
    let quickest = probes.iter().min_by_key(|probe| probe.round_trip_ns())?;
    Some(quickest.offset())
}

/// Nanoseconds since the Unix epoch, by the system's clock.
pub fn system_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map(|since| since.as_nanos() as i64).unwrap_or(0)
}

/// Milliseconds since the Unix epoch, by the system's clock.
pub fn system_ms() -> i64 {
    system_ns() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe with these delays each way, to a clock that is ahead by `ahead_ns`.
    fn probe(asked_ns: i64, there_ns: i64, back_ns: i64, ahead_ns: i64) -> Probe {
        Probe {
            asked_ns,
            answer_ns: asked_ns + there_ns + ahead_ns,
            came_ns: asked_ns + there_ns + back_ns,
        }
    }

    #[test]
    fn the_offset_is_within_its_bound_however_the_way_is_divided() {
        for ahead_ns in [-5_000_000_000, 0, 123_456_789] {
            for (there_ns, back_ns) in [(100, 900), (500, 500), (900, 100), (0, 0)] {
                let probes = [
                    probe(10, 50_000, 9_000, ahead_ns),
                    probe(1_000_000, there_ns, back_ns, ahead_ns),
                ];
                let offset = best(&probes).expect("there are two");
                let error_ns = (offset.offset_ns - ahead_ns).unsigned_abs();
                assert!(error_ns <= offset.bound_ns && offset.bound_ns <= 501);
            }
        }
        assert_eq!(best(&[]), None);
    }
}
