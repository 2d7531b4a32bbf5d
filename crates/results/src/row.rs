//! The format of one result file: head, rows and tail, in CSV or XML.

use std::sync::Arc;

use drumfire_java::JvmDefaults;
use jiff::tz::TimeZone;

use crate::columns::Columns;
use crate::sample::Sample;
use crate::save_config::SaveConfig;
use crate::{csv, xml};

/// The format of one listener's rows: its configuration and the values that every row shares. All workers share it.
#[derive(Clone, Debug)]
pub struct RowFormat {
    /// Which fields are shown, and how.
    pub config: SaveConfig,
    /// The rows that the plan defines instead, if any.
    pub columns: Option<Arc<Columns>>,
    /// Names of the `sample_variables`.
    pub variables: Arc<[String]>,
    /// This machine's host name, for the host name column.
    pub hostname: Arc<str>,
    /// Whether rows have the ids of traces (`drumfire.trace.column`).
    pub trace_ids: bool,
    /// Time zone for a time stamp pattern.
    pub zone: TimeZone,
}

impl RowFormat {
    /// A format for `config` in the zone of the JVM that JMeter would run in.
    pub fn new(config: SaveConfig, variables: Arc<[String]>, hostname: Arc<str>) -> RowFormat {
        RowFormat {
            config,
            columns: None,
            variables,
            hostname,
            trace_ids: false,
            zone: JvmDefaults::of_process().zone.rules().clone(),
        }
    }

    /// Appends the head of a new file (`ResultCollector.writeFileStart`).
    pub fn write_head(&self, out: &mut Vec<u8>) {
        if let Some(columns) = &self.columns {
            out.extend_from_slice(columns.head.as_bytes());
        } else if self.config.xml {
            xml::write_head(&self.config, out);
        } else if self.config.field_names {
            csv::write_field_names(self, out);
            out.push(b'\n');
        }
    }

    /// Appends the sample and, where configured, its sub-results. Returns the number of samples written.
    pub fn write_sample(&self, sample: &Sample, out: &mut Vec<u8>) -> u64 {
        if let Some(columns) = &self.columns {
            columns.write_sample(sample, out);
            1
        } else if self.config.xml {
            xml::write_sample(self, sample, out)
        } else {
            csv::write_sample(self, sample, out)
        }
    }

    /// Appends the end of a finished file (`ResultCollector.writeFileEnd`).
    pub fn write_tail(&self, out: &mut Vec<u8>) {
        if let Some(columns) = &self.columns {
            out.extend_from_slice(columns.tail.as_bytes());
        } else if self.config.xml {
            out.extend_from_slice(xml::TAIL);
        }
    }

    /// The time stamp of a row, in milliseconds since the Unix epoch.
    pub(crate) fn stamp_ms(&self, sample: &Sample) -> i64 {
        if self.config.stamp_at_start {
            sample.start_ms
        } else {
            sample.end_ms
        }
    }
}

/// The column and the attribute that hold the id of a sample's trace, which JMeter does not have.
pub(crate) const TRACE_ID: &str = "traceId";

/// The id of a sample's trace as rows show it; empty without one.
pub(crate) fn trace_id(sample: &Sample) -> String {
    let id = sample.trace.as_ref().and_then(|trace| trace.id);
    id.map(|id| id.to_string()).unwrap_or_default()
}

/// The names in the property `sample_variables` (`SampleEvent.initSampleVariables`): split at commas without
/// trimming. Empty names at the end are dropped, as by `String.split`.
pub fn sample_variable_names(property: Option<&str>) -> Vec<String> {
    let Some(property) = property else {
        return Vec::new();
    };
    let mut names: Vec<String> = property.split(',').map(str::to_owned).collect();
    // Java returns one empty name for an empty property, but none for a property of only commas.
    while names.len() > 1 && names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    if names.len() == 1 && names[0].is_empty() && !property.is_empty() {
        names.clear();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::sample_variable_names;

    #[test]
    fn variable_names_split_as_in_java() {
        assert!(sample_variable_names(None).is_empty());
        assert_eq!(
            sample_variable_names(Some("a, b,,c,,")),
            ["a", " b", "", "c"]
        );
        assert_eq!(sample_variable_names(Some("")), [""]);
        assert!(sample_variable_names(Some(",,")).is_empty());
    }
}
