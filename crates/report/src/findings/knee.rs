//! The knee: the load above which the rate does not rise and times do.

use super::series::{Moment, line, median, moments};
use super::{Draft, Kind, Run};

/// Users must rise by this factor over the run, and above the knee by the next one, to tell anything.
const RISE: f64 = 2.0;
const RISE_ABOVE: f64 = 1.3;
/// The fewest bins on each side of the knee.
const FEWEST_BINS: usize = 5;
/// Below the knee, the rate grows at least with this power of the users; above it, at most with the next one.
const GROWING: f64 = 0.6;
const FLAT: f64 = 0.25;
/// Above the knee, times grow at least with this power of the users, and to this many times those below.
const TIMES_GROWING: f64 = 0.5;
const TIMES_RISE: f64 = 1.5;
/// Two lines must leave this share of the distances that one line leaves, at most.
const BETTER: f64 = 0.6;

/// A bin in logarithms.
struct Point {
    users: f64,
    rate: f64,
    time: f64,
}

pub(super) fn find(run: &Run<'_>) -> Vec<Draft> {
    let (_, moments) = moments(&run.file.recording.timeline, 80);
    let mut measured: Vec<(&Moment, f64)> = moments
        .iter()
        .filter(|moment| moment.users > 0.0 && moment.rate > 0.0)
        .filter_map(|moment| Some((moment, moment.p50?)))
        .collect();
    measured.sort_by(|a, b| a.0.users.total_cmp(&b.0.users));
    if measured.len() < 2 * FEWEST_BINS
        || measured[measured.len() - 1].0.users < measured[0].0.users * RISE
    {
        return Vec::new();
    }
    let points: Vec<Point> = measured
        .iter()
        .map(|(moment, p50)| Point {
            users: moment.users.ln(),
            rate: moment.rate.ln(),
            time: p50.max(0.001).ln(),
        })
        .collect();
    let Some(at) = best_bend(&points) else {
        return Vec::new();
    };
    let (below, above) = measured.split_at(at);
    let rate = middle(above, |(moment, _)| moment.rate);
    let (usual_ms, most_ms) = (
        middle(below, |known| known.1),
        middle(&above[above.len() * 2 / 3..], |known| known.1),
    );
    let users = above[0].0.users;
    let most_users = above[above.len() - 1].0.users;
    let from_ms = above.iter().map(|(moment, _)| moment.at_ms).min();
    let Some(from_ms) = from_ms.filter(|_| most_ms >= usual_ms * TIMES_RISE) else {
        return Vec::new();
    };
    vec![Draft {
        kind: Kind::Knee,
        text: format!(
            "Above {} the rate does not rise, but times do: from {users:.0} users on",
            super::per_second(rate)
        ),
        evidence: format!(
            "between {users:.0} and {most_users:.0} users the rate stays at about {}, while the median grows from {} to {}",
            super::per_second(rate),
            run.ms(usual_ms),
            run.ms(most_ms),
        ),
        place: None,
        span_ms: Some((from_ms, run.file.ended_ms)),
        weight: 3.0 + (most_ms / usual_ms).ln(),
    }]
}

fn middle(part: &[(&Moment, f64)], of: fn(&(&Moment, f64)) -> f64) -> f64 {
    median(part.iter().map(of)).unwrap_or(0.0)
}

/// The place of the first point above the knee.
fn best_bend(points: &[Point]) -> Option<usize> {
    let rates: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.users, point.rate))
        .collect();
    let times: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.users, point.time))
        .collect();
    let whole = line(&rates).2;
    let places = FEWEST_BINS..=points.len() - FEWEST_BINS;
    let fits = places.map(|at| (at, line(&rates[..at]).2 + line(&rates[at..]).2));
    let (at, rest) = fits.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (below, above) = (line(&rates[..at]).0, line(&rates[at..]).0);
    let rise = rates[rates.len() - 1].0 - rates[at].0;
    let is_knee = rest <= whole * BETTER
        && below >= GROWING
        && above <= FLAT
        && rise >= RISE_ABOVE.ln()
        && line(&times[at..]).0 >= TIMES_GROWING;
    is_knee.then_some(at)
}
