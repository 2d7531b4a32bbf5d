//! Transfers samples between Rust and Java. Java's side is `Results.java`.

use std::rc::Rc;

use drumfire_engine::Action;
use drumfire_results::{AssertionResult, DataType, Sample, SampleKind, SharedText};

use crate::wire::{WireReader, WireWriter};

/// Everything but the response body of the sample itself.
pub fn write(sample: &Sample) -> Vec<u8> {
    let mut out = WireWriter::with_room();
    write_into(sample, &mut out);
    out.done()
}

fn write_into(sample: &Sample, out: &mut WireWriter) {
    out.flag(sample.kind == SampleKind::Http);
    out.text(Some(&sample.label))
        .text(Some(&sample.thread_name));
    out.text(Some(&sample.code)).text(Some(&sample.message));
    out.flag(sample.success);
    out.text(Some(sample.data_type.as_str()))
        .text(sample.content_type.as_deref())
        .text(sample.encoding.as_deref());
    out.large(sample.start_ms).large(sample.end_ms);
    out.large(sample.elapsed_ms).large(sample.idle_ms);
    out.large(sample.latency_ms).large(sample.connect_ms);
    out.large(sample.bytes).large(sample.sent_bytes as i64);
    out.large(sample.header_bytes as i64)
        .large(sample.body_bytes as i64);
    out.number(sample.group_threads as i32)
        .number(sample.all_threads as i32);
    out.number(sample.sample_count as i32)
        .number(sample.next_child_index as i32);
    out.text(sample.url.as_deref());
    out.text(sample.request_headers.as_deref())
        .text(sample.response_headers.as_deref());
    out.text(sample.sampler_data.as_deref());
    out.text(sample.method.as_deref())
        .text(sample.query_string.as_deref());
    out.text(sample.cookies.as_deref())
        .text(sample.redirect_location.as_deref());
    out.text(sample.result_file_name.as_deref());
    out.number(sample.assertions.len() as i32);
    for assertion in &sample.assertions {
        out.text(assertion.name.as_deref())
            .flag(assertion.failure)
            .flag(assertion.error);
        out.text(assertion.message.as_deref());
    }
    out.number(sample.children.len() as i32);
    for child in &sample.children {
        write_into(child, out);
        out.bytes(child.response_data.as_deref());
    }
}

/// The actions that a result asks of its user and of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    pub stop_thread: bool,
    pub stop_test: bool,
    pub stop_test_now: bool,
    pub action: Action,
}

/// A sample that Java made or changed. Fields that Java lacks come from `before`; a body of `None` is `before`'s.
pub fn read(bytes: &[u8], body: Option<&[u8]>, before: Option<&Sample>) -> (Sample, Demands) {
    let mut reader = WireReader::new(bytes);
    let mut sample = read_from(&mut reader, before);
    if let Some(body) = body {
        sample.response_data = Some(body.into());
    }
    sample.ignore = reader.flag();
    let demands = Demands {
        stop_thread: reader.flag(),
        stop_test: reader.flag(),
        stop_test_now: reader.flag(),
        action: action(reader.number()),
    };
    (sample, demands)
}

/// An action by its index in `TestLogicalAction`.
pub fn action(number: i32) -> Action {
    match number {
        1 => Action::NextThreadIteration,
        2 => Action::NextLoopIteration,
        3 => Action::BreakLoop,
        _ => Action::Continue,
    }
}

fn read_from(reader: &mut WireReader<'_>, before: Option<&Sample>) -> Sample {
    let kind = if reader.flag() {
        SampleKind::Http
    } else {
        SampleKind::Other
    };
    let label = shared(reader).unwrap_or_default();
    let thread_name = shared(reader).unwrap_or_default();
    let mut sample = match before {
        Some(before) => Sample {
            label,
            thread_name,
            assertions: Vec::new(),
            children: Vec::new(),
            ..before.clone()
        },
        None => Sample::new(label, thread_name),
    };
    sample.kind = kind;
    sample.code = text(reader).unwrap_or(SharedText::EMPTY);
    sample.message = text(reader).unwrap_or(SharedText::EMPTY);
    sample.success = reader.flag();
    sample.data_type = match reader.text() {
        None | Some("") => DataType::Unset,
        Some("text") => DataType::Text,
        Some("bin") => DataType::Binary,
        Some(other) => DataType::Other(other.to_owned().into()),
    };
    sample.content_type = shared(reader);
    sample.encoding = text(reader);
    read_numbers(&mut sample, reader);
    sample.url = shared(reader);
    sample.request_headers = shared(reader);
    sample.response_headers = shared(reader);
    sample.sampler_data = shared(reader);
    sample.method = text(reader);
    sample.query_string = shared(reader);
    sample.cookies = shared(reader);
    sample.redirect_location = shared(reader);
    sample.result_file_name = shared(reader);
    for _ in 0..reader.number() {
        sample.assertions.push(AssertionResult {
            name: text(reader),
            failure: reader.flag(),
            error: reader.flag(),
            message: text(reader),
        });
    }
    for index in 0..reader.number() as usize {
        let mut child = read_from(reader, before.and_then(|before| before.children.get(index)));
        child.response_data = reader.bytes().map(Into::into);
        sample.children.push(child);
    }
    sample
}

fn read_numbers(sample: &mut Sample, reader: &mut WireReader<'_>) {
    sample.start_ms = reader.large();
    sample.end_ms = reader.large();
    let elapsed_ms = reader.large();
    if elapsed_ms != sample.elapsed_ms {
        sample.elapsed_ms = elapsed_ms;
        // The precise times are no longer known.
        (sample.service_us, sample.own_us) = (0, None);
    }
    sample.idle_ms = reader.large();
    sample.latency_ms = reader.large();
    sample.connect_ms = reader.large();
    sample.bytes = reader.large();
    sample.sent_bytes = count(reader);
    sample.header_bytes = count(reader);
    sample.body_bytes = count(reader);
    sample.group_threads = reader.number() as u32;
    sample.all_threads = reader.number() as u32;
    sample.sample_count = reader.number() as u32;
    sample.next_child_index = reader.number() as u32;
}

fn count(reader: &mut WireReader<'_>) -> u64 {
    u64::try_from(reader.large()).unwrap_or(0)
}

fn shared(reader: &mut WireReader<'_>) -> Option<Rc<str>> {
    reader.text().map(Rc::from)
}

fn text(reader: &mut WireReader<'_>) -> Option<SharedText> {
    reader.text().map(|text| text.to_owned().into())
}
