//! Periodic waves: times that rise and fall at a regular distance, as with a garbage collector or a scheduled job.

use super::series::{Moment, median, moments};
use super::{Draft, Kind, Run};

/// The most steps that are compared, and the fewest.
const MOST_STEPS: i64 = 600;
const FEWEST_STEPS: usize = 60;
/// The shortest period, in steps; the longest fits this often into the run.
const SHORTEST: usize = 4;
const REPEATS: usize = 5;
/// The correlation of the series with itself, a period later: at least this, and this many standard deviations of chance.
const ALIKE: f64 = 0.3;
const SIGMAS: f64 = 5.0;
/// By how much the correlation must fall between two waves.
const DIP: f64 = 0.3;
/// The rise of a wave that matters.
const RISE: f64 = 1.2;

pub(super) fn find(run: &Run<'_>) -> Vec<Draft> {
    let (step_ms, moments) = moments(&run.file.recording.timeline, MOST_STEPS);
    let Some(period) = period_of(&moments, times) else {
        return Vec::new();
    };
    // Waves of the load make waves of the times.
    let waves = |of: fn(&Moment) -> f64| {
        let logs = level(moments.iter().map(|moment| Some((of(moment) + 1.0).ln())));
        correlation(&logs, period) >= ALIKE
    };
    if waves(|moment| moment.users) {
        return Vec::new();
    }
    let seconds = (period as i64 * step_ms) as f64 / 1000.0;
    let mut phases: Vec<f64> = (0..period)
        .filter_map(|phase| {
            let same = moments.iter().skip(phase).step_by(period);
            median(same.filter_map(|moment| moment.mean))
        })
        .collect();
    phases.sort_by(f64::total_cmp);
    let [low, high] = [phases[phases.len() / 4], phases[phases.len() - 1]];
    if high < low * RISE {
        return Vec::new();
    }
    vec![Draft {
        kind: Kind::Waves,
        text: format!("Times rise every {seconds:.0} s"),
        evidence: format!(
            "the mean goes from {} to {} and back, {} times; the load does not",
            run.ms(low),
            run.ms(high),
            moments.len() / period,
        ),
        place: None,
        span_ms: None,
        weight: 1.5 + (high / low).ln(),
    }]
}

fn times(moment: &Moment) -> Option<f64> {
    moment.mean.map(|ms| ms.max(0.001).ln())
}

/// The distance, in steps, at which the series repeats itself.
fn period_of(moments: &[Moment], value: impl Fn(&Moment) -> Option<f64>) -> Option<usize> {
    if moments.len() < FEWEST_STEPS {
        return None;
    }
    let logs = level(moments.iter().map(value));
    let chance = 1.0 / (logs.len() as f64).sqrt();
    let least = ALIKE.max(SIGMAS * chance);
    let alike: Vec<f64> = (0..logs.len() / 2)
        .map(|lag| correlation(&logs, lag))
        .collect();
    let longest = moments.len() / REPEATS;
    // The first lag that is better than its neighbours, after a dip; later ones are multiples of it.
    let mut dip = f64::INFINITY;
    for lag in 1..longest.min(alike.len() - 1) {
        dip = dip.min(alike[lag]);
        let is_peak = alike[lag] >= alike[lag - 1] && alike[lag] >= alike[lag + 1];
        let has_second = (2 * lag - 1..=2 * lag + 1)
            .filter_map(|twice| alike.get(twice))
            .any(|again| *again >= alike[lag] * 0.5);
        if lag >= SHORTEST
            && is_peak
            && alike[lag] >= least
            && alike[lag] >= dip + DIP
            && has_second
        {
            return Some(lag);
        }
    }
    None
}

/// The series around its own moving average, without outliers; 0 where nothing is known.
fn level(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let values: Vec<Option<f64>> = values.collect();
    let half = (values.len() / 8).max(8);
    let mut logs: Vec<f64> = (0..values.len())
        .map(|at| {
            let near = &values[at.saturating_sub(half)..(at + half + 1).min(values.len())];
            let near = median(near.iter().flatten().copied()).unwrap_or(0.0);
            values[at].map(|value| value - near).unwrap_or(0.0)
        })
        .collect();
    let usual = median(logs.iter().map(|log| log.abs())).unwrap_or(0.0) * 1.4826;
    // A pulse is an outlier, too, but each pulse is cut alike.
    logs.iter_mut()
        .for_each(|log| *log = log.clamp(-6.0 * usual, 6.0 * usual));
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.iter_mut().for_each(|log| *log -= mean);
    logs
}

/// The correlation of a series around 0 with itself, `lag` steps later.
fn correlation(values: &[f64], lag: usize) -> f64 {
    let whole: f64 = values.iter().map(|value| value * value).sum();
    let pairs = values.iter().zip(values.iter().skip(lag));
    let common: f64 = pairs.map(|(a, b)| a * b).sum();
    if whole > 0.0 { common / whole } else { 0.0 }
}
