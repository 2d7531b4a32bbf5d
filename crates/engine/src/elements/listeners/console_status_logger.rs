//! Console Status Logger of jmeter-plugins (`kg.apc.jmeter.reporters.ConsoleStatusLogger`): prints a line about the samples since
//! the last line, in each second that has any.
//!
//! It has no properties. A line contains the seconds since the first line, users (running and started), samples, average latency
//! and response time (milliseconds), and failed samples. As in the plugin, the first line comes with the second sample.

use std::sync::{Arc, Mutex, PoisonError};

use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::needs::Needs;
use crate::run::roles::SampleListener;
use crate::run::view::ListenerView;

#[derive(Default)]
struct ConsoleStatusLogger(Mutex<Status>);

/// The samples since the last line.
#[derive(Default)]
struct Status {
    /// The second of the last line; 0 before the first.
    second: i64,
    begin: i64,
    count: i64,
    users: u32,
    response_ms: i64,
    latency_ms: i64,
    errors: u32,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let listener = d.new_listener(Arc::new(ConsoleStatusLogger::default()));
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

impl Status {
    /// `ConsoleStatusLogger#sampleOccurred`: returns the line that is due.
    fn add(&mut self, sample: &Sample, second: i64, started: u64) -> Option<String> {
        let line = (second != self.second && self.count > 0).then(|| {
            if self.second == 0 {
                self.begin = second;
            }
            self.second = second;
            self.take_line(started)
        });
        self.count += 1;
        self.response_ms += sample.elapsed_ms;
        self.latency_ms += sample.latency_ms;
        self.errors += u32::from(!sample.success);
        self.users = sample.all_threads;
        line
    }

    fn take_line(&mut self, started: u64) -> String {
        let line = format!(
            "#{}\tThreads: {}/{started}\tSamples: {}\tLatency: {}\tResp.Time: {}\tErrors: {}",
            self.second - self.begin,
            self.users,
            self.count,
            self.latency_ms / self.count,
            self.response_ms / self.count,
            self.errors
        );
        (self.count, self.response_ms, self.latency_ms, self.errors) = (0, 0, 0, 0);
        line
    }
}

impl SampleListener for ConsoleStatusLogger {
    fn sample_occurred(&self, cx: &mut ListenerView, sample: &mut Sample) {
        let second = cx.clock().now_ms().div_euclid(1000);
        let started = cx.shared().counts.totals().started;
        let mut status = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = status.add(sample, second, started) {
            cx.shared().announce(line);
        }
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(elapsed_ms: i64, latency_ms: i64, success: bool) -> Sample {
        Sample {
            elapsed_ms,
            latency_ms,
            success,
            all_threads: 3,
            ..Sample::default()
        }
    }

    #[test]
    fn a_line_tells_of_the_samples_before_it() {
        // As jmeter-plugins-standard 1.4.0 has it.
        let mut status = Status::default();
        assert_eq!(status.add(&sample(10, 4, true), 100, 3), None);
        assert_eq!(
            status.add(&sample(20, 8, false), 100, 3).as_deref(),
            Some("#0\tThreads: 3/3\tSamples: 1\tLatency: 4\tResp.Time: 10\tErrors: 0")
        );
        assert_eq!(status.add(&sample(25, 9, true), 100, 3), None);
        assert_eq!(
            status.add(&sample(1, 1, true), 103, 4).as_deref(),
            Some("#3\tThreads: 3/4\tSamples: 2\tLatency: 8\tResp.Time: 22\tErrors: 1")
        );
    }
}
