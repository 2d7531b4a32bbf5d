//! `--summary-json`: the outcome of a run for other programs. `docs/reference/summary.md` documents the fields; a field never
//! changes its meaning within a version of the schema.

use drumfire_report::{
    CheckedCount, Repeats, RunFile, RunVerdict, StreamNumbers, ThresholdResult, Traces,
};
use drumfire_results::{
    Interval, LabelStatistics, PERCENTS, Precision, SampleBalance, ThresholdOutcome, suffices_for,
};
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
    counts: &'r [CheckedCount],
    balance: Option<Balance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'r Repeats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traces: Option<Traces>,
    total: Label<'r>,
    labels: Vec<Label<'r>>,
}

/// The fate of the samples that users began.
#[derive(Serialize)]
struct Balance {
    begun: u64,
    recorded: u64,
    skipped: u64,
    lost: u64,
}

impl Balance {
    fn of(balance: SampleBalance) -> Balance {
        Balance {
            begun: balance.begun,
            recorded: balance.recorded,
            skipped: balance.skipped,
            lost: balance.lost(),
        }
    }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamNumbers>,
    intervals: Option<Intervals>,
}

/// The 95 % intervals of a label's numbers: the bounds, the upper one null if too few samples are larger.
#[derive(Serialize)]
struct Intervals {
    rate_per_s: Option<Bounds>,
    failed_percent: Option<Bounds>,
    mean_ms: Option<Bounds>,
    p50_ms: Option<Bounds>,
    p90_ms: Option<Bounds>,
    p95_ms: Option<Bounds>,
    p99_ms: Option<Bounds>,
    p999_ms: Option<Bounds>,
    block_s: u32,
}

type Bounds = (f64, Option<f64>);

/// The document as text.
pub fn render(run: &RunFile, exit: Exit, nothing_sent: Option<&str>) -> String {
    let recording = run.statistics();
    let total = recording.total();
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
        counts: &run.counts,
        balance: run.balance.map(Balance::of),
        left_out: run.settled.as_ref().map(|part| part.told.as_str()),
        repeats: run.repeats.as_ref(),
        traces: Traces::of(&run.recording, None),
        total: label(&total, &recording.total_precision(&total)),
        labels: (recording.labels.iter().enumerate())
            .map(|(place, one)| label(one, &recording.precision(place)))
            .collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    format!("{}\n", text.expect("numbers and texts can be written"))
}

/// An id that is the same wherever it is computed for the same run: the start time and a prefix of the plan's hash.
fn run_id(run: &RunFile) -> String {
    let digest = run
        .plan
        .as_ref()
        .and_then(|plan| plan.sha256.get(..8))
        .unwrap_or("result");
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

/// The intervals; `None` if the run was too short for them.
fn intervals(label: &LabelStatistics, precision: &Precision) -> Option<Intervals> {
    let bounds = |interval: Option<Interval>| interval.map(|one| (one.low, one.high));
    let [p50_ms, p90_ms, p95_ms, p99_ms, p999_ms] = std::array::from_fn(|place| {
        let interval = precision.percentiles_ms[place];
        bounds(interval.filter(|_| suffices_for(label.count, PERCENTS[place])))
    });
    (precision.block_s > 0).then(|| Intervals {
        rate_per_s: bounds(precision.rate_per_s),
        failed_percent: bounds(precision.failed_percent),
        mean_ms: bounds(precision.mean_ms),
        p50_ms,
        p90_ms,
        p95_ms,
        p99_ms,
        p999_ms,
        block_s: precision.block_s,
    })
}

fn label<'r>(label: &'r LabelStatistics, precision: &Precision) -> Label<'r> {
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
        p999_ms: label.service.percentile_ms(99.9),
        own_p50_ms: label.own_ms(50.0),
        own_p95_ms: label.own_ms(95.0),
        own_p99_ms: label.own_ms(99.0),
        bytes_received: label.bytes,
        bytes_sent: label.sent_bytes,
        stream: StreamNumbers::of(label),
        intervals: intervals(label, precision),
    }
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample, Threshold};

    use super::*;

    #[test]
    fn numbers_of_a_longer_run_have_intervals() {
        let mut recording = Recording::default();
        for place in 0..200 {
            let mut sample = Sample::new("Log in".into(), "t".into());
            sample.start_ms = 1_000 + place * 100;
            sample.set_end(sample.start_ms + 40 + place % 7);
            recording.add(&sample);
        }
        let text = render(&RunFile::new("p.jmx", recording), Exit::Ok, None);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let intervals = &value["labels"][0]["intervals"];
        let number = |bound: &serde_json::Value| bound.as_f64().expect("a number");
        let (p50, median) = (&intervals["p50_ms"], number(&value["total"]["p50_ms"]));
        assert!(
            number(&p50[0]) < median && median < number(&p50[1]),
            "{p50}"
        );
        assert!(intervals["p99_ms"][1].is_null(), "few samples are beyond");
        assert!(intervals["p999_ms"].is_null(), "too few samples");
        assert_eq!(intervals["block_s"], 1);
        assert_eq!(intervals, &value["total"]["intervals"]);
        let documented = include_str!("../../../../../docs/reference/summary.md");
        for name in intervals.as_object().expect("an object").keys() {
            assert!(documented.contains(&format!("`{name}`")), "{name}");
        }
    }

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
        assert_eq!(value["total"]["intervals"], serde_json::Value::Null);
        for object in [&value, &value["total"], &value["thresholds"][0]] {
            for name in object.as_object().expect("an object").keys() {
                assert!(documented.contains(&format!("`{name}`")), "{name}");
            }
        }
    }
}
