//! How an HTTP Request reads its response as a stream, and where it stops.

use std::sync::Arc;
use std::time::Duration;

use drumfire_elements::shared::stream as facts;
use drumfire_expr::{Properties, Template};
use drumfire_java::Exception;
use drumfire_query::jsonpath::JsonPath;
use drumfire_web::headers::Header;
use drumfire_web::stream::StreamForm;

use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, NoRules};
use crate::elements::samplers::http::settings::size_limit;
use crate::run::context::Context;

/// The form of the stream.
pub const FORM: &str = facts::FORM.name;
/// A sample ends with this many events.
pub const STOP_EVENTS: &str = facts::STOP_EVENTS.name;
/// A sample ends with an event that has these data.
pub const STOP_DATA: &str = facts::STOP_DATA.name;
/// A sample ends with an event in whose data this JSONPath finds something.
pub const STOP_JSON: &str = facts::STOP_JSON.name;
/// A sample ends after this many milliseconds.
pub const STOP_AFTER: &str = facts::STOP_AFTER.name;
/// The longest event, in bytes.
pub const MAX_EVENT_BYTES: &str = "drumfire.stream.max_event_bytes";
/// How much of a stream's body is kept, in bytes.
pub const MAX_BODY_BYTES: &str = "drumfire.stream.max_body_bytes";

/// The properties that end a sample.
pub const STOPS: [&str; 4] = [STOP_EVENTS, STOP_DATA, STOP_JSON, STOP_AFTER];

/// The form that reads no stream, whatever surrounds the sampler.
const OFF: &str = "off";
/// The media type of server-sent events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The settings of a sampler's streams.
pub struct StreamTemplate {
    form: Template,
    stop_events: Template,
    stop_data: Template,
    stop_json: Option<CompiledProperty<JsonPath>>,
    stop_after: Template,
    limits: StreamLimits,
}

/// The bounds of a stream's memory.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// [`MAX_EVENT_BYTES`].
    pub event_bytes: usize,
    /// [`MAX_BODY_BYTES`].
    pub body_bytes: u64,
}

impl StreamLimits {
    /// Reads the limits; 0 is none.
    pub fn read(properties: &Properties) -> StreamLimits {
        let event_bytes = size_limit(properties, MAX_EVENT_BYTES, 1 << 20);
        StreamLimits {
            event_bytes: usize::try_from(event_bytes).unwrap_or(usize::MAX),
            body_bytes: size_limit(properties, MAX_BODY_BYTES, 1 << 20),
        }
    }
}

/// The settings of one sample's stream.
#[derive(Clone, Debug)]
pub struct StreamRules {
    pub form: StreamForm,
    /// Whether the plan or the run asks for a stream. Otherwise the request only accepts one: its events are measured, and
    /// everything else is as in JMeter.
    pub is_asked: bool,
    pub stop_events: Option<u64>,
    pub stop_data: Option<String>,
    pub stop_json: Option<Arc<JsonPath>>,
    pub stop_after: Option<Duration>,
    pub limits: StreamLimits,
}

/// Reads a property of the sampler or its defaults; the last argument is the value without one.
pub type ReadProperty<'r> = &'r dyn Fn(&mut Decoder, &str, &str) -> Template;

impl StreamTemplate {
    /// Decodes the settings of the sampler, which win over those of the run. `None` if its responses are no streams.
    pub fn decode(
        d: &mut Decoder,
        read: ReadProperty<'_>,
        accepts_events: bool,
    ) -> Option<StreamTemplate> {
        let properties = &d.settings().properties;
        let general = [FORM, STOP_EVENTS, STOP_DATA, STOP_JSON, STOP_AFTER]
            .map(|name| (name, properties.get_trimmed(name).unwrap_or_default()));
        let limits = StreamLimits::read(properties);
        let [form, stop_events, stop_data, stop_json, stop_after] =
            general.map(|(name, default)| read(d, name, &default));
        if form.is_empty_literal() && !accepts_events {
            return None;
        }
        let checked = [
            (FORM, &form),
            (STOP_EVENTS, &stop_events),
            (STOP_AFTER, &stop_after),
        ];
        for (name, template) in checked {
            if let Some(Err(message)) = template.literal().map(|text| check(name, text)) {
                d.refuse("stream-setting", message, remedy(name));
            }
        }
        Some(StreamTemplate {
            stop_json: (!stop_json.is_empty_literal())
                .then(|| CompiledProperty::new(d, stop_json, NoRules)),
            form,
            stop_events,
            stop_data,
            stop_after,
            limits,
        })
    }

    /// The rules of a sample with these headers; `None` if its response is no stream.
    ///
    /// # Errors
    /// If a value that variables give is none.
    pub fn evaluate(
        &self,
        cx: &mut Context,
        headers: &[Header<'_>],
    ) -> Result<Option<StreamRules>, Exception> {
        let refused = |text: String| Exception::new("java.lang.IllegalArgumentException", text);
        let form = match read_form(&self.form.eval(cx)).map_err(refused)? {
            WantedForm::Off => return Ok(None),
            WantedForm::Form(form) => Some(form),
            WantedForm::Unsaid if accepts_events(headers) => None,
            WantedForm::Unsaid => return Ok(None),
        };
        let mut count =
            |name: &str, template: &Template| read_count(name, &template.eval(cx)).map_err(refused);
        let stop_events = count(STOP_EVENTS, &self.stop_events)?;
        let stop_after = count(STOP_AFTER, &self.stop_after)?.map(Duration::from_millis);
        let stop_data = match self.stop_data.eval(cx).into_string() {
            none if none.is_empty() => None,
            data => Some(data),
        };
        let stop_json = match self.stop_json.as_ref().map(|path| path.get(cx)) {
            Some(ready) if !ready.text.is_empty() => match ready.outcome {
                Ok(path) => Some(Arc::clone(&path)),
                Err(_) => return Err(refused(wrong(STOP_JSON, &ready.text))),
            },
            _ => None,
        };
        let stops = stop_events.is_some() || stop_after.is_some() || stop_data.is_some();
        Ok(Some(StreamRules {
            is_asked: form.is_some() || stops || stop_json.is_some(),
            form: form.unwrap_or(StreamForm::Sse),
            stop_events,
            stop_data,
            stop_json,
            stop_after,
            limits: self.limits,
        }))
    }
}

/// Whether a request says that it accepts server-sent events.
fn accepts_events(headers: &[Header<'_>]) -> bool {
    headers
        .iter()
        .any(|header| header.name.eq_ignore_ascii_case("Accept") && is_of_events(&header.value))
}

/// Whether the value of a header names the media type of server-sent events.
pub fn is_of_events(value: &str) -> bool {
    value.to_ascii_lowercase().contains(EVENT_STREAM)
}

/// The form that a setting asks for.
enum WantedForm {
    Unsaid,
    Off,
    Form(StreamForm),
}

fn read_form(text: &str) -> Result<WantedForm, String> {
    match text.trim() {
        "" => Ok(WantedForm::Unsaid),
        off if off.eq_ignore_ascii_case(OFF) => Ok(WantedForm::Off),
        name => match StreamForm::named(name) {
            Some(form) => Ok(WantedForm::Form(form)),
            None => Err(wrong(FORM, name)),
        },
    }
}

/// A count; `None` if it is not set, or 0.
fn read_count(name: &str, text: &str) -> Result<Option<u64>, String> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<u64>() {
            Ok(count) => Ok(Some(count).filter(|count| *count > 0)),
            Err(_) => Err(wrong(name, text)),
        },
    }
}

/// Whether the text is a value of the property.
fn check(name: &str, text: &str) -> Result<(), String> {
    match name {
        FORM => read_form(text).map(drop),
        _ => read_count(name, text).map(drop),
    }
}

fn wrong(name: &str, text: &str) -> String {
    let wanted = match name {
        FORM => "a form of streams",
        STOP_JSON => "a JSONPath",
        _ => "a whole number",
    };
    format!("`{text}` in {name} is not {wanted}")
}

fn remedy(name: &str) -> &'static str {
    match name {
        FORM => "write sse, ndjson, chunks, openai or off",
        _ => "write a whole number, or 0 for none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_counts_are_read_or_refused() {
        assert!(matches!(
            read_form(" SSE "),
            Ok(WantedForm::Form(StreamForm::Sse))
        ));
        assert!(matches!(read_form(""), Ok(WantedForm::Unsaid)));
        assert!(matches!(read_form("off"), Ok(WantedForm::Off)));
        let refused = read_form("grpc").err();
        assert_eq!(
            refused.as_deref(),
            Some("`grpc` in drumfire.stream is not a form of streams")
        );
        assert_eq!(read_count(STOP_EVENTS, "0"), Ok(None));
        assert_eq!(read_count(STOP_EVENTS, " 5"), Ok(Some(5)));
        assert!(read_count(STOP_AFTER, "5s").is_err());
    }

    #[test]
    fn requests_accept_events_by_their_header() {
        assert!(is_of_events("application/json, Text/Event-Stream;q=0.9"));
        assert!(!is_of_events("*/*"));
    }
}
