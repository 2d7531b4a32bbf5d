//! Limits that decide whether a run passes: `p95 > 300ms`, `errors > 1%`, `label:Login p99 > 1s`,
//! `p95 of /^checkout/ > 300ms over 10s for 1min`, `ttft p95 of Chat > 800ms`.

mod meant;
mod metric;
mod times;
mod verdict;

use std::fmt;

use drumfire_platform::message_error;
use regex_automata::meta::Regex;

use crate::distribution::Distribution;
use crate::statistics::{LabelStatistics, Recording};
pub use metric::Metric;
use metric::number;
pub(crate) use times::MeasuredTimes;
pub(crate) use verdict::WindowOutcome;
pub use verdict::{ThresholdOutcome, Verdict};

/// A condition on the final statistics, or on every window of a run; the run fails if it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    text: String,
    subject: Subject,
    /// The metric as the user wrote it: `avg` or `mean`.
    metric_name: String,
    metric: Metric,
    /// The times of the metric, if it is one of times.
    times: MeasuredTimes,
    comparison: ThresholdOperator,
    limit: f64,
    unit: Unit,
    /// The length of the window from which the value is computed.
    window_s: Option<u32>,
    /// How long the value has to stay beyond the limit.
    lasting_s: Option<u32>,
}

/// The samples that a threshold covers.
#[derive(Clone, Debug)]
enum Subject {
    All,
    Label(String),
    /// Labels that the expression matches anywhere.
    Pattern(String, Regex),
}

impl PartialEq for Subject {
    fn eq(&self, other: &Subject) -> bool {
        match (self, other) {
            (Subject::All, Subject::All) => true,
            (Subject::Label(one), Subject::Label(other)) => one == other,
            (Subject::Pattern(one, _), Subject::Pattern(other, _)) => one == other,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ThresholdOperator {
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The suffix of a limit, and its size in the metric's own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    suffix: &'static str,
    factor: f64,
}

/// Times are measured in milliseconds.
const TIMES: [Unit; 4] = [
    Unit {
        suffix: "us",
        factor: 0.001,
    },
    Unit {
        suffix: "ms",
        factor: 1.0,
    },
    Unit {
        suffix: "s",
        factor: 1000.0,
    },
    Unit {
        suffix: "min",
        factor: 60_000.0,
    },
];
const RATES: [Unit; 3] = [
    Unit {
        suffix: "/s",
        factor: 1.0,
    },
    Unit {
        suffix: "/min",
        factor: 1.0 / 60.0,
    },
    Unit {
        suffix: "/h",
        factor: 1.0 / 3600.0,
    },
];
const PERCENT: Unit = Unit {
    suffix: "%",
    factor: 1.0,
};
const COUNT: Unit = Unit {
    suffix: "",
    factor: 1.0,
};

message_error! {
    /// The fault of a text that is meant as a threshold.
    struct SyntaxError;
}

/// Why a text is not a threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    text: String,
    error: SyntaxError,
    /// The threshold that is probably meant.
    meant: Option<String>,
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threshold `{}`: {}", self.text, self.error)?;
        match &self.meant {
            Some(meant) => write!(f, "\nhint: write `{meant}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ThresholdError {}

impl std::str::FromStr for Threshold {
    type Err = ThresholdError;

    /// Parses `METRIC [of NAME] <|<=|>|>= LIMIT [over TIME] [for TIME]`. `ttft` or `gap` before a metric of times takes it
    /// of the times to the first event or between events of streamed responses. `label:NAME METRIC` means the same as `METRIC of
    /// NAME`. A name may be quoted and may contain spaces; between slashes it is a regular expression that is searched in
    /// labels.
    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        let text = text.trim();
        parse(text).map_err(|error| ThresholdError {
            text: text.to_owned(),
            error,
            meant: meant::meant(text).filter(|meant| parse(meant).is_ok()),
        })
    }
}

fn parse(text: &str) -> Result<Threshold, SyntaxError> {
    let Some(at) = text.rfind(['<', '>']) else {
        return Err("a comparison (<, <=, > or >=) is missing".into());
    };
    let (subject, rest) = text.split_at(at);
    let name = subject.trim_end_matches(is_sign);
    if name.len() < subject.len() {
        let end = rest.find(|sign| !is_sign(sign)).unwrap_or(rest.len());
        let signs = &text[name.len()..at + end];
        return Err(format!("`{signs}` is not a comparison: write <, <=, > or >=").into());
    }
    let (comparison, limit) = match (&rest[..1], rest[1..].strip_prefix('=')) {
        ("<", None) => (ThresholdOperator::Less, &rest[1..]),
        ("<", Some(limit)) => (ThresholdOperator::AtMost, limit),
        (_, None) => (ThresholdOperator::More, &rest[1..]),
        (_, Some(limit)) => (ThresholdOperator::AtLeast, limit),
    };
    let (subject, name) = subject_of(subject.trim())?;
    let (times, statistic) = MeasuredTimes::split(name);
    let metric = metric(statistic)?;
    if times != MeasuredTimes::Service && !metric.is_of_times() {
        let word = times.word();
        return Err(format!(
            "`{word}` needs avg, min, max or a percentile, as in `{word} p95 > 300ms`"
        )
        .into());
    }
    let (limit, window_s, lasting_s) = spans_of(limit)?;
    let (metric, limit, unit) = limit_of(metric, name, limit.trim())?;
    Ok(Threshold {
        text: text.to_owned(),
        subject,
        metric_name: name.to_owned(),
        metric,
        times,
        comparison,
        limit,
        unit,
        window_s,
        lasting_s,
    })
}

fn is_sign(sign: char) -> bool {
    matches!(sign, '<' | '>' | '=')
}

/// Splits `over TIME` and `for TIME` off a limit.
fn spans_of(text: &str) -> Result<(&str, Option<u32>, Option<u32>), SyntaxError> {
    let (mut limit, mut window_s, mut lasting_s) = (text, None, None);
    // The two may come in either order; the last is split off first.
    for _ in 0..2 {
        let cut = |word| {
            limit
                .rsplit_once(word)
                .filter(|(before, _)| !before.is_empty())
        };
        let (over, lasting) = (cut(" over "), cut(" for "));
        if after(over) > after(lasting) {
            let (before, time) = over.expect("it is longer than nothing");
            window_s = Some(seconds_of(time)?);
            limit = before;
        } else if let Some((before, time)) = lasting {
            lasting_s = Some(seconds_of(time)?);
            limit = before;
        }
    }
    Ok((limit, window_s, lasting_s))
}

fn after(cut: Option<(&str, &str)>) -> usize {
    cut.map(|(before, _)| before.len()).unwrap_or(0)
}

/// Limit of a window, whose seconds are all kept in memory.
const LONGEST_S: u32 = 3_600;

fn seconds_of(text: &str) -> Result<u32, SyntaxError> {
    let text = text.trim();
    let units = [("min", 60), ("s", 1), ("h", 3_600)];
    let seconds = units.iter().find_map(|(suffix, factor)| {
        let digits: u32 = text.strip_suffix(suffix)?.trim().parse().ok()?;
        digits.checked_mul(*factor)
    });
    seconds
        .filter(|seconds| (1..=LONGEST_S).contains(seconds))
        .ok_or_else(|| format!("`{text}` is not a time from 1s to 1h, such as 30s or 5min").into())
}

fn subject_of(text: &str) -> Result<(Subject, &str), SyntaxError> {
    let missing =
        || Err("the metric is missing after the label, as in `label:Login p95 > 300ms`".into());
    let (name, metric) = match (text.strip_prefix("label:"), text.split_once(" of ")) {
        (Some(rest), _) => match split_metric(rest) {
            Some(parts) => parts,
            None => return missing(),
        },
        (None, Some((metric, name))) => (name, metric.trim()),
        (None, None) => {
            return match split_metric(text) {
                Some((before, _)) => Err(format!(
                    "`{before}` is unexpected; a label is written `label:{before}`"
                )
                .into()),
                None => Ok((Subject::All, text)),
            };
        }
    };
    let name = name.trim();
    let within = |edge| name.strip_prefix(edge)?.strip_suffix(edge);
    if let Some(pattern) = within('/').filter(|pattern| !pattern.is_empty()) {
        let regex = Regex::new(pattern)
            .map_err(|_| {
                format!("`{pattern}` is not a regular expression; escape signs such as ( and [ with a backslash")
            })?;
        return Ok((Subject::Pattern(pattern.to_owned(), regex), metric));
    }
    match within('"').or_else(|| within('\'')).unwrap_or(name) {
        "" => Err("the label is empty".into()),
        label => Ok((Subject::Label(label.to_owned()), metric)),
    }
}

/// Splits a metric off the end of a text that has more before it: the last word, with the word for its times.
fn split_metric(text: &str) -> Option<(&str, &str)> {
    let (before, last) = text.rsplit_once(char::is_whitespace)?;
    let before = before.trim_end();
    let start = before
        .rfind(char::is_whitespace)
        .map(|at| at + 1)
        .unwrap_or(0);
    let with_times = &text[start..];
    if MeasuredTimes::split(with_times).0 == MeasuredTimes::Service {
        return Some((before, last));
    }
    let rest = text[..start].trim_end();
    (!rest.is_empty()).then_some((rest, with_times))
}

fn metric(name: &str) -> Result<Metric, SyntaxError> {
    let missing = match name {
        "" => "the metric is missing".to_owned(),
        _ => format!("there is no metric `{name}`"),
    };
    Metric::named(name).ok_or_else(|| {
        let names = Metric::NAMES.map(|(name, _)| name).join(", ");
        format!(
            "{missing}; the metrics are {names} and percentiles such as p50, p95 or p99.9; of streamed responses `ttft p95` and `gap p95`"
        )
        .into()
    })
}

fn limit_of(metric: Metric, name: &str, text: &str) -> Result<(Metric, f64, Unit), SyntaxError> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (digits, suffix) = (&text[..end], text[end..].trim());
    let Some(value) = number(digits) else {
        return Err(if text.is_empty() {
            "the limit is missing".into()
        } else {
            format!("`{text}` is not a limit: a number is expected").into()
        });
    };
    let (units, hint): (&[Unit], &str) = match metric {
        Metric::Samples => (&[COUNT], "is a count, without a unit"),
        Metric::Errors | Metric::ErrorShare => (&[COUNT, PERCENT], "is a count, or a share with %"),
        Metric::Rate => (&RATES, "needs its unit: /s, /min or /h"),
        _ => (&TIMES, "is a time and needs its unit: us, ms, s or min"),
    };
    let Some(unit) = units.iter().find(|unit| unit.suffix == suffix) else {
        return Err(format!("`{text}` is not a limit for {name}, which {hint}").into());
    };
    let metric = if *unit == PERCENT {
        Metric::ErrorShare
    } else {
        metric
    };
    Ok((metric, value, *unit))
}

impl Threshold {
    /// Judges a run by its final statistics: service times, as in the final table.
    ///
    /// A threshold on a label without samples is not judged, since the name may be misspelt. Nor are thresholds on anything but
    /// the number of samples of a run without samples. If samplers and transaction controllers share a label, the samplers count.
    pub fn judge(&self, recording: &Recording) -> Verdict {
        let value = match self.statistics(recording) {
            Some(statistics) => self.value_of(&statistics),
            None => (self.metric == Metric::Samples).then_some(0.0),
        };
        Verdict::of_run(self, value, recording)
    }

    fn statistics(&self, recording: &Recording) -> Option<LabelStatistics> {
        if self.is_about_all() {
            return Some(recording.total());
        }
        let labels = recording.labels.iter();
        let matching: Vec<&LabelStatistics> = labels
            .filter(|label| label.count > 0 && self.is_about(&label.label))
            .collect();
        let has_samplers = matching.iter().any(|label| !label.transaction);
        let mut wanted = matching
            .into_iter()
            .filter(|label| label.transaction != has_samplers);
        let mut all = wanted.next()?.clone();
        wanted.for_each(|label| all.merge(label));
        Some(all)
    }

    /// The threshold as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is checked every second, so that the final statistics do not decide it.
    pub fn is_windowed(&self) -> bool {
        self.window_s.is_some() || self.lasting_s.is_some()
    }

    pub(crate) fn window_s(&self) -> Option<u32> {
        self.window_s
    }

    pub(crate) fn lasting_s(&self) -> Option<u32> {
        self.lasting_s
    }

    pub(crate) fn is_about_all(&self) -> bool {
        matches!(self.subject, Subject::All)
    }

    /// The limit in milliseconds, if it is one on a percentile or the mean of the times of all samples.
    pub fn time_limit_ms(&self) -> Option<f64> {
        let is_time = matches!(self.metric, Metric::Percentile(_) | Metric::Mean);
        (is_time && self.times == MeasuredTimes::Service && self.is_about_all())
            .then_some(self.limit * self.unit.factor)
    }

    /// The label that the threshold names; a pattern stands between slashes. `None` if it covers all samples.
    pub fn label(&self) -> Option<String> {
        match &self.subject {
            Subject::All => None,
            Subject::Label(name) => Some(name.clone()),
            Subject::Pattern(pattern, _) => Some(format!("/{pattern}/")),
        }
    }

    /// Whether the threshold names its label with a regular expression.
    pub fn has_pattern(&self) -> bool {
        matches!(self.subject, Subject::Pattern(..))
    }

    /// For a threshold that fails good runs, because it is true for low times, few errors or many samples: how to write it the
    /// other way round. Many load testers write the condition that a good run meets.
    pub fn inversion(&self) -> Option<String> {
        let is_low = matches!(
            self.comparison,
            ThresholdOperator::Less | ThresholdOperator::AtMost
        );
        let is_better_high = matches!(self.metric, Metric::Samples | Metric::Rate);
        if is_low == is_better_high {
            return None;
        }
        let at = self.text.rfind(['<', '>'])?;
        let (before, rest) = self.text.split_at(at);
        let rest = rest.trim_start_matches(['<', '>', '=']);
        let (sign, side) = if is_low {
            ('>', "below")
        } else {
            ('<', "above")
        };
        let is_plural = matches!(
            self.metric,
            Metric::Samples | Metric::Errors | Metric::ErrorShare
        );
        let be = if is_plural { "are" } else { "is" };
        Some(format!(
            "`{}` fails runs whose {} {be} {side} {}; write `{before}{sign}{rest}`",
            self.text,
            self.measured(),
            self.spaced(self.limit),
        ))
    }

    /// Whether the threshold covers the samples of a label.
    pub fn is_about(&self, label: &str) -> bool {
        match &self.subject {
            Subject::All => true,
            Subject::Label(name) => name == label,
            Subject::Pattern(_, regex) => regex.is_match(label),
        }
    }

    /// Whether the run fails with this value, in the unit of the limit.
    pub(crate) fn is_beyond(&self, value: f64) -> bool {
        match self.comparison {
            ThresholdOperator::Less => value < self.limit,
            ThresholdOperator::AtMost => value <= self.limit,
            ThresholdOperator::More => value > self.limit,
            ThresholdOperator::AtLeast => value >= self.limit,
        }
    }

    /// Whether `value` is closer to the limit than `other`, or further beyond it.
    pub(crate) fn is_worse(&self, value: f64, other: f64) -> bool {
        match self.comparison {
            ThresholdOperator::Less | ThresholdOperator::AtMost => value < other,
            ThresholdOperator::More | ThresholdOperator::AtLeast => value > other,
        }
    }

    /// The value in the unit of the limit.
    pub(crate) fn value_of(&self, statistics: &LabelStatistics) -> Option<f64> {
        let value = self.metric.of(statistics, self.times)?;
        Some(value / self.unit.factor)
    }

    /// The times that its metric is taken of, if it is one of times.
    pub(crate) fn times(&self) -> MeasuredTimes {
        self.times
    }

    /// The value over a window of `seconds`, in the unit of the limit.
    pub(crate) fn value_in(
        &self,
        count: u64,
        errors: u64,
        times: &Distribution,
        seconds: i64,
    ) -> Option<f64> {
        let value = match self.metric {
            Metric::Samples => count as f64,
            Metric::Errors => errors as f64,
            Metric::Rate => count as f64 / seconds as f64,
            _ if count == 0 => return None,
            Metric::ErrorShare => errors as f64 * 100.0 / count as f64,
            _ if times.count() == 0 => return None,
            Metric::Mean => times.mean() / 1000.0,
            Metric::Min => times.min as f64 / 1000.0,
            Metric::Max => times.max as f64 / 1000.0,
            Metric::Percentile(percent) => times.percentile(percent) / 1000.0,
        };
        Some(value / self.unit.factor)
    }
}

#[cfg(test)]
mod tests;
