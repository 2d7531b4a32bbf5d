//! `FileToString`, `StringFromFile` and `StringToFile`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use drumfire_java::JvmDefaults;
use drumfire_java::charset::Charset;
use drumfire_java::values::{parse_bool, parse_int};

use crate::call::{Args, CallError, CallResult, Stateful, store};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// The result of a function whose file cannot be read.
const ERROR: &str = "**ERR**";

/// `BufferedReader.readLine` over a text: `\n`, `\r` or `\r\n` end a line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[end..];
        rest = rest
            .strip_prefix("\r\n")
            .or_else(|| rest.strip_prefix(['\n', '\r']))
            .unwrap_or(rest);
        Some(line)
    })
}

/// `__FileToString`: relative to the current folder; in the JVM's character set by default.
pub(super) fn file_to_string<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let file = args.text(0, scope)?;
    let encoding = args.trimmed(1, scope)?;
    let variable = args.trimmed(2, scope)?;
    let charset = match &*encoding {
        "" => JvmDefaults::of_process().charset.clone(),
        name => Charset::for_name(name)?,
    };
    let value = match drumfire_platform::files::read_regular(Path::new(&*file)) {
        Ok(bytes) => charset.decode(&bytes).into_owned(),
        Err(error) => {
            scope.log_failure(Level::Warn, &format!("Could not read file: {file} {error}"));
            ERROR.to_owned()
        }
    };
    store(&variable, &value, scope);
    Ok(Text::Owned(value))
}

/// Serializes all writers of files; JMeter has a lock per file.
static WRITING: Mutex<()> = Mutex::new(());

/// `__StringToFile`: returns whether the text was written. `\n` in the text becomes a line feed.
pub(super) fn string_to_file<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let file = args.trimmed(0, scope)?;
    let content = args.text(1, scope)?.replace("\\n", "\n");
    let append = args.trimmed(2, scope)?;
    let append = append.is_empty() || parse_bool(&append);
    let encoding = args.text(3, scope)?;
    let name = if encoding.is_empty() {
        "UTF-8"
    } else {
        &*encoding
    };
    let written = match Charset::find(name) {
        _ if file.is_empty() => Err(format!("File name '{file}' is empty")),
        None => Err(format!("The encoding of file is not supported: {name}")),
        Some(charset) => write(Path::new(&*file), &charset.encode(&content), append)
            .map_err(|error| format!("The file {file} can't be written to: {error}")),
    };
    match written {
        Ok(()) => Ok(Text::Literal("true")),
        Err(message) => {
            scope.log_failure(Level::Error, &message);
            Ok(Text::Literal("false"))
        }
    }
}

fn write(file: &Path, bytes: &[u8], append: bool) -> io::Result<()> {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = File::options();
    options.create(true).write(true);
    if append {
        options.append(true);
    } else {
        options.truncate(true);
    }
    options.open(file)?.write_all(bytes)
}

/// `StringFromFile`: one reader per call in the plan, shared by all users.
#[derive(Debug, Default)]
pub(super) struct StringFromFile(Mutex<OpenFile>);

#[derive(Debug, Default)]
struct OpenFile {
    opened: bool,
    name: String,
    reader: Option<BufReader<File>>,
    /// The number of the next file; `None` before the first.
    current: Option<i32>,
    end: Option<i32>,
}

impl StringFromFile {
    pub(super) fn prepare(_: Args<'_>, _: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
        Ok(Box::<StringFromFile>::default())
    }
}

impl Stateful for StringFromFile {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let variable = match args.len() {
            0 | 1 => Text::Literal("StringFromFile_"),
            _ => args.trimmed(1, scope)?,
        };
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !reading.opened {
            reading.opened = true;
            reading.open(args, scope)?;
        }
        match reading.next_line(args, scope)? {
            Some(line) => {
                store(&variable, &line, scope);
                Ok(Text::Owned(line))
            }
            None => {
                scope.vars_mut().remove_named(&variable);
                Ok(crate::call::NULL)
            }
        }
    }
}

impl OpenFile {
    /// `StringFromFile.openFile`: with a start number, the file name is a `DecimalFormat`.
    fn open(&mut self, args: Args<'_>, scope: &mut dyn Scope) -> Result<(), Raised> {
        self.reader = None;
        self.name = args.text(0, scope)?.into_string();
        let start = number(args, 2, "Start", scope)?;
        let current = *self.current.get_or_insert(start.unwrap_or(1));
        self.end = number(args, 3, "End", scope)?;
        if args.len() >= 3 {
            if self.end.is_some_and(|end| current > end) {
                let message = format!("{} No more files to process", scope.thread_name());
                scope.log(Level::Info, &message);
                return Ok(());
            }
            if start.is_some() {
                self.name = super::decimal_format::format(&self.name, i64::from(current))?;
            }
            self.current = Some(current.wrapping_add(1));
        }
        let message = format!("{} opening file {}", scope.thread_name(), self.name);
        scope.log(Level::Info, &message);
        match drumfire_platform::files::open_regular(Path::new(&self.name)) {
            Ok(file) => self.reader = Some(BufReader::new(file)),
            Err(error) => {
                let message = format!("openFile() error: {}: {error}", self.name);
                scope.log_failure(Level::Error, &message);
            }
        }
        Ok(())
    }

    /// The next line; at the end of a file, continues with the next file or restarts the same one.
    /// `None` is Java's `null`, which an empty file gives.
    fn next_line(
        &mut self,
        args: Args<'_>,
        scope: &mut dyn Scope,
    ) -> Result<Option<String>, Raised> {
        let Some(reader) = &mut self.reader else {
            return self.no_file();
        };
        let line = match read_line(reader) {
            Ok(Some(line)) => return Ok(Some(line)),
            Ok(None) => {
                self.open(args, scope)?;
                match &mut self.reader {
                    Some(reader) => read_line(reader),
                    None => return self.no_file(),
                }
            }
            Err(error) => Err(error),
        };
        line.or_else(|error| {
            let message = format!("{} error reading file {error}", scope.thread_name());
            scope.log_failure(Level::Error, &message);
            Ok(Some(ERROR.to_owned()))
        })
    }

    /// Handles a missing file: stops the user if files are numbered, and returns an error text
    /// otherwise.
    fn no_file(&self) -> Result<Option<String>, Raised> {
        match self.end {
            Some(_) => Err(Raised::StopThread("End of sequence".to_owned())),
            None => Ok(Some(ERROR.to_owned())),
        }
    }
}

/// The number of the first or last file; `None` if the argument is not a number.
fn number(
    args: Args<'_>,
    index: usize,
    what: &str,
    scope: &mut dyn Scope,
) -> Result<Option<i32>, Raised> {
    let Some(text) = args.given(index, scope)? else {
        return Ok(None);
    };
    let number = parse_int(&text);
    if number.is_none() {
        let message = format!(
            "Exception parsing {text} as int, value will not be considered as {what} Number sequence"
        );
        scope.log(Level::Warn, &message);
    }
    Ok(number)
}

/// `BufferedReader.readLine` in strict UTF-8.
fn read_line(reader: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let buffer = reader.fill_buf()?;
        let Some(first) = buffer.first() else {
            break;
        };
        if let Some(end) = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            line.extend_from_slice(&buffer[..end]);
            let carriage_return = buffer[end] == b'\r';
            reader.consume(end + 1);
            if carriage_return && reader.fill_buf()?.first() == Some(&b'\n') {
                reader.consume(1);
            }
            return utf8(line).map(Some);
        }
        debug_assert!(!matches!(first, b'\n' | b'\r'));
        let len = buffer.len();
        line.extend_from_slice(buffer);
        reader.consume(len);
    }
    if line.is_empty() {
        return Ok(None);
    }
    utf8(line).map(Some)
}

fn utf8(line: Vec<u8>) -> io::Result<String> {
    String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
