//! HTTP/2 over TLS against a server whose frames are damaged at random: each request ends with a response or a failure, and
//! the next one with a new connection.
//!
//! `MUTATIONS=2000` makes that many rounds instead of 150.

use std::sync::Arc;
use std::time::Duration;

use drumfire_http::{
    HttpVersion, Incoming, Limits, Outgoing, PoolOptions, Session, Target, Tls, TlsOptions,
    WantedParts, Worker, exchange,
};
use drumfire_testkit::mutation::{Random, rounds};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::peer::run;
use crate::peer::tls::certificate;

/// How long a request may take if its server falls silent.
const RESPONSE_LIMIT: Duration = Duration::from_millis(300);
/// How long a request may take in any case, on a machine with much else to do.
const LIMIT: Duration = Duration::from_secs(20);

/// `:status: 200`, and the literal `x-a: b`.
const HEADERS: &[u8] = b"\x88\x00\x03x-a\x01b";
/// `:status: 103`, literally.
const EARLY_HINTS: &[u8] = b"\x08\x03103";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let mut bytes = length.to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Frames that a server may send, the first ones being those of a plain response.
fn frames() -> Vec<Vec<u8>> {
    vec![
        frame(4, 0, 0, b""),
        frame(4, 1, 0, b""),
        frame(1, 4, 1, HEADERS),
        frame(0, 0, 1, b"hello"),
        frame(0, 1, 1, b" world"),
        // Settings: table size, streams, window, frame size.
        frame(4, 0, 0, b"\0\x01\0\0\0\0\0\x03\0\0\0\x01"),
        frame(4, 0, 0, b"\0\x04\x7f\xff\xff\xff\0\x05\0\0\x40\0"),
        frame(1, 4, 1, EARLY_HINTS),
        frame(1, 0, 1, &HEADERS[..3]),
        frame(9, 4, 1, &HEADERS[3..]),
        frame(1, 5, 1, b"\x00\x03end\x01t"),
        frame(0, 8, 1, b"\x02ab\0\0"),
        frame(2, 0, 1, b"\0\0\0\x03\x10"),
        frame(3, 0, 1, b"\0\0\0\x08"),
        frame(5, 4, 1, b"\0\0\0\x02\x82"),
        frame(6, 0, 0, b"pingpong"),
        frame(7, 0, 0, b"\0\0\0\x01\0\0\0\0bye"),
        frame(8, 0, 0, b"\0\0\xff\xff"),
        frame(8, 0, 1, b"\x7f\xff\xff\xff"),
        frame(0xfa, 0, 3, b"unknown"),
    ]
}

/// The bytes that a server sends: a plain response into which other frames are mixed, with a few bytes damaged.
fn damaged(random: &mut Random) -> Vec<u8> {
    let all = frames();
    let mut sent: Vec<Vec<u8>> = all[..5].to_vec();
    for _ in 0..random.below(4) {
        let (from, at) = (random.below(all.len()), random.below(sent.len() + 1));
        sent.insert(at, all[from].clone());
    }
    for _ in 0..random.below(3) {
        let (one, other) = (random.below(sent.len()), random.below(sent.len()));
        match random.below(3) {
            0 => sent.swap(one, other),
            1 => drop(sent.remove(one)),
            _ => sent.insert(one, sent[other].clone()),
        }
        if sent.is_empty() {
            break;
        }
    }
    let mut bytes = sent.concat();
    for _ in 0..random.below(4) {
        let (at, value) = (random.below(bytes.len()), random.below(256) as u8);
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    }
    if random.below(4) == 0 {
        bytes.truncate(random.below(bytes.len()));
    }
    bytes
}

/// A server that sends each connection other bytes, then closes it or falls silent. Returns its port.
async fn server(mut random: Random) -> u16 {
    let certified = certificate("peer.test");
    let key = rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider speaks TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.expect("PKCS#8"))
        .expect("they belong together");
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let (bytes, closes) = (damaged(&mut random), random.below(3) > 0);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut received = [0; 4096];
                let _ = stream.read(&mut received).await;
                let _ = stream.write_all(&bytes).await;
                if closes {
                    let _ = stream.shutdown().await;
                }
                while stream
                    .read(&mut received)
                    .await
                    .is_ok_and(|count| count > 0)
                {}
            });
        }
    });
    port
}

/// Whether a response is whole in itself.
fn assert_sound(response: &Incoming) {
    let kept = response.body.as_ref().map_or(0, Vec::len);
    assert!(kept as u64 <= response.body_len, "{response:?}");
    assert!((100..1000).contains(&response.status), "{response:?}");
}

#[test]
fn damaged_frames_cost_no_more_than_a_request() {
    let (mut responses, mut failures) = (0, 0);
    run(async {
        let port = server(Random::default()).await;
        let tls = Tls::new(&TlsOptions::default()).expect("the defaults are valid");
        let session = Session::new(Worker::new(tls, PoolOptions::default()));
        let target = Target {
            version: HttpVersion::Http2,
            ..Target::new("127.0.0.1", port, true)
        };
        let limits = Limits {
            response: Some(RESPONSE_LIMIT),
            ..Limits::default()
        };
        let head = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        for round in 0..rounds(150) {
            let asked = exchange(
                &session,
                &target,
                Outgoing::new(head),
                WantedParts::ALL,
                limits,
            );
            let outcome = tokio::time::timeout(LIMIT, asked).await;
            match outcome.unwrap_or_else(|_| panic!("round {round} does not end")) {
                Ok(response) => {
                    assert_sound(&response);
                    responses += 1;
                }
                Err(failure) => {
                    assert!(!format!("{:?}", failure.kind).is_empty());
                    failures += 1;
                }
            }
            session.close_connections();
        }
    });
    // Otherwise the frames would be too broken, or not broken at all.
    assert!(
        responses > 5 && failures > 5,
        "{responses} responses, {failures} failures"
    );
}
