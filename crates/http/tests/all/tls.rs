//! Exchanges over TLS.

use std::time::Duration;

use crate::peer::tls::{Server, certificate};
use crate::peer::{Do, FixedAddresses, GET, LIMITS, Peer, get, run, session, worker};
use drumfire_http::{
    Body, FailureKind, Handshake, Identity, Incoming, Keep, Outgoing, Phase, PoolOptions, Session,
    Target, Tls, TlsFailure, TlsOptions, TlsSessions, Trust, WantedParts, Worker, exchange,
};
use rustls::version;

fn to(server: &Server) -> Target {
    Target::new("127.0.0.1", server.address.port(), true)
}

async fn ask(session: &Session, target: &Target, path: &str, want: WantedParts) -> Box<Incoming> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    let out = Outgoing::new(head.as_bytes());
    let response = exchange(session, target, out, want, LIMITS).await;
    response.expect("the response is good")
}

fn with_options(options: &TlsOptions) -> Session {
    let tls = Tls::new(options).expect("the options are valid");
    Session::new(Worker::new(tls, PoolOptions::default()))
}

/// The handshakes of a first connection, a second one, and one after forgetting.
fn handshakes(server: &Server, session: &Session) -> [Option<Handshake>; 3] {
    run(async {
        let target = to(server);
        let first = get(session, &target).await.expect("good");
        let reused = get(session, &target).await.expect("good");
        assert_eq!((reused.reused, reused.handshake), (true, None));
        session.close_connections();
        let second = get(session, &target).await.expect("good");
        session.close_connections();
        session.forget_tls_sessions();
        let third = get(session, &target).await.expect("good");
        assert_eq!(third.body.as_deref(), Some(&b"name=none"[..]));
        [first.handshake, second.handshake, third.handshake]
    })
}

#[test]
fn sessions_are_resumed_until_forgotten() {
    let expected = [Handshake::Full, Handshake::Resumed, Handshake::Full].map(Some);
    for one in [&version::TLS12, &version::TLS13] {
        let server = Server::speaking(&[one]);
        let session = session();
        assert_eq!(handshakes(&server, &session), expected, "{one:?}");
        let counts = session.worker().statistics();
        assert_eq!((counts.handshakes_full, counts.handshakes_resumed), (2, 1));
    }
}

#[test]
fn sessions_of_other_users_are_not_resumed_unless_shared() {
    let server = Server::start();
    let second_user = |sessions| {
        let tls = Tls::new(&TlsOptions {
            sessions,
            ..TlsOptions::default()
        });
        let tls = tls.expect("the options are valid");
        // Two workers, as shared sessions are shared by all of them.
        let users = [(); 2].map(|()| Worker::new(tls.clone(), PoolOptions::default()));
        let users = users.map(Session::new);
        run(async {
            get(&users[0], &to(&server)).await.expect("good");
            get(&users[1], &to(&server)).await.expect("good").handshake
        })
    };
    assert_eq!(second_user(TlsSessions::PerUser), Some(Handshake::Full));
    assert_eq!(second_user(TlsSessions::Shared), Some(Handshake::Resumed));
    assert_eq!(second_user(TlsSessions::Never), Some(Handshake::Full));
}

#[test]
fn long_bodies_both_ways() {
    let server = Server::start();
    run(async {
        let session = session();
        let target = to(&server);
        let length = 5_000_000;
        let expected: Vec<u8> = (0..length).map(|n: usize| (n % 251) as u8).collect();
        let path = format!("/long/{length}");
        let kept = ask(&session, &target, &path, WantedParts::ALL).await;
        assert!(kept.body.as_ref() == Some(&expected));
        let counted = ask(&session, &target, &path, WantedParts::NOTHING).await;
        assert_eq!((counted.body_len, counted.reused), (length as u64, true));
        assert_eq!(counted.wire.body_bytes, length as u64);

        let head = format!("POST /echo HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
        let out = Outgoing {
            body: Body::Bytes(&expected),
            ..Outgoing::new(head.as_bytes())
        };
        let want = WantedParts {
            keep: Keep::All,
            ..WantedParts::NOTHING
        };
        let echo = exchange(&session, &target, out, want, LIMITS).await;
        let echo = echo.expect("the response is good");
        assert!(echo.body == Some(expected));
        assert_eq!(echo.wire.sent_bytes, (head.len() + length) as u64);
    });
}

#[test]
fn files_are_read_and_encrypted() {
    let server = Server::start();
    let file = std::fs::File::open(file!().replace("crates/http/", "")).expect("this source");
    let content = include_bytes!("tls.rs");
    let parts = [
        drumfire_http::Part::Bytes(b"<<"),
        drumfire_http::Part::File {
            file: &file,
            offset: 3,
            length: 1000,
        },
        drumfire_http::Part::Bytes(b">>"),
    ];
    let out = Outgoing {
        body: Body::Parts(&parts),
        ..Outgoing::new(b"POST /echo HTTP/1.1\r\nContent-Length: 1004\r\n\r\n")
    };
    let echo =
        run(async { exchange(&session(), &to(&server), out, WantedParts::ALL, LIMITS).await });
    let expected = [b"<<", &content[3..1003], b">>"].concat();
    assert!(echo.expect("the response is good").body == Some(expected));
}

#[test]
fn an_announced_end_makes_a_connection_stale() {
    let server = Server::start();
    let pool = PoolOptions {
        validate_after_inactivity: Some(Duration::ZERO),
        ..PoolOptions::default()
    };
    run(async {
        let session = Session::new(worker(pool));
        let target = to(&server);
        ask(&session, &target, "/", WantedParts::ALL).await;
        assert!(
            ask(&session, &target, "/close", WantedParts::ALL)
                .await
                .reused
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
        let next = ask(&session, &target, "/", WantedParts::ALL).await;
        assert!(!next.reused);
    });
}

#[test]
fn names_are_sent_only_with_a_dot() {
    let server = Server::start();
    let name = |host: &str| {
        let session = session();
        let hosts = FixedAddresses(vec![server.address.ip()]);
        session.set_resolver(Some(std::rc::Rc::new(hosts)));
        let target = Target::new(host, server.address.port(), true);
        let response = run(async { get(&session, &target).await }).expect("good");
        String::from_utf8(response.body.expect("it is kept")).expect("a name")
    };
    // sun.security.ssl.Utilities.rawToSNIHostName of the JDK.
    assert_eq!(name("shop.test"), "name=shop.test");
    assert_eq!(name("localhost"), "name=none");
    assert_eq!(name("shop.test."), "name=none");
}

#[test]
fn client_certificates() {
    let client = certificate("client.test");
    let server = Server::for_client(&client);
    let identity = Identity::from_der(
        vec![client.cert.der().to_vec()],
        client.signing_key.serialize_der(),
    )
    .expect("key and certificate fit");
    let mut target = to(&server);
    for tls13 in [true, false] {
        let options = TlsOptions {
            tls13,
            ..TlsOptions::default()
        };
        target.identity = None;
        let failure = run(async { get(&with_options(&options), &target).await });
        let failure = failure.expect_err("the server wants a certificate");
        // TLS 1.3 servers say so only after the client's side of the handshake is complete.
        let phase = if tls13 {
            Phase::Head
        } else {
            Phase::TlsHandshake
        };
        assert_eq!(failure.phase, phase, "{failure}");
        let FailureKind::Tls(failure) = failure.kind else {
            panic!("{failure}");
        };
        assert_eq!(failure.alert_name(), Some("certificate_required"));
        target.identity = Some(identity.clone());
        let session = with_options(&options);
        let response = run(async { get(&session, &target).await });
        assert_eq!(response.expect("it is shown").status, 200);
    }
}

#[test]
fn no_common_version() {
    let server = Server::speaking(&[&version::TLS12]);
    let options = TlsOptions {
        tls12: false,
        ..TlsOptions::default()
    };
    let failure = run(async { get(&with_options(&options), &to(&server)).await });
    let failure = failure.expect_err("nothing in common");
    assert_eq!(failure.phase, Phase::TlsHandshake);
    let FailureKind::Tls(kind) = failure.kind else {
        panic!("{failure}");
    };
    assert_eq!(kind.alert_name(), Some("protocol_version"));
    let none = TlsOptions {
        tls12: false,
        tls13: false,
        ..TlsOptions::default()
    };
    assert!(Tls::new(&none).is_err());
}

#[test]
fn peers_that_do_not_shake_hands() {
    let failure = |script| {
        let peer = Peer::start(vec![script]);
        let target = Target {
            tls: true,
            ..peer.target()
        };
        let limits = drumfire_http::Limits {
            connect: Some(Duration::from_millis(200)),
            response: None,
            ..drumfire_http::Limits::default()
        };
        let out = Outgoing::new(GET);
        let failure =
            run(async { exchange(&session(), &target, out, WantedParts::ALL, limits).await });
        let failure = failure.expect_err("there is no handshake");
        assert_eq!(failure.phase, Phase::TlsHandshake);
        failure.kind
    };
    let plain = failure(vec![
        Do::ReadBytes(50),
        Do::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
    ]);
    assert!(
        matches!(plain, FailureKind::Tls(TlsFailure::NotTls)),
        "{plain:?}"
    );
    // Read whole, or the unread rest would make the close a reset.
    let closed = failure(vec![
        Do::ReadBytes(5),
        Do::Wait(Duration::from_millis(20)),
        Do::Close,
    ]);
    assert!(
        matches!(
            closed,
            FailureKind::Tls(TlsFailure::Closed) | FailureKind::Reset
        ),
        "{closed:?}"
    );
    let silent = failure(vec![Do::Wait(Duration::from_secs(2))]);
    assert!(matches!(silent, FailureKind::ConnectTimeout), "{silent:?}");
}

/// A TLS record of the handshake (content type 22).
fn record(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[22, 3, 3, length[0], length[1]], payload].concat()
}

/// A handshake message of that type.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&[kind, length[1], length[2], length[3]], body].concat()
}

/// How a handshake fails when the peer answers the hello with these bytes.
fn handshake_failure(answer: Vec<u8>) -> TlsFailure {
    let script = vec![
        Do::ReadBytes(100),
        Do::Send(answer),
        Do::Wait(Duration::from_millis(100)),
    ];
    let peer = Peer::start(vec![script]);
    let target = Target {
        tls: true,
        ..peer.target()
    };
    let failure = run(async { get(&session(), &target).await }).expect_err("it is broken");
    assert_eq!(failure.phase, Phase::TlsHandshake);
    match failure.kind {
        FailureKind::Tls(kind) => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn broken_handshakes_in_several_records_fail() {
    let hello = message(2, &[0; 100]);
    let broken = [&hello[..10], &hello[10..50], &hello[50..]].map(record);
    let failure = handshake_failure(broken.concat());
    assert!(matches!(failure, TlsFailure::Other(_)), "{failure:?}");
    // Another record within a message.
    let mut interrupted = record(&hello[..10]);
    interrupted.extend_from_slice(&[23, 3, 3, 0, 4, 1, 2, 3, 4]);
    let failure = handshake_failure(interrupted);
    assert!(matches!(failure, TlsFailure::Other(_)), "{failure:?}");
    let too_large = message(2, &vec![0; 70_000]);
    let records: Vec<_> = too_large.chunks(16_000).map(record).collect();
    let failure = handshake_failure(records.concat());
    assert_eq!(failure, TlsFailure::MessageTooLarge(None));
    // The message never comes, only its announcement.
    let announced = record(&[11, 0xff, 0xff, 0xff]);
    assert_eq!(
        handshake_failure(announced),
        TlsFailure::MessageTooLarge(None)
    );
}

/// A certificate whose length grows with so many names in it.
fn long_certificate(names: usize) -> rcgen::CertifiedKey<rcgen::KeyPair> {
    let names = (0..names).map(|n| format!("host-number-{n:05}.example.test"));
    rcgen::generate_simple_self_signed(names.collect::<Vec<_>>()).expect("valid names")
}

#[test]
fn chains_too_large_for_java_fail() {
    // JMeter 5.6.3 on Java 17: "The size of the handshake message (39156) exceeds the maximum allowed size (32768)".
    let shown = long_certificate(800);
    for (version, fixed, each) in [(&version::TLS12, 3, 3), (&version::TLS13, 4, 5)] {
        let server = Server::showing(&shown, 1, version);
        let response = run(async { get(&session(), &to(&server)).await });
        assert_eq!(response.expect("it is small enough").status, 200);
        let size = fixed + 2 * (shown.cert.der().len() + each);
        for (times, size) in [(2, Some(size)), (3, None)] {
            let server = Server::showing(&shown, times, version);
            let failure = run(async { get(&session(), &to(&server)).await });
            let failure = failure.expect_err("the chain is too large");
            assert_eq!(failure.phase, Phase::TlsHandshake, "{failure}");
            let FailureKind::Tls(kind) = failure.kind else {
                panic!("{failure}");
            };
            assert_eq!(kind, TlsFailure::MessageTooLarge(size));
        }
    }
}

/// A certificate for `shop.test` that this authority has signed, valid in these years.
fn signed(
    authority: &rcgen::CertifiedIssuer<'_, rcgen::KeyPair>,
    years: std::ops::Range<i32>,
) -> rcgen::CertifiedKey<rcgen::KeyPair> {
    let signing_key = rcgen::KeyPair::generate().expect("a key");
    let names = vec!["shop.test".to_owned()];
    let mut params = rcgen::CertificateParams::new(names).expect("a valid name");
    params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
    let cert = params.signed_by(&signing_key, authority);
    let cert = cert.expect("the authority signs it");
    rcgen::CertifiedKey { cert, signing_key }
}

/// A certificate for these names that may sign others, signed by itself. Its common name is `shop.test`.
fn own_authority(
    names: Vec<String>,
    years: std::ops::Range<i32>,
) -> rcgen::CertifiedKey<rcgen::KeyPair> {
    let signing_key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(names).expect("valid names");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "shop.test");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
    let cert = params.self_signed(&signing_key).expect("it is signed");
    rcgen::CertifiedKey { cert, signing_key }
}

#[test]
fn certificates_are_verified_on_request() {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(Vec::new()).expect("no names");
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "authority");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::CertifiedIssuer::self_signed(params, key).expect("a certificate");
    let good = signed(&authority, 2020..2090);
    let expired = signed(&authority, 2010..2011);
    let future = signed(&authority, 2080..2081);
    let self_signed = certificate("shop.test");
    let ask = |shown: &rcgen::CertifiedKey<rcgen::KeyPair>, host: &str, trust: Trust| {
        let server = Server::showing(shown, 1, &version::TLS13);
        let options = TlsOptions {
            trust,
            ..TlsOptions::default()
        };
        let session = with_options(&options);
        let hosts = FixedAddresses(vec![server.address.ip()]);
        session.set_resolver(Some(std::rc::Rc::new(hosts)));
        let target = Target::new(host, server.address.port(), true);
        run(async { get(&session, &target).await })
    };
    let trust = || Trust::Authorities(vec![authority.der().to_vec()]);
    let status = |outcome: Result<Box<Incoming>, _>| outcome.expect("it is trusted").status;
    assert_eq!(status(ask(&good, "shop.test", trust())), 200);
    for shown in [&good, &expired, &self_signed] {
        assert_eq!(status(ask(shown, "other.test", Trust::All)), 200);
    }
    for (shown, host, expected) in [
        (&good, "other.test", "is for shop.test, not for other.test"),
        (&good, "localhost", "is for shop.test, not for localhost"),
        (&expired, "shop.test", "expired on 2011-01-01"),
        (
            &future,
            "shop.test",
            "not yet valid, but from 2080-01-01 on",
        ),
        (
            &self_signed,
            "shop.test",
            "no trusted authority has signed the server's certificate; name it or its authority",
        ),
    ] {
        let failure = ask(shown, host, trust()).expect_err("it is not trusted");
        assert_eq!(failure.phase, Phase::TlsHandshake);
        let FailureKind::Tls(TlsFailure::Certificate(text)) = failure.kind else {
            panic!("{failure}");
        };
        assert!(text.contains(expected), "{text}");
    }
    // As `openssl req -x509` makes it: self-signed, and an authority of its own.
    for (names, refused) in [
        (
            vec!["shop.test".to_owned()],
            "is for shop.test, not for other.test",
        ),
        (Vec::new(), "lists no name"),
    ] {
        let shown = own_authority(names, 2020..2090);
        let named = || Trust::Authorities(vec![shown.cert.der().to_vec()]);
        assert_eq!(status(ask(&shown, "shop.test", named())), 200);
        let why = ask(&shown, "other.test", named()).expect_err("another name");
        let why = format!("{:?}", why.kind);
        assert!(why.contains(refused), "{why}");
        let why = ask(&shown, "shop.test", trust()).expect_err("it is not named");
        let why = format!("{:?}", why.kind);
        assert!(
            why.contains("self-signed") && why.contains("drumfire.tls_ca_file"),
            "{why}"
        );
    }
    let old = own_authority(vec!["shop.test".to_owned()], 2010..2011);
    let why = ask(
        &old,
        "shop.test",
        Trust::Authorities(vec![old.cert.der().to_vec()]),
    );
    let why = format!("{:?}", why.expect_err("its time is over").kind);
    assert!(why.contains("expired on 2011-01-01"), "{why}");
    let nobody = TlsOptions {
        trust: Trust::Authorities(Vec::new()),
        ..TlsOptions::default()
    };
    assert!(Tls::new(&nobody).is_err());
}
