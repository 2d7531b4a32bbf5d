//! The columns of a result file: JMeter's `SampleSaveConfiguration`.

use std::fmt;
use std::sync::Arc;

use drumfire_java::JvmDefaults;
use drumfire_java::date::SimplePattern;

use crate::properties;

const PREFIX: &str = "jmeter.save.saveservice.";

/// How the time stamp column is printed. Only properties decide it, never the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimestampFormat {
    /// Milliseconds since the Unix epoch.
    Millis,
    /// A Java date pattern.
    Pattern(Arc<SimplePattern>),
    /// No usable format: rows then lack the time stamp field, even if the header has one (`CSVSaveService`).
    Unformatted,
}

/// Why a configuration cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveConfigError {
    /// The delimiter is not one character.
    DelimiterLength(String),
    /// The delimiter is a letter, a digit or the quote.
    DelimiterAlphanumeric(char),
    /// The delimiter is neither printable ASCII nor a tab.
    DelimiterUnprintable(char),
    /// The plan saved a flag that JMeter does not know; JMeter refuses to load such a plan.
    UnknownFlag(String),
}

impl fmt::Display for SaveConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveConfigError::DelimiterLength(text) => {
                write!(f, "Delimiter '{text}' must be of length 1.")
            }
            SaveConfigError::DelimiterAlphanumeric(c) => {
                write!(f, "Delimiter '{c}' must not be alphanumeric or \".")
            }
            SaveConfigError::DelimiterUnprintable(c) => {
                write!(f, "Delimiter (code {}) must be printable.", *c as u32)
            }
            SaveConfigError::UnknownFlag(name) => write!(f, "unknown result file setting '{name}'"),
        }
    }
}

impl std::error::Error for SaveConfigError {}

macro_rules! flags {
    ($( $(#[$doc:meta])* $field:ident, $flag:literal, $property:literal, $default:literal; )*) => {
        /// Every switch of a result file. The defaults are those of JMeter without any property set.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct SaveConfig {
            $( $(#[$doc])* pub $field: bool, )*
            /// Show the time stamp.
            pub timestamp: bool,
            /// How the time stamp is printed.
            pub timestamp_format: TimestampFormat,
            /// The time stamp is the start of the sample, not its end (`sampleresult.timestamp.start`).
            pub stamp_at_start: bool,
            /// Write XML, not CSV.
            pub xml: bool,
            /// CSV delimiter, one ASCII byte.
            pub delimiter: u8,
            /// Processing instruction for the second line of an XML file; empty for none.
            pub xml_pi: String,
            /// Flush every row to disk immediately.
            pub autoflush: bool,
            /// Functional test mode, which keeps response and sampler data whatever the switches say (`TestPlan`).
            pub functional_mode: bool,
            /// Columns with the measurements of streamed responses (`drumfire.stream.columns`).
            pub stream_columns: bool,
            /// Charset of responses that name none (`sampleresult.default.encoding`).
            pub default_encoding: String,
        }

        impl SaveConfig {
            fn with_all(&self, value: bool) -> SaveConfig {
                SaveConfig { $( $field: value, )* timestamp: value, xml: value, ..self.clone() }
            }

            fn read_switches(&mut self, lookup: &dyn Fn(&str) -> Option<String>) {
                $( self.$field = lookup(concat!("jmeter.save.saveservice.", $property))
                    .map(|value| is_true(&value)).unwrap_or($default); )*
            }

            fn switch_mut(&mut self, flag: &str) -> Option<&mut bool> {
                match flag {
                    $( $flag => Some(&mut self.$field), )*
                    "timestamp" => Some(&mut self.timestamp),
                    "xml" => Some(&mut self.xml),
                    _ => None,
                }
            }
        }

        impl Default for SaveConfig {
            fn default() -> Self {
                SaveConfig {
                    $( $field: $default, )*
                    timestamp: true,
                    timestamp_format: TimestampFormat::Millis,
                    stamp_at_start: false,
                    xml: false,
                    delimiter: b',',
                    xml_pi: String::new(),
                    autoflush: false,
                    functional_mode: false,
                    stream_columns: false,
                    default_encoding: "UTF-8".to_owned(),
                }
            }
        }
    };
}

// field, name of the saved flag, property after the prefix, default.
flags! {
    /// Elapsed time.
    time, "time", "time", true;
    /// Latency.
    latency, "latency", "latency", true;
    /// Connect time.
    connect_time, "connectTime", "connect_time", true;
    /// Success.
    success, "success", "successful", true;
    /// Label.
    label, "label", "label", true;
    /// Response code.
    code, "code", "response_code", true;
    /// Response message.
    message, "message", "response_message", true;
    /// Thread name.
    thread_name, "threadName", "thread_name", true;
    /// Data type.
    data_type, "dataType", "data_type", true;
    /// Charset.
    encoding, "encoding", "encoding", false;
    /// Assertion results (XML).
    assertions, "assertions", "assertions", true;
    /// Sub-results.
    subresults, "subresults", "subresults", true;
    /// Response data (XML).
    response_data, "responseData", "response_data", false;
    /// Sampler data (XML).
    sampler_data, "samplerData", "samplerData", false;
    /// Header line (CSV).
    field_names, "fieldNames", "print_field_names", true;
    /// Response headers (XML).
    response_headers, "responseHeaders", "responseHeaders", false;
    /// Request headers (XML).
    request_headers, "requestHeaders", "requestHeaders", false;
    /// Response and sampler data of failed samples (XML).
    response_data_on_error, "responseDataOnError", "response_data.on_error", false;
    /// Message of the first assertion (CSV).
    failure_message, "saveAssertionResultsFailureMessage", "assertion_results_failure_message", true;
    /// URL.
    url, "url", "url", true;
    /// Bytes received.
    bytes, "bytes", "bytes", true;
    /// Bytes sent.
    sent_bytes, "sentBytes", "sent_bytes", true;
    /// File a result saver wrote.
    file_name, "fileName", "filename", false;
    /// Name of this host.
    hostname, "hostname", "hostname", false;
    /// Active threads of the group and of all groups.
    thread_counts, "threadCounts", "thread_counts", true;
    /// Sample and error counts.
    sample_count, "sampleCount", "sample_count", false;
    /// Idle time.
    idle_time, "idleTime", "idle_time", true;
}

impl SaveConfig {
    /// Reads the configuration from properties, as `SampleSaveConfiguration`'s static part does.
    ///
    /// # Errors
    /// For a delimiter that JMeter refuses, with JMeter's message.
    pub fn from_properties(
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<SaveConfig, SaveConfigError> {
        let saved = |name: &str| lookup(&format!("{PREFIX}{name}"));
        let mut config = SaveConfig::default();
        config.read_switches(lookup);
        if let Some(delimiter) = saved("default_delimiter") {
            config.delimiter = parse_delimiter(&delimiter)?;
        }
        config.xml = saved("output_format").as_deref() == Some("xml");
        let format = saved("timestamp_format").unwrap_or_else(|| "ms".to_owned());
        config.timestamp = !format.eq_ignore_ascii_case("none");
        config.timestamp_format = parse_timestamp_format(&format);
        config.xml_pi = saved("xml_pi").unwrap_or_default();
        config.autoflush = properties::flag(lookup, "jmeter.save.saveservice.autoflush", false);
        config.stream_columns = properties::flag(lookup, "drumfire.stream.columns", false);
        config.stamp_at_start = properties::flag(lookup, "sampleresult.timestamp.start", false);
        if let Some(encoding) = lookup("sampleresult.default.encoding") {
            config.default_encoding = encoding;
        }
        Ok(config)
    }

    /// The configuration that a plan saved: `flags` are the elements of its `saveConfig` as (name, text). Fields
    /// that it does not name are off. Formats and delimiter remain those of `self`, which come from properties
    /// (`SampleSaveConfigurationConverter`).
    ///
    /// # Errors
    /// For a name that JMeter does not know, and for a saved delimiter that is not one ASCII character.
    pub fn with_flags<'a>(
        &self,
        flags: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<SaveConfig, SaveConfigError> {
        let mut config = self.with_all(false);
        for (name, value) in flags {
            match name {
                // JMeter skips the first, an old member; it saves the second but never uses it.
                "formatter" | "assertionsResultsToSave" => {}
                "printMilliseconds" => {
                    if is_true(value) {
                        config.timestamp_format = TimestampFormat::Millis;
                    } else if config.timestamp_format == TimestampFormat::Millis {
                        config.timestamp_format = TimestampFormat::Unformatted;
                    }
                }
                "delimiter" => config.delimiter = single_byte(value)?,
                _ => {
                    *config
                        .switch_mut(name)
                        .ok_or_else(|| SaveConfigError::UnknownFlag(name.to_owned()))? =
                        is_true(value);
                }
            }
        }
        Ok(config)
    }

    /// Whether the response data of a sample is written (`SampleSaveConfiguration.saveResponseData`).
    pub fn keeps_response_data(&self, success: bool) -> bool {
        self.response_data || self.functional_mode || (self.response_data_on_error && !success)
    }

    /// Whether the sampler data of a sample is written (`SampleSaveConfiguration.saveSamplerData`).
    pub fn keeps_sampler_data(&self, success: bool) -> bool {
        self.sampler_data || self.functional_mode || (self.response_data_on_error && !success)
    }
}

fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true")
}

fn parse_timestamp_format(format: &str) -> TimestampFormat {
    if format.eq_ignore_ascii_case("ms") {
        return TimestampFormat::Millis;
    }
    if format.eq_ignore_ascii_case("none") {
        return TimestampFormat::Unformatted;
    }
    match SimplePattern::compile(format) {
        Some(pattern) => {
            let locale = JvmDefaults::of_process().locale.clone();
            TimestampFormat::Pattern(Arc::new(pattern.in_locale(locale)))
        }
        None => TimestampFormat::Unformatted,
    }
}

/// A CSV delimiter by JMeter's rules (`JMeterUtils.getDelimiter`, `SampleSaveConfiguration`).
fn parse_delimiter(text: &str) -> Result<u8, SaveConfigError> {
    let byte = single_byte(text)?;
    if byte.is_ascii_alphanumeric() || byte == b'"' {
        return Err(SaveConfigError::DelimiterAlphanumeric(char::from(byte)));
    }
    if byte != b'\t' && !(32..127).contains(&byte) {
        return Err(SaveConfigError::DelimiterUnprintable(char::from(byte)));
    }
    Ok(byte)
}

fn single_byte(text: &str) -> Result<u8, SaveConfigError> {
    let text = if text == "\\t" { "\t" } else { text };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => u8::try_from(c)
            .ok()
            .filter(u8::is_ascii)
            .ok_or(SaveConfigError::DelimiterUnprintable(c)),
        _ => Err(SaveConfigError::DelimiterLength(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(properties: &[(&str, &str)]) -> Result<SaveConfig, SaveConfigError> {
        SaveConfig::from_properties(&|name| {
            let found = properties.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_properties_the_defaults_are_jmeters() {
        let config = from(&[]).unwrap();
        assert_eq!(config, SaveConfig::default());
        assert!(
            config.time
                && config.idle_time
                && config.connect_time
                && config.url
                && config.sent_bytes
        );
        assert!(!config.encoding && !config.hostname && !config.sample_count && !config.file_name);
        assert!(!config.stamp_at_start && !config.autoflush);
    }

    #[test]
    fn switches_are_true_only_for_the_word_true() {
        let config = from(&[
            ("jmeter.save.saveservice.url", "yes"),
            ("jmeter.save.saveservice.hostname", "TRUE"),
            ("jmeter.save.saveservice.response_data.on_error", "true"),
            ("jmeter.save.saveservice.output_format", "xml"),
            ("sampleresult.timestamp.start", "true"),
        ])
        .unwrap();
        assert!(!config.url && config.hostname && config.xml && config.stamp_at_start);
        assert!(config.keeps_response_data(false) && !config.keeps_response_data(true));
        assert!(config.keeps_sampler_data(false) && !config.keeps_sampler_data(true));
    }

    #[test]
    fn only_lower_case_xml_is_xml() {
        assert!(
            !from(&[("jmeter.save.saveservice.output_format", "XML")])
                .unwrap()
                .xml
        );
    }

    #[test]
    fn delimiters_follow_jmeters_rules() {
        let delimiter = |text| {
            from(&[("jmeter.save.saveservice.default_delimiter", text)]).map(|c| c.delimiter)
        };
        assert_eq!(delimiter(";"), Ok(b';'));
        assert_eq!(delimiter("\\t"), Ok(b'\t'));
        assert_eq!(delimiter(" "), Ok(b' '));
        assert_eq!(
            delimiter("a"),
            Err(SaveConfigError::DelimiterAlphanumeric('a'))
        );
        assert_eq!(
            delimiter("\""),
            Err(SaveConfigError::DelimiterAlphanumeric('"'))
        );
        assert_eq!(
            delimiter("\n"),
            Err(SaveConfigError::DelimiterUnprintable('\n'))
        );
        assert_eq!(
            delimiter("é"),
            Err(SaveConfigError::DelimiterUnprintable('é'))
        );
        assert_eq!(
            delimiter(";;").unwrap_err().to_string(),
            "Delimiter ';;' must be of length 1."
        );
    }

    #[test]
    fn time_stamp_formats() {
        let read = |text| {
            let config = from(&[("jmeter.save.saveservice.timestamp_format", text)]).unwrap();
            (config.timestamp, config.timestamp_format)
        };
        assert_eq!(read("MS"), (true, TimestampFormat::Millis));
        assert_eq!(read("none"), (false, TimestampFormat::Unformatted));
        assert_eq!(
            read("no such pattern"),
            (true, TimestampFormat::Unformatted)
        );
        assert!(matches!(read("yyyy"), (true, TimestampFormat::Pattern(_))));
    }

    #[test]
    fn unnamed_columns_are_off_and_formats_keep_their_defaults() {
        let base = from(&[("jmeter.save.saveservice.default_delimiter", ";")]).unwrap();
        let flags = [
            ("time", "true"),
            ("connectTime", "true"),
            ("xml", "false"),
            ("assertionsResultsToSave", "0"),
            ("saveAssertionResultsFailureMessage", "True"),
        ];
        let config = base.with_flags(flags).unwrap();
        assert!(config.time && config.connect_time && config.failure_message);
        assert!(!config.timestamp && !config.label && !config.subresults);
        assert_eq!((config.delimiter, config.xml), (b';', false));
        assert_eq!(
            base.with_flags([("bogus", "true")]),
            Err(SaveConfigError::UnknownFlag("bogus".to_owned()))
        );
    }
}
