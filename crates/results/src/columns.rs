//! Rows whose fields and separators the plan defines (`kg.apc.jmeter.reporters.FlexibleFileWriter` of jmeter-plugins).

use std::io::Write;

use crate::sample::{Sample, SampleKind};

/// The layout of a file with such rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The text at the start of the file.
    pub head: String,
    /// The text at the end of the file.
    pub tail: String,
    /// Whether an existing file is replaced; otherwise it is continued.
    pub overwrites: bool,
    parts: Vec<ColumnPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ColumnPart {
    Field(SampleField),
    /// A sample variable, by its number.
    Variable(usize),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleField {
    Success,
    StartMs,
    EndMs,
    RequestLength,
    ResponseLength,
    ElapsedMs,
    LatencyMs,
    Code,
    Message,
    Failure,
    ThreadName,
    Label,
    StartSeconds,
    EndSeconds,
    ElapsedMicros,
    LatencyMicros,
    Request,
    Response,
    ResponseHeaders,
    AllThreads,
    RequestHeaders,
    ConnectMs,
    GroupThreads,
    SampleCount,
    ErrorCount,
    HeaderSize,
    BodySize,
    Url,
}

/// Field names, spelled as in plans.
const FIELDS: [(&str, SampleField); 28] = [
    ("isSuccsessful", SampleField::Success),
    ("startTime", SampleField::StartMs),
    ("endTime", SampleField::EndMs),
    ("sentBytes", SampleField::RequestLength),
    ("receivedBytes", SampleField::ResponseLength),
    ("responseTime", SampleField::ElapsedMs),
    ("latency", SampleField::LatencyMs),
    ("responseCode", SampleField::Code),
    ("responseMessage", SampleField::Message),
    ("isFailed", SampleField::Failure),
    ("threadName", SampleField::ThreadName),
    ("sampleLabel", SampleField::Label),
    ("startTimeMillis", SampleField::StartSeconds),
    ("endTimeMillis", SampleField::EndSeconds),
    ("responseTimeMicros", SampleField::ElapsedMicros),
    ("latencyMicros", SampleField::LatencyMicros),
    ("requestData", SampleField::Request),
    ("responseData", SampleField::Response),
    ("responseHeaders", SampleField::ResponseHeaders),
    ("threadsCount", SampleField::AllThreads),
    ("requestHeaders", SampleField::RequestHeaders),
    ("connectTime", SampleField::ConnectMs),
    ("grpThreads", SampleField::GroupThreads),
    ("sampleCount", SampleField::SampleCount),
    ("errorCount", SampleField::ErrorCount),
    ("responseHeaderSize", SampleField::HeaderSize),
    ("responseSize", SampleField::BodySize),
    ("URL", SampleField::Url),
];
const VARIABLE: &str = "variable#";

impl Columns {
    /// Compiles the setting `columns`: fields and texts separated by `|`. An empty text stands for a literal `|`.
    pub fn new(columns: &str, head: &str, tail: &str, overwrites: bool) -> Columns {
        let columns = unescape(columns);
        let mut chunks: Vec<&str> = columns.split('|').collect();
        while chunks.len() > 1 && chunks.last().is_some_and(|chunk| chunk.is_empty()) {
            chunks.pop(); // `String.split` drops trailing empty strings
        }
        Columns {
            head: unescape(head),
            tail: unescape(tail),
            overwrites,
            parts: chunks.into_iter().map(part).collect(),
        }
    }

    /// Whether rows contain a sample's response body, its response headers, and the request.
    pub fn reads(&self) -> (bool, bool, bool) {
        let has = |fields: &[SampleField]| {
            self.parts
                .iter()
                .any(|part| matches!(part, ColumnPart::Field(field) if fields.contains(field)))
        };
        (
            has(&[SampleField::Response, SampleField::ResponseLength]),
            has(&[SampleField::ResponseHeaders]),
            has(&[
                SampleField::Request,
                SampleField::RequestLength,
                SampleField::RequestHeaders,
            ]),
        )
    }

    /// Appends the row of a sample; sub-results get no rows.
    pub(crate) fn write_sample(&self, sample: &Sample, out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                ColumnPart::Text(text) => out.extend_from_slice(text.as_bytes()),
                ColumnPart::Field(field) => write_field(*field, sample, out),
                ColumnPart::Variable(number) => match sample.variables.get(*number) {
                    Some(Some(value)) => out.extend_from_slice(value.as_bytes()),
                    Some(None) => {}
                    None => put(out, format_args!("UNDEFINED_variable#{number}")),
                },
            }
        }
    }
}

fn part(chunk: &str) -> ColumnPart {
    if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == chunk) {
        return ColumnPart::Field(*field);
    }
    // The plugin drops as many characters as the keyword has from the front, wherever the keyword is.
    let number = if chunk.contains(VARIABLE) {
        chunk
            .get(VARIABLE.len()..)
            .and_then(|number| number.parse().ok())
    } else {
        None
    };
    match number {
        Some(number) => ColumnPart::Variable(number),
        None if chunk.is_empty() => ColumnPart::Text("|".to_owned()),
        None => ColumnPart::Text(chunk.to_owned()),
    }
}

/// `JMeterPluginsUtils.replaceRNT`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('\\') => out.push('\\'),
            other => {
                out.push('\\');
                out.extend(other);
            }
        }
    }
    out
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to a vector cannot fail");
}

fn write_field(field: SampleField, sample: &Sample, out: &mut Vec<u8>) {
    match field {
        SampleField::Success => text(out, if sample.success { "1" } else { "0" }),
        SampleField::Failure => text(out, if sample.success { "0" } else { "1" }),
        SampleField::StartMs => number(out, sample.start_ms),
        SampleField::EndMs => number(out, sample.end_ms),
        SampleField::StartSeconds => write_seconds(sample.start_ms, out),
        SampleField::EndSeconds => write_seconds(sample.end_ms, out),
        SampleField::ElapsedMs => number(out, sample.elapsed_ms),
        SampleField::ElapsedMicros => number(out, sample.elapsed_ms * 1000),
        SampleField::LatencyMs => number(out, sample.latency_ms),
        SampleField::LatencyMicros => number(out, sample.latency_ms * 1000),
        SampleField::ConnectMs => number(out, sample.connect_ms),
        SampleField::RequestLength => {
            let length = request(sample).map_or(0, |text| text.encode_utf16().count());
            number(out, length as i64);
        }
        SampleField::Request => text(out, request(sample).as_deref().unwrap_or("0")),
        SampleField::ResponseLength => {
            number(
                out,
                sample
                    .response_data
                    .as_ref()
                    .map(|data| data.len())
                    .unwrap_or(0) as i64,
            );
        }
        SampleField::Response => {
            out.extend_from_slice(sample.response_data.as_deref().unwrap_or(&[]))
        }
        SampleField::ResponseHeaders => text(out, sample.response_headers.as_deref().unwrap_or("")),
        SampleField::RequestHeaders => text(out, sample.request_headers.as_deref().unwrap_or("")),
        SampleField::Code => text(out, &sample.code),
        SampleField::Message => text(out, &sample.message),
        SampleField::ThreadName => text(out, &sample.thread_name),
        SampleField::Label => text(out, &sample.label),
        SampleField::AllThreads => number(out, sample.all_threads.into()),
        SampleField::GroupThreads => number(out, sample.group_threads.into()),
        SampleField::SampleCount => number(out, sample.sample_count.into()),
        SampleField::ErrorCount => number(out, sample.error_count().into()),
        SampleField::HeaderSize => number(out, sample.header_bytes as i64),
        SampleField::BodySize => number(out, sample.body_size() as i64),
        SampleField::Url => text(out, sample.url.as_deref().unwrap_or("")),
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes())
}

fn number(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// `FlexibleFileWriter#getShiftDecimal`: seconds with three decimals.
fn write_seconds(ms: i64, out: &mut Vec<u8>) {
    put(out, format_args!("{}.{:03}", ms / 1000, ms % 1000));
}

/// `getSamplerData`: the request; for an HTTP sample as `HTTPSampleResult` formats it.
fn request(sample: &Sample) -> Option<String> {
    let sampler_data = sample.sampler_data.as_deref();
    if sample.kind != SampleKind::Http {
        return sampler_data.map(str::to_owned);
    }
    let method = sample.method.as_deref().unwrap_or("");
    let mut text = method.to_owned();
    if let Some(url) = &sample.url {
        text.push(' ');
        text.push_str(url);
        text.push('\n');
        if !METHODS_WITHOUT_BODY.contains(&method) {
            let query = sample.query_string.as_deref().unwrap_or("");
            text.push_str(&format!("\n{method} data:\n{query}\n"));
        }
        match sample
            .cookies
            .as_deref()
            .filter(|cookies| !cookies.is_empty())
        {
            Some(cookies) => text.push_str(&format!("\nCookie Data:\n{cookies}")),
            None => text.push_str("\n[no cookies]"),
        }
        text.push('\n');
    }
    text.push_str(sampler_data.unwrap_or(""));
    Some(text)
}

/// `HTTPSampleResult.METHODS_WITHOUT_BODY`.
const METHODS_WITHOUT_BODY: [&str; 3] = ["HEAD", "OPTIONS", "TRACE"];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &str) -> String {
        let sample = Sample {
            success: true,
            start_ms: 1_700_000_000_042,
            end_ms: 1_700_000_000_117,
            elapsed_ms: 75,
            latency_ms: 30,
            connect_ms: 4,
            code: "201".into(),
            message: "made".into(),
            all_threads: 5,
            group_threads: 2,
            header_bytes: 100,
            sampler_data: Some("ask ü".into()),
            response_data: Some(b"body"[..].into()),
            url: Some("http://h/".into()),
            variables: vec![Some("v0".into()), None],
            ..Sample::new("label".into(), "G 1-1".into())
        };
        let mut out = Vec::new();
        Columns::new(columns, "", "", false).write_sample(&sample, &mut out);
        String::from_utf8(out).expect("it is text")
    }

    // Recorded from jmeter-plugins-standard 1.4.0.

    #[test]
    fn fields_stand_between_texts() {
        assert_eq!(
            row("endTimeMillis|\\t|responseTime|\\t|responseCode||x\\n"),
            "1700000000.117\t75\t201|x\n"
        );
        assert_eq!(
            row("isSuccsessful|,|isFailed|,|startTime|,|endTime|,|startTimeMillis"),
            "1,0,1700000000042,1700000000117,1700000000.042"
        );
        assert_eq!(
            row("latency|,|responseTimeMicros|,|latencyMicros|,|connectTime"),
            "30,75000,30000,4"
        );
        assert_eq!(
            row("sentBytes|,|receivedBytes|,|requestData|,|responseData|,|responseSize"),
            "5,4,ask ü,body,4"
        );
        assert_eq!(
            row("threadName|,|sampleLabel|,|threadsCount|,|grpThreads|,|sampleCount|,|errorCount"),
            "G 1-1,label,5,2,1,0"
        );
        assert_eq!(
            row("responseMessage|,|responseHeaderSize|,|URL|,|responseHeaders|,|requestHeaders"),
            "made,100,http://h/,,"
        );
    }

    #[test]
    fn variables_have_numbers() {
        assert_eq!(
            row("variable#0|,|variable#1|,|variable#2|,|variable#x"),
            "v0,,UNDEFINED_variable#2,variable#x"
        );
    }

    #[test]
    fn bars_at_the_end_are_dropped_and_empty_texts_are_bars() {
        assert_eq!(row("latency|||"), "30");
        assert_eq!(row(""), "|");
        assert_eq!(row("a\\\\n|\\q"), "a\\n\\q");
    }

    #[test]
    fn needs_follow_from_the_columns_of_the_rows() {
        let reads = |columns| Columns::new(columns, "", "", false).reads();
        assert_eq!(reads("latency|x"), (false, false, false));
        assert_eq!(reads("responseData"), (true, false, false));
        assert_eq!(reads("responseHeaders|sentBytes"), (false, true, true));
    }
}
