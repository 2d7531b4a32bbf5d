//! The table of intervals in the summary after a run: `202 (196 … 209)`.

use std::fmt::Write as _;

use drumfire_results::{Interval, LabelStatistics, PERCENTS, Precision, Recording, suffices_for};
use unicode_width::UnicodeWidthStr;

use super::format::{fit, ms, rate};
use super::style::Style;

/// A number and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    /// The number; `None` if too few samples were taken for it.
    value: Option<f64>,
    interval: Option<Interval>,
}

/// The numbers of a label with their intervals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreciseRow {
    percentiles_ms: Vec<Estimate>,
    mean_ms: Option<Estimate>,
    rate: Option<Estimate>,
}

/// The rows of all labels and the total. `None` if the run was too short for intervals.
pub fn rows(recording: &Recording, total: &LabelStatistics) -> Option<Vec<PreciseRow>> {
    let all = recording.total_precision(total);
    let labels = recording
        .labels
        .iter()
        .enumerate()
        .map(|(place, label)| row(label, &recording.precision(place)));
    (all.block_s > 0).then(|| labels.chain([row(total, &all)]).collect())
}

fn row(label: &LabelStatistics, precision: &Precision) -> PreciseRow {
    let percentiles = PERCENTS
        .iter()
        .zip(precision.percentiles_ms)
        .map(|(&percent, interval)| Estimate {
            value: suffices_for(label.count, percent).then(|| label.service.percentile_ms(percent)),
            interval,
        });
    PreciseRow {
        percentiles_ms: percentiles.collect(),
        mean_ms: Some(Estimate {
            value: Some(label.service.mean() / 1000.0),
            interval: precision.mean_ms,
        }),
        rate: Some(Estimate {
            value: Some(label.row().throughput_per_s),
            interval: precision.rate_per_s,
        }),
    }
}

/// The text of a number with its interval.
fn cell(estimate: Option<Estimate>, format: fn(f64) -> String) -> String {
    let Some(Estimate {
        value: Some(value),
        interval,
    }) = estimate
    else {
        return TOO_FEW.to_owned();
    };
    let value = format(value);
    match interval {
        Some(Interval {
            low,
            high: Some(high),
        }) => {
            format!("{value} ({} … {})", format(low), format(high))
        }
        Some(Interval { low, high: None }) => format!("{value} (≥ {})", format(low)),
        None => value,
    }
}

/// The text in place of a percentile beyond which no sample lies.
const TOO_FEW: &str = "too few";

/// A column: its head, its importance, and the text of a row.
type Column = (&'static str, u8, fn(&PreciseRow) -> String);

/// The columns. A narrow terminal has the most important ones.
const COLUMNS: [Column; 7] = [
    ("rate/s", 4, |row| cell(row.rate, rate)),
    ("mean", 3, |row| cell(row.mean_ms, ms)),
    ("p50", 5, |row| {
        cell(row.percentiles_ms.first().copied(), ms)
    }),
    ("p90", 1, |row| cell(row.percentiles_ms.get(1).copied(), ms)),
    ("p95", 7, |row| cell(row.percentiles_ms.get(2).copied(), ms)),
    ("p99", 6, |row| cell(row.percentiles_ms.get(3).copied(), ms)),
    ("p99.9", 2, |row| {
        cell(row.percentiles_ms.get(4).copied(), ms)
    }),
];

/// The fewest columns that a label keeps.
const FEWEST_LABEL_COLUMNS: usize = 10;
/// The blanks between two columns.
const GAP: usize = 2;

/// Adds the table. `labels` are the texts of the rows; `room` is the width of the terminal.
pub fn table(text: &mut String, labels: &[String], rows: &[PreciseRow], style: Style, room: usize) {
    let cells: Vec<(u8, &str, Vec<String>, usize)> = COLUMNS
        .into_iter()
        .map(|(head, importance, of)| {
            let cells: Vec<String> = rows.iter().map(of).collect();
            let widths = cells.iter().map(|cell| cell.width());
            let width = widths.max().unwrap_or(0).max(head.len()) + GAP;
            (importance, head, cells, width)
        })
        .collect();
    let wanted = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let fewest = wanted.clamp("label".len(), FEWEST_LABEL_COLUMNS);
    let mut by_importance: Vec<_> = cells.iter().collect();
    by_importance.sort_by_key(|(importance, ..)| std::cmp::Reverse(*importance));
    let mut left = room.saturating_sub(fewest);
    let mut least = u8::MAX;
    for (importance, _, _, width) in by_importance {
        if *width > left {
            break;
        }
        left -= width;
        least = *importance;
    }
    let shown: Vec<_> = cells
        .iter()
        .filter(|(importance, ..)| *importance >= least)
        .collect();
    if shown.is_empty() {
        return;
    }
    let label_columns = wanted.max("label".len()).min(fewest + left);
    let _ = writeln!(text, "{}", style.dim("with 95 % intervals"));
    let mut heads = fit("label", label_columns);
    for (_, head, _, width) in &shown {
        let _ = write!(heads, "{head:>width$}");
    }
    let _ = writeln!(text, "{}", style.dim(&heads));
    for (place, label) in labels.iter().enumerate() {
        let mut line = fit(label, label_columns);
        for (_, _, cells, width) in &shown {
            let _ = write!(line, "{:>width$}", cells[place]);
        }
        let _ = writeln!(text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: Option<f64>) -> Estimate {
        Estimate {
            value: Some(value),
            interval: Some(Interval { low, high }),
        }
    }

    fn row() -> PreciseRow {
        let few = Estimate {
            value: None,
            interval: None,
        };
        PreciseRow {
            percentiles_ms: vec![
                estimate(150.0, 148.0, Some(153.0)),
                estimate(190.0, 180.0, Some(199.0)),
                estimate(202.0, 196.0, Some(209.0)),
                estimate(300.0, 260.0, None),
                few,
            ],
            mean_ms: Some(estimate(160.0, 158.0, Some(163.0))),
            rate: Some(estimate(50.0, 49.5, Some(50.5))),
        }
    }

    #[test]
    fn every_number_stands_with_its_bounds() {
        let mut text = String::new();
        let labels = ["Home".to_owned()];
        table(&mut text, &labels, &[row()], Style::PLAIN, usize::MAX);
        let expected = "\
with 95 % intervals
label              rate/s             mean              p50              p90              p95          p99    p99.9
Home   50.0 (49.5 … 50.5)  160 (158 … 163)  150 (148 … 153)  190 (180 … 199)  202 (196 … 209)  300 (≥ 260)  too few
";
        assert_eq!(text, expected);
    }

    #[test]
    fn narrow_terminals_show_the_important_percentiles() {
        let labels = ["a long label ".repeat(5), "TOTAL".to_owned()];
        for (room, heads) in [
            (80, "rate/s p50 p95 p99"),
            (62, "p50 p95 p99"),
            (40, "p95 p99"),
            (30, "p95"),
            (10, ""),
        ] {
            let mut text = String::new();
            table(&mut text, &labels, &[row(), row()], Style::PLAIN, room);
            assert!(text.lines().all(|line| line.width() <= room), "{text}");
            let shown = text.lines().nth(1).unwrap_or_default().split_whitespace();
            let shown: Vec<&str> = shown.skip(1).collect();
            assert_eq!(shown.join(" "), heads, "{text}");
        }
    }
}
