//! Server-sent events: the event stream of the HTML standard, section 9.2.6, and OkHttp's reading of it.

use memchr::{memchr, memchr2};

use super::{EventTooLarge, Found, StreamEvent, append, check};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// The fields whose lines OkHttp ends at a line feed only (`BufferedSource.readUtf8LineStrict`).
const STRICT: [&[u8]; 3] = [b"id:", b"event:", b"retry:"];

/// The client whose rules decide where streams are not well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseDialect {
    /// The HTML standard.
    Standard,
    /// OkHttp 5 (`ServerSentEventReader`): an ID counts only with an event that has data, a byte order mark is a part of the
    /// first line, and a lone carriage return does not end the lines of the fields `id`, `event` and `retry`.
    OkHttp,
}

/// A last line without a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unended {
    /// The field `data`.
    Data,
    /// Another field that OkHttp reads up to a line feed, with what has arrived of its value.
    Strict(Vec<u8>),
    /// Anything else.
    Other,
}

/// Finds the events of one stream.
#[derive(Debug)]
pub(super) struct SseParser {
    dialect: SseDialect,
    limit: usize,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, which a line feed may complete.
    after_return: bool,
    is_first_line: bool,
    id: Vec<u8>,
    /// The ID of the last event with data.
    last_id: Vec<u8>,
    name: Vec<u8>,
    /// The data lines, each with a line feed after it.
    data: Vec<u8>,
}

impl SseParser {
    pub fn new(dialect: SseDialect, limit: usize) -> SseParser {
        SseParser {
            dialect,
            limit,
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            id: Vec::new(),
            last_id: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
        }
    }

    pub fn push(&mut self, bytes: &[u8], found: Found<'_>) -> Result<(), EventTooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = self.end_of_line(rest) else {
                return append(&mut self.line, rest, self.limit);
            };
            self.after_return = rest[end] == b'\r';
            let line = &rest[..end];
            if self.line.is_empty() {
                check(line.len(), self.limit)?;
                self.take_line(line, found)?;
            } else {
                append(&mut self.line, line, self.limit)?;
                let mut whole = std::mem::take(&mut self.line);
                self.take_line(&whole, found)?;
                whole.clear();
                self.line = whole;
            }
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// The last line, if it has no end.
    pub fn unended(&self) -> Option<Unended> {
        if self.line.is_empty() {
            return None;
        }
        if self.line.starts_with(b"data:") {
            return Some(Unended::Data);
        }
        let value = STRICT.iter().find_map(|name| self.line.strip_prefix(*name));
        Some(match value {
            Some(value) => Unended::Strict(without_space(value).to_vec()),
            None => Unended::Other,
        })
    }

    fn end_of_line(&self, rest: &[u8]) -> Option<usize> {
        if self.dialect == SseDialect::OkHttp {
            let begins = |name: &&[u8]| {
                let mut line = self.line.iter().chain(rest);
                name.iter().all(|byte| line.next() == Some(byte))
            };
            if STRICT.iter().any(begins) {
                return memchr(b'\n', rest);
            }
        }
        memchr2(b'\n', b'\r', rest)
    }

    fn take_line(&mut self, line: &[u8], found: Found<'_>) -> Result<(), EventTooLarge> {
        let is_standard = self.dialect == SseDialect::Standard;
        let is_first = std::mem::take(&mut self.is_first_line);
        let line = match line.strip_prefix(BOM) {
            Some(rest) if is_first && is_standard => rest,
            _ => line,
        };
        if line.is_empty() {
            self.end_event(found);
            return Ok(());
        }
        let (name, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], without_space(&line[colon + 1..])),
            None => (line, &[][..]),
        };
        // OkHttp's strict lines end at a line feed, before which a carriage return is dropped.
        let strict = || {
            if is_standard {
                value
            } else {
                value.strip_suffix(b"\r").unwrap_or(value)
            }
        };
        match name {
            b"data" => {
                append(&mut self.data, value, self.limit)?;
                self.data.push(b'\n');
            }
            b"event" => replace(&mut self.name, strict()),
            b"id" if is_standard && value.contains(&0) => {}
            b"id" => replace(&mut self.id, strict()),
            _ => {}
        }
        Ok(())
    }

    /// Passes the event on, if it has data.
    fn end_event(&mut self, found: Found<'_>) {
        if let Some(data) = self.data.strip_suffix(b"\n") {
            found(StreamEvent {
                id: Some(&*self.id).filter(|id| !id.is_empty()),
                name: Some(&*self.name).filter(|name| !name.is_empty()),
                data,
            });
            self.last_id.clone_from(&self.id);
        } else if self.dialect == SseDialect::OkHttp {
            self.id.clone_from(&self.last_id);
        }
        self.name.clear();
        self.data.clear();
    }
}

fn without_space(value: &[u8]) -> &[u8] {
    value.strip_prefix(b" ").unwrap_or(value)
}

fn replace(own: &mut Vec<u8>, value: &[u8]) {
    own.clear();
    own.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    type Event = (Option<String>, Option<String>, String);

    fn parse(
        dialect: SseDialect,
        pieces: &[&[u8]],
    ) -> Result<(Vec<Event>, Option<Unended>), EventTooLarge> {
        let mut parser = SseParser::new(dialect, 64);
        let mut events = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for piece in pieces {
            parser.push(piece, &mut |event| {
                events.push((event.id.map(text), event.name.map(text), text(event.data)));
            })?;
        }
        Ok((events, parser.unended()))
    }

    fn event(id: &str, name: &str, data: &str) -> Event {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (some(id), some(name), data.to_owned())
    }

    /// The examples of the HTML standard, section 9.2.6, and lines that only some readers agree on.
    #[test]
    fn streams_are_read_as_the_standard_says_wherever_they_are_split() {
        let cases: [(&str, Vec<Event>); 9] = [
            (
                "data: YHOO\ndata: +2\ndata: 10\n\n",
                vec![event("", "", "YHOO\n+2\n10")],
            ),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                vec![
                    event("1", "", "first event"),
                    event("", "", "second event"),
                    event("", "", " third event"),
                ],
            ),
            // The last block is not ended.
            (
                "data\n\ndata\ndata\n\ndata:\n",
                vec![event("", "", ""), event("", "", "\n")],
            ),
            (
                "data:test\n\ndata: test\n\n",
                vec![event("", "", "test"), event("", "", "test")],
            ),
            // An ID stays, even one of a block without data; a type does not.
            (
                "id: 7\nevent: none\n\nevent: add\ndata: 1\n\ndata: 2\n\n",
                vec![event("7", "add", "1"), event("7", "", "2")],
            ),
            (
                "\u{feff}data: a\r\n\r\ndata: b\r\r",
                vec![event("", "", "a"), event("", "", "b")],
            ),
            (
                "id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n",
                vec![event("1", "", "a"), event("1", "", "b")],
            ),
            ("retry: 5\nother: x\ndatabase: y\nDATA: z\n\n", vec![]),
            (
                "data: é\r\ndata: \u{1f600}\n\r\n",
                vec![event("", "", "é\n\u{1f600}")],
            ),
        ];
        for (stream, expected) in cases {
            let bytes = stream.as_bytes();
            for at in 0..=bytes.len() {
                let (before, after) = bytes.split_at(at);
                let (events, _) = parse(SseDialect::Standard, &[before, after]).unwrap();
                assert_eq!(events, expected, "{stream:?} split at {at}");
            }
            let each: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(parse(SseDialect::Standard, &each).unwrap().0, expected);
        }
    }

    /// `ServerSentEventReader` of OkHttp 5.3.2.
    #[test]
    fn okhttp_reads_some_streams_otherwise() {
        let both = |stream: &str| {
            [SseDialect::Standard, SseDialect::OkHttp].map(|dialect| {
                let each: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
                let one = parse(dialect, &each).unwrap().0;
                assert_eq!(one, parse(dialect, &[stream.as_bytes()]).unwrap().0);
                one
            })
        };
        let [standard, okhttp] = both("id: 7\n\ndata: a\n\n");
        assert_eq!(standard, [event("7", "", "a")]);
        assert_eq!(okhttp, [event("", "", "a")]);
        let [standard, okhttp] = both("\u{feff}data: a\n\n");
        assert_eq!((standard.len(), okhttp.len()), (1, 0));
        let [standard, okhttp] = both("id: 1\rdata: a\r\r");
        assert_eq!(standard, [event("1", "", "a")]);
        assert_eq!(okhttp, []);
        let [standard, okhttp] = both("event: x\r\nid: 1\r\ndata: a\r\rdata: b\r\r");
        assert_eq!(standard, okhttp);
        assert_eq!(okhttp, [event("1", "x", "a"), event("1", "", "b")]);
    }

    #[test]
    fn a_last_line_without_an_end_is_no_event() {
        let unended = |stream: &str| {
            let (events, unended) = parse(SseDialect::OkHttp, &[stream.as_bytes()]).unwrap();
            assert_eq!(events, []);
            unended
        };
        assert_eq!(unended("data: a\n"), None);
        assert_eq!(unended("data: a"), Some(Unended::Data));
        assert_eq!(unended("id: 12"), Some(Unended::Strict(b"12".to_vec())));
        assert_eq!(unended(": comment"), Some(Unended::Other));
    }

    #[test]
    fn events_beyond_the_limit_are_refused() {
        let long = "x".repeat(70);
        let refused = Err(EventTooLarge { limit: 64 });
        // A line that means nothing is a line, too, however it arrives.
        let comment = [b":".repeat(65), b"\n".to_vec()].concat();
        assert_eq!(parse(SseDialect::Standard, &[&comment]), refused);
        assert_eq!(
            parse(SseDialect::Standard, &[&comment[..9], &comment[9..]]),
            refused
        );
        assert_eq!(parse(SseDialect::Standard, &[long.as_bytes()]), refused);
        // So are events of many short lines.
        let lines = format!("data: {}\n", "x".repeat(20)).repeat(4);
        assert_eq!(parse(SseDialect::Standard, &[lines.as_bytes()]), refused);
        let comments = format!(":{}\n", "x".repeat(60)).repeat(9);
        assert!(parse(SseDialect::Standard, &[comments.as_bytes()]).is_ok());
    }
}
