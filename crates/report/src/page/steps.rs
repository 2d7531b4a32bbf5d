//! The series of the page over time.

use drumfire_results::{Cell, Sparse, Timeline, TotalCell};
use serde::Serialize;

use super::rounded;

/// The most steps that a page holds for all labels together. If there would be more, the steps are made longer.
const LABEL_STEPS: usize = 60_000;
/// From this many steps of all labels on, each label has at most so many: charts do not need more, and the page is small.
const MANY_STEPS: usize = 12_000;
const STEPS_OF_MANY: usize = 240;
/// The most steps of the heat map.
const HEAT_STEPS: usize = 240;
/// The rows of the heat map per power of two.
const HEAT_ROWS: f64 = 3.0;

/// The whole run over time: columns of equal length. Of several consecutive steps without events, only the first and
/// the last are included.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Steps {
    step_s: u32,
    /// Start of the step, in seconds since the Unix epoch.
    at: Vec<i64>,
    count: Vec<u64>,
    errors: Vec<u64>,
    started: Vec<u64>,
    intended: Vec<u64>,
    /// Starts of samples that have an intended start.
    scheduled: Vec<u64>,
    users: Vec<u32>,
    bytes: Vec<u64>,
    sent_bytes: Vec<u64>,
    mean: Vec<Option<f64>>,
    p50: Vec<Option<f64>>,
    p90: Vec<Option<f64>>,
    p95: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
    max: Vec<Option<f64>>,
    /// Mean times of name look-up, TCP, TLS, first byte and body.
    phases: [Vec<Option<f64>>; 5],
    /// Response codes, each with a column of counts.
    codes: Vec<(String, Vec<u64>)>,
    heat: Heat,
}

/// How many samples took how long, over time.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Heat {
    step_s: u32,
    /// Start of the first column, in seconds since the Unix epoch.
    from: i64,
    columns: i64,
    /// The number of the lowest row; row `n` begins at 2^(n/3) µs.
    lowest: i32,
    rows: i32,
    /// Column, row above the lowest, and count.
    cells: Vec<(i64, i32, u64)>,
}

impl Steps {
    pub fn of(timeline: &Timeline) -> Steps {
        let step_s = timeline.total_step_s();
        let names = timeline.codes();
        let mut steps = Steps {
            step_s,
            codes: names
                .iter()
                .map(|name| (name.clone(), Vec::new()))
                .collect(),
            heat: heat(timeline),
            ..Steps::default()
        };
        let empty = TotalCell::default();
        let mut last: Option<i64> = None;
        for cell in timeline.total() {
            let at = cell.ended.at;
            if let Some(last) = last.filter(|last| at > last + 1) {
                steps.push(last + 1, &empty);
                if at > last + 2 {
                    steps.push(at - 1, &empty);
                }
            }
            steps.push(at, cell);
            last = Some(at);
        }
        steps
            .codes
            .retain(|(_, counts)| counts.iter().any(|count| *count > 0));
        steps
    }

    fn push(&mut self, at: i64, step: &TotalCell) {
        let cell = &step.ended;
        self.at.push(at * i64::from(self.step_s));
        self.count.push(cell.count);
        self.errors.push(cell.errors);
        self.started.push(step.started);
        self.intended.push(step.intended);
        self.scheduled.push(step.scheduled);
        self.users.push(step.users);
        self.bytes.push(cell.bytes);
        self.sent_bytes.push(cell.sent_bytes);
        let measured = cell.histogram.count();
        let service_us = cell.service_us as f64;
        let measured_ms = |ms: f64| (measured > 0).then(|| rounded(ms));
        self.mean
            .push(measured_ms(service_us / 1000.0 / measured.max(1) as f64));
        let phases = cell.phases.means_ms(service_us, measured);
        for (column, ms) in self.phases.iter_mut().zip(phases) {
            column.push(measured_ms(ms));
        }
        self.p50.push(ms(&cell.histogram, 50.0));
        self.p90.push(ms(&cell.histogram, 90.0));
        self.p95.push(ms(&cell.histogram, 95.0));
        self.p99.push(ms(&cell.histogram, 99.0));
        self.max.push(ms(&cell.histogram, 100.0));
        for (index, (_, counts)) in self.codes.iter_mut().enumerate() {
            let errors = step
                .codes
                .iter()
                .find(|(code, _)| usize::from(*code) == index);
            counts.push(errors.map(|(_, count)| *count).unwrap_or(0));
        }
    }
}

fn ms(histogram: &Sparse, percent: f64) -> Option<f64> {
    histogram.percentile(percent).map(|us| rounded(us / 1000.0))
}

/// The samples of a step by the row of the heat map.
pub fn heat_column(buckets: impl Iterator<Item = (u64, u64)>) -> Vec<(i32, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for (us, count) in buckets {
        *counts.entry(heat_row(us as f64)).or_insert(0) += count;
    }
    counts.into_iter().collect()
}

fn heat_row(us: f64) -> i32 {
    (us.max(1.0).log2() * HEAT_ROWS).floor() as i32
}

fn heat(timeline: &Timeline) -> Heat {
    let cells = timeline.total();
    let ended = || {
        cells
            .iter()
            .map(|step| &step.ended)
            .filter(|cell| cell.count > 0)
    };
    let (Some(first), Some(last)) = (ended().next(), ended().next_back()) else {
        return Heat::default();
    };
    let factor = (last.at - first.at) / HEAT_STEPS as i64 + 1;
    let mut counts = std::collections::BTreeMap::new();
    for cell in ended() {
        for (lowest, highest, count) in cell.histogram.buckets() {
            let middle = (lowest as f64 + highest as f64) / 2.0;
            let row = heat_row(middle);
            *counts
                .entry(((cell.at - first.at) / factor, row))
                .or_insert(0) += count;
        }
    }
    let rows = || counts.keys().map(|(_, row)| *row);
    let lowest = rows().min().unwrap_or(0);
    let step_s = i64::from(timeline.total_step_s());
    Heat {
        step_s: (step_s * factor) as u32,
        from: first.at * step_s,
        columns: (last.at - first.at) / factor + 1,
        lowest,
        rows: rows().max().unwrap_or(0) - lowest + 1,
        cells: counts
            .iter()
            .map(|(&(column, row), &count)| (column, row - lowest, count))
            .collect(),
    }
}

/// A label over time: columns of equal length, without steps in which no sample ended.
#[derive(Serialize)]
pub struct LabelSteps {
    /// The number of each step since the Unix epoch, as the difference from the step before.
    at: Vec<i64>,
    count: Vec<u64>,
    errors: Vec<u64>,
    mean: Vec<f64>,
    p50: Vec<f64>,
    p95: Vec<f64>,
    p99: Vec<f64>,
}

impl LabelSteps {
    /// A label's steps, merged into steps of `step_s` seconds, which must be a multiple of the timeline's step.
    pub fn of(timeline: &Timeline, place: usize, step_s: u32) -> LabelSteps {
        let factor = i64::from(step_s / timeline.label_step_s());
        let cells = timeline.label(place);
        let mut steps = LabelSteps {
            at: Vec::new(),
            count: Vec::new(),
            errors: Vec::new(),
            mean: Vec::new(),
            p50: Vec::new(),
            p95: Vec::new(),
            p99: Vec::new(),
        };
        let mut last = 0;
        for group in cells.chunk_by(|a, b| a.at.div_euclid(factor) == b.at.div_euclid(factor)) {
            let at = group[0].at.div_euclid(factor);
            steps.push(at - std::mem::replace(&mut last, at), group);
        }
        steps
    }

    fn push(&mut self, distance: i64, group: &[Cell]) {
        let mut histogram = Sparse::default();
        group
            .iter()
            .for_each(|cell| histogram.merge(&cell.histogram));
        let sum_us: u64 = group.iter().map(|cell| cell.service_us).sum();
        self.at.push(distance);
        self.count.push(group.iter().map(|cell| cell.count).sum());
        self.errors.push(group.iter().map(|cell| cell.errors).sum());
        self.mean.push(rounded(
            sum_us as f64 / 1000.0 / histogram.count().max(1) as f64,
        ));
        self.p50.push(ms(&histogram, 50.0).unwrap_or(0.0));
        self.p95.push(ms(&histogram, 95.0).unwrap_or(0.0));
        self.p99.push(ms(&histogram, 99.0).unwrap_or(0.0));
    }
}

/// The length of a label's step on a page, in seconds, so that the steps of all labels together do not exceed the
/// limit.
pub fn label_step_s(timeline: &Timeline, labels: usize) -> u32 {
    let steps = |factor: i64| -> Vec<usize> {
        (0..labels)
            .map(|place| {
                let cells = timeline.label(place);
                cells
                    .chunk_by(move |a: &Cell, b: &Cell| {
                        a.at.div_euclid(factor) == b.at.div_euclid(factor)
                    })
                    .count()
            })
            .collect()
    };
    let are_many = |factor: i64| {
        let steps = steps(factor);
        let all: usize = steps.iter().sum();
        let longest = steps.into_iter().max().unwrap_or(0);
        all > LABEL_STEPS.max(labels) || (all > MANY_STEPS && longest > STEPS_OF_MANY)
    };
    let mut factor = 1;
    while factor < 1 << 20 && are_many(factor) {
        factor *= 2;
    }
    timeline.label_step_s() * factor as u32
}
