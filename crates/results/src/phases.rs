//! The parts of a sample's elapsed time.

use serde::{Deserialize, Serialize};

use crate::sample::Sample;

/// The durations of the phases before the response body, in microseconds, or their sums. A phase is 0 if its duration is
/// unknown or it did not happen, as connecting on a reused connection. The body takes the rest of the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 4]", into = "[u64; 4]")]
pub struct Phases {
    /// Looking up the host's address.
    pub resolve_us: u64,
    /// From there to the TCP connection, including a proxy's answer.
    pub connect_us: u64,
    /// The TLS handshake.
    pub handshake_us: u64,
    /// From the connection to the first byte of the response.
    pub wait_us: u64,
}

impl Phases {
    /// The phases of a sample. If only JMeter's times in whole milliseconds are known, all time before the request counts
    /// as connecting.
    pub fn of(sample: &Sample) -> Phases {
        if sample.phases != Phases::default() {
            return sample.phases;
        }
        Phases {
            connect_us: us(sample.connect_ms),
            wait_us: us(sample.latency_ms - sample.connect_ms),
            ..Phases::default()
        }
    }

    /// Adds the phases of another sample.
    pub fn add(&mut self, other: Phases) {
        self.resolve_us = self.resolve_us.saturating_add(other.resolve_us);
        self.connect_us = self.connect_us.saturating_add(other.connect_us);
        self.handshake_us = self.handshake_us.saturating_add(other.handshake_us);
        self.wait_us = self.wait_us.saturating_add(other.wait_us);
    }

    /// The mean durations of name lookup, TCP, TLS, first byte and body, in milliseconds, over `samples` samples that took
    /// `service_us` in all.
    pub fn means_ms(self, service_us: f64, samples: u64) -> [f64; 5] {
        let [resolve, connect, handshake, wait] = <[u64; 4]>::from(self).map(|us| us as f64);
        let body = (service_us - resolve - connect - handshake - wait).max(0.0);
        [resolve, connect, handshake, wait, body].map(|us| us / 1000.0 / samples.max(1) as f64)
    }
}

fn us(ms: i64) -> u64 {
    ms.max(0) as u64 * 1000
}

impl From<[u64; 4]> for Phases {
    fn from([resolve_us, connect_us, handshake_us, wait_us]: [u64; 4]) -> Phases {
        Phases {
            resolve_us,
            connect_us,
            handshake_us,
            wait_us,
        }
    }
}

impl From<Phases> for [u64; 4] {
    fn from(phases: Phases) -> [u64; 4] {
        [
            phases.resolve_us,
            phases.connect_us,
            phases.handshake_us,
            phases.wait_us,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_what_the_other_parts_leave() {
        let mut sum = Phases::from([1_000, 2_000, 3_000, 10_000]);
        sum.add(Phases::from([0, 0, 0, 4_000]));
        assert_eq!(sum.means_ms(30_000.0, 2), [0.5, 1.0, 1.5, 7.0, 5.0]);
        assert_eq!(Phases::default().means_ms(0.0, 0), [0.0; 5]);
    }

    #[test]
    fn a_row_of_a_result_file_knows_two_parts() {
        let mut sample = Sample {
            connect_ms: 3,
            latency_ms: 10,
            ..Sample::default()
        };
        assert_eq!(Phases::of(&sample), Phases::from([0, 3_000, 0, 7_000]));
        sample.phases = Phases::from([5, 6, 7, 8]);
        assert_eq!(Phases::of(&sample), sample.phases);
    }
}
