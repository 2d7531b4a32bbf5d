//! HTTP/3 against the server half of the `h3` crate: what is sent, what comes back, and how long connections live.
#![cfg(feature = "http3")]

use std::rc::Rc;
use std::time::Duration;

use drumfire_http::{
    Body, FailureKind, Handshake, Http3Failure, HttpVersion, Incoming, Keep, Limits, Outgoing,
    Phase, PoolOptions, Session, SourceAddresses, Target, Tls, TlsFailure, TlsOptions, TlsSessions,
    WantedParts, Worker, exchange,
};
use drumfire_testkit::http3::{Http3Options, Http3Server};
use tokio::task::LocalSet;

fn target(port: u16) -> Target {
    Target {
        version: HttpVersion::Http3,
        ..Target::new("127.0.0.1", port, true)
    }
}

fn session() -> Session {
    session_with(&TlsOptions::default())
}

fn session_with(tls: &TlsOptions) -> Session {
    let tls = Tls::new(tls).expect("the options are valid");
    Session::new(Worker::new(tls, PoolOptions::default()))
}

fn head(path: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nConnection: keep-alive\r\nHost: shop.test\r\nX-Case: Kept\r\n\r\n"
    )
    .into_bytes()
}

async fn get(session: &Session, port: u16, path: &str) -> Result<Box<Incoming>, FailureKind> {
    get_within(session, port, path, Limits::default()).await
}

async fn get_within(
    session: &Session,
    port: u16,
    path: &str,
    limits: Limits,
) -> Result<Box<Incoming>, FailureKind> {
    let (head, target) = (head(path), target(port));
    let outgoing = Outgoing::new(&head);
    let sent = exchange(session, &target, outgoing, WantedParts::ALL, limits).await;
    sent.map_err(|failure| failure.kind)
}

/// A limit on the silence of the server.
fn silence(limit: Duration) -> Limits {
    Limits {
        response: Some(limit),
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_response_and_what_is_counted_of_it() {
    let server = Http3Server::start();
    let port = server.address.port();
    let session = session();
    let first = get(&session, port, "/a?b=c").await.expect("a response");
    assert_eq!((first.status, first.version), (200, (3, 0)));
    assert_eq!(first.status_line(), b"HTTP/3.0 200 OK");
    assert_eq!(first.header("Server"), Some(&b"peer"[..]));
    assert_eq!(first.body.as_deref(), Some(&b"hello"[..]));
    assert_eq!(first.wire.sent_bytes, head("/a?b=c").len() as u64);
    assert_eq!((first.wire.head_bytes, first.wire.body_bytes), (33, 5));
    assert!(first.kept_alive && !first.reused);
    assert_eq!(first.handshake, Some(Handshake::Full));
    let times = first.times;
    let order = [
        Some(times.begin),
        times.resolved,
        times.connected,
        times.sent,
        times.first_byte,
        times.first_body,
        Some(times.end),
    ];
    assert!(order.iter().all(Option::is_some) && order.is_sorted());
    // The handshake is QUIC's and TLS's in one.
    assert_eq!(times.tcp_connected, None);
    let second = get(&session, port, "/empty").await.expect("a response");
    assert_eq!((second.status, second.body_len), (204, 0));
    assert!(second.reused && second.handshake.is_none() && second.times.connected.is_none());
    let expected = [
        "0 GET https://shop.test/a?b=c x-case=Kept",
        "0 GET https://shop.test/empty x-case=Kept",
    ];
    assert_eq!(server.seen(), expected);
    let statistics = session.worker().statistics();
    assert_eq!(
        (
            statistics.connections_opened,
            statistics.connections_reused,
            statistics.handshakes_full,
            statistics.exchanges
        ),
        (1, 1, 1, 2)
    );
}

#[tokio::test]
async fn bodies_larger_than_all_windows_both_ways() {
    let server = Http3Server::start();
    let (session, target) = (session(), target(server.address.port()));
    let length = 20 << 20;
    let long = head(&format!("/long/{length}"));
    let limits = Limits::default();
    let outgoing = Outgoing::new(&long);
    let counted = exchange(&session, &target, outgoing, WantedParts::NOTHING, limits).await;
    assert_eq!(counted.expect("a response").body_len, length);
    let sent = vec![7; 3 << 20];
    let post = b"POST /echo HTTP/1.1\r\nHost: shop.test\r\n\r\n";
    let outgoing = Outgoing {
        body: Body::Bytes(&sent),
        ..Outgoing::new(post)
    };
    let want = WantedParts {
        keep: Keep::UpTo(10),
        ..WantedParts::ALL
    };
    let echoed = exchange(&session, &target, outgoing, want, limits).await;
    let echoed = echoed.expect("a response");
    assert_eq!(echoed.header("x-length"), Some(&b"3145728"[..]));
    assert_eq!((echoed.body_len, echoed.body), (3 << 20, Some(vec![7; 10])));
    assert_eq!(echoed.wire.sent_bytes, post.len() as u64 + (3 << 20));
    // The server answers without looking at the body.
    let enough = b"POST /enough HTTP/1.1\r\nHost: shop.test\r\n\r\n";
    let outgoing = Outgoing {
        body: Body::Bytes(&sent),
        ..Outgoing::new(enough)
    };
    let answered = exchange(&session, &target, outgoing, WantedParts::ALL, limits).await;
    let answered = answered.expect("a response");
    assert_eq!((answered.status, answered.reused), (200, true));
}

#[tokio::test]
async fn several_at_once_share_the_connection_they_open() {
    let server = Http3Server::start();
    let port = server.address.port();
    let test = async {
        let session = Rc::new(session());
        let mut running = tokio::task::JoinSet::new();
        for number in 0..5 {
            let session = session.clone();
            running.spawn_local(async move {
                // None is answered before all have come.
                let got = get(&session, port, &format!("/meet/{number}")).await;
                got.expect("a response").status
            });
        }
        while let Some(status) = running.join_next().await {
            assert_eq!(status.expect("it ends"), 200);
        }
        assert_eq!(session.worker().statistics().connections_opened, 1);
    };
    LocalSet::new().run_until(test).await;
    let seen = server.seen();
    assert!(seen.len() == 5 && seen.iter().all(|text| text.starts_with("0 ")));
}

#[tokio::test]
async fn resets_and_silence_are_of_one_stream() {
    let server = Http3Server::start();
    let port = server.address.port();
    let session = session();
    let broken = Http3Failure::Reset(0x102);
    assert_eq!(broken.code_name(), Some("H3_INTERNAL_ERROR"));
    for path in ["/refuse", "/cut"] {
        let reset = get(&session, port, path).await.err();
        assert!(
            matches!(reset, Some(FailureKind::Http3(kind)) if kind == broken),
            "{path}: {reset:?}"
        );
        assert!(get(&session, port, "/").await.expect("a response").reused);
    }
    let silent = get_within(
        &session,
        port,
        "/silent",
        silence(Duration::from_millis(50)),
    )
    .await;
    assert!(matches!(silent.err(), Some(FailureKind::ReadTimeout)));
    assert!(get(&session, port, "/").await.expect("a response").reused);
    // Requests that the server has not looked at go out once more.
    server.seen();
    let rejected = get(&session, port, "/reject").await.err();
    let rejection = Http3Failure::Reset(0x10b);
    assert!(matches!(rejected, Some(FailureKind::Http3(kind)) if kind == rejection));
    assert_eq!(server.seen().len(), 2);
    // An interim response counts with the head.
    let early = get(&session, port, "/early").await.expect("a response");
    let interim = b"HTTP/3.0 103 Early Hints\r\n\r\n".len() as u64;
    assert_eq!((early.status, early.wire.head_bytes), (200, 33 + interim));
    assert_eq!(session.worker().statistics().connections_opened, 1);
}

#[tokio::test]
async fn connections_end_with_the_servers_word_and_with_the_iteration() {
    let server = Http3Server::start();
    let port = server.address.port();
    let session = session();
    let gone = get(&session, port, "/vanish").await.err();
    let why = Http3Failure::ClosedFor(0x102);
    assert!(matches!(gone, Some(FailureKind::Http3(kind)) if kind == why));
    assert!(!get(&session, port, "/").await.expect("a response").reused);
    // It answers this one, and takes no more.
    get(&session, port, "/goodbye").await.expect("a response");
    let mut tries = 0;
    while get(&session, port, "/").await.expect("a response").reused {
        tries += 1;
        assert!(tries < 500, "it goes on although the server said good-bye");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(session.idle_connections(), 1);
    session.close_connections();
    assert_eq!(session.idle_connections(), 0);
    assert!(!get(&session, port, "/").await.expect("a response").reused);
    assert_eq!(session.worker().statistics().connections_opened, 4);
}

#[tokio::test]
async fn a_server_that_does_not_offer_it_says_so_by_an_alert() {
    let server = Http3Server::with(Http3Options {
        alpn: b"hq-interop",
        ..Http3Options::default()
    });
    let head = head("/");
    let target = target(server.address.port());
    let session = session();
    let outgoing = Outgoing::new(&head);
    let sent = exchange(
        &session,
        &target,
        outgoing,
        WantedParts::ALL,
        Limits::default(),
    )
    .await;
    let failure = sent.expect_err("it does not speak HTTP/3");
    assert_eq!(failure.phase, Phase::TlsHandshake);
    let FailureKind::Tls(kind) = failure.kind else {
        panic!("{failure:?}");
    };
    assert_eq!(kind.alert_name(), Some("no_application_protocol"));
}

#[tokio::test]
async fn nobody_there_and_nobody_who_answers() {
    let limits = Limits {
        connect: Some(Duration::from_millis(80)),
        ..Limits::default()
    };
    let session = session();
    let deaf = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = deaf.local_addr().expect("it is bound").port();
    let silent = get_within(&session, port, "/", limits).await.err();
    assert!(matches!(silent, Some(FailureKind::ConnectTimeout)));
    drop(deaf);
    if cfg!(target_os = "linux") {
        let refused = get(&session, port, "/").await.err();
        assert!(matches!(refused, Some(FailureKind::Refused)), "{refused:?}");
    }
    // A server that dies says nothing; what is sent next finds nobody.
    let server = Http3Server::start();
    let port = server.address.port();
    get(&session, port, "/").await.expect("a response");
    drop(server);
    if cfg!(target_os = "linux") {
        let gone = get(&session, port, "/").await.err();
        assert!(matches!(gone, Some(FailureKind::Refused)), "{gone:?}");
        assert_eq!(session.idle_connections(), 0);
    }
}

#[tokio::test]
async fn the_servers_limit_on_silence_ends_a_connection() {
    let server = Http3Server::with(Http3Options {
        idle: Some(Duration::from_millis(500)),
        ..Http3Options::default()
    });
    let port = server.address.port();
    let session = session();
    let waited = get(&session, port, "/silent").await.err();
    let silence = Http3Failure::Silence;
    assert!(matches!(waited, Some(FailureKind::Http3(kind)) if kind == silence));
    assert!(!get(&session, port, "/").await.expect("a response").reused);
}

#[tokio::test]
async fn sessions_are_resumed_as_over_tcp() {
    let server = Http3Server::start();
    let port = server.address.port();
    let handshakes = async |sessions| {
        let session = session_with(&TlsOptions {
            sessions,
            ..TlsOptions::default()
        });
        let mut all = Vec::new();
        for forgets in [false, false, true] {
            if forgets {
                session.forget_tls_sessions();
            }
            let got = get(&session, port, "/").await.expect("a response");
            all.extend(got.handshake);
            // Tickets come right after the handshake, on their own.
            get(&session, port, "/long/100000").await.expect("another");
            session.close_connections();
        }
        all
    };
    use Handshake::{Full, Resumed};
    assert_eq!(handshakes(TlsSessions::Never).await, [Full; 3]);
    let own = handshakes(TlsSessions::PerUser).await;
    assert_eq!(own, [Full, Resumed, Full]);
    let shared = handshakes(TlsSessions::Shared).await;
    assert_eq!(shared, [Full, Resumed, Resumed]);
}

#[tokio::test]
async fn without_tls_1_3_there_is_no_quic() {
    let options = [
        TlsOptions {
            tls13: false,
            ..TlsOptions::default()
        },
        TlsOptions {
            cipher_suites: vec!["TLS_AES_256_GCM_SHA384".to_owned()],
            ..TlsOptions::default()
        },
    ];
    for options in options {
        let refused = get(&session_with(&options), 1, "/").await.err();
        let Some(FailureKind::Tls(TlsFailure::Other(text))) = refused else {
            panic!("{refused:?}");
        };
        assert!(text.starts_with("HTTP/3 needs TLS 1.3"), "{text}");
    }
}

#[tokio::test]
async fn connections_start_from_the_given_address() {
    let server = Http3Server::start();
    let target = Target {
        source: Some(SourceAddresses::new(["127.0.0.3"
            .parse()
            .expect("an address")])),
        ..target(server.address.port())
    };
    let head = head("/");
    let session = session();
    let outgoing = Outgoing::new(&head);
    let sent = exchange(
        &session,
        &target,
        outgoing,
        WantedParts::ALL,
        Limits::default(),
    )
    .await;
    assert_eq!(sent.expect("a response").status, 200);
}
