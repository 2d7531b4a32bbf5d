//! The part of an exchange's time that passed in this program, by the kernel's stamps.

#![cfg(target_os = "linux")]

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use drumfire_http::{
    HttpVersion, Incoming, Limits, Outgoing, PoolOptions, Session, StampedReads, StampedStream,
    Target, WantedParts, WebSocket, exchange, own_part, stamp_arrivals,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::peer::{Do, GET, LIMITS, Peer, run, session, tls, worker};

const SERVER: Duration = Duration::from_millis(60);
/// From 20 ms after the begin of the exchange, this thread does something else for this long.
const BUSY: Duration = Duration::from_millis(200);

/// Two exchanges, the second on the connection of the first: the program's own part of the second, and the rest.
fn parts(session: &Session, target: &Target, want: WantedParts) -> (Duration, Duration) {
    let head = b"GET /after/60 HTTP/1.1\r\nHost: x\r\n\r\n";
    run(async {
        let get = || exchange(session, target, Outgoing::new(head), want, LIMITS);
        get().await.expect("the response is good");
        let busy = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            std::thread::sleep(BUSY);
        };
        let (response, ()) = tokio::join!(get(), busy);
        let Incoming { times, reused, .. } = *response.expect("the response is good");
        assert!(reused);
        let own = times.own().expect("the kernel stamps what arrives");
        (own, times.end - times.begin - own)
    })
}

fn assert_is_split((own, rest): (Duration, Duration)) {
    // The server's part is its pause, and the wait of a busy machine for the server's thread.
    assert!(rest >= SERVER, "own {own:?}, the rest {rest:?}");
    assert!(
        own >= Duration::from_millis(20),
        "own {own:?}, the rest {rest:?}"
    );
    assert!(own + rest >= BUSY, "own {own:?}, the rest {rest:?}");
}

#[test]
fn a_response_that_waits_in_the_kernel_is_the_programs_own_time() {
    let long = vec![b'x'; 300_000];
    for body in [&b"ok"[..], &long] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let answer = [head.as_bytes(), body].concat();
        let steps = [Do::ReadHead, Do::Wait(SERVER), Do::Send(answer)];
        for want in [WantedParts::ALL, WantedParts::NOTHING] {
            let peer = Peer::start(vec![[steps.clone(), steps.clone()].concat()]);
            assert_is_split(parts(&session(), &peer.target(), want));
        }
    }
}

/// The own part of an exchange with a peer that follows these steps.
fn own(steps: Vec<Do>, pool: PoolOptions) -> Option<Duration> {
    let peer = Peer::start(vec![steps]);
    let limits = Limits {
        response: Some(Duration::from_millis(200)),
        ..LIMITS
    };
    run(async {
        let session = Session::new(worker(pool));
        let out = Outgoing::new(GET);
        let ended = exchange(&session, &peer.target(), out, WantedParts::ALL, limits).await;
        ended.map_or_else(
            |failure| failure.times.own(),
            |response| response.times.own(),
        )
    })
}

#[test]
fn a_wait_of_the_server_or_of_a_speed_limit_is_not_the_programs_own_time() {
    let head = |length: &str| format!("HTTP/1.1 200 OK\r\n{length}\r\nhello").into_bytes();
    let all = head("Content-Length: 5\r\n");
    let at_once = vec![Do::ReadHead, Do::Send(all.clone())];
    // The kernel begins to stamp a moment after the first socket asked for it, and ends with the last one.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let stream = std::net::TcpStream::connect(address).expect("a connection");
    let _asking = StampedStream::new(stream);
    let stamped = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        own(at_once.clone(), PoolOptions::default())
    });
    assert!(stamped.is_some());
    // The end of the stream ends the response, long after its last byte.
    let closed = vec![
        Do::ReadHead,
        Do::Send(head("")),
        Do::Wait(SERVER),
        Do::Close,
    ];
    assert_eq!(own(closed, PoolOptions::default()), None);
    // The rest never comes.
    let cut = vec![Do::ReadHead, Do::Send(head("Content-Length: 50\r\n"))];
    assert_eq!(own(cut, PoolOptions::default()), None);
    let slow = PoolOptions {
        bytes_per_second: NonZeroU32::new(1000),
        ..PoolOptions::default()
    };
    assert_eq!(own(at_once, slow), None);
}

#[test]
fn so_it_is_over_tls() {
    let server = tls::Server::start();
    let target = Target::new("127.0.0.1", server.address.port(), true);
    assert_is_split(parts(&session(), &target, WantedParts::ALL));
}

#[test]
fn so_it_is_over_http2() {
    let target = crate::http2::server_on_a_thread();
    assert_eq!(target.version, HttpVersion::Http2);
    assert_is_split(parts(&session(), &target, WantedParts::ALL));
}

/// Waits for bytes that come after [`SERVER`] while this thread does something else for [`BUSY`]: the own part and the rest.
async fn split(
    begin: Instant,
    arrived: impl Future<Output = Option<Instant>>,
) -> (Duration, Duration) {
    let busy = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        std::thread::sleep(BUSY);
    };
    let (arrived, ()) = tokio::join!(arrived, busy);
    let end = Instant::now();
    let arrived = arrived.expect("the kernel stamps what arrives");
    let own = own_part(begin, arrived, end).expect("the bytes came after the begin");
    (own, end - begin - own)
}

#[test]
fn so_it_is_with_a_message_of_a_websocket() {
    let upgraded = b"HTTP/1.1 101 Switching Protocols\r\n\r\n".to_vec();
    let message = b"\x81\x02ok".to_vec();
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Send(upgraded),
        Do::ReadHead,
        Do::Wait(SERVER),
        Do::Send(message),
    ]]);
    assert_is_split(run(async {
        let opened = WebSocket::connect(&session(), &peer.target(), None, LIMITS).await;
        let (mut socket, _) = opened
            .map_err(|failure| failure.kind)
            .expect("a connection");
        socket.send_bytes(GET).await.expect("sent");
        socket.receive_head(None).await.expect("a head");
        // The server begins to wait when it has this, so not before the exchange begins.
        let begin = Instant::now();
        socket.send_bytes(GET).await.expect("sent");
        let arrived = async {
            let frame = socket.receive(None).await.expect("a frame");
            assert_eq!(frame.payload, b"ok");
            socket.arrived()
        };
        split(begin, arrived).await
    }));
}

#[test]
fn so_it_is_with_the_bytes_of_another_protocol() {
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Wait(SERVER),
        Do::Send(b"ok".to_vec()),
    ]]);
    assert_is_split(run(async {
        let mut stream = TcpStream::connect(("127.0.0.1", peer.target().port))
            .await
            .expect("a connection");
        stamp_arrivals(&stream);
        let begin = Instant::now();
        stream.write_all(GET).await.expect("sent");
        let arrived = async {
            let mut reads = StampedReads::new(&stream);
            let mut bytes = [0; 2];
            reads.read_exact(&mut bytes).await.expect("two bytes");
            assert_eq!(&bytes, b"ok");
            reads.arrived()
        };
        split(begin, arrived).await
    }));
}
