//! The curves of one source.

use std::borrow::Cow;
use std::collections::BTreeMap;

use drumfire_report::{HealthGroup, HealthLine};

/// The most points in time that are stored. When there are more, neighbours are averaged.
const MOST_MOMENTS: usize = 1_200;
/// The most lines of a source. Further lines are dropped.
const MOST_LINES: usize = 60;

/// One value that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricReading {
    /// The chart that it belongs to.
    pub chart: Cow<'static, str>,
    /// The chart's unit.
    pub unit: &'static str,
    /// The line within the chart.
    pub line: String,
    pub value: f64,
}

impl MetricReading {
    pub fn new(
        chart: impl Into<Cow<'static, str>>,
        unit: &'static str,
        line: impl Into<String>,
        value: f64,
    ) -> MetricReading {
        MetricReading {
            chart: chart.into(),
            unit,
            line: line.into(),
            value,
        }
    }
}

/// All readings of a source by time. Missing values are NaN.
#[derive(Debug, Default)]
pub(crate) struct Series {
    at_ms: Vec<i64>,
    /// By chart, unit and line.
    lines: BTreeMap<(Cow<'static, str>, &'static str, String), Vec<f64>>,
}

impl Series {
    /// Adds the readings of one time; they are empty if the source failed.
    pub fn add(&mut self, at_ms: i64, readings: Vec<MetricReading>) {
        let known = self.at_ms.len();
        self.at_ms.push(at_ms);
        for reading in readings {
            let key = (reading.chart, reading.unit, reading.line);
            if self.lines.len() >= MOST_LINES && !self.lines.contains_key(&key) {
                continue;
            }
            let values = self.lines.entry(key).or_default();
            values.resize(known, f64::NAN);
            values.push(reading.value);
        }
        for values in self.lines.values_mut() {
            values.resize(known + 1, f64::NAN);
        }
        if self.at_ms.len() > MOST_MOMENTS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.at_ms = self.at_ms.chunks(2).map(|pair| pair[0]).collect();
        for values in self.lines.values_mut() {
            *values = values.chunks(2).map(mean).collect();
        }
    }

    /// The charts, each named after the source.
    pub fn groups(&self, source: &str) -> Vec<HealthGroup> {
        let mut groups: Vec<HealthGroup> = Vec::new();
        for ((chart, unit, line), values) in &self.lines {
            let name = format!("{chart}, {source}");
            if groups.last().is_none_or(|last| last.name != name) {
                groups.push(HealthGroup {
                    name,
                    unit: (*unit).to_owned(),
                    at_ms: self.at_ms.clone(),
                    lines: Vec::new(),
                });
            }
            let group = groups.last_mut().expect("there is one by now");
            group.lines.push(HealthLine {
                name: line.clone(),
                values: values.iter().map(|value| thousandths(*value)).collect(),
            });
        }
        groups
    }
}

/// The mean of the values that are not missing.
fn mean(values: &[f64]) -> f64 {
    let read: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    match read.len() {
        0 => f64::NAN,
        count => read.iter().sum::<f64>() / count as f64,
    }
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(line: &str, value: f64) -> MetricReading {
        MetricReading::new("CPU", "%", line, value)
    }

    #[test]
    fn missed_polls_are_gaps_in_the_curve() {
        let mut series = Series::default();
        series.add(1_000, vec![reading("a", 1.0)]);
        series.add(2_000, Vec::new());
        series.add(3_000, vec![reading("a", 3.0), reading("b", 4.0)]);
        let groups = series.groups("node");
        assert_eq!((groups.len(), groups[0].name.as_str()), (1, "CPU, node"));
        assert_eq!(groups[0].at_ms, [1_000, 2_000, 3_000]);
        let values = |line: usize| groups[0].lines[line].values.clone();
        assert!(values(0)[1].is_nan() && values(1)[0].is_nan() && values(1)[1].is_nan());
        assert_eq!((values(0)[2], values(1)[2]), (3.0, 4.0));
    }

    #[test]
    fn a_long_run_is_kept_in_few_moments() {
        let mut series = Series::default();
        for at in 0..8 * 3_600 {
            series.add(at * 1_000, vec![reading("a", 7.0)]);
        }
        let groups = series.groups("node");
        assert!(groups[0].at_ms.len() <= MOST_MOMENTS);
        assert_eq!(groups[0].at_ms.len(), groups[0].lines[0].values.len());
        assert!(groups[0].lines[0].values.iter().all(|value| *value == 7.0));
    }
}
