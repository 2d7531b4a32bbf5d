//! Where bodies end and what becomes of broken ones, as HttpClient 4.5 has it.

use crate::peer::{Do, LIMITS, Peer, answer, get, get_from, get_from_open, run, session};
use drumfire_http::{
    BadChunk, FailureKind, Keep, Outgoing, Phase, StatusLinePart, WantedParts, exchange,
};
use std::time::Duration;

fn body_of(bytes: &[u8]) -> Vec<u8> {
    let response = get_from_open(bytes).expect("the response is good");
    response.body.expect("the body is kept")
}

#[test]
fn content_length() {
    let response =
        get_from_open(b"HTTP/1.1 200 All Right\r\nContent-Length: 5\r\nX-Case: A b \r\n\r\nhello")
            .expect("the response is good");
    assert_eq!(response.status, 200);
    assert_eq!(response.version, (1, 1));
    assert_eq!(response.reason(), b"All Right");
    assert_eq!(response.status_line(), b"HTTP/1.1 200 All Right");
    assert_eq!(response.body.as_deref(), Some(&b"hello"[..]));
    assert_eq!(response.header("x-case"), Some(&b"A b"[..]));
    assert_eq!(response.wire.sent_bytes, crate::peer::GET.len() as u64);
    assert_eq!(response.wire.head_bytes, 59);
    assert_eq!(response.wire.body_bytes, 5);
    assert!(response.kept_alive);
    assert!(!response.reused);
    let times = response.times;
    assert!(times.begin <= times.tcp_connected.expect("it was connected"));
    assert!(times.tcp_connected <= times.connected);
    assert!(times.connected <= times.sent);
    assert!(times.sent <= times.first_byte);
    assert!(times.first_byte <= times.first_body);
    assert!(times.first_body.expect("there was a body") <= times.end);
}

#[test]
fn the_last_numeric_content_length_counts_and_ambiguity_closes() {
    let response = get_from_open(
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\nhi",
    )
    .expect("the response is good");
    assert_eq!(response.body.as_deref(), Some(&b"hi"[..]));
    assert!(!response.kept_alive);
}

#[test]
fn chunks_with_extensions_and_trailers() {
    let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5;name=\"v\"\r\nhello\r\n 0A ; x\r\n0123456789\r\n0\r\nExpires: never\r\n\r\n";
    let response = get_from_open(bytes).expect("the response is good");
    assert_eq!(response.body.as_deref(), Some(&b"hello0123456789"[..]));
    assert_eq!(response.body_len, 15);
    assert_eq!(response.wire.head_bytes, 47);
    assert_eq!(response.wire.body_bytes, bytes.len() as u64 - 47);
    assert!(response.kept_alive);
}

#[test]
fn transfer_encoding_wins_over_content_length() {
    let body = body_of(
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
        2\r\nhi\r\n0\r\n\r\n",
    );
    assert_eq!(body, b"hi");
}

#[test]
fn until_close() {
    let response = get_from(b"HTTP/1.1 200 OK\r\n\r\nall there is").expect("the response is good");
    assert_eq!(response.body.as_deref(), Some(&b"all there is"[..]));
    assert!(!response.kept_alive);
    let identity =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\nxyz";
    let response = get_from(identity).expect("the response is good");
    assert_eq!(response.body.as_deref(), Some(&b"xyz"[..]));
}

#[test]
fn statuses_without_a_body() {
    for status in [204, 205, 304] {
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n");
        let response = get_from_open(head.as_bytes()).expect("the response is good");
        assert_eq!(response.body_len, 0, "{status}");
        assert_eq!(response.times.first_body, None);
        // A 204 that announces a body may well send it; HttpClient does not wait to see.
        assert_eq!(response.kept_alive, status != 204, "{status}");
    }
}

#[test]
fn head_has_no_body() {
    let peer = Peer::start(vec![
        [
            answer(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
            answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ]
        .concat(),
    ]);
    run(async {
        let session = session();
        let out = Outgoing {
            is_head: true,
            ..Outgoing::new(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        };
        let response = exchange(&session, &peer.target(), out, WantedParts::ALL, LIMITS).await;
        let response = response.expect("the response is good");
        assert_eq!((response.body_len, response.kept_alive), (0, true));
        let response = get(&session, &peer.target()).await.expect("good");
        assert!(response.reused);
        assert_eq!(response.body.as_deref(), Some(&b"ok"[..]));
    });
}

#[test]
fn interim_responses_are_skipped() {
    let response = get_from_open(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!",
    )
    .expect("the response is good");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("link"), None);
    assert_eq!(response.wire.head_bytes, 25 + 37 + 38);
}

#[test]
fn lenient_about_lines() {
    let response = get_from_open(
        b"\r\n\nrubbish\nHTTP/1.1 200 \nContent-Length : 2\nX-Folded: a\n\t b\n  c\nEmpty:\n\nhi",
    )
    .expect("the response is good");
    assert_eq!(response.reason(), b"");
    assert_eq!(response.header("X-Folded"), Some(&b"a b c"[..]));
    assert_eq!(response.header("Empty"), Some(&b""[..]));
    assert_eq!(response.body.as_deref(), Some(&b"hi"[..]));
    let names: Vec<&[u8]> = response.headers().map(|(name, _)| name).collect();
    let expected: [&[u8]; 3] = [b"Content-Length", b"X-Folded", b"Empty"];
    assert_eq!(names, expected);
}

#[test]
fn a_head_may_end_with_the_stream() {
    let response = get_from(b"HTTP/1.1 200 OK\r\nA: b").expect("HttpClient takes it");
    assert_eq!(response.header("a"), Some(&b"b"[..]));
    assert_eq!(response.body_len, 0);
}

#[test]
fn bytes_one_by_one() {
    let bytes =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let mut script = vec![Do::ReadHead];
    for byte in bytes {
        script.push(Do::Send(vec![*byte]));
        script.push(Do::Wait(Duration::from_micros(300)));
    }
    let peer = Peer::start(vec![script]);
    let response = run(async { get(&session(), &peer.target()).await }).expect("good");
    assert_eq!(response.body.as_deref(), Some(&b"abcde"[..]));
    assert_eq!(
        response.wire.head_bytes + response.wire.body_bytes,
        bytes.len() as u64
    );
}

#[test]
fn truncated_bodies() {
    let failure = get_from(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").expect_err("short");
    assert_eq!(failure.phase, Phase::Body);
    assert!(matches!(
        failure.kind,
        FailureKind::TruncatedBody {
            expected: 10,
            received: 3
        }
    ));
    let chunked = |rest: &str| {
        let bytes = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
        get_from(bytes.as_bytes()).map_err(|failure| failure.kind)
    };
    assert!(matches!(
        chunked("5\r\nab"),
        Err(FailureKind::TruncatedChunk {
            expected: 5,
            actual: 2
        })
    ));
    assert!(matches!(
        chunked("2\r\nab\r\n"),
        Err(FailureKind::MissingLastChunk)
    ));
    assert!(matches!(chunked(""), Err(FailureKind::MissingLastChunk)));
    let bad = |rest| match chunked(rest) {
        Err(FailureKind::BadChunk(bad)) => bad,
        other => panic!("{other:?}"),
    };
    assert_eq!(bad("2\r\nab"), BadChunk::MissingLineEnd);
    assert_eq!(bad("2\r\nabc\r\n0\r\n\r\n"), BadChunk::NoLineEnd);
    assert_eq!(bad("zz\r\n"), BadChunk::Size("zz".into()));
    assert_eq!(bad("\r\n"), BadChunk::Size("".into()));
    assert_eq!(bad("-1\r\n"), BadChunk::NegativeSize);
    assert_eq!(
        bad("0\r\nno colon\r\n\r\n"),
        BadChunk::Trailer("no colon".into())
    );
    // The end of the stream ends the trailers.
    assert!(chunked("2\r\nab\r\n0\r\n").is_ok());
}

#[test]
fn bad_heads() {
    let failure = |bytes: &[u8]| get_from(bytes).expect_err("the head is bad");
    let none = failure(b"");
    assert_eq!(none.phase, Phase::Head);
    assert!(matches!(none.kind, FailureKind::ClosedBeforeResponse));
    assert!(matches!(
        failure(b"<html>hello</html>").kind,
        FailureKind::NoValidResponse(line) if &*line == "<html>hello</html>"
    ));
    let part = |bytes: &[u8]| match failure(bytes).kind {
        FailureKind::BadStatusLine { part, .. } => part,
        other => panic!("{other:?}"),
    };
    assert_eq!(part(b"HTTP/1.1 2x0 OK\r\n\r\n"), StatusLinePart::Code);
    assert_eq!(part(b"HTTP/1.1  \r\n\r\n"), StatusLinePart::Code);
    assert_eq!(part(b"HTTP/one 200 OK\r\n\r\n"), StatusLinePart::Version);
    assert_eq!(part(b"HTTP/1.1 99 Low\r\n\r\n"), StatusLinePart::Range);
    match failure(b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n").kind {
        FailureKind::BadHeader(line) => assert_eq!(&*line, "nonsense"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        failure(b"HTTP/1.1 200 OK\r\n: x\r\n\r\n").kind,
        FailureKind::BadHeader(_)
    ));
    let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 2 << 20]].concat();
    assert!(matches!(
        failure(&endless).kind,
        FailureKind::HeadTooLarge { limit: 1_048_576 }
    ));
}

#[test]
fn keeping_a_part() {
    let peer = Peer::start(vec![
        [
            answer(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
            answer(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
            answer(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
        ]
        .concat(),
    ]);
    run(async {
        let session = session();
        let keep = |keep| WantedParts {
            keep,
            ..WantedParts::ALL
        };
        let ask = async |want| {
            let out = Outgoing::new(crate::peer::GET);
            let response = exchange(&session, &peer.target(), out, want, LIMITS).await;
            response.expect("the response is good")
        };
        let part = ask(keep(Keep::UpTo(4))).await;
        assert_eq!(part.body.as_deref(), Some(&b"0123"[..]));
        assert_eq!((part.body_len, part.wire.body_bytes), (10, 10));
        let nothing = ask(WantedParts::NOTHING).await;
        assert_eq!((nothing.body, nothing.body_len), (None, 10));
        assert!(nothing.reused);
        let digest = ask(keep(Keep::Md5))
            .await
            .md5
            .expect("a digest was asked for");
        // MD5("abc") of RFC 1321, appendix A.5.
        assert_eq!(
            digest,
            0x9001_5098_3cd2_4fb0_d696_3f7d_28e1_7f72_u128.to_be_bytes()
        );
    });
}
