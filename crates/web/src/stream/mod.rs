//! Responses that arrive in pieces with a meaning of their own: server-sent events, lines of JSON, chunks.
//!
//! A [`StreamParser`] takes a body in whatever pieces it arrives, and finds its events. It does no I/O and reads no clock.

mod sse;

use std::fmt;

use memchr::memchr;

use sse::SseParser;
pub use sse::{SseDialect, Unended};

/// How a body is divided into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamForm {
    /// Server-sent events, by the HTML standard.
    Sse,
    /// One JSON text, or any other text, a line; empty lines are no events.
    Ndjson,
    /// Each piece as it arrives: at most one chunk of the transfer coding, or one DATA frame.
    Chunks,
    /// Server-sent events whose data are the chunks of a chat completion.
    OpenAi,
}

impl StreamForm {
    /// The names of the forms, as properties spell them.
    pub const NAMES: [(&str, StreamForm); 4] = [
        ("sse", StreamForm::Sse),
        ("ndjson", StreamForm::Ndjson),
        ("chunks", StreamForm::Chunks),
        ("openai", StreamForm::OpenAi),
    ];

    /// The form with this name, in any case.
    pub fn named(name: &str) -> Option<StreamForm> {
        Self::NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, form)| *form)
    }
}

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEvent<'a> {
    /// The last event ID; `None` if there is none, or if it is empty. Only server-sent events have one.
    pub id: Option<&'a [u8]>,
    /// The event's type; `None` if it names none. Only server-sent events have one.
    pub name: Option<&'a [u8]>,
    /// The data: of server-sent events the lines, joined by line feeds; otherwise the line or the piece.
    pub data: &'a [u8],
}

/// An event, or the line that would be a part of it, is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

impl fmt::Display for EventTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than {} bytes", self.limit)
    }
}

impl std::error::Error for EventTooLarge {}

/// Takes each event.
pub type Found<'f> = &'f mut dyn FnMut(StreamEvent<'_>);

/// Finds the events of one body.
#[derive(Debug)]
pub struct StreamParser(Parser);

#[derive(Debug)]
enum Parser {
    Sse(SseParser),
    Lines { line: Vec<u8>, limit: usize },
    Chunks,
}

impl StreamParser {
    /// A parser at the start of a body. It keeps at most `limit` bytes of a line, and as many of an event.
    pub fn new(form: StreamForm, limit: usize) -> StreamParser {
        StreamParser(match form {
            StreamForm::Sse | StreamForm::OpenAi => {
                Parser::Sse(SseParser::new(SseDialect::Standard, limit))
            }
            StreamForm::Ndjson => Parser::Lines {
                line: Vec::new(),
                limit,
            },
            StreamForm::Chunks => Parser::Chunks,
        })
    }

    /// A parser of server-sent events by the rules of another client.
    pub fn of_dialect(dialect: SseDialect, limit: usize) -> StreamParser {
        StreamParser(Parser::Sse(SseParser::new(dialect, limit)))
    }

    /// Takes the next bytes of the body, and passes on the events that end in them.
    ///
    /// # Errors
    /// If an event is longer than the limit. The parser is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8], found: Found<'_>) -> Result<(), EventTooLarge> {
        match &mut self.0 {
            Parser::Sse(sse) => sse.push(bytes, found),
            Parser::Lines { line, limit } => push_lines(line, *limit, bytes, found),
            Parser::Chunks if bytes.is_empty() => Ok(()),
            Parser::Chunks => {
                found(of_data(bytes));
                Ok(())
            }
        }
    }

    /// Ends the body. A last line without a line end is an event, except among server-sent events, where it is dropped and
    /// returned.
    pub fn finish(&mut self, found: Found<'_>) -> Option<Unended> {
        match &mut self.0 {
            Parser::Sse(sse) => return sse.unended(),
            Parser::Lines { line, .. } => {
                end_line(line, found);
                line.clear();
            }
            Parser::Chunks => {}
        }
        None
    }
}

fn of_data(data: &[u8]) -> StreamEvent<'_> {
    StreamEvent {
        id: None,
        name: None,
        data,
    }
}

fn push_lines(
    line: &mut Vec<u8>,
    limit: usize,
    bytes: &[u8],
    found: Found<'_>,
) -> Result<(), EventTooLarge> {
    let mut rest = bytes;
    while let Some(end) = memchr(b'\n', rest) {
        append(line, &rest[..end], limit)?;
        end_line(line, found);
        line.clear();
        rest = &rest[end + 1..];
    }
    append(line, rest, limit)
}

/// Takes a line as an event, unless it is empty.
fn end_line(line: &[u8], found: Found<'_>) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        found(of_data(line));
    }
}

/// Appends to a line or an event. Fails beyond the limit.
fn append(to: &mut Vec<u8>, bytes: &[u8], limit: usize) -> Result<(), EventTooLarge> {
    check(to.len() + bytes.len(), limit)?;
    to.extend_from_slice(bytes);
    Ok(())
}

fn check(bytes: usize, limit: usize) -> Result<(), EventTooLarge> {
    if bytes > limit {
        Err(EventTooLarge { limit })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of the events of a body that arrives in these pieces.
    fn events(form: StreamForm, pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = StreamParser::new(form, 1 << 20);
        let mut all = Vec::new();
        let mut keep =
            |event: StreamEvent<'_>| all.push(String::from_utf8_lossy(event.data).into_owned());
        for piece in pieces {
            parser.push(piece, &mut keep).unwrap();
        }
        assert!(parser.finish(&mut keep).is_none());
        all
    }

    #[test]
    fn lines_are_events_wherever_the_body_is_split() {
        let body = b"{\"a\":1}\n\r\n\n{\"b\":2}\r\nlast";
        for at in 0..=body.len() {
            let (before, after) = body.split_at(at);
            let expected = ["{\"a\":1}", "{\"b\":2}", "last"];
            assert_eq!(events(StreamForm::Ndjson, &[before, after]), expected);
        }
        assert!(events(StreamForm::Ndjson, &[]).is_empty());
    }

    #[test]
    fn each_piece_of_chunks_is_an_event() {
        assert_eq!(
            events(StreamForm::Chunks, &[b"a\nb", b"", b"c"]),
            ["a\nb", "c"]
        );
    }

    #[test]
    fn lines_beyond_the_limit_are_refused() {
        let mut parser = StreamParser::new(StreamForm::Ndjson, 4);
        let mut count = 0;
        let mut found = |_: StreamEvent<'_>| count += 1;
        assert_eq!(parser.push(b"1234\n12", &mut found), Ok(()));
        let refused = parser.push(b"345", &mut found);
        assert_eq!(refused, Err(EventTooLarge { limit: 4 }));
        assert_eq!(count, 1);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "an event is longer than 4 bytes"
        );
    }

    #[test]
    fn forms_have_names_in_any_case() {
        assert_eq!(StreamForm::named("OpenAI"), Some(StreamForm::OpenAi));
        assert_eq!(StreamForm::named("websocket"), None);
    }
}
