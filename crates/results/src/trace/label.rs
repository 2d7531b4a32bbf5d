//! The traced samples of a label: their parts by elapsed time, the metrics of the server, the slowest samples.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use drumfire_platform::secrets;
use serde::{Deserialize, Serialize};

use super::TimeParts;
use crate::buckets::bucket;
use crate::failures::cut;
use crate::sample::Sample;
use crate::sample_trace::{SampleTrace, TraceId, TraceLimits};

/// Buckets of elapsed times are at most an eighth wide, which suffices because only sums of them are shown.
const BUCKET_BITS: u32 = 3;
/// The name of the metrics beyond the limit.
const OTHER_METRICS: &str = "(other metrics)";
/// The maximum length of a metric's name and of a response code, in bytes.
const NAME_BYTES: usize = 100;

/// The traced samples of a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelTrace {
    limits: TraceLimits,
    /// The samples by elapsed time.
    buckets: BTreeMap<u16, PartSums>,
    metrics: BTreeMap<String, MetricSum>,
    /// The slowest recorded traces, the slowest first.
    slowest: Vec<SlowSample>,
}

/// Samples of about the same elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PartSums {
    count: u64,
    /// Those whose server named its time.
    named: u64,
    parts: TimeParts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct MetricSum {
    count: u64,
    sum_us: u64,
    max_us: u64,
}

/// A metric that servers named in `Server-Timing`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerMetric {
    /// Its name.
    pub name: String,
    /// The samples with it.
    pub count: u64,
    /// Its mean in milliseconds.
    pub mean_ms: f64,
    /// Its maximum in milliseconds.
    pub max_ms: f64,
}

/// A slow sample whose trace servers were asked to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowSample {
    /// The trace.
    pub trace_id: TraceId,
    /// When it started, in milliseconds since the Unix epoch.
    pub start_ms: i64,
    /// Elapsed time in microseconds.
    pub elapsed_us: u64,
    /// The response code.
    pub code: String,
    /// The parts of the elapsed time.
    pub parts: TimeParts,
    /// Whether the server named its time.
    pub is_named: bool,
    /// The server's metrics, in microseconds.
    pub metrics: Vec<(String, u64)>,
}

impl SlowSample {
    /// The slowest come first; the id decides between equals, so that merging does not depend on the order.
    fn rank(&self) -> (Reverse<u64>, TraceId) {
        (Reverse(self.elapsed_us), self.trace_id)
    }
}

/// Where the time of the slowest samples went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailSplit {
    /// The slowest samples.
    pub samples: u64,
    /// All samples.
    pub of: u64,
    /// The means of the parts in milliseconds, in the order of [`TimeParts`].
    pub means_ms: [f64; 6],
    /// Whether a server named its time, so that the wait is only what it does not explain.
    pub is_named: bool,
}

impl TailSplit {
    /// The mean elapsed time, which the parts add up to.
    pub fn mean_ms(&self) -> f64 {
        self.means_ms.iter().sum()
    }
}

impl LabelTrace {
    /// No samples yet.
    pub fn new(limits: TraceLimits) -> LabelTrace {
        LabelTrace {
            limits,
            buckets: BTreeMap::new(),
            metrics: BTreeMap::new(),
            slowest: Vec::new(),
        }
    }

    /// Counts a sample with its trace.
    pub fn add(&mut self, sample: &Sample, trace: &SampleTrace) {
        let elapsed_us = sample.precise_service_us();
        let parts = TimeParts::of(sample, trace.server_us);
        let elapsed_bucket = bucket(elapsed_us, BUCKET_BITS) as u16;
        self.buckets
            .entry(elapsed_bucket)
            .or_default()
            .add(PartSums {
                count: 1,
                named: u64::from(trace.server_us.is_some()),
                parts,
            });
        for (name, us) in &trace.metrics {
            let one = MetricSum {
                count: 1,
                sum_us: *us,
                max_us: *us,
            };
            self.add_metric(name, one);
        }
        if let Some(trace_id) = trace.id.filter(|_| trace.is_sampled)
            && self.is_slow(elapsed_us)
        {
            self.add_slow(SlowSample {
                trace_id,
                start_ms: sample.start_ms,
                elapsed_us,
                code: cut(&secrets::text(&sample.code), NAME_BYTES),
                parts,
                is_named: trace.server_us.is_some(),
                metrics: (trace.metrics.iter())
                    .map(|(name, us)| (cut(name, NAME_BYTES), *us))
                    .collect(),
            });
        }
    }

    /// Adds the samples of `other`. Of the limits, the larger ones hold.
    pub fn merge(&mut self, other: &LabelTrace) {
        self.limits.names = self.limits.names.max(other.limits.names);
        self.limits.slowest = self.limits.slowest.max(other.limits.slowest);
        for (place, sums) in &other.buckets {
            self.buckets.entry(*place).or_default().add(*sums);
        }
        for (name, sum) in &other.metrics {
            self.add_metric(name, *sum);
        }
        for slow in &other.slowest {
            self.add_slow(slow.clone());
        }
    }

    /// Where the time of the slowest samples went, which are this share of all in per cent, but at least one. `None` without samples.
    pub fn tail(&self, percent: f64) -> Option<TailSplit> {
        let of: u64 = self.buckets.values().map(|sums| sums.count).sum();
        let samples = ((of as f64 * percent / 100.0) as u64).max(1).min(of);
        let (mut left, mut named, mut sums_us) = (samples, false, [0.0; 6]);
        for sums in self.buckets.values().rev().filter(|sums| sums.count > 0) {
            // Only a share of the last bucket is among the slowest.
            let taken = sums.count.min(left);
            let share = taken as f64 / sums.count as f64;
            for (sum, us) in sums_us.iter_mut().zip(<[u64; 6]>::from(sums.parts)) {
                *sum += us as f64 * share;
            }
            named |= sums.named > 0;
            left -= taken;
            if left == 0 {
                break;
            }
        }
        (samples > 0).then(|| TailSplit {
            samples,
            of,
            means_ms: sums_us.map(|us| us / 1000.0 / samples as f64),
            is_named: named,
        })
    }

    /// The metrics that servers named, by name.
    pub fn metrics(&self) -> impl Iterator<Item = ServerMetric> {
        self.metrics.iter().map(|(name, sum)| ServerMetric {
            name: name.clone(),
            count: sum.count,
            mean_ms: sum.sum_us as f64 / 1000.0 / sum.count.max(1) as f64,
            max_ms: sum.max_us as f64 / 1000.0,
        })
    }

    /// The slowest samples whose traces servers were asked to record, the slowest first.
    pub fn slowest(&self) -> &[SlowSample] {
        &self.slowest
    }

    fn add_metric(&mut self, name: &str, sum: MetricSum) {
        let name = cut(name, NAME_BYTES);
        let is_full = self.metrics.len() >= usize::from(self.limits.names);
        let name = if is_full && !self.metrics.contains_key(&name) {
            OTHER_METRICS.to_owned()
        } else {
            name
        };
        let total = self.metrics.entry(name).or_default();
        total.count = total.count.saturating_add(sum.count);
        total.sum_us = total.sum_us.saturating_add(sum.sum_us);
        total.max_us = total.max_us.max(sum.max_us);
    }

    fn is_slow(&self, elapsed_us: u64) -> bool {
        let has_room = self.slowest.len() < usize::from(self.limits.slowest);
        let last = self.slowest.last();
        has_room || last.is_some_and(|last| elapsed_us >= last.elapsed_us)
    }

    fn add_slow(&mut self, slow: SlowSample) {
        let index = self
            .slowest
            .partition_point(|known| known.rank() < slow.rank());
        self.slowest.insert(index, slow);
        self.slowest.truncate(usize::from(self.limits.slowest));
    }
}

impl PartSums {
    fn add(&mut self, other: PartSums) {
        self.count = self.count.saturating_add(other.count);
        self.named = self.named.saturating_add(other.named);
        self.parts.add(other.parts);
    }
}

/// The elapsed times of a label's slowest samples since the start of the run, in microseconds. Others need not leave their worker.
#[derive(Clone, Debug, Default)]
pub struct SlowestSoFar(Vec<u64>);

impl SlowestSoFar {
    /// Removes the slow samples of a span that are not among the slowest of the run so far.
    pub fn filter(&mut self, trace: &mut LabelTrace) {
        let most = usize::from(trace.limits.slowest);
        trace.slowest.retain(|slow| {
            let index = self.0.partition_point(|known| *known >= slow.elapsed_us);
            if index < most {
                self.0.insert(index, slow.elapsed_us);
                self.0.truncate(most);
            }
            index < most
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: TraceLimits = TraceLimits {
        names: 2,
        slowest: 3,
    };

    /// A sample that waited for this time, for its server except for a tenth.
    fn sample(elapsed_us: u64, id: u128) -> Sample {
        let mut trace = SampleTrace::new(Some(TraceId(id)), true, FEW);
        trace.server_us = Some(elapsed_us / 10 * 9);
        trace.add_metric("total", elapsed_us / 10 * 9);
        Sample {
            service_us: elapsed_us,
            phases: [0, 0, 0, elapsed_us].into(),
            code: "200".into(),
            trace: Some(Box::new(trace)),
            ..Sample::default()
        }
    }

    fn traced(samples: &[Sample]) -> LabelTrace {
        let mut label = LabelTrace::new(FEW);
        for sample in samples {
            label.add(sample, sample.trace.as_deref().expect("a trace"));
        }
        label
    }

    #[test]
    fn the_slowest_hundredth_is_split() {
        let samples: Vec<Sample> = (1..=1_000)
            .map(|place| sample(if place > 990 { 100_000 } else { 1_000 }, place))
            .collect();
        let label = traced(&samples);
        let tail = label.tail(1.0).expect("samples");
        assert_eq!((tail.samples, tail.of, tail.is_named), (10, 1_000, true));
        assert_eq!(tail.means_ms, [0.0, 0.0, 0.0, 90.0, 10.0, 0.0]);
        // A twentieth also takes 40 of the 990 quick ones.
        let wide = label.tail(5.0).expect("samples");
        assert_eq!(wide.samples, 50);
        assert!((wide.mean_ms() - (10.0 * 100.0 + 40.0) / 50.0).abs() < 1e-9);
        assert_eq!(LabelTrace::new(FEW).tail(1.0), None);
        let lonely = traced(&samples[..1]).tail(1.0).expect("one sample");
        assert_eq!((lonely.samples, lonely.mean_ms()), (1, 1.0));
    }

    #[test]
    fn only_so_many_slow_samples_are_kept() {
        let samples: Vec<Sample> = (1..=9).map(|ms| sample(ms * 1_000, ms.into())).collect();
        let whole = traced(&samples);
        let times = |label: &LabelTrace| {
            let slowest = label.slowest().iter();
            slowest
                .map(|slow| slow.elapsed_us / 1_000)
                .collect::<Vec<u64>>()
        };
        assert_eq!(times(&whole), [9, 8, 7]);
        let mut parts = traced(&samples[5..]);
        parts.merge(&traced(&samples[..5]));
        assert_eq!(parts, whole);
        let mut unsampled = sample(50_000, 50);
        if let Some(trace) = &mut unsampled.trace {
            trace.is_sampled = false;
        }
        assert_eq!(times(&traced(&[unsampled])), [0u64; 0]);
    }

    #[test]
    fn names_beyond_the_limit_are_counted_together() {
        let mut many = sample(1_000, 1);
        if let Some(trace) = &mut many.trace {
            trace.limits.names = 9;
            for name in ["db", "cache", "app"] {
                trace.add_metric(name, 5_000);
            }
        }
        let label = traced(&[many.clone(), many]);
        let metrics: Vec<(String, u64, f64)> = label
            .metrics()
            .map(|metric| (metric.name, metric.count, metric.mean_ms))
            .collect();
        assert_eq!(
            metrics,
            [
                ("(other metrics)".to_owned(), 4, 5.0),
                ("db".to_owned(), 2, 5.0),
                ("total".to_owned(), 2, 0.9),
            ]
        );
    }

    #[test]
    fn a_worker_passes_on_only_the_slowest_of_the_run() {
        let mut so_far = SlowestSoFar::default();
        let mut left = |times: &[u64]| {
            let samples: Vec<Sample> = times.iter().map(|us| sample(*us, (*us).into())).collect();
            let mut label = traced(&samples);
            so_far.filter(&mut label);
            label.slowest().len()
        };
        assert_eq!(left(&[10, 20, 30, 40]), 3);
        assert_eq!(left(&[15, 20]), 0);
        assert_eq!(left(&[25, 35]), 1);
    }
}
