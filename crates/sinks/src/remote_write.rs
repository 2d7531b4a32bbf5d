//! Prometheus remote write 1.0: totals since the start of the run, response times as native histograms, in protobuf
//! compressed with snappy.

use std::time::Duration;

use prost::Message;

use crate::cumulative::{Cumulative, LabelTotals};
use crate::encoder::{Encoder, Interval, RunInfo};
use crate::prometheus::label_name;

/// Native histograms grow by the factor `2^(1/8)` from bucket to bucket.
const SCHEMA: i32 = 3;

/// The messages of `prompb/remote.proto` and `prompb/types.proto`, as far as they are used.
mod wire {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct WriteRequest {
        #[prost(message, repeated, tag = "1")]
        pub timeseries: Vec<TimeSeries>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct TimeSeries {
        #[prost(message, repeated, tag = "1")]
        pub labels: Vec<Label>,
        #[prost(message, repeated, tag = "2")]
        pub samples: Vec<Sample>,
        #[prost(message, repeated, tag = "4")]
        pub histograms: Vec<Histogram>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Label {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(string, tag = "2")]
        pub value: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Sample {
        #[prost(double, tag = "1")]
        pub value: f64,
        #[prost(int64, tag = "2")]
        pub timestamp: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Histogram {
        #[prost(uint64, tag = "1")]
        pub count_int: u64,
        #[prost(double, tag = "3")]
        pub sum: f64,
        #[prost(sint32, tag = "4")]
        pub schema: i32,
        #[prost(double, tag = "5")]
        pub zero_threshold: f64,
        #[prost(uint64, tag = "6")]
        pub zero_count_int: u64,
        #[prost(message, repeated, tag = "11")]
        pub positive_spans: Vec<BucketSpan>,
        #[prost(sint64, repeated, tag = "12")]
        pub positive_deltas: Vec<i64>,
        #[prost(int64, tag = "15")]
        pub timestamp: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct BucketSpan {
        #[prost(sint32, tag = "1")]
        pub offset: i32,
        #[prost(uint32, tag = "2")]
        pub length: u32,
    }
}

/// Encodes the requests of one run.
pub struct RemoteWrite {
    run: RunInfo,
    totals: Cumulative,
}

impl RemoteWrite {
    /// An encoder without samples.
    pub fn new(run: RunInfo) -> RemoteWrite {
        RemoteWrite {
            run,
            totals: Cumulative::default(),
        }
    }

    fn labels(&self, name: &str, own: &[(&str, &str)]) -> Vec<wire::Label> {
        let tags = self
            .run
            .tags
            .iter()
            .map(|(name, value)| (label_name(name), value.as_str()));
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), *value));
        let fixed = [
            ("__name__".to_owned(), name),
            ("run".to_owned(), self.run.id.as_str()),
        ];
        let all = fixed.into_iter().chain(tags).chain(own);
        let mut labels: Vec<_> = all
            .map(|(name, value)| wire::Label {
                name,
                value: value.to_owned(),
            })
            .collect();
        // Receivers reject labels that are not sorted.
        labels.sort_by(|a, b| a.name.cmp(&b.name));
        labels
    }

    fn series(&self) -> Vec<wire::TimeSeries> {
        let mut all = Vec::new();
        let mut add = |name: &str, own: &[(&str, &str)], value: f64| {
            all.push(wire::TimeSeries {
                labels: self.labels(name, own),
                samples: vec![wire::Sample {
                    value,
                    timestamp: self.totals.at_ms,
                }],
                histograms: Vec::new(),
            });
        };
        for ((label, _), values) in &self.totals.labels {
            add(
                "drumfire_samples_total",
                &[("label", label), ("result", "ok")],
                values.ok as f64,
            );
            add(
                "drumfire_samples_total",
                &[("label", label), ("result", "failed")],
                values.failed as f64,
            );
            add(
                "drumfire_received_bytes_total",
                &[("label", label)],
                values.received as f64,
            );
            add(
                "drumfire_sent_bytes_total",
                &[("label", label)],
                values.sent as f64,
            );
            add(
                "drumfire_own_seconds_total",
                &[("label", label)],
                values.own_seconds(),
            );
        }
        for ((label, code), count) in &self.totals.errors {
            add(
                "drumfire_errors_total",
                &[("label", label), ("code", code)],
                *count as f64,
            );
        }
        add("drumfire_users", &[], self.totals.users.active as f64);
        if let Some(verdict) = self.totals.verdict {
            add("drumfire_verdict", &[], f64::from(verdict));
        }
        for ((label, _), values) in &self.totals.labels {
            all.push(wire::TimeSeries {
                labels: self.labels("drumfire_response_time_seconds", &[("label", label)]),
                samples: Vec::new(),
                histograms: vec![native(values, self.totals.at_ms)],
            });
        }
        all
    }
}

/// A native histogram: one span of buckets, each stored as the difference from the previous one.
fn native(values: &LabelTotals, timestamp: i64) -> wire::Histogram {
    let (zero_count_int, first, counts) = values.exponential(SCHEMA);
    let mut before = 0;
    let deltas = counts.iter().map(|&count| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        count - std::mem::replace(&mut before, count)
    });
    wire::Histogram {
        count_int: values.elapsed.count(),
        sum: values.elapsed_sum as f64 / 1e6,
        schema: SCHEMA,
        zero_threshold: 1e-9,
        zero_count_int,
        positive_deltas: deltas.collect(),
        // Prometheus numbers a bucket by its upper bound, OpenTelemetry by its lower one.
        positive_spans: vec![wire::BucketSpan {
            offset: first + 1,
            length: counts.len() as u32,
        }],
        timestamp,
    }
}

impl Encoder for RemoteWrite {
    fn interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        self.totals.add(interval);
        let request = wire::WriteRequest {
            timeseries: self.series(),
        };
        let packed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        packed.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_histogram_holds_all_samples() {
        let mut values = LabelTotals::default();
        for us in [0, 1_500, 1_500, 900_000] {
            values.elapsed.record(us);
        }
        let histogram = native(&values, 7);
        let mut count = 0;
        let held: i64 = histogram
            .positive_deltas
            .iter()
            .map(|delta| {
                count += delta;
                count
            })
            .sum();
        assert_eq!(
            (held, histogram.zero_count_int, histogram.count_int),
            (3, 1, 4)
        );
        assert_eq!(
            histogram.positive_spans[0].length as usize,
            histogram.positive_deltas.len()
        );
    }

    #[test]
    fn labels_are_in_order() {
        let tags = vec![
            ("zone".to_owned(), "eu".to_owned()),
            ("a".to_owned(), "b".to_owned()),
        ];
        let write = RemoteWrite::new(RunInfo {
            id: "r".to_owned(),
            tags,
        });
        let labels = write.labels("drumfire_users", &[]);
        assert!(labels.is_sorted_by(|a, b| a.name < b.name));
    }
}
