//! The program's log (`-j`, `jmeter.log`), in the line format of JMeter's Log4j configuration, `%d %p %c{1.}: %m%n`:
//! `2026-11-21 01:33:43,335 INFO o.a.j.s.SampleResult: text`. Unlike JMeter's, it has no control characters, which a terminal
//! would obey, and the program's own lines have no secrets.

mod levels;
pub mod options;
mod queue;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_java::date::SimplePattern;
use drumfire_platform::causes::cause;
use drumfire_platform::files::claim;
use drumfire_platform::secrets;
use drumfire_platform::words::counted;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::log::options::LogOptions;
use crate::terminal::escape;
pub use levels::Levels;
pub use queue::{set_queue_levels, start_queue};

/// The field with which an event overrides its category, for categories that are known only at run time, such as the name
/// of a script's logger.
const CATEGORY_FIELD: &str = "category";

/// Creates the log file anew, as JMeter does, and sends all events there. Returns its path, and what was wrong with the
/// levels that the user set.
///
/// # Errors
/// If the file cannot be written, or a log has already been started.
pub fn start(
    options: &LogOptions,
    now: Timestamp,
    zone: &TimeZone,
) -> io::Result<(PathBuf, Vec<String>)> {
    let path = PathBuf::from(file_name(&options.file, now, zone)?);
    let file = Arc::new(Mutex::new(LogFile::create(&path)?));
    let (levels, faults) = Levels::new(&options.levels);
    let log = JmeterLog {
        file: file.clone(),
        levels,
        zone: zone.clone(),
    };
    tracing_subscriber::registry()
        .with(log)
        .try_init()
        .map_err(io::Error::other)?;
    for fault in &faults {
        tracing::warn!("{fault}");
    }
    tracing::info!("drumfire {}", env!("CARGO_PKG_VERSION"));
    file.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .empty()?;
    Ok((path, faults))
}

/// The log's file. Its first line replaces those of an earlier run.
///
/// The file is not emptied before that. ext4 writes a file that was emptied to the disk as soon as it is closed, and the next run
/// that emptied it would wait for that write: milliseconds, which is most of a short run.
struct LogFile {
    /// Opened for appending, since runs at the same time may share a log.
    file: File,
    /// The file with earlier lines, opened for writing at its start.
    earlier: Option<File>,
}

impl LogFile {
    fn create(path: &Path) -> io::Result<LogFile> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // The lines of a run that is under way stay, and this run's follow them.
        let is_own = claim(&file).is_ok();
        let found = file.metadata()?;
        let mut earlier = None;
        if is_own && found.is_file() && found.len() > 0 {
            if cfg!(windows) {
                // The lock would keep a second handle from writing.
                file.set_len(0)?;
            } else {
                earlier = Some(OpenOptions::new().write(true).open(path)?);
            }
        }
        Ok(LogFile { file, earlier })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(mut earlier) = self.earlier.take() else {
            return self.file.write_all(line);
        };
        earlier.write_all(line)?;
        earlier.set_len(line.len() as u64)
    }

    /// Removes earlier lines, if no line has replaced them because the levels let none through.
    fn empty(&mut self) -> io::Result<()> {
        match self.earlier.take() {
            Some(earlier) => earlier.set_len(0),
            None => Ok(()),
        }
    }
}

/// Replaces patterns in single quotes with the date (`NewDriver.replaceDateFormatInFileName`).
fn file_name(written: &str, now: Timestamp, zone: &TimeZone) -> io::Result<String> {
    let wrong = |what: &str| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{what} in the file name: {written}"),
        )
    };
    let mut name = Vec::new();
    for (index, part) in written.split('\'').enumerate() {
        if index % 2 == 0 {
            name.extend_from_slice(part.as_bytes());
            continue;
        }
        let pattern = SimplePattern::compile(part).ok_or_else(|| wrong("not a date pattern"))?;
        pattern.write(now.as_millisecond(), zone, &mut name);
    }
    if written.matches('\'').count() % 2 == 1 {
        return Err(wrong("an unpaired single quote"));
    }
    String::from_utf8(name).map_err(|_| wrong("bytes that are not text"))
}

/// Lines that the log has lost, and why; `None` if it has them all.
static LOSS: Mutex<Option<(u64, String)>> = Mutex::new(None);

/// Says how many lines were not written to the log, and why. Later calls report only what was lost since.
pub fn take_loss(path: &Path) -> Option<String> {
    let (lines, why) = LOSS.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    let lines = counted(lines, "line");
    Some(format!("the log `{}` lacks {lines}: {why}", path.display()))
}

fn note_loss(error: &io::Error) {
    let mut loss = LOSS.lock().unwrap_or_else(PoisonError::into_inner);
    let (lines, _) = loss.get_or_insert_with(|| (0, cause(error)));
    *lines += 1;
}

struct JmeterLog {
    file: Arc<Mutex<LogFile>>,
    levels: Levels,
    zone: TimeZone,
}

impl<S: Subscriber> Layer<S> for JmeterLog {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // A script's category is known only when the event arrives.
        metadata.fields().field(CATEGORY_FIELD).is_some()
            || self
                .levels
                .let_through(metadata.target(), *metadata.level())
    }

    /// The most verbose level in use. Events beyond it cost only one comparison, which matters because libraries log much
    /// for each request.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.levels.most())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let level = *event.metadata().level();
        let category = match &parts.category {
            Some(category) if !self.levels.let_through(category, level) => return,
            Some(category) => category,
            None => event.metadata().target(),
        };
        let line = line(
            Timestamp::now(),
            &self.zone,
            level.as_str(),
            category,
            &parts.harmless_message(),
        );
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write(line.as_bytes()) {
            note_loss(&error);
        }
    }
}

#[derive(Default)]
struct Parts {
    message: String,
    category: Option<String>,
}

impl Parts {
    /// The message without control characters and, unless a script wrote it, without secrets.
    fn harmless_message(&self) -> String {
        let message = match self.category {
            Some(_) => Cow::Borrowed(self.message.as_str()),
            None => secrets::text(&self.message),
        };
        escape::lines(&message).into_owned()
    }
}

impl Visit for Parts {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == CATEGORY_FIELD {
            self.category = Some(value.to_owned());
        } else {
            self.record_debug(field, &format_args!("{value}"));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => {
                let others = std::mem::take(&mut self.message);
                write!(self.message, "{value:?}{others}")
            }
            name => write!(self.message, " {name}={value:?}"),
        };
    }
}

fn line(now: Timestamp, zone: &TimeZone, level: &str, category: &str, message: &str) -> String {
    format!(
        "{} {level} {}: {message}\n",
        now.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S,%3f"),
        shorten(category)
    )
}

/// Log4j's `%c{1.}`: every part but the last is cut to its first character.
fn shorten(category: &str) -> String {
    let parts: Vec<&str> = category
        .split(['.', ':'])
        .filter(|part| !part.is_empty())
        .collect();
    let mut short = String::new();
    if let Some((last, packages)) = parts.split_last() {
        for package in packages {
            short.extend(package.chars().next());
            short.push('.');
        }
        short.push_str(last);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_jmeters() {
        let now = Timestamp::from_millisecond(1_795_224_823_335).expect("a time");
        let text = line(
            now,
            &TimeZone::UTC,
            "INFO",
            "org.apache.jmeter.samplers.SampleResult",
            "sleep=5000",
        );
        assert_eq!(
            text,
            "2026-11-21 01:33:43,335 INFO o.a.j.s.SampleResult: sleep=5000\n"
        );
    }

    #[test]
    fn the_first_line_replaces_those_of_an_earlier_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/jmeter.log");
        let text = || std::fs::read_to_string(&path).expect("it is there");
        let mut first = LogFile::create(&path).expect("there is room");
        first.write(b"long enough\n").expect("there is room");
        first.write(b"more\n").expect("there is room");
        // A run at the same time adds its lines.
        let mut beside = LogFile::create(&path).expect("there is room");
        beside.write(b"beside\n").expect("there is room");
        assert_eq!(text(), "long enough\nmore\nbeside\n");
        drop((first, beside));
        let mut next = LogFile::create(&path).expect("there is room");
        next.write(b"short\n").expect("there is room");
        next.empty().expect("there is room");
        next.write(b"end\n").expect("there is room");
        assert_eq!(text(), "short\nend\n");
        drop(next);
        let mut silent = LogFile::create(&path).expect("there is room");
        silent.empty().expect("there is room");
        assert_eq!(text(), "");
    }

    #[test]
    fn categories_are_shortened_like_log4j_does() {
        assert_eq!(shorten("org.apache.jmeter.JMeter"), "o.a.j.JMeter");
        assert_eq!(shorten("drumfire_engine::walk"), "d.walk");
        assert_eq!(shorten("single"), "single");
        assert_eq!(shorten(""), "");
    }

    #[test]
    fn dates_between_quotes_become_part_of_the_name() {
        let now = Timestamp::from_millisecond(1_795_224_823_335).expect("a time");
        let name = |written| file_name(written, now, &TimeZone::UTC);
        assert_eq!(
            name("jmeter_'yyyyMMddHHmmss'.log").expect("good"),
            "jmeter_20261121013343.log"
        );
        assert_eq!(name("plain.log").expect("good"), "plain.log");
        assert!(name("jmeter_'yyyy.log").is_err());
    }
}
