//! Findings: what a reader of a report should look at first, in words, each with its evidence, its label and its period.
//!
//! A finding is computed from the run's own numbers by a fixed rule, which docs/reports.md states, and only told if chance does not
//! explain it: one file for each rule. Nothing is told of labels with too few samples for a curve.

mod drift;
mod errors;
mod knee;
mod series;
mod slow;
mod warm_up;
mod waves;

use std::collections::BTreeSet;

use drumfire_platform::words;
use drumfire_results::LabelStatistics;
use serde::Serialize;

use self::series::{Series, median};
pub use self::warm_up::WarmUp;
use crate::run_file::RunFile;

/// The most findings that are told.
const MOST: usize = 6;
/// A stretch that begins or ends this close to an end of the run, in milliseconds or as a share of it, reaches that end.
const CLOSE_MS: i64 = 2_000;
const CLOSE: f64 = 0.02;
/// Users or rate inside a stretch are told if they differ by this factor from those outside.
const OTHER_LOAD: f64 = 1.25;

/// The rule that a finding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A label was slow for a while, or from some time on.
    Slow,
    /// Above some load the rate did not rise, but times did.
    Knee,
    /// Errors of a kind.
    Errors,
    /// Times rose all the while.
    Drift,
    /// Times rose and fell at a regular distance.
    Waves,
    /// The first part of the run was slower.
    Warmup,
    /// The load generator's own part.
    Generator,
    /// The difference from the run's baseline.
    Baseline,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule.
    pub kind: Kind,
    /// The finding in one sentence, without a full stop.
    pub text: String,
    /// The numbers behind it.
    pub evidence: String,
    /// The label that it is about, and whether that is a transaction; `None` if it is about several.
    pub label: Option<(String, bool)>,
    /// Its period, in milliseconds since the Unix epoch; `None` if it is about the whole run.
    pub span_ms: Option<(i64, i64)>,
}

/// A finding with its weight; its label is a place in the recording.
struct Draft {
    kind: Kind,
    text: String,
    evidence: String,
    place: Option<usize>,
    span_ms: Option<(i64, i64)>,
    weight: f64,
}

/// The run, with what several rules need.
struct Run<'r> {
    file: &'r RunFile,
    total: LabelStatistics,
    /// The labels that have enough samples for a curve: their places and curves.
    series: Vec<(usize, Series)>,
}

/// The findings of a run, the most important first.
pub fn findings(file: &RunFile) -> Vec<Finding> {
    let run = Run::of(file);
    let knee = knee::find(&run);
    let mut slow = slow::find(&run);
    let mut drift = drift::find(&run);
    if let Some((from_ms, _)) = knee.first().and_then(|knee| knee.span_ms) {
        // Beyond its capacity a target is slow, and ever slower.
        let is_after = |span: Option<(i64, i64)>| {
            span.is_some_and(|(from, _)| from + 2 * run.step_ms() >= from_ms)
        };
        slow.retain(|draft| !is_after(draft.span_ms));
        drift.clear();
    }
    // A stretch or a step is no steady rise.
    if !slow.is_empty() && !drift.is_empty() {
        if run.reaches_end(slow[0].span_ms) {
            slow.clear()
        } else {
            drift.clear()
        }
    }
    let mut drafts = knee;
    if let Some(warm_up) = warm_up::find(&run) {
        // It is the same as a slow stretch of several labels that begins with the run.
        let is_same = |draft: &Draft| {
            draft.place.is_none_or(|_| run.series.len() == 1)
                && draft
                    .span_ms
                    .is_some_and(|(from, _)| run.is_close(from, run.file.started_ms))
        };
        slow.retain(|draft| !is_same(draft));
        drafts.push(warm_up);
    }
    drafts.extend(slow);
    drafts.extend(drift);
    drafts.extend(errors::find(&run));
    drafts.extend(waves::find(&run));
    drafts.extend(generator(&run));
    drafts.extend(baseline(&run));
    drafts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    drafts.truncate(MOST);
    drafts.into_iter().map(|draft| run.finding(draft)).collect()
}

/// The generator's own part, as the verdict tells it.
fn generator(run: &Run<'_>) -> Option<Draft> {
    let verdict = run.file.verdict.as_ref()?;
    let is_spoilt = matches!(verdict.state.as_str(), "DEGRADED" | "INVALID");
    let reason = verdict.reasons.first().filter(|_| is_spoilt)?;
    let spans = &reason.spans_ms;
    let span_ms = spans.iter().copied().max_by_key(|(from, to)| to - from);
    let when = span_ms
        .map(|(from, to)| format!(" {}", run.span(from, to)))
        .unwrap_or_default();
    Some(Draft {
        kind: Kind::Generator,
        text: format!(
            "The load generator itself distorted numbers{when}: {}",
            reason.what
        ),
        evidence: reason.measured.clone(),
        place: None,
        span_ms,
        weight: if verdict.state == "INVALID" {
            10.0
        } else {
            2.5
        },
    })
}

/// The difference from the baseline, as the comparison tells it.
fn baseline(run: &Run<'_>) -> Option<Draft> {
    let change = run.file.baseline.as_ref()?;
    Some(Draft {
        kind: Kind::Baseline,
        text: change.sentence.clone(),
        evidence: format!("compared with {}", change.name),
        place: None,
        span_ms: None,
        weight: if change.is_worse { 6.0 } else { 2.0 },
    })
}

impl<'r> Run<'r> {
    fn of(file: &'r RunFile) -> Run<'r> {
        let recording = &file.recording;
        let labels = recording.labels.iter().enumerate();
        let series = labels
            .filter(|(_, label)| !label.transaction)
            .filter_map(|(place, _)| Some((place, Series::of_label(&recording.timeline, place)?)));
        Run {
            file,
            total: recording.total(),
            series: series.collect(),
        }
    }

    fn finding(&self, draft: Draft) -> Finding {
        let label = draft.place.map(|place| {
            let label = &self.file.recording.labels[place];
            (label.label.clone(), label.transaction)
        });
        Finding {
            kind: draft.kind,
            text: draft.text,
            evidence: draft.evidence,
            label,
            span_ms: draft.span_ms,
        }
    }

    fn step_ms(&self) -> i64 {
        i64::from(self.file.recording.timeline.total_step_s()) * 1000
    }

    /// The labels of samplers.
    fn samplers(&self) -> impl Iterator<Item = (usize, &LabelStatistics)> {
        let labels = self.file.recording.labels.iter().enumerate();
        labels.filter(|(_, label)| !label.transaction && label.count > 0)
    }

    /// The places of samplers with these labels.
    fn places(&self, names: &BTreeSet<&str>) -> Vec<usize> {
        let named = self
            .samplers()
            .filter(|(_, label)| names.contains(label.label.as_str()));
        named.map(|(place, _)| place).collect()
    }

    fn name(&self, place: usize) -> String {
        let label = &self.file.recording.labels[place].label;
        if label.is_empty() {
            "(no label)".to_owned()
        } else {
            label.clone()
        }
    }

    /// These labels as the subject of a sentence.
    fn who(&self, places: &[usize]) -> String {
        let judged = self.series.len();
        match places {
            [place] => self.name(*place),
            [one, other] => format!("{} and {}", self.name(*one), self.name(*other)),
            places if places.len() == judged => format!("All {judged} labels"),
            places => format!("{} of {judged} labels", places.len()),
        }
    }

    fn is_close(&self, at_ms: i64, end_ms: i64) -> bool {
        let length = (self.file.ended_ms - self.file.started_ms) as f64;
        let bin = self.series.iter().map(|(_, series)| series.bin_ms).max();
        let close = CLOSE_MS
            .max((length * CLOSE) as i64)
            .max(bin.unwrap_or(0) + 1_000);
        (at_ms - end_ms).abs() <= close
    }

    fn reaches_end(&self, span_ms: Option<(i64, i64)>) -> bool {
        span_ms.is_some_and(|(_, to)| self.is_close(to, self.file.ended_ms))
    }

    /// A period in words: `from 5:00 to 6:00`, `from 5:00 on`.
    fn span(&self, from_ms: i64, to_ms: i64) -> String {
        let at = |ms: i64| elapsed((ms - self.file.started_ms).max(0) / 1000);
        match (
            self.is_close(from_ms, self.file.started_ms),
            self.is_close(to_ms, self.file.ended_ms),
        ) {
            (true, true) => "throughout".to_owned(),
            (true, false) => format!("until {}", at(to_ms)),
            (false, true) => format!("from {} on", at(from_ms)),
            (false, false) => format!("from {} to {}", at(from_ms), at(to_ms)),
        }
    }

    fn ms(&self, ms: f64) -> String {
        format!("{} ms", words::ms(ms))
    }

    /// Users inside a stretch, if they differ from those outside; else empty.
    fn load_within(&self, from_ms: i64, to_ms: i64) -> String {
        let cells = self.file.recording.timeline.total();
        let is_inside = |at: i64| (from_ms..to_ms).contains(&(at * self.step_ms()));
        let users = |inside: bool| {
            let cells = cells
                .iter()
                .filter(|cell| is_inside(cell.ended.at) == inside);
            median(cells.map(|cell| f64::from(cell.users)))
        };
        let (Some(inside), Some(outside)) = (users(true), users(false)) else {
            return String::new();
        };
        if inside > outside * OTHER_LOAD || inside < outside / OTHER_LOAD {
            format!("; {inside:.0} users then, otherwise {outside:.0}")
        } else {
            String::new()
        }
    }
}

/// A time since the start, as the page's axes write it.
fn elapsed(seconds: i64) -> String {
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match h {
        0 => format!("{m}:{s:02}"),
        h => format!("{h}:{m:02}:{s:02}"),
    }
}

/// `3.4 times slower`, `60 % slower`.
fn times_slower(factor: f64) -> String {
    match factor {
        factor if factor >= 9.95 => format!("{factor:.0} times slower"),
        factor if factor >= 2.0 => format!("{factor:.1} times slower").replace(".0 ", " "),
        factor => format!("{:.0} % slower", (factor - 1.0) * 100.0),
    }
}

fn per_second(rate: f64) -> String {
    if rate >= 10.0 {
        format!("{rate:.0}/s")
    } else {
        format!("{rate:.1}/s")
    }
}

#[cfg(test)]
mod tests;
