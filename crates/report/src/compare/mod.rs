//! Compares two runs: what differs, by how much, and whether that is more than the noise within each run.
//!
//! Consecutive samples are correlated, so thousands of them tell less than their number suggests. A run is therefore cut
//! into windows of time, and the statistics work on windows. The interval of a difference comes from resampling the
//! windows many times (a block bootstrap), and the ranks of the windows are tested (Mann-Whitney). Because many metrics
//! of many labels are tested, a common bound limits the false positives of all tests together (Holm).

mod context;
mod noise;
mod refusals;
mod told;
mod windows;

use drumfire_results::{Interval, LabelStatistics, Metric, Precision};
use rustc_hash::FxHashMap;
use serde::Serialize;

pub use self::context::ContextDifference;
use crate::judged::ThresholdResult;
use crate::run_file::RunFile;
use crate::{escape, page};
use noise::Noise;
use windows::Windows;

/// The probability that a comparison of two runs reports any false difference, in any metric of any label.
const CHANCE: f64 = 0.01;
/// The smallest change of the share of failed samples that matters, in percentage points.
const SMALLEST_ERRORS: f64 = 0.1;
/// The percentiles at which the curves are drawn.
const CURVE: [f64; 19] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 95.0, 97.5, 98.0, 99.0, 99.5,
    99.9, 99.99, 100.0,
];

/// How many labels are shown over time, those with the gravest findings first.
const MOST_OVER_TIME: usize = 60;
/// How many kinds of errors are compared, the most frequent first.
const MOST_ERRORS: usize = 50;

/// The smallest change that counts as a difference.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Relative changes below this do not matter; 0.05 is 5 %.
    pub smallest_change: f64,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            smallest_change: 0.05,
        }
    }
}

/// The conclusion on a metric, a label or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// Worse, and not by chance.
    Worse,
    /// Better, and not by chance.
    Better,
    /// No difference that matters and stands out from the noise, in runs that are long enough to show one.
    Same,
    /// The runs are too short or too noisy to be sure.
    Unclear,
    /// Only the later run has it.
    Added,
    /// Only the first run has it.
    Removed,
    /// The runs must not be compared.
    Refused,
}

/// A metric in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The number that differs, such as `p95`.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The value in the first run.
    pub before: f64,
    /// The value in the other run.
    pub after: f64,
    /// The bounds of the 95 % intervals of both values, if both runs have them; an upper bound is missing if too few samples are larger.
    pub bounds: Option<[(f64, Option<f64>); 2]>,
    /// The relative change; `None` if the first run has no value to relate it to. For shares, it is the difference.
    pub change: Option<f64>,
    /// The bounds of the 95 % interval of the change.
    pub interval: Option<[f64; 2]>,
    /// The probability that chance alone produces ranks of the windows that differ this much.
    pub chance: Option<f64>,
    /// The conclusion.
    pub finding: Finding,
    /// Whether more of it is better or worse.
    #[serde(skip)]
    more_is: Finding,
    /// Whether the change is large enough to matter.
    #[serde(skip)]
    is_large: bool,
}

/// A label in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedLabel {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller.
    pub transaction: bool,
    /// The finding of its metrics: the worst counts.
    pub finding: Finding,
    /// Samples in the first run.
    pub before: u64,
    /// Samples in the other run.
    pub after: u64,
    /// Its metrics, the same for all labels.
    pub differences: Vec<Difference>,
    /// The percentile curves of both runs, as pairs of per cent and milliseconds.
    curves: [Vec<(f64, f64)>; 2],
    /// Both runs over time; empty for labels beyond [`MOST_OVER_TIME`].
    over_time: [TimeCurve; 2],
}

/// A threshold in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedThreshold {
    /// The threshold as it was given.
    pub text: String,
    /// Its outcome in the first run; `None` if that run did not have it.
    pub before: Option<ThresholdResult>,
    /// Its outcome in the other run.
    pub after: Option<ThresholdResult>,
}

/// The errors of a kind in both runs, over all labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedError {
    /// The response code.
    pub code: String,
    /// The message.
    pub message: String,
    /// How many samples of the first run failed so.
    pub before: u64,
    /// How many samples of the other run failed so.
    pub after: u64,
}

/// A label over the time of a run, in windows: seconds since the start of the run, 95th percentile in milliseconds, samples a second.
type TimeCurve = Vec<(f64, Option<f64>, f64)>;

/// A run compared with the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// The run's name.
    pub name: String,
    /// The finding of the run: the worst of the total and all labels counts.
    pub finding: Finding,
    /// The run's verdict on its own numbers: VALID, DEGRADED or INVALID.
    pub verdict: Option<String>,
    /// The finding in one sentence, with the label and the metric that changed most.
    pub sentence: String,
    /// Why the runs must not be compared; empty if they may be.
    pub refusals: Vec<String>,
    /// The reasons to doubt the comparison.
    pub notes: Vec<String>,
    /// What is not the same besides the numbers.
    pub differs: Vec<ContextDifference>,
    /// Each threshold of either run, with its outcome in both.
    pub thresholds: Vec<ComparedThreshold>,
    /// The kinds of errors of either run, over all labels.
    pub errors: Vec<ComparedError>,
    /// All samples.
    pub total: ComparedLabel,
    /// Each label, in the order of the first run, then those that only the other run has.
    pub labels: Vec<ComparedLabel>,
}

/// Runs compared with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    kind: &'static str,
    tool: String,
    /// The first run's name.
    pub base: String,
    /// The first run's verdict on its own numbers: VALID, DEGRADED or INVALID.
    pub base_verdict: Option<String>,
    /// The others.
    pub others: Vec<ComparedRun>,
}

impl Comparison {
    /// Compares every other run with the first.
    pub fn of(base: &RunFile, others: &[RunFile], options: CompareOptions) -> Comparison {
        Comparison {
            kind: "comparison",
            tool: format!("drumfire {}", env!("CARGO_PKG_VERSION")),
            base: base.name.clone(),
            base_verdict: state(base),
            others: others
                .iter()
                .map(|other| compare(base, other, options))
                .collect(),
        }
    }

    /// Whether any run is worse than the first.
    pub fn is_worse(&self) -> bool {
        self.others
            .iter()
            .any(|other| other.finding == Finding::Worse)
    }

    /// Withdraws the findings on runs that must not be compared with the first.
    pub fn refuse(&mut self) {
        let others = self.others.iter_mut();
        for other in others.filter(|other| !other.refusals.is_empty()) {
            other.finding = Finding::Refused;
            other.sentence = "These runs must not be compared".to_owned();
        }
    }

    /// Whether any run must not be compared with the first.
    pub fn is_refused(&self) -> bool {
        self.others
            .iter()
            .any(|other| other.finding == Finding::Refused)
    }

    /// The comparison as one HTML page.
    pub fn html(&self) -> String {
        page::html(&format!("Compared with {}", self.base), self)
    }
}

/// The samples of a label, or all of them, in one run.
struct Side {
    statistics: LabelStatistics,
    precision: Precision,
    windows: Windows,
    /// Start of the run, in seconds since the Unix epoch.
    started_s: f64,
}

impl Side {
    fn total(run: &RunFile) -> Side {
        let statistics = run.recording.total();
        Side {
            precision: run.recording.total_precision(&statistics),
            statistics,
            windows: Windows::of_total(&run.recording.timeline),
            started_s: run.started_ms as f64 / 1000.0,
        }
    }

    fn label(run: &RunFile, place: usize) -> Side {
        Side {
            statistics: run.recording.labels[place].clone(),
            precision: run.recording.precision(place),
            windows: Windows::of_label(&run.recording.timeline, place),
            started_s: run.started_ms as f64 / 1000.0,
        }
    }

    /// The interval of a metric's value.
    fn interval(&self, metric: Metric) -> Option<Interval> {
        match metric {
            Metric::ErrorShare => self.precision.failed_percent,
            metric => {
                let estimate = metric.estimate(&self.statistics, &self.precision);
                estimate.map(|(_, interval)| interval)
            }
        }
    }

    fn percentile_ms(&self, percent: f64) -> f64 {
        self.statistics.service.percentile_ms(percent)
    }

    fn curve(&self) -> Vec<(f64, f64)> {
        let points = CURVE.iter().filter(|_| self.statistics.count > 0);
        points
            .map(|&percent| (percent, self.percentile_ms(percent)))
            .collect()
    }
}

fn compare(base: &RunFile, other: &RunFile, options: CompareOptions) -> ComparedRun {
    let mut total = compare_sides(&Side::total(base), &Side::total(other), options);
    total.label = "All samples".to_owned();
    let mut labels = compare_labels(base, other, options);
    find(labels.iter_mut().chain([&mut total]));
    let is_conclusive = !are_too_short(base, other);
    for label in labels.iter_mut().chain([&mut total]) {
        if !is_conclusive || label.before.min(label.after) == 0 {
            label.withdraw_same();
        }
    }
    let is_gravest = |label: &ComparedLabel| !matches!(label.finding, Finding::Same);
    let mut over_time: Vec<&mut ComparedLabel> = labels.iter_mut().collect();
    over_time.sort_by_key(|label| !is_gravest(label));
    for label in over_time.into_iter().skip(MOST_OVER_TIME) {
        label.over_time = Default::default();
    }
    let refusals = refusals::refusals(base, other);
    let findings = labels.iter().chain([&total]).map(|label| label.finding);
    let finding = worst_of(findings);
    ComparedRun {
        name: other.name.clone(),
        finding,
        verdict: state(other),
        sentence: told::sentence(finding, &total, &labels),
        refusals,
        notes: notes(base, other),
        differs: context::differences(base, other),
        thresholds: thresholds(base, other),
        errors: compared_errors(base, other),
        total,
        labels,
    }
}

/// The thresholds of both runs in the order of the first one, then those that only the other run has.
fn thresholds(base: &RunFile, other: &RunFile) -> Vec<ComparedThreshold> {
    let of = |run: &RunFile, text: &str| {
        let threshold = run.thresholds.iter().find(|one| one.text == text);
        threshold.cloned()
    };
    let mut all: Vec<ComparedThreshold> = Vec::new();
    for threshold in base.thresholds.iter().chain(&other.thresholds) {
        if !all.iter().any(|known| known.text == threshold.text) {
            all.push(ComparedThreshold {
                text: threshold.text.clone(),
                before: of(base, &threshold.text),
                after: of(other, &threshold.text),
            });
        }
    }
    all
}

fn compared_errors(base: &RunFile, other: &RunFile) -> Vec<ComparedError> {
    let mut all: Vec<ComparedError> = Vec::new();
    let mut places: FxHashMap<(String, String), usize> = FxHashMap::default();
    for (side, run) in [base, other].into_iter().enumerate() {
        for kind in run.recording.errors.list() {
            let key = (kind.code.clone(), kind.message.clone());
            let error_index = *places.entry(key).or_insert_with(|| {
                all.push(ComparedError {
                    code: kind.code,
                    message: kind.message,
                    before: 0,
                    after: 0,
                });
                all.len() - 1
            });
            let counts = &mut all[error_index];
            *[&mut counts.before, &mut counts.after][side] += kind.count;
        }
    }
    all.sort_by_key(|kind| std::cmp::Reverse(kind.before.max(kind.after)));
    all.truncate(MOST_ERRORS);
    all
}

/// Runs shorter than this, in seconds, have too few windows of time to tell noise from a difference.
const SHORTEST_S: f64 = 10.0;
/// The verdict on a run with too few samples or too little time (`drumfire_health::Grade::TooShort`).
const TOO_SHORT: &str = "too short to judge";

/// Whether one of the runs is too short for the statement that nothing differs.
fn are_too_short(base: &RunFile, other: &RunFile) -> bool {
    [base, other].iter().any(|run| {
        let state = run.verdict.as_ref().map(|verdict| verdict.state.as_str());
        seconds(run) < SHORTEST_S || state == Some(TOO_SHORT)
    })
}

fn seconds(run: &RunFile) -> f64 {
    (run.ended_ms - run.started_ms) as f64 / 1000.0
}

impl ComparedLabel {
    /// Takes back that nothing differs, because too little was measured for that.
    fn withdraw_same(&mut self) {
        let differences = self.differences.iter_mut().map(|one| &mut one.finding);
        for finding in differences.chain([&mut self.finding]) {
            if *finding == Finding::Same {
                *finding = Finding::Unclear;
            }
        }
    }
}

fn state(run: &RunFile) -> Option<String> {
    run.verdict.as_ref().map(|verdict| verdict.state.clone())
}

fn compare_labels(base: &RunFile, other: &RunFile, options: CompareOptions) -> Vec<ComparedLabel> {
    let (here, there) = (label_places(base), label_places(other));
    let mut labels: Vec<ComparedLabel> = Vec::with_capacity(here.len());
    for (place, label) in base.recording.labels.iter().enumerate() {
        labels.push(match there.get(&key(label)) {
            Some(&twin) => compare_sides(
                &Side::label(base, place),
                &Side::label(other, twin),
                options,
            ),
            None => alone(label, Finding::Removed),
        });
    }
    let added = other
        .recording
        .labels
        .iter()
        .filter(|label| !here.contains_key(&key(label)));
    labels.extend(added.map(|label| alone(label, Finding::Added)));
    labels
}

/// The positions of a run's labels.
fn label_places(run: &RunFile) -> FxHashMap<(String, bool), usize> {
    let labels = run.recording.labels.iter().enumerate();
    labels.map(|(place, label)| (key(label), place)).collect()
}

fn key(label: &LabelStatistics) -> (String, bool) {
    (label.label.clone(), label.transaction)
}

fn alone(label: &LabelStatistics, finding: Finding) -> ComparedLabel {
    let (before, after) = match finding {
        Finding::Removed => (label.count, 0),
        _ => (0, label.count),
    };
    ComparedLabel {
        label: label.label.clone(),
        transaction: label.transaction,
        finding,
        before,
        after,
        differences: Vec::new(),
        curves: Default::default(),
        over_time: Default::default(),
    }
}

fn compare_sides(before: &Side, after: &Side, options: CompareOptions) -> ComparedLabel {
    let percents = [50.0, 95.0, 99.0];
    let noises = noise::of_percentiles(&before.windows, &after.windows, percents);
    let mut differences: Vec<Difference> = ["median", "p95", "p99"]
        .into_iter()
        .zip(percents.into_iter().zip(noises))
        .map(|(metric, (percent, noise))| {
            let values = [before.percentile_ms(percent), after.percentile_ms(percent)];
            relative(metric, "ms", values, noise, options, Finding::Worse)
        })
        .collect();
    differences.push(errors(before, after));
    let rates = [before, after].map(|side| side.statistics.row().throughput_per_s);
    let noise = noise::of_rate(&before.windows, &after.windows);
    differences.push(relative(
        "rate",
        "/s",
        rates,
        noise,
        options,
        Finding::Better,
    ));
    let percentiles = percents.map(Metric::Percentile).into_iter();
    let metrics = percentiles.chain([Metric::ErrorShare, Metric::Rate]);
    for (difference, metric) in differences.iter_mut().zip(metrics) {
        let intervals = before.interval(metric).zip(after.interval(metric));
        difference.bounds = intervals
            .map(|(one, other)| [one, other].map(|interval| (interval.low, interval.high)));
    }
    ComparedLabel {
        label: before.statistics.label.clone(),
        transaction: before.statistics.transaction,
        finding: Finding::Same,
        before: before.statistics.count,
        after: after.statistics.count,
        differences,
        curves: [before.curve(), after.curve()],
        over_time: [before, after].map(|side| side.windows.over_time(side.started_s)),
    }
}

/// A metric whose relative change counts; `more_is` says whether more of it is better or worse.
fn relative(
    metric: &'static str,
    unit: &'static str,
    [before, after]: [f64; 2],
    noise: Option<Noise>,
    options: CompareOptions,
    more_is: Finding,
) -> Difference {
    let change = (before > 0.0).then(|| after / before - 1.0);
    let is_large = change.is_none_or(|change| change.abs() >= options.smallest_change);
    Difference {
        metric,
        unit,
        before,
        after,
        bounds: None,
        change,
        interval: noise.map(|noise| noise.interval),
        chance: noise.map(|noise| noise.chance),
        finding: Finding::Same,
        more_is,
        is_large: is_large && before != after,
    }
}

/// The share of failed samples; its change is the difference of the shares.
fn errors(before: &Side, after: &Side) -> Difference {
    let [from, to] = [before, after].map(|side| side.statistics.row().error_percent);
    let noise = noise::of_errors(&before.windows, &after.windows);
    Difference {
        metric: "failed",
        unit: "%",
        before: from,
        after: to,
        bounds: None,
        change: Some((to - from) / 100.0),
        interval: noise.map(|noise| noise.interval),
        chance: noise.map(|noise| noise.chance),
        finding: Finding::Same,
        more_is: Finding::Worse,
        is_large: (to - from).abs() >= SMALLEST_ERRORS,
    }
}

/// Sets the findings of all metrics and labels.
fn find<'a>(labels: impl Iterator<Item = &'a mut ComparedLabel>) {
    let mut labels: Vec<_> = labels
        .filter(|label| !label.differences.is_empty())
        .collect();
    let all = labels.iter().flat_map(|label| &label.differences);
    let bound = bound(all.filter_map(|difference| difference.chance).collect());
    for label in &mut labels {
        for difference in &mut label.differences {
            difference.finding = difference.found(bound);
        }
        let findings = label
            .differences
            .iter()
            .map(|difference| difference.finding);
        label.finding = worst_of(findings);
    }
}

/// The largest p-value that counts as a difference. With this bound, at most the share [`CHANCE`] of comparisons report
/// any false difference (Holm's step-down procedure).
fn bound(mut chances: Vec<f64>) -> f64 {
    chances.sort_by(f64::total_cmp);
    let tests = chances.len();
    let sentences = chances
        .iter()
        .enumerate()
        .take_while(|(place, chance)| **chance <= CHANCE / (tests - place) as f64);
    sentences.last().map(|(_, chance)| *chance).unwrap_or(0.0)
}

impl Difference {
    fn found(&self, bound: f64) -> Finding {
        if !self.is_large {
            return Finding::Same;
        }
        let is_more = self.after > self.before;
        let is_beyond = self
            .interval
            .is_some_and(|[low, high]| if is_more { low > 0.0 } else { high < 0.0 });
        let Some(chance) = self.chance else {
            return Finding::Unclear;
        };
        match (is_beyond && chance < CHANCE, is_more) {
            (false, _) => Finding::Same,
            // It would be significant if it were the only test.
            (true, _) if chance > bound => Finding::Unclear,
            (true, true) => self.more_is,
            (true, false) if self.more_is == Finding::Worse => Finding::Better,
            (true, false) => Finding::Worse,
        }
    }
}

/// The overall finding: worse outweighs better, and both outweigh unclear.
fn worst_of(findings: impl Iterator<Item = Finding> + Clone) -> Finding {
    let order = [Finding::Worse, Finding::Better, Finding::Unclear];
    let gravest = order
        .into_iter()
        .find(|wanted| findings.clone().any(|finding| finding == *wanted));
    gravest.unwrap_or(Finding::Same)
}

/// The reasons to doubt a comparison.
fn notes(base: &RunFile, other: &RunFile) -> Vec<String> {
    let mut notes = Vec::new();
    for run in [base, other] {
        if run.recording.total().count == 0 {
            notes.push(format!("{} has no sample.", escape::name(&run.name)));
        }
    }
    for run in [base, other] {
        if let Some(verdict) = run
            .verdict
            .as_ref()
            .filter(|verdict| verdict.state != "VALID")
        {
            let mut reasons: Vec<&str> = verdict
                .reasons
                .iter()
                .map(|reason| reason.what.as_str())
                .collect();
            reasons.dedup();
            notes.push(format!(
                "The verdict of {} is {}: {}.",
                escape::name(&run.name),
                verdict.state,
                reasons.join(", ")
            ));
        }
    }
    if let (Some(first), Some(second)) = (&base.plan, &other.plan)
        && first.sha256 != second.sha256
    {
        notes.push("The plans are not the same.".to_owned());
    }
    let users = [base, other].map(|run| {
        let steps = run.recording.timeline.total().iter();
        steps.map(|step| step.users).max().unwrap_or(0)
    });
    if users[0] != users[1] && !users.contains(&0) {
        notes.push(format!(
            "The load is not the same: at most {} and {} users.",
            users[0], users[1]
        ));
    }
    let (first, second) = (seconds(base), seconds(other));
    if first.min(second) * 2.0 < first.max(second) {
        let digits = if first.min(second) < 10.0 { 2 } else { 0 };
        notes.push(format!(
            "One run is much longer than the other: {first:.digits$} s and {second:.digits$} s."
        ));
    }
    if are_too_short(base, other) {
        notes.push("The runs are too short to tell noise from a difference.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
