//! The outcome of a run and of its thresholds, as run files, pages and CI systems show it.

use drumfire_results::{ThresholdOutcome, Verdict};
use serde::{Deserialize, Serialize};

use crate::run_file::RunFile;

/// Whether a run passed its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RunOutcome {
    /// All thresholds were judged, and none is true.
    #[serde(rename = "PASSED")]
    Passed,
    /// At least one threshold could not be judged.
    #[serde(rename = "NOT JUDGED")]
    NotJudged,
    /// A threshold is true, or nothing was sent.
    #[serde(rename = "FAILED")]
    Failed,
}

impl RunOutcome {
    /// The word that pages and summaries begin with.
    pub fn word(self) -> &'static str {
        match self {
            RunOutcome::Passed => "PASSED",
            RunOutcome::NotJudged => "NOT JUDGED",
            RunOutcome::Failed => "FAILED",
        }
    }
}

impl RunFile {
    /// Whether the run passed. `None` for a run with samples and without thresholds, which nobody judged.
    pub fn outcome(&self) -> Option<RunOutcome> {
        if self.has_no_samples() {
            return Some(RunOutcome::Failed);
        }
        let outcomes = self.thresholds.iter().map(|threshold| threshold.outcome);
        Some(match outcomes.max()? {
            ThresholdOutcome::Passed => RunOutcome::Passed,
            ThresholdOutcome::NotJudged => RunOutcome::NotJudged,
            ThresholdOutcome::Failed => RunOutcome::Failed,
        })
    }

    /// Whether no sample was taken at all.
    pub fn has_no_samples(&self) -> bool {
        self.recording.labels.iter().all(|label| label.count == 0)
    }
}

/// The outcome of a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredThreshold", into = "StoredThreshold")]
pub struct ThresholdResult {
    /// The threshold as it was given.
    pub text: String,
    /// How it ended.
    pub outcome: ThresholdOutcome,
    /// The value in the unit of the limit; `None` if nothing was measured.
    pub value: Option<f64>,
    /// The limit.
    pub limit: f64,
    /// The unit of both.
    pub unit: String,
    /// The outcome in one sentence, without its word.
    pub sentence: String,
    /// The outcome as a sentence for people who have not written the threshold; empty in run files of earlier versions.
    pub statement: String,
}

impl ThresholdResult {
    /// The line that all outputs show: the outcome's word, then the sentence.
    pub fn line(&self) -> String {
        self.outcome.line(&self.sentence)
    }
}

impl From<&Verdict> for ThresholdResult {
    fn from(verdict: &Verdict) -> ThresholdResult {
        ThresholdResult {
            text: verdict.text().to_owned(),
            outcome: verdict.outcome(),
            value: verdict.value(),
            limit: verdict.limit(),
            unit: verdict.unit().to_owned(),
            sentence: verdict.sentence(),
            statement: verdict.statement(),
        }
    }
}

/// The threshold as run files and pages hold it. Earlier files know only whether it was met.
#[derive(Clone, Serialize, Deserialize)]
struct StoredThreshold {
    text: String,
    is_met: bool,
    #[serde(default)]
    outcome: Option<ThresholdOutcome>,
    value: Option<f64>,
    limit: f64,
    unit: String,
    told: String,
    #[serde(default)]
    statement: String,
}

impl From<StoredThreshold> for ThresholdResult {
    fn from(stored: StoredThreshold) -> ThresholdResult {
        let earlier = if stored.is_met {
            ThresholdOutcome::Passed
        } else {
            ThresholdOutcome::Failed
        };
        ThresholdResult {
            text: stored.text,
            outcome: stored.outcome.unwrap_or(earlier),
            value: stored.value,
            limit: stored.limit,
            unit: stored.unit,
            sentence: stored.told,
            statement: stored.statement,
        }
    }
}

impl From<ThresholdResult> for StoredThreshold {
    fn from(result: ThresholdResult) -> StoredThreshold {
        StoredThreshold {
            text: result.text,
            is_met: result.outcome == ThresholdOutcome::Passed,
            outcome: Some(result.outcome),
            value: result.value,
            limit: result.limit,
            unit: result.unit,
            told: result.sentence,
            statement: result.statement,
        }
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;

    fn result(outcome: ThresholdOutcome) -> ThresholdResult {
        ThresholdResult {
            text: "p95 > 1s".to_owned(),
            outcome,
            value: Some(0.5),
            limit: 1.0,
            unit: "s".to_owned(),
            sentence: "p95 0.5 s   fails if > 1 s".to_owned(),
            statement: "The 95th percentile stayed below 1 s: 0.5 s".to_owned(),
        }
    }

    #[test]
    fn the_worst_threshold_decides_the_outcome_of_a_run() {
        let mut recording = Recording::default();
        recording.add(&Sample::new("a".into(), "t".into()));
        let mut run = RunFile::new("p.jmx", recording);
        assert_eq!(run.outcome(), None);
        for (outcome, word) in [
            (ThresholdOutcome::Passed, "PASSED"),
            (ThresholdOutcome::NotJudged, "NOT JUDGED"),
            (ThresholdOutcome::Failed, "FAILED"),
            (ThresholdOutcome::Passed, "FAILED"),
        ] {
            run.thresholds.push(result(outcome));
            assert_eq!(run.outcome().map(RunOutcome::word), Some(word));
        }
    }

    #[test]
    fn a_run_without_samples_has_failed() {
        let mut run = RunFile::new("p.jmx", Recording::default());
        assert_eq!(run.outcome(), Some(RunOutcome::Failed));
        run.thresholds.push(result(ThresholdOutcome::Passed));
        assert_eq!(run.outcome(), Some(RunOutcome::Failed));
    }

    #[test]
    fn a_threshold_is_stored_with_its_outcome_and_as_earlier_readers_expect_it() {
        let stored = serde_json::to_value(result(ThresholdOutcome::NotJudged)).expect("JSON");
        assert_eq!(stored["is_met"], false);
        assert_eq!(stored["outcome"], "not judged");
        let read: ThresholdResult = serde_json::from_value(stored).expect("a threshold");
        assert_eq!(read, result(ThresholdOutcome::NotJudged));
        let mut earlier = serde_json::to_value(result(ThresholdOutcome::Passed)).expect("JSON");
        earlier
            .as_object_mut()
            .expect("an object")
            .remove("outcome");
        let read: ThresholdResult = serde_json::from_value(earlier).expect("a threshold");
        assert_eq!(read.outcome, ThresholdOutcome::Passed);
    }
}
