//! Drift: times that rise all the while, although the load stays the same.

use super::series::{Moment, Series, line, median, moments, quantile};
use super::{Draft, Kind, Run};

/// The rise over the run that matters.
const RISE: f64 = 1.2;
/// How far the trend must lie outside chance, in standard deviations.
const SIGMAS: f64 = 4.5;
/// How much the load may change from the first to the last fifth of the run.
const SAME_LOAD: f64 = 1.15;

struct Drift {
    place: usize,
    from_ms: f64,
    to_ms: f64,
    sigmas: f64,
}

pub(super) fn find(run: &Run<'_>) -> Vec<Draft> {
    let (_, moments) = moments(&run.file.recording.timeline, 60);
    if !has_same_load(&moments) {
        return Vec::new();
    }
    let drifts: Vec<Drift> = run
        .series
        .iter()
        .filter_map(|(place, series)| of_label(*place, series))
        .collect();
    let Some(most) = drifts
        .iter()
        .max_by(|a, b| (a.to_ms / a.from_ms).total_cmp(&(b.to_ms / b.from_ms)))
    else {
        return Vec::new();
    };
    let places: Vec<usize> = drifts.iter().map(|drift| drift.place).collect();
    let rise = most.to_ms / most.from_ms;
    let who = run.who(&places);
    let text = if rise >= 2.0 {
        format!("{who}: times rose {rise:.1}-fold over the run")
    } else {
        format!(
            "{who}: times rose by {:.0} % over the run",
            (rise - 1.0) * 100.0
        )
    };
    vec![Draft {
        kind: Kind::Drift,
        text,
        evidence: format!(
            "median of {} from {} to {} at the same load; {:.0} standard deviations from chance",
            run.name(most.place),
            run.ms(most.from_ms),
            run.ms(most.to_ms),
            most.sigmas,
        ),
        place: (places.len() == 1).then_some(most.place),
        span_ms: None,
        weight: 1.5 + rise.ln() * 2.0,
    }]
}

/// Whether the users, or the starts of samples, were the same in the first and the last fifth of the run, and between.
fn has_same_load(moments: &[Moment]) -> bool {
    let is_same = |of: fn(&Moment) -> f64| {
        let fifth = (moments.len() / 5).max(1);
        let parts: Vec<f64> = moments
            .chunks(fifth)
            .map(|part| median(part.iter().map(of)).unwrap_or(0.0))
            .collect();
        let [least, most] = [0.0, 1.0].map(|share| quantile(parts.iter().copied(), share));
        least
            .zip(most)
            .is_some_and(|(least, most)| most <= least * SAME_LOAD)
    };
    is_same(|moment| moment.users) || is_same(|moment| moment.started)
}

fn of_label(place: usize, series: &Series) -> Option<Drift> {
    let logs = series.logs(|bin| bin.p50);
    let points: Vec<(f64, f64)> = (0..)
        .zip(&logs)
        .filter_map(|(at, log)| Some((f64::from(at), (*log)?)))
        .collect();
    if points.len() < 12 {
        return None;
    }
    let (slope, start, rest) = line(&points);
    let last = points[points.len() - 1].0;
    let (from_ms, to_ms) = (start.exp(), (start + slope * last).exp());
    let thirds: Vec<f64> = points
        .chunks(points.len().div_ceil(3))
        .filter_map(|third| median(third.iter().map(|point| point.1)))
        .collect();
    let third = RISE.ln() / 4.0;
    let rises_all_the_while = thirds.windows(2).all(|pair| pair[1] - pair[0] >= third);
    let sigmas = sigmas_of(&points, slope, start, rest);
    let is_drift = to_ms >= from_ms * RISE
        && sigmas >= SIGMAS
        && rises_all_the_while
        && rest <= best_step(&points);
    is_drift.then_some(Drift {
        place,
        from_ms,
        to_ms,
        sigmas,
    })
}

/// The slope in units of its standard deviation. Neighbouring bins that are alike count as fewer.
fn sigmas_of(points: &[(f64, f64)], slope: f64, start: f64, rest: f64) -> f64 {
    let n = points.len() as f64;
    let left: Vec<f64> = points.iter().map(|(x, y)| y - start - slope * x).collect();
    let alike: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / rest.max(1e-12);
    let alike = alike.clamp(0.0, 0.9);
    let mean = points.iter().map(|point| point.0).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|point| (point.0 - mean).powi(2)).sum();
    // Bins have the resolution of the histograms, so no noise is smaller than that.
    let variance = (rest / (n - 2.0)).max(1e-4);
    slope / (variance / spread * (1.0 + alike) / (1.0 - alike)).sqrt()
}

/// The squared distances that the best single step leaves.
fn best_step(points: &[(f64, f64)]) -> f64 {
    let places = 1..points.len();
    let rests = places.map(|at| rest(&points[..at]) + rest(&points[at..]));
    rests.min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
}

fn rest(part: &[(f64, f64)]) -> f64 {
    let mean = part.iter().map(|point| point.1).sum::<f64>() / part.len() as f64;
    part.iter()
        .map(|point| (point.1 - mean).powi(2))
        .sum::<f64>()
}
