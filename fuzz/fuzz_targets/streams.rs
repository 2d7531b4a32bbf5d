//! Any bytes as a body of events: server-sent events and lines of JSON are the same, however the bytes are cut.
#![no_main]

use drumfire_web::stream::{StreamForm, StreamParser};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 1000;

/// The events of a body that arrives in pieces, and how it ends.
fn events(form: StreamForm, body: &[u8], piece_bytes: usize) -> String {
    let mut parser = StreamParser::new(form, LIMIT);
    let mut text = String::new();
    for piece in body.chunks(piece_bytes) {
        let taken = parser.push(piece, &mut |event| {
            assert!(event.data.len() <= LIMIT);
            text += &format!("{event:?}\n");
        });
        if let Err(error) = taken {
            return text + &error.to_string();
        }
    }
    let unended = parser.finish(&mut |event| text += &format!("{event:?}\n"));
    text + &format!("{unended:?}")
}

fuzz_target!(|bytes: &[u8]| {
    let [form, piece, body @ ..] = bytes else {
        return;
    };
    let form = match form % 2 {
        0 => StreamForm::Sse,
        _ => StreamForm::Ndjson,
    };
    let whole = events(form, body, body.len().max(1));
    assert_eq!(events(form, body, usize::from(*piece % 32) + 1), whole);
});
