//! Whether a run was long enough, in one sentence.

use drumfire_results::{LabelStatistics, Precision, Recording};

/// The percentile that is told.
const PERCENT: f64 = 95.0;
/// The widths that a longer run may reach, as shares of the value.
const GOALS: [f64; 5] = [0.1, 0.05, 0.02, 0.01, 0.005];
/// A goal is at most this part of the present width. Reaching it takes twice as long as the run, at least.
const WORTH_IT: f64 = 0.7;
/// A longer run than this is not proposed, in seconds.
const LONGEST_S: f64 = 24.0 * 3600.0;

/// How exactly the 95th percentile of all samples is known, and how much longer the run must be to know it better. `None` if
/// the run was too short for intervals, or has too few samples for the percentile.
pub fn run_length(recording: &Recording) -> Option<String> {
    let total = recording.total();
    sentence(recording, &total, &recording.total_precision(&total))
}

fn sentence(
    recording: &Recording,
    total: &LabelStatistics,
    precision: &Precision,
) -> Option<String> {
    let interval = precision.percentile_ms(PERCENT)?;
    if !drumfire_results::suffices_for(total.count, PERCENT) {
        return None;
    }
    let Some(width) = interval.relative(total.service.percentile_ms(PERCENT)) else {
        return Some(
            "p95 of all samples has no upper bound: too few samples that do not depend on each other are slower; run at least twice as long"
                .to_owned(),
        );
    };
    let width_now = format!("p95 of all samples is known within {}", percent(width));
    let cells = recording.timeline.total();
    let steps = cells.last()?.ended.at - cells.first()?.ended.at + 1;
    let seconds = steps as f64 * f64::from(recording.timeline.total_step_s());
    let goal = GOALS.into_iter().find(|goal| *goal <= width * WORTH_IT);
    let more = goal.map(|goal| (goal, seconds * ((width / goal).powi(2) - 1.0)));
    Some(match more.filter(|(_, more_s)| *more_s <= LONGEST_S) {
        Some((goal, more_s)) => format!(
            "{width_now}; {} more would give {}",
            time(more_s),
            percent(goal)
        ),
        None => width_now,
    })
}

/// A share with the digits that matter: `0.8 %`, `3 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent < 0.1 => "0.1 %".to_owned(),
        percent if percent < 0.95 => format!("{:.1} %", (percent * 10.0).ceil() / 10.0),
        percent => format!("{:.0} %", (percent - 0.05).ceil()),
    }
}

/// A time in its largest unit: `40 s`, `4 minutes`, `2 hours`.
fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{:.0} s", (seconds / 10.0).ceil() * 10.0),
        seconds if seconds < 5_400.0 => counted_unit((seconds / 60.0).ceil(), "minute"),
        seconds => counted_unit((seconds / 3_600.0).ceil(), "hour"),
    }
}

/// `1 minute`, `2 minutes`.
fn counted_unit(count: f64, unit: &str) -> String {
    match count {
        1.0 => format!("1 {unit}"),
        count => format!("{count:.0} {unit}s"),
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::Sample;

    use super::*;

    /// A run with 20 samples a second, of which the p95 is known the better the longer it lasts.
    fn run(seconds: i64) -> Recording {
        let mut recording = Recording::default();
        for place in 0..seconds * 20 {
            let mut sample = Sample::new("a".into(), "t".into());
            sample.start_ms = 1_000_000 + place * 50;
            // A permutation of the remainders of a prime spreads them evenly.
            sample.set_end(sample.start_ms + 100 + place * 7_919 % 997);
            recording.add(&sample);
        }
        recording
    }

    #[test]
    fn longer_runs_know_more() {
        let width = |seconds| {
            let text = run_length(&run(seconds)).expect("an interval");
            let text = text.strip_prefix("p95 of all samples is known within ");
            let (width, rest) = text
                .and_then(|text| text.split_once(" %"))
                .expect("a width");
            (width.parse::<f64>().expect("a number"), rest.to_owned())
        };
        let (short, more) = width(30);
        let (long, _) = width(300);
        assert!(long < short, "{long} {short}");
        assert!(
            more.starts_with("; ") && more.contains(" more would give "),
            "{more}"
        );
    }

    #[test]
    fn short_runs_say_nothing() {
        assert_eq!(run_length(&run(5)), None);
        assert_eq!(run_length(&Recording::default()), None);
    }

    #[test]
    fn times_and_shares_are_round() {
        assert_eq!(
            [31.0, 240.0, 7_000.0].map(time),
            ["40 s", "4 minutes", "2 hours"]
        );
        assert_eq!(
            [0.0302, 0.03, 0.0081, 0.0].map(percent),
            ["3 %", "3 %", "0.9 %", "0.1 %"]
        );
        assert_eq!([60.0, 91.0].map(time), ["60 s", "2 minutes"]);
    }
}
