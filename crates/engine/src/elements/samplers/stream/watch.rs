//! The observer of one streamed response.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use drumfire_http::{BodyWatch, FailureKind, Watched};
use drumfire_query::json::{Json, Value};
use drumfire_query::jsonpath::JsonPath;
use drumfire_results::StreamSample;
use drumfire_web::stream::{StreamEvent, StreamForm, StreamParser};

use super::completion::Chunk;
use super::rules::{EVENT_STREAM, StreamRules};
use super::tally::Tally;

/// Finds and times the events of a response, and ends it where the rules say.
pub struct StreamWatch {
    rules: StreamRules,
    /// The start of the sample.
    begin: Instant,
    state: RefCell<WatchState>,
}

#[derive(Default)]
struct WatchState {
    /// The parser of the response; `None` if it is no stream.
    parser: Option<StreamParser>,
    events: Events,
}

/// The events so far, and what they mean for the stream.
#[derive(Default)]
struct Events {
    tally: Tally,
    /// Whether a rule has ended the stream.
    is_over: bool,
    /// The tokens that the stream itself tells.
    told_tokens: Option<u64>,
}

impl StreamWatch {
    fn new(rules: StreamRules, begin: Instant) -> StreamWatch {
        StreamWatch {
            rules,
            begin,
            state: RefCell::default(),
        }
    }

    /// Observes the response of a request that is sent now.
    pub fn begin_now(rules: StreamRules) -> Rc<StreamWatch> {
        Rc::new(StreamWatch::new(rules, Instant::now()))
    }

    /// Ends the observation: what was measured, unless the response was no stream.
    pub fn finish(&self) -> Option<Box<StreamSample>> {
        let WatchState { parser, mut events } = self.state.take();
        parser?.finish(&mut |event| events.take(&self.rules, event));
        let at = events.tally.seen().unwrap_or_else(Instant::now);
        events.tally.note_times(self.begin, at);
        let mut sample = events.tally.finish();
        if self.rules.form == StreamForm::OpenAi {
            sample.tokens = Some(events.told_tokens.unwrap_or(sample.events));
        }
        Some(Box::new(sample))
    }
}

/// Whether a Content-Type is that of server-sent events.
fn is_event_stream(content_type: &[u8]) -> bool {
    let start = content_type.get(..EVENT_STREAM.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(EVENT_STREAM.as_bytes()))
}

impl BodyWatch for StreamWatch {
    fn begin(&self, status: u16, content_type: Option<&[u8]>) -> Option<u64> {
        let StreamRules { form, limits, .. } = self.rules;
        let of_events = content_type.is_some_and(is_event_stream);
        let is_stream = (200..300).contains(&status) && (self.rules.is_asked || of_events);
        *self.state.borrow_mut() = WatchState {
            parser: is_stream.then(|| StreamParser::new(form, limits.event_bytes)),
            ..WatchState::default()
        };
        // A page among requests that are asked for events, as a property of the run asks, is kept whole.
        let may_be_endless = match form {
            StreamForm::Sse | StreamForm::OpenAi => of_events || content_type.is_none(),
            StreamForm::Ndjson | StreamForm::Chunks => true,
        };
        let is_bounded = self.rules.is_asked && may_be_endless;
        is_stream.then_some(if is_bounded {
            limits.body_bytes
        } else {
            u64::MAX
        })
    }

    fn piece(&self, bytes: &[u8]) -> Result<(), FailureKind> {
        let WatchState { parser, events } = &mut *self.state.borrow_mut();
        let Some(parser) = parser.as_mut().filter(|_| !events.is_over) else {
            return Ok(());
        };
        let pushed = parser.push(bytes, &mut |event| events.take(&self.rules, event));
        pushed.map_err(|error| FailureKind::EventTooLarge { limit: error.limit })
    }

    fn arrived(&self, at: Instant) -> Watched {
        let events = &mut self.state.borrow_mut().events;
        events.tally.note_times(self.begin, at);
        if events.is_over || self.deadline().is_some_and(|deadline| deadline <= at) {
            Watched::Ends
        } else {
            Watched::Continues
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.begin.checked_add(self.rules.stop_after?)
    }
}

impl Events {
    /// Counts an event, unless the stream is over.
    fn take(&mut self, rules: &StreamRules, event: StreamEvent<'_>) {
        if self.is_over {
            return;
        }
        let mut counts = true;
        if rules.form == StreamForm::OpenAi {
            let chunk = Chunk::read(event.data);
            self.told_tokens = chunk.tokens.or(self.told_tokens);
            counts = chunk.has_text;
        }
        if counts {
            self.tally.count();
        }
        let is_last = rules
            .stop_events
            .is_some_and(|most| self.tally.events() >= most)
            || rules
                .stop_data
                .as_ref()
                .is_some_and(|data| data.as_bytes() == event.data)
            || rules
                .stop_json
                .as_ref()
                .is_some_and(|path| finds(path, event.data));
        self.is_over |= is_last;
    }
}

/// Whether the path finds a value other than `null` and `false` in the data.
fn finds(path: &JsonPath, data: &[u8]) -> bool {
    let Some(json) = std::str::from_utf8(data)
        .ok()
        .and_then(|text| Json::parse(text).ok())
    else {
        return false;
    };
    let is_something = |value: &Value<'_>| !matches!(value, Value::Null | Value::Bool(false));
    path.find(&json)
        .is_ok_and(|found| found.iter().any(|value| is_something(value)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::elements::samplers::stream::rules::StreamLimits;

    fn rules(form: StreamForm) -> StreamRules {
        StreamRules {
            form,
            is_asked: true,
            stop_events: None,
            stop_data: None,
            stop_json: None,
            stop_after: None,
            limits: StreamLimits {
                event_bytes: 100,
                body_bytes: 100,
            },
        }
    }

    /// Runs pieces that arrive at these milliseconds; says how many were taken.
    fn watch(rules: StreamRules, pieces: &[(u64, &str)]) -> (usize, StreamSample) {
        let begin = Instant::now();
        let watch = StreamWatch::new(rules, begin);
        assert_eq!(watch.begin(200, None), Some(100));
        let taken = pieces.iter().take_while(|(at_ms, piece)| {
            watch.piece(piece.as_bytes()).unwrap();
            watch.arrived(begin + Duration::from_millis(*at_ms)) == Watched::Continues
        });
        let taken = taken.count();
        (taken, *watch.finish().expect("it is a stream"))
    }

    #[test]
    fn events_are_timed_by_the_piece_that_ends_them() {
        let pieces = [(5, "data: a"), (20, "\n\n"), (50, "data: b\n\ndata: c\n\n")];
        let (taken, sample) = watch(rules(StreamForm::Sse), &pieces);
        assert_eq!((taken, sample.events, sample.tokens), (3, 3, None));
        assert_eq!(sample.first_event_us, Some(20_000));
        assert_eq!((sample.gaps.min, sample.gaps.max), (0, 30_000));
        assert_eq!(sample.gaps.count(), 2);
    }

    #[test]
    fn a_stream_ends_by_its_rules() {
        let lines = [
            (1, "{\"n\":1}\n{\"n\":2}\n"),
            (2, "{\"n\":3,\"end\":true}\n"),
            (3, "x\n"),
        ];
        let stopped = |change: fn(&mut StreamRules)| {
            let mut rules = rules(StreamForm::Ndjson);
            change(&mut rules);
            let (taken, sample) = watch(rules, &lines);
            (taken, sample.events)
        };
        assert_eq!(stopped(|_| {}), (3, 4));
        assert_eq!(stopped(|rules| rules.stop_events = Some(1)), (0, 1));
        assert_eq!(
            stopped(|rules| rules.stop_data = Some("x".to_owned())),
            (2, 4)
        );
        assert_eq!(
            stopped(|rules| rules.stop_after = Some(Duration::from_millis(2))),
            (1, 3)
        );
        let path = |rules: &mut StreamRules| {
            rules.stop_json = JsonPath::compile("$.end").ok().map(Arc::new);
        };
        assert_eq!(stopped(path), (1, 3));
    }

    #[test]
    fn completions_count_chunks_with_text_or_the_tokens_that_they_tell() {
        let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
        let (role, text) = (
            chunk("{\"role\":\"assistant\"}"),
            chunk("{\"content\":\"a\"}"),
        );
        let usage = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":9}}\n\n";
        let mut pieces = vec![(5, role.as_str()), (9, &text), (12, &text)];
        let mut rules = rules(StreamForm::OpenAi);
        rules.stop_data = Some("[DONE]".to_owned());
        let (_, sample) = watch(rules.clone(), &pieces);
        assert_eq!((sample.events, sample.tokens), (2, Some(2)));
        assert_eq!(sample.first_event_us, Some(9_000));
        pieces.extend([(13, usage), (13, "data: [DONE]\n\n"), (14, &text)]);
        let (taken, sample) = watch(rules, &pieces);
        assert_eq!((taken, sample.events, sample.tokens), (4, 2, Some(9)));
    }

    #[test]
    fn failed_responses_are_no_streams() {
        let mut accepting = rules(StreamForm::Sse);
        accepting.is_asked = false;
        let watch = StreamWatch::new(accepting, Instant::now());
        let events = Some(&b"Text/Event-Stream; charset=utf-8"[..]);
        // Nothing is bounded that JMeter would keep.
        assert_eq!(watch.begin(200, events), Some(u64::MAX));
        assert_eq!(watch.begin(200, Some(b"text/html")), None);
        assert!(watch.finish().is_none());
        let watch = StreamWatch::new(rules(StreamForm::Sse), Instant::now());
        assert_eq!(watch.begin(200, Some(b"text/html")), Some(u64::MAX));
        assert_eq!(watch.begin(200, events), Some(100));
        assert_eq!(watch.begin(404, events), None);
        assert!(watch.piece(b"data: a\n\n").is_ok() && watch.finish().is_none());
    }

    #[test]
    fn events_beyond_the_limit_fail_the_exchange() {
        let watch = StreamWatch::new(rules(StreamForm::Ndjson), Instant::now());
        watch.begin(200, None);
        let refused = watch.piece(&[b'x'; 101]);
        assert!(matches!(
            refused,
            Err(FailureKind::EventTooLarge { limit: 100 })
        ));
    }
}
