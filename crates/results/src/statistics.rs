//! Statistics per label over a whole run, and the rows of the final table.

use drumfire_platform::secrets::addresses;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::failures::ErrorKinds;
use crate::histogram::Histogram;
use crate::increment::{Increment, LabelIncrement};
use crate::phases::Phases;
use crate::precision::suffices_for;
use crate::sample::Sample;
use crate::streams::StreamStatistics;
use crate::timeline::{Timeline, TimelineSample};
use crate::trace::{self, LabelTrace};

/// Limit of distinct labels; the samples of all further ones share [`OTHER_LABELS`].
pub const MAX_LABELS: usize = 4_000;
/// The label of samples beyond [`MAX_LABELS`].
pub const OTHER_LABELS: &str = "(other labels)";

/// The samples of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelStatistics {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller, which the total excludes
    /// (`StatisticsSummaryConsumer.aggregateSample`).
    pub transaction: bool,
    /// How many samples.
    pub count: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Service times, in microseconds, as JMeter measures them.
    pub service: Histogram,
    /// Response times from the intended start, in microseconds, of the samples that have one.
    pub response: Histogram,
    /// Service times of the same samples, in microseconds; empty in run files of earlier versions.
    #[serde(default)]
    pub scheduled: Histogram,
    /// Service times of the failed samples, in microseconds.
    pub failed: Histogram,
    /// The generator's own parts of the service times, in microseconds, of the samples where the kernel's stamps tell it; empty in
    /// run files of earlier versions.
    #[serde(default)]
    pub own: Histogram,
    /// Service times without the generator's own part, as far as it is known, in microseconds.
    #[serde(default)]
    pub target: Histogram,
    /// The traced samples, if requests were traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<LabelTrace>>,
    /// The streamed responses, if there are any; missing in run files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Box<StreamStatistics>>,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Sums of the phases of the service times.
    pub phases: Phases,
    /// Start of the first sample, in milliseconds since the Unix epoch; `i64::MAX` without samples.
    pub first_start_ms: i64,
    /// End of the last sample, in milliseconds since the Unix epoch; `i64::MIN` without samples.
    pub last_end_ms: i64,
}

impl LabelStatistics {
    /// No samples yet.
    pub fn new(label: String, transaction: bool) -> LabelStatistics {
        LabelStatistics {
            label,
            transaction,
            count: 0,
            errors: 0,
            service: Histogram::new(),
            response: Histogram::new(),
            scheduled: Histogram::new(),
            failed: Histogram::new(),
            own: Histogram::new(),
            target: Histogram::new(),
            trace: None,
            stream: None,
            bytes: 0,
            sent_bytes: 0,
            phases: Phases::default(),
            first_start_ms: i64::MAX,
            last_end_ms: i64::MIN,
        }
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: &Sample) {
        let service_us = sample.precise_service_us();
        self.count += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count());
        self.service.record(service_us);
        if let Some(delay_us) = sample.delay_us {
            self.response.record(service_us.saturating_add(delay_us));
            self.scheduled.record(service_us);
        }
        if !sample.success {
            self.failed.record(service_us);
        }
        let own_us = sample.own_us.map(|own_us| own_us.min(service_us));
        if let Some(own_us) = own_us {
            self.own.record(own_us);
        }
        self.target.record(service_us - own_us.unwrap_or(0));
        trace::count(&mut self.trace, sample);
        if let Some(stream) = &sample.stream {
            self.stream.get_or_insert_default().add(stream);
        }
        self.bytes += sample.counted_bytes();
        self.sent_bytes += sample.sent_bytes;
        self.phases.add(Phases::of(sample));
        self.first_start_ms = self.first_start_ms.min(sample.start_ms);
        self.last_end_ms = self.last_end_ms.max(sample.end_ms);
    }

    /// Adds the samples of `other`; the label stays.
    pub fn merge(&mut self, other: &LabelStatistics) {
        self.count += other.count;
        self.errors += other.errors;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.scheduled.merge(&other.scheduled);
        self.failed.merge(&other.failed);
        self.own.merge(&other.own);
        self.target.merge(&other.target);
        trace::merge(&mut self.trace, other.trace.as_deref());
        if let Some(stream) = &other.stream {
            self.stream.get_or_insert_default().merge(stream);
        }
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        self.phases.add(other.phases);
        self.first_start_ms = self.first_start_ms.min(other.first_start_ms);
        self.last_end_ms = self.last_end_ms.max(other.last_end_ms);
    }

    /// Adds the samples of an increment; the label stays.
    pub fn absorb(&mut self, other: &LabelIncrement) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.service.absorb(&other.ok);
        self.service.absorb(&other.failed);
        self.response.absorb(&other.response);
        self.scheduled.absorb(&other.scheduled);
        self.failed.absorb(&other.failed);
        self.own.absorb(&other.own);
        self.target.absorb(&other.target);
        trace::merge(&mut self.trace, other.trace.as_deref());
        if let Some(stream) = &other.stream {
            self.stream.get_or_insert_default().absorb(stream);
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.phases.add(other.phases);
        self.first_start_ms = self.first_start_ms.min(other.first_start_ms);
        self.last_end_ms = self.last_end_ms.max(other.last_end_ms);
    }

    /// How much of a percentile of the service time passed in the generator, in milliseconds; `None` if the kernel's stamps do not
    /// tell, or if the percentile is not known.
    pub fn own_ms(&self, percent: f64) -> Option<f64> {
        let own_us = self.service.percentile(percent) - self.target.percentile(percent);
        let is_known = self.own.count() > 0 && suffices_for(self.count, percent);
        is_known.then_some(own_us.max(0.0) / 1000.0)
    }

    /// The label's row of the final table.
    pub fn row(&self) -> StatisticsRow {
        StatisticsRow {
            label: self.label.clone(),
            transaction: self.transaction,
            count: self.count,
            errors: self.errors,
            error_percent: if self.count == 0 {
                0.0
            } else {
                self.errors as f64 * 100.0 / self.count as f64
            },
            min_ms: self.service.min() as f64 / 1000.0,
            mean_ms: self.service.mean() / 1000.0,
            max_ms: self.service.max() as f64 / 1000.0,
            p50_ms: self.service.percentile_ms(50.0),
            p90_ms: self.service.percentile_ms(90.0),
            p95_ms: self.service.percentile_ms(95.0),
            p99_ms: self.service.percentile_ms(99.0),
            throughput_per_s: self.per_second(self.count as f64),
            received_kib_per_s: self.per_second(self.bytes as f64 / 1024.0),
            sent_kib_per_s: self.per_second(self.sent_bytes as f64 / 1024.0),
        }
    }

    /// Divides by the time from the first start to the last end; 0 if that is not positive
    /// (`Calculator.getRatePerSecond`).
    fn per_second(&self, amount: f64) -> f64 {
        let elapsed_ms = self.last_end_ms.saturating_sub(self.first_start_ms);
        if elapsed_ms > 0 {
            amount / (elapsed_ms as f64 / 1000.0)
        } else {
            0.0
        }
    }
}

/// One row of the final table.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsRow {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller.
    pub transaction: bool,
    /// How many samples.
    pub count: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Failed samples in a hundred.
    pub error_percent: f64,
    /// Shortest service time, in milliseconds.
    pub min_ms: f64,
    /// Mean service time, in milliseconds.
    pub mean_ms: f64,
    /// Longest service time, in milliseconds.
    pub max_ms: f64,
    /// Median service time, in milliseconds.
    pub p50_ms: f64,
    /// 90th percentile of the service time, in milliseconds.
    pub p90_ms: f64,
    /// 95th percentile of the service time, in milliseconds.
    pub p95_ms: f64,
    /// 99th percentile of the service time, in milliseconds.
    pub p99_ms: f64,
    /// Samples a second.
    pub throughput_per_s: f64,
    /// KiB received a second.
    pub received_kib_per_s: f64,
    /// KiB sent a second.
    pub sent_kib_per_s: f64,
}

/// The statistics of a run, or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "RecordingParts")]
pub struct Recording {
    /// One entry per label and origin, ordered by first sample.
    pub labels: Vec<LabelStatistics>,
    /// Failed samples by kind, without those of transaction controllers.
    pub errors: ErrorKinds,
    /// How late the generator itself was when a user's start or request was due, in microseconds.
    pub lateness: Histogram,
    /// The timeline; a label has the same place there as in `labels`.
    pub timeline: Timeline,
    #[serde(skip)]
    index: FxHashMap<(String, bool), usize>,
}

/// A recording as it is read.
#[derive(Deserialize)]
struct RecordingParts {
    labels: Vec<LabelStatistics>,
    errors: ErrorKinds,
    lateness: Histogram,
    timeline: Timeline,
}

impl From<RecordingParts> for Recording {
    fn from(parts: RecordingParts) -> Recording {
        let labels = parts.labels.iter().enumerate();
        Recording {
            index: labels.map(|(place, label)| (key(label), place)).collect(),
            labels: parts.labels,
            errors: parts.errors,
            lateness: parts.lateness,
            timeline: parts.timeline,
        }
    }
}

fn key(label: &LabelStatistics) -> (String, bool) {
    (label.label.clone(), label.transaction)
}

impl Recording {
    /// The place of a label, added if new; beyond [`MAX_LABELS`] the place of [`OTHER_LABELS`].
    pub fn place(&mut self, label: &str, transaction: bool) -> usize {
        let label = &*addresses(label);
        let label = if self.labels.len() < MAX_LABELS {
            label
        } else {
            self.known(label, transaction)
        };
        let key = (label.to_owned(), transaction);
        *self.index.entry(key).or_insert_with(|| {
            self.labels
                .push(LabelStatistics::new(label.to_owned(), transaction));
            self.labels.len() - 1
        })
    }

    /// Counts a sample that listeners receive.
    pub fn add(&mut self, sample: &Sample) {
        let transaction = sample.is_from_transaction();
        let label_index = self.place(&sample.label, transaction);
        self.add_at(label_index, sample);
    }

    /// Counts a sample of the label at this place.
    pub fn add_at(&mut self, place: usize, sample: &Sample) {
        let label = &mut self.labels[place];
        label.add(sample);
        let transaction = label.transaction;
        if !sample.success && !transaction {
            self.errors.add(sample);
        }
        let code = self.timeline.code_place(&sample.code);
        self.timeline
            .add(&TimelineSample::of(sample, place, code, transaction));
    }

    /// Adds an increment. If it covers several seconds, it counts in the first of them.
    pub fn absorb(&mut self, increment: &Increment) {
        let mut places = Vec::with_capacity(increment.labels.len());
        for label in &increment.labels {
            let label_index = self.place(&label.label, label.transaction);
            self.labels[label_index].absorb(label);
            places.push(label_index);
        }
        for kind in &increment.errors {
            self.errors.add_kind_at(kind.clone(), increment.from_ms);
        }
        self.lateness.absorb(&increment.lateness);
        self.timeline.absorb(increment, &places);
    }

    /// Adds everything in `other`.
    pub fn merge(&mut self, other: &Recording) {
        let mut places = Vec::with_capacity(other.labels.len());
        for label in &other.labels {
            let label_index = self.place(&label.label, label.transaction);
            self.labels[label_index].merge(label);
            places.push(label_index);
        }
        self.errors.merge_all(&other.errors);
        self.lateness.merge(&other.lateness);
        self.timeline.merge(&other.timeline, &places);
    }

    fn known<'a>(&self, label: &'a str, transaction: bool) -> &'a str {
        if self.index.contains_key(&(label.to_owned(), transaction)) {
            label
        } else {
            OTHER_LABELS
        }
    }

    /// The sum over all labels, except those of transaction controllers, which would count samples twice.
    pub fn total(&self) -> LabelStatistics {
        let mut total = LabelStatistics::new("TOTAL".to_owned(), false);
        for label in self.labels.iter().filter(|label| !label.transaction) {
            total.merge(label);
        }
        total
    }

    /// The rows of the table: one per label, then the total.
    pub fn rows(&self) -> Vec<StatisticsRow> {
        let labels = self.labels.iter().map(LabelStatistics::row);
        labels.chain([self.total().row()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::TRANSACTION_MESSAGE_PREFIX;

    fn sample(start_ms: i64, elapsed_ms: i64) -> Sample {
        let mut sample = Sample::new("a".into(), "t".into());
        sample.set_ok();
        sample.start_ms = start_ms;
        sample.set_end(start_ms + elapsed_ms);
        sample.bytes = 1024;
        sample.sent_bytes = 512;
        sample
    }

    #[test]
    fn a_row_adds_up() {
        let mut recording = Recording::default();
        let place = recording.place("a", false);
        for i in 0..100 {
            let mut one = sample(1_000 + i * 10, i + 1);
            one.success = i != 7;
            recording.labels[place].add(&one);
        }
        let row = recording.rows().remove(0);
        // From 1,000 to 2,090.
        assert_eq!((row.count, row.errors, row.error_percent), (100, 1, 1.0));
        assert_eq!((row.min_ms, row.mean_ms, row.max_ms), (1.0, 50.5, 100.0));
        assert_eq!((row.p50_ms, row.p99_ms), (50.5, 99.99));
        assert!((row.throughput_per_s - 100.0 / 1.09).abs() < 1e-9);
        assert!((row.received_kib_per_s - 100.0 / 1.09).abs() < 1e-9);
        assert!((row.sent_kib_per_s - 50.0 / 1.09).abs() < 1e-9);
    }

    #[test]
    fn a_rate_over_no_time_is_zero() {
        let mut label = LabelStatistics::new("a".to_owned(), false);
        assert_eq!(label.row().throughput_per_s, 0.0);
        label.add(&sample(1_000, 0));
        assert_eq!(label.row().throughput_per_s, 0.0);
    }

    #[test]
    fn transactions_stay_out_of_the_total() {
        let mut recording = Recording::default();
        let (plain, transaction) = (recording.place("a", false), recording.place("a", true));
        assert_ne!(plain, transaction);
        recording.labels[plain].add(&sample(1_000, 5));
        recording.labels[transaction].add(&sample(1_000, 50));
        assert_eq!(recording.rows().len(), 3);
        assert_eq!(recording.total().row().count, 1);
        assert_eq!(recording.total().row().max_ms, 5.0);
    }

    #[test]
    fn response_times_include_the_generators_delay() {
        let mut label = LabelStatistics::new("a".to_owned(), false);
        let mut late = sample(1_000, 5);
        late.delay_us = Some(2_000);
        label.add(&late);
        label.add(&sample(1_000, 5));
        assert_eq!(
            (
                label.service.max(),
                label.response.max(),
                label.response.count()
            ),
            (5_000, 7_000, 1)
        );
        label.add(&sample(1_000, 90));
        assert_eq!((label.scheduled.max(), label.scheduled.count()), (5_000, 1));
    }

    #[test]
    fn labels_are_bounded() {
        let mut recording = Recording::default();
        for i in 0..MAX_LABELS + 50 {
            recording.place(&format!("label {i}"), false);
        }
        assert_eq!(recording.labels.len(), MAX_LABELS + 1);
        assert_eq!(recording.place("label 3", false), 3);
        assert_eq!(recording.labels[MAX_LABELS].label, OTHER_LABELS);
    }

    #[test]
    fn the_prefix_marks_transactions() {
        let mut one = sample(1_000, 1);
        one.message =
            format!("{TRANSACTION_MESSAGE_PREFIX}1, number of failing samples : 0").into();
        assert!(one.is_from_transaction());
    }
}
