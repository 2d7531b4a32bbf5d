//! Counters and small histograms over time, in steps, for the whole run and for each label.
//!
//! A step is one second at first. A long run, or one with many labels, gets longer steps, so that memory is bounded. The lengths
//! come from [`STEPS_S`], in which each is a multiple of the one before, and steps are aligned to multiples of their length since
//! the Unix epoch. Neighbouring steps can therefore be added up exactly, and so can timelines of several runs.

use serde::{Deserialize, Serialize};

use crate::increment::{Increment, LabelIncrement};
use crate::phases::Phases;
use crate::sample::Sample;
use crate::sparse::Sparse;

/// The lengths of a step, in seconds; each is a multiple of the one before.
const STEPS_S: [u32; 12] = [
    1, 5, 10, 30, 60, 120, 600, 1_200, 3_600, 21_600, 86_400, 604_800,
];
/// Limit of the steps of the whole run or a label, beyond which steps get longer: ten minutes at first, about the width of a
/// chart.
const MOST_STEPS: usize = 600;
/// Memory limit for the steps of all labels, in bytes, beyond which these get longer.
const LABEL_BYTES: usize = 12 << 20;
/// Limit of distinct response codes.
const MAX_CODES: usize = 200;
/// The code of samples beyond [`MAX_CODES`].
const OTHER_CODES: &str = "(other codes)";

/// The values of one sample that the timeline counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimelineSample {
    /// The place of the label.
    pub label: usize,
    /// The place of the response code, as [`Codes::place`] gave it.
    pub code: u16,
    /// Number of samples that this one represents.
    pub count: u32,
    /// Number of them that failed.
    pub errors: u32,
    /// Whether the sample is a transaction controller's, which the whole run's steps exclude.
    pub transaction: bool,
    /// Start, in milliseconds since the Unix epoch.
    pub start_ms: i64,
    /// End, in milliseconds since the Unix epoch.
    pub end_ms: i64,
    /// How late the start was, in microseconds, where an intended start is known.
    pub delay_us: Option<u64>,
    /// Elapsed time, in microseconds.
    pub service_us: u64,
    /// The phases of the elapsed time.
    pub phases: Phases,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Users that ran when the sample ended.
    pub users: u32,
}

impl TimelineSample {
    /// Extracts the values of a sample, with the places of its label and its code.
    pub fn of(sample: &Sample, label: usize, code: u16, transaction: bool) -> TimelineSample {
        TimelineSample {
            label,
            code,
            count: sample.sample_count,
            errors: sample.error_count(),
            transaction,
            start_ms: sample.start_ms,
            end_ms: sample.end_ms,
            delay_us: sample.delay_us,
            service_us: sample.precise_service_us(),
            phases: Phases::of(sample),
            bytes: sample.counted_bytes(),
            sent_bytes: sample.sent_bytes,
            users: sample.all_threads,
        }
    }
}

/// Response codes, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Codes(Vec<String>);

impl Codes {
    /// The place of a code, added if new. Allocates only for a new code.
    pub fn place(&mut self, code: &str) -> u16 {
        if let Some(known_index) = self.0.iter().position(|known| known == code) {
            return known_index as u16;
        }
        if self.0.len() > MAX_CODES {
            return MAX_CODES as u16;
        }
        let full = self.0.len() == MAX_CODES;
        self.0
            .push(if full { OTHER_CODES } else { code }.to_owned());
        (self.0.len() - 1) as u16
    }

    /// The codes; a code's place is its index.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// The samples that ended in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CellRow", into = "CellRow")]
pub struct Cell {
    /// The number of the step since the Unix epoch.
    pub at: i64,
    /// How many samples.
    pub count: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Sum of the elapsed times, in microseconds.
    pub service_us: u64,
    /// Sums of the phases of the elapsed times.
    pub phases: Phases,
    /// Elapsed times, in microseconds.
    pub histogram: Sparse,
}

/// The serialized form of a cell: its fields in order.
type CellRow = (i64, u64, u64, u64, u64, u64, Phases, Sparse);

impl From<CellRow> for Cell {
    fn from(row: CellRow) -> Cell {
        let (at, count, errors, bytes, sent_bytes, service_us, phases, histogram) = row;
        Cell {
            at,
            count,
            errors,
            bytes,
            sent_bytes,
            service_us,
            phases,
            histogram,
        }
    }
}

impl From<Cell> for CellRow {
    fn from(cell: Cell) -> CellRow {
        (
            cell.at,
            cell.count,
            cell.errors,
            cell.bytes,
            cell.sent_bytes,
            cell.service_us,
            cell.phases,
            cell.histogram,
        )
    }
}

impl Cell {
    fn of(label: &LabelIncrement) -> Cell {
        let mut cell = Cell {
            count: label.count,
            errors: label.errors,
            bytes: label.bytes,
            sent_bytes: label.sent_bytes,
            service_us: u64::try_from(label.ok.sum.saturating_add(label.failed.sum))
                .unwrap_or(u64::MAX),
            phases: label.phases,
            ..Cell::default()
        };
        cell.histogram.merge_finer(&label.ok.buckets);
        cell.histogram.merge_finer(&label.failed.buckets);
        cell
    }

    fn add(&mut self, moment: &TimelineSample) {
        self.count += u64::from(moment.count);
        self.errors += u64::from(moment.errors);
        self.bytes += moment.bytes;
        self.sent_bytes += moment.sent_bytes;
        self.service_us = self.service_us.saturating_add(moment.service_us);
        self.phases.add(moment.phases);
        self.histogram.record(moment.service_us);
    }
}

/// One step of the whole run; transaction controllers are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalCell {
    /// The samples that ended in the step.
    pub ended: Cell,
    /// How many samples started in the step.
    pub started: u64,
    /// How many samples with an intended start should have started in the step.
    pub intended: u64,
    /// How many samples with an intended start started in the step.
    #[serde(default)]
    pub scheduled: u64,
    /// The maximum number of active users.
    pub users: u32,
    /// The place of each response code and its number of samples, ordered by place.
    pub codes: Vec<(u16, u64)>,
}

/// An entry of a timeline, which is sorted by step number.
trait Stepped: Default {
    fn at(&self) -> i64;
    fn set_at(&mut self, at: i64);
    fn merge(&mut self, other: &Self);
    fn histogram(&self) -> &Sparse;
    /// Packs its histograms.
    fn pack(&mut self);
}

impl Stepped for Cell {
    fn at(&self) -> i64 {
        self.at
    }

    fn set_at(&mut self, at: i64) {
        self.at = at;
    }

    fn merge(&mut self, other: &Cell) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.service_us = self.service_us.saturating_add(other.service_us);
        self.phases.add(other.phases);
        self.histogram.merge(&other.histogram);
    }

    fn histogram(&self) -> &Sparse {
        &self.histogram
    }

    fn pack(&mut self) {
        self.histogram.pack();
    }
}

impl Stepped for TotalCell {
    fn at(&self) -> i64 {
        self.ended.at
    }

    fn set_at(&mut self, at: i64) {
        self.ended.at = at;
    }

    fn merge(&mut self, other: &TotalCell) {
        self.ended.merge(&other.ended);
        self.started += other.started;
        self.intended += other.intended;
        self.scheduled += other.scheduled;
        self.users = self.users.max(other.users);
        for &(code, count) in &other.codes {
            self.count_code(code, count);
        }
    }

    fn histogram(&self) -> &Sparse {
        &self.ended.histogram
    }

    fn pack(&mut self) {
        self.ended.pack();
        self.codes.shrink_to_fit();
    }
}

impl TotalCell {
    fn count_code(&mut self, code: u16, count: u64) {
        let at = self.codes.partition_point(|(known, _)| *known < code);
        match self.codes.get_mut(at).filter(|(known, _)| *known == code) {
            Some((_, known)) => *known = known.saturating_add(count),
            None => self.codes.insert(at, (code, count)),
        }
    }
}

/// Number of cells to check from the end before a binary search.
const NEAR: usize = 8;
/// Number of steps at the end that still receive samples, since the ends of samples are reported late.
const OPEN_STEPS: usize = 2;

/// The index of the step that contains a time, inserted if new. Nearly all times are in the last step.
fn place_at<T: Stepped>(cells: &mut Vec<T>, at_ms: i64, step_ms: i64) -> usize {
    match cells.last() {
        Some(last) if (0..step_ms).contains(&(at_ms - last.at() * step_ms)) => cells.len() - 1,
        _ => place(cells, at_ms.div_euclid(step_ms)),
    }
}

/// The index of a step, inserted if new. Samples arrive nearly in order, so the search starts at the end.
fn place<T: Stepped>(cells: &mut Vec<T>, at: i64) -> usize {
    let later = cells.iter().rev().take(NEAR);
    let index = match later.take_while(|cell| cell.at() > at).count() {
        NEAR => cells.partition_point(|cell| cell.at() <= at),
        back => cells.len() - back,
    };
    if index > 0 && cells[index - 1].at() == at {
        return index - 1;
    }
    let mut new = T::default();
    new.set_at(at);
    if cells.len() == cells.capacity() {
        // Doubling would leave room for half of the steps of each label unused.
        cells.reserve_exact(cells.len() / 8 + 4);
    }
    cells.insert(index, new);
    index
}

/// After a new step was added, packs the latest one that usually receives no more samples. Returns the memory that this frees in
/// its histogram, in bytes.
fn pack_past<T: Stepped>(cells: &mut [T]) -> usize {
    let Some(past) = cells.len().checked_sub(1 + OPEN_STEPS) else {
        return 0;
    };
    let before = cells[past].histogram().bytes();
    cells[past].pack();
    before.saturating_sub(cells[past].histogram().bytes())
}

/// Makes each step `factor` times as long.
fn coarsen<T: Stepped>(cells: &mut Vec<T>, factor: i64) {
    let mut coarse: Vec<T> = Vec::with_capacity(cells.len() / factor as usize + 1);
    for mut old in cells.drain(..) {
        let at = old.at().div_euclid(factor);
        match coarse.last_mut().filter(|last| last.at() == at) {
            Some(last) => last.merge(&old),
            None => {
                old.set_at(at);
                coarse.push(old);
                pack_past(&mut coarse);
            }
        }
    }
    *cells = coarse;
}

/// The steps of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a step of the whole run, in seconds.
    total_step_s: u32,
    /// Length of a step of a label, in seconds.
    label_step_s: u32,
    total: Vec<TotalCell>,
    labels: Vec<Vec<Cell>>,
    codes: Codes,
    /// Approximate memory of `labels`, in bytes.
    #[serde(skip)]
    label_bytes: usize,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            total_step_s: STEPS_S[0],
            label_step_s: STEPS_S[0],
            total: Vec::new(),
            labels: Vec::new(),
            codes: Codes::default(),
            label_bytes: 0,
        }
    }
}

impl Timeline {
    /// Counts a sample; its label and code are places in this timeline.
    pub fn add(&mut self, moment: &TimelineSample) {
        let step_ms = i64::from(self.label_step_s) * 1000;
        if self.labels.len() <= moment.label {
            self.labels.resize_with(moment.label + 1, Vec::new);
        }
        let cells = &mut self.labels[moment.label];
        let length_before = cells.len();
        let cell_index = place_at(cells, moment.end_ms, step_ms);
        let cell = &mut cells[cell_index];
        let before = cell.histogram.bytes();
        cell.add(moment);
        self.label_bytes += cell.histogram.bytes() - before;
        let steps = cells.len();
        if steps > length_before {
            self.label_bytes += size_of::<Cell>();
            self.label_bytes = self.label_bytes.saturating_sub(pack_past(cells));
        }
        if steps > MOST_STEPS || self.label_bytes > LABEL_BYTES {
            self.coarsen_labels_to(longer(self.label_step_s));
        }
        if !moment.transaction {
            self.add_to_total(moment);
        }
    }

    /// Counts the samples of an increment in the step in which its span begins. `places` maps each of its labels to a place here.
    pub fn absorb(&mut self, increment: &Increment, places: &[usize]) {
        let mut ended = Cell::default();
        for (label, &place) in increment.labels.iter().zip(places) {
            let cell = Cell::of(label);
            if !label.transaction {
                ended.merge(&cell);
            }
            self.add_cell(place, increment.from_ms, &cell);
        }
        let has_samples = increment.labels.iter().any(|label| !label.transaction);
        if has_samples || increment.active.max > 0 {
            let step = self.total_cell(increment.from_ms);
            step.ended.merge(&ended);
            step.users = step.users.max(increment.active.max);
        }
        for (code, count) in &increment.codes {
            let code = self.codes.place(code);
            self.total_cell(increment.from_ms).count_code(code, *count);
        }
        for starts in &increment.starts {
            let step = self.total_cell(starts.second.saturating_mul(1_000));
            step.started = step.started.saturating_add(starts.started);
            step.intended = step.intended.saturating_add(starts.intended);
            step.scheduled = step.scheduled.saturating_add(starts.scheduled);
        }
        while self.total.len() > MOST_STEPS && longer(self.total_step_s) > self.total_step_s {
            self.coarsen_total(longer(self.total_step_s));
        }
    }

    fn add_cell(&mut self, label: usize, at_ms: i64, theirs: &Cell) {
        let step_ms = i64::from(self.label_step_s) * 1000;
        if self.labels.len() <= label {
            self.labels.resize_with(label + 1, Vec::new);
        }
        let cells = &mut self.labels[label];
        let length_before = cells.len();
        let cell_index = place_at(cells, at_ms, step_ms);
        let before = cells[cell_index].histogram.bytes();
        cells[cell_index].merge(theirs);
        self.label_bytes += cells[cell_index].histogram.bytes().saturating_sub(before);
        if cells.len() > length_before {
            self.label_bytes += size_of::<Cell>();
            self.label_bytes = self.label_bytes.saturating_sub(pack_past(cells));
        }
        if self.labels[label].len() > MOST_STEPS || self.label_bytes > LABEL_BYTES {
            self.coarsen_labels_to(longer(self.label_step_s));
        }
    }

    fn add_to_total(&mut self, moment: &TimelineSample) {
        let ended = self.total_cell(moment.end_ms);
        ended.ended.add(moment);
        ended.users = ended.users.max(moment.users);
        ended.count_code(moment.code, u64::from(moment.count));
        self.total_cell(moment.start_ms).started += u64::from(moment.count);
        if let Some(delay_us) = moment.delay_us {
            let intended_ms = moment.start_ms.saturating_sub_unsigned(delay_us / 1000);
            self.total_cell(intended_ms).intended += u64::from(moment.count);
            self.total_cell(moment.start_ms).scheduled += u64::from(moment.count);
        }
        if self.total.len() > MOST_STEPS {
            self.coarsen_total(longer(self.total_step_s));
        }
    }

    fn total_cell(&mut self, at_ms: i64) -> &mut TotalCell {
        let length_before = self.total.len();
        let step_ms = i64::from(self.total_step_s) * 1000;
        let cell_index = place_at(&mut self.total, at_ms, step_ms);
        if self.total.len() > length_before {
            pack_past(&mut self.total);
        }
        &mut self.total[cell_index]
    }

    /// Notes the number of active users at a moment.
    pub fn note_users(&mut self, now_ms: i64, users: u32) {
        let step = self.total_cell(now_ms);
        step.users = step.users.max(users);
    }

    /// The place of a response code, added if new.
    pub fn code_place(&mut self, code: &str) -> u16 {
        self.codes.place(code)
    }

    /// The response codes; a code's place is its index.
    pub fn codes(&self) -> &[String] {
        self.codes.names()
    }

    /// Length of a step of the whole run, in seconds.
    pub fn total_step_s(&self) -> u32 {
        self.total_step_s
    }

    /// Length of a step of a label, in seconds.
    pub fn label_step_s(&self) -> u32 {
        self.label_step_s
    }

    /// The steps of the whole run in which anything happened, in order.
    pub fn total(&self) -> &[TotalCell] {
        &self.total
    }

    /// The steps of the label at this place in which samples ended, in order.
    pub fn label(&self, place: usize) -> &[Cell] {
        self.labels.get(place).map(Vec::as_slice).unwrap_or(&[])
    }

    /// Adds another timeline. `places` maps each label of `other` to a place here.
    pub fn merge(&mut self, other: &Timeline, places: &[usize]) {
        let mut other = other.clone();
        self.coarsen_total(self.total_step_s.max(other.total_step_s));
        other.coarsen_total(self.total_step_s);
        let codes: Vec<u16> = other
            .codes()
            .iter()
            .map(|code| self.codes.place(code))
            .collect();
        for mut theirs in other.total.drain(..) {
            for (code, _) in &mut theirs.codes {
                *code = codes.get(usize::from(*code)).copied().unwrap_or(*code);
            }
            let at = place(&mut self.total, theirs.at());
            self.total[at].merge(&theirs);
        }
        while self.total.len() > MOST_STEPS && longer(self.total_step_s) > self.total_step_s {
            self.coarsen_total(longer(self.total_step_s));
        }
        let step_s = self.label_step_s.max(other.label_step_s);
        self.coarsen_labels_to(step_s);
        other.coarsen_labels_to(step_s);
        for (theirs, &place) in other.labels.iter().zip(places) {
            if self.labels.len() <= place {
                self.labels.resize_with(place + 1, Vec::new);
            }
            let steps = &mut self.labels[place];
            for step in theirs {
                let at = self::place(steps, step.at);
                steps[at].merge(step);
            }
        }
        self.label_bytes = self.measure();
        while self.has_large_labels() && longer(self.label_step_s) > self.label_step_s {
            self.coarsen_labels_to(longer(self.label_step_s));
        }
    }

    /// Leaves out the steps that begin before this time, in milliseconds since the Unix epoch.
    pub(crate) fn retain_from(&mut self, from_ms: i64) {
        let begins_later =
            |at: i64, step_s: u32| at.saturating_mul(i64::from(step_s) * 1000) >= from_ms;
        let (total_step_s, label_step_s) = (self.total_step_s, self.label_step_s);
        self.total
            .retain(|step| begins_later(step.at(), total_step_s));
        for cells in &mut self.labels {
            cells.retain(|cell| begins_later(cell.at, label_step_s));
        }
        self.label_bytes = self.measure();
    }

    fn has_large_labels(&self) -> bool {
        self.label_bytes > LABEL_BYTES || self.labels.iter().any(|cells| cells.len() > MOST_STEPS)
    }

    fn coarsen_total(&mut self, step_s: u32) {
        if step_s > self.total_step_s {
            coarsen(&mut self.total, i64::from(step_s / self.total_step_s));
            self.total_step_s = step_s;
        }
    }

    fn coarsen_labels_to(&mut self, step_s: u32) {
        if step_s > self.label_step_s {
            let factor = i64::from(step_s / self.label_step_s);
            for cells in &mut self.labels {
                coarsen(cells, factor);
                cells.shrink_to_fit();
            }
            self.label_step_s = step_s;
            self.label_bytes = self.measure();
        }
    }

    fn measure(&self) -> usize {
        let cells = self.labels.iter().flatten();
        cells
            .map(|cell| size_of::<Cell>() + cell.histogram.bytes())
            .sum()
    }
}

/// The next longer step, or the same if it is the longest.
fn longer(step_s: u32) -> u32 {
    let next = STEPS_S.iter().find(|known| **known > step_s);
    next.copied().unwrap_or(step_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(label: usize, end_ms: i64, service_ms: u64) -> TimelineSample {
        TimelineSample {
            label,
            count: 1,
            start_ms: end_ms - service_ms as i64,
            end_ms,
            service_us: service_ms * 1000,
            phases: [0, 1_000, 0, 2_000].into(),
            bytes: 100,
            sent_bytes: 10,
            users: 7,
            ..TimelineSample::default()
        }
    }

    #[test]
    fn samples_count_in_the_second_in_which_they_end_and_start() {
        let mut timeline = Timeline::default();
        for end_ms in [10_999, 11_000, 11_999, 10_500] {
            timeline.add(&moment(0, end_ms, 1_000));
        }
        let steps: Vec<_> = timeline
            .total()
            .iter()
            .map(|s| (s.ended.at, s.ended.count, s.started))
            .collect();
        assert_eq!(steps, [(9, 0, 2), (10, 2, 2), (11, 2, 0)]);
        let label: Vec<_> = timeline
            .label(0)
            .iter()
            .map(|cell| (cell.at, cell.count, cell.bytes))
            .collect();
        assert_eq!(label, [(10, 2, 200), (11, 2, 200)]);
        assert!(timeline.label(1).is_empty());
    }

    #[test]
    fn a_late_start_was_meant_for_an_earlier_second() {
        let mut timeline = Timeline::default();
        timeline.add(&TimelineSample {
            delay_us: Some(2_500_000),
            ..moment(0, 10_600, 100)
        });
        let steps: Vec<_> = timeline
            .total()
            .iter()
            .map(|s| (s.ended.at, s.intended, s.started))
            .collect();
        assert_eq!(steps, [(8, 1, 0), (10, 0, 1)]);
    }

    #[test]
    fn transactions_have_their_own_steps_only() {
        let mut timeline = Timeline::default();
        timeline.add(&TimelineSample {
            transaction: true,
            ..moment(0, 5_000, 10)
        });
        assert!(timeline.total().is_empty());
        assert_eq!(timeline.label(0)[0].count, 1);
    }

    #[test]
    fn a_long_run_has_longer_steps_and_loses_no_sample() {
        let mut timeline = Timeline::default();
        let seconds = MOST_STEPS as i64 * 6;
        for second in 0..seconds {
            timeline.add(&moment(0, second * 1000 + 500, 20));
        }
        assert_eq!(timeline.total_step_s(), 10);
        let counted: u64 = timeline.total().iter().map(|step| step.ended.count).sum();
        assert_eq!(counted, seconds as u64);
        assert!(
            timeline
                .total()
                .iter()
                .all(|step| step.ended.count == 10 && step.users == 7)
        );
    }

    #[test]
    fn many_labels_stay_within_their_memory() {
        let mut timeline = Timeline::default();
        for second in 0..2_000 {
            for label in 0..200 {
                timeline.add(&moment(
                    label,
                    second * 1000,
                    1 + (label as u64 * 7 + second as u64) % 90,
                ));
            }
        }
        assert!(timeline.label_step_s() > 1 && timeline.measure() <= LABEL_BYTES);
        let counted: u64 = (0..200)
            .flat_map(|label| timeline.label(label))
            .map(|cell| cell.count)
            .sum();
        assert_eq!(counted, 400_000);
    }

    #[test]
    fn labels_have_no_more_steps_than_the_run_and_any_dates_can_be_merged() {
        let mut timeline = Timeline::default();
        for second in 0..MOST_STEPS as i64 * 2 {
            timeline.add(&moment(0, second * 1000, 1));
        }
        assert_eq!((timeline.total_step_s(), timeline.label_step_s()), (5, 5));
        assert_eq!(timeline.label(0).len(), MOST_STEPS * 2 / 5);
        let mut ages = Timeline::default();
        for week in 0..MOST_STEPS as i64 * 2 {
            ages.add(&moment(0, week * 604_800_000, 1));
        }
        timeline.merge(&ages, &[0]);
        let counted: u64 = timeline.label(0).iter().map(|cell| cell.count).sum();
        assert_eq!(counted, MOST_STEPS as u64 * 4);
    }

    #[test]
    fn one_stray_time_stamp_does_not_blur_the_rest() {
        let mut timeline = Timeline::default();
        timeline.add(&moment(0, 5, 1));
        timeline.add(&moment(0, 1_700_000_000_000, 1));
        assert_eq!((timeline.total_step_s(), timeline.total().len()), (1, 3));
    }

    #[test]
    fn merging_is_the_same_as_counting_all() {
        let (mut left, mut right, mut whole) = (
            Timeline::default(),
            Timeline::default(),
            Timeline::default(),
        );
        let (ok, _) = (left.code_place("200"), whole.code_place("200"));
        let (oops, both) = (right.code_place("500"), whole.code_place("500"));
        for second in 0..100 {
            let one = TimelineSample {
                code: ok,
                ..moment(0, second * 1000, 5)
            };
            let other = TimelineSample {
                code: oops,
                ..moment(0, second * 1500, 9)
            };
            left.add(&one);
            right.add(&other);
            whole.add(&one);
            whole.add(&TimelineSample {
                label: 1,
                code: both,
                ..other
            });
        }
        left.merge(&right, &[1]);
        assert!(left.total == whole.total && left.labels == whole.labels);
    }

    #[test]
    fn codes_are_bounded() {
        let mut codes = Codes::default();
        for i in 0..MAX_CODES + 50 {
            codes.place(&i.to_string());
        }
        assert_eq!(codes.names().len(), MAX_CODES + 1);
        let place = usize::from(codes.place("never seen"));
        assert_eq!(codes.names()[place], OTHER_CODES);
    }
}
