//! Summarises a run: as Markdown for people, and as metrics for CI systems that show changes.

use std::fmt::Write as _;

use drumfire_platform::words::ms;
use drumfire_results::{StatisticsRow, ThresholdOutcome};

use crate::escape;
use crate::run_file::RunFile;

/// The outcome as Markdown: verdict, thresholds, numbers of each label.
pub fn outcome_markdown(run: &RunFile) -> String {
    let mut text = "### ".to_owned();
    if let Some(outcome) = run.outcome() {
        let _ = write!(text, "{}: ", outcome.word());
    }
    text.push_str(&escape::markdown(&run.name));
    if let Some(verdict) = &run.verdict {
        let _ = write!(text, ", {}", escape::markdown(&verdict.state));
    }
    text.push_str("\n\n");
    for reason in run.verdict.iter().flat_map(|verdict| &verdict.reasons) {
        let (what, measured) = (
            escape::markdown(&reason.what),
            escape::markdown(&reason.measured),
        );
        let _ = writeln!(text, "> {what}: {measured}\n");
    }
    if !run.thresholds.is_empty() {
        text.push_str("| | threshold |\n|---|---|\n");
        for threshold in &run.thresholds {
            let word = threshold.outcome.word();
            let word = match threshold.outcome {
                ThresholdOutcome::Passed => word.to_owned(),
                _ => format!("**{word}**"),
            };
            let sentence = escape::markdown(&threshold.sentence);
            let _ = writeln!(text, "| {word} | {sentence} |");
        }
        text.push('\n');
    }
    if run.has_no_samples() {
        text.push_str("No sample was taken.\n");
        return text;
    }
    text.push_str(
        "| label | samples | failed | per second | mean ms | p50 ms | p95 ms | p99 ms |\n",
    );
    text.push_str("|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for row in run.statistics().rows() {
        let _ = writeln!(text, "{}", markdown_row(&row));
    }
    text
}

fn markdown_row(row: &StatisticsRow) -> String {
    format!(
        "| {}{} | {} | {:.2} % | {:.1} | {} | {} | {} | {} |",
        escape::markdown(&row.label),
        if row.transaction {
            " (transaction)"
        } else {
            ""
        },
        row.count,
        row.error_percent,
        row.throughput_per_s,
        ms(row.mean_ms),
        ms(row.p50_ms),
        ms(row.p95_ms),
        ms(row.p99_ms),
    )
}

/// Extracts a number of a label.
type Value = fn(&StatisticsRow) -> f64;

/// The numbers of each label in the text form of OpenMetrics, which GitLab compares between branches.
pub fn outcome_metrics(run: &RunFile) -> String {
    let rows = run.statistics().rows();
    let mut text = String::new();
    let metrics: [(&str, &str, Value); 7] = [
        ("samples", "Samples", |row| row.count as f64),
        ("failed_percent", "Share of failed samples", |row| {
            row.error_percent
        }),
        ("rate_per_second", "Samples a second", |row| {
            row.throughput_per_s
        }),
        ("mean_milliseconds", "Mean service time", |row| row.mean_ms),
        ("p50_milliseconds", "Median service time", |row| row.p50_ms),
        (
            "p95_milliseconds",
            "95th percentile of the service time",
            |row| row.p95_ms,
        ),
        (
            "p99_milliseconds",
            "99th percentile of the service time",
            |row| row.p99_ms,
        ),
    ];
    for (name, help, value) in metrics {
        let _ = writeln!(text, "# HELP drumfire_{name} {help}");
        let _ = writeln!(text, "# TYPE drumfire_{name} gauge");
        // Of a label without samples, only their number is known.
        let measured = rows.iter().filter(|row| row.count > 0 || name == "samples");
        for row in measured {
            let label = row
                .label
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            let value = (value(row) * 1000.0).round() / 1000.0;
            let _ = writeln!(text, "drumfire_{name}{{label=\"{label}\"}} {value}");
        }
    }
    text.push_str("# EOF\n");
    text
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;
    use crate::judged::ThresholdResult;
    use crate::run_file::{RunVerdict, VerdictReason};

    fn run() -> RunFile {
        let mut recording = Recording::default();
        for (elapsed_ms, success) in [(40, true), (60, false)] {
            let mut sample = Sample::new("a|\"b\"".into(), "t".into());
            sample.start_ms = 1_000;
            sample.set_end(1_000 + elapsed_ms);
            sample.success = success;
            recording.add(&sample);
        }
        let mut run = RunFile::new("shop.jmx", recording);
        run.verdict = Some(RunVerdict {
            state: "DEGRADED".to_owned(),
            reasons: vec![VerdictReason {
                what: "the generator was stopped".to_owned(),
                measured: "2 s".to_owned(),
                remedy: String::new(),
                spans_ms: Vec::new(),
            }],
        });
        run.thresholds = vec![ThresholdResult {
            text: "errors > 1%".to_owned(),
            outcome: ThresholdOutcome::Failed,
            value: Some(50.0),
            limit: 1.0,
            unit: "%".to_owned(),
            sentence: "errors 50 %   fails if > 1 %".to_owned(),
            statement: String::new(),
        }];
        run
    }

    #[test]
    fn markdown_has_verdict_thresholds_and_labels() {
        let text = outcome_markdown(&run());
        assert!(
            text.starts_with(
                "### FAILED: shop.jmx, DEGRADED\n\n> the generator was stopped: 2 s\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("| **FAILED** | errors 50 %   fails if &gt; 1 % |"),
            "{text}"
        );
        assert!(text.contains("| a\\|\"b\" | 2 | 50.00 % |"), "{text}");
        assert!(text.contains("| 50.0 | 50.0 | 60.0 | 60.0 |\n"), "{text}");
        assert!(text.contains("\n| TOTAL | 2 |"), "{text}");
    }

    #[test]
    fn a_run_without_samples_has_no_shares_and_no_times() {
        let empty = RunFile::new("p.jmx", Recording::default());
        assert_eq!(
            outcome_markdown(&empty),
            "### FAILED: p.jmx\n\nNo sample was taken.\n"
        );
        let metrics = outcome_metrics(&empty);
        assert!(metrics.contains("drumfire_samples{label=\"TOTAL\"} 0\n"));
        assert_eq!(metrics.matches("{label=").count(), 1, "{metrics}");
    }

    #[test]
    fn markdown_marks_transactions_and_has_times_of_one_unit() {
        let mut recording = Recording::default();
        let place = recording.place("Log in", true);
        let mut sample = Sample::new("Log in".into(), "t".into());
        sample.start_ms = 1_000;
        sample.set_end(1_002);
        recording.labels[place].add(&sample);
        let text = outcome_markdown(&RunFile::new("p.jmx", recording));
        assert!(text.contains("| Log in (transaction) | 1 |"), "{text}");
        assert!(text.contains("| 2.00 | 2.00 |"), "{text}");
    }

    #[test]
    fn metrics_are_lines_with_the_label() {
        let text = outcome_metrics(&run());
        assert!(
            text.contains(
                "# TYPE drumfire_samples gauge\ndrumfire_samples{label=\"a|\\\"b\\\"\"} 2\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("drumfire_failed_percent{label=\"TOTAL\"} 50\n"),
            "{text}"
        );
        assert!(text.ends_with("# EOF\n"));
    }
}
