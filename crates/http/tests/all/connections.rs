//! Which connections are reused, and how the others fail.

use drumfire_testkit::ports::free_port;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::peer::{
    Do, FixedAddresses, GET, LIMITS, Peer, answer, answer_and_close, get, run, session, worker,
};
use drumfire_http::{
    ClientRules, FailureKind, Incoming, Limits, Outgoing, Phase, PoolOptions, Session,
    SourceAddresses, Target, WantedParts, exchange,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Is a connection kept after a response with this status line and these headers?
fn kept(version: &str, headers: &str) -> bool {
    let bytes = format!("HTTP/{version} 200 OK\r\n{headers}Content-Length: 0\r\n\r\n");
    let response = crate::peer::get_from_open(bytes.as_bytes()).expect("the response is good");
    response.kept_alive
}

#[test]
fn keep_alive_matrix() {
    // DefaultConnectionReuseStrategy of HttpCore.
    assert!(kept("1.1", ""));
    assert!(!kept("1.0", ""));
    assert!(kept("1.0", "Connection: Keep-Alive\r\n"));
    assert!(!kept("1.1", "Connection: close\r\n"));
    assert!(!kept("1.1", "Connection: x, CLOSE\r\n"));
    assert!(!kept(
        "1.1",
        "Connection: keep-alive\r\nConnection: close\r\n"
    ));
    assert!(kept("1.0", "Proxy-Connection: keep-alive\r\n"));
    assert!(!kept("1.1", "Proxy-Connection: close\r\n"));
    assert!(kept(
        "1.1",
        "Connection: keep-alive\r\nProxy-Connection: close\r\n"
    ));
    assert!(kept("1.1", "Connection: upgrade\r\n"));
}

#[test]
fn the_caller_may_refuse_to_keep() {
    let peer = Peer::start(vec![answer(OK)]);
    run(async {
        let session = session();
        let out = Outgoing {
            keep_alive: false,
            ..Outgoing::new(GET)
        };
        let response = exchange(&session, &peer.target(), out, WantedParts::ALL, LIMITS).await;
        assert!(!response.expect("the response is good").kept_alive);
        assert_eq!(session.idle_connections(), 0);
    });
}

#[test]
fn reuse_is_counted() {
    let peer = Peer::start(vec![[answer(OK), answer(OK)].concat(), answer(OK)]);
    run(async {
        let session = session();
        assert!(!get(&session, &peer.target()).await.expect("good").reused);
        let second = get(&session, &peer.target()).await.expect("good");
        assert!(second.reused);
        assert_eq!(second.times.connected, None);
        session.close_connections();
        assert!(!get(&session, &peer.target()).await.expect("good").reused);
        let counts = session.worker().statistics();
        assert_eq!(counts.connections_opened, 2);
        assert_eq!(counts.connections_reused, 1);
        assert_eq!((counts.exchanges, counts.failures), (3, 0));
        assert_eq!(counts.bytes_sent, 3 * GET.len() as u64);
        assert_eq!(counts.bytes_received, 3 * OK.len() as u64);
    });
}

#[test]
fn targets_are_told_apart() {
    let peer = Peer::start(vec![answer(OK), answer(OK)]);
    run(async {
        let session = session();
        get(&session, &peer.target()).await.expect("good");
        let mut other = peer.target();
        other.source = Some(SourceAddresses::new(["127.0.0.1"
            .parse()
            .expect("an address")]));
        assert!(!get(&session, &other).await.expect("good").reused);
        assert_eq!(session.idle_connections(), 2);
    });
}

#[test]
fn a_connection_closed_by_the_server_fails_unless_validated() {
    let scripts = vec![answer_and_close(OK), answer(OK)];
    let peer = Peer::start(scripts.clone());
    run(async {
        let session = session();
        get(&session, &peer.target()).await.expect("good");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let failure = get(&session, &peer.target()).await.expect_err("closed");
        assert!(failure.reused);
        assert!(
            matches!(
                failure.kind,
                FailureKind::ClosedBeforeResponse | FailureKind::Reset | FailureKind::BrokenPipe
            ),
            "{failure}"
        );
    });
    let peer = Peer::start(scripts);
    run(async {
        let pool = PoolOptions {
            validate_after_inactivity: Some(Duration::from_millis(20)),
            ..PoolOptions::default()
        };
        let session = Session::new(worker(pool));
        get(&session, &peer.target()).await.expect("good");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!get(&session, &peer.target()).await.expect("good").reused);
        assert_eq!(session.worker().statistics().connections_stale, 1);
    });
}

#[test]
fn validation_leaves_live_connections_alone() {
    let peer = Peer::start(vec![[answer(OK), answer(OK)].concat()]);
    run(async {
        let pool = PoolOptions {
            validate_after_inactivity: Some(Duration::ZERO),
            ..PoolOptions::default()
        };
        let session = Session::new(worker(pool));
        get(&session, &peer.target()).await.expect("good");
        assert!(get(&session, &peer.target()).await.expect("good").reused);
    });
}

/// The second exchange's connection, 1.2 s after the first with these settings.
fn reused_later(pool: PoolOptions, first: &[u8]) -> bool {
    let peer = Peer::start(vec![[answer(first), answer(OK)].concat(), answer(OK)]);
    run(async {
        let session = Session::new(worker(pool));
        get(&session, &peer.target()).await.expect("good");
        tokio::time::sleep(Duration::from_millis(1200)).await;
        get(&session, &peer.target()).await.expect("good").reused
    })
}

#[test]
fn connections_expire() {
    let second = Some(Duration::from_secs(1));
    let plain = PoolOptions::default();
    let stated = b"HTTP/1.1 200 OK\r\nKeep-Alive: max=5, timeout=1\r\nContent-Length: 0\r\n\r\n";
    let longer = b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nContent-Length: 0\r\n\r\n";
    let deaf = PoolOptions {
        honour_keep_alive: false,
        ..plain
    };
    let max_idle = PoolOptions {
        max_idle: second,
        ..plain
    };
    let time_to_live = PoolOptions {
        time_to_live: second,
        ..plain
    };
    // The time that the server states wins over the default, but not over the age limit.
    let cases: [(PoolOptions, &[u8], bool); 6] = [
        (plain, OK, true),
        (plain, stated, false),
        (deaf, stated, true),
        (max_idle, OK, false),
        (max_idle, longer, true),
        (time_to_live, longer, false),
    ];
    std::thread::scope(|scope| {
        for (pool, first, reused) in cases {
            scope.spawn(move || assert_eq!(reused_later(pool, first), reused, "{pool:?}"));
        }
    });
}

#[test]
fn bytes_after_the_body_belong_to_the_next_response() {
    let surplus = [OK, b"\r\n"].concat();
    let peer = Peer::start(vec![[answer(&surplus), answer(OK)].concat()]);
    run(async {
        let session = session();
        get(&session, &peer.target()).await.expect("good");
        // An empty line before the status line is passed over.
        let second = get(&session, &peer.target()).await.expect("good");
        assert!(second.reused);
        assert_eq!(second.wire.head_bytes, OK.len() as u64 - 2 + 2);
    });
}

#[test]
fn resets() {
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec()),
        Do::Wait(Duration::from_millis(50)),
        Do::Reset,
    ]]);
    let failure = run(async { get(&session(), &peer.target()).await }).expect_err("reset");
    assert_eq!(failure.phase, Phase::Body);
    assert!(matches!(failure.kind, FailureKind::Reset));
    assert_eq!(failure.wire.body_bytes, 3);

    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Reset]]);
    let failure = run(async { get(&session(), &peer.target()).await }).expect_err("reset");
    assert_eq!(failure.phase, Phase::Head);
    assert!(matches!(failure.kind, FailureKind::Reset));
}

#[test]
fn refused() {
    let port = free_port();
    let target = Target::new("127.0.0.1", port, false);
    let failure = run(async { get(&session(), &target).await }).expect_err("refused");
    assert_eq!(failure.phase, Phase::Connect);
    assert!(matches!(failure.kind, FailureKind::Refused));
    let address: IpAddr = "127.0.0.1".parse().expect("an address");
    assert_eq!(failure.addresses, [address]);
}

#[test]
fn connect_timeout() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().expect("an address");
    socket.bind(&any.into()).expect("a free port");
    socket.listen(0).expect("listening");
    let address = socket
        .local_addr()
        .expect("bound")
        .as_socket()
        .expect("IPv4");
    // A full backlog makes the kernel ignore further connections.
    let _full: Vec<_> = (0..3)
        .map(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100)))
        .collect();
    let limits = Limits {
        connect: Some(Duration::from_millis(100)),
        response: None,
        ..Limits::default()
    };
    let target = Target::new("127.0.0.1", address.port(), false);
    let begin = Instant::now();
    let failure = run(async {
        exchange(
            &session(),
            &target,
            Outgoing::new(GET),
            WantedParts::ALL,
            limits,
        )
        .await
    })
    .expect_err("nobody accepts");
    assert!(matches!(failure.kind, FailureKind::ConnectTimeout));
    assert_eq!(failure.phase, Phase::Connect);
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

fn limited(peer: &Peer, response_ms: u64) -> Result<Box<Incoming>, Box<drumfire_http::Failure>> {
    let limits = Limits {
        connect: None,
        response: Some(Duration::from_millis(response_ms)),
        ..Limits::default()
    };
    let out = Outgoing::new(GET);
    run(async { exchange(&session(), &peer.target(), out, WantedParts::ALL, limits).await })
}

#[test]
fn read_timeout_is_about_silence() {
    let silent = Peer::start(vec![vec![Do::ReadHead, Do::Wait(Duration::from_secs(3))]]);
    let begin = Instant::now();
    let failure = limited(&silent, 100).expect_err("silence");
    assert!(matches!(failure.kind, FailureKind::ReadTimeout));
    assert_eq!(failure.phase, Phase::Head);
    assert!(begin.elapsed() >= Duration::from_millis(100));
    assert!(begin.elapsed() < Duration::from_secs(2));

    let mut slow = vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n".to_vec()),
    ];
    for _ in 0..6 {
        slow.extend([
            Do::Wait(Duration::from_millis(100)),
            Do::Send(b"x".to_vec()),
        ]);
    }
    let slow = Peer::start(vec![slow]);
    let response = limited(&slow, 400).expect("each silence is short");
    assert_eq!(response.body_len, 6);
    assert!(response.times.end - response.times.begin >= Duration::from_millis(600));
}

#[test]
fn dropping_an_exchange_closes_its_connection() {
    let peer = Peer::start(vec![
        vec![Do::ReadHead, Do::Wait(Duration::from_millis(300))],
        answer(OK),
    ]);
    run(async {
        let session = session();
        let target = peer.target();
        let asking = get(&session, &target);
        let patience = Duration::from_millis(50);
        assert!(tokio::time::timeout(patience, asking).await.is_err());
        assert_eq!(session.idle_connections(), 0);
        let response = get(&session, &target).await.expect("a new connection");
        assert!(!response.reused);
    });
}

#[test]
fn names() {
    let peer = Peer::start(vec![answer(OK), answer(OK), answer(OK)]);
    run(async {
        let session = session();
        let at = |host: &str| Target::new(host, peer.address.port(), false);
        let response = get(&session, &at("localhost")).await.expect("good");
        assert!(response.times.resolved.is_some());

        let failure = get(&session, &at("no.such.host.invalid")).await;
        let failure = failure.expect_err("RFC 6761 reserves .invalid");
        assert!(matches!(failure.kind, FailureKind::UnknownHost));
        assert_eq!(failure.phase, Phase::Resolve);

        // 127.0.0.2 refuses, so the next address is tried.
        let addresses = ["127.0.0.2", "127.0.0.1"];
        let addresses = addresses.map(|a| a.parse().expect("an address")).to_vec();
        session.set_resolver(Some(Rc::new(FixedAddresses(addresses))));
        let response = get(&session, &at("shop.example")).await.expect("good");
        assert_eq!(response.status, 200);
        // The JDK's own client only tries the first (`NetworkClient#doConnect`).
        let mut of_java = at("shop.example");
        of_java.rules = ClientRules::UrlConnection;
        let failure = get(&session, &of_java).await.expect_err("it refuses");
        assert!(matches!(failure.kind, FailureKind::Refused));
        assert!(at("LOCALHOST") == at("localhost"));
    });
}

#[test]
fn source_address() {
    let peer = Peer::start(vec![answer(OK)]);
    let mut target = peer.target();
    target.source = Some(SourceAddresses::new(["127.0.0.9"
        .parse()
        .expect("an address")]));
    run(async { get(&session(), &target).await }).expect("all of 127/8 is local");
    target.source = Some(SourceAddresses::new(["192.0.2.1"
        .parse()
        .expect("an address")]));
    let failure = run(async { get(&session(), &target).await }).expect_err("not ours");
    assert!(matches!(failure.kind, FailureKind::AddressNotAvailable));
}

#[test]
fn types_shared_by_a_run_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Target>();
    shared::<drumfire_http::Tls>();
    shared::<drumfire_http::Identity>();
}

#[test]
fn small_while_idle_and_while_busy() {
    assert!(size_of::<Session>() <= 104, "{}", size_of::<Session>());
    let session = session();
    let target = Target::new("127.0.0.1", 1, false);
    let future = exchange(
        &session,
        &target,
        Outgoing::new(GET),
        WantedParts::ALL,
        LIMITS,
    );
    println!(
        "session {}, future {}",
        size_of::<Session>(),
        size_of_val(&future)
    );
    assert!(size_of_val(&future) <= 2048, "{}", size_of_val(&future));
}
