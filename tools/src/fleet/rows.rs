//! The collected rows of a run, and their statistics.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// Result rows, by label.
pub struct RowsByLabel(BTreeMap<String, Vec<CollectedRow>>);

pub struct CollectedRow {
    pub start_ms: i64,
    /// The last column, which exists if `sample_variables` names one variable.
    pub variable: String,
}

impl RowsByLabel {
    /// Parses a CSV result file whose cells contain no commas.
    pub fn read(text: &str) -> anyhow::Result<RowsByLabel> {
        let mut lines = text.lines();
        let heads: Vec<&str> = lines.next().context("a header")?.split(',').collect();
        let place = |name: &str| {
            let found = heads.iter().position(|head| *head == name);
            found.with_context(|| format!("a column {name}"))
        };
        let (time, label) = (place("timeStamp")?, place("label")?);
        let mut rows: BTreeMap<String, Vec<CollectedRow>> = BTreeMap::new();
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let row = CollectedRow {
                start_ms: cells[time].parse()?,
                variable: cells[cells.len() - 1].trim_matches('"').to_owned(),
            };
            rows.entry(cells[label].to_owned()).or_default().push(row);
        }
        for rows in rows.values_mut() {
            rows.sort_by_key(|row| row.start_ms);
        }
        Ok(RowsByLabel(rows))
    }

    pub fn of(&self, label: &str) -> &[CollectedRow] {
        self.0.get(label).map(Vec::as_slice).unwrap_or_default()
    }

    /// The starts of a label's samples, relative to the first.
    pub fn starts_ms(&self, label: &str) -> Vec<i64> {
        let rows = self.of(label);
        let first_ms = rows.first().map(|row| row.start_ms).unwrap_or(0);
        rows.iter().map(|row| row.start_ms - first_ms).collect()
    }
}

/// Compares two `statistics.json`, number by number, and returns how many numbers are equal. The tolerances reflect that a
/// histogram stores a time with a precision of a thousandth, and rows in whole milliseconds.
///
/// # Errors
/// The first number that differs.
pub fn compare(measured: &str, pooled: &str) -> anyhow::Result<usize> {
    let [measured, pooled]: [Value; 2] = [
        serde_json::from_str(measured)?,
        serde_json::from_str(pooled)?,
    ];
    let (measured, pooled) = (
        measured.as_object().context("statistics")?,
        pooled.as_object().context("statistics")?,
    );
    // Labels are listed in the order in which they first occurred.
    let [ours, theirs] = [measured, pooled].map(|of| of.keys().collect::<BTreeSet<_>>());
    ensure!(ours == theirs, "the labels differ: {ours:?} and {theirs:?}");
    let mut equal = 0;
    for (label, numbers) in measured {
        for (name, value) in numbers.as_object().context("numbers")? {
            let (Some(ours), Some(theirs)) = (value.as_f64(), pooled[label][name].as_f64()) else {
                continue;
            };
            let is_count = name.ends_with("Count");
            let tolerance = if is_count {
                0.0
            } else {
                1.0 + theirs.abs() / 1000.0
            };
            ensure!(
                (ours - theirs).abs() <= tolerance,
                "{label}: {name} is {ours} in the report and {theirs} in that of the rows"
            );
            equal += 1;
        }
    }
    ensure!(equal > 0, "there are no numbers");
    Ok(equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_must_be_equal_and_times_nearly() {
        let statistics = |count: u32, ms: f64| {
            format!(r#"{{"a":{{"transaction":"a","sampleCount":{count},"pct1ResTime":{ms}}}}}"#)
        };
        let base = statistics(5, 2_000.0);
        assert!(matches!(compare(&statistics(5, 2_002.5), &base), Ok(2)));
        assert!(compare(&statistics(5, 2_004.0), &base).is_err());
        assert!(compare(&statistics(6, 2_000.0), &base).is_err());
    }
}
