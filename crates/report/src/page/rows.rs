//! A row of the table of labels, with the details that are shown when it is selected.

use std::collections::BTreeMap;

use drumfire_results::{Histogram, Interval, LabelStatistics, PERCENTS, Precision, suffices_for};
use serde::Serialize;

use super::periods::Periods;
use super::steps::LabelSteps;
use crate::apdex::{ApdexLimits, apdex};
use crate::streams::StreamNumbers;

/// The percentiles of the curve.
const CURVE: [f64; 33] = [
    0.0, 5.0, 10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 91.0, 92.0,
    93.0, 94.0, 95.0, 96.0, 97.0, 98.0, 98.5, 99.0, 99.25, 99.5, 99.75, 99.9, 99.95, 99.975, 99.99,
    99.999, 100.0,
];
/// The bars of the distribution per power of two.
const BARS: f64 = 4.0;

/// A label's numbers. Times are in milliseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    label: String,
    transaction: bool,
    count: u64,
    errors: u64,
    mean: f64,
    min: f64,
    p50: f64,
    p90: f64,
    p95: f64,
    p99: f64,
    p999: f64,
    max: f64,
    /// Samples a second.
    rate: f64,
    bytes: u64,
    sent_bytes: u64,
    /// Mean times of name look-up, TCP, TLS, first byte and body.
    phases: [f64; 5],
    apdex: Option<f64>,
    /// How much of the median, the 95th and the 99th percentile passed in the generator.
    own: Option<[f64; 3]>,
    /// Of the samples with an intended start, times from it: count, median, 95th and 99th percentile, maximum.
    response: Option<[f64; 5]>,
    /// Of the same samples, service times, in the same order.
    scheduled: Option<[f64; 5]>,
    /// Of streamed responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamNumbers>,
    /// Bounds of the 95 % intervals of some of these numbers, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    intervals: BTreeMap<&'static str, (f64, Option<f64>)>,
    /// Pairs of per cent and milliseconds.
    curve: Vec<(f64, f64)>,
    /// The bounds of each bar and its count.
    distribution: Vec<(f64, f64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<LabelSteps>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub periods: Periods,
}

impl Row {
    pub fn of(label: &LabelStatistics, limits: ApdexLimits, resolution_us: u64) -> Row {
        let service = &label.service;
        Row {
            curve: match service.count() {
                0 => Vec::new(),
                _ => CURVE
                    .iter()
                    .map(|&percent| (percent, service.percentile_ms(percent)))
                    .collect(),
            },
            distribution: distribution(service),
            ..Row::brief(label, limits, resolution_us)
        }
    }

    /// The row without the curve and the distribution, which are expensive to compute.
    pub fn brief(label: &LabelStatistics, limits: ApdexLimits, resolution_us: u64) -> Row {
        let service = &label.service;
        let row = label.row();
        let service_us = service.mean() * service.count() as f64;
        Row {
            label: label.label.clone(),
            transaction: label.transaction,
            count: label.count,
            errors: label.errors,
            mean: row.mean_ms,
            min: row.min_ms,
            p50: service.percentile_ms(50.0),
            p90: service.percentile_ms(90.0),
            p95: service.percentile_ms(95.0),
            p99: service.percentile_ms(99.0),
            p999: service.percentile_ms(99.9),
            max: row.max_ms,
            rate: row.throughput_per_s,
            bytes: label.bytes,
            sent_bytes: label.sent_bytes,
            phases: label.phases.means_ms(service_us, service.count()),
            apdex: apdex(label, limits, resolution_us),
            own: own_row(label),
            response: time_row(&label.response),
            scheduled: time_row(&label.scheduled),
            stream: StreamNumbers::of(label),
            intervals: BTreeMap::new(),
            curve: Vec::new(),
            distribution: Vec::new(),
            steps: None,
            periods: Periods::new(),
        }
    }
}

impl Row {
    /// The row with the intervals of its numbers.
    pub fn with_intervals(mut self, precision: &Precision) -> Row {
        let percentiles = PERCENTS
            .into_iter()
            .zip(precision.percentiles_ms)
            .map(|(percent, interval)| interval.filter(|_| suffices_for(self.count, percent)));
        let names = ["p50", "p90", "p95", "p99", "p999", "mean", "rate"];
        let intervals = percentiles.chain([precision.mean_ms, precision.rate_per_s]);
        let bounds = |interval: Interval| {
            (
                super::rounded(interval.low),
                interval.high.map(super::rounded),
            )
        };
        let intervals = names.into_iter().zip(intervals);
        self.intervals = intervals
            .filter_map(|(name, interval)| Some((name, bounds(interval?))))
            .collect();
        self
    }

    /// The row as the list that a live page receives.
    pub fn into_list(self) -> super::live::LiveRow {
        let times = [
            self.mean, self.min, self.p50, self.p90, self.p95, self.p99, self.p999, self.max,
            self.rate,
        ];
        (
            self.label,
            self.transaction,
            self.count,
            self.errors,
            times.map(super::rounded),
            [self.bytes, self.sent_bytes],
            self.phases.map(super::rounded),
            self.apdex.map(super::rounded),
            [self.response, self.scheduled]
                .map(|times| times.map(|times| times.map(super::rounded))),
            self.stream,
        )
    }
}

fn own_row(label: &LabelStatistics) -> Option<[f64; 3]> {
    let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| label.own_ms(percent));
    Some([p50?, p95?, p99?])
}

fn time_row(times: &Histogram) -> Option<[f64; 5]> {
    let max = times.max() as f64 / 1000.0;
    (times.count() > 0).then(|| {
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| times.percentile_ms(percent));
        [times.count() as f64, p50, p95, p99, max]
    })
}

/// Counts samples in bars of equal width on a logarithmic axis.
fn distribution(service: &Histogram) -> Vec<(f64, f64, u64)> {
    let mut bars: BTreeMap<i32, u64> = BTreeMap::new();
    for (highest_us, count) in service.buckets() {
        let bar = ((highest_us.max(1) as f64).log2() * BARS).floor() as i32;
        *bars.entry(bar).or_insert(0) += count;
    }
    bars.into_iter()
        .map(|(bar, count)| (edge(bar), edge(bar + 1), count))
        .collect()
}

fn edge(bar: i32) -> f64 {
    super::rounded((f64::from(bar) / BARS).exp2() / 1000.0)
}
