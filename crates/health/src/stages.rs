//! How the time of samples divides inside the generator.

use serde::{Deserialize, Serialize};

/// A part of the work for one sample, in the order in which it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Pre-processors. Timers belong to no stage.
    Prepare,
    /// Building the request and the result: everything in the sampler that no stage below covers.
    Sampler,
    /// Looking up the host's address.
    Resolve,
    /// Until the TCP connection is established.
    Connect,
    /// The TLS handshake.
    Handshake,
    /// Until the request is written.
    Write,
    /// From the end of the request to the first byte of the response: the time of the target and of the network.
    Wait,
    /// From the first byte of the response to the last.
    Read,
    /// Post-processors: extractors and scripts.
    Extract,
    /// Assertions.
    Assert,
    /// Statistics, result files and other listeners.
    Record,
}

impl Stage {
    /// The stages of an exchange, which are part of the sampler's time.
    pub const EXCHANGE: [Stage; 6] = [
        Stage::Resolve,
        Stage::Connect,
        Stage::Handshake,
        Stage::Write,
        Stage::Wait,
        Stage::Read,
    ];

    /// All stages, in the order of a sample.
    pub const ALL: [Stage; 11] = [
        Stage::Prepare,
        Stage::Sampler,
        Stage::Resolve,
        Stage::Connect,
        Stage::Handshake,
        Stage::Write,
        Stage::Wait,
        Stage::Read,
        Stage::Extract,
        Stage::Assert,
        Stage::Record,
    ];

    /// Its name, in a word.
    pub fn title(self) -> &'static str {
        match self {
            Stage::Prepare => "prepare",
            Stage::Sampler => "sampler",
            Stage::Resolve => "resolve",
            Stage::Connect => "connect",
            Stage::Handshake => "TLS",
            Stage::Write => "write",
            Stage::Wait => "wait",
            Stage::Read => "read",
            Stage::Extract => "extract",
            Stage::Assert => "assert",
            Stage::Record => "record",
        }
    }

    /// Whether the generator works throughout this stage, so that its length is CPU time unless the thread loses its core.
    pub fn is_own_work(self) -> bool {
        matches!(
            self,
            Stage::Prepare | Stage::Sampler | Stage::Extract | Stage::Assert | Stage::Record
        )
    }
}

/// The time spent in each stage, summed over the samples that were timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Samples that were timed.
    pub samples: u64,
    /// In the order of [`Stage::ALL`], in nanoseconds.
    ns: [u64; Stage::ALL.len()],
}

impl StageTimes {
    /// Adds time to a stage.
    pub fn add(&mut self, stage: Stage, ns: u64) {
        let sum = &mut self.ns[stage as usize];
        *sum = sum.saturating_add(ns);
    }

    /// Adds the times of other samples.
    pub fn merge(&mut self, other: &StageTimes) {
        self.samples += other.samples;
        for (sum, ns) in self.ns.iter_mut().zip(other.ns) {
            *sum = sum.saturating_add(ns);
        }
    }

    /// The mean time of a sample in a stage, in microseconds; 0 without samples. The time of exchanges is subtracted from
    /// that of the sampler.
    pub fn mean_us(&self, stage: Stage) -> f64 {
        let of = |stage: Stage| self.ns[stage as usize];
        let inner = Stage::EXCHANGE;
        let ns = match stage {
            Stage::Sampler => of(stage).saturating_sub(inner.map(of).iter().sum()),
            stage => of(stage),
        };
        ns as f64 / 1000.0 / self.samples.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_their_place() {
        for (place, stage) in Stage::ALL.iter().enumerate() {
            assert_eq!(*stage as usize, place);
        }
    }

    #[test]
    fn a_samplers_time_is_less_what_its_exchanges_took() {
        let mut times = StageTimes {
            samples: 2,
            ..StageTimes::default()
        };
        times.add(Stage::Sampler, 100_000);
        times.add(Stage::Wait, 60_000);
        times.add(Stage::Write, 20_000);
        let mut both = times;
        both.merge(&times);
        assert_eq!(both.samples, 4);
        assert_eq!(both.mean_us(Stage::Sampler), 10.0);
        assert_eq!(both.mean_us(Stage::Wait), 30.0);
        assert_eq!(StageTimes::default().mean_us(Stage::Wait), 0.0);
    }
}
