//! Responses that are too large, and the time that a body may take at once.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::peer::{Do, GET, LIMITS, Peer, get, run, session, worker};
use drumfire_http::{
    Body, Failure, FailureKind, HttpVersion, Incoming, Keep, Limits, Outgoing, PoolOptions,
    Session, SizeLimits, Target, WantedParts, exchange,
};

const MIB: usize = 1 << 20;

const SIZES: SizeLimits = SizeLimits {
    head_bytes: 4096,
    interim_heads: 10,
    content_codings: 8,
    body_bytes: MIB as u64,
    decoded_bytes: 2 * MIB as u64,
};

/// One GET to a peer that answers with these bytes and then closes.
async fn answer(bytes: Vec<u8>, keep: Keep) -> Result<Box<Incoming>, Box<Failure>> {
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Send(bytes), Do::Close]]);
    answer_of(&peer.target(), keep).await
}

async fn answer_of(target: &Target, keep: Keep) -> Result<Box<Incoming>, Box<Failure>> {
    let pool = PoolOptions {
        sizes: SIZES,
        ..PoolOptions::default()
    };
    let session = Session::new(worker(pool));
    let want = WantedParts {
        keep,
        ..WantedParts::ALL
    };
    exchange(&session, target, Outgoing::new(GET), want, LIMITS).await
}

fn failure(bytes: Vec<u8>, keep: Keep) -> FailureKind {
    let outcome = run(answer(bytes, keep));
    outcome.expect_err("it is too large").kind
}

fn length(bytes: Vec<u8>, keep: Keep) -> u64 {
    run(answer(bytes, keep)).expect("it is not kept").body_len
}

/// A response with a body that ends with the connection.
fn response(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat()
}

/// A number of mebibytes of zeros, a gzip member each.
fn gzip_bomb(mib: usize) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member
        .write_all(&vec![0; MIB])
        .expect("writing to a vector");
    member.finish().expect("writing to a vector").repeat(mib)
}

fn brotli_bomb(mib: usize) -> Vec<u8> {
    let mut coded = Vec::new();
    let params = brotli::enc::BrotliEncoderParams {
        quality: 1,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*vec![0; mib * MIB], &mut coded, &params)
        .expect("writing to a vector");
    coded
}

#[test]
fn bodies_that_are_kept_are_bounded() {
    let is_too_large =
        |kind| matches!(kind, FailureKind::BodyTooLarge { limit } if limit == SIZES.body_bytes);
    let endless = response("", &vec![b'x'; 3 * MIB]);
    assert!(is_too_large(failure(endless.clone(), Keep::All)));
    let chunked = response(
        "Transfer-Encoding: chunked\r\n",
        &[b"300000\r\n".to_vec(), vec![b'x'; 3 * MIB]].concat(),
    );
    assert!(is_too_large(failure(chunked, Keep::All)));
    // Nobody waits for a body that announces itself as too large.
    let announced = response("Content-Length: 9999999999\r\n", b"");
    assert!(is_too_large(failure(announced, Keep::All)));
    let gzip = response("Content-Encoding: gzip\r\n", &gzip_bomb(64));
    assert!(is_too_large(failure(gzip, Keep::All)));
    let brotli = response("Content-Encoding: br\r\n", &brotli_bomb(8));
    assert!(is_too_large(failure(brotli, Keep::All)));
    for keep in [Keep::Nothing, Keep::Md5, Keep::UpTo(100)] {
        assert_eq!(length(endless.clone(), keep), 3 * MIB as u64);
    }
    let kept = response("", &vec![b'x'; MIB]);
    assert_eq!(length(kept, Keep::All), MIB as u64);
}

#[test]
fn bodies_that_are_decoded_are_bounded() {
    for keep in [Keep::Nothing, Keep::Md5, Keep::UpTo(100)] {
        let gzip = response("Content-Encoding: gzip\r\n", &gzip_bomb(64));
        let kind = failure(gzip, keep);
        assert!(matches!(kind, FailureKind::DecodedTooLarge { .. }));
        let gzip = response("Content-Encoding: gzip\r\n", &gzip_bomb(2));
        assert_eq!(length(gzip, keep), 2 * MIB as u64);
    }
}

#[test]
fn heads_are_bounded() {
    let head = |length: usize| response(&format!("X: {}\r\n", "x".repeat(length)), b"");
    let kind = failure(head(5_000), Keep::All);
    assert!(matches!(kind, FailureKind::HeadTooLarge { limit: 4096 }));
    assert_eq!(length(head(4_000), Keep::All), 0);
}

#[test]
fn a_head_in_pieces_of_one_byte_is_complete_at_its_empty_line() {
    for head in [
        "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n",
        "\n\n\r\njunk\nHTTP/1.1 204 No Content\nA: b\n\n",
    ] {
        let mut script = vec![Do::ReadHead];
        for byte in head.bytes() {
            script.extend([Do::Send(vec![byte]), Do::Wait(Duration::from_millis(1))]);
        }
        let peer = Peer::start(vec![script]);
        let incoming = run(async { get(&session(), &peer.target()).await });
        assert_eq!(incoming.expect("the head is complete").status, 204);
    }
}

#[test]
fn interim_heads_are_bounded_in_number_and_in_all() {
    let after = |interim: String| [interim.as_bytes(), &response("", b"x")].concat();
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    assert_eq!(length(after(hints.repeat(10)), Keep::All), 1);
    let kind = failure(after(hints.repeat(11)), Keep::All);
    assert!(matches!(
        kind,
        FailureKind::TooManyInterimHeads { limit: 10 }
    ));
    let long = format!(
        "HTTP/1.1 103 Early Hints\r\nX: {}\r\n\r\n",
        "x".repeat(1000)
    );
    let kind = failure(after(long.repeat(5)), Keep::All);
    assert!(matches!(kind, FailureKind::HeadTooLarge { limit: 4096 }));
}

#[test]
fn codings_are_bounded_and_unknown_names_do_not_count() {
    let coded = |names: &str| response(&format!("Content-Encoding: {names}\r\n"), b"");
    let kind = failure(coded(&"gzip,".repeat(150_000 / 64)), Keep::All);
    assert!(matches!(kind, FailureKind::HeadTooLarge { .. }));
    let kind = failure(coded(&"gzip, br, ".repeat(5)), Keep::All);
    assert!(matches!(kind, FailureKind::TooManyCodings { limit: 8 }));
    assert_eq!(length(coded(&"identity, ".repeat(50)), Keep::All), 0);
}

#[test]
fn an_upload_that_the_server_never_takes_ends_with_the_response_timeout() {
    let peer = Peer::start(vec![vec![Do::ReadHead]]);
    let upload = vec![b'x'; 32 * MIB];
    let head = format!(
        "POST / HTTP/1.1\r\nHost: peer\r\nContent-Length: {}\r\n\r\n",
        upload.len()
    );
    let limits = Limits {
        response: Some(Duration::from_millis(100)),
        ..LIMITS
    };
    let outgoing = Outgoing {
        body: Body::Bytes(&upload),
        ..Outgoing::new(head.as_bytes())
    };
    let outcome = run(async {
        let want = WantedParts::ALL;
        exchange(&session(), &peer.target(), outgoing, want, limits).await
    });
    let failure = outcome.expect_err("nothing takes the body");
    assert!(matches!(failure.kind, FailureKind::WriteTimeout));
}

/// The failure of an exchange that may take 300 ms in all, with a peer that is never silent for the 10 s of the response timeout.
fn bounded(target: &Target, body: Body<'_>) -> FailureKind {
    let pool = PoolOptions {
        max_exchange: Some(Duration::from_millis(300)),
        ..PoolOptions::default()
    };
    let limits = Limits {
        connect: Some(Duration::from_secs(10)),
        response: Some(Duration::from_secs(10)),
        ..LIMITS
    };
    let head = match body {
        Body::Bytes(bytes) => format!(
            "POST / HTTP/1.1\r\nHost: peer\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        ),
        _ => "GET / HTTP/1.1\r\nHost: peer\r\n\r\n".to_owned(),
    };
    let begin = Instant::now();
    let outcome = run(async {
        let outgoing = Outgoing {
            body,
            ..Outgoing::new(head.as_bytes())
        };
        let session = Session::new(worker(pool));
        exchange(&session, target, outgoing, WantedParts::NOTHING, limits).await
    });
    let kind = outcome.expect_err("it never ends").kind;
    assert!(begin.elapsed() >= Duration::from_millis(300), "{kind:?}");
    kind
}

/// Checks that an exchange ends with the limit if the peer sends these bytes and then repeats others.
fn ends(target: impl Fn(&Peer) -> Target, begin: &[u8], repeated: &[u8], pause: Duration) {
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Wait(Duration::from_millis(20)),
        Do::Send(begin.to_vec()),
        Do::Repeat(repeated.to_vec(), pause),
    ]]);
    let kind = bounded(&target(&peer), Body::None);
    assert!(matches!(kind, FailureKind::TookTooLong { .. }), "{kind:?}");
}

/// A peer that sends a few bytes now and then.
fn trickles(begin: &[u8], repeated: &[u8]) {
    ends(Peer::target, begin, repeated, Duration::from_millis(5));
}

/// A peer that does, and one that sends as many as it can.
fn trickles_or_floods(target: impl Fn(&Peer) -> Target, begin: &[u8], repeated: &[u8]) {
    ends(&target, begin, repeated, Duration::from_millis(5));
    ends(target, begin, &repeated.repeat(1000), Duration::ZERO);
}

#[test]
fn a_trickle_ends_with_the_limit_of_the_whole_exchange() {
    let ok = "HTTP/1.1 200 OK\r\n";
    trickles(b"", b"X");
    let length = format!("{ok}Content-Length: 1000000000000\r\n\r\n");
    trickles_or_floods(Peer::target, length.as_bytes(), b"x");
    let chunked = format!("{ok}Transfer-Encoding: chunked\r\n\r\n");
    trickles_or_floods(Peer::target, chunked.as_bytes(), b"1\r\nx\r\n");
    // The extension of a chunk, which has no end.
    trickles(format!("{chunked}1;").as_bytes(), b"x");
}

#[test]
fn frames_without_an_end_end_with_the_limit_of_the_whole_exchange() {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const PRIORITY: u8 = 2;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const UNKNOWN: u8 = 0x2a;
    const END_OF_HEADERS: u8 = 4;
    let settings = frame(SETTINGS, 0, 0, &[]);
    let answered = [settings.clone(), frame(HEADERS, END_OF_HEADERS, 1, &[0x88])].concat();
    trickles_or_floods(over_http2, &answered, &frame(DATA, 0, 1, b"x"));
    for repeated in [
        frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 16]),
        frame(PING, 0, 0, &[7; 8]),
        frame(SETTINGS, 0, 0, &[]),
        frame(UNKNOWN, 0, 0, b"x"),
    ] {
        trickles_or_floods(over_http2, &settings, &repeated);
    }
}

#[test]
fn an_upload_that_is_taken_slowly_ends_with_the_limit_of_the_whole_exchange() {
    let taken = vec![Do::ReadBytes(4096), Do::Wait(Duration::from_millis(5))];
    let mut script = vec![Do::ReadHead];
    script.extend(std::iter::repeat_n(taken, 1000).flatten());
    let peer = Peer::start(vec![script]);
    let kind = bounded(&peer.target(), Body::Bytes(&vec![b'x'; 64 * MIB]));
    assert!(matches!(kind, FailureKind::TookTooLong { .. }), "{kind:?}");
}

#[test]
fn a_connection_that_is_never_ready_ends_with_the_limit_of_the_whole_exchange() {
    // A handshake message whose bytes come one by one.
    let begin = vec![22, 3, 3, 64, 0, 2, 0, 63, 252, 3, 3];
    let peer = Peer::start(vec![vec![
        Do::Send(begin),
        Do::Repeat(vec![0], Duration::from_millis(5)),
    ]]);
    let target = Target::new("127.0.0.1", peer.address.port(), true);
    let kind = bounded(&target, Body::None);
    assert!(matches!(kind, FailureKind::TookTooLong { .. }), "{kind:?}");
}

/// A frame of HTTP/2 (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("it is short")
        .to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Settings, these frames, and a final response without a body on the first stream.
fn http2_peer(frames: Vec<u8>) -> Peer {
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const END_OF_STREAM_AND_HEADERS: u8 = 5;
    const STATUS_204: u8 = 0x89;
    let ended = frame(HEADERS, END_OF_STREAM_AND_HEADERS, 1, &[STATUS_204]);
    let sent = [frame(SETTINGS, 0, 0, &[]), frames, ended].concat();
    Peer::start(vec![vec![
        Do::ReadHead,
        Do::Wait(Duration::from_millis(50)),
        Do::Send(sent),
    ]])
}

fn over_http2(peer: &Peer) -> Target {
    Target {
        version: HttpVersion::Http2,
        ..peer.target()
    }
}

#[test]
fn interim_heads_over_http_2_are_bounded() {
    const HEADERS: u8 = 1;
    const END_OF_HEADERS: u8 = 4;
    // `:status: 103`, a literal whose name is that of index 8.
    let hint = frame(HEADERS, END_OF_HEADERS, 1, b"\x08\x03103");
    let outcome = |count| {
        let peer = http2_peer(hint.repeat(count));
        run(async { answer_of(&over_http2(&peer), Keep::All).await })
    };
    assert_eq!(outcome(10).expect("these are few").status, 204);
    let failure = outcome(11).expect_err("these are too many");
    assert!(matches!(
        failure.kind,
        FailureKind::TooManyInterimHeads { limit: 10 }
    ));
}

#[test]
fn others_have_their_turn_during_a_flood_of_priority_frames() {
    const PRIORITY: u8 = 2;
    let flood = frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 16]).repeat(2 * MIB / 14);
    let peer = http2_peer(flood);
    let target = over_http2(&peer);
    let turns = beside_others(async {
        let incoming = answer_of(&target, Keep::All).await;
        assert_eq!(incoming.expect("the flood ends").status, 204);
    });
    assert!(turns >= 8, "{turns}");
}

/// How often another task of the thread ran while this response was received.
fn turns_of_others(bytes: Vec<u8>, keep: Keep) -> usize {
    beside_others(async { drop(answer(bytes, keep).await) })
}

/// How often another task of the thread ran beside this one.
fn beside_others(one: impl Future<Output = ()>) -> usize {
    run(async {
        let turns = Cell::new(0);
        let others = async {
            loop {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = one => {}
            () = others => {}
        }
        turns.get()
    })
}

#[test]
fn others_have_their_turn_while_a_body_is_decoded() {
    // It arrives in one read.
    let bomb = gzip_bomb(2);
    assert!(bomb.len() < 64 * 1024);
    let turns = turns_of_others(response("Content-Encoding: gzip\r\n", &bomb), Keep::Md5);
    assert!(turns >= 8, "{turns}");
}
