//! JMeter's `InfluxDBRawBackendListenerClient`: a line of InfluxDB's protocol for each sample.

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_results::SampleQueue;

use crate::encoder::{Encoder, Interval};
use crate::influx::tag;

/// The lines of a batch. InfluxDB works best with 5,000 to 10,000.
const LINES: usize = 5_000;

/// Encodes the samples of one listener.
pub struct InfluxRaw {
    /// The samples of its scope.
    pub samples: SampleQueue,
    /// The measurement, written without escaping.
    pub measurement: String,
}

impl Encoder for InfluxRaw {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn encode(&mut self, _: &Interval) -> Vec<Vec<u8>> {
        let samples: Vec<_> = self.samples.take().into();
        let batch = |samples: &[_]| -> Vec<u8> {
            let mut text = String::new();
            for sample in samples {
                let drumfire_results::HeardSample {
                    label,
                    thread_name,
                    success,
                    elapsed_ms,
                    latency_ms,
                    connect_ms,
                    at_ms,
                    ..
                } = sample;
                let status = if *success { "ok" } else { "ko" };
                let transaction = tag(label.trim_matches(['"', ' ']));
                let thread = thread_name.replace(char::is_whitespace, "");
                let _ = writeln!(
                    text,
                    "{},status={status},transaction={transaction},threadName={thread} duration={elapsed_ms},ttfb={latency_ms},connectTime={connect_ms} {at_ms}000000",
                    self.measurement
                );
            }
            text.into_bytes()
        };
        samples.chunks(LINES).map(batch).collect()
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::HeardSample;

    use super::*;

    // Recorded from JMeter 5.6.3.
    #[test]
    fn a_sample_is_the_line_that_jmeter_sends() {
        let samples = SampleQueue::new(9);
        samples.push(HeardSample {
            label: "bad, one=x".to_owned(),
            thread_name: "TG 1-1".to_owned(),
            success: false,
            elapsed_ms: 28,
            latency_ms: 0,
            connect_ms: 0,
            at_ms: 1_795_383_300_457,
            active_users: 1,
            detail: None,
        });
        let mut raw = InfluxRaw {
            samples,
            measurement: "raw".to_owned(),
        };
        let expected = "raw,status=ko,transaction=bad\\,\\ one\\=x,threadName=TG1-1 duration=28,ttfb=0,connectTime=0 1795383300457000000\n";
        let batches = raw.encode(&Interval::default());
        assert_eq!(batches, [expected.as_bytes()]);
        assert!(raw.encode(&Interval::default()).is_empty());
    }
}
