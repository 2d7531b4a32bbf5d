//! Warm-up: a first part of a run that was slower than the rest.

use drumfire_results::{Recording, Sparse};

use super::series::{Moment, Series, median, moments, quantile};
use super::{Draft, Kind, Run};
use crate::settled::SettledPart;

/// The most and the fewest bins in which the first part is looked for.
const MOST_BINS: i64 = 120;
const FEWEST_BINS: usize = 12;
/// The first part is slower by this factor, at least.
const SLOWER: f64 = 1.2;
/// And by this many deviations of the rest.
const SIGMAS: f64 = 4.0;
/// The least deviation of the logarithms of times.
const LEAST_SIGMA: f64 = 0.02;
/// The share of later bins that may be half as slow as the first part.
const AS_SLOW_LATER: f64 = 0.02;
/// The first part had at most this many times the users of the rest.
const MORE_USERS: f64 = 1.1;
/// The share of labels that were slower, too, and by which factor.
const LABELS: f64 = 2.0 / 3.0;
const LABEL_SLOWER: f64 = 1.1;
/// A factor of the 95th percentile that is told. Otherwise the median is.
const TOLD: f64 = 1.1;

/// A first part of a run that was slower than the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Its start and its end, in milliseconds since the Unix epoch.
    pub span_ms: (i64, i64),
    /// The percentile that tells it.
    percent: f64,
    /// The percentile in the first part and in the rest, in milliseconds.
    first_ms: f64,
    rest_ms: f64,
}

impl WarmUp {
    /// Looks for it in the samples of all labels.
    pub fn of(recording: &Recording) -> Option<WarmUp> {
        let (bin_ms, moments) = moments(&recording.timeline, MOST_BINS);
        let first = length(&moments, |moment| moment.p50)
            .or_else(|| length(&moments, |moment| moment.mean))?;
        let end_ms = moments[first - 1].at_ms + bin_ms;
        if !were_labels_slower(recording, end_ms) {
            return None;
        }
        let step_ms = i64::from(recording.timeline.total_step_s()) * 1000;
        let (mut before, mut after) = (Sparse::default(), Sparse::default());
        for cell in recording.timeline.total() {
            let is_first = cell.ended.at * step_ms < end_ms;
            let part = if is_first { &mut before } else { &mut after };
            part.merge(&cell.ended.histogram);
        }
        let starts = recording.labels.iter().map(|label| label.first_start_ms);
        let start_ms = moments[0].at_ms.max(starts.min()?);
        let change_at = |percent| {
            let ms = |part: &Sparse| part.percentile(percent).map(|us| us / 1000.0);
            Some(WarmUp {
                span_ms: (start_ms, end_ms),
                percent,
                first_ms: ms(&before)?,
                rest_ms: ms(&after)?,
            })
        };
        let p95 = change_at(95.0).filter(|one| one.first_ms >= one.rest_ms * TOLD);
        p95.or_else(|| change_at(50.0))
    }

    /// The finding in one sentence.
    pub fn text(&self) -> String {
        let seconds = ((self.span_ms.1 - self.span_ms.0 + 500) / 1000).max(1);
        let length = match seconds {
            1 => "The first second was".to_owned(),
            seconds if seconds < 120 => format!("The first {seconds} s were"),
            seconds => format!("The first {} were", super::elapsed(seconds)),
        };
        let name = if self.percent == 50.0 {
            "median"
        } else {
            "p95"
        };
        let ms = drumfire_platform::words::ms;
        format!(
            "{length} slower: {name} {} ms, afterwards {} ms",
            ms(self.first_ms),
            ms(self.rest_ms)
        )
    }
}

impl SettledPart {
    /// The part after the warm-up; without one, all of the run.
    pub fn of(recording: &Recording) -> SettledPart {
        match WarmUp::of(recording) {
            None => SettledPart {
                recording: recording.clone(),
                told: "no warm-up was found, so the numbers are those of the whole run".to_owned(),
            },
            Some(warm_up) => SettledPart {
                recording: recording.since(warm_up.span_ms.1),
                told: format!(
                    "the warm-up is left out of these numbers. {}; failures by kind are those of the whole run",
                    warm_up.text()
                ),
            },
        }
    }
}

pub(super) fn find(run: &Run<'_>) -> Option<Draft> {
    let warm_up = WarmUp::of(&run.file.recording)?;
    Some(Draft {
        kind: Kind::Warmup,
        text: warm_up.text(),
        evidence: "select the rest of the run in a chart over time to see the numbers without them, or leave them out of all numbers with `--without-warm-up`".to_owned(),
        place: None,
        span_ms: Some(warm_up.span_ms),
        weight: 1.0 + (warm_up.first_ms / warm_up.rest_ms.max(0.001)).ln() * 2.0,
    })
}

/// The number of bins of the first part: leaving them out makes the mean of the rest most certain (the marginal standard error
/// rule, White 1997).
fn length(moments: &[Moment], value: fn(&Moment) -> Option<f64>) -> Option<usize> {
    let logs: Vec<f64> = moments
        .iter()
        .map(|moment| value(moment).map(|ms| ms.max(0.001).ln()))
        .collect::<Option<_>>()?;
    if logs.len() < FEWEST_BINS {
        return None;
    }
    let error = |first: usize| {
        let rest = &logs[first..];
        let count = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / count;
        rest.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count * count)
    };
    let half = logs.len() / 2;
    let settled = (0..=half).min_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    // If half of the run is not enough, it never became steady.
    if settled == half {
        return None;
    }
    let rest = &logs[settled..];
    let usual = quantile(rest.iter().copied(), 0.5)?;
    let distance = median(rest.iter().map(|log| (log - usual).abs()))?;
    let sigma = (distance * 1.4826).max(LEAST_SIGMA);
    // The error hardly changes if a few steady bins are left out as well.
    let above = usual + (SLOWER.ln() / 2.0).max(SIGMAS / 2.0 * sigma);
    let first = logs.iter().take_while(|log| **log > above).count();
    if first == 0 || first > half {
        return None;
    }
    let (head, rest) = logs.split_at(first);
    let excess = head.iter().sum::<f64>() / first as f64 - usual;
    let as_slow = rest
        .iter()
        .filter(|log| **log > usual + excess / 2.0)
        .count();
    let (before, after) = (
        median_users(&moments[..first])?,
        median_users(&moments[first..])?,
    );
    let is_warm_up = excess >= SLOWER.ln().max(SIGMAS * sigma)
        && as_slow as f64 <= rest.len() as f64 * AS_SLOW_LATER
        && before <= after * MORE_USERS;
    is_warm_up.then_some(first)
}

/// The usual number of users.
fn median_users(part: &[Moment]) -> Option<f64> {
    median(part.iter().map(|moment| moment.users))
}

/// Whether most labels were slower until this time: a single one is told as a slow stretch.
fn were_labels_slower(recording: &Recording, end_ms: i64) -> bool {
    let (mut all, mut slower) = (0.0, 0.0);
    for place in 0..recording.labels.len() {
        let Some(series) = Series::of_label(&recording.timeline, place) else {
            continue;
        };
        let is_first = |place| series.start_ms(place) < end_ms;
        let mean = |first: bool| {
            let places = (0..series.bins.len()).filter(|place| is_first(*place) == first);
            median(places.filter_map(|place| series.bins[place].p50))
        };
        if let (Some(before), Some(after)) = (mean(true), mean(false)) {
            all += 1.0;
            slower += f64::from(u8::from(before >= after * LABEL_SLOWER));
        }
    }
    slower >= all * LABELS
}
