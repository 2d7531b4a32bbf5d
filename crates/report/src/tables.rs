//! The tables of a report as CSV, for spreadsheets and scripts. Times are in milliseconds.

use drumfire_results::{LabelStatistics, PERCENTS, Precision, Sparse, suffices_for};

use crate::findings::findings;
use crate::run_file::RunFile;

/// The percentiles of a label's row.
const PERCENTILES: [(&str, f64); 5] = [
    ("p50_ms", 50.0),
    ("p90_ms", 90.0),
    ("p95_ms", 95.0),
    ("p99_ms", 99.0),
    ("p99_9_ms", 99.9),
];

/// The name of each file and its content.
pub fn csv_tables(run: &RunFile) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("labels.csv", labels(run)),
        ("steps.csv", steps(run)),
        ("label_steps.csv", label_steps(run)),
        ("errors.csv", errors(run)),
        ("thresholds.csv", thresholds(run)),
        ("findings.csv", findings_table(run)),
    ]
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).expect("memory takes everything");
    for row in rows {
        writer
            .write_record(row)
            .expect("rows are as long as their head");
    }
    writer.into_inner().expect("memory takes everything")
}

fn ms(us: f64) -> String {
    format!("{:.3}", us / 1000.0)
}

fn labels(run: &RunFile) -> Vec<u8> {
    let mut head = vec![
        "label",
        "transaction",
        "samples",
        "failed",
        "rate_per_s",
        "mean_ms",
        "min_ms",
        "max_ms",
    ];
    head.extend(PERCENTILES.map(|(name, _)| name));
    head.extend(["received_bytes", "sent_bytes"]);
    head.extend(BOUNDS);
    let recording = run.statistics();
    let total = recording.total();
    let all = (&total, recording.total_precision(&total));
    let labels = recording
        .labels
        .iter()
        .enumerate()
        .map(|(place, label)| (label, recording.precision(place)));
    let rows = labels.chain([all]).map(|(label, precision)| {
        let mut row = row(label);
        row.extend(bounds(label, &precision));
        row
    });
    table(&head, rows)
}

/// The columns of the bounds of the 95 % intervals.
const BOUNDS: [&str; 14] = [
    "rate_low",
    "rate_high",
    "mean_low",
    "mean_high",
    "p50_low",
    "p50_high",
    "p90_low",
    "p90_high",
    "p95_low",
    "p95_high",
    "p99_low",
    "p99_high",
    "p99_9_low",
    "p99_9_high",
];

/// The bounds of a label's intervals, empty where there is none.
fn bounds(label: &LabelStatistics, precision: &Precision) -> Vec<String> {
    let percentiles = PERCENTS.into_iter().zip(precision.percentiles_ms);
    let percentiles = percentiles
        .map(|(percent, interval)| interval.filter(|_| suffices_for(label.count, percent)));
    let intervals = [precision.rate_per_s, precision.mean_ms]
        .into_iter()
        .chain(percentiles);
    let bounds = intervals.flat_map(|interval| {
        let low = interval.map(|interval| interval.low);
        [low, interval.and_then(|interval| interval.high)]
    });
    bounds
        .map(|bound| bound.map(|bound| format!("{bound:.3}")).unwrap_or_default())
        .collect()
}

fn row(label: &LabelStatistics) -> Vec<String> {
    let statistics = label.row();
    let mut row = vec![
        label.label.clone(),
        label.transaction.to_string(),
        label.count.to_string(),
        label.errors.to_string(),
        format!("{:.3}", statistics.throughput_per_s),
        format!("{:.3}", statistics.mean_ms),
        format!("{:.3}", statistics.min_ms),
        format!("{:.3}", statistics.max_ms),
    ];
    row.extend(PERCENTILES.map(|(_, percent)| ms(label.service.percentile(percent))));
    row.extend([label.bytes.to_string(), label.sent_bytes.to_string()]);
    row
}

fn steps(run: &RunFile) -> Vec<u8> {
    let timeline = &run.recording.timeline;
    let step_s = i64::from(timeline.total_step_s());
    let head = [
        "from_s",
        "length_s",
        "users",
        "samples",
        "failed",
        "started",
        "mean_ms",
        "p50_ms",
        "p95_ms",
        "p99_ms",
        "received_bytes",
        "sent_bytes",
    ];
    let rows = timeline.total().iter().map(|cell| {
        let ended = &cell.ended;
        vec![
            (ended.at * step_s).to_string(),
            step_s.to_string(),
            cell.users.to_string(),
            ended.count.to_string(),
            ended.errors.to_string(),
            cell.started.to_string(),
            match ended.count {
                0 => String::new(),
                count => ms(ended.service_us as f64 / count as f64),
            },
            percentile(&ended.histogram, 50.0),
            percentile(&ended.histogram, 95.0),
            percentile(&ended.histogram, 99.0),
            ended.bytes.to_string(),
            ended.sent_bytes.to_string(),
        ]
    });
    table(&head, rows)
}

/// A percentile in milliseconds; empty without samples.
fn percentile(times: &Sparse, percent: f64) -> String {
    times.percentile(percent).map(ms).unwrap_or_default()
}

fn label_steps(run: &RunFile) -> Vec<u8> {
    let timeline = &run.recording.timeline;
    let step_s = i64::from(timeline.label_step_s());
    let head = [
        "label",
        "transaction",
        "from_s",
        "length_s",
        "samples",
        "failed",
        "p50_ms",
        "p95_ms",
        "p99_ms",
    ];
    let labels = run.recording.labels.iter().enumerate();
    let rows = labels.flat_map(|(place, label)| {
        timeline.label(place).iter().map(move |cell| {
            vec![
                label.label.clone(),
                label.transaction.to_string(),
                (cell.at * step_s).to_string(),
                step_s.to_string(),
                cell.count.to_string(),
                cell.errors.to_string(),
                percentile(&cell.histogram, 50.0),
                percentile(&cell.histogram, 95.0),
                percentile(&cell.histogram, 99.0),
            ]
        })
    });
    table(&head, rows)
}

fn errors(run: &RunFile) -> Vec<u8> {
    let head = ["label", "code", "message", "count", "first_ms", "last_ms"];
    let kinds = run.recording.errors.by_label().into_iter();
    let rows = kinds.map(|kind| {
        let ends = Some(&kind.curve).filter(|curve| !curve.is_empty());
        let first = optional_ms(ends.map(|curve| curve.first_ms));
        let last = optional_ms(ends.map(|curve| curve.last_ms));
        vec![
            kind.label,
            kind.code,
            kind.message,
            kind.count.to_string(),
            first,
            last,
        ]
    });
    table(&head, rows)
}

fn thresholds(run: &RunFile) -> Vec<u8> {
    let head = ["threshold", "outcome", "value", "limit", "unit"];
    let rows = run.thresholds.iter().map(|threshold| {
        vec![
            threshold.text.clone(),
            threshold.outcome.word().to_owned(),
            threshold
                .value
                .map(|value| value.to_string())
                .unwrap_or_default(),
            threshold.limit.to_string(),
            threshold.unit.clone(),
        ]
    });
    table(&head, rows)
}

fn findings_table(run: &RunFile) -> Vec<u8> {
    let head = ["finding", "evidence", "label", "from_ms", "to_ms"];
    let rows = findings(run).into_iter().map(|finding| {
        let (from, to) = finding.span_ms.unzip();
        let label = finding.label.map(|(label, _)| label).unwrap_or_default();
        vec![
            finding.text,
            finding.evidence,
            label,
            optional_ms(from),
            optional_ms(to),
        ]
    });
    table(&head, rows)
}

fn optional_ms(ms: Option<i64>) -> String {
    ms.map(|ms| ms.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;

    #[test]
    fn each_table_has_its_head_and_its_rows() {
        let mut recording = Recording::default();
        for success in [true, false] {
            let mut sample = Sample::new("a, \"b\"".into(), "t".into());
            sample.set_ok();
            sample.success = success;
            sample.start_ms = 5_000;
            sample.set_end(5_040);
            recording.add(&sample);
        }
        let tables = csv_tables(&RunFile::new("p.jmx", recording));
        let text = |name: &str| {
            let found = tables.iter().find(|(known, _)| *known == name);
            String::from_utf8(found.expect("it is there").1.clone()).expect("text")
        };
        let labels = text("labels.csv");
        assert!(
            labels.contains("\n\"a, \"\"b\"\"\",false,2,1,50.000,40.000,40.000,40.000,40.000,"),
            "{labels}"
        );
        assert!(labels.contains("\nTOTAL,false,2,1,"), "{labels}");
        assert!(
            text("steps.csv").contains("\n5,1,"),
            "{}",
            text("steps.csv")
        );
        assert!(
            text("errors.csv").contains(",1,5040,5040\n"),
            "{}",
            text("errors.csv")
        );
        assert_eq!(
            text("thresholds.csv"),
            "threshold,outcome,value,limit,unit\n"
        );
        assert_eq!(tables.len(), 6);
    }
}
