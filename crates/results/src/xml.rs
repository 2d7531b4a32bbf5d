//! XML rows, byte for byte as JMeter's `SaveService` writes them through XStream.

use std::rc::Rc;

use crate::charset;
use crate::row::{RowFormat, TRACE_ID, trace_id};
use crate::sample::{AssertionResult, DataType, Sample, SampleKind};
use crate::save_config::SaveConfig;
use crate::streams;

/// The end of a finished file.
pub(crate) const TAIL: &[u8] = b"\n</testResults>\n";
/// The element that ends a file. JMeter searches for it before continuing one.
pub(crate) const END_TAG: &[u8] = b"</testResults>";
/// Smallest length of a file that can be continued (`ResultCollector.MIN_XML_FILE_LEN`).
pub(crate) const MIN_FILE_LEN: u64 =
    (DECLARATION.len() + START_TAG_BARE.len() + END_TAG.len()) as u64;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
const START_TAG_BARE: &str = "<testResults>";
const START_TAG: &str = "<testResults version=\"1.2\">";

/// Appends the start of a new file.
pub(crate) fn write_head(config: &SaveConfig, out: &mut Vec<u8>) {
    out.extend_from_slice(DECLARATION.as_bytes());
    out.push(b'\n');
    if !config.xml_pi.is_empty() {
        out.extend_from_slice(config.xml_pi.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(START_TAG.as_bytes());
    out.push(b'\n');
}

/// Appends the element of `sample` with its sub-results; returns the number of samples written.
pub(crate) fn write_sample(format: &RowFormat, sample: &Sample, out: &mut Vec<u8>) -> u64 {
    let mut writer = SampleWriter {
        format,
        variables: &sample.variables,
        out,
        depth: 0,
    };
    let rows = writer.sample(sample);
    out.push(b'\n');
    rows
}

struct SampleWriter<'a> {
    format: &'a RowFormat,
    /// Values of the sample event, also written on sub-results.
    variables: &'a [Option<Rc<str>>],
    out: &'a mut Vec<u8>,
    depth: usize,
}

impl SampleWriter<'_> {
    /// `SampleResultConverter.marshal` and `HTTPResultConverter.marshal`.
    fn sample(&mut self, sample: &Sample) -> u64 {
        let config = &self.format.config;
        let name = match sample.kind {
            SampleKind::Http => "httpSample",
            SampleKind::Other => "sample",
        };
        self.raw("<");
        self.raw(name);
        self.attributes(sample);
        let body_start = self.out.len();
        self.raw(">");
        self.depth += 1;
        let content_start = self.out.len();
        let mut rows = 1;
        if config.assertions {
            for assertion in &sample.assertions {
                self.assertion(assertion);
            }
        }
        if config.subresults {
            for child in &sample.children {
                self.line();
                rows += self.sample(child);
            }
        }
        if config.response_headers {
            self.string(
                "responseHeader",
                sample.response_headers.as_deref().unwrap_or(""),
            );
        }
        if config.request_headers {
            self.string(
                "requestHeader",
                sample.request_headers.as_deref().unwrap_or(""),
            );
        }
        self.response_data(sample);
        self.sampler_data(sample);
        self.depth -= 1;
        if self.out.len() == content_start {
            self.out.truncate(body_start);
            self.raw("/>");
        } else {
            self.line();
            self.raw("</");
            self.raw(name);
            self.raw(">");
        }
        rows
    }

    /// `SampleResultConverter.setAttributes`: the order and the names are part of the format.
    fn attributes(&mut self, sample: &Sample) {
        let format = self.format;
        let config = &format.config;
        self.number(config.time, "t", sample.elapsed_ms);
        self.number(config.idle_time, "it", sample.idle_ms);
        self.number(config.latency, "lt", sample.latency_ms);
        self.number(config.connect_time, "ct", sample.connect_ms);
        self.number(config.timestamp, "ts", format.stamp_ms(sample));
        self.text(
            config.success,
            "s",
            if sample.success { "true" } else { "false" },
        );
        self.text(config.label, "lb", &sample.label);
        self.text(config.code, "rc", &sample.code);
        self.text(config.message, "rm", &sample.message);
        self.text(config.thread_name, "tn", &sample.thread_name);
        self.text(config.data_type, "dt", sample.data_type.as_str());
        self.text(
            config.encoding,
            "de",
            sample.encoding.as_deref().unwrap_or(""),
        );
        self.number(config.bytes, "by", sample.received_bytes());
        self.number(config.sent_bytes, "sby", sample.sent_bytes);
        self.number(config.sample_count, "sc", sample.sample_count);
        self.number(config.sample_count, "ec", sample.error_count());
        self.number(config.thread_counts, "ng", sample.group_threads);
        self.number(config.thread_counts, "na", sample.all_threads);
        self.text(config.hostname, "hn", &format.hostname);
        if format.trace_ids {
            self.attribute(TRACE_ID, &trace_id(sample));
        }
        if let Some(stream) = sample.stream.as_deref().filter(|_| config.stream_columns) {
            for (name, value) in streams::COLUMNS.iter().zip(streams::columns(Some(stream))) {
                self.text(!value.is_empty(), name, &value);
            }
        }
        let variables = self.variables;
        for (index, name) in format.variables.iter().enumerate() {
            let value = variables.get(index).and_then(Option::as_deref);
            self.text(true, name, value.unwrap_or(""));
        }
    }

    /// `AssertionResult` as XStream's reflection writes it: fields in order, nulls omitted.
    fn assertion(&mut self, assertion: &AssertionResult) {
        self.line();
        self.raw("<assertionResult>");
        self.depth += 1;
        if let Some(name) = &assertion.name {
            self.element("name", "", name);
        }
        self.element(
            "failure",
            "",
            if assertion.failure { "true" } else { "false" },
        );
        self.element("error", "", if assertion.error { "true" } else { "false" });
        if let Some(message) = &assertion.message {
            self.element("failureMessage", "", message);
        }
        self.depth -= 1;
        self.line();
        self.raw("</assertionResult>");
    }

    fn response_data(&mut self, sample: &Sample) {
        let config = &self.format.config;
        if config.keeps_response_data(sample.success) {
            if sample.data_type == DataType::Text {
                let encoding = sample
                    .encoding
                    .as_deref()
                    .filter(|encoding| !encoding.is_empty());
                let charset = encoding.unwrap_or(&config.default_encoding);
                let data = sample.response_data.as_deref().unwrap_or_default();
                match charset::decode(data, charset) {
                    Some(text) => self.string("responseData", &text),
                    None => {
                        let cause = format!(
                            "Unsupported encoding in response data, cannot record: \
                             java.io.UnsupportedEncodingException: {charset}"
                        );
                        self.string("responseData", &cause);
                    }
                }
            } else {
                let data_type = sample.data_type.as_str();
                let text = format!("Non-TEXT response data, cannot record: ({data_type})");
                self.string("responseData", &text);
            }
        }
        if config.file_name {
            self.string(
                "responseFile",
                sample.result_file_name.as_deref().unwrap_or(""),
            );
        }
    }

    /// Writes an HTTP sample's parts, or another sample's sampler data; nulls are omitted. Only an HTTP sample without
    /// a URL writes `null` for it.
    fn sampler_data(&mut self, sample: &Sample) {
        let config = &self.format.config;
        let http = sample.kind == SampleKind::Http;
        if config.keeps_sampler_data(sample.success) {
            if http {
                self.string("cookies", sample.cookies.as_deref().unwrap_or(""));
                self.optional("method", sample.method.as_deref());
                self.string("queryString", sample.query_string.as_deref().unwrap_or(""));
                self.optional("redirectLocation", sample.redirect_location.as_deref());
            } else {
                self.optional("samplerData", sample.sampler_data.as_deref());
            }
        }
        if config.url {
            match &sample.url {
                Some(url) => self.element("java.net.URL", "", url),
                None if http => {
                    self.line();
                    self.raw("<null/>");
                }
                None => {}
            }
        }
    }

    fn optional(&mut self, tag: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(tag, value);
        }
    }

    fn string(&mut self, tag: &str, value: &str) {
        self.element(tag, " class=\"java.lang.String\"", value);
    }

    fn element(&mut self, tag: &str, attributes: &str, value: &str) {
        self.line();
        self.raw("<");
        self.raw(tag);
        self.raw(attributes);
        self.raw(">");
        escape(value, false, self.out);
        self.raw("</");
        self.raw(tag);
        self.raw(">");
    }

    fn number(&mut self, show: bool, name: &str, value: impl itoa::Integer) {
        if show {
            let mut digits = itoa::Buffer::new();
            self.attribute(name, digits.format(value));
        }
    }

    fn text(&mut self, show: bool, name: &str, value: &str) {
        if show {
            self.attribute(name, value);
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.raw(" ");
        self.raw(name);
        self.raw("=\"");
        escape(value, true, self.out);
        self.raw("\"");
    }

    /// A line end and the indentation of the current depth.
    fn line(&mut self) {
        self.raw("\n");
        for _ in 0..self.depth {
            self.raw("  ");
        }
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}

/// Escapes as XStream's `PrettyPrintWriter` does in quirks mode, including noncharacters and control characters that
/// XML 1.0 forbids. (JMeter also escapes code points that its Java version does not know. These depend on the version,
/// so they are written unescaped here.)
fn escape(text: &str, attribute: bool, out: &mut Vec<u8>) {
    let mut written = 0;
    for (at, c) in text.char_indices() {
        let entity = match c {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&apos;",
            '\t' | '\n' if !attribute => continue,
            c if c.is_control() || is_noncharacter(c) => "",
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[written..at]);
        if entity.is_empty() {
            out.extend_from_slice(format!("&#x{:x};", c as u32).as_bytes());
        } else {
            out.extend_from_slice(entity.as_bytes());
        }
        written = at + c.len_utf8();
    }
    out.extend_from_slice(&text.as_bytes()[written..]);
}

/// Noncharacters of the basic multilingual plane. XStream checks UTF-16 units, so it never detects the others.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, attribute: bool) -> String {
        let mut out = Vec::new();
        escape(text, attribute, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_as_xstream_does() {
        // Golden values of XppDriver's writer in XStream 1.4.20.
        let text =
            "a\0\u{1}\t\n\r\u{1f} \"&'<=>\u{7f}\u{85}\u{9f}\u{a0}é€😀\u{2028}\u{fffe}\u{ffff}";
        let same =
            " &quot;&amp;&apos;&lt;=&gt;&#x7f;&#x85;&#x9f;\u{a0}é€😀\u{2028}&#xfffe;&#xffff;";
        assert_eq!(
            escaped(text, false),
            format!("a&#x0;&#x1;\t\n&#xd;&#x1f;{same}")
        );
        assert_eq!(
            escaped(text, true),
            format!("a&#x0;&#x1;&#x9;&#xa;&#xd;&#x1f;{same}")
        );
    }
}
