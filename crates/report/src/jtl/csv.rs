//! CSV result files. A header names the columns, in any order. Without a header, the properties define the
//! columns.

use std::io::BufRead;
use std::rc::Rc;

use csv::{ByteRecord, ReaderBuilder};
use drumfire_results::{
    AssertionResult, Recording, RowFormat, Sample, SaveConfig, TRANSACTION_MESSAGE_PREFIX,
};
use rustc_hash::FxHashMap;

use super::stamp::{StampReader, integer};
use super::{ContentError, Jtl, JtlOptions, NO_RESULTS, RowEnds, RowInput, Selection};

/// The columns that are read, in JMeter's spelling.
const NAMES: [&str; 16] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "allThreads",
    "URL",
    "Latency",
    "Connect",
    "SampleCount",
    "ErrorCount",
];

/// The index of each column in a row.
#[derive(Clone, Copy, Debug)]
struct Columns {
    places: [Option<usize>; NAMES.len()],
    count: usize,
}

/// A column, by its index in [`NAMES`].
#[derive(Clone, Copy)]
enum JtlColumn {
    TimeStamp,
    Elapsed,
    Label,
    ResponseCode,
    ResponseMessage,
    ThreadName,
    Success,
    FailureMessage,
    Bytes,
    SentBytes,
    AllThreads,
    Url,
    Latency,
    Connect,
    SampleCount,
    ErrorCount,
}

impl Columns {
    fn of<'a>(names: impl Iterator<Item = &'a [u8]>) -> Columns {
        let mut columns = Columns {
            places: [None; NAMES.len()],
            count: 0,
        };
        for name in names {
            let column = NAMES.iter().position(|known| known.as_bytes() == name);
            if let Some(column) = column {
                columns.places[column].get_or_insert(columns.count);
            }
            columns.count += 1;
        }
        columns
    }

    fn has(&self, column: JtlColumn) -> bool {
        self.places[column as usize].is_some()
    }

    /// The field of a column; empty if the file does not have the column.
    fn get<'r>(&self, row: &'r ByteRecord, column: JtlColumn) -> &'r [u8] {
        let cell_index = self.places[column as usize];
        cell_index
            .and_then(|place| row.get(place))
            .unwrap_or_default()
    }
}

/// Reads a CSV file from its first line.
pub fn read(input: &mut impl BufRead, options: &JtlOptions) -> Result<Jtl, ContentError> {
    let start = input.fill_buf()?;
    let line_end = start.iter().position(|byte| *byte == b'\n');
    let first = start[..line_end.unwrap_or(start.len())].to_vec();
    let first = first.strip_suffix(b"\r").unwrap_or(&first);
    let header = header(first);
    let delimiter = header.unwrap_or_else(|| delimiter_of_row(first, options.columns.delimiter));
    let columns = match header {
        Some(delimiter) => Columns::of(split(first, delimiter)),
        None => default_columns(&options.columns),
    };
    require(&columns, header.is_some())?;
    let mut jtl = Jtl::default();
    if header.is_none() {
        jtl.warnings.push(
            "the file has no line with column names; its columns are taken to be those of the \
             jmeter.save.saveservice.* properties"
                .to_owned(),
        );
    }
    let (input, ends) = RowInput::new(input, options.row_bytes);
    let reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(256 << 10)
        .from_reader(input);
    let rows = CsvRowReader {
        columns,
        stamps: StampReader::new(options.zone.clone()),
        stamp_at_start: options.stamp_at_start,
        places: Default::default(),
        sample: Sample::default(),
        selection: options.selection.clone(),
        ends,
    };
    rows.read_all(reader, header.is_some(), &mut jtl)?;
    Ok(jtl)
}

/// The delimiter, if the line is a header: known names separated by the same byte.
fn header(line: &[u8]) -> Option<u8> {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let name = NAMES
        .iter()
        .find(|name| line.starts_with(name.as_bytes()))?;
    let rest = &line[name.len()..];
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let delimiter = *rest.first()?;
    (!delimiter.is_ascii_alphanumeric()
        && split(line, delimiter).filter(|f| is_known(f)).count() > 1)
        .then_some(delimiter)
}

fn is_known(field: &[u8]) -> bool {
    NAMES.iter().any(|name| name.as_bytes() == field)
}

fn split(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    line.split(move |byte| *byte == delimiter).map(|field| {
        let field = field.strip_prefix(b"\"").unwrap_or(field);
        field.strip_suffix(b"\"").unwrap_or(field)
    })
}

/// The character after the digits of the first time stamp, or else the delimiter of the properties.
fn delimiter_of_row(line: &[u8], default: u8) -> u8 {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match line.get(digits) {
        Some(byte) if digits >= 9 && !byte.is_ascii_alphanumeric() => *byte,
        _ => default,
    }
}

/// The columns that the properties select, in the order in which they are written.
fn default_columns(config: &SaveConfig) -> Columns {
    let mut config = config.clone();
    (config.xml, config.field_names) = (false, true);
    let delimiter = config.delimiter;
    let mut line = Vec::new();
    RowFormat::new(config, [].into(), "".into()).write_head(&mut line);
    Columns::of(split(line.strip_suffix(b"\n").unwrap_or(&line), delimiter))
}

fn require(columns: &Columns, is_named: bool) -> Result<(), ContentError> {
    for column in [JtlColumn::TimeStamp, JtlColumn::Elapsed] {
        if !columns.has(column) {
            let name = NAMES[column as usize];
            let remedy = if is_named {
                "a report needs timeStamp and elapsed; run the plan with \
                     jmeter.save.saveservice.time=true and a timestamp_format other than none"
            } else {
                "set the jmeter.save.saveservice.* properties as they were when the file was written \
                     (-J or user.properties)"
            };
            return Err(ContentError::at(
                1,
                format!("there is no column {name}"),
                remedy,
            ));
        }
    }
    Ok(())
}

/// Labels as they are written, with their index in the recording; `None` for labels that the selection leaves
/// out.
type Places = FxHashMap<Box<[u8]>, Option<(usize, Rc<str>)>>;

struct CsvRowReader {
    columns: Columns,
    stamps: StampReader,
    stamp_at_start: bool,
    /// Indices by label: first of plain samples, then of those of transaction controllers.
    places: [Places; 2],
    /// Reused for every row.
    sample: Sample,
    selection: Selection,
    ends: RowEnds,
}

impl CsvRowReader {
    fn read_all<R: std::io::Read>(
        mut self,
        mut reader: csv::Reader<R>,
        has_header: bool,
        jtl: &mut Jtl,
    ) -> Result<(), ContentError> {
        let mut row = ByteRecord::new();
        let mut is_first = has_header;
        let mut bad: Option<ContentError> = None;
        while reader
            .read_byte_record(&mut row)
            .map_err(|error| ContentError::from(std::io::Error::other(error)))?
        {
            self.ends.tell();
            if let Some(fault) = bad {
                return Err(fault);
            }
            if std::mem::take(&mut is_first) {
                continue;
            }
            // Concatenated files have headers in between, and the headers may differ.
            if let Some(columns) = self.header_within(&row) {
                self.columns = columns;
                continue;
            }
            let line = row.position().map(csv::Position::line).unwrap_or(0);
            match self.read_row(&row, line) {
                Ok(()) => {
                    self.count(&mut jtl.recording, &row);
                    jtl.rows += 1;
                }
                // Only the last line may be damaged: a killed run leaves such a line.
                Err(fault) => bad = Some(fault),
            }
        }
        match bad {
            Some(fault) if jtl.rows > 0 => jtl.warnings.push(format!(
                "the last line ({}) is cut off and was left out: {}",
                fault.line.unwrap_or(0),
                fault.message
            )),
            Some(fault) => return Err(fault),
            None if jtl.rows == 0 => jtl.warnings.push("there are no samples".to_owned()),
            None => {}
        }
        Ok(())
    }

    /// The columns that a row names, if it is a header. The time stamp decides: in a row of data, it begins
    /// with a digit.
    fn header_within(&self, row: &ByteRecord) -> Option<Columns> {
        let stamp = self.columns.get(row, JtlColumn::TimeStamp);
        if !stamp.first().is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let columns = Columns::of(row.iter());
        (columns.has(JtlColumn::TimeStamp) && columns.has(JtlColumn::Elapsed)).then_some(columns)
    }

    fn read_row(&mut self, row: &ByteRecord, line: u64) -> Result<(), ContentError> {
        let columns = self.columns;
        if row.len() < columns.count {
            return Err(too_short(row.len(), columns.count, line));
        }
        let stamp_ms = self
            .stamps
            .read(columns.get(row, JtlColumn::TimeStamp))
            .ok_or_else(|| {
                let text = String::from_utf8_lossy(columns.get(row, JtlColumn::TimeStamp));
                ContentError::at(
                    line,
                    format!("'{text}' is not a time stamp"),
                    "milliseconds and dates such as 2024/01/31 13:00:05.250 are read",
                )
            })?;
        let number = |column: JtlColumn| -> Result<i64, ContentError> {
            let text = columns.get(row, column);
            if text.is_empty() && !matches!(column, JtlColumn::Elapsed) {
                return Ok(0);
            }
            integer(text).ok_or_else(|| {
                let name = NAMES[column as usize];
                let text = String::from_utf8_lossy(text);
                ContentError::at(
                    line,
                    format!("column {name}: '{text}' is not a number"),
                    "delete the line, or write the file again",
                )
            })
        };
        let sample = &mut self.sample;
        sample.elapsed_ms = number(JtlColumn::Elapsed)?;
        // The end of a sample is its start plus the elapsed time, without the idle time, as in JMeter's
        // dashboard (`Sample.getEndTime`).
        sample.start_ms = if self.stamp_at_start {
            stamp_ms
        } else {
            stamp_ms.saturating_sub(sample.elapsed_ms)
        };
        sample.end_ms = sample.start_ms.saturating_add(sample.elapsed_ms);
        sample.latency_ms = number(JtlColumn::Latency)?;
        sample.connect_ms = number(JtlColumn::Connect)?;
        sample.bytes = number(JtlColumn::Bytes)?;
        sample.sent_bytes = number(JtlColumn::SentBytes)?.max(0) as u64;
        sample.all_threads = u32::try_from(number(JtlColumn::AllThreads)?).unwrap_or(0);
        sample.sample_count = if columns.has(JtlColumn::SampleCount) {
            u32::try_from(number(JtlColumn::SampleCount)?).unwrap_or(1)
        } else {
            1
        };
        sample.success = if columns.has(JtlColumn::Success) {
            columns
                .get(row, JtlColumn::Success)
                .eq_ignore_ascii_case(b"true")
        } else {
            !columns.has(JtlColumn::ErrorCount) || number(JtlColumn::ErrorCount)? == 0
        };
        Ok(())
    }

    /// Counts the row that was just read. Copies texts only if they are needed later.
    fn count(&mut self, recording: &mut Recording, row: &ByteRecord) {
        let columns = self.columns;
        let message = columns.get(row, JtlColumn::ResponseMessage);
        let transaction = message.starts_with(TRANSACTION_MESSAGE_PREFIX.as_bytes());
        let label = columns.get(row, JtlColumn::Label);
        let places = &mut self.places[usize::from(transaction)];
        let label_index = match places.get(label) {
            Some(label_index) => label_index.clone(),
            None => {
                let text: Rc<str> = String::from_utf8_lossy(label).into();
                let is_wished = self.selection.takes_label(&text);
                let label_index = is_wished.then(|| (recording.place(&text, transaction), text));
                places.insert(label.into(), label_index.clone());
                label_index
            }
        };
        let Some((index, label)) = label_index else {
            return;
        };
        if !self.selection.takes_start(self.sample.start_ms) {
            return;
        }
        let text = |column| String::from_utf8_lossy(columns.get(row, column)).into_owned();
        let sample = &mut self.sample;
        sample.label = label;
        let code = columns.get(row, JtlColumn::ResponseCode);
        if sample.code.as_bytes() != code {
            sample.code = text(JtlColumn::ResponseCode).into();
        }
        if !sample.success {
            sample.message = text(JtlColumn::ResponseMessage).into();
            sample.thread_name = text(JtlColumn::ThreadName).into();
            let url = text(JtlColumn::Url);
            sample.url = Some(url.into()).filter(|url: &Rc<str>| !matches!(&**url, "" | "null"));
            sample.assertions.clear();
            let failure = text(JtlColumn::FailureMessage);
            if !failure.is_empty() {
                sample.assertions.push(AssertionResult {
                    failure: true,
                    message: Some(failure.into()),
                    ..AssertionResult::default()
                });
            }
        }
        recording.add_at(index, sample);
    }
}

fn too_short(fields: usize, expected: usize, line: u64) -> ContentError {
    if line == 1 {
        let message = format!(
            "this is not a result file: its first line is neither a header nor a row of {expected} fields"
        );
        return ContentError::at(line, message, NO_RESULTS);
    }
    ContentError::at(
        line,
        format!("{fields} fields where {expected} are expected"),
        "delete the line, or write the file again; with an unquoted delimiter in a text, no \
         reader can tell the fields apart",
    )
}
