//! The numbers of a run that have a name: thresholds compare them with limits, and a run can last until they are known exactly.

use crate::precision::{Interval, PERCENTS, Precision, suffices_for};
use crate::statistics::LabelStatistics;

use super::times::MeasuredTimes;

/// A number of a run, or of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// The number of samples.
    Samples,
    /// The number of failed samples.
    Errors,
    /// Failed samples in per cent.
    ErrorShare,
    /// Samples a second.
    Rate,
    /// The mean service time.
    Mean,
    /// The shortest service time.
    Min,
    /// The longest service time.
    Max,
    /// This percentile of the service time.
    Percentile(f64),
}

impl Metric {
    /// The metrics by their names; percentiles such as `p95` come in addition.
    pub const NAMES: [(&'static str, Metric); 8] = [
        ("errors", Metric::Errors),
        ("samples", Metric::Samples),
        ("rate", Metric::Rate),
        ("avg", Metric::Mean),
        ("mean", Metric::Mean),
        ("min", Metric::Min),
        ("max", Metric::Max),
        ("median", Metric::Percentile(50.0)),
    ];

    /// The metric with this name.
    pub fn named(name: &str) -> Option<Metric> {
        let metric_row = Metric::NAMES.iter().find(|(known, _)| *known == name);
        metric_row.map(|(_, metric)| *metric).or_else(|| {
            let percent = name.strip_prefix('p').and_then(number)?;
            (percent > 0.0 && percent <= 100.0).then_some(Metric::Percentile(percent))
        })
    }

    /// Whether a run long enough gives an interval for it.
    pub fn has_interval(self) -> bool {
        match self {
            Metric::Rate | Metric::Mean => true,
            Metric::Percentile(percent) => PERCENTS.contains(&percent),
            _ => false,
        }
    }

    /// The value with its interval; `None` without enough samples.
    pub fn estimate(
        self,
        statistics: &LabelStatistics,
        precision: &Precision,
    ) -> Option<(f64, Interval)> {
        let interval = match self {
            Metric::Rate => precision.rate_per_s?,
            Metric::Mean => precision.mean_ms?,
            Metric::Percentile(percent) if suffices_for(statistics.count, percent) => {
                precision.percentile_ms(percent)?
            }
            _ => return None,
        };
        Some((self.of(statistics, MeasuredTimes::Service)?, interval))
    }

    /// Whether it is a statistic of times.
    pub(super) fn is_of_times(self) -> bool {
        matches!(
            self,
            Metric::Mean | Metric::Min | Metric::Max | Metric::Percentile(_)
        )
    }

    /// The value in the metric's own unit; if it is a statistic of times, of these.
    pub(crate) fn of(self, statistics: &LabelStatistics, times: MeasuredTimes) -> Option<f64> {
        match self {
            Metric::Samples => return Some(statistics.count as f64),
            _ if statistics.count == 0 => return None,
            Metric::Errors => return Some(statistics.errors as f64),
            Metric::Rate => return Some(statistics.row().throughput_per_s),
            Metric::ErrorShare => return Some(statistics.row().error_percent),
            _ => {}
        }
        let times = times.of(statistics)?;
        let us = match self {
            Metric::Mean => times.mean(),
            Metric::Min => times.min() as f64,
            Metric::Percentile(percent) => times.percentile(percent),
            _ => times.max() as f64,
        };
        Some(us / 1000.0)
    }
}

/// Parses digits with an optional decimal point.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}
