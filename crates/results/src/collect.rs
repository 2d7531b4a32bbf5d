//! Aggregates one worker's samples into increments, without locking and without allocating per sample.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use drumfire_platform::secrets::addresses;
use rustc_hash::FxHashMap;

use crate::buckets::bucket;
use crate::counting_sort::counting_sort;
use crate::distribution::Distribution;
use crate::failures::{ErrorKind, ErrorKinds};
use crate::histogram::BUCKET_BITS;
use crate::increment::{
    ActiveUsers, Increment, LabelIncrement, SampleTimes, StartCount, note_start,
};
use crate::sample::Sample;
use crate::statistics::{MAX_LABELS, OTHER_LABELS};
use crate::timeline::Codes;
use crate::trace::SlowestSoFar;

/// Number of values that a tally buffers before it sorts them into buckets.
const FRESH: usize = 512;
/// Number of seconds, besides the open one, for which the collector keeps separate increments. Beyond it, samples are added to
/// the latest of them.
const MOST_OTHERS: usize = 64;

/// Default limit of a label's length, in bytes; genuine labels are shorter.
const LABEL_BYTES: usize = 64 << 10;

/// Aggregates samples into increments. One second is open: the one in which nearly all current samples end.
#[derive(Debug)]
pub struct Collector {
    /// Whether this collector serves one backend listener: it counts results as reported and ignores a transaction's sub-results.
    is_of_listener: bool,
    /// The start of the open second, in milliseconds since the Unix epoch.
    open_ms: i64,
    /// Indices into `labels`, of plain samples and of transaction controllers' samples.
    index: [FxHashMap<Rc<str>, usize>; 2],
    labels: Vec<LabelTally>,
    /// Indices of the labels with samples in the open second.
    touched: Vec<usize>,
    /// Indices of the labels with samples in other seconds since `count_labels` last ran.
    uncounted: Vec<usize>,
    codes: Codes,
    /// Number of samples in the open second for each response code, by the code's place.
    code_counts: Vec<u64>,
    starts: Vec<StartCount>,
    active: ActiveUsers,
    /// Samples that ended in seconds other than the open one.
    others: BTreeMap<i64, Increment>,
    /// Completed seconds.
    sealed: Vec<Increment>,
    errors: ErrorKinds,
    /// Longer labels are truncated to this many bytes.
    label_bytes: usize,
}

impl Default for Collector {
    fn default() -> Collector {
        Collector {
            is_of_listener: false,
            open_ms: 0,
            index: Default::default(),
            labels: Vec::new(),
            touched: Vec::new(),
            uncounted: Vec::new(),
            codes: Codes::default(),
            code_counts: Vec::new(),
            starts: Vec::new(),
            active: ActiveUsers::default(),
            others: BTreeMap::new(),
            sealed: Vec::new(),
            errors: ErrorKinds::default(),
            label_bytes: LABEL_BYTES,
        }
    }
}

/// The samples of one label in the open second.
#[derive(Debug)]
struct LabelTally {
    /// All values except the distributions.
    told: LabelIncrement,
    /// Samples and failed samples of all earlier seconds.
    before: (u64, u64),
    ok: Tally,
    failed: Tally,
    response: Tally,
    scheduled: Tally,
    latency: Tally,
    connect: Tally,
    own: Tally,
    target: Tally,
    slowest: SlowestSoFar,
}

/// Elapsed times, sorted into buckets in batches. This costs ten nanoseconds a value and no memory for empty buckets.
#[derive(Debug, Default)]
struct Tally {
    sum: u128,
    min: u64,
    max: u64,
    /// Number of zeros: the times to connect of all requests over open connections.
    zeros: u64,
    /// Buckets of the latest values, not sorted yet.
    fresh: Vec<u16>,
    sorted: Distribution,
}

impl Tally {
    #[inline]
    fn record(&mut self, us: u64) {
        self.min = if self.is_empty() {
            us
        } else {
            self.min.min(us)
        };
        if us == 0 {
            self.zeros += 1;
            return;
        }
        self.max = self.max.max(us);
        self.sum += u128::from(us);
        self.fresh.push(bucket(us, BUCKET_BITS) as u16);
        if self.fresh.len() == FRESH {
            self.sort();
        }
    }

    fn is_empty(&self) -> bool {
        self.zeros == 0 && self.fresh.is_empty() && self.sorted.buckets.is_empty()
    }

    #[cold]
    fn sort(&mut self) {
        counting_sort(&mut self.fresh);
        let runs = self.fresh.chunk_by(|a, b| a == b);
        let counted = runs.map(|run| (usize::from(run[0]), run.len() as u64));
        self.sorted.buckets.merge_entries(counted);
        self.fresh.clear();
    }

    /// Returns the distribution and starts a new one.
    fn take(&mut self) -> Distribution {
        if !self.fresh.is_empty() {
            self.sort();
        }
        if self.zeros > 0 {
            let zeros = (bucket(0, BUCKET_BITS), std::mem::take(&mut self.zeros));
            self.sorted.buckets.merge_entries(std::iter::once(zeros));
        }
        Distribution {
            sum: std::mem::take(&mut self.sum),
            min: std::mem::take(&mut self.min),
            max: std::mem::take(&mut self.max),
            ..std::mem::take(&mut self.sorted)
        }
    }
}

/// The number of samples of a label since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller.
    pub transaction: bool,
    /// How many samples.
    pub count: u64,
    /// How many of them failed.
    pub errors: u64,
}

impl Collector {
    /// A collector for a backend listener, which counts as JMeter's does (`SamplerMetric`): a transaction with sub-results counts
    /// as a plain sample.
    pub(crate) fn of_listener() -> Collector {
        Collector {
            is_of_listener: true,
            ..Collector::default()
        }
    }

    /// Truncates labels to this many bytes, so that a server or script that generates labels cannot exhaust memory.
    pub fn limit_labels(&mut self, bytes: usize) {
        self.label_bytes = bytes;
    }

    /// Counts a sample that listeners receive. Sub-results of a transaction's parent sample never reach listeners on their own,
    /// so this counts them too.
    pub fn record(&mut self, sample: &Sample) {
        let transaction = sample.is_from_transaction();
        if self.is_of_listener {
            self.count_heard(sample, transaction && sample.children.is_empty());
        } else {
            self.count(sample, transaction);
        }
    }

    /// Counts a result without its sub-results; a failed transaction counts as an error, too.
    fn count_heard(&mut self, sample: &Sample, transaction: bool) {
        self.count_times(sample, transaction);
        if !sample.success {
            self.errors.add_heard(sample);
        }
    }

    fn count(&mut self, sample: &Sample, transaction: bool) {
        self.count_times(sample, transaction);
        if !sample.success && !transaction {
            self.errors.add_within_span(sample);
        }
        if transaction {
            for child in &sample.children {
                self.count(child, child.is_from_transaction());
            }
        }
    }

    fn count_times(&mut self, sample: &Sample, transaction: bool) {
        if !(0..1_000).contains(&sample.end_ms.wrapping_sub(self.open_ms)) {
            self.other_second(sample, transaction);
        } else {
            self.count_open(sample, transaction);
        }
    }

    /// Opens a later second, or counts a sample that was recorded late in its own second.
    #[cold]
    fn other_second(&mut self, sample: &Sample, transaction: bool) {
        if sample.end_ms > self.open_ms {
            self.seal();
            self.open_ms = sample.end_ms.div_euclid(1_000).saturating_mul(1_000);
            if (0..1_000).contains(&sample.end_ms.wrapping_sub(self.open_ms)) {
                return self.count_open(sample, transaction);
            }
        }
        let index = self.place(sample, transaction);
        self.uncounted.push(index);
        let label = &mut self.labels[index];
        label.before.0 += u64::from(sample.sample_count);
        label.before.1 += u64::from(sample.error_count());
        let second = sample.end_ms.div_euclid(1_000);
        let full = self.others.len() >= MOST_OTHERS && !self.others.contains_key(&second);
        let second = match self.others.last_key_value() {
            Some((&last, _)) if full => last,
            _ => second,
        };
        let label = label.told.label.as_str();
        let increment = self
            .others
            .entry(second)
            .or_insert_with(|| Increment::of_second(second));
        increment.add(sample, label, transaction);
        if transaction && self.is_of_listener {
            increment.active.record(sample.all_threads);
        }
    }

    fn count_open(&mut self, sample: &Sample, transaction: bool) {
        let index = self.place(sample, transaction);
        let label = &mut self.labels[index];
        if label.told.first_start_ms == i64::MAX {
            self.touched.push(index);
        }
        label.told.count(sample);
        let times = SampleTimes::of(sample);
        let elapsed = if sample.success {
            &mut label.ok
        } else {
            &mut label.failed
        };
        elapsed.record(times.elapsed_us);
        if let Some(response_us) = times.response_us {
            label.response.record(response_us);
            label.scheduled.record(times.elapsed_us);
        }
        label.latency.record(times.latency_us);
        label.connect.record(times.connect_us);
        if let Some(own_us) = times.own_us {
            label.own.record(own_us);
        }
        label.target.record(times.target_us);
        if self.is_of_listener {
            self.active.record(sample.all_threads);
            return;
        }
        if transaction {
            return;
        }
        let code = usize::from(self.codes.place(&sample.code));
        if self.code_counts.len() <= code {
            self.code_counts.resize(code + 1, 0);
        }
        self.code_counts[code] += u64::from(sample.sample_count);
        note_start(&mut self.starts, sample);
        self.active.record(sample.all_threads);
    }

    fn place(&mut self, sample: &Sample, transaction: bool) -> usize {
        match self.index[usize::from(transaction)].get(&sample.label) {
            Some(&place) => place,
            None => self.add_label(&sample.label, transaction),
        }
    }

    #[cold]
    fn add_label(&mut self, label: &Rc<str>, transaction: bool) -> usize {
        let index = &mut self.index[usize::from(transaction)];
        let label = if index.len() >= MAX_LABELS {
            Rc::from(OTHER_LABELS)
        } else if label.len() > self.label_bytes {
            Rc::from(&label[..label.floor_char_boundary(self.label_bytes)])
        } else {
            Rc::clone(label)
        };
        let label = match addresses(&label) {
            Cow::Owned(masked) => Rc::from(masked),
            Cow::Borrowed(_) => label,
        };
        if let Some(&known_index) = index.get(&label) {
            return known_index;
        }
        self.labels.push(LabelTally {
            told: LabelIncrement::new(label.as_ref().to_owned(), transaction),
            before: (0, 0),
            ok: Tally::default(),
            failed: Tally::default(),
            response: Tally::default(),
            scheduled: Tally::default(),
            latency: Tally::default(),
            connect: Tally::default(),
            own: Tally::default(),
            target: Tally::default(),
            slowest: SlowestSoFar::default(),
        });
        index.insert(label, self.labels.len() - 1);
        self.labels.len() - 1
    }

    /// Ends the open second.
    fn seal(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let mut increment = Increment::of_second(self.open_ms.div_euclid(1_000));
        increment.labels.reserve(self.touched.len());
        self.uncounted.extend(&self.touched);
        for place in self.touched.drain(..) {
            let label = self.labels[place].take();
            increment.labels.push(label);
        }
        increment.labels.sort_by(|a, b| a.key().cmp(&b.key()));
        let names = self.codes.names().iter();
        let counted = names.zip(&mut self.code_counts);
        increment.codes = counted
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| (name.clone(), std::mem::take(count)))
            .collect();
        increment.codes.sort();
        increment.starts = std::mem::take(&mut self.starts);
        increment.active = std::mem::take(&mut self.active);
        self.sealed.push(increment);
    }

    /// Takes the seconds before the one that contains `now_ms`, and the samples that were recorded late. Failures are taken
    /// [separately](Collector::take_errors).
    pub fn take(&mut self, now_ms: i64) -> Vec<Increment> {
        if !(0..1_000).contains(&now_ms.wrapping_sub(self.open_ms)) {
            self.seal();
            self.open_ms = now_ms.div_euclid(1_000) * 1_000;
        }
        self.sealed
            .extend(std::mem::take(&mut self.others).into_values());
        std::mem::take(&mut self.sealed)
    }

    /// Takes all seconds, including the open one.
    pub fn take_all(&mut self) -> Vec<Increment> {
        self.seal();
        self.take(self.open_ms)
    }

    /// Takes everything as one increment, including failures.
    pub(crate) fn take_sum(&mut self) -> Increment {
        let mut sum = Increment::default();
        for second in self.take_all() {
            sum.merge(second);
        }
        sum.add_errors(self.take_errors());
        // Only `count_labels` reads this list, and only the worker's own collector calls that.
        self.uncounted.clear();
        sum
    }

    /// Updates the counts of all labels; the index of a label never changes.
    pub(crate) fn count_labels(&mut self, counts: &mut Vec<LabelCount>) {
        for label in &self.labels[counts.len().min(self.labels.len())..] {
            counts.push(LabelCount {
                label: label.told.label.clone(),
                transaction: label.told.transaction,
                ..LabelCount::default()
            });
        }
        for place in self.uncounted.drain(..) {
            let label = &self.labels[place];
            (counts[place].count, counts[place].errors) = label.so_far();
        }
        for &place in &self.touched {
            (counts[place].count, counts[place].errors) = self.labels[place].so_far();
        }
    }

    /// Takes the failures since the last call, ordered by label, code and message.
    pub fn take_errors(&mut self) -> Vec<ErrorKind> {
        self.errors.drain()
    }
}

impl LabelTally {
    /// Samples and failed samples since the start of the run.
    fn so_far(&self) -> (u64, u64) {
        let (count, errors) = self.before;
        (count + self.told.count, errors + self.told.errors)
    }

    fn take(&mut self) -> LabelIncrement {
        self.before.0 += self.told.count;
        self.before.1 += self.told.errors;
        if let Some(trace) = &mut self.told.trace {
            self.slowest.filter(trace);
        }
        let new = LabelIncrement::new(self.told.label.clone(), self.told.transaction);
        LabelIncrement {
            ok: self.ok.take(),
            failed: self.failed.take(),
            response: self.response.take(),
            scheduled: self.scheduled.take(),
            latency: self.latency.take(),
            connect: self.connect.take(),
            own: self.own.take(),
            target: self.target.take(),
            ..std::mem::replace(&mut self.told, new)
        }
    }
}
