use super::*;
use crate::collector::{GROWTH, MAX_RESERVE_BYTES};
use crate::failure::{BadChunk, DecodeFailure, StatusLinePart};

/// Responses and what HttpClient made of them.
const RECORDED: &str = include_str!("../../tests/httpclient.txt");

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let (byte, length) = match &rest[at + 1..at + 2] {
            "r" => (b'\r', 2),
            "n" => (b'\n', 2),
            "t" => (b'\t', 2),
            _ => {
                let digits = &rest[at + 2..at + 4];
                let byte = u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
                (byte, 4)
            }
        };
        bytes.push(byte);
        rest = &rest[at + length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn escape(bytes: &[u8]) -> String {
    let escape = |byte: &u8| match byte {
        b' '..=b'~' if !b"\\|".contains(byte) => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    bytes.iter().map(escape).collect()
}

/// The exception HttpClient throws.
fn java(kind: &FailureKind) -> String {
    match kind {
        FailureKind::ClosedBeforeResponse => "NoHttpResponseException: no response".into(),
        FailureKind::NoValidResponse(_) => "ProtocolException: The server failed to respond \
            with a valid HTTP response"
            .into(),
        FailureKind::BadStatusLine { line, part } => match part {
            StatusLinePart::Version => {
                format!("ProtocolException: Invalid protocol version number: {line}")
            }
            StatusLinePart::MajorVersion => {
                format!("ProtocolException: Invalid protocol major version number: {line}")
            }
            StatusLinePart::MinorVersion => {
                let line = line.replace('\t', "?");
                format!("ProtocolException: Invalid protocol minor version number: {line}")
            }
            StatusLinePart::Code => {
                format!("ProtocolException: Status line contains invalid status code: {line}")
            }
            StatusLinePart::Range => {
                let line = line.replace("099", "99");
                format!("ProtocolException: Invalid response: {line}")
            }
        },
        FailureKind::BadHeader(line) => format!("ProtocolException: Invalid header: {line}"),
        FailureKind::TruncatedBody { expected, received } => format!(
            "ConnectionClosedException: Premature end of Content-Length delimited message \
            body (expected: {expected}; received: {received})"
        ),
        FailureKind::TruncatedChunk { expected, actual } => format!(
            "TruncatedChunkException: Truncated chunk (expected size: {expected}; actual \
            size: {actual})"
        ),
        FailureKind::MissingLastChunk => "ConnectionClosedException: Premature end of chunk \
            coded message body: closing chunk expected"
            .into(),
        FailureKind::BadChunk(bad) => {
            let text = match bad {
                BadChunk::Size(size) => format!("Bad chunk header: {size}"),
                BadChunk::NegativeSize => "Negative chunk size".into(),
                BadChunk::MissingLineEnd => "CRLF expected at end of chunk".into(),
                BadChunk::NoLineEnd => "Unexpected content at the end of chunk".into(),
                BadChunk::Trailer(line) => format!(
                    "Invalid footer: Invalid header: {line} <- ProtocolException: Invalid \
                    header: {line}"
                ),
            };
            format!("MalformedChunkCodingException: {text}")
        }
        FailureKind::Decode(DecodeFailure::NotGzip) => "ZipException: Not in GZIP format".into(),
        FailureKind::Decode(DecodeFailure::UnexpectedEnd(_)) => "EOFException: null".into(),
        FailureKind::Decode(DecodeFailure::Corrupt(_, text)) => format!("ZipException: {text}"),
        other => panic!("{other:?}"),
    }
}

/// Receives a response in these pieces and describes its outcome in the format of the recording.
fn outcome(pieces: &[&[u8]]) -> String {
    match receive(pieces) {
        Ok(receiver) => {
            let kept = receiver.leaves_connection_usable(false);
            let bodiless = matches!(receiver.framing, Framing::None);
            let head = receiver.head.as_ref().expect("it is complete");
            let x = crate::headers::Headers::after_status_line(&head.bytes)
                .find(|(name, _)| *name == b"X")
                .map_or("-".into(), |(_, value)| escape(value));
            let (major, minor) = head.version;
            let (status, reason) = (head.status, escape(&head.bytes[head.reason.clone()]));
            let body = if bodiless {
                "null".into()
            } else {
                escape(&receiver.body.stored)
            };
            format!("ok|{status}|HTTP/{major}.{minor}|{reason}|{body}|{kept}|{x}")
        }
        Err(kind) => format!("fail|{}", java(&kind)),
    }
}

fn receive(pieces: &[&[u8]]) -> Result<Receiver, FailureKind> {
    let mut receiver = Receiver::new(WantedParts::ALL, false, SizeLimits::default());
    for piece in pieces {
        if receiver.is_done() {
            return Ok(receiver);
        }
        receiver.push(piece)?;
    }
    if !receiver.is_done() {
        receiver.end_of_stream()?;
    }
    Ok(receiver)
}

#[test]
fn as_http_client_however_the_bytes_are_split() {
    let mut cases = 0;
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.splitn(3, '|');
        let mut field = || fields.next().expect("three fields");
        let (name, bytes, expected) = (field(), unescape(field()), field());
        // Java's messages for these are not reproduced.
        let expected = expected.replace("[0x2f]200[0x33]", "?200?").replace(
            "ZipException: Unexpected end of stream",
            "EOFException: null",
        );
        assert_eq!(outcome(&[&bytes]), expected, "{name}");
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(outcome(&single), expected, "{name}, byte by byte");
        for at in 0..bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(outcome(&[a, b]), expected, "{name}, split at {at}");
        }
        cases += 1;
    }
    assert!(cases > 100);
}

#[test]
fn a_body_that_nobody_reads_is_kept_if_the_status_is_a_failure() {
    let want = WantedParts {
        keep: Keep::Failed(3),
        ..WantedParts::NOTHING
    };
    for (status, kept) in [("200 OK", None), ("404 Not Found", Some(b"nob".to_vec()))] {
        let mut receiver = Receiver::new(want, false, SizeLimits::default());
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 6\r\n\r\nnobody");
        let taken = receiver.push(text.as_bytes());
        assert_eq!(taken.expect("it is a response"), text.len());
        assert!(receiver.is_done());
        assert_eq!((receiver.body.len, receiver.body.take_parts().0), (6, kept));
    }
}

#[test]
fn every_byte_is_accounted_for() {
    let bytes = b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\nabc\r\n0\r\nT: x\r\n\r\nsurplus";
    for at in 0..bytes.len() {
        let mut receiver = Receiver::new(WantedParts::NOTHING, false, SizeLimits::default());
        let (a, b) = bytes.split_at(at);
        let mut taken = receiver.push(a).expect("the response is good");
        if !receiver.is_done() {
            taken += receiver.push(b).expect("the response is good");
        }
        assert!(receiver.is_done());
        assert_eq!(taken, bytes.len() - b"surplus".len(), "split at {at}");
        assert_eq!(receiver.head_bytes + receiver.body_bytes, taken as u64);
        assert_eq!(receiver.body.len, 3);
    }
}

#[test]
fn memory_is_reserved_with_measure() {
    let receiver = |length: u64| {
        let mut receiver = Receiver::new(WantedParts::ALL, false, SizeLimits::UNLIMITED);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        receiver.push(head.as_bytes()).expect("the head is good");
        receiver.body.stored.capacity() as u64
    };
    assert_eq!(receiver(1000), 1000);
    assert_eq!(receiver(1 << 50), MAX_RESERVE_BYTES);
}

/// A large body is copied once while it grows to its full size. A body that announces more than it sends does not get
/// that much.
#[test]
fn memory_grows_in_few_steps() {
    let steps = |announced: usize, sent: usize| {
        let mut body = Collector::new(Keep::All, SizeLimits::UNLIMITED);
        body.announce(announced as u64).expect("it may be kept");
        let mut steps = vec![body.stored.capacity()];
        let piece = vec![7; 1 << 18];
        while body.stored.len() < sent {
            let rest = sent - body.stored.len();
            body.take(&piece[..rest.min(piece.len())])
                .expect("it may be kept");
            if steps.last() != Some(&body.stored.capacity()) {
                steps.push(body.stored.capacity());
            }
        }
        steps
    };
    const FIRST: usize = MAX_RESERVE_BYTES as usize;
    let large = 50_000_000;
    assert_eq!(steps(large, large), [FIRST, large]);
    assert_eq!(steps(1 << 40, FIRST), [FIRST]);
    assert_eq!(steps(1 << 40, FIRST + 1), [FIRST, GROWTH * FIRST]);
    // A body longer than announced, such as a decoded one, grows as it arrives.
    assert!(steps(1_000_000, large).len() > 4);
}
