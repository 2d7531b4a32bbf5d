//! `--summary-json`: the outcome of a run for other programs. `docs/reference/summary.md` documents the fields; a field never
//! changes its meaning within a version of the schema.

use drumfire_report::{RunFile, RunVerdict, ThresholdResult};
use drumfire_results::{LabelStatistics, ThresholdOutcome};
use serde::Serialize;

use crate::exit_codes::Exit;

/// The version of the schema.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct SummaryDocument<'r> {
    schema: u32,
    run_id: String,
    tool: &'r str,
    name: &'r str,
    started_ms: i64,
    ended_ms: i64,
    exit_code: u8,
    nothing_sent: Option<&'r str>,
    verdict: Option<&'r RunVerdict>,
    thresholds: Vec<Threshold<'r>>,
    total: Label<'r>,
    labels: Vec<Label<'r>>,
}

#[derive(Serialize)]
struct Threshold<'r> {
    rule: &'r str,
    passed: bool,
    outcome: &'static str,
    value: Option<f64>,
    limit: f64,
    unit: &'r str,
    message: String,
}

#[derive(Serialize)]
struct Label<'r> {
    label: &'r str,
    transaction: bool,
    count: u64,
    failed: u64,
    failed_percent: f64,
    rate_per_s: f64,
    mean_ms: f64,
    min_ms: f64,
    max_ms: f64,
    p50_ms: f64,
    p90_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    own_p50_ms: Option<f64>,
    own_p95_ms: Option<f64>,
    own_p99_ms: Option<f64>,
    bytes_received: u64,
    bytes_sent: u64,
}

/// The document as text.
pub fn render(run: &RunFile, exit: Exit, nothing_sent: Option<&str>) -> String {
    let total = run.recording.total();
    let document = SummaryDocument {
        schema: SCHEMA,
        run_id: run_id(run),
        tool: &run.tool,
        name: &run.name,
        started_ms: run.started_ms,
        ended_ms: run.ended_ms,
        exit_code: exit.code(),
        nothing_sent,
        verdict: run.verdict.as_ref(),
        thresholds: run.thresholds.iter().map(threshold).collect(),
        total: label(&total),
        labels: run.recording.labels.iter().map(label).collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    format!("{}\n", text.expect("numbers and texts can be written"))
}

/// An id that is the same wherever it is computed for the same run: the start time and a prefix of the plan's hash.
fn run_id(run: &RunFile) -> String {
    let digest = run.plan.as_ref().map_or("", |plan| &plan.sha256);
    let digest = digest.get(..8).unwrap_or("result");
    format!("{}-{digest}", run.started_ms)
}

fn threshold(result: &ThresholdResult) -> Threshold<'_> {
    Threshold {
        rule: &result.text,
        passed: result.outcome == ThresholdOutcome::Passed,
        outcome: match result.outcome {
            ThresholdOutcome::Passed => "passed",
            ThresholdOutcome::NotJudged => "not judged",
            ThresholdOutcome::Failed => "failed",
        },
        value: result.value,
        limit: result.limit,
        unit: &result.unit,
        message: result.line(),
    }
}

fn label(label: &LabelStatistics) -> Label<'_> {
    let row = label.row();
    Label {
        label: &label.label,
        transaction: label.transaction,
        count: row.count,
        failed: row.errors,
        failed_percent: row.error_percent,
        rate_per_s: row.throughput_per_s,
        mean_ms: row.mean_ms,
        min_ms: row.min_ms,
        max_ms: row.max_ms,
        p50_ms: row.p50_ms,
        p90_ms: row.p90_ms,
        p95_ms: row.p95_ms,
        p99_ms: row.p99_ms,
        p999_ms: label.service.percentile(99.9) / 1000.0,
        own_p50_ms: label.own_ms(50.0),
        own_p95_ms: label.own_ms(95.0),
        own_p99_ms: label.own_ms(99.0),
        bytes_received: label.bytes,
        bytes_sent: label.sent_bytes,
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample, Threshold};

    use super::*;

    #[test]
    fn the_document_has_every_documented_field() {
        let mut recording = Recording::default();
        let mut sample = Sample::new("Log in".into(), "t".into());
        sample.start_ms = 1_000;
        sample.set_end(1_040);
        sample.bytes = 10;
        recording.add(&sample);
        let mut run = RunFile::new("p.jmx", recording);
        let judged = |text: &str| {
            let threshold: Threshold = text.parse().expect("a threshold");
            ThresholdResult::from(&threshold.judge(&run.recording))
        };
        run.thresholds = vec![judged("p95 > 1s"), judged("p95 of Pay > 1s")];
        let text = render(&run, Exit::NothingSent, Some("why"));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            (&value["schema"], &value["exit_code"]),
            (&1.into(), &8.into())
        );
        assert_eq!(value["nothing_sent"], "why");
        assert_eq!(value["thresholds"][0]["outcome"], "passed");
        let unjudged = &value["thresholds"][1];
        assert_eq!(
            (&unjudged["passed"], &unjudged["outcome"]),
            (&false.into(), &"not judged".into())
        );
        assert_eq!(
            unjudged["message"],
            "not judged  p95 of Pay   fails if > 1 s   no sample has the label `Pay`"
        );
        assert_eq!(value["labels"][0]["label"], "Log in");
        assert_eq!(value["labels"][0]["failed"], 1);
        assert_eq!(value["total"]["count"], 1);
        assert_eq!(value["total"]["bytes_received"], 10);
        let documented = include_str!("../../../../../docs/reference/summary.md");
        for object in [&value, &value["total"], &value["thresholds"][0]] {
            for name in object.as_object().expect("an object").keys() {
                assert!(documented.contains(&format!("`{name}`")), "{name}");
            }
        }
    }
}
