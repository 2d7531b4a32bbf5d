//! Exchanges by the rules of `java.net.HttpURLConnection`.

use std::time::Duration;

use crate::peer::{Do, GET, LIMITS, Peer, answer, answer_and_close, run, session};
use drumfire_http::{
    ClientRules, Decode, Failure, FailureKind, Incoming, Outgoing, Session, Target, WantedParts,
    exchange,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn target(peer: &Peer) -> Target {
    Target {
        rules: ClientRules::UrlConnection,
        ..peer.target()
    }
}

async fn get(session: &Session, peer: &Peer) -> Result<Box<Incoming>, Box<Failure>> {
    let want = WantedParts {
        decode: Decode::PlainGzip,
        ..WantedParts::ALL
    };
    exchange(session, &target(peer), Outgoing::new(GET), want, LIMITS).await
}

/// The response to a request that one connection answers with these bytes before it closes.
fn answered(bytes: &[u8]) -> Result<Box<Incoming>, Box<Failure>> {
    let peer = Peer::start(vec![answer_and_close(bytes), answer_and_close(bytes)]);
    run(async { get(&session(), &peer).await })
}

fn kept(headers: &str) -> bool {
    let bytes = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\n\r\n");
    let peer = Peer::start(vec![answer(bytes.as_bytes())]);
    let response = run(async { get(&session(), &peer).await });
    response.expect("the response is good").kept_alive
}

#[test]
fn a_header_closes_the_connection_unless_it_says_keep_alive_alone() {
    assert!(kept(""));
    assert!(kept("Connection: Keep-Alive\r\n"));
    assert!(kept(
        "Connection: keep-alive\r\nKeep-Alive: timeout=3, max=2\r\n"
    ));
    assert!(!kept("Connection: keep-alive\r\nKeep-Alive: max=1\r\n"));
    assert!(!kept("Connection: keep-alive\r\nKeep-Alive: timeout=0\r\n"));
    assert!(!kept("Connection: upgrade\r\n"));
    assert!(!kept("Connection: keep-alive, upgrade\r\n"));
    // There is no proxy.
    assert!(kept("Proxy-Connection: close\r\n"));
}

#[test]
fn a_request_is_sent_again_if_the_kept_connection_was_closed() {
    let peer = Peer::start(vec![answer_and_close(OK), answer(OK)]);
    run(async {
        let session = session();
        assert!(
            get(&session, &peer)
                .await
                .expect("it is answered")
                .kept_alive
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
        let again = get(&session, &peer)
            .await
            .expect("it is answered on a new connection");
        assert!(!again.reused);
    });
}

#[test]
fn a_request_is_sent_twice_at_most() {
    let unanswered = || vec![Do::ReadHead, Do::Close];
    let peer = Peer::start(vec![unanswered(), unanswered(), answer(OK)]);
    let failure = run(async { get(&session(), &peer).await }).expect_err("nobody answers");
    assert!(matches!(failure.kind, FailureKind::ClosedBeforeResponse));
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Reset], answer(OK)]);
    assert!(run(async { get(&session(), &peer).await }).is_ok());
    // Fewer bytes than a status line has are none.
    let started = vec![Do::ReadHead, Do::Send(b"HTTP/1".to_vec()), Do::Close];
    let peer = Peer::start(vec![started, answer(OK)]);
    assert!(run(async { get(&session(), &peer).await }).is_ok());
}

#[test]
fn a_body_may_end_early() {
    let cut =
        answered(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello").expect("it is a response");
    assert_eq!(cut.body.as_deref(), Some(&b"hello"[..]));
    assert!(!cut.kept_alive);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello";
    assert!(answered(chunked).is_err());
}

#[test]
fn invalid_gzip_bodies_of_successes_are_dropped() {
    let zipped = |status: &str| {
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
        );
        answered(text.as_bytes())
    };
    let dropped = zipped("200 OK").expect("it is a response");
    assert_eq!(
        (dropped.body.as_deref(), dropped.body_len),
        (Some(&b""[..]), 0)
    );
    assert!(!dropped.kept_alive);
    let failure = zipped("404 Not Found").expect_err("its body is read as that of a failure");
    assert!(matches!(failure.kind, FailureKind::Decode(_)));
}

#[test]
fn a_stream_without_a_status_line_is_a_response_without_status() {
    for text in [
        "hello, this is no HTTP",
        "HTTP/2 200\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
    ] {
        let unknown = answered(text.as_bytes()).expect("it is a response");
        assert_eq!(
            (unknown.status, unknown.reason()),
            (0, &b"unknown/unknown"[..]),
            "{text}"
        );
        assert!(!unknown.kept_alive);
    }
}

#[test]
fn only_a_100_is_an_interim_response_and_trailers_are_headers() {
    let early =
        answered(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n");
    assert_eq!(early.expect("it is a response").status, 103);
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n";
    let chunked = answered(chunked).expect("it is a response");
    assert_eq!(chunked.header("x"), Some(&b"y"[..]));
    assert!(chunked.kept_alive);
}

#[test]
fn each_client_has_connections_of_its_own() {
    let peer = Peer::start(vec![answer(OK), answer(OK)]);
    run(async {
        let session = session();
        get(&session, &peer).await.expect("it is answered");
        let other = crate::peer::get(&session, &peer.target()).await;
        assert!(!other.expect("it is answered").reused);
    });
}
