//! Measurements of streamed responses: when their events arrived, and how many tokens they brought.

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::histogram::Histogram;

/// One streamed response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamSample {
    /// From the start of the sample to the first event, in microseconds; `None` without events.
    pub first_event_us: Option<u64>,
    /// The times between consecutive events, in microseconds.
    pub gaps: Distribution,
    /// How many events arrived.
    pub events: u64,
    /// How many tokens they brought; `None` if the form of the stream does not tell.
    pub tokens: Option<u64>,
}

/// The streamed responses among the samples of one label in an increment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamIncrement {
    /// How many events arrived.
    pub events: u64,
    /// How many tokens they brought, as far as the streams tell.
    pub tokens: u64,
    /// Times to the first event, in microseconds.
    pub first_event: Distribution,
    /// Times between consecutive events of a response, in microseconds.
    pub gaps: Distribution,
}

impl StreamIncrement {
    /// Counts a response.
    pub(crate) fn add(&mut self, sample: &StreamSample) {
        self.events = self.events.saturating_add(sample.events);
        self.tokens = self.tokens.saturating_add(sample.tokens.unwrap_or(0));
        if let Some(us) = sample.first_event_us {
            self.first_event.record(us);
        }
        self.gaps.merge(&sample.gaps);
    }

    /// Adds the responses of another increment.
    pub(crate) fn merge(&mut self, other: &StreamIncrement) {
        self.events = self.events.saturating_add(other.events);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.first_event.merge(&other.first_event);
        self.gaps.merge(&other.gaps);
    }
}

/// The streamed responses among the samples of one label in a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamStatistics {
    /// How many events arrived.
    pub events: u64,
    /// How many tokens they brought, as far as the streams tell.
    pub tokens: u64,
    /// Times to the first event, in microseconds.
    pub first_event: Histogram,
    /// Times between consecutive events of a response, in microseconds.
    pub gaps: Histogram,
}

impl StreamStatistics {
    /// Counts a response.
    pub(crate) fn add(&mut self, sample: &StreamSample) {
        self.events = self.events.saturating_add(sample.events);
        self.tokens = self.tokens.saturating_add(sample.tokens.unwrap_or(0));
        if let Some(us) = sample.first_event_us {
            self.first_event.record(us);
        }
        self.gaps.absorb(&sample.gaps);
    }

    /// Adds the responses of an increment.
    pub(crate) fn absorb(&mut self, other: &StreamIncrement) {
        self.events = self.events.saturating_add(other.events);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.first_event.absorb(&other.first_event);
        self.gaps.absorb(&other.gaps);
    }

    /// Adds the responses of other statistics.
    pub(crate) fn merge(&mut self, other: &StreamStatistics) {
        self.events = self.events.saturating_add(other.events);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.first_event.merge(&other.first_event);
        self.gaps.merge(&other.gaps);
    }
}

/// The names of the columns, in CSV and as attributes in XML.
pub(crate) const COLUMNS: [&str; 6] = [
    "firstEvent",
    "gapP50",
    "gapP95",
    "gapMax",
    "events",
    "tokens",
];

/// The values of the columns: times in milliseconds with three decimals, then counts; empty if unknown.
pub(crate) fn columns(sample: Option<&StreamSample>) -> [String; 6] {
    let Some(sample) = sample else {
        return Default::default();
    };
    let ms = |us: f64| format!("{:.3}", us / 1000.0);
    let gaps = (sample.gaps.count() > 0).then(|| sample.gaps.histogram());
    let gap = |percent| {
        let gaps = gaps.as_ref();
        gaps.map(|gaps| ms(gaps.percentile(percent)))
            .unwrap_or_default()
    };
    [
        sample
            .first_event_us
            .map(|us| ms(us as f64))
            .unwrap_or_default(),
        gap(50.0),
        gap(95.0),
        gap(100.0),
        sample.events.to_string(),
        sample.tokens.map(|n| n.to_string()).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(first_us: u64, gaps_us: &[u64], tokens: Option<u64>) -> StreamSample {
        let mut gaps = Distribution::default();
        gaps_us.iter().for_each(|us| gaps.record(*us));
        StreamSample {
            first_event_us: Some(first_us),
            gaps,
            events: gaps_us.len() as u64 + 1,
            tokens,
        }
    }

    #[test]
    fn statistics_are_the_same_by_samples_and_by_increments() {
        let samples = [
            stream(800, &[100, 200, 300], Some(4)),
            stream(1_200, &[], None),
        ];
        let mut direct = StreamStatistics::default();
        let mut sums = [StreamIncrement::default(), StreamIncrement::default()];
        for (sample, sum) in samples.iter().zip(&mut sums) {
            direct.add(sample);
            sum.add(sample);
        }
        let [mut one, other] = sums;
        one.merge(&other);
        let mut absorbed = StreamStatistics::default();
        absorbed.absorb(&one);
        assert_eq!(absorbed, direct);
        assert_eq!((direct.events, direct.tokens), (5, 4));
        assert_eq!((direct.first_event.max(), direct.gaps.max()), (1_200, 300));
        absorbed.merge(&direct);
        assert_eq!((absorbed.events, absorbed.gaps.count()), (10, 6));
    }

    #[test]
    fn columns_are_empty_where_nothing_is_known() {
        let shown = columns(Some(&stream(1_500, &[1_000, 2_000], None)));
        assert_eq!(shown, ["1.500", "1.500", "2.000", "2.000", "3", ""]);
        let none = StreamSample::default();
        assert_eq!(columns(Some(&none)), ["", "", "", "", "0", ""]);
        assert_eq!(columns(None), [""; 6]);
    }
}
