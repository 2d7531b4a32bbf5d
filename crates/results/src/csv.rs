//! CSV rows, byte for byte as JMeter's `CSVSaveService` writes them.

use crate::row::{RowFormat, TRACE_ID, trace_id};
use crate::sample::Sample;
use crate::save_config::TimestampFormat;
use crate::streams;

/// Sub-results nested deeper than this are left out (`CSVSaveService.saveSubResults`).
const MAX_DEPTH: u32 = 10;

/// Appends the header line without its line end (`CSVSaveService.printableFieldNamesToString`).
pub(crate) fn write_field_names(format: &RowFormat, out: &mut Vec<u8>) {
    let config = &format.config;
    let columns: [(bool, &[&str]); 22] = [
        (config.timestamp, &["timeStamp"]),
        (config.time, &["elapsed"]),
        (config.label, &["label"]),
        (config.code, &["responseCode"]),
        (config.message, &["responseMessage"]),
        (config.thread_name, &["threadName"]),
        (config.data_type, &["dataType"]),
        (config.success, &["success"]),
        (config.failure_message, &["failureMessage"]),
        (config.bytes, &["bytes"]),
        (config.sent_bytes, &["sentBytes"]),
        (config.thread_counts, &["grpThreads", "allThreads"]),
        (config.url, &["URL"]),
        (config.file_name, &["Filename"]),
        (config.latency, &["Latency"]),
        (config.encoding, &["Encoding"]),
        (config.sample_count, &["SampleCount", "ErrorCount"]),
        (config.hostname, &["Hostname"]),
        (config.idle_time, &["IdleTime"]),
        (config.connect_time, &["Connect"]),
        (format.trace_ids, &[TRACE_ID]),
        (config.stream_columns, &streams::COLUMNS),
    ];
    let mut row = CsvRow::new(config.delimiter, out);
    let shown = columns.iter().filter(|(show, _)| *show);
    for name in shown.flat_map(|(_, names)| names.iter()) {
        row.plain(name.as_bytes());
    }
    for name in format.variables.iter() {
        // The quotes distinguish variables from fixed columns; the name itself is not escaped.
        row.out.push(b'"');
        row.out.extend_from_slice(name.as_bytes());
        row.plain(b"\"");
    }
    row.end();
}

/// Appends the row of `sample` and, where configured, those of its sub-results; returns their number.
pub(crate) fn write_sample(format: &RowFormat, sample: &Sample, out: &mut Vec<u8>) -> u64 {
    write_row(format, sample, &sample.variables, out);
    out.push(b'\n');
    if format.config.subresults {
        1 + write_children(format, sample, &sample.variables, 0, out)
    } else {
        1
    }
}

type Variables = [Option<std::rc::Rc<str>>];

fn write_children(
    format: &RowFormat,
    sample: &Sample,
    variables: &Variables,
    depth: u32,
    out: &mut Vec<u8>,
) -> u64 {
    if depth > MAX_DEPTH {
        return 0;
    }
    let mut rows = 0;
    for child in &sample.children {
        write_row(format, child, variables, out);
        out.push(b'\n');
        rows += 1 + write_children(format, child, variables, depth + 1, out);
    }
    rows
}

/// Writes one row without its line end. Sub-results, too, get the variables of the whole sample event.
fn write_row(format: &RowFormat, sample: &Sample, variables: &Variables, out: &mut Vec<u8>) {
    let config = &format.config;
    let mut row = CsvRow::new(config.delimiter, out);
    if config.timestamp {
        write_stamp(format, sample, &mut row);
    }
    if config.time {
        row.number(sample.elapsed_ms);
    }
    if config.label {
        row.text(&sample.label);
    }
    if config.code {
        row.text(&sample.code);
    }
    if config.message {
        row.text(&sample.message);
    }
    if config.thread_name {
        row.text(&sample.thread_name);
    }
    if config.data_type {
        row.text(sample.data_type.as_str());
    }
    if config.success {
        row.plain(if sample.success { b"true" } else { b"false" });
    }
    if config.failure_message {
        row.text(sample.first_assertion_message().unwrap_or(""));
    }
    if config.bytes {
        row.number(sample.received_bytes());
    }
    if config.sent_bytes {
        row.number(sample.sent_bytes);
    }
    if config.thread_counts {
        row.number(sample.group_threads);
        row.number(sample.all_threads);
    }
    if config.url {
        row.text(sample.url.as_deref().unwrap_or("null"));
    }
    write_late_columns(format, sample, &mut row);
    for index in 0..format.variables.len() {
        let value = variables.get(index).and_then(Option::as_deref);
        row.text(value.unwrap_or("null"));
    }
    row.end();
}

/// Writes the columns that later versions of JMeter appended.
fn write_late_columns(format: &RowFormat, sample: &Sample, row: &mut CsvRow<'_>) {
    let config = &format.config;
    if config.file_name {
        row.text(sample.result_file_name.as_deref().unwrap_or(""));
    }
    if config.latency {
        row.number(sample.latency_ms);
    }
    if config.encoding {
        let named_encoding = sample
            .encoding
            .as_deref()
            .filter(|encoding| !encoding.is_empty());
        row.text(named_encoding.unwrap_or(&config.default_encoding));
    }
    if config.sample_count {
        row.number(sample.sample_count);
        row.number(sample.error_count());
    }
    if config.hostname {
        row.text(&format.hostname);
    }
    if config.idle_time {
        row.number(sample.idle_ms);
    }
    if config.connect_time {
        row.number(sample.connect_ms);
    }
    if format.trace_ids {
        row.plain(trace_id(sample).as_bytes());
    }
    if config.stream_columns {
        for value in streams::columns(sample.stream.as_deref()) {
            row.plain(value.as_bytes());
        }
    }
}

fn write_stamp(format: &RowFormat, sample: &Sample, row: &mut CsvRow<'_>) {
    let stamp_ms = format.stamp_ms(sample);
    match &format.config.timestamp_format {
        TimestampFormat::Millis => row.number(stamp_ms),
        TimestampFormat::Pattern(pattern) => {
            let start = row.out.len();
            pattern.write(stamp_ms, &format.zone, row.out);
            if row.out[start..].iter().any(|&byte| row.is_special(byte)) {
                let text = row.out.split_off(start);
                row.quote(&text);
            }
            row.delimit();
        }
        TimestampFormat::Unformatted => {}
    }
}

/// A row being written (`CSVSaveService.StringQuoter`). Each field ends with a delimiter, until the row is finished.
struct CsvRow<'a> {
    out: &'a mut Vec<u8>,
    delimiter: u8,
    start: usize,
}

impl<'a> CsvRow<'a> {
    fn new(delimiter: u8, out: &'a mut Vec<u8>) -> CsvRow<'a> {
        CsvRow {
            start: out.len(),
            out,
            delimiter,
        }
    }

    fn delimit(&mut self) {
        self.out.push(self.delimiter);
    }

    fn end(self) {
        if self.out.len() > self.start {
            self.out.pop();
        }
    }

    fn plain(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.delimit();
    }

    fn number(&mut self, value: impl itoa::Integer + TryInto<u8> + Copy) {
        // Most numbers have a single digit
        if let Ok(digit @ 0..=9) = value.try_into() {
            self.out.extend_from_slice(&[b'0' + digit, self.delimiter]);
            return;
        }
        let mut digits = itoa::Buffer::new();
        self.plain(digits.format(value).as_bytes());
    }

    fn is_special(&self, byte: u8) -> bool {
        byte == self.delimiter || matches!(byte, b'"' | b'\r' | b'\n')
    }

    /// Whether any byte needs quoting. Checks eight bytes at a time; the last eight may overlap the chunk before.
    fn has_special(&self, bytes: &[u8]) -> bool {
        let Some(last) = bytes.last_chunk::<8>() else {
            return match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
                (Some(first), Some(last)) => {
                    let ends = [u32::from_le_bytes(*first), u32::from_le_bytes(*last)];
                    self.has_special_in(u64::from(ends[0]) << 32 | u64::from(ends[1]))
                }
                _ => bytes.iter().any(|byte| self.is_special(*byte)),
            };
        };
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().chain([last]);
        words.any(|word| self.has_special_in(u64::from_le_bytes(*word)))
    }

    fn has_special_in(&self, word: u64) -> bool {
        const ONES: u64 = 0x0101_0101_0101_0101;
        // Sets the highest bit of each zero byte. It may also set bits above a zero byte wrongly, but never without
        // one.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let is = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
        (is(self.delimiter) | is(b'"') | is(b'\r') | is(b'\n')) & (ONES << 7) != 0
    }

    /// Writes a field, in quotes if it contains the delimiter, a quote or a line end
    /// (`CSVSaveService.quoteDelimiters`).
    fn text(&mut self, text: &str) {
        if self.has_special(text.as_bytes()) {
            self.quote(text.as_bytes());
        } else {
            self.out.extend_from_slice(text.as_bytes());
        }
        self.delimit();
    }

    fn quote(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for &byte in text {
            if byte == b'"' {
                self.out.push(b'"');
            }
            self.out.push(byte);
        }
        self.out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::CsvRow;

    #[test]
    fn a_special_byte_is_seen_wherever_it_stands() {
        let mut out = Vec::new();
        let row = CsvRow::new(b';', &mut out);
        for length in 0..=20 {
            let plain = vec![b'a'; length];
            assert!(!row.has_special(&plain), "{length}");
            for at in 0..length {
                for special in *b";\"\r\n" {
                    let mut bytes = plain.clone();
                    bytes[at] = special;
                    assert!(row.has_special(&bytes), "{special} at {at} of {length}");
                }
            }
            let other = "é, \t".repeat(length);
            assert!(!row.has_special(other.as_bytes()), "{length}");
        }
    }
}
