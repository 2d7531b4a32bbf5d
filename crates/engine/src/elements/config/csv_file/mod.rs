//! The files of CSV Data Sets. All users of an alias share one position (`FileServer`, `CSVSaveService#csvReadFile`).
//!
//! Rows are read on demand, so memory does not grow with the file. A reader holds the lock for one row.
//!
//! Several machines share the rows of a file. Either each has the file and leases numbers of rows, or one machine has it and gives
//! the others blocks of rows ([`RowBlocks`]).

mod blocks;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drumfire_java::JvmDefaults;
use drumfire_java::charset::Charset;
use drumfire_java::file_server;
use drumfire_java::text::is_blank;
use drumfire_platform::files::{open_regular, read_regular};

pub use self::blocks::RowBlocks;
use crate::run::fleet::{Fleet, LeaseRequest, Leased, RowReading, RowsRequest};

const UTF8_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const QUOTE: char = '"';

/// All open files of a run, by alias.
#[derive(Default)]
pub struct CsvFiles(Mutex<HashMap<String, Arc<CsvFile>>>);

/// One file and the position of its readers.
pub struct CsvFile {
    name: String,
    path: PathBuf,
    encoding: String,
    position: Mutex<Position>,
    /// Present if several machines share the rows.
    shared: Option<SharedRows>,
}

/// This machine's share of a file's rows.
struct SharedRows {
    /// The name under which the machines share the file.
    element: String,
    fleet: Arc<dyn Fleet>,
    leased: Leased,
    /// Another machine has the file.
    is_remote: bool,
}

#[derive(Default)]
struct Position {
    header: Option<String>,
    /// Why there is no header line.
    fault: Option<String>,
    reader: Option<LineReader>,
    /// The row index, if several machines share the rows; `next_row` is the row that the reader gives next.
    index: Option<RowIndex>,
    next_row: u64,
    /// The reader reads rows that another machine has sent.
    has_block: bool,
}

/// The index records the position of one row in this many.
const INDEX_STRIDE: u64 = 1_024;

/// The positions of some rows, so that a reader can skip other machines' rows.
struct RowIndex {
    rows: u64,
    /// Row numbers and the byte offsets at which they begin, both ascending.
    places: Vec<(u64, u64)>,
}

/// How rows are taken from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvReadOptions {
    /// Start again at the end of the file.
    pub recycle: bool,
    /// The first line is not a row.
    pub skips_first_line: bool,
}

/// Why there is no row.
#[derive(Debug, PartialEq, Eq)]
pub enum RowFailure {
    /// `IOException`: JMeter takes it for the end of the file.
    Io(String),
    /// `IllegalArgumentException`: JMeter ends the thread.
    Argument(String),
}

impl From<io::Error> for RowFailure {
    fn from(error: io::Error) -> RowFailure {
        RowFailure::Io(format!("java.io.IOException: {error}"))
    }
}

impl CsvFiles {
    /// `FileServer#reserveFile`: returns the file of an alias. The first call for an alias determines file and encoding,
    /// and reads the header line if it `has_header`.
    ///
    /// # Errors
    /// Without a file name, or if a header is wanted and there is none.
    pub fn reserve(
        &self,
        name: &str,
        encoding: &str,
        alias: &str,
        has_header: bool,
        base_dir: &Path,
        fleet: Option<Arc<dyn Fleet>>,
    ) -> Result<Arc<CsvFile>, RowFailure> {
        if name.is_empty() {
            return Err(RowFailure::Argument(
                "Filename must not be null or empty".to_owned(),
            ));
        }
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match files.get(alias) {
            Some(file) => file.clone(),
            None => {
                let mut file = CsvFile::new(name, encoding, base_dir);
                file.shared = fleet.map(|fleet| SharedRows {
                    element: format!("CSV {alias}"),
                    is_remote: fleet.has_rows_of(&file.path),
                    fleet,
                    leased: Leased::default(),
                });
                let file = Arc::new(file);
                tracing::info!(
                    "Stored: {name}{}",
                    if name == alias {
                        String::new()
                    } else {
                        format!(" Alias: {alias}")
                    }
                );
                files.insert(alias.to_owned(), file.clone());
                if has_header {
                    file.read_header();
                }
                file
            }
        };
        drop(files);
        if has_header && file.header().is_none() {
            let cause = file.lock().fault.clone().unwrap_or_default();
            return Err(RowFailure::Argument(format!(
                "Could not read file header line for file {name}: {cause}"
            )));
        }
        Ok(file)
    }
}

impl CsvFile {
    fn new(name: &str, encoding: &str, base_dir: &Path) -> CsvFile {
        CsvFile {
            name: name.to_owned(),
            path: file_server::resolve(name, base_dir),
            encoding: encoding.to_owned(),
            position: Mutex::default(),
            shared: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The header line, if it was read when the file was reserved.
    pub fn header(&self) -> Option<String> {
        self.lock().header.clone()
    }

    fn read_header(&self) {
        let mut position = self.lock();
        let reading = CsvReadOptions {
            recycle: false,
            skips_first_line: false,
        };
        let line = self.next_own_line(&mut position, reading);
        match line {
            Ok(Some(line)) => {
                position.header = position
                    .reader
                    .as_ref()
                    .map(|reader| reader.text[line].to_owned())
            }
            Ok(None) => {
                position.fault = Some(format!(
                    "java.io.EOFException: File is empty: {}",
                    self.path.display()
                ))
            }
            Err(RowFailure::Io(fault) | RowFailure::Argument(fault)) => {
                position.fault = Some(fault)
            }
        }
    }

    /// Passes the next line (`FileServer#readLine`), or `None` at the end, to `take` while holding the lock.
    ///
    /// # Errors
    /// See [`RowFailure`].
    pub fn line<R>(
        &self,
        reading: CsvReadOptions,
        take: impl FnOnce(Option<&str>) -> R,
    ) -> Result<R, RowFailure> {
        let mut position = self.lock();
        let line = self.next_line(&mut position, reading)?;
        Ok(take(line.and_then(|line| {
            position.reader.as_ref().map(|reader| &reader.text[line])
        })))
    }

    /// The range of this machine's next line in the reader's text.
    fn next_line(
        &self,
        position: &mut Position,
        reading: CsvReadOptions,
    ) -> Result<Option<Range<usize>>, RowFailure> {
        let Some(shared) = &self.shared else {
            return self.next_own_line(position, reading);
        };
        let has_row = if shared.is_remote {
            self.receive(shared, position, reading, false)?
        } else {
            self.seek(shared, position, reading, |reader| {
                Ok(reader.line()?.is_some())
            })?
        };
        if !has_row {
            return Ok(None);
        }
        let reader = position.reader.as_mut().expect("seeking opens it");
        Ok(reader.line()?)
    }

    /// Moves the reader to this machine's next row; false if there is none. `pass` reads one row and returns whether there
    /// was one.
    fn seek(
        &self,
        shared: &SharedRows,
        position: &mut Position,
        reading: CsvReadOptions,
        pass: impl Fn(&mut LineReader) -> Result<bool, RowFailure>,
    ) -> Result<bool, RowFailure> {
        if position.index.is_none() {
            position.index = Some(RowIndex::read(self.open()?, reading, &pass)?);
            position.reader = None;
        }
        let index = position.index.as_ref().expect("it was made above");
        let request = LeaseRequest {
            element: &shared.element,
            length: Some(index.rows),
            is_recycled: reading.recycle && index.rows > 0,
        };
        let row_index = shared.leased.next(&*shared.fleet, &request);
        let Some(row_index) = row_index.map_err(|error| RowFailure::Argument(error.to_string()))?
        else {
            return Ok(false);
        };
        let row = row_index % index.rows.max(1);
        let (indexed_row, byte) = index.before(row);
        let is_ahead =
            position.reader.is_some() && (indexed_row..=row).contains(&position.next_row);
        if !is_ahead {
            position.reader = Some(self.open_at(byte)?);
            position.next_row = indexed_row;
        }
        let reader = position.reader.as_mut().expect("it was opened above");
        while position.next_row < row {
            // The machine that owns a malformed row reports it.
            let _ = pass(reader);
            position.next_row += 1;
        }
        position.next_row += 1;
        Ok(true)
    }

    /// Lets the reader read rows that another machine has; false at the end.
    fn receive(
        &self,
        shared: &SharedRows,
        position: &mut Position,
        reading: CsvReadOptions,
        is_quoted: bool,
    ) -> Result<bool, RowFailure> {
        if position.has_block
            && let Some(reader) = &mut position.reader
            && reader.peek()?.is_some()
        {
            return Ok(true);
        }
        let request = RowsRequest {
            element: &shared.element,
            file: &self.path,
            reading: RowReading {
                encoding: self.encoding.clone(),
                is_quoted,
                skips_first_line: reading.skips_first_line,
                is_recycled: reading.recycle,
            },
        };
        let rows = shared
            .fleet
            .rows(&request)
            .map_err(|error| RowFailure::Argument(error.to_string()))?;
        let has_rows = !rows.is_empty();
        position.has_block = true;
        position.reader = Some(LineReader::of_text(rows));
        Ok(has_rows)
    }

    /// The range of the next line in the reader's text.
    fn next_own_line(
        &self,
        position: &mut Position,
        reading: CsvReadOptions,
    ) -> Result<Option<Range<usize>>, RowFailure> {
        let reader = match &mut position.reader {
            Some(reader) => reader,
            empty => empty.insert(self.open()?),
        };
        if let Some(line) = reader.line()? {
            return Ok(Some(line));
        }
        if !reading.recycle {
            return Ok(None);
        }
        *reader = self.open()?;
        if reading.skips_first_line {
            reader.line()?;
        }
        Ok(reader.line()?)
    }

    /// The fields of the next row with quotes (`FileServer#getParsedLine`); empty at the end.
    ///
    /// # Errors
    /// See [`RowFailure`].
    pub fn fields(
        &self,
        reading: CsvReadOptions,
        delimiter: char,
    ) -> Result<Vec<String>, RowFailure> {
        let mut position = self.lock();
        if let Some(shared) = &self.shared {
            let has_row = if shared.is_remote {
                self.receive(shared, &mut position, reading, true)?
            } else {
                self.seek(shared, &mut position, reading, |reader: &mut LineReader| {
                    Ok(!fields(reader, delimiter)?.is_empty())
                })?
            };
            if !has_row {
                return Ok(Vec::new());
            }
            let reader = position.reader.as_mut().expect("seeking opens it");
            return fields(reader, delimiter);
        }
        let again = match &mut position.reader {
            None => true,
            Some(reader) => reading.recycle && reader.peek()?.is_none(),
        };
        if again {
            let mut reader = self.open()?;
            if reading.skips_first_line {
                reader.line()?;
            }
            position.reader = Some(reader);
        }
        let reader = position.reader.as_mut().expect("was opened above");
        fields(reader, delimiter)
    }

    /// `FileServer#createBufferedReader`.
    fn open(&self) -> Result<LineReader, RowFailure> {
        let (file, charset) = self.open_file()?;
        Ok(LineReader::new(Box::new(BufReader::new(file)), charset)?)
    }

    /// Opens the file at the byte at which a row begins.
    fn open_at(&self, byte: u64) -> Result<LineReader, RowFailure> {
        let mut reader = self.open()?;
        if byte > reader.consumed {
            let (mut file, _) = self.open_file()?;
            file.seek(SeekFrom::Start(byte))?;
            reader.bytes = Box::new(BufReader::new(file));
            reader.consumed = byte;
        }
        Ok(reader)
    }

    fn open_file(&self) -> Result<(File, Charset), RowFailure> {
        let not_readable = || {
            let name = Path::new(&self.name)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_else(|| self.name.clone());
            RowFailure::Argument(format!(
                "java.lang.IllegalArgumentException: File {name} must exist and be readable"
            ))
        };
        if !self.path.is_file() {
            return Err(not_readable());
        }
        let mut file = open_regular(&self.path).map_err(|_| not_readable())?;
        let charset = if is_blank(&self.encoding) {
            Some(unnamed_charset(
                &mut file,
                &JvmDefaults::of_process().charset,
            )?)
        } else {
            Charset::find(&self.encoding)
        };
        let charset = charset.ok_or_else(|| {
            RowFailure::Io(format!(
                "java.io.UnsupportedEncodingException: {}",
                self.encoding
            ))
        })?;
        Ok((file, charset))
    }
}

impl RowIndex {
    /// Builds the index, for which it reads the file to its end.
    fn read(
        mut reader: LineReader,
        reading: CsvReadOptions,
        pass: impl Fn(&mut LineReader) -> Result<bool, RowFailure>,
    ) -> Result<RowIndex, RowFailure> {
        if reading.skips_first_line {
            reader.line()?;
        }
        let (mut rows, mut places) = (0, Vec::new());
        while reader.peek()?.is_some() {
            let is_due = places
                .last()
                .is_none_or(|(row, _)| rows >= row + INDEX_STRIDE);
            if is_due && let Some(byte) = reader.row_start() {
                places.push((rows, byte));
            }
            // A malformed row counts as a row, too.
            let _ = pass(&mut reader);
            rows += 1;
        }
        Ok(RowIndex { rows, places })
    }

    /// The last indexed row that is not behind this one, and its byte offset.
    fn before(&self, row: u64) -> (u64, u64) {
        let after = self.places.partition_point(|(known, _)| *known <= row);
        self.places[..after].last().copied().unwrap_or_default()
    }
}

/// Reads and decodes a file line by line.
struct LineReader {
    bytes: Box<dyn BufRead + Send>,
    charset: Charset,
    /// The byte order of UTF-16. Other charsets have line ends of one byte.
    units: Option<ByteOrder>,
    raw: Vec<u8>,
    text: String,
    at: usize,
    /// Bytes of the file up to the end of the text.
    consumed: u64,
    /// A longer line is refused.
    longest: Option<u64>,
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

impl LineReader {
    /// `BOMInputStream` removes a UTF-8 mark whatever the encoding is; a UTF-16 mark determines the byte order.
    fn new(mut bytes: Box<dyn BufRead + Send>, mut charset: Charset) -> io::Result<LineReader> {
        let start = bytes.fill_buf()?;
        let mut mark = 0;
        if start.starts_with(UTF8_MARK) {
            mark = UTF8_MARK.len();
        } else if charset.name() == "UTF-16" {
            let little = start.starts_with(&[0xff, 0xfe]);
            mark = if little || start.starts_with(&[0xfe, 0xff]) {
                2
            } else {
                0
            };
            charset =
                Charset::find(if little { "UTF-16LE" } else { "UTF-16BE" }).unwrap_or(charset);
        }
        bytes.consume(mark);
        let units = match charset.name() {
            "UTF-16BE" => Some(ByteOrder::Big),
            "UTF-16LE" => Some(ByteOrder::Little),
            _ => None,
        };
        Ok(LineReader {
            bytes,
            charset,
            units,
            raw: Vec::new(),
            text: String::new(),
            at: 0,
            consumed: mark as u64,
            longest: None,
        })
    }

    /// A reader of a text that is already in memory.
    fn of_text(text: String) -> LineReader {
        LineReader {
            bytes: Box::new(io::empty()),
            charset: Charset::UTF_8,
            units: None,
            raw: Vec::new(),
            text,
            at: 0,
            consumed: 0,
            longest: None,
        }
    }

    /// The byte offset in the file of the text ahead; `None` once part of that text has been read.
    fn row_start(&self) -> Option<u64> {
        (self.at == 0).then(|| self.consumed - self.raw.len() as u64)
    }

    /// Reads up to the next line feed unless there is text ahead; false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at < self.text.len() {
            return Ok(true);
        }
        self.raw.clear();
        loop {
            let read = match self.longest {
                None => self.bytes.read_until(b'\n', &mut self.raw)?,
                Some(longest) => {
                    let mut rest = io::Read::take(&mut self.bytes, longest);
                    rest.read_until(b'\n', &mut self.raw)?
                }
            };
            if self
                .longest
                .is_some_and(|longest| self.raw.len() as u64 >= longest)
            {
                let why = format!("a line has more than {} KiB", self.raw.len() >> 10);
                return Err(io::Error::other(why));
            }
            let low_byte_misses = match self.units {
                None => break,
                Some(ByteOrder::Big)
                    if self.raw.ends_with(&[0, b'\n']) && self.raw.len().is_multiple_of(2) =>
                {
                    break;
                }
                Some(ByteOrder::Big) => false,
                Some(ByteOrder::Little) => {
                    self.raw.ends_with(b"\n") && !self.raw.len().is_multiple_of(2)
                }
            };
            if low_byte_misses {
                let next = self.bytes.fill_buf()?.first().copied();
                if let Some(next) = next {
                    self.raw.push(next);
                    self.bytes.consume(1);
                }
                if next == Some(0) {
                    break;
                }
            }
            if read == 0 {
                break;
            }
        }
        if self.raw.is_empty() {
            return Ok(false);
        }
        self.consumed += self.raw.len() as u64;
        self.at = 0;
        self.text.clear();
        self.text.push_str(&self.charset.decode(&self.raw));
        Ok(!self.text.is_empty())
    }

    fn peek(&mut self) -> io::Result<Option<char>> {
        self.fill()?;
        Ok(self.text[self.at..].chars().next())
    }

    fn next(&mut self) -> io::Result<Option<char>> {
        let next = self.peek()?;
        self.at += next.map(char::len_utf8).unwrap_or(0);
        Ok(next)
    }

    /// `BufferedReader#readLine`: the range of the next line in the text, without its line end.
    fn line(&mut self) -> io::Result<Option<Range<usize>>> {
        if !self.fill()? {
            return Ok(None);
        }
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let ends = if rest[end..].starts_with("\r\n") {
            2
        } else {
            (rest.len() - end).min(1)
        };
        self.at += end + ends;
        Ok(Some(start..start + end))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldState {
    Initial,
    Plain,
    Quoted,
    /// After a quote inside a quoted field.
    QuoteInside,
}

/// `CSVSaveService#csvReadFile`. On a fault, the reader has consumed the offending character.
fn fields(reader: &mut LineReader, delimiter: char) -> Result<Vec<String>, RowFailure> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut field_state = FieldState::Initial;
    let mut ended_field = false;
    while let Some(c) = reader.next()? {
        let ends = c == delimiter || c == '\n' || c == '\r';
        ended_field = field_state != FieldState::Quoted && ends;
        match field_state {
            FieldState::Initial if c == QUOTE => {
                field_state = FieldState::Quoted;
                ended_field = false;
            }
            FieldState::Plain if c == QUOTE => {
                return Err(RowFailure::Io(format!(
                    "java.io.IOException: Cannot have quote-char in plain field:[{field}{QUOTE}]"
                )));
            }
            FieldState::Initial | FieldState::Plain if ends => field_state = FieldState::Initial,
            FieldState::Initial | FieldState::Plain => {
                field.push(c);
                field_state = FieldState::Plain;
            }
            FieldState::Quoted if c == QUOTE => field_state = FieldState::QuoteInside,
            FieldState::Quoted => field.push(c),
            FieldState::QuoteInside if c == QUOTE => {
                field.push(QUOTE);
                field_state = FieldState::Quoted;
                ended_field = false;
            }
            FieldState::QuoteInside if ends => field_state = FieldState::Initial,
            FieldState::QuoteInside => {
                let message = format!(
                    "java.io.IOException: Cannot have single quote-char in quoted field:[{field}{QUOTE}]"
                );
                return Err(RowFailure::Io(message));
            }
        }
        if ended_field {
            if c == '\r' && reader.peek()? == Some('\n') {
                reader.next()?;
            }
            fields.push(std::mem::take(&mut field));
            if c == '\n' || c == '\r' {
                return Ok(fields);
            }
        }
    }
    if field_state == FieldState::Quoted {
        return Err(RowFailure::Io(format!(
            "java.io.IOException: Missing trailing quote-char in quoted field:[\"{field}]"
        )));
    }
    if !field.is_empty() || ended_field || field_state == FieldState::QuoteInside {
        fields.push(field);
    }
    Ok(fields)
}

/// The fields of a header line (`CSVSaveService#csvSplitString`).
///
/// # Errors
/// When its quotes are wrong.
pub fn split_header(line: &str, delimiter: char) -> Result<Vec<String>, RowFailure> {
    fields(&mut LineReader::of_text(line.to_owned()), delimiter)
}

/// The character set of a file whose encoding is not given: UTF-8 after its mark, or else the JVM's.
fn unnamed_charset(file: &mut File, default: &Charset) -> io::Result<Charset> {
    let mut mark = [0; 3];
    let has_mark = io::Read::read_exact(file, &mut mark).is_ok() && mark == *b"\xef\xbb\xbf";
    file.rewind()?;
    Ok(if has_mark {
        Charset::UTF_8
    } else {
        default.clone()
    })
}

/// A whole file in memory, and where its rows begin.
pub struct Records {
    text: String,
    starts: Vec<usize>,
}

impl Records {
    /// Reads a file. A relative name that does not exist is looked up in `base_dir`.
    ///
    /// # Errors
    /// When it cannot be read, or its quotes are wrong.
    pub fn read(
        name: &str,
        base_dir: &Path,
        charset: &Charset,
        delimiter: char,
    ) -> Result<Records, RowFailure> {
        let bytes = read_regular(&file_server::resolve(name, base_dir))?;
        let mut reader = LineReader::of_text(charset.decode(&bytes).into_owned());
        let mut starts = vec![0];
        while reader.at < reader.text.len() {
            fields(&mut reader, delimiter)?;
            starts.push(reader.at);
        }
        if starts.len() > 1 {
            starts.pop(); // the end of the file is not a row
        }
        Ok(Records {
            text: reader.text,
            starts,
        })
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Drops the first line, which is not a row.
    pub fn forget_first(&mut self) {
        self.starts.remove(0);
    }

    /// The fields of a row.
    ///
    /// # Errors
    /// When its quotes are wrong.
    pub fn fields(&self, number: usize, delimiter: char) -> Result<Vec<String>, RowFailure> {
        let end = self.starts.get(number + 1).copied();
        let row = &self.text[self.starts[number]..end.unwrap_or(self.text.len())];
        split_header(row, delimiter)
    }
}

#[cfg(test)]
mod tests;
