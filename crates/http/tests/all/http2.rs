//! HTTP/2 against the server half of the `h2` crate: what is sent, what comes back, and how long connections live.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_http::{
    Body, BodyWatch, FailureKind, Http2Failure, HttpVersion, Incoming, Keep, Limits, Outgoing,
    PoolOptions, Session, Target, Tls, TlsOptions, WantedParts, Watched, Worker, exchange,
};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio::task::LocalSet;

thread_local! {
    /// Where requests wait for each other.
    static MEETING: Rc<Barrier> = Rc::new(Barrier::new(5));
}

/// The requests that the server saw: one text each.
type Seen = Rc<RefCell<Vec<String>>>;

/// Runs a test beside a server that answers by path, one connection a task.
async fn with_server<F: Future<Output = ()>>(test: impl FnOnce(u16, Seen) -> F) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let seen = Seen::default();
    let local = LocalSet::new();
    let server_seen = seen.clone();
    local.spawn_local(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.expect("a connection");
            tokio::task::spawn_local(serve(stream, number, server_seen.clone()));
        }
    });
    local.run_until(test(port, seen)).await;
}

async fn serve(stream: TcpStream, number: u32, seen: Seen) {
    let mut builder = h2::server::Builder::new();
    builder.initial_window_size(1 << 20);
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let mut text = format!("{number} {} {}", request.method(), request.uri());
        for (name, value) in request.headers() {
            text += &format!(" {name}={}", String::from_utf8_lossy(value.as_bytes()));
        }
        seen.borrow_mut().push(text);
        if request.uri().path() == "/abrupt" {
            connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
            continue;
        }
        if request.uri().path() == "/goodbye" {
            connection.graceful_shutdown();
        }
        if request.uri().path() == "/vanish" {
            return;
        }
        tokio::task::spawn_local(answer(request, respond));
    }
}

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let path = request.uri().path().to_owned();
    let number = |prefix: &str| {
        path.strip_prefix(prefix)
            .and_then(|n| n.parse::<usize>().ok())
    };
    let mut response = Response::builder().header("server", "peer");
    if path == "/refuse" {
        respond.send_reset(Reason::CANCEL);
        return;
    }
    if path == "/silent" {
        std::future::pending::<()>().await;
    }
    if path.starts_with("/meet/") {
        let meeting = MEETING.with(Rc::clone);
        meeting.wait().await;
    }
    if let Some(ms) = number("/after/") {
        tokio::time::sleep(Duration::from_millis(ms as u64)).await;
    }
    let mut body = Bytes::from_static(b"hello");
    if let Some(length) = number("/long/") {
        body = vec![b'x'; length].into();
    }
    if path == "/empty" {
        let empty = response.status(204).body(()).expect("a response");
        respond.send_response(empty, true).expect("it is sent");
        return;
    }
    if path == "/echo" {
        let mut all = Vec::new();
        let mut incoming = request.into_body();
        while let Some(Ok(data)) = incoming.data().await {
            all.extend_from_slice(&data);
            let _ = incoming.flow_control().release_capacity(data.len());
        }
        response = response.header("x-length", all.len());
        body = all.into();
    }
    let response = response.body(()).expect("a response");
    let Ok(mut stream) = respond.send_response(response, false) else {
        return;
    };
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let Some(Ok(room)) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else {
            return;
        };
        let part = body.split_to(room.min(body.len()));
        let _ = stream.send_data(part, false);
    }
    let _ = stream.send_data(Bytes::new(), true);
}

/// The target of a server that has a thread of its own.
pub fn server_on_a_thread() -> Target {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        crate::peer::run(with_server(async |port, _| {
            send.send(port).expect("the test waits for it");
            std::future::pending().await
        }))
    });
    target(receive.recv().expect("the server listens"))
}

fn target(port: u16) -> Target {
    Target {
        version: HttpVersion::Http2,
        ..Target::new("127.0.0.1", port, false)
    }
}

fn session() -> Session {
    session_with(PoolOptions::default())
}

fn session_with(pool: PoolOptions) -> Session {
    let tls = Tls::new(&TlsOptions::default()).expect("the defaults are valid");
    Session::new(Worker::new(tls, pool))
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
    let head = head(path);
    let sent = exchange(
        session,
        &target(port),
        Outgoing::new(&head),
        WantedParts::ALL,
        limits,
    )
    .await;
    sent.map_err(|failure| failure.kind)
}

#[tokio::test]
async fn a_response_and_what_is_counted_of_it() {
    with_server(async |port, seen| {
        let session = session();
        let first = get(&session, port, "/a?b=c").await.expect("a response");
        assert_eq!((first.status, first.version), (200, (2, 0)));
        assert_eq!(first.status_line(), b"HTTP/2.0 200 OK");
        assert_eq!(first.header("Server"), Some(&b"peer"[..]));
        assert_eq!(first.body.as_deref(), Some(&b"hello"[..]));
        assert_eq!(first.wire.sent_bytes, head("/a?b=c").len() as u64);
        assert_eq!((first.wire.head_bytes, first.wire.body_bytes), (33, 5));
        assert!(first.kept_alive && !first.reused);
        assert!(first.times.first_body.is_some() && first.times.connected.is_some());
        let second = get(&session, port, "/empty").await.expect("a response");
        assert_eq!((second.status, second.body_len), (204, 0));
        assert!(second.reused);
        let expected = [
            "0 GET http://shop.test/a?b=c x-case=Kept",
            "0 GET http://shop.test/empty x-case=Kept",
        ];
        assert_eq!(*seen.borrow(), expected);
    })
    .await;
}

#[tokio::test]
async fn bodies_larger_than_all_windows_both_ways() {
    with_server(async |port, _| {
        let session = session();
        let length = 40 << 20;
        let path = format!("/long/{length}");
        let head = head(&path);
        let outgoing = Outgoing::new(&head);
        let target = target(port);
        let limits = Limits::default();
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
    })
    .await;
}

/// Ends a body with its first bytes.
struct Ending;

impl BodyWatch for Ending {
    fn begin(&self, _: u16, _: Option<&[u8]>) -> Option<u64> {
        Some(u64::MAX)
    }

    fn piece(&self, _: &[u8]) -> Result<(), FailureKind> {
        Ok(())
    }

    fn arrived(&self, _: Instant) -> Watched {
        Watched::Ends
    }
}

#[tokio::test]
async fn an_observer_ends_a_stream_and_leaves_the_connection_to_others() {
    with_server(async |port, _| {
        let session = session();
        let head = head(&format!("/long/{}", 40 << 20));
        let watch = Rc::new(Ending) as Rc<dyn BodyWatch>;
        let outgoing = Outgoing {
            watch: Some(&watch),
            ..Outgoing::new(&head)
        };
        let limits = Limits::default();
        let ended = exchange(
            &session,
            &target(port),
            outgoing,
            WantedParts::NOTHING,
            limits,
        )
        .await;
        let ended = ended.expect("the observer ended it");
        assert!(ended.body_len < 40 << 20 && ended.kept_alive);
        let next = get(&session, port, "/empty").await.expect("a response");
        assert!(next.reused);
    })
    .await;
}

#[tokio::test]
async fn several_at_once_share_the_connection_they_open() {
    with_server(async |port, seen| {
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
        let seen = seen.borrow();
        assert!(seen.len() == 5 && seen.iter().all(|text| text.starts_with("0 ")));
        assert_eq!(session.worker().statistics().connections_opened, 1);
    })
    .await;
}

#[tokio::test]
async fn requests_on_a_shared_connection_wake_each_other() {
    with_server(async |port, _| {
        let session = Rc::new(session());
        get(&session, port, "/").await.expect("a response");
        for (first_ms, second_ms, earlier) in [(60, 300, "first"), (300, 20, "second")] {
            let mut running = tokio::task::JoinSet::new();
            for (name, ms) in [("first", first_ms), ("second", second_ms)] {
                let session = session.clone();
                running.spawn_local(async move {
                    let got = get(&session, port, &format!("/after/{ms}")).await;
                    (name, got.expect("a response").status)
                });
                // The first waits by itself until then.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let ended = running.join_next().await.expect("two run");
            assert_eq!(ended.expect("it ends"), (earlier, 200));
            let ended = running.join_next().await.expect("one still runs");
            assert_eq!(ended.expect("it ends").1, 200);
        }
        assert_eq!(session.worker().statistics().connections_opened, 1);
    })
    .await;
}

#[tokio::test]
async fn resets_goodbyes_and_silence() {
    with_server(async |port, seen| {
        let session = session();
        let refused = get(&session, port, "/refuse").await.err();
        let reset = Http2Failure::Reset(8);
        assert!(matches!(refused, Some(FailureKind::Http2(kind)) if kind == reset));
        assert_eq!(reset.code_name(), Some("CANCEL"));
        // A reset is of one stream: the connection goes on.
        assert!(get(&session, port, "/").await.expect("a response").reused);
        let limits = Limits {
            response: Some(Duration::from_millis(50)),
            ..Limits::default()
        };
        let silent = get_within(&session, port, "/silent", limits).await.err();
        assert!(matches!(silent, Some(FailureKind::ReadTimeout)));
        assert!(get(&session, port, "/").await.expect("a response").reused);
        // It answers this one, and takes no more.
        get(&session, port, "/goodbye").await.expect("a response");
        let mut tries = 0;
        while get(&session, port, "/").await.expect("a response").reused {
            tries += 1;
            assert!(
                tries < 500,
                "it goes on although the server has said good-bye"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let abrupt = get(&session, port, "/abrupt").await.err();
        // The connection ends right behind the frame that says why.
        let told = [Http2Failure::GoAway(11), Http2Failure::Closed];
        assert!(matches!(abrupt, Some(FailureKind::Http2(kind)) if told.contains(&kind)));
        let vanished = get(&session, port, "/vanish").await.err();
        assert!(matches!(
            vanished,
            Some(FailureKind::Http2(Http2Failure::Closed) | FailureKind::Reset)
        ));
        get(&session, port, "/").await.expect("a response");
        assert!(
            seen.borrow()
                .last()
                .is_some_and(|text| text.starts_with("3 "))
        );
    })
    .await;
}

#[tokio::test]
async fn connections_end_with_the_iteration_and_with_their_time() {
    with_server(async |port, _| {
        let pool = PoolOptions {
            time_to_live: Some(Duration::from_millis(60)),
            ..PoolOptions::default()
        };
        let session = session_with(pool);
        get(&session, port, "/").await.expect("a response");
        assert_eq!(session.idle_connections(), 1);
        session.close_connections();
        assert_eq!(session.idle_connections(), 0);
        assert!(!get(&session, port, "/").await.expect("a response").reused);
        tokio::time::sleep(Duration::from_millis(80)).await;
        assert!(!get(&session, port, "/").await.expect("a response").reused);
        let statistics = session.worker().statistics();
        assert_eq!(statistics.connections_opened, 3);
        assert_eq!(
            (statistics.connections_expired, statistics.closed_by_us),
            (1, 2)
        );
    })
    .await;
}

/// A stream that is slowed down holds up no other; the limit of the exchange goes before that of all connections.
#[tokio::test]
async fn streams_are_slowed_down_each_by_itself() {
    with_server(async |port, _| {
        let speed = |bytes_per_second| NonZeroU32::new(bytes_per_second);
        let session = session_with(PoolOptions {
            bytes_per_second: speed(640_000),
            ..PoolOptions::default()
        });
        let begin = Instant::now();
        let path = "/long/64000";
        let got = get(&session, port, path).await.expect("a response");
        assert_eq!(got.body_len, 64_000);
        // 100 ms, less what is lost to whole milliseconds in each of its frames.
        assert!(begin.elapsed() >= Duration::from_millis(80));
        let hours = Limits {
            bytes_per_second: speed(1),
            ..Limits::default()
        };
        let slow = get_within(&session, port, path, hours);
        let fast = async {
            let begin = Instant::now();
            let limits = Limits {
                bytes_per_second: speed(1_280_000),
                ..Limits::default()
            };
            let post = b"POST /echo HTTP/1.1\r\nHost: shop.test\r\n\r\n";
            let body = [7; 64_000];
            let outgoing = Outgoing {
                body: Body::Bytes(&body),
                ..Outgoing::new(post)
            };
            let sent = exchange(&session, &target(port), outgoing, WantedParts::ALL, limits).await;
            let echoed = sent.expect("a response");
            assert_eq!((echoed.body_len, echoed.reused), (64_000, true));
            // 50 ms each way.
            assert!(begin.elapsed() >= Duration::from_millis(80));
        };
        tokio::select! {
            _ = slow => panic!("it takes hours"),
            () = fast => {}
        }
    })
    .await;
}

/// Over TLS the server has the choice.
#[tokio::test]
async fn alpn_decides_over_tls() {
    for (offers, version) in [(&b"h2"[..], (2, 0)), (b"http/1.1", (1, 1))] {
        let local = LocalSet::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let certified = crate::peer::tls::certificate("peer.test");
        let key = rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows them")
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.expect("PKCS#8"))
            .expect("they belong together");
        config.alpn_protocols = vec![offers.to_vec()];
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        local.spawn_local(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let stream = acceptor.accept(stream).await.expect("a handshake");
                tokio::task::spawn_local(serve_tls(stream));
            }
        });
        let test = async {
            let session = session();
            let target = Target {
                tls: true,
                ..target(port)
            };
            let head = head("/long/100000");
            for reused in [false, true] {
                let outgoing = Outgoing::new(&head);
                let sent = exchange(
                    &session,
                    &target,
                    outgoing,
                    WantedParts::ALL,
                    Limits::default(),
                );
                let incoming = sent.await.expect("a response");
                assert_eq!((incoming.version, incoming.reused), (version, reused));
                assert_eq!(incoming.body_len, 100_000);
            }
            session.close_connections();
        };
        local.run_until(test).await;
    }
}

async fn serve_tls(mut stream: tokio_rustls::server::TlsStream<TcpStream>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let mut connection = h2::server::handshake(stream).await.expect("a preface");
        while let Some(Ok((request, respond))) = connection.accept().await {
            tokio::task::spawn_local(answer(request, respond));
        }
        return;
    }
    let mut buffer = vec![0; 4096];
    while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
        stream.write_all(head).await.expect("it is sent");
        stream
            .write_all(&[b'x'; 100_000])
            .await
            .expect("it is sent");
    }
}
