//! Access Log Sampler (`AccessLogSampler`): sends the requests in the lines of a server's log, one line per sample.
//!
//! Properties: `logFile`, `parserClassName` (`TCLogParser`: each user reads the log, plain or gzip, for itself, and ends with it;
//! `SharedTCLogParser`, `OrderPreservingLogParser`: all users share the log and repeat it for ever), `filterClassName`
//! (`LogFilter`, which accepts all lines and restarts a log at its end), `protocol`, `domain`, `portString`, `imageParsing`.
//! Everything else of an HTTP Request comes from HTTP Request Defaults and managers in its scope. It sends requests as the
//! implementation `Java` does.
//!
//! Differences: logs are read as UTF-8. A shared log with only blank lines has no entries, while JMeter's thread would look for
//! one for ever. If another parser or filter is set, such as `SessionFilter`, the sampler's own Java class runs it.

use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use drumfire_elements::samplers::access_log_sampler as facts;
use drumfire_expr::{Random, Template};
use drumfire_platform::files::open_regular;
use drumfire_results::Sample;
use drumfire_web::access_log::{LogParser, NoRequest};
use flate2::read::MultiGzDecoder;

use super::http::edits::Edit;
use super::http::{self, AccessLogServer, HttpSampler};
use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::elements::config::csv_file::{CsvFile, CsvFiles, CsvReadOptions, RowFailure};
use crate::resolve::Element;
use crate::run::context::{Context, StateId};
use crate::run::needs::Needs;
use crate::run::property::Flag;
use crate::run::request::{Request, RequestArgument, parse_arguments};
use crate::run::sampler::{RequestView, Sampler, SamplerTurn};

const PACKAGE: &str = "org.apache.jmeter.protocol.http.util.accesslog.";
/// `GZIPInputStream.GZIP_MAGIC`, the lower byte first.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// After this number of blank lines in a row, the search in a log that repeats is given up.
const MAX_BLANK_LINES: u32 = 1_000_000;

pub struct AccessLogSampler {
    pub http: HttpSampler,
    log_file: Template,
    has_parser: bool,
    is_shared: bool,
    has_filter: bool,
    state: StateId,
}

/// One user's log and parser.
struct AccessLogUserState {
    log: Log,
    parser: LogParser,
    /// Whether the last call found an entry (`AccessLogSampler#count`).
    found: bool,
}

enum Log {
    Own {
        path: String,
        reader: Option<Box<dyn BufRead>>,
    },
    Shared(Arc<CsvFile>),
}

/// The sampler as decoded; `None` if its own class has to run it.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<AccessLogSampler> {
    let (parser, filter) = (class(d, facts::PARSER.name), class(d, facts::FILTER.name));
    let is_shared = match parser.trim() {
        "" | "TCLogParser" => false,
        "SharedTCLogParser" | "OrderPreservingLogParser" => true,
        _ => return None,
    };
    let has_filter = match filter.trim() {
        "" => false,
        "LogFilter" => true,
        _ => return None,
    };
    let server = AccessLogServer {
        protocol: d.template(facts::PROTOCOL.name),
        domain: d.template(facts::DOMAIN.name),
        port: d.template(facts::PORT.name),
        image_parser: Flag::Fixed(drumfire_java::values::property_bool(
            &d.text_now(facts::EMBEDDED_RESOURCES.name),
        )),
    };
    Some(AccessLogSampler {
        http: http::decode_at(d, configs, needs, Some(server)),
        log_file: d.template(facts::LOG_FILE.name),
        has_parser: !parser.trim().is_empty(),
        is_shared,
        has_filter,
        state: d.new_state(),
    })
}

fn class(d: &mut Decoder, name: &str) -> String {
    let class = d.text_now(name);
    class
        .strip_prefix(PACKAGE)
        .map(str::to_owned)
        .unwrap_or(class)
}

impl AccessLogSampler {
    /// `AccessLogSampler#sampleWithParser`.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        match self.next_entry(cx) {
            Ok(entry) => {
                http::user_mut(cx).edits.add(entry);
                self.http.sample_under_address(cx, name).await
            }
            Err(why) => Some(self.http.nameless(cx, &why.exception())),
        }
    }

    fn next_entry(&self, cx: &mut Context) -> Result<LoggedChange, NoRequest> {
        let mut bound = match cx.take_state::<AccessLogUserState>(self.state) {
            Some(bound) => bound,
            None => Box::new(self.bind(cx)?),
        };
        let entry = bound.next();
        match &entry {
            Ok(_) => bound.found = true,
            Err(NoRequest::Ended) => {
                if !bound.found || !self.has_filter {
                    tracing::info!("Stopping: {}", cx.thread_name);
                    cx.end();
                }
                if let Some(cookies) = self.http.cookie_manager() {
                    cookies.clear(cx);
                }
                bound.found = false;
            }
            Err(_) => {}
        }
        cx.put_state(self.state, bound);
        entry
    }

    /// `AccessLogSampler#instantiateParser`.
    fn bind(&self, cx: &mut Context) -> Result<AccessLogUserState, NoRequest> {
        let path = self.log_file.eval(cx).into_string();
        if !self.has_parser || path.trim().is_empty() {
            if self.has_parser {
                tracing::error!("No log file specified");
            }
            return Err(NoRequest::Parser);
        }
        let log = if self.is_shared {
            let shared = cx.shared.clone();
            let files = shared.statics.of::<CsvFiles>();
            let file = files.reserve(
                &path,
                "",
                &path,
                false,
                &shared.program.base_dir,
                shared.part.sharing(),
            );
            Log::Shared(file.map_err(|_| NoRequest::Unreadable)?)
        } else {
            Log::Own { path, reader: None }
        };
        Ok(AccessLogUserState {
            log,
            parser: LogParser::default(),
            found: false,
        })
    }
}

impl AccessLogUserState {
    fn next(&mut self) -> Result<LoggedChange, NoRequest> {
        let line = self
            .log
            .line()
            .map_err(|fault| {
                tracing::error!("Problem creating samples: {fault}");
                NoRequest::Unreadable
            })?
            .ok_or(NoRequest::Ended)?;
        let request = self.parser.parse(&line).ok_or(NoRequest::Unreadable)?;
        Ok(LoggedChange {
            method: self.parser.method(),
            path: request.path.to_owned(),
            query: request.query.map(str::to_owned),
        })
    }
}

impl Log {
    /// The next line that is not empty; `None` at the end, after which the log begins again.
    fn line(&mut self) -> Result<Option<String>, ExceptionText> {
        match self {
            Log::Own { path, reader } => {
                let open = match reader {
                    Some(open) => open,
                    None => {
                        let opened = open(path);
                        reader.insert(opened.map_err(|error| format!("{path}: {error}"))?)
                    }
                };
                // A read error counts as the end of the file (`TCLogParser#parse`).
                let line = next_line(open).unwrap_or_else(|error| {
                    tracing::error!("Error reading log file: {error}");
                    None
                });
                if line.is_none() {
                    *reader = None;
                }
                Ok(line)
            }
            Log::Shared(file) => {
                let reading = CsvReadOptions {
                    recycle: true,
                    skips_first_line: false,
                };
                for _ in 0..MAX_BLANK_LINES {
                    let line = file
                        .line(reading, |line| line.map(str::to_owned))
                        .map_err(|(RowFailure::Argument(fault) | RowFailure::Io(fault))| fault)?;
                    if line.as_deref() != Some("") {
                        return Ok(line);
                    }
                }
                Ok(None)
            }
        }
    }
}

fn open(path: &str) -> io::Result<Box<dyn BufRead>> {
    let mut file = open_regular(Path::new(path))?;
    let mut magic = [0; 2];
    let is_gzip = file.read_exact(&mut magic).is_ok() && magic == GZIP_MAGIC;
    file.rewind()?;
    Ok(if is_gzip {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::new(file))
    })
}

fn next_line(reader: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = text.trim_end_matches(['\r', '\n']);
        if !line.is_empty() {
            return Ok(Some(line.to_owned()));
        }
    }
}

/// A line of the log, as a change of the request.
struct LoggedChange {
    method: Option<&'static str>,
    path: String,
    query: Option<String>,
}

impl Edit for LoggedChange {
    fn apply(&self, _: &mut Random, request: &mut Request) {
        request.method = self.method.unwrap_or("GET").to_owned();
        request.path.clone_from(&self.path);
        let query = self.query.as_deref().unwrap_or_default();
        let arguments = parse_arguments(query)
            .map(|(name, value, metadata)| RequestArgument::plain(name, value, metadata));
        request.arguments.extend(arguments);
    }
}

impl Sampler for AccessLogSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { self.sample(cx, name).await })
    }

    fn as_request(&self) -> Option<&dyn RequestView> {
        Some(&self.http)
    }
}
