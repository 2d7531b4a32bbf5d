//! `statistics.json`, with the names and the formulas of JMeter's dashboard (`JsonExporter`,
//! `StatisticsSummaryConsumer`). Unlike JMeter's, whose percentiles use the last 20,000 samples of each label, it
//! covers all samples.

use drumfire_results::LabelStatistics;
use serde_json::{Map, Value, json};

use crate::run_file::RunFile;

/// The percentiles of the dashboard (`aggregate_rpt_pct1` and so on).
const PERCENTILES: [f64; 3] = [90.0, 95.0, 99.0];

/// The content of the file. `percentiles` are JMeter's `aggregate_rpt_pct1` to `3`, if they are set.
pub fn statistics_json(run: &RunFile, percentiles: [Option<f64>; 3]) -> String {
    let mut percents = PERCENTILES;
    for (percent, given) in percents.iter_mut().zip(percentiles) {
        *percent = given.unwrap_or(*percent);
    }
    let mut all = Map::new();
    let mut add = |name: &str, label: &LabelStatistics| {
        let row = row(name, label, percents);
        all.insert(name.to_owned(), row);
    };
    add("Total", &run.statistics().total());
    for label in merged_by_name(&run.statistics().labels) {
        if label.label != "Total" {
            add(&label.label, &label);
        }
    }
    let mut text = serde_json::to_string_pretty(&Value::Object(all))
        .expect("numbers and texts can be written");
    text.push('\n');
    text
}

/// Merges labels of the same name: JMeter's dashboard does not distinguish a sampler from a transaction controller.
fn merged_by_name(labels: &[LabelStatistics]) -> Vec<LabelStatistics> {
    let mut merged: Vec<LabelStatistics> = Vec::with_capacity(labels.len());
    for label in labels {
        let twin = labels
            .iter()
            .any(|other| other.label == label.label && other.transaction != label.transaction);
        match merged
            .iter_mut()
            .find(|known| twin && known.label == label.label)
        {
            Some(known) => known.merge(label),
            None => merged.push(label.clone()),
        }
    }
    merged
}

fn row(name: &str, label: &LabelStatistics, percents: [f64; 3]) -> Value {
    let service = &label.service;
    let percentile = |percent| ms(service.percentile(percent));
    let row = label.row();
    if label.count == 0 {
        return without_samples(name);
    }
    json!({
        "transaction": name,
        "sampleCount": label.count,
        "errorCount": label.errors,
        "errorPct": row.error_percent as f32,
        "meanResTime": ms(service.mean()),
        "medianResTime": percentile(50.0),
        "minResTime": ms(service.min() as f64),
        "maxResTime": ms(service.max() as f64),
        "pct1ResTime": percentile(percents[0]),
        "pct2ResTime": percentile(percents[1]),
        "pct3ResTime": percentile(percents[2]),
        "throughput": row.throughput_per_s,
        "receivedKBytesPerSec": row.received_kib_per_s,
        "sentKBytesPerSec": row.sent_kib_per_s,
    })
}

fn ms(us: f64) -> f64 {
    us / 1000.0
}

/// A row without shares, times and rates, since nothing was measured.
fn without_samples(name: &str) -> Value {
    let mut row = json!({ "transaction": name, "sampleCount": 0, "errorCount": 0 });
    for field in [
        "errorPct",
        "meanResTime",
        "medianResTime",
        "minResTime",
        "maxResTime",
        "pct1ResTime",
        "pct2ResTime",
        "pct3ResTime",
        "throughput",
        "receivedKBytesPerSec",
        "sentKBytesPerSec",
    ] {
        row[field] = Value::Null;
    }
    row
}
