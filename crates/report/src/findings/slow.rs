//! Slow stretches: parts of a run in which a label took much longer than in its fast quarter.

use super::series::{Bin, Series, noise, quantile};
use super::{Draft, Kind, Run, times_slower};

/// A stretch is this many times slower than the label usually is, at least.
const SLOWER: f64 = 1.5;
/// Its neighbours belong to it down to this factor.
const STILL_SLOWER: f64 = 1.25;
/// Each bin of it is this many standard deviations above the usual time.
const SIGMAS: f64 = 5.0;
/// The fewest bins of a stretch.
const FEWEST_BINS: usize = 3;
/// A label with more stretches than this is restless, and none of them stands out.
const MOST_STRETCHES: usize = 3;
/// Stretches of labels are one if they share this much of the longer one.
const SHARED: f64 = 0.5;

/// A slow stretch of a label.
struct Stretch {
    place: usize,
    from_ms: i64,
    to_ms: i64,
    factor: f64,
    /// The percentile that shows it, its usual value and that in the stretch, in milliseconds.
    percent: f64,
    usual_ms: f64,
    slow_ms: f64,
    samples: u64,
}

pub(super) fn find(run: &Run<'_>) -> Vec<Draft> {
    let mut slow: Vec<Stretch> = Vec::new();
    for (place, series) in &run.series {
        let median = of_label(*place, series, 50.0, |bin| bin.p50);
        let stretches = if median.is_empty() {
            // A part of the samples may be slow, as from one of several servers.
            of_label(*place, series, 90.0, |bin| bin.p90)
        } else {
            median
        };
        slow.extend(stretches);
    }
    slow.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    let mut drafts = Vec::new();
    while !slow.is_empty() {
        let first = slow.remove(0);
        let (same, rest) = slow.into_iter().partition(|other| is_same(&first, other));
        slow = rest;
        drafts.push(draft_of_stretch(run, &first, &same));
    }
    drafts
}

fn is_same(a: &Stretch, b: &Stretch) -> bool {
    let common = a.to_ms.min(b.to_ms) - a.from_ms.max(b.from_ms);
    let longer = (a.to_ms - a.from_ms).max(b.to_ms - b.from_ms);
    common as f64 >= longer as f64 * SHARED
}

fn of_label(
    place: usize,
    series: &Series,
    percent: f64,
    value: fn(&Bin) -> Option<f64>,
) -> Vec<Stretch> {
    let logs = series.logs(value);
    let sigma = noise(&logs).max(0.02);
    // The fast quarter is usual even if most of the run is slow; its upper end is two thirds of a deviation below the middle.
    let Some(fast) = quantile(logs.iter().flatten().copied(), 0.25) else {
        return Vec::new();
    };
    let usual = fast + 0.67 * sigma;
    let is_above = |place: usize, factor: f64, sigmas: f64| {
        logs[place].is_some_and(|log| log >= usual + factor.ln().max(sigmas * sigma))
    };
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for start in (0..logs.len()).filter(|&place| is_above(place, SLOWER, SIGMAS)) {
        let is_near = |place: usize| is_above(place, STILL_SLOWER, SIGMAS / 2.0);
        let from = (0..start).rev().take_while(|&place| is_near(place));
        let to = (start + 1..logs.len()).take_while(|&place| is_near(place));
        let (from, to) = (start - from.count(), start + to.count());
        match spans.last_mut() {
            Some(last) if from <= last.1 + 2 => last.1 = last.1.max(to),
            _ => spans.push((from, to)),
        }
    }
    spans.retain(|(from, to)| to + 1 - from >= FEWEST_BINS);
    if spans.len() > MOST_STRETCHES {
        return Vec::new();
    }
    let is_slow = |place: usize| {
        spans
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&place))
    };
    let Some(usual_ms) = series.percentile(percent, |place| !is_slow(place)) else {
        return Vec::new();
    };
    spans
        .iter()
        .filter_map(|&(from, to)| {
            let slow_ms = series.percentile(percent, |place| (from..=to).contains(&place))?;
            let factor = slow_ms / usual_ms.max(0.001);
            (factor >= SLOWER).then(|| Stretch {
                place,
                from_ms: series.start_ms(from),
                to_ms: series.end_ms(to),
                factor,
                percent,
                usual_ms,
                slow_ms,
                samples: series.bins[from..=to].iter().map(|bin| bin.count).sum(),
            })
        })
        .collect()
}

fn draft_of_stretch(run: &Run<'_>, worst: &Stretch, others: &[Stretch]) -> Draft {
    let mut places: Vec<usize> = others.iter().map(|other| other.place).collect();
    places.push(worst.place);
    places.sort_unstable();
    places.dedup();
    let who = run.who(&places);
    let what = match (worst.percent > 50.0, places.len()) {
        (false, 1) => format!("{who} was {}", times_slower(worst.factor)),
        (true, 1) => format!(
            "The slowest tenth of {who} was {}",
            times_slower(worst.factor)
        ),
        (_, _) => format!("{who} were up to {}", times_slower(worst.factor)),
    };
    let percentile = if worst.percent > 50.0 {
        "90th percentile"
    } else {
        "median"
    };
    Draft {
        kind: Kind::Slow,
        text: format!("{what} {}", run.span(worst.from_ms, worst.to_ms)),
        evidence: format!(
            "{percentile} of {} there {} in {} samples, otherwise {}{}",
            run.name(worst.place),
            run.ms(worst.slow_ms),
            worst.samples,
            run.ms(worst.usual_ms),
            run.load_within(worst.from_ms, worst.to_ms),
        ),
        place: (places.len() == 1).then_some(worst.place),
        span_ms: Some((worst.from_ms, worst.to_ms)),
        weight: worst.factor.ln() * 2.0 + (places.len() as f64).ln(),
    }
}
