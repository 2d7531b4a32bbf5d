//! The outcome of a threshold, and the sentence that all outputs show for it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{MeasuredTimes, Metric, Threshold, ThresholdOperator};
use crate::statistics::Recording;

/// How a threshold ended. `Ord` puts the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ThresholdOutcome {
    /// It was judged and is not true.
    #[serde(rename = "ok")]
    Passed,
    /// Nothing, or too little, was measured to judge it.
    #[serde(rename = "not judged")]
    NotJudged,
    /// It is true, so the run fails.
    #[serde(rename = "FAILED")]
    Failed,
}

impl ThresholdOutcome {
    /// The word that all outputs show.
    pub fn word(self) -> &'static str {
        match self {
            ThresholdOutcome::Passed => "ok",
            ThresholdOutcome::NotJudged => "not judged",
            ThresholdOutcome::Failed => "FAILED",
        }
    }

    /// The line that all outputs show: the word, then the sentence.
    pub fn line(self, sentence: &str) -> String {
        format!("{:<6}  {sentence}", self.word())
    }
}

/// The outcome of a threshold, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    threshold: Threshold,
    /// In the unit of the limit; `None` if nothing was measured.
    value: Option<f64>,
    outcome: ThresholdOutcome,
    /// Why it was not judged.
    reason: Option<String>,
    /// When a threshold that is checked every second was broken, in milliseconds since the Unix epoch.
    broken_ms: Option<i64>,
}

/// The state of a threshold that is checked every second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowOutcome {
    /// The value that broke the threshold, or else the worst so far, in the unit of the limit.
    pub value: Option<f64>,
    /// When the threshold was broken, in milliseconds since the Unix epoch.
    pub broken_ms: Option<i64>,
    /// How many seconds ended with a whole window before them.
    pub windows: u32,
    /// In how many of those a value could be computed.
    pub judged_s: u32,
    /// Whether any sample matched.
    pub has_samples: bool,
}

impl Verdict {
    /// The verdict on a whole run, from its final value.
    pub(super) fn of_run(
        threshold: &Threshold,
        value: Option<f64>,
        recording: &Recording,
    ) -> Verdict {
        let is_beyond = value.is_some_and(|value| threshold.is_beyond(value));
        // No samples are no evidence that something stayed within its limit.
        let is_measured = value.is_some() && threshold.has_samples(recording);
        let outcome = match (is_beyond, is_measured) {
            (true, _) => ThresholdOutcome::Failed,
            (false, true) => ThresholdOutcome::Passed,
            (false, false) => ThresholdOutcome::NotJudged,
        };
        Verdict {
            threshold: threshold.clone(),
            value,
            outcome,
            reason: (outcome == ThresholdOutcome::NotJudged).then(|| threshold.without_samples()),
            broken_ms: None,
        }
    }

    /// The verdict from windows.
    pub(crate) fn of_windows(threshold: &Threshold, windows: WindowOutcome) -> Verdict {
        let needed_s = threshold.lasting_s.unwrap_or(1);
        let outcome = if windows.broken_ms.is_some() {
            ThresholdOutcome::Failed
        } else if windows.has_samples && windows.judged_s >= needed_s {
            ThresholdOutcome::Passed
        } else {
            ThresholdOutcome::NotJudged
        };
        Verdict {
            threshold: threshold.clone(),
            value: windows
                .value
                .filter(|_| outcome != ThresholdOutcome::NotJudged),
            outcome,
            reason: (outcome == ThresholdOutcome::NotJudged)
                .then(|| threshold.without_window(windows)),
            broken_ms: windows.broken_ms,
        }
    }

    /// The threshold as the user wrote it.
    pub fn text(&self) -> &str {
        &self.threshold.text
    }

    /// The label that the threshold names; see [`Threshold::label`].
    pub fn label(&self) -> Option<String> {
        self.threshold.label()
    }

    /// Adds to the reason why it was not judged.
    pub fn explain(&mut self, more: &str) {
        if let Some(reason) = &mut self.reason {
            reason.push_str("; ");
            reason.push_str(more);
        }
    }

    /// The value in the unit of the limit; `None` if nothing was measured.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// The limit in its unit.
    pub fn limit(&self) -> f64 {
        self.threshold.limit
    }

    /// The unit of the limit: `ms`, `%`, `/s` and so on, or nothing for a count.
    pub fn unit(&self) -> &'static str {
        self.threshold.unit.suffix
    }

    /// How the threshold ended.
    pub fn outcome(&self) -> ThresholdOutcome {
        self.outcome
    }

    /// When a threshold that is checked every second was broken, in milliseconds since the Unix epoch.
    pub fn broken_ms(&self) -> Option<i64> {
        self.broken_ms
    }

    /// The metric and its value: `p95 of Login 1.06 ms`.
    pub fn measurement(&self) -> String {
        let mut text = self.threshold.measured();
        if let Some(value) = self.value {
            text.push(' ');
            text.push_str(&self.threshold.spaced(value));
        }
        text
    }

    /// The outcome without its word: `p95 1.06 ms   fails if > 300 ms`.
    pub fn sentence(&self) -> String {
        let mut text = self.measurement();
        if self.threshold.is_windowed() && self.outcome == ThresholdOutcome::Passed {
            text.push_str(" at worst");
        }
        text.push_str("   ");
        text.push_str(&self.threshold.condition());
        if let Some(reason) = &self.reason {
            text.push_str("   ");
            text.push_str(reason);
        }
        text
    }
}

impl Verdict {
    /// The outcome as a sentence for people who have not written the threshold: `The 95th percentile of Log in stayed below
    /// 300 ms: 202 ms`.
    pub fn statement(&self) -> String {
        let threshold = &self.threshold;
        let (limit, subject) = (threshold.spaced(threshold.limit), threshold.subject());
        let Some(value) = self.value else {
            let reason = self.reason.as_deref().unwrap_or("nothing was measured");
            return format!("{subject} could not be judged: {reason}");
        };
        let side = match (value < threshold.limit, value > threshold.limit) {
            (true, _) => "below",
            (_, true) => "above",
            _ => "at",
        };
        let verb = match self.outcome {
            ThresholdOutcome::Failed => "went",
            _ => "stayed",
        };
        let verb = if side == "at" && verb == "went" {
            "reached"
        } else {
            verb
        };
        let relation = if verb == "reached" {
            String::new()
        } else {
            format!("{side} ")
        };
        let worst = if threshold.is_windowed() && self.outcome == ThresholdOutcome::Passed {
            " at worst"
        } else {
            ""
        };
        let value = threshold.spaced(value);
        let spans = threshold.spans();
        format!("{subject} {verb} {relation}{limit}{spans}: {value}{worst}")
    }
}

impl fmt::Display for Verdict {
    /// The line that all outputs show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.outcome.line(&self.sentence()))
    }
}

/// `95th`, `91st`, `99.9th`.
fn ordinal(percent: f64) -> String {
    let ending = match percent {
        11.0..14.0 => "th",
        percent if percent % 10.0 == 1.0 => "st",
        percent if percent % 10.0 == 2.0 => "nd",
        percent if percent % 10.0 == 3.0 => "rd",
        _ => "th",
    };
    format!("{percent}{ending}")
}

impl Threshold {
    /// The measure: `p95 of Login`.
    pub(super) fn measured(&self) -> String {
        match self.label() {
            Some(label) => format!("{} of {label}", self.metric_name),
            None => self.metric_name.clone(),
        }
    }

    /// The condition under which the run fails: `fails if > 300 ms over 10 s`.
    fn condition(&self) -> String {
        let sign = match self.comparison {
            ThresholdOperator::Less => "<",
            ThresholdOperator::AtMost => "<=",
            ThresholdOperator::More => ">",
            ThresholdOperator::AtLeast => ">=",
        };
        format!(
            "fails if {sign} {}{}",
            self.spaced(self.limit),
            self.spans()
        )
    }

    /// The window and how long its value must be beyond the limit: ` over 10 s for 60 s`.
    fn spans(&self) -> String {
        let mut text = String::new();
        if let Some(seconds) = self.window_s {
            text.push_str(&format!(" over {seconds} s"));
        }
        if let Some(seconds) = self.lasting_s {
            text.push_str(&format!(" for {seconds} s"));
        }
        text
    }

    /// The measure as the subject of a sentence: `The 95th percentile of Log in`.
    fn subject(&self) -> String {
        let what = match self.metric {
            Metric::Samples => "The number of samples".to_owned(),
            Metric::Errors => "The number of failed samples".to_owned(),
            Metric::ErrorShare => "The share of failed samples".to_owned(),
            Metric::Rate => "The rate".to_owned(),
            Metric::Mean => "The mean".to_owned(),
            Metric::Min => "The minimum".to_owned(),
            Metric::Max => "The maximum".to_owned(),
            Metric::Percentile(50.0) => "The median".to_owned(),
            Metric::Percentile(percent) => format!("The {} percentile", ordinal(percent)),
        };
        let times = self.times.described();
        match self.label() {
            Some(label) if times.is_empty() => format!("{what} of {label}"),
            Some(label) => format!("{what}{times} in {label}"),
            None => format!("{what}{times}"),
        }
    }

    /// A number in the unit of the limit, with as many decimals as it takes to tell it from the limit.
    pub(super) fn spaced(&self, value: f64) -> String {
        let digits = (3..=12).find(|digits| {
            let shown: f64 = format!("{value:.digits$}").parse().unwrap_or(value);
            shown.total_cmp(&self.limit) == value.total_cmp(&self.limit)
        });
        let text = format!("{value:.*}", digits.unwrap_or(12));
        let number = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        match self.unit.suffix {
            "" => number.to_owned(),
            "us" => format!("{number} µs"),
            rate if rate.starts_with('/') => format!("{number}{rate}"),
            unit => format!("{number} {unit}"),
        }
    }

    fn has_samples(&self, recording: &Recording) -> bool {
        let mut labels = recording.labels.iter();
        labels.any(|label| {
            let is_covered = if self.is_about_all() {
                !label.transaction
            } else {
                self.is_about(&label.label)
            };
            is_covered && label.count > 0
        })
    }

    /// Why a threshold has no value: nothing was measured.
    fn without_samples(&self) -> String {
        let none = self.times.missing();
        match self.label() {
            None if self.times == MeasuredTimes::Service => "the run has no sample".to_owned(),
            None => format!("the run has {none}"),
            Some(label) if self.has_pattern() => format!("{none} has a label like `{label}`"),
            Some(label) => format!("{none} has the label `{label}`"),
        }
    }

    fn without_window(&self, windows: WindowOutcome) -> String {
        let window_s = self.window_s.unwrap_or(1);
        let needed_s = window_s + self.lasting_s.unwrap_or(1) - 1;
        if !windows.has_samples {
            return self.without_samples();
        }
        if windows.windows < self.lasting_s.unwrap_or(1) {
            let whole_s = match windows.windows {
                0 => "the run ended before that".to_owned(),
                count => format!("the run had {} s", count + window_s - 1),
            };
            return format!("it needs {needed_s} whole seconds; {whole_s}");
        }
        format!(
            "samples ended in {} of the {} seconds that it needs",
            windows.judged_s,
            self.lasting_s.unwrap_or(1)
        )
    }
}
