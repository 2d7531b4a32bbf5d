//! SSE Sampler (`com.jmeter.sse.SSESampler`): listens to server-sent events for some seconds. The sample's response has a line an
//! event.
//!
//! Properties: `SSESampler.url`, `.duration` in seconds (10), `.headers`, a line each.
//!
//! Of the managers in scope none applies, as with the plugin. Differences: the plugin hears only five servers' streams of a host at
//! a time, since its client has that limit, and 64 in all; here all users listen. Requests use HTTP/1.1, and no proxy. As with HTTP
//! Requests, a server's certificate is verified only with `drumfire.tls_verify`. The property `drumfire.stream.max_event_bytes`
//! bounds an event, and `drumfire.http.max_body_bytes` the response.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_elements::samplers::sse_sampler as facts;
use drumfire_expr::Template;
use drumfire_http::{
    BodyWatch, Decode, Failure, FailureKind, Keep, Limits, Outgoing, Phase, Session, WantedParts,
    Watched, exchange,
};
use drumfire_java::values;
use drumfire_platform::secrets::addresses;
use drumfire_results::{Sample, SharedText};
use drumfire_web::stream::{SseDialect, StreamParser};

use super::okhttp::{self, OkRequest};
use super::rules::StreamLimits;
use super::tally::Tally;
use crate::decode::Decoder;
use crate::elements::samplers::http::HttpSettings;
use crate::elements::samplers::http::decode::settings;
use crate::elements::samplers::http::state::{user, user_mut, worker};
use crate::run::context::{Context, Unfinished};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// The plugin's limit for opening a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The code of failures without a response.
const NO_RESPONSE: &str = "500";

pub struct SseSampler {
    url: Template,
    duration: Template,
    headers: Template,
    limits: StreamLimits,
    settings: Arc<HttpSettings>,
    needs: Needs,
}

/// Decodes the sampler.
pub fn decode(d: &mut Decoder, needs: Needs) -> SseSampler {
    let duration = d.optional(facts::DURATION.name);
    SseSampler {
        url: d.template(facts::URL.name),
        duration: duration.unwrap_or_else(|| Template::raw(facts::DURATION.absent)),
        headers: d.template(facts::HEADERS.name),
        limits: StreamLimits::read(&d.settings().properties),
        settings: settings(d),
        needs,
    }
}

/// How Java prints what an event does not have.
const NULL: &[u8] = b"null";

/// How a sample failed.
struct SseFailure {
    code: SharedText,
    message: String,
}

impl SseFailure {
    fn new(code: impl Into<SharedText>, message: impl Into<String>) -> SseFailure {
        SseFailure {
            code: code.into(),
            message: message.into(),
        }
    }

    /// A failure that the plugin's listener hears of.
    fn heard(code: impl Into<SharedText>, message: &str) -> SseFailure {
        SseFailure::new(code, format!("Error: {message}"))
    }
}

impl SseSampler {
    /// `SSESampler#sample`. An address or a header that the client refuses ends it with an exception, and so without a sample.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        let url = self.url.eval(cx).into_string();
        let headers = self.headers.eval(cx).into_string();
        let duration = self.duration.eval(cx).into_string();
        let request = match OkRequest::new(&url, &headers) {
            Ok(request) => request,
            Err(message) => {
                let element = name.eval(cx).into_string();
                tracing::error!(
                    "Error while processing sampler: '{element}'. java.lang.IllegalArgumentException: {}",
                    addresses(&message)
                );
                return None;
            }
        };
        let label = name.eval(cx);
        let sample = Sample::new(cx.label(label), cx.thread_name.clone());
        let mut sample = cx.worker.room.sample(sample);
        if self.needs.request {
            sample.sampler_data = Some(format!("Connecting to: {url}").into());
        }
        user_mut(cx).note_use();
        user(cx).joint.session.set_resolver(None);
        let begin_ns = cx.clock().now_ns();
        let begin = Instant::now();
        sample.start_ms = (begin_ns / 1_000_000) as i64;
        let watch = Rc::new(self.watch(cx, begin));
        let outcome = match values::parse_long(&duration) {
            None => Err(SseFailure::new(
                NO_RESPONSE,
                format!("Invalid duration value: '{duration}'"),
            )),
            Some(seconds) => {
                let seconds = u64::try_from(seconds).unwrap_or(0);
                let deadline = begin.checked_add(Duration::from_secs(seconds));
                let joint = Rc::clone(&user(cx).joint);
                let listening = self.listen(&joint.session, request, &watch, begin);
                match cx.attend_by(deadline, listening).await {
                    Ok(outcome) => outcome,
                    Err(Unfinished::TooLong) => Ok(()),
                    Err(Unfinished::Interrupted) => {
                        Err(SseFailure::new(NO_RESPONSE, "Thread interrupted: null"))
                    }
                }
            }
        };
        let end_ns = cx.clock().now_ns();
        sample.set_end((end_ns / 1_000_000) as i64);
        sample.service_us = (end_ns - begin_ns) / 1000;
        let heard = watch.0.take();
        if let Some(opened) = heard.opened {
            sample.mark_connect(cx.clock().ms(opened));
        }
        fill(&mut sample, heard, outcome, self.needs);
        Some(sample)
    }

    fn watch(&self, cx: &Context, begin: Instant) -> SseWatch {
        SseWatch(RefCell::new(Heard {
            begin: Some(begin),
            parser: Some(StreamParser::of_dialect(
                SseDialect::OkHttp,
                self.limits.event_bytes,
            )),
            most_bytes: worker(cx).http.sizes().body_bytes,
            keeps_lines: self.needs.body,
            ..Heard::default()
        }))
    }

    /// Sends the request and what follows it, and listens until the server ends the stream.
    async fn listen(
        &self,
        session: &Session,
        request: OkRequest,
        watch: &Rc<SseWatch>,
        begin: Instant,
    ) -> Result<(), SseFailure> {
        let mut request = request;
        let observer = Rc::clone(watch) as Rc<dyn BodyWatch>;
        loop {
            let unsent = |message: String| SseFailure::heard(NO_RESPONSE, &message);
            let (target, head) = request.wire().map_err(unsent)?;
            let permitted = self.settings.permit(&target.host);
            permitted.map_err(|error| unsent(error.message.unwrap_or_default().into_owned()))?;
            let out = Outgoing {
                keep_alive: request.keeps_connection(),
                watch: Some(&observer),
                begin,
                ..Outgoing::new(&head)
            };
            let want = WantedParts {
                keep: Keep::Nothing,
                decode: if request.inflates() {
                    Decode::PlainGzip
                } else {
                    Decode::Nothing
                },
                ..WantedParts::NOTHING
            };
            let limits = Limits {
                connect: Some(CONNECT_LIMIT),
                ..Limits::default()
            };
            match exchange(session, &target, out, want, limits).await {
                // OkHttp sends a request again whose kept connection turns out to be lost.
                Err(failure) if failure.reused && is_lost(&failure) => {}
                Err(failure) => {
                    let code = match failure.phase {
                        Phase::Body => watch.status().to_string().into(),
                        _ => SharedText::Static(NO_RESPONSE),
                    };
                    let message = match failure.kind {
                        FailureKind::EventTooLarge { limit } => {
                            format!(
                                "an event exceeds {limit} bytes ({})",
                                super::rules::MAX_EVENT_BYTES
                            )
                        }
                        _ => okhttp::failure(failure, &request.url, &target),
                    };
                    return Err(SseFailure::heard(code, &message));
                }
                Ok(response) => {
                    let follows = request.follow(&response).map_err(unsent);
                    session.worker().take_back(response);
                    if !follows? {
                        return watch.outcome();
                    }
                }
            }
        }
    }
}

/// Whether the server had closed the connection before the request came.
fn is_lost(failure: &Failure) -> bool {
    let kind = &failure.kind;
    failure.phase != Phase::Body
        && matches!(
            kind,
            FailureKind::ClosedBeforeResponse | FailureKind::Reset | FailureKind::BrokenPipe
        )
}

/// Fills the sample as the plugin does at its end.
fn fill(sample: &mut Sample, heard: Heard, outcome: Result<(), SseFailure>, needs: Needs) {
    let Heard { lines, chars, .. } = heard;
    let events = heard.tally.events();
    sample.encoding = Some(SharedText::Static("UTF-8"));
    sample.bytes = i64::try_from(chars).unwrap_or(i64::MAX);
    sample.body_bytes = chars;
    if needs.body {
        sample.response_data = Some(lines.into_bytes().into());
    }
    if heard.opened.is_some() {
        sample.stream = Some(Box::new(heard.tally.finish()));
    }
    match outcome {
        Ok(()) => {
            sample.set_ok();
            sample.message = format!("OK — {events} events received").into();
        }
        Err(failure) => {
            sample.code = failure.code;
            sample.message = failure.message.into();
        }
    }
}

impl Sampler for SseSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(self.sample(cx, name))
    }
}

/// The observer of one sample's responses (the plugin's `EventSourceListener`).
struct SseWatch(RefCell<Heard>);

/// The events so far.
#[derive(Default)]
struct Heard {
    begin: Option<Instant>,
    parser: Option<StreamParser>,
    tally: Tally,
    status: u16,
    /// The type of the last response's body; `None` if it has none that can be read.
    media_type: Option<String>,
    /// When the stream began.
    opened: Option<Instant>,
    /// The sample's response, if something reads it, and its length in Java's characters.
    lines: String,
    chars: u64,
    keeps_lines: bool,
    /// A longer response fails.
    most_bytes: u64,
}

impl SseWatch {
    fn status(&self) -> u16 {
        self.0.borrow().status
    }

    /// The outcome of a response that has ended (`RealEventSource.processResponse`).
    fn outcome(&self) -> Result<(), SseFailure> {
        let heard = &mut *self.0.borrow_mut();
        let status = heard.status.to_string();
        if !(200..300).contains(&heard.status) {
            return Err(SseFailure::heard(status, "Unknown SSE failure"));
        }
        if heard.opened.is_none() {
            let shown = heard.media_type.as_deref().unwrap_or("null");
            let message = format!("Invalid content-type: {shown}");
            return Err(SseFailure::heard(status, &message));
        }
        let parser = heard.parser.as_mut();
        let unended = parser.and_then(|parser| parser.finish(&mut |_| {}));
        match unended.as_ref().and_then(okhttp::unended) {
            Some(message) => Err(SseFailure::heard(status, &message)),
            None => Ok(()),
        }
    }
}

impl BodyWatch for SseWatch {
    fn begin(&self, status: u16, content_type: Option<&[u8]>) -> Option<u64> {
        let heard = &mut *self.0.borrow_mut();
        heard.status = status;
        let media_type = content_type.and_then(okhttp::media_type);
        let is_stream = media_type.as_ref().is_some_and(|(is_stream, _)| *is_stream);
        heard.media_type = media_type.map(|(_, text)| text);
        let opens = is_stream && (200..300).contains(&status);
        if opens {
            heard.opened = Some(Instant::now());
        }
        opens.then_some(u64::MAX)
    }

    fn piece(&self, bytes: &[u8]) -> Result<(), FailureKind> {
        let heard = &mut *self.0.borrow_mut();
        let Some(parser) = &mut heard.parser else {
            return Ok(());
        };
        let (tally, lines, chars) = (&mut heard.tally, &mut heard.lines, &mut heard.chars);
        let keeps_lines = heard.keeps_lines;
        let pushed = parser.push(bytes, &mut |event| {
            tally.count();
            let [id, name, data] = [
                event.id.unwrap_or(NULL),
                event.name.unwrap_or(NULL),
                event.data,
            ]
            .map(String::from_utf8_lossy);
            let shown = [&*id, &*name, &*data];
            let length: usize = shown.map(|part| part.encode_utf16().count()).iter().sum();
            *chars += (length + "ID:  | Type:  | Data: \n".len()) as u64;
            if keeps_lines {
                let _ = writeln!(lines, "ID: {id} | Type: {name} | Data: {data}");
            }
        });
        pushed.map_err(|error| FailureKind::EventTooLarge { limit: error.limit })?;
        if heard.lines.len() as u64 > heard.most_bytes {
            return Err(FailureKind::BodyTooLarge {
                limit: heard.most_bytes,
            });
        }
        Ok(())
    }

    fn arrived(&self, at: Instant) -> Watched {
        let heard = &mut *self.0.borrow_mut();
        if let Some(begin) = heard.begin {
            heard.tally.note_times(begin, at);
        }
        Watched::Continues
    }
}
