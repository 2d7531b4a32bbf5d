//! The events since the last increment: the only form in which numbers leave a worker.
//!
//! A [`Collector`](crate::Collector) produces an [`Increment`] for each second. Statistics, pages, sinks and fleets only
//! add increments, so all of them show the same numbers. Addition is associative and commutative, as long as no increment
//! exceeds the limit of distinct errors.
//!
//! [`Increment::encode`] produces the bytes for run files and the network: a version byte, then the fields in declaration
//! order, encoded by postcard.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connections::Connections;
use crate::distribution::Distribution;
use crate::failures::ErrorKind;
use crate::phases::Phases;
use crate::sample::Sample;
use crate::streams::StreamIncrement;
use crate::trace::{self, LabelTrace};

/// The version of the wire form.
const VERSION: u8 = 4;
/// The version of the wire form with streamed responses: the same, and behind it each label's place and its streams.
const VERSION_WITH_STREAMS: u8 = 5;
/// The length of a second, in milliseconds.
const SECOND_MS: i64 = 1_000;
/// Limit of times before and after the Unix epoch: 285,000 years.
const MOST_MS: i64 = 1 << 53;
/// Limit of distinct errors in one increment; the rest are counted together.
const MAX_KINDS: usize = 2_000;
/// The message of the errors beyond the limit.
const OTHER_ERRORS: &str = "(other errors)";

/// The events in a span of time, usually one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Increment {
    /// Start of the span, in milliseconds since the Unix epoch.
    pub from_ms: i64,
    /// End of the span, exclusive.
    pub to_ms: i64,
    /// The labels whose samples ended in the span, ordered by label and `transaction`.
    pub labels: Vec<LabelIncrement>,
    /// Failed samples, ordered by label, code and message, without those of transaction controllers.
    pub errors: Vec<ErrorKind>,
    /// Response codes, sorted, and the number of samples with each, without transaction controllers.
    pub codes: Vec<(String, u64)>,
    /// The start times, second by second, of the samples that ended in the span, without transaction controllers.
    pub starts: Vec<StartCount>,
    /// The users that were active at the ends of samples.
    pub active: ActiveUsers,
    /// Users that started and ended, by thread group, in group order.
    pub users: Vec<GroupUsers>,
    /// The counts of connections.
    pub connections: Connections,
    /// How late the generator itself was when an event was due, in microseconds.
    pub lateness: Distribution,
}

/// The samples of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelIncrement {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller.
    pub transaction: bool,
    /// How many samples.
    pub count: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Samples and their sub-results; a transaction with sub-results does not count itself
    /// (`SamplerMetric.getHits`).
    pub hits: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Sums of the parts of the elapsed times.
    pub phases: Phases,
    /// Start of the first sample, in milliseconds since the Unix epoch.
    pub first_start_ms: i64,
    /// End of the last sample, in milliseconds since the Unix epoch.
    pub last_end_ms: i64,
    /// Elapsed times of the successful samples.
    pub ok: Distribution,
    /// Elapsed times of the failed samples.
    pub failed: Distribution,
    /// Response times from the intended start, of the samples that have one.
    pub response: Distribution,
    /// Elapsed times of the same samples.
    pub scheduled: Distribution,
    /// Times to the first byte of the response.
    pub latency: Distribution,
    /// Times to establish the connection, including name lookup and handshake; 0 for a reused connection.
    pub connect: Distribution,
    /// The generator's own parts of the elapsed times, of the samples where it is known.
    pub own: Distribution,
    /// Elapsed times without the generator's own part, as far as it is known.
    pub target: Distribution,
    /// The traced samples, if requests are traced.
    pub trace: Option<Box<LabelTrace>>,
    /// The streamed responses, if there are any. They stand behind the other fields in the wire form.
    #[serde(skip)]
    pub stream: Option<Box<StreamIncrement>>,
}

/// How many samples began in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartCount {
    /// The second since the Unix epoch.
    pub second: i64,
    /// Samples that began in it.
    pub started: u64,
    /// Samples with an intended start that should have begun in it.
    pub intended: u64,
    /// Samples with an intended start that began in it.
    pub scheduled: u64,
}

/// The users that were active at the ends of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveUsers {
    /// How many samples there were.
    pub samples: u64,
    /// The sum of the active users over these samples.
    pub sum: u64,
    /// The fewest; 0 without samples.
    pub min: u32,
    /// The most.
    pub max: u32,
}

/// Users of a thread group that started and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupUsers {
    /// The index of the group in the plan.
    pub group: u32,
    /// Users that started.
    pub started: u64,
    /// Users that ended.
    pub ended: u64,
}

/// Why bytes cannot be decoded as an increment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncrementError {
    /// It was written by a program of another version.
    Version(u8),
    /// The bytes are damaged.
    Damaged(String),
}

impl fmt::Display for IncrementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IncrementError::Version(version) => {
                write!(
                    f,
                    "the increment has version {version}; this program reads version {VERSION}"
                )
            }
            IncrementError::Damaged(why) => write!(f, "the increment is damaged: {why}"),
        }
    }
}

impl std::error::Error for IncrementError {}

impl Default for Increment {
    /// An empty increment with an empty span.
    fn default() -> Increment {
        Increment {
            from_ms: i64::MAX,
            to_ms: i64::MIN,
            labels: Vec::new(),
            errors: Vec::new(),
            codes: Vec::new(),
            starts: Vec::new(),
            active: ActiveUsers::default(),
            users: Vec::new(),
            connections: Connections::default(),
            lateness: Distribution::default(),
        }
    }
}

impl Increment {
    /// An empty increment of a second, counted since the Unix epoch.
    pub fn of_second(second: i64) -> Increment {
        let from_ms = second.saturating_mul(SECOND_MS);
        Increment {
            from_ms,
            to_ms: from_ms.saturating_add(SECOND_MS),
            ..Increment::default()
        }
    }

    /// Whether it contains no events.
    pub fn is_empty(&self) -> bool {
        let nothing = Increment {
            from_ms: self.from_ms,
            to_ms: self.to_ms,
            ..Increment::default()
        };
        *self == nothing
    }

    /// The numbers of samples and of failed samples, without transaction controllers.
    pub fn totals(&self) -> (u64, u64) {
        let samples = self.labels.iter().filter(|label| !label.transaction);
        samples.fold((0, 0), |(count, errors), label| {
            (count + label.count, errors + label.errors)
        })
    }

    /// Adds all events of `other`; the span is extended to cover both.
    pub fn merge(&mut self, other: Increment) {
        self.from_ms = self.from_ms.min(other.from_ms);
        self.to_ms = self.to_ms.max(other.to_ms);
        merge_sorted(
            &mut self.labels,
            other.labels,
            |a, b| a.key().cmp(&b.key()),
            LabelIncrement::absorb,
        );
        self.add_errors(other.errors);
        merge_sorted(
            &mut self.codes,
            other.codes,
            |a, b| a.0.cmp(&b.0),
            |a, b| a.1 = a.1.saturating_add(b.1),
        );
        merge_sorted(
            &mut self.starts,
            other.starts,
            |a, b| a.second.cmp(&b.second),
            |a, b| {
                a.started = a.started.saturating_add(b.started);
                a.intended = a.intended.saturating_add(b.intended);
                a.scheduled = a.scheduled.saturating_add(b.scheduled);
            },
        );
        self.active.merge(other.active);
        self.add_users(other.users);
        self.connections = self.connections.plus(other.connections);
        self.lateness.merge(&other.lateness);
    }

    /// Adds failures that are ordered by label, code and message.
    pub fn add_errors(&mut self, errors: Vec<ErrorKind>) {
        merge_sorted(
            &mut self.errors,
            errors,
            |a, b| a.key().cmp(&b.key()),
            ErrorKind::absorb,
        );
        if self.errors.len() > MAX_KINDS {
            let rest = self.errors.split_off(MAX_KINDS - 1);
            let mut others = ErrorKind {
                message: OTHER_ERRORS.to_owned(),
                ..ErrorKind::default()
            };
            others.count = rest
                .iter()
                .fold(0, |sum: u64, kind| sum.saturating_add(kind.count));
            merge_sorted(
                &mut self.errors,
                vec![others],
                |a, b| a.key().cmp(&b.key()),
                ErrorKind::absorb,
            );
        }
    }

    /// Adds users that started and ended, in group order.
    pub fn add_users(&mut self, users: Vec<GroupUsers>) {
        merge_sorted(
            &mut self.users,
            users,
            |a, b| a.group.cmp(&b.group),
            |a, b| {
                a.started = a.started.saturating_add(b.started);
                a.ended = a.ended.saturating_add(b.ended);
            },
        );
    }

    /// Notes the number of users that ran at a moment of the span.
    pub fn note_users(&mut self, users: u64) {
        let users = u32::try_from(users).unwrap_or(u32::MAX);
        self.active.max = self.active.max.max(users);
    }

    /// Counts a sample but not its error. For the few samples that ended outside the open second.
    pub(crate) fn add(&mut self, sample: &Sample, label: &str, transaction: bool) {
        let key = (label, transaction);
        let index = self
            .labels
            .binary_search_by(|label| label.key().cmp(&key))
            .unwrap_or_else(|index| {
                let new = LabelIncrement::new(label.to_owned(), transaction);
                self.labels.insert(index, new);
                index
            });
        let label = &mut self.labels[index];
        label.count(sample);
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
        if transaction {
            return;
        }
        let count = u64::from(sample.sample_count);
        let code = sample.code.as_str();
        match self
            .codes
            .binary_search_by(|(known, _)| known.as_str().cmp(code))
        {
            Ok(index) => self.codes[index].1 += count,
            Err(index) => self.codes.insert(index, (code.to_owned(), count)),
        }
        note_start(&mut self.starts, sample);
        self.active.record(sample.all_threads);
    }

    /// Encodes the increment in the wire format.
    pub fn encode(&self) -> Vec<u8> {
        const EVERYTHING: &str = "a growing buffer takes all, and every field has a wire form";
        let labels = self.labels.iter().enumerate();
        let streams: Vec<(usize, &StreamIncrement)> = labels
            .filter_map(|(place, label)| Some((place, label.stream.as_deref()?)))
            .collect();
        if streams.is_empty() {
            return postcard::to_extend(self, vec![VERSION]).expect(EVERYTHING);
        }
        let bytes = postcard::to_extend(self, vec![VERSION_WITH_STREAMS]).expect(EVERYTHING);
        postcard::to_extend(&streams, bytes).expect(EVERYTHING)
    }

    /// Decodes the output of [`Increment::encode`]. The memory taken is a small multiple of the input's length.
    ///
    /// # Errors
    /// If the bytes are of another version or damaged.
    pub fn decode(bytes: &[u8]) -> Result<Increment, IncrementError> {
        let (&version, rest) = bytes.split_first().ok_or_else(|| damaged("it is empty"))?;
        if !matches!(version, VERSION | VERSION_WITH_STREAMS) {
            return Err(IncrementError::Version(version));
        }
        let (mut increment, mut rest): (Increment, _) =
            postcard::take_from_bytes(rest).map_err(|error| damaged(&error.to_string()))?;
        if version == VERSION_WITH_STREAMS {
            rest = increment.take_streams(rest)?;
        }
        if !rest.is_empty() {
            return Err(damaged("something follows it"));
        }
        if !increment.is_in_order() {
            return Err(damaged("its parts are not in order"));
        }
        if !increment.has_plausible_times() {
            return Err(damaged("its times are out of range"));
        }
        Ok(increment)
    }

    /// Takes the streamed responses of the labels from the start of the bytes. Returns the rest.
    fn take_streams<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], IncrementError> {
        let (streams, rest): (Vec<(usize, StreamIncrement)>, _) =
            postcard::take_from_bytes(bytes).map_err(|error| damaged(&error.to_string()))?;
        for (place, stream) in streams {
            let label = self
                .labels
                .get_mut(place)
                .ok_or_else(|| damaged("a stream has no label"))?;
            label.stream = Some(Box::new(stream));
        }
        Ok(rest)
    }

    /// Whether the times are small enough that arithmetic with them cannot overflow.
    fn has_plausible_times(&self) -> bool {
        let nowhere = (i64::MAX, i64::MIN);
        let span = (self.from_ms, self.to_ms);
        let has_span = span.0 < span.1 && is_plausible(span.0) && is_plausible(span.1);
        let starts = self.starts.iter();
        (has_span || (span == nowhere && self.labels.is_empty()))
            && starts
                .map(|start| start.second)
                .all(|second| is_plausible(second.saturating_mul(SECOND_MS)))
    }

    /// Whether all lists are sorted and free of duplicates, as merging requires.
    fn is_in_order(&self) -> bool {
        self.labels.is_sorted_by(|a, b| a.key() < b.key())
            && self.errors.is_sorted_by(|a, b| a.key() < b.key())
            && self.codes.is_sorted_by(|a, b| a.0 < b.0)
            && self.starts.is_sorted_by(|a, b| a.second < b.second)
            && self.users.is_sorted_by(|a, b| a.group < b.group)
    }
}

fn damaged(why: &str) -> IncrementError {
    IncrementError::Damaged(why.to_owned())
}

fn is_plausible(ms: i64) -> bool {
    (-MOST_MS..=MOST_MS).contains(&ms)
}

/// Counts a sample's start and its intended start.
pub(crate) fn note_start(starts: &mut Vec<StartCount>, sample: &Sample) {
    let count = u64::from(sample.sample_count);
    start_at(starts, sample.start_ms).started += count;
    if let Some(delay_us) = sample.delay_us {
        let intended_ms = sample.start_ms.saturating_sub_unsigned(delay_us / 1000);
        start_at(starts, intended_ms).intended += count;
        start_at(starts, sample.start_ms).scheduled += count;
    }
}

/// The counts of the second that contains `at_ms`. Nearly all samples begin in one of the last seconds.
fn start_at(starts: &mut Vec<StartCount>, at_ms: i64) -> &mut StartCount {
    let second = at_ms.div_euclid(SECOND_MS);
    let later = starts
        .iter()
        .rev()
        .take_while(|known| known.second > second);
    let index = starts.len() - later.count();
    if index > 0 && starts[index - 1].second == second {
        return &mut starts[index - 1];
    }
    let new = StartCount {
        second,
        started: 0,
        intended: 0,
        scheduled: 0,
    };
    starts.insert(index, new);
    &mut starts[index]
}

/// Merges a sorted list into another and adds up the entries that both contain.
fn merge_sorted<T>(
    own: &mut Vec<T>,
    other: Vec<T>,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
    mut add: impl FnMut(&mut T, T),
) {
    if own.is_empty() {
        *own = other;
        return;
    }
    let mut merged: Vec<T> = Vec::with_capacity(own.len().max(other.len()));
    let mut mine = std::mem::take(own).into_iter().peekable();
    for theirs in other {
        while let Some(next) = mine.next_if(|next| order(next, &theirs).is_lt()) {
            merged.push(next);
        }
        match mine.next_if(|next| order(next, &theirs).is_eq()) {
            Some(mut same) => {
                add(&mut same, theirs);
                merged.push(same);
            }
            None => merged.push(theirs),
        }
    }
    merged.extend(mine);
    *own = merged;
}

impl LabelIncrement {
    /// No samples yet.
    pub fn new(label: String, transaction: bool) -> LabelIncrement {
        LabelIncrement {
            label,
            transaction,
            count: 0,
            errors: 0,
            hits: 0,
            bytes: 0,
            sent_bytes: 0,
            phases: Phases::default(),
            first_start_ms: i64::MAX,
            last_end_ms: i64::MIN,
            ok: Distribution::default(),
            failed: Distribution::default(),
            response: Distribution::default(),
            scheduled: Distribution::default(),
            latency: Distribution::default(),
            connect: Distribution::default(),
            own: Distribution::default(),
            target: Distribution::default(),
            trace: None,
            stream: None,
        }
    }

    pub(crate) fn key(&self) -> (&str, bool) {
        (&self.label, self.transaction)
    }

    /// Counts a sample without its times, but with those of a streamed response.
    pub(crate) fn count(&mut self, sample: &Sample) {
        self.count += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count());
        self.hits += hits(sample);
        self.bytes += sample.counted_bytes();
        self.sent_bytes += sample.sent_bytes;
        self.phases.add(Phases::of(sample));
        self.first_start_ms = self.first_start_ms.min(sample.start_ms);
        self.last_end_ms = self.last_end_ms.max(sample.end_ms);
        trace::count(&mut self.trace, sample);
        if let Some(stream) = &sample.stream {
            self.stream.get_or_insert_default().add(stream);
        }
    }

    /// Adds the samples of another label, or of the same.
    pub fn absorb(&mut self, other: LabelIncrement) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.hits = self.hits.saturating_add(other.hits);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.phases.add(other.phases);
        self.first_start_ms = self.first_start_ms.min(other.first_start_ms);
        self.last_end_ms = self.last_end_ms.max(other.last_end_ms);
        self.ok.merge(&other.ok);
        self.failed.merge(&other.failed);
        self.response.merge(&other.response);
        self.scheduled.merge(&other.scheduled);
        self.latency.merge(&other.latency);
        self.connect.merge(&other.connect);
        self.own.merge(&other.own);
        self.target.merge(&other.target);
        trace::merge(&mut self.trace, other.trace.as_deref());
        if let Some(stream) = &other.stream {
            self.stream.get_or_insert_default().merge(stream);
        }
    }

    /// The elapsed times of all samples.
    pub fn elapsed(&self) -> Distribution {
        let mut all = self.ok.clone();
        all.merge(&self.failed);
        all
    }
}

/// `SamplerMetric.addHits`: a transaction controller's sample counts as its sub-results.
fn hits(sample: &Sample) -> u64 {
    if sample.children.is_empty() {
        return u64::from(sample.sample_count);
    }
    let sample_count = if sample.is_from_transaction() {
        0
    } else {
        u64::from(sample.sample_count)
    };
    sample_count + sample.children.iter().map(hits).sum::<u64>()
}

/// The times of a sample that enter distributions, in microseconds.
pub(crate) struct SampleTimes {
    pub elapsed_us: u64,
    pub response_us: Option<u64>,
    pub latency_us: u64,
    pub connect_us: u64,
    /// Not longer than the elapsed time.
    pub own_us: Option<u64>,
    /// The elapsed time without the own part, if that is known.
    pub target_us: u64,
}

impl SampleTimes {
    pub(crate) fn of(sample: &Sample) -> SampleTimes {
        let elapsed_us = sample.precise_service_us();
        let phases = Phases::of(sample);
        let own_us = sample.own_us.map(|own_us| own_us.min(elapsed_us));
        let connect_us = phases
            .resolve_us
            .saturating_add(phases.connect_us)
            .saturating_add(phases.handshake_us);
        SampleTimes {
            elapsed_us,
            response_us: sample
                .delay_us
                .map(|delay_us| elapsed_us.saturating_add(delay_us)),
            latency_us: connect_us.saturating_add(phases.wait_us),
            connect_us,
            own_us,
            target_us: elapsed_us - own_us.unwrap_or(0),
        }
    }
}

impl ActiveUsers {
    /// Counts the users that were active when a sample ended.
    pub fn record(&mut self, users: u32) {
        self.min = if self.samples == 0 {
            users
        } else {
            self.min.min(users)
        };
        self.max = self.max.max(users);
        self.samples += 1;
        self.sum = self.sum.saturating_add(u64::from(users));
    }

    fn merge(&mut self, other: ActiveUsers) {
        if other.samples == 0 {
            self.max = self.max.max(other.max);
            return;
        }
        self.min = if self.samples == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.samples = self.samples.saturating_add(other.samples);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// The mean; 0 without samples.
    pub fn mean(&self) -> f64 {
        match self.samples {
            0 => 0.0,
            samples => self.sum as f64 / samples as f64,
        }
    }
}

#[cfg(test)]
mod tests;
