//! Renders a comparison for a terminal and as Markdown.

use std::fmt::{self, Write as _};

use drumfire_platform::words::{count, counted};

use crate::escape;

use super::{ComparedLabel, ComparedRun, Comparison, ContextDifference, Difference, Finding};

impl Finding {
    /// The word for the finding.
    pub fn word(self) -> &'static str {
        match self {
            Finding::Worse => "worse",
            Finding::Better => "better",
            Finding::Same => "same",
            Finding::Unclear => "unclear",
            Finding::Added => "new",
            Finding::Removed => "gone",
            Finding::Refused => "not compared",
        }
    }
}

/// A sentence on the metric that changed most among those with the run's finding.
pub(super) fn sentence(
    finding: Finding,
    total: &ComparedLabel,
    labels: &[ComparedLabel],
) -> String {
    let change = |label: &'_ ComparedLabel| {
        let wanted = label.differences.iter().filter(|d| d.finding == finding);
        wanted
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .map(|d| (size(d), d.clone(), label.label.clone()))
    };
    // A single label is more informative than the total, which is used only if no label stands out.
    let most = labels
        .iter()
        .filter_map(change)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|_| finding != Finding::Same)
        .or_else(|| change(total));
    if total.before.min(total.after) == 0 {
        return "There is nothing to compare: a run has no sample".to_owned();
    }
    let p95 = total.differences.iter().find(|d| d.metric == "p95");
    let Some((difference, label)) = most
        .map(|(_, difference, label)| (difference, label))
        .or_else(|| Some((p95?.clone(), total.label.clone())))
    else {
        return "No label is in both runs".to_owned();
    };
    let is_rate = difference.metric == "rate";
    let is_share = difference.unit == "%";
    let word = match (finding, is_rate, is_share) {
        (Finding::Worse, true, _) => "lower, beyond noise",
        (Finding::Worse, _, true) => "more failures, beyond noise",
        (Finding::Worse, ..) => "slower, beyond noise",
        (Finding::Better, true, _) => "higher, beyond noise",
        (Finding::Better, _, true) => "fewer failures, beyond noise",
        (Finding::Better, ..) => "faster, beyond noise",
        (Finding::Unclear, ..) => "it may be noise: run longer",
        _ => "no difference beyond noise",
    };
    let metric = match difference.metric {
        "failed" => "failed samples",
        metric => metric,
    };
    format!(
        "{metric} of {} went from {} to {} {}: {word}",
        escape::name(&label),
        short(difference.before),
        short(difference.after),
        difference.unit
    )
}

fn size(d: &Difference) -> f64 {
    d.change.map(f64::abs).unwrap_or(f64::INFINITY)
}

impl Comparison {
    /// The comparison as Markdown, for a pull request.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for other in &self.others {
            let _ = writeln!(
                text,
                "### {} against {}: {}\n",
                escape::markdown(&other.name),
                escape::markdown(&self.base),
                other.finding.word()
            );
            let _ = writeln!(text, "{}.\n", escape::markdown(&other.sentence));
            for refusal in &other.refusals {
                let _ = writeln!(text, "> {}\n", escape::markdown(refusal));
            }
            if let Some(verdicts) = verdicts(self, other) {
                let _ = writeln!(text, "{}\n", escape::markdown(&verdicts));
            }
            if other.finding == Finding::Refused {
                continue;
            }
            for note in &other.notes {
                let _ = writeln!(text, "> {}\n", escape::markdown(note));
            }
            for one in &other.differs {
                let _ = writeln!(text, "> {}\n", escape::markdown(&differs(one)));
            }
            let metrics = &other.total.differences;
            let heads: Vec<&str> = metrics.iter().map(|difference| difference.metric).collect();
            let _ = writeln!(
                text,
                "| label | finding | samples | {} |",
                heads.join(" | ")
            );
            let _ = writeln!(text, "|---|---|---:|{}", "---:|".repeat(heads.len()));
            for label in rows(other) {
                let cells: Vec<String> = label.differences.iter().map(markdown_cell).collect();
                let name = escape::markdown(&label.label);
                let finding = match label.finding {
                    Finding::Worse => "**worse**",
                    finding => finding.word(),
                };
                let _ = writeln!(
                    text,
                    "| {name} | {finding} | {} → {} | {} |",
                    label.before,
                    label.after,
                    if cells.is_empty() {
                        " |".repeat(heads.len() - 1)
                    } else {
                        cells.join(" | ")
                    }
                );
            }
            text.push('\n');
        }
        text.push_str("A difference is reported when its 95 % interval excludes zero, its windows rank apart (Mann–Whitney, all tests together held to 1 % by Holm's procedure) and it is large enough.\n");
        text
    }

    /// The comparison as a table for a terminal; `mark` may colour a text according to the finding.
    pub fn text(&self, mark: &dyn Fn(Finding, &str) -> String) -> String {
        let mut text = String::new();
        for other in &self.others {
            let finding = mark(other.finding, other.finding.word());
            let _ = writeln!(
                text,
                "{} against {}: {finding}",
                escape::name(&other.name),
                escape::name(&self.base)
            );
            let _ = writeln!(text, "  {}", other.sentence);
            for refusal in &other.refusals {
                let _ = writeln!(text, "  because {refusal}");
            }
            if let Some(verdicts) = verdicts(self, other) {
                let _ = writeln!(text, "  {verdicts}");
            }
            if other.finding == Finding::Refused {
                continue;
            }
            for note in &other.notes {
                let _ = writeln!(text, "  note: {note}");
            }
            for one in &other.differs {
                let _ = writeln!(text, "  differs: {}", escape::name(&differs(one)));
            }
            for label in rows(other) {
                let finding = mark(label.finding, label.finding.word());
                let kind = if label.transaction {
                    " (transaction)"
                } else {
                    ""
                };
                let _ = writeln!(
                    text,
                    "  {}{kind}: {finding}, {} and {}",
                    escape::name(&label.label),
                    count(label.before),
                    counted(label.after, "sample")
                );
                for difference in &label.differences {
                    let sentence = format!("{:<8}{}", difference.metric, change_text(difference));
                    let _ = writeln!(text, "      {}", mark(difference.finding, &sentence));
                }
            }
        }
        text
    }
}

fn differs(one: &ContextDifference) -> String {
    format!("{}: {} -> {}", one.what, one.before, one.after)
}

/// The verdicts of both runs on their own numbers, if at least one has a verdict.
fn verdicts(all: &Comparison, other: &ComparedRun) -> Option<String> {
    let is_known = all.base_verdict.is_some() || other.verdict.is_some();
    is_known.then(|| {
        format!(
            "verdicts: {} {}, {} {}",
            escape::name(&all.base),
            word(&all.base_verdict),
            escape::name(&other.name),
            word(&other.verdict)
        )
    })
}

fn word(verdict: &Option<String>) -> String {
    verdict.clone().unwrap_or_else(|| "none".to_owned())
}

fn rows(other: &ComparedRun) -> impl Iterator<Item = &ComparedLabel> {
    std::iter::once(&other.total).chain(&other.labels)
}

impl fmt::Display for Difference {
    /// Formats the metric with both values and the change.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, change_text(self))
    }
}

fn change_text(difference: &Difference) -> String {
    let Difference {
        unit,
        before,
        after,
        ..
    } = difference;
    let [from, to] = bounds_text(difference);
    let mut text = format!(
        "{}{unit}{from} -> {}{unit}{to}",
        short(*before),
        short(*after)
    );
    if let Some(change) = difference.change {
        let _ = write!(text, "  {}", signed(change, difference));
    }
    if let Some([low, high]) = difference.interval {
        let _ = write!(
            text,
            "  ({} to {})",
            signed(low, difference),
            signed(high, difference)
        );
    }
    text
}

/// The intervals of both values, each after a blank; empty if not both are known.
fn bounds_text(difference: &Difference) -> [String; 2] {
    let Some(bounds) = difference.bounds else {
        return Default::default();
    };
    bounds.map(|(low, high)| match high {
        Some(high) => format!(" ({} … {})", short(low), short(high)),
        None => format!(" (≥ {})", short(low)),
    })
}

fn markdown_cell(difference: &Difference) -> String {
    let change = difference
        .change
        .map(|change| format!(" ({})", signed(change, difference)))
        .unwrap_or_default();
    let Difference {
        unit,
        before,
        after,
        ..
    } = difference;
    let [from, to] = bounds_text(difference);
    let text = format!(
        "{}{from} → {}{unit}{to}{change}",
        short(*before),
        short(*after)
    );
    match difference.finding {
        Finding::Worse => format!("**{text}**"),
        _ => text,
    }
}

/// Formats a change in per cent, or in percentage points for shares.
fn signed(change: f64, difference: &Difference) -> String {
    let unit = if difference.unit == "%" {
        " points"
    } else {
        "%"
    };
    let percent = change * 100.0;
    format!(
        "{}{}{unit}",
        if percent > 0.0 { "+" } else { "" },
        short(percent)
    )
}

/// Formats with three significant digits.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
