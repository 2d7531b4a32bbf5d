//! OpenTelemetry's metrics (OTLP 1.x over HTTP with protobuf): totals since the start of the run, and response times as
//! exponential histograms.

use std::time::Duration;

use prost::Message;

use crate::cumulative::{Cumulative, LabelTotals};
use crate::encoder::{Encoder, Interval, RunInfo};

/// Exponential histograms grow by the factor `2^(1/8)` from bucket to bucket.
const SCALE: i32 = 3;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`. VictoriaMetrics silently drops the other kind.
const CUMULATIVE: i32 = 2;

/// The messages of `opentelemetry/proto/metrics/v1/metrics.proto` and the files that it imports, as far as they are used.
mod wire {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ExportRequest {
        #[prost(message, repeated, tag = "1")]
        pub resource_metrics: Vec<ResourceMetrics>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ResourceMetrics {
        #[prost(message, optional, tag = "1")]
        pub resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub scope_metrics: Vec<ScopeMetrics>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Resource {
        #[prost(message, repeated, tag = "1")]
        pub attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ScopeMetrics {
        #[prost(message, optional, tag = "1")]
        pub scope: Option<InstrumentationScope>,
        #[prost(message, repeated, tag = "2")]
        pub metrics: Vec<Metric>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct InstrumentationScope {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(string, tag = "2")]
        pub version: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct KeyValue {
        #[prost(string, tag = "1")]
        pub key: String,
        #[prost(message, optional, tag = "2")]
        pub value: Option<AnyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct AnyValue {
        #[prost(string, tag = "1")]
        pub string_value: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Metric {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(string, tag = "2")]
        pub description: String,
        #[prost(string, tag = "3")]
        pub unit: String,
        #[prost(oneof = "Data", tags = "5, 7, 10")]
        pub data: Option<Data>,
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum Data {
        #[prost(message, tag = "5")]
        Gauge(Gauge),
        #[prost(message, tag = "7")]
        Sum(Sum),
        #[prost(message, tag = "10")]
        ExponentialHistogram(ExponentialHistogram),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Gauge {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<NumberDataPoint>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Sum {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<NumberDataPoint>,
        #[prost(int32, tag = "2")]
        pub aggregation_temporality: i32,
        #[prost(bool, tag = "3")]
        pub is_monotonic: bool,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct NumberDataPoint {
        #[prost(fixed64, tag = "2")]
        pub start_time_unix_nano: u64,
        #[prost(fixed64, tag = "3")]
        pub time_unix_nano: u64,
        #[prost(double, optional, tag = "4")]
        pub as_double: Option<f64>,
        #[prost(sfixed64, optional, tag = "6")]
        pub as_int: Option<i64>,
        #[prost(message, repeated, tag = "7")]
        pub attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ExponentialHistogram {
        #[prost(message, repeated, tag = "1")]
        pub data_points: Vec<ExponentialHistogramDataPoint>,
        #[prost(int32, tag = "2")]
        pub aggregation_temporality: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ExponentialHistogramDataPoint {
        #[prost(message, repeated, tag = "1")]
        pub attributes: Vec<KeyValue>,
        #[prost(fixed64, tag = "2")]
        pub start_time_unix_nano: u64,
        #[prost(fixed64, tag = "3")]
        pub time_unix_nano: u64,
        #[prost(fixed64, tag = "4")]
        pub count: u64,
        #[prost(double, optional, tag = "5")]
        pub sum: Option<f64>,
        #[prost(sint32, tag = "6")]
        pub scale: i32,
        #[prost(fixed64, tag = "7")]
        pub zero_count: u64,
        #[prost(message, optional, tag = "8")]
        pub positive: Option<Buckets>,
        #[prost(double, optional, tag = "12")]
        pub min: Option<f64>,
        #[prost(double, optional, tag = "13")]
        pub max: Option<f64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Buckets {
        #[prost(sint32, tag = "1")]
        pub offset: i32,
        #[prost(uint64, repeated, tag = "2")]
        pub bucket_counts: Vec<u64>,
    }
}

/// Encodes the requests of one run.
pub struct Otlp {
    run: RunInfo,
    start_ns: u64,
    totals: Cumulative,
}

impl Otlp {
    /// An encoder without samples.
    pub fn new(run: RunInfo) -> Otlp {
        Otlp {
            run,
            start_ns: 0,
            totals: Cumulative::default(),
        }
    }

    fn request(&self) -> wire::ExportRequest {
        let run = ("drumfire.run", self.run.id.as_str());
        let tags = self
            .run
            .tags
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let fixed = [("service.name", "drumfire"), run];
        let scope = wire::InstrumentationScope {
            name: "drumfire".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        wire::ExportRequest {
            resource_metrics: vec![wire::ResourceMetrics {
                resource: Some(wire::Resource {
                    attributes: attributes(fixed.into_iter().chain(tags)),
                }),
                scope_metrics: vec![wire::ScopeMetrics {
                    scope: Some(scope),
                    metrics: self.metrics(),
                }],
            }],
        }
    }

    fn metrics(&self) -> Vec<wire::Metric> {
        let labels = || self.totals.labels.iter();
        let samples = labels().flat_map(|((label, _), values)| {
            [("ok", values.ok), ("failed", values.failed)]
                .map(|(result, count)| self.point(&[("label", label), ("result", result)], count))
        });
        let received =
            labels().map(|((label, _), values)| self.point(&[("label", label)], values.received));
        let sent =
            labels().map(|((label, _), values)| self.point(&[("label", label)], values.sent));
        let own = labels().map(|((label, _), values)| wire::NumberDataPoint {
            as_double: Some(values.own_seconds()),
            as_int: None,
            ..self.point(&[("label", label)], 0)
        });
        let errors =
            self.totals.errors.iter().map(|((label, code), count)| {
                self.point(&[("label", label), ("code", code)], *count)
            });
        let times = labels().map(|((label, _), values)| self.histogram(label, values));
        let verdict = self.totals.verdict.map(|verdict| {
            let point = self.point(&[], u64::from(verdict));
            metric("drumfire.verdict", "1", gauge(point))
        });
        let all = [
            metric("drumfire.samples", "{sample}", sum(samples.collect())),
            metric("drumfire.received", "By", sum(received.collect())),
            metric("drumfire.sent", "By", sum(sent.collect())),
            metric("drumfire.own_time", "s", sum(own.collect())),
            metric("drumfire.errors", "{sample}", sum(errors.collect())),
            metric(
                "drumfire.users",
                "{user}",
                gauge(self.point(&[], self.totals.users.active)),
            ),
            metric(
                "drumfire.response_time",
                "s",
                wire::Data::ExponentialHistogram(wire::ExponentialHistogram {
                    data_points: times.collect(),
                    aggregation_temporality: CUMULATIVE,
                }),
            ),
        ];
        all.into_iter().chain(verdict).collect()
    }

    fn now_ns(&self) -> u64 {
        nanoseconds(self.totals.at_ms)
    }

    fn point(&self, labels: &[(&str, &str)], value: u64) -> wire::NumberDataPoint {
        wire::NumberDataPoint {
            start_time_unix_nano: self.start_ns,
            time_unix_nano: self.now_ns(),
            as_double: None,
            as_int: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            attributes: attributes(labels.iter().copied()),
        }
    }

    fn histogram(&self, label: &str, values: &LabelTotals) -> wire::ExponentialHistogramDataPoint {
        let (zero_count, offset, bucket_counts) = values.exponential(SCALE);
        wire::ExponentialHistogramDataPoint {
            attributes: attributes([("label", label)]),
            start_time_unix_nano: self.start_ns,
            time_unix_nano: self.now_ns(),
            count: values.elapsed.count(),
            sum: Some(values.elapsed_sum as f64 / 1e6),
            scale: SCALE,
            zero_count,
            positive: Some(wire::Buckets {
                offset,
                bucket_counts,
            }),
            min: Some(values.elapsed.min() as f64 / 1e6),
            max: Some(values.elapsed.max() as f64 / 1e6),
        }
    }
}

fn metric(name: &str, unit: &str, data: wire::Data) -> wire::Metric {
    wire::Metric {
        name: name.to_owned(),
        description: String::new(),
        unit: unit.to_owned(),
        data: Some(data),
    }
}

fn sum(data_points: Vec<wire::NumberDataPoint>) -> wire::Data {
    wire::Data::Sum(wire::Sum {
        data_points,
        aggregation_temporality: CUMULATIVE,
        is_monotonic: true,
    })
}

fn gauge(point: wire::NumberDataPoint) -> wire::Data {
    wire::Data::Gauge(wire::Gauge {
        data_points: vec![point],
    })
}

fn attributes<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<wire::KeyValue> {
    all.into_iter().map(pair).collect()
}

fn pair((key, value): (&str, &str)) -> wire::KeyValue {
    wire::KeyValue {
        key: key.to_owned(),
        value: Some(wire::AnyValue {
            string_value: value.to_owned(),
        }),
    }
}

fn nanoseconds(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000)
}

impl Encoder for Otlp {
    fn interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn start(&mut self, at_ms: i64) -> Vec<Vec<u8>> {
        self.start_ns = nanoseconds(at_ms);
        Vec::new()
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        self.totals.add(interval);
        vec![self.request().encode_to_vec()]
    }
}
