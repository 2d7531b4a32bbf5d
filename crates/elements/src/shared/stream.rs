//! How an HTTP Request reads its response as a stream. JMeter keeps these properties and ignores them; the properties of the run with
//! the same names apply to requests without them.

use crate::form::{Property, Section, choice, is, section, text, whole};

pub const STREAM: Section = section(
    "Streamed response (Drumfire)",
    &[FORM, STOP_EVENTS, STOP_DATA, STOP_JSON, STOP_AFTER],
);

pub const FORM: Property = choice(
    "drumfire.stream",
    &[
        is("", "as the run has it"),
        is("sse", "server-sent events"),
        is("ndjson", "lines of JSON"),
        is("chunks", "chunks"),
        is("openai", "chat completions"),
        is("off", "no stream"),
    ],
)
.label("Events")
.help("Times each event of the response; the sample shows when the first came, and the gaps between them.");

pub const STOP_EVENTS: Property = whole("drumfire.stream.stop.events")
    .label("Stop after events")
    .help("Ends the sample with this many events.");

pub const STOP_DATA: Property = text("drumfire.stream.stop.data")
    .label("Stop at data")
    .help("Ends the sample with an event that has exactly these data, such as [DONE].");

pub const STOP_JSON: Property = text("drumfire.stream.stop.json")
    .label("Stop at JSONPath")
    .help("Ends the sample with an event in whose data the JSONPath finds a value other than null and false.");

pub const STOP_AFTER: Property = whole("drumfire.stream.stop.after_ms")
    .label("Stop after (ms)")
    .help("Ends the sample this many milliseconds after its start.");
