//! The elapsed time of a sample, split by what it was spent on.

use serde::{Deserialize, Serialize};

use crate::phases::Phases;
use crate::sample::Sample;

/// The parts of an elapsed time in microseconds, or their sums. They add up to the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "[u64; 6]", into = "[u64; 6]")]
pub struct TimeParts {
    /// In the generator itself: the request waited to be sent, or the response to be read. 0 if the kernel's stamps do not tell.
    pub generator_us: u64,
    /// Looking up the host's address, and opening the TCP connection.
    pub connect_us: u64,
    /// The TLS handshake.
    pub handshake_us: u64,
    /// The server's own time, as far as it named one in `Server-Timing`.
    pub server_us: u64,
    /// The rest of the wait for the first byte: the network, or network and server if the server named no time.
    pub wait_us: u64,
    /// From the first byte to the last, and redirects or embedded resources, as far as they are in no other part.
    pub transfer_us: u64,
}

impl TimeParts {
    /// The parts of a sample's elapsed time; `server_us` is the time that its server named.
    pub fn of(sample: &Sample, server_us: Option<u64>) -> TimeParts {
        let phases = Phases::of(sample);
        let mut left = sample.precise_service_us();
        let mut take = |us: u64| {
            let part = us.min(left);
            left -= part;
            part
        };
        let connect_us = take(phases.resolve_us.saturating_add(phases.connect_us));
        let handshake_us = take(phases.handshake_us);
        let wait_us = take(phases.wait_us);
        // A short response arrives as one piece, so what it waited to be read belongs to the wait except for a few microseconds.
        let own_us = sample.own_us.unwrap_or(0).min(left + wait_us);
        let own_wait_us = own_us.saturating_sub(left);
        let transfer_us = left - (own_us - own_wait_us);
        let wait_us = wait_us - own_wait_us;
        let server_us = server_us.unwrap_or(0).min(wait_us);
        TimeParts {
            generator_us: own_us,
            connect_us,
            handshake_us,
            server_us,
            wait_us: wait_us - server_us,
            transfer_us,
        }
    }

    /// Adds the parts of another sample.
    pub fn add(&mut self, other: TimeParts) {
        let (mine, theirs) = (<[u64; 6]>::from(*self), <[u64; 6]>::from(other));
        let sums: [u64; 6] = std::array::from_fn(|at| mine[at].saturating_add(theirs[at]));
        *self = sums.into();
    }

    /// Their sum, which is the elapsed time.
    pub fn total_us(self) -> u64 {
        let parts = <[u64; 6]>::from(self);
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

impl From<[u64; 6]> for TimeParts {
    fn from(parts: [u64; 6]) -> TimeParts {
        let [
            generator_us,
            connect_us,
            handshake_us,
            server_us,
            wait_us,
            transfer_us,
        ] = parts;
        TimeParts {
            generator_us,
            connect_us,
            handshake_us,
            server_us,
            wait_us,
            transfer_us,
        }
    }
}

impl From<TimeParts> for [u64; 6] {
    fn from(parts: TimeParts) -> [u64; 6] {
        [
            parts.generator_us,
            parts.connect_us,
            parts.handshake_us,
            parts.server_us,
            parts.wait_us,
            parts.transfer_us,
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(service_us: u64, phases: [u64; 4], own_us: Option<u64>) -> Sample {
        Sample {
            service_us,
            own_us,
            phases: phases.into(),
            ..Sample::default()
        }
    }

    #[test]
    fn the_wait_is_split_by_what_the_server_names() {
        let slow = sample(20_000, [100, 900, 2_000, 15_000], Some(500));
        assert_eq!(
            TimeParts::of(&slow, None),
            [500, 1_000, 2_000, 0, 15_000, 1_500].into()
        );
        assert_eq!(
            TimeParts::of(&slow, Some(12_000)),
            [500, 1_000, 2_000, 12_000, 3_000, 1_500].into()
        );
    }

    #[test]
    fn what_a_short_response_waits_to_be_read_is_taken_from_the_wait() {
        let short = sample(10_000, [0, 0, 0, 9_990], Some(4_000));
        assert_eq!(
            TimeParts::of(&short, Some(9_000)),
            [4_000, 0, 0, 6_000, 0, 0].into()
        );
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_elapsed_time(
            service_us in 1u64..1_000_000,
            phases in prop::array::uniform4(0u64..500_000),
            own_us in prop::option::of(0u64..1_000_000),
            server_us in prop::option::of(0u64..1_000_000),
        ) {
            let parts = TimeParts::of(&sample(service_us, phases, own_us), server_us);
            prop_assert_eq!(parts.total_us(), service_us);
        }
    }
}
