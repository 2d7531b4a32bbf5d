//! The same run several times: how much its numbers differ from run to run.
//!
//! A system that is started again, or loaded again, settles elsewhere: other caches, other threads on other cores (Treadmill, ISCA 2016,
//! calls it hysteresis). The interval of one run cannot see that, so the runs themselves are the observations.

use drumfire_results::{Interval, LabelStatistics, Precision};
use serde::{Deserialize, Serialize};

use crate::run_file::RunFile;

/// The runs of a repeated run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeats {
    /// How many runs.
    pub runs: usize,
    /// The numbers of all samples.
    pub numbers: Vec<RepeatedNumber>,
    /// Whether the runs differ by more than the noise within them, in one sentence.
    pub sentence: String,
}

/// A number in each run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatedNumber {
    /// Its name, as in `--summary-json`.
    pub name: String,
    /// Its value in each run.
    pub values: Vec<f64>,
    /// The middle value.
    pub median: f64,
    /// The lowest value.
    pub low: f64,
    /// The highest value.
    pub high: f64,
    /// Whether two runs have intervals that do not overlap.
    pub differs: bool,
}

/// A number, its value in a run, and its interval.
type Number = (
    &'static str,
    fn(&LabelStatistics) -> f64,
    fn(&Precision) -> Option<Interval>,
);

const NUMBERS: [Number; 6] = [
    (
        "p50_ms",
        |label| ms(label, 50.0),
        |known| known.percentile_ms(50.0),
    ),
    (
        "p95_ms",
        |label| ms(label, 95.0),
        |known| known.percentile_ms(95.0),
    ),
    (
        "p99_ms",
        |label| ms(label, 99.0),
        |known| known.percentile_ms(99.0),
    ),
    (
        "mean_ms",
        |label| label.service.mean() / 1000.0,
        |known| known.mean_ms,
    ),
    (
        "rate_per_s",
        |label| label.row().throughput_per_s,
        |known| known.rate_per_s,
    ),
    (
        "failed_percent",
        |label| label.row().error_percent,
        |known| known.failed_percent,
    ),
];

fn ms(label: &LabelStatistics, percent: f64) -> f64 {
    label.service.percentile_ms(percent)
}

impl Repeats {
    /// Compares runs of the same plan with the same load.
    pub fn of(runs: &[RunFile]) -> Repeats {
        let totals: Vec<_> = runs
            .iter()
            .map(|run| {
                let total = run.recording.total();
                let precision = run.recording.total_precision(&total);
                (total, precision)
            })
            .collect();
        let numbers: Vec<RepeatedNumber> = NUMBERS
            .into_iter()
            .map(|(name, value, interval)| {
                let values: Vec<f64> = totals.iter().map(|(total, _)| value(total)).collect();
                let intervals = totals.iter().filter_map(|(_, known)| interval(known));
                number(name, values, &intervals.collect::<Vec<_>>())
            })
            .collect();
        let are_known = totals.iter().all(|(_, known)| known.block_s > 0);
        Repeats {
            runs: runs.len(),
            sentence: if are_known {
                sentence(runs.len(), &numbers)
            } else {
                format!(
                    "the {} runs were too short to tell whether they differ",
                    runs.len()
                )
            },
            numbers,
        }
    }
}

fn number(name: &str, values: Vec<f64>, intervals: &[Interval]) -> RepeatedNumber {
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0.0);
    let highest_low = intervals
        .iter()
        .map(|interval| interval.low)
        .fold(0.0, f64::max);
    let highs = intervals.iter().filter_map(|interval| interval.high);
    let lowest_high = highs.fold(f64::INFINITY, f64::min);
    RepeatedNumber {
        name: name.to_owned(),
        median: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
        low: at(0),
        high: at(last),
        differs: highest_low > lowest_high,
        values,
    }
}

fn sentence(runs: usize, numbers: &[RepeatedNumber]) -> String {
    let differing = numbers.iter().filter(|number| number.differs);
    let names: Vec<&str> = differing
        .map(|number| number.name.split('_').next().unwrap_or(&number.name))
        .collect();
    match names.as_slice() {
        [] => format!("the {runs} runs differ by no more than the noise within them"),
        names => format!(
            "the {runs} runs differ by more than the noise within them ({}): trust the range between runs, and look for what differs from start to start",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;

    /// A run of half a minute whose times are around this one, in milliseconds.
    fn run(usual_ms: i64, start_ms: i64) -> RunFile {
        let mut recording = Recording::default();
        for place in 0..600 {
            let mut sample = Sample::new("a".into(), "t".into());
            sample.start_ms = start_ms + place * 50;
            sample.set_end(sample.start_ms + usual_ms + place * 7_919 % 31);
            recording.add(&sample);
        }
        RunFile::new("p.jmx", recording)
    }

    #[test]
    fn runs_that_differ_are_told_from_noise() {
        let alike: Vec<_> = (1..=5).map(|number| run(100, number * 100_000)).collect();
        let alike = Repeats::of(&alike);
        assert!(
            alike.numbers.iter().all(|number| !number.differs),
            "{alike:?}"
        );
        assert_eq!(
            alike.sentence,
            "the 5 runs differ by no more than the noise within them"
        );
        let usual = [100, 100, 140, 101, 99];
        let runs = usual
            .iter()
            .zip(1..)
            .map(|(usual_ms, number)| run(*usual_ms, number * 100_000));
        let other = Repeats::of(&runs.collect::<Vec<_>>());
        let p95 = &other.numbers[1];
        assert!(
            p95.differs && p95.low < 130.0 && p95.median < 131.0 && p95.high > 160.0,
            "{p95:?}"
        );
        assert!(
            other.sentence.contains("(p50, p95, p99, mean)"),
            "{}",
            other.sentence
        );
    }

    #[test]
    fn the_middle_of_an_even_number_of_runs_is_between_two() {
        let even = number("p95_ms", vec![4.0, 1.0, 2.0, 3.0], &[]);
        assert_eq!(
            (even.low, even.median, even.high, even.differs),
            (1.0, 2.5, 4.0, false)
        );
    }
}
