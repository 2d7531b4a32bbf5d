//! JMeter's `Summariser`: the `summary +` and `summary =` lines, byte for byte.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::properties;
use crate::sample::Sample;

/// A line may be printed up to this many seconds after a boundary of the interval (`Summariser.INTERVAL_WINDOW`).
const INTERVAL_WINDOW_S: i64 = 5;

/// The samples that a summariser has not seen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryDelta {
    count: u64,
    errors: u64,
    sum_ms: i64,
    min_ms: i64,
    max_ms: i64,
}

impl SummaryDelta {
    /// No samples.
    pub const EMPTY: SummaryDelta = SummaryDelta {
        count: 0,
        errors: 0,
        sum_ms: 0,
        min_ms: i64::MAX,
        max_ms: i64::MIN,
    };

    /// Counts a sample (`SummariserRunningSample.addSample`).
    pub fn add(&mut self, sample: &Sample) {
        self.count += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count());
        self.sum_ms += sample.elapsed_ms;
        self.min_ms = self.min_ms.min(sample.elapsed_ms);
        self.max_ms = self.max_ms.max(sample.elapsed_ms);
    }

    /// Adds the samples of `other`.
    pub fn merge(&mut self, other: &SummaryDelta) {
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ms += other.sum_ms;
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Default for SummaryDelta {
    fn default() -> Self {
        SummaryDelta::EMPTY
    }
}

/// The user counts that a `+` line shows (`JMeterContextService.ThreadCounts`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCounts {
    /// Users running now.
    pub active: u64,
    /// Users started so far.
    pub started: u64,
    /// Users ended so far.
    pub finished: u64,
}

/// Settings of all summarisers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummariserSettings {
    /// Seconds between lines (`summariser.interval`).
    pub interval_s: i64,
    /// Write the lines to the log (`summariser.log`).
    pub log: bool,
    /// Write the lines to standard output (`summariser.out`).
    pub out: bool,
    /// Exclude the samples of transaction controllers (`summariser.ignore_transaction_controller_sample_result`).
    pub ignore_transactions: bool,
}

impl Default for SummariserSettings {
    fn default() -> Self {
        SummariserSettings {
            interval_s: 30,
            log: true,
            out: true,
            ignore_transactions: true,
        }
    }
}

impl SummariserSettings {
    /// Reads the settings from properties; an unreadable value gives the default (`JMeterUtils.getPropDefault`).
    pub fn from_properties(lookup: &dyn Fn(&str) -> Option<String>) -> SummariserSettings {
        let defaults = SummariserSettings::default();
        let flag = |name, default| properties::flag(lookup, name, default);
        let interval = lookup("summariser.interval").and_then(|text| text.trim().parse().ok());
        SummariserSettings {
            interval_s: interval.unwrap_or(defaults.interval_s),
            log: flag("summariser.log", defaults.log),
            out: flag("summariser.out", defaults.out),
            ignore_transactions: flag(
                "summariser.ignore_transaction_controller_sample_result",
                defaults.ignore_transactions,
            ),
        }
    }
}

/// Accumulates samples and prints summary lines. It has no clock: each tick passes it the time and the samples since
/// the last tick. JMeter checks at every sample, so frequent ticks come closer to its behaviour.
#[derive(Clone, Debug)]
pub struct Summariser {
    name: String,
    interval_s: i64,
    last_report_s: i64,
    delta: SummarySpan,
    total: SummarySpan,
}

impl Summariser {
    /// A summariser of a test that starts at `now_ms`, in milliseconds since the Unix epoch.
    pub fn new(name: impl Into<String>, interval_s: i64, now_ms: i64) -> Summariser {
        Summariser {
            name: name.into(),
            interval_s: interval_s.max(1),
            last_report_s: 0,
            delta: SummarySpan::new(now_ms),
            total: SummarySpan::new(now_ms),
        }
    }

    /// Adds the samples since the last tick and calls `print` with the lines that are due. Lines appear only with new
    /// samples and near a boundary of the interval, so that tests with different starts report together
    /// (`Summariser.sampleOccurred`).
    pub fn tick(
        &mut self,
        now_ms: i64,
        samples: &SummaryDelta,
        threads: ThreadCounts,
        mut print: impl FnMut(&str),
    ) {
        if samples.is_empty() {
            return;
        }
        self.delta.add(samples, now_ms);
        let now_s = now_ms.div_euclid(1000);
        let in_window = now_s.rem_euclid(self.interval_s) <= INTERVAL_WINDOW_S;
        if now_s > self.last_report_s + INTERVAL_WINDOW_S && in_window {
            print(&format_line(&self.name, &self.delta, Some(threads)));
            let first = self.total.samples.is_empty();
            self.move_delta(now_ms);
            self.last_report_s = now_s;
            if !first {
                print(&format_line(&self.name, &self.total, None));
            }
        }
    }

    /// Ends the test: calls `print` with the last difference, if there is one and a line was printed before, and with
    /// the total (`Summariser.testEnded`).
    pub fn finish(
        mut self,
        now_ms: i64,
        samples: &SummaryDelta,
        threads: ThreadCounts,
        mut print: impl FnMut(&str),
    ) {
        if !samples.is_empty() {
            self.delta.add(samples, now_ms);
        }
        self.delta.end_ms = now_ms;
        if !self.delta.samples.is_empty() && !self.total.samples.is_empty() {
            print(&format_line(&self.name, &self.delta, Some(threads)));
        }
        self.move_delta(now_ms);
        print(&format_line(&self.name, &self.total, None));
    }

    fn move_delta(&mut self, now_ms: i64) {
        let delta = std::mem::replace(&mut self.delta, SummarySpan::new(now_ms));
        self.total.add(&delta.samples, now_ms);
    }
}

/// `SummariserRunningSample`: samples and the time that they cover.
#[derive(Clone, Debug)]
struct SummarySpan {
    samples: SummaryDelta,
    start_ms: i64,
    end_ms: i64,
}

impl SummarySpan {
    fn new(now_ms: i64) -> SummarySpan {
        SummarySpan {
            samples: SummaryDelta::EMPTY,
            start_ms: now_ms,
            end_ms: now_ms,
        }
    }

    fn add(&mut self, samples: &SummaryDelta, now_ms: i64) {
        self.samples.merge(samples);
        self.end_ms = now_ms;
    }
}

/// Formats a line (`Summariser.format`); thread counts make it a `+` line.
fn format_line(name: &str, span: &SummarySpan, threads: Option<ThreadCounts>) -> String {
    let samples = &span.samples;
    let elapsed_ms = if samples.is_empty() {
        0
    } else {
        span.end_ms - span.start_ms
    };
    let elapsed_s = (elapsed_ms + 500) / 1000;
    let sign = if threads.is_some() { '+' } else { '=' };
    let (hours, minutes, seconds) = (elapsed_s / 3600, elapsed_s % 3600 / 60, elapsed_s % 60);
    let mut line = format!(
        "{name} {sign} {:>6} in {hours:02}:{minutes:02}:{seconds:02} = ",
        samples.count
    );
    if elapsed_ms > 0 {
        let rate = samples.count as f64 / elapsed_ms as f64 * 1000.0;
        append(&mut line, format_args!("{rate:>6.1}"));
    } else {
        line.push_str("******");
    }
    let count = samples.count as f64;
    let average_ms = if samples.is_empty() {
        0
    } else {
        samples.sum_ms / samples.count as i64
    };
    let errors_percent = if samples.is_empty() {
        0.0
    } else {
        samples.errors as f64 / count * 100.0
    };
    append(
        &mut line,
        format_args!(
            "/s Avg: {average_ms:>5} Min: {:>5} Max: {:>5} Err: {:>5} ({errors_percent:.2}%)",
            samples.min_ms, samples.max_ms, samples.errors
        ),
    );
    if let Some(threads) = threads {
        append(
            &mut line,
            format_args!(
                " Active: {} Started: {} Finished: {}",
                threads.active, threads.started, threads.finished
            ),
        );
    }
    line
}

fn append(line: &mut String, text: std::fmt::Arguments<'_>) {
    line.write_fmt(text)
        .expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment on a boundary of 30 seconds, in milliseconds.
    const BOUNDARY_MS: i64 = 1_700_000_010_000;
    const THREADS: ThreadCounts = ThreadCounts {
        active: 3,
        started: 5,
        finished: 2,
    };

    fn samples(elapsed_ms: &[i64], errors: usize) -> SummaryDelta {
        let mut delta = SummaryDelta::EMPTY;
        for (number, &elapsed_ms) in elapsed_ms.iter().enumerate() {
            let mut sample = Sample::new("a".into(), "t".into());
            sample.elapsed_ms = elapsed_ms;
            sample.success = number >= errors;
            delta.add(&sample);
        }
        delta
    }

    fn tick(summariser: &mut Summariser, now_ms: i64, delta: &SummaryDelta) -> Vec<String> {
        let mut lines = Vec::new();
        summariser.tick(now_ms, delta, THREADS, |line| lines.push(line.to_owned()));
        lines
    }

    fn finish(summariser: Summariser, now_ms: i64, delta: &SummaryDelta) -> Vec<String> {
        let mut lines = Vec::new();
        summariser.finish(now_ms, delta, THREADS, |line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_read_as_jmeters() {
        // Lines of JMeter 5.6.3's Summariser.format for these numbers:
        // count, errors, sum, min, max, elapsed, all in milliseconds.
        let golden = [
            (
                (1, 0, 5, 5, 5, 0),
                "summary =      1 in 00:00:00 = ******/s Avg:     5 Min:     5 Max:     5 Err:     0 (0.00%)",
            ),
            (
                (1, 0, 12, 12, 12, 499),
                "summary =      1 in 00:00:00 =    2.0/s Avg:    12 Min:    12 Max:    12 Err:     0 (0.00%)",
            ),
            (
                (1_234_567, 3, 99_999_999, 1, 65_000, 36_000_500),
                "summary = 1234567 in 10:00:01 =   34.3/s Avg:    81 Min:     1 Max: 65000 Err:     3 (0.00%)",
            ),
            (
                (3, 1, 10, 2, 5, 7),
                "summary =      3 in 00:00:00 =  428.6/s Avg:     3 Min:     2 Max:     5 Err:     1 (33.33%)",
            ),
            (
                (200, 1, 4_000, 1, 100, 29_999),
                "summary =    200 in 00:00:30 =    6.7/s Avg:    20 Min:     1 Max:   100 Err:     1 (0.50%)",
            ),
            (
                (8, 1, -17, -9, 4, 160_000),
                "summary =      8 in 00:02:40 =    0.1/s Avg:    -2 Min:    -9 Max:     4 Err:     1 (12.50%)",
            ),
            (
                (1, 1, 0, 0, 0, 1_500),
                "summary =      1 in 00:00:02 =    0.7/s Avg:     0 Min:     0 Max:     0 Err:     1 (100.00%)",
            ),
            (
                (25, 0, 5, 0, 1, 1_000),
                "summary =     25 in 00:00:01 =   25.0/s Avg:     0 Min:     0 Max:     1 Err:     0 (0.00%)",
            ),
            (
                (1_000_000, 5, 1, 0, 1, 90_061_000),
                "summary = 1000000 in 25:01:01 =   11.1/s Avg:     0 Min:     0 Max:     1 Err:     5 (0.00%)",
            ),
        ];
        for ((count, errors, sum_ms, min_ms, max_ms, elapsed_ms), line) in golden {
            let samples = SummaryDelta {
                count,
                errors,
                sum_ms,
                min_ms,
                max_ms,
            };
            let span = SummarySpan {
                samples,
                start_ms: 0,
                end_ms: elapsed_ms,
            };
            assert_eq!(format_line("summary", &span, None), line);
            let with_threads = format_line("summary", &span, Some(THREADS));
            let expected = line
                .replace(" = ", " @ ")
                .replacen(" @ ", " + ", 1)
                .replace(" @ ", " = ");
            assert_eq!(
                with_threads,
                format!("{expected} Active: 3 Started: 5 Finished: 2")
            );
        }
    }

    #[test]
    fn a_test_without_samples_shows_javas_extremes() {
        let summariser = Summariser::new("summary", 30, BOUNDARY_MS);
        assert_eq!(
            finish(summariser, BOUNDARY_MS + 5_000, &SummaryDelta::EMPTY),
            [
                "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 \
              Max: -9223372036854775808 Err:     0 (0.00%)"
            ]
        );
    }

    #[test]
    fn a_short_test_has_only_its_total() {
        let mut summariser = Summariser::new("summary", 30, BOUNDARY_MS + 7_000);
        assert!(tick(&mut summariser, BOUNDARY_MS + 8_000, &samples(&[10, 20], 1)).is_empty());
        assert_eq!(
            finish(summariser, BOUNDARY_MS + 9_000, &samples(&[30], 0)),
            [
                "summary =      3 in 00:00:02 =    1.5/s Avg:    20 Min:    10 Max:    30 Err:     1 (33.33%)"
            ]
        );
    }

    #[test]
    fn lines_come_in_the_window_after_a_boundary_and_once() {
        let mut summariser = Summariser::new("s", 30, BOUNDARY_MS + 10_000);
        let some = samples(&[1], 0);
        for seconds in [11, 20, 29] {
            assert!(tick(&mut summariser, BOUNDARY_MS + seconds * 1_000, &some).is_empty());
        }
        // The first line has no total beside it, since both would be equal.
        let first = tick(&mut summariser, BOUNDARY_MS + 30_000, &some);
        assert_eq!(first.len(), 1);
        assert!(
            first[0].starts_with("s +      4 in 00:00:20 ="),
            "{first:?}"
        );
        // Five seconds are within the window, but a line was just printed.
        assert!(tick(&mut summariser, BOUNDARY_MS + 35_000, &some).is_empty());
        // Late in the next boundary's window, the line comes with the total.
        let next = tick(&mut summariser, BOUNDARY_MS + 65_999, &some);
        assert!(
            next[0].starts_with("s +      2 in 00:00:36 =")
                && next[1].starts_with("s =      6 in 00:00:56 ="),
            "{next:?}"
        );
        // No line comes after the window, nor without samples.
        assert!(tick(&mut summariser, BOUNDARY_MS + 96_000, &some).is_empty());
        assert!(tick(&mut summariser, BOUNDARY_MS + 120_000, &SummaryDelta::EMPTY).is_empty());
        let last = finish(summariser, BOUNDARY_MS + 121_000, &SummaryDelta::EMPTY);
        assert!(
            last[0].starts_with("s +      1 in ") && last[1].starts_with("s =      7 in 00:01:51"),
            "{last:?}"
        );
    }

    #[test]
    fn settings_come_from_properties() {
        let read = |name: &str| match name {
            "summariser.interval" => Some(" 6 ".to_owned()),
            "summariser.out" => Some("false".to_owned()),
            "summariser.log" => Some("nonsense".to_owned()),
            _ => None,
        };
        let settings = SummariserSettings::from_properties(&read);
        assert_eq!(
            settings,
            SummariserSettings {
                interval_s: 6,
                log: true,
                out: false,
                ignore_transactions: true
            }
        );
        assert_eq!(
            SummariserSettings::from_properties(&|_| None),
            SummariserSettings::default()
        );
    }
}
