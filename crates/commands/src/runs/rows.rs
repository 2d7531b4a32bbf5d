//! Runs as rows of a table.

use drumfire_report::{RunFile, TrendPoint};
use drumfire_results::Threshold;
use unicode_width::UnicodeWidthStr;

use crate::terminal::format::{count, ms};

/// The numbers of a run that tables show.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// The run's name.
    pub name: String,
    /// Samples without those of transaction controllers.
    pub samples: u64,
    /// Failed samples in per cent.
    pub errors_percent: f64,
    /// Samples a second.
    pub rate: f64,
    /// Percentiles 50, 95 and 99 of the elapsed time in milliseconds.
    pub percentiles_ms: [f64; 3],
    /// The run's verdict on its own numbers.
    pub verdict: String,
}

/// A run as pages show it, with its number in the list of runs and its start time.
pub fn trend_point(run: &RunFile, number: usize, when: String) -> TrendPoint {
    let row = RunRow::of(run);
    let steps = run.recording.timeline.total().iter();
    let limits = run.thresholds.iter().filter_map(|threshold| {
        let limit_ms = threshold.text.parse::<Threshold>().ok()?.time_limit_ms()?;
        Some((threshold.text.clone(), limit_ms))
    });
    let labels = run.recording.labels.iter().filter(|label| label.count > 0);
    TrendPoint {
        number,
        when,
        samples: row.samples,
        errors_percent: row.errors_percent,
        rate: row.rate,
        percentiles_ms: row.percentiles_ms,
        verdict: row.verdict,
        users: steps.map(|step| step.users).max().unwrap_or(0),
        outcome: run.outcome(),
        limits_ms: limits.collect(),
        labels: labels
            .map(|label| (label.label.clone(), label.service.percentile_ms(95.0)))
            .collect(),
    }
}

impl RunRow {
    /// The numbers of a run.
    pub fn of(run: &RunFile) -> RunRow {
        let total = run.recording.total();
        let seconds = (run.ended_ms - run.started_ms).max(1) as f64 / 1000.0;
        let share = |part: u64| match total.count {
            0 => 0.0,
            count => 100.0 * part as f64 / count as f64,
        };
        RunRow {
            name: run.name.clone(),
            samples: total.count,
            errors_percent: share(total.errors),
            rate: total.count as f64 / seconds,
            percentiles_ms: [50.0, 95.0, 99.0].map(|level| total.service.percentile_ms(level)),
            verdict: match &run.verdict {
                _ if run.ended_early => "ended early".to_owned(),
                Some(verdict) => verdict.state.clone(),
                None => String::new(),
            },
        }
    }

    /// The cells to the right of the name.
    pub fn numbers(&self) -> Vec<String> {
        let mut cells = vec![count(self.samples)];
        match self.samples {
            // Nothing was measured, and 0 would look like a measurement.
            0 => cells.extend(std::iter::repeat_n("-".to_owned(), 5)),
            _ => {
                cells.push(format!("{:.1} %", self.errors_percent));
                cells.push(format!("{:.1}", self.rate));
                cells.extend(self.percentiles_ms.map(ms));
            }
        }
        cells.push(self.verdict.clone());
        cells
    }
}

/// A table with columns as wide as their widest cell; numbers are right-aligned.
pub fn table(heads: &[&str], lines: &[Vec<String>]) -> String {
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
                .max(head.width())
        })
        .collect();
    let is_number = |at: usize| {
        let mut cells = lines.iter().filter_map(|line| line.get(at));
        cells.all(|cell| cell.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-'))
    };
    let mut text = String::new();
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    for line in std::iter::once(&heads).chain(lines) {
        let mut row = String::new();
        for (at, cell) in line.iter().enumerate() {
            let pad = " ".repeat(widths[at].saturating_sub(cell.width()));
            if at > 0 && is_number(at) {
                row.push_str(&format!("{pad}{cell}  "))
            } else {
                row.push_str(&format!("{cell}{pad}  "))
            }
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_samples_has_no_shares_and_no_times() {
        let run = RunFile::new("p.jmx", drumfire_results::Recording::default());
        let cells = RunRow::of(&run).numbers();
        assert_eq!(cells, ["0", "-", "-", "-", "-", "-", ""]);
    }

    #[test]
    fn columns_are_aligned() {
        let lines = [
            vec!["a".to_owned(), "5".to_owned(), "x".to_owned()],
            vec!["longer".to_owned(), "123".to_owned(), String::new()],
        ];
        let expected = "name      n  word\na         5  x\nlonger  123\n";
        assert_eq!(table(&["name", "n", "word"], &lines), expected);
    }
}
