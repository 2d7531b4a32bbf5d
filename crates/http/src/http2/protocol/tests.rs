//! The rules of RFC 9113, frame by frame.

use std::rc::Rc;

use super::super::frame::{FrameHead, HEAD_BYTES, MAX_PAYLOAD_BYTES, PREFACE, put_head};
use super::*;
use crate::known_heads::KnownHeads;

/// The client's state, and the server's bytes.
struct Link {
    protocol: Protocol,
    heads: KnownHeads,
}

/// A head, a body and trailers.
type Answer = (String, Vec<u8>, Option<Vec<u8>>);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_head(&mut bytes, payload.len(), kind, flags, stream);
    [bytes, payload.to_vec()].concat()
}

/// `:status: 200`, a whole head.
fn head(stream: u32, flags: u8) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flags, stream, b"\x88")
}

fn sizes() -> SizeLimits {
    SizeLimits {
        head_bytes: 1000,
        ..SizeLimits::default()
    }
}

impl Link {
    /// A connection whose server has sent these settings.
    fn with(settings: &[u8]) -> Link {
        let mut link = Link {
            protocol: Protocol::new(sizes()),
            heads: KnownHeads::default(),
        };
        link.receive(&frame(kind::SETTINGS, 0, 0, settings));
        link.sent();
        link
    }

    /// A connection with the stream 1, whose request is complete or not.
    fn open(ends: bool) -> Link {
        let mut link = Link::with(b"");
        assert_eq!(link.request(ends), Some(1));
        link.sent();
        link
    }

    fn request(&mut self, ends: bool) -> Option<u32> {
        let mut fields = RequestFields::default();
        fields.add(b":path", b"/");
        match self.protocol.poll_open(&Rc::new(fields), ends, 7) {
            Poll::Ready(opened) => opened.ok(),
            Poll::Pending => None,
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        let mut room = HeadRoom {
            heads: &self.heads,
            lines: &mut Vec::new(),
        };
        self.protocol.receive(bytes, &mut room);
    }

    /// The frames that were sent since the last time: kind, stream and payload.
    fn sent(&mut self) -> Vec<(u8, u32, Vec<u8>)> {
        let output = std::mem::take(&mut self.protocol.output);
        let mut rest = output.strip_prefix(PREFACE).unwrap_or(&output);
        let mut frames = Vec::new();
        while let Some(head) = FrameHead::read(rest) {
            let (payload, after) = rest[HEAD_BYTES..].split_at(head.length);
            frames.push((head.kind, head.stream, payload.to_vec()));
            rest = after;
        }
        frames
    }

    /// The response on a stream: its head, its body and trailers.
    fn response(&mut self, id: u32) -> Result<Answer, FailureKind> {
        let mut text = String::new();
        let mut body = Vec::new();
        loop {
            match self.protocol.poll_begin(id) {
                Poll::Ready(Ok(Begin::Head(head, _))) => {
                    text = String::from_utf8_lossy(&head.bytes).into();
                    break;
                }
                Poll::Ready(Ok(Begin::Interim(_))) => {}
                Poll::Ready(Err(kind)) => return Err(kind),
                Poll::Pending => return Ok((text, body, None)),
            }
        }
        loop {
            match self.protocol.poll_piece(id) {
                Poll::Ready(Ok(Piece::Data(data))) => {
                    body.extend_from_slice(&data);
                    self.protocol.consumed(id, data);
                }
                Poll::Ready(Ok(Piece::End(trailers))) => return Ok((text, body, trailers)),
                Poll::Ready(Err(kind)) => return Err(kind),
                Poll::Pending => return Ok((text, body, None)),
            }
        }
    }

    fn failure(&mut self, id: u32) -> Option<Http2Failure> {
        match self.response(id) {
            Err(FailureKind::Http2(failure)) => Some(failure),
            _ => None,
        }
    }
}

#[test]
fn a_connection_begins_with_preface_settings_and_window() {
    let mut protocol = Protocol::new(sizes());
    assert!(protocol.output.starts_with(PREFACE));
    let mut link = Link {
        protocol: Protocol::new(sizes()),
        heads: KnownHeads::default(),
    };
    let kinds: Vec<u8> = link.sent().iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, [kind::SETTINGS, kind::WINDOW_UPDATE]);
    protocol.leave();
    assert!(protocol.is_over());
}

#[test]
fn a_response_may_come_in_pieces_of_any_size() {
    let trailer = frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        1,
        b"\x40\x01t\x01v",
    );
    let answer = [
        frame(kind::HEADERS, 0, 1, b"\x88"),
        frame(kind::CONTINUATION, flag::END_HEADERS, 1, b"\x5f\x01x"),
        frame(kind::DATA, 0, 1, b"hello "),
        frame(kind::DATA, flag::PADDED, 1, b"\x03you\0\0\0"),
        frame(kind::DATA, flag::PADDED, 1, b"\x01\0"),
        frame(kind::DATA, 0, 1, b""),
        frame(0xEE, 0xFF, 1, b"of another standard"),
        trailer,
    ]
    .concat();
    for piece in 1..=answer.len() {
        let mut link = Link::open(true);
        answer.chunks(piece).for_each(|bytes| link.receive(bytes));
        let (head, body, trailers) = link.response(1).expect("a response");
        assert_eq!(head, "HTTP/2.0 200 OK\r\ncontent-type: x\r\n\r\n");
        assert_eq!(body, b"hello you");
        assert_eq!(trailers.as_deref(), Some(&b"t: v\r\n"[..]));
        assert!(link.sent().is_empty() && link.protocol.partial.is_empty());
    }
}

#[test]
fn errors_of_the_connection_end_it() {
    const BIG: [u8; 4] = [0x7F, 0xFF, 0xFF, 0xFF];
    for (bytes, code) in [
        (frame(kind::DATA, 0, 0, b"x"), code::PROTOCOL_ERROR),
        (frame(kind::DATA, 0, 3, b"x"), code::PROTOCOL_ERROR),
        (frame(kind::DATA, 0, 2, b"x"), code::PROTOCOL_ERROR),
        (head(3, 0), code::PROTOCOL_ERROR),
        (head(0, 0), code::PROTOCOL_ERROR),
        (
            frame(kind::DATA, 0, 1, &[0; MAX_PAYLOAD_BYTES + 1]),
            code::FRAME_SIZE_ERROR,
        ),
        (
            [head(1, 0), frame(kind::DATA, flag::PADDED, 1, b"\x02x")].concat(),
            code::PROTOCOL_ERROR,
        ),
        (
            [head(1, flag::END_STREAM), frame(kind::DATA, 0, 1, b"x")].concat(),
            code::STREAM_CLOSED,
        ),
        (
            [head(1, flag::END_STREAM), head(1, 0)].concat(),
            code::STREAM_CLOSED,
        ),
        (
            frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x80"),
            code::COMPRESSION_ERROR,
        ),
        (
            frame(kind::CONTINUATION, flag::END_HEADERS, 1, b""),
            code::PROTOCOL_ERROR,
        ),
        (
            [
                frame(kind::HEADERS, 0, 1, b""),
                frame(kind::PING, 0, 0, &[0; 8]),
            ]
            .concat(),
            code::PROTOCOL_ERROR,
        ),
        (frame(kind::PRIORITY, 0, 1, b""), code::FRAME_SIZE_ERROR),
        (frame(kind::RST_STREAM, 0, 1, b""), code::FRAME_SIZE_ERROR),
        (frame(kind::RST_STREAM, 0, 3, &[0; 4]), code::PROTOCOL_ERROR),
        (frame(kind::SETTINGS, 0, 1, b""), code::PROTOCOL_ERROR),
        (frame(kind::SETTINGS, 0, 0, b"x"), code::FRAME_SIZE_ERROR),
        (
            frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]),
            code::FRAME_SIZE_ERROR,
        ),
        (
            frame(kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1]),
            code::PROTOCOL_ERROR,
        ),
        (
            frame(kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0]),
            code::FLOW_CONTROL_ERROR,
        ),
        (
            frame(kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1]),
            code::PROTOCOL_ERROR,
        ),
        (
            frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2]),
            code::PROTOCOL_ERROR,
        ),
        (frame(kind::PING, 0, 0, b""), code::FRAME_SIZE_ERROR),
        (frame(kind::GOAWAY, 0, 0, &[0; 7]), code::FRAME_SIZE_ERROR),
        (
            frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4]),
            code::PROTOCOL_ERROR,
        ),
        (
            frame(kind::WINDOW_UPDATE, 0, 0, b""),
            code::FRAME_SIZE_ERROR,
        ),
        (
            frame(kind::WINDOW_UPDATE, 0, 0, &BIG),
            code::FLOW_CONTROL_ERROR,
        ),
        (
            frame(kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1]),
            code::PROTOCOL_ERROR,
        ),
    ] {
        let mut link = Link::open(false);
        link.receive(&bytes);
        assert!(link.protocol.is_over(), "{bytes:?}");
        let said = [vec![0; 4], code.to_be_bytes().to_vec()].concat();
        let last = link.sent().pop();
        assert_eq!(last, Some((kind::GOAWAY, 0, said)), "{bytes:?}");
        // Nothing is read any more.
        link.receive(&head(1, flag::END_STREAM));
        assert!(link.request(true).is_none() && link.sent().is_empty());
    }
    let mut link = Link {
        protocol: Protocol::new(sizes()),
        heads: KnownHeads::default(),
    };
    link.receive(&frame(kind::PING, 0, 0, &[0; 8]));
    assert!(link.protocol.is_over());
}

#[test]
fn errors_of_a_stream_leave_the_connection_to_others() {
    let block = |block: &[u8]| frame(kind::HEADERS, flag::END_HEADERS, 1, block);
    let protocol_error = [
        frame(kind::DATA, 0, 1, b"x"),
        [head(1, 0), head(1, 0)].concat(),
        [head(1, 0), block(b"\x40\x01t\x01v")].concat(),
        block(b"\x40\x01t\x01v"),
        block(b"\x88\x88"),
        block(b"\x5f\x01x\x88"),
        block(b"\x08\x03abc"),
        block(b"\x08\x0420 0"),
        block(b"\x88\x82"),
        block(b"\x88\x40\x0aconnection\x05close"),
        // Trailers with a status; `:status: 103` at the end of a stream.
        [head(1, 0), head(1, flag::END_STREAM)].concat(),
        frame(
            kind::HEADERS,
            flag::END_HEADERS | flag::END_STREAM,
            1,
            b"\x08\x03103",
        ),
        frame(kind::WINDOW_UPDATE, 0, 1, &[0; 4]),
    ];
    let overflow = frame(kind::WINDOW_UPDATE, 0, 1, &[0x7F, 0xFF, 0xFF, 0xFF]);
    let all = protocol_error.map(|bytes| (bytes, code::PROTOCOL_ERROR));
    for (bytes, code) in all
        .into_iter()
        .chain([(overflow, code::FLOW_CONTROL_ERROR)])
    {
        let mut link = Link::open(false);
        link.receive(&bytes);
        let said = (kind::RST_STREAM, 1, code.to_be_bytes().to_vec());
        assert_eq!(link.sent(), [said], "{bytes:?}");
        assert_eq!(link.failure(1), Some(Http2Failure::Broken(code)));
        link.protocol.close(1);
        assert_eq!(link.request(true), Some(3));
        link.receive(&head(3, flag::END_STREAM));
        assert!(link.response(3).is_ok());
    }
}

#[test]
fn a_server_sends_no_more_than_the_windows() {
    let data = frame(kind::DATA, 0, 1, &[0; MAX_PAYLOAD_BYTES]);
    let frames = STREAM_WINDOW_BYTES as usize / MAX_PAYLOAD_BYTES;
    let mut link = Link::open(true);
    link.receive(&head(1, 0));
    (0..frames).for_each(|_| link.receive(&data));
    assert!(link.sent().is_empty());
    link.receive(&frame(kind::DATA, 0, 1, b"x"));
    let code = code::FLOW_CONTROL_ERROR;
    let said = (kind::RST_STREAM, 1, code.to_be_bytes().to_vec());
    assert_eq!(link.sent(), [said]);
    // The exchange reads the data that have arrived before it sees the failure.
    let Poll::Ready(Ok(Begin::Head(..))) = link.protocol.poll_begin(1) else {
        panic!("the head is there");
    };
    let Poll::Ready(Ok(Piece::Data(data))) = link.protocol.poll_piece(1) else {
        panic!("the data are there");
    };
    assert_eq!(data.len(), STREAM_WINDOW_BYTES as usize);
    // Half of the connection's window is announced again, with the byte that was too much.
    link.protocol.consumed(1, data);
    let increment = (STREAM_WINDOW_BYTES + 1).to_be_bytes().to_vec();
    assert_eq!(link.sent(), [(kind::WINDOW_UPDATE, 0, increment)]);
}

#[test]
fn a_request_waits_for_the_servers_windows() {
    let mut link = Link::with(&[0, 4, 0, 0, 0, 10]);
    assert_eq!(link.request(false), Some(1));
    let send = |link: &mut Link, ends| {
        let Poll::Ready(Ok(Some(room))) = link.protocol.poll_room(1) else {
            return 0;
        };
        let sent = link.protocol.send_data(1, room, ends, |_| Ok(()));
        sent.map_or(0, |_| room)
    };
    assert_eq!((send(&mut link, false), send(&mut link, false)), (10, 0));
    link.receive(&frame(kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 5]));
    assert_eq!(link.protocol.stirred, [7]);
    assert_eq!((send(&mut link, false), send(&mut link, false)), (5, 0));
    // A smaller window than what was sent, and a larger one.
    link.receive(&frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 1]));
    assert_eq!(send(&mut link, false), 0);
    link.receive(&frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]));
    assert_eq!(send(&mut link, true), MAX_PAYLOAD_BYTES);
    // All is sent.
    assert!(matches!(link.protocol.poll_room(1), Poll::Ready(Ok(None))));
}

#[test]
fn a_server_may_refuse_the_rest_of_a_request() {
    let mut link = Link::open(false);
    link.receive(&head(1, flag::END_STREAM));
    assert!(matches!(
        link.protocol.poll_room(1),
        Poll::Ready(Ok(Some(_)))
    ));
    link.receive(&frame(kind::RST_STREAM, 0, 1, &[0; 4]));
    assert!(matches!(link.protocol.poll_room(1), Poll::Ready(Ok(None))));
    assert!(link.response(1).is_ok());
    link.protocol.close(1);
    assert!(link.sent().is_empty());
}

#[test]
fn frames_for_streams_that_were_given_up_are_ignored() {
    let mut link = Link::open(true);
    link.receive(&[head(1, 0), frame(kind::DATA, 0, 1, b"x")].concat());
    link.protocol.close(1);
    let said = (kind::RST_STREAM, 1, code::CANCEL.to_be_bytes().to_vec());
    assert_eq!(link.sent(), [said]);
    // Their fields still enter the table.
    let block = frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        1,
        b"\x40\x01t\x01v",
    );
    link.receive(&[frame(kind::DATA, 0, 1, b"y"), block].concat());
    assert_eq!(link.request(true), Some(3));
    link.receive(&frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        3,
        b"\x88\xbe",
    ));
    let (head, ..) = link.response(3).expect("a response");
    assert_eq!(head, "HTTP/2.0 200 OK\r\nt: v\r\n\r\n");
    link.protocol.close(3);
    // The server itself has ended that one.
    link.receive(&frame(kind::DATA, 0, 3, b"x"));
    assert!(link.protocol.is_over());
}

#[test]
fn after_a_goodbye_the_streams_that_it_names_go_on() {
    let mut link = Link::open(true);
    assert_eq!(link.request(true), Some(3));
    let goodbye = [0, 0, 0, 1, 0, 0, 0, 0];
    link.receive(&frame(kind::GOAWAY, 0, 0, &goodbye));
    assert_eq!(link.failure(3), Some(Http2Failure::GoAway(0)));
    assert!(!link.protocol.is_fit() && !link.protocol.is_over());
    assert_eq!(link.request(true), None);
    link.receive(&head(1, flag::END_STREAM));
    assert!(link.response(1).is_ok());
    link.protocol.end_of_input();
    assert!(link.protocol.is_over());
}

#[test]
fn the_server_limits_the_streams() {
    let mut link = Link::with(&[0, 3, 0, 0, 0, 2]);
    assert_eq!(
        [link.request(true), link.request(true), link.request(true)],
        [Some(1), Some(3), None]
    );
    link.receive(&frame(kind::RST_STREAM, 0, 1, &7_u32.to_be_bytes()));
    assert_eq!(
        link.failure(1),
        Some(Http2Failure::Reset(code::REFUSED_STREAM))
    );
    link.protocol.close(1);
    assert_eq!(link.request(true), Some(5));
}

#[test]
fn heads_have_bounds() {
    // Continuations without an end, also empty ones.
    for piece in [&[0; 10][..], &[]] {
        let mut link = Link::open(true);
        link.receive(&frame(kind::HEADERS, 0, 1, piece));
        let more = frame(kind::CONTINUATION, 0, 1, piece);
        (0..1000).for_each(|_| link.receive(&more));
        let limit = sizes().head_bytes;
        let found = link.response(1).expect_err("it is too large");
        assert!(matches!(found, FailureKind::HeadTooLarge { limit: own } if own == limit));
        assert!(link.protocol.is_over() && link.protocol.block.is_none());
    }
    // A small block that is large when it is unpacked: the same field, again and again.
    let mut link = Link::open(true);
    let field = [&b"\x88\x40\x01t\x64"[..], &[b'v'; 100], &[0xBE; 500]].concat();
    link.receive(&frame(kind::HEADERS, flag::END_HEADERS, 1, &field));
    let found = link.response(1).expect_err("it is too large");
    assert!(matches!(found, FailureKind::HeadTooLarge { .. }));
    assert!(!link.protocol.is_over());
}

#[test]
fn floods_take_no_memory() {
    let mut link = Link::open(true);
    let hint = frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x08\x03103");
    (0..1000).for_each(|_| link.receive(&hint));
    let Poll::Ready(Ok(Begin::Interim(heads))) = link.protocol.poll_begin(1) else {
        panic!("they have arrived");
    };
    assert_eq!(heads.count, 1000);
    assert!(link.sent().is_empty() && link.protocol.stirred.len() == 1);
    // Each ping has an answer, for which the connection stops reading.
    let ping = frame(kind::PING, 0, 0, &[0; 8]);
    (0..4000).for_each(|_| link.receive(&ping));
    assert!(link.protocol.output.len() > OUTPUT_BYTES);
    assert_eq!(link.request(true), None);
}
