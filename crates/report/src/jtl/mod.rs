//! Result files (JTL) of any JMeter, and of this program: CSV with or without a header, and XML. They are read as a
//! stream, so memory depends on the labels and the length of the run, not on the number of rows.

mod csv;
mod stamp;
mod xml;

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use drumfire_java::date::SimplePattern;
use drumfire_platform::causes::cause;
use drumfire_results::{Recording, SaveConfig};
use jiff::tz::TimeZone;

/// The settings that a file does not contain itself.
#[derive(Clone, Debug)]
pub struct JtlOptions {
    /// The columns of a CSV file without a header, and its delimiter (`jmeter.save.saveservice.*`).
    pub columns: SaveConfig,
    /// Whether the time stamp is the start of the sample instead of its end (`sampleresult.timestamp.start`).
    pub stamp_at_start: bool,
    /// The time zone of time stamps that are written as dates.
    pub zone: TimeZone,
    /// The samples to read.
    pub selection: Selection,
    /// The most bytes of a row; a file with a longer row is refused (`drumfire.max_row_bytes`).
    pub row_bytes: u64,
}

/// The property for the format of dates, in the letters of Java's `SimpleDateFormat`.
const DATE_FORMAT: &str = "jmeter.reportgenerator.date_format";

/// The samples of a file that are read; by default, all of them.
#[derive(Clone, Default)]
pub struct Selection {
    /// Decides whether a label is selected.
    pub label: Option<LabelTest>,
    /// The earliest start that counts, in milliseconds since the Unix epoch.
    pub from_ms: Option<i64>,
    /// The latest start that counts, in milliseconds since the Unix epoch.
    pub to_ms: Option<i64>,
}

/// Decides whether a label is selected.
pub type LabelTest = Rc<dyn Fn(&str) -> bool>;

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("from_ms", &self.from_ms)
            .field("to_ms", &self.to_ms)
            .finish_non_exhaustive()
    }
}

/// A property that must hold a date but does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateError {
    /// The property.
    pub property: &'static str,
    /// Its value.
    pub text: String,
    /// The format that a date must have.
    pub format: String,
}

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DateError {
            property,
            text,
            format,
        } = self;
        write!(
            f,
            "{property}: '{text}' is not a date of the form {format} ({DATE_FORMAT})"
        )
    }
}

impl std::error::Error for DateError {}

impl Selection {
    /// The span of time that `jmeter.reportgenerator.start_date` and `end_date` define. These are local times in the
    /// format of `date_format`.
    ///
    /// # Errors
    /// Which property cannot be read. JMeter only logs that, and reads the whole file.
    pub fn from_properties(
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Selection, DateError> {
        let set = |name: &str| lookup(name).filter(|text| !text.is_empty());
        let format = set(DATE_FORMAT).unwrap_or_else(|| "yyyyMMddHHmmss".to_owned());
        let date = |name: &'static str| -> Result<Option<i64>, DateError> {
            let Some(text) = set(name) else {
                return Ok(None);
            };
            let pattern = SimplePattern::compile(&format);
            let moment = pattern.and_then(|pattern| pattern.read(&text, &TimeZone::system()));
            moment
                .ok_or_else(|| DateError {
                    property: name,
                    text: text.clone(),
                    format: format.clone(),
                })
                .map(Some)
        };
        Ok(Selection {
            label: None,
            from_ms: date("jmeter.reportgenerator.start_date")?,
            to_ms: date("jmeter.reportgenerator.end_date")?,
        })
    }

    fn takes_label(&self, label: &str) -> bool {
        self.label.as_ref().is_none_or(|test| test(label))
    }

    fn takes_start(&self, start_ms: i64) -> bool {
        self.from_ms.is_none_or(|from| from <= start_ms)
            && self.to_ms.is_none_or(|to| start_ms <= to)
    }
}

impl Default for JtlOptions {
    /// The values in JMeter's own property files.
    fn default() -> JtlOptions {
        JtlOptions {
            columns: SaveConfig::default(),
            stamp_at_start: true,
            zone: TimeZone::system(),
            selection: Selection::default(),
            row_bytes: ROW_BYTES,
        }
    }
}

impl JtlOptions {
    /// The options that properties set. A property that cannot be read counts as not set.
    pub fn from_properties(lookup: &dyn Fn(&str) -> Option<String>) -> JtlOptions {
        let columns = SaveConfig::from_properties(lookup).unwrap_or_default();
        let stamp = lookup("sampleresult.timestamp.start");
        JtlOptions {
            columns,
            stamp_at_start: stamp.is_none_or(|value| value.trim().eq_ignore_ascii_case("true")),
            row_bytes: lookup(MAX_ROW_BYTES)
                .and_then(|bytes| bytes.trim().parse().ok())
                .unwrap_or(ROW_BYTES),
            ..JtlOptions::default()
        }
    }
}

/// The content of a result file.
#[derive(Clone, Debug, Default)]
pub struct Jtl {
    /// The samples.
    pub recording: Recording,
    /// How many rows or elements were read.
    pub rows: u64,
    /// Notes for readers of the report, such as a truncated last line.
    pub warnings: Vec<String>,
}

/// Why a result file cannot be read: where, what, and what helps.
#[derive(Debug)]
pub struct JtlError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, if it is known.
    pub line: Option<u64>,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl fmt::Display for JtlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.remedy.is_empty() {
            write!(f, "\nhint: {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for JtlError {}

/// A fault in the content of a result file. The caller adds the path.
#[derive(Debug)]
struct ContentError {
    line: Option<u64>,
    message: String,
    remedy: &'static str,
}

impl ContentError {
    fn at(line: u64, message: impl Into<String>, remedy: &'static str) -> ContentError {
        ContentError {
            line: Some(line),
            message: message.into(),
            remedy,
        }
    }
}

impl From<io::Error> for ContentError {
    fn from(error: io::Error) -> ContentError {
        ContentError {
            line: None,
            message: cause(&error),
            remedy: "",
        }
    }
}

/// Reads a result file.
///
/// # Errors
/// If the file cannot be read, or if a line other than the last one is not a row: its place and a remedy.
pub fn read(path: &Path, input: impl Read, options: &JtlOptions) -> Result<Jtl, JtlError> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    read_any(&mut input, options).map_err(|fault| JtlError {
        path: path.to_path_buf(),
        line: fault.line,
        message: fault.message,
        remedy: fault.remedy,
    })
}

/// The property for the longest row.
const MAX_ROW_BYTES: &str = "drumfire.max_row_bytes";
/// The default for the longest row in bytes. Rows may contain responses.
const ROW_BYTES: u64 = 256 << 20;

/// The bytes that one read fetches. A text without a line end within these bytes is not a result file.
const BUFFER_BYTES: usize = 256 << 10;

const NO_RESULTS: &str = "give a file that -l or a listener of a run wrote; for CSV without a header, set the \
                          jmeter.save.saveservice.* properties of that run";

fn read_any(input: &mut impl BufRead, options: &JtlOptions) -> Result<Jtl, ContentError> {
    skip_byte_order_mark(input)?;
    let start = input.fill_buf()?;
    if start.contains(&0) || (start.len() >= BUFFER_BYTES && !start.contains(&b'\n')) {
        return Err(ContentError {
            line: None,
            message: "this is not a result file: it does not consist of lines of text".to_owned(),
            remedy: NO_RESULTS,
        });
    }
    match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(ContentError {
            line: None,
            message: "the file is empty".to_owned(),
            remedy: "was the run stopped before its first sample, or is this another run's file?",
        }),
        Some(b'<') => xml::read(input, options),
        Some(_) => csv::read(input, options),
    }
}

/// An input that limits the bytes of each row, because a reader holds a row in memory until it ends.
struct RowInput<'i, R> {
    input: &'i mut R,
    most: u64,
    /// The bytes that the current row may still have.
    left: Rc<Cell<u64>>,
}

/// Tells a [`RowInput`] that a row has ended.
struct RowEnds {
    most: u64,
    left: Rc<Cell<u64>>,
}

impl<'i, R: BufRead> RowInput<'i, R> {
    fn new(input: &'i mut R, most: u64) -> (RowInput<'i, R>, RowEnds) {
        let left = Rc::new(Cell::new(most));
        let ends = RowEnds {
            most,
            left: Rc::clone(&left),
        };
        (RowInput { input, most, left }, ends)
    }
}

impl RowEnds {
    fn tell(&self) {
        self.left.set(self.most);
    }
}

impl<R: BufRead> Read for RowInput<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(room)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for RowInput<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left.get() == 0 {
            let most = self.most;
            return Err(io::Error::other(format!(
                "a row has more than {most} bytes; raise {MAX_ROW_BYTES} if that is right"
            )));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.left.set(self.left.get().saturating_sub(count as u64));
        self.input.consume(count);
    }
}

fn skip_byte_order_mark(input: &mut impl BufRead) -> io::Result<()> {
    if input.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    Ok(())
}
