//! The numbers of streamed responses, for programs, pages and people.

use drumfire_platform::words::{count, ms};
use drumfire_results::{Histogram, LabelStatistics, Recording, StreamStatistics, suffices_for};
use serde::Serialize;

/// How many labels have a line of their own.
const MOST_LINES: usize = 10;

/// The streamed responses of a label. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamNumbers {
    /// Events that arrived.
    pub events: u64,
    /// Tokens that they brought, as far as the streams tell.
    pub tokens: u64,
    /// Times to the first event.
    pub first_event: Option<StreamTimes>,
    /// Times between consecutive events of a response.
    pub gap: Option<StreamTimes>,
}

/// A distribution in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StreamTimes {
    /// How many times.
    pub count: u64,
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl StreamNumbers {
    /// The numbers of a label; `None` if no response was a stream.
    pub fn of(label: &LabelStatistics) -> Option<StreamNumbers> {
        let StreamStatistics {
            events,
            tokens,
            first_event,
            gaps,
        } = label.stream.as_deref()?;
        Some(StreamNumbers {
            events: *events,
            tokens: *tokens,
            first_event: StreamTimes::of(first_event),
            gap: StreamTimes::of(gaps),
        })
    }
}

impl StreamTimes {
    fn of(times: &Histogram) -> Option<StreamTimes> {
        (times.count() > 0).then(|| StreamTimes {
            count: times.count(),
            p50_ms: times.percentile_ms(50.0),
            p95_ms: times.percentile_ms(95.0),
            p99_ms: times.percentile_ms(99.0),
            max_ms: times.max() as f64 / 1000.0,
        })
    }

    /// `p50 101 ms, p95 130 ms, max 141 ms`, without a percentile that too few times give.
    fn line(&self) -> String {
        let percentiles = [(50.0, self.p50_ms), (95.0, self.p95_ms)].into_iter();
        let shown = percentiles
            .filter(|(percent, _)| suffices_for(self.count, *percent))
            .map(|(percent, value)| format!("p{percent} {} ms", ms(value)));
        let longest = format!("max {} ms", ms(self.max_ms));
        shown.chain([longest]).collect::<Vec<_>>().join(", ")
    }
}

/// A sentence for each label with streamed responses.
pub fn stream_lines(recording: &Recording) -> Vec<String> {
    let labels = recording.labels.iter();
    let mut lines: Vec<String> = labels
        .filter_map(|label| Some(line(&label.label, &StreamNumbers::of(label)?)))
        .collect();
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("streams of {more} more labels"));
    }
    lines
}

fn line(label: &str, numbers: &StreamNumbers) -> String {
    let mut line = format!("stream of {label}: {} events", count(numbers.events));
    if numbers.tokens > 0 {
        line.push_str(&format!(", {} tokens", count(numbers.tokens)));
    }
    if let Some(first) = &numbers.first_event {
        line.push_str(&format!("; first event {}", first.line()));
    }
    if let Some(gap) = &numbers.gap {
        line.push_str(&format!("; between events {}", gap.line()));
    }
    line
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Sample, StreamSample};

    use super::*;

    #[test]
    fn each_label_with_streams_has_a_line() {
        let mut recording = Recording::default();
        let mut sample = Sample::new("Home".into(), "t".into());
        sample.set_ok();
        recording.add(&sample);
        assert_eq!(stream_lines(&recording), [""; 0]);
        sample.label = "Chat".into();
        for first_us in 0..200 {
            let mut stream = StreamSample {
                first_event_us: Some(100_000 + first_us * 100),
                events: 2,
                tokens: Some(12),
                ..StreamSample::default()
            };
            stream.gaps.record(20_000);
            sample.stream = Some(Box::new(stream));
            recording.add(&sample);
        }
        let expected = "stream of Chat: 400 events, 2,400 tokens; first event p50 110 ms, p95 119 ms, max 120 ms; \
            between events p50 20.0 ms, p95 20.0 ms, max 20.0 ms";
        assert_eq!(stream_lines(&recording), [expected]);
        let numbers = StreamNumbers::of(&recording.labels[1]).expect("it has streams");
        assert_eq!(numbers.gap.expect("there are gaps").count, 200);
        assert!(StreamNumbers::of(&recording.labels[0]).is_none());
    }
}
