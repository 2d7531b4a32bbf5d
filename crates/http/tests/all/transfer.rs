//! Long bodies both ways, and asking before sending them.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use crate::peer::{Do, LIMITS, Peer, answer, run, session};
use drumfire_http::{Body, FailureKind, Keep, Outgoing, Part, Phase, WantedParts, exchange};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LONG: usize = 64 << 20;

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n / 7 % 251) as u8).collect()
}

/// A file with this content, already unlinked.
fn file_with(content: &[u8]) -> File {
    let unique = format!("drumfire-{}-{:p}", std::process::id(), content);
    let path = std::env::temp_dir().join(unique);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .expect("the temporary folder is writable");
    std::fs::remove_file(&path).expect("it is there");
    file.write_all(content).expect("there is room");
    file
}

#[test]
fn an_unwanted_body_is_counted_exactly() {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LONG}\r\n\r\n");
    let long = [head.as_bytes(), &vec![b'x'; LONG]].concat();
    let peer = Peer::start(vec![[answer(&long), answer(OK)].concat()]);
    run(async {
        let session = session();
        let target = peer.target();
        let out = Outgoing::new(crate::peer::GET);
        let response = exchange(&session, &target, out, WantedParts::NOTHING, LIMITS).await;
        let response = response.expect("the response is good");
        assert_eq!(response.body_len, LONG as u64);
        assert_eq!(response.wire.body_bytes, LONG as u64);
        assert_eq!(response.wire.head_bytes, head.len() as u64);
        // Not a byte too many was dropped.
        let next = crate::peer::get(&session, &target).await.expect("good");
        assert!(next.reused);
        assert_eq!(next.body.as_deref(), Some(&b"ok"[..]));
    });
}

#[test]
fn unwanted_chunks_are_counted_exactly() {
    let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let head = bytes.len();
    let mut payload = 0;
    for size in [1_usize, 300_000, 65_536, 4096, 1_000_000] {
        payload += size;
        bytes.extend_from_slice(format!("{size:x}\r\n").as_bytes());
        bytes.extend_from_slice(&vec![b'\n'; size]);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    let peer = Peer::start(vec![answer(&bytes)]);
    let out = Outgoing::new(crate::peer::GET);
    let response = run(async {
        exchange(
            &session(),
            &peer.target(),
            out,
            WantedParts::NOTHING,
            LIMITS,
        )
        .await
    })
    .expect("the response is good");
    assert_eq!(response.body_len, payload as u64);
    assert_eq!(response.wire.body_bytes, (bytes.len() - head) as u64);
}

#[test]
fn a_long_body_is_kept_whole() {
    let body = pattern(9 << 20);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let peer = Peer::start(vec![answer(&[head.as_bytes(), &body].concat())]);
    let response = run(async { crate::peer::get(&session(), &peer.target()).await });
    assert!(response.expect("the response is good").body == Some(body));
}

#[test]
fn the_rest_of_a_part_is_counted() {
    let body = pattern(3 << 20);
    let peer = Peer::start(vec![crate::peer::answer_and_close(
        &[b"HTTP/1.1 200 OK\r\n\r\n", &body[..]].concat(),
    )]);
    let want = WantedParts {
        keep: Keep::UpTo(100_000),
        ..WantedParts::ALL
    };
    let out = Outgoing::new(crate::peer::GET);
    let response = run(async { exchange(&session(), &peer.target(), out, want, LIMITS).await })
        .expect("the response is good");
    assert!(response.body.as_deref() == Some(&body[..100_000]));
    assert_eq!(response.body_len, body.len() as u64);
}

/// The bytes that the peer receives of a request with this body.
fn sent(body: Body<'_>, length: usize) -> Vec<u8> {
    let head = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    let peer = Peer::start(vec![vec![
        Do::ReadHead,
        Do::Wait(Duration::from_millis(50)),
        Do::ReadBytes(length),
        Do::Send(OK.to_vec()),
    ]]);
    let out = Outgoing {
        body,
        ..Outgoing::new(head.as_bytes())
    };
    let response =
        run(async { exchange(&session(), &peer.target(), out, WantedParts::ALL, LIMITS).await });
    let response = response.expect("the response is good");
    assert_eq!(response.wire.sent_bytes, (head.len() + length) as u64);
    let received = peer.received();
    assert!(received.starts_with(head.as_bytes()));
    received[head.len()..].to_vec()
}

#[test]
fn bodies_arrive() {
    assert_eq!(sent(Body::Bytes(b"a=1&b=2"), 7), b"a=1&b=2");
    let long = pattern(20 << 20);
    assert!(sent(Body::Bytes(&long), long.len()) == long);
}

#[test]
fn parts_arrive_in_order() {
    let content = pattern(8 << 20);
    let file = file_with(&content);
    let length = content.len() as u64;
    let mut parts = vec![
        Part::Bytes(b"--boundary\r\n\r\n"),
        Part::File {
            file: &file,
            offset: 0,
            length,
        },
        Part::Bytes(b""),
        Part::Bytes(b"\r\n--boundary\r\n\r\n"),
        Part::File {
            file: &file,
            offset: 1000,
            length: 500,
        },
    ];
    let mut expected = [
        &b"--boundary\r\n\r\n"[..],
        &content,
        b"\r\n--boundary\r\n\r\n",
        &content[1000..1500],
    ]
    .concat();
    // More pieces than go into one write.
    for _ in 0..40 {
        parts.push(Part::Bytes(b"xyz"));
        expected.extend_from_slice(b"xyz");
    }
    assert!(sent(Body::Parts(&parts), expected.len()) == expected);
}

#[test]
fn a_file_that_is_too_short() {
    let file = file_with(b"short");
    let parts = [Part::File {
        file: &file,
        offset: 0,
        length: 6,
    }];
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::ReadBytes(6)]]);
    let out = Outgoing {
        body: Body::Parts(&parts),
        ..Outgoing::new(b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n")
    };
    let failure =
        run(async { exchange(&session(), &peer.target(), out, WantedParts::ALL, LIMITS).await })
            .expect_err("the file is too short");
    assert!(matches!(failure.kind, FailureKind::File(_)));
    assert_eq!(failure.phase, Phase::Write);
}

const ASKING: &[u8] =
    b"PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";

fn ask(script: Vec<Do>) -> (Result<u16, FailureKind>, Vec<u8>) {
    let peer = Peer::start(vec![script]);
    let out = Outgoing {
        body: Body::Bytes(b"body"),
        expect_continue: Some(Duration::from_millis(200)),
        ..Outgoing::new(ASKING)
    };
    let outcome =
        run(async { exchange(&session(), &peer.target(), out, WantedParts::ALL, LIMITS).await });
    let status = outcome.map(|r| r.status).map_err(|failure| failure.kind);
    (status, peer.received()[ASKING.len()..].to_vec())
}

#[test]
fn the_body_follows_100_continue() {
    let (status, body) = ask(vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Do::ReadBytes(4),
        Do::Send(OK.to_vec()),
    ]);
    assert_eq!(status.expect("good"), 200);
    assert_eq!(body, b"body");
}

#[test]
fn the_body_follows_silence() {
    let (status, body) = ask(vec![Do::ReadHead, Do::ReadBytes(4), Do::Send(OK.to_vec())]);
    assert_eq!(status.expect("good"), 200);
    assert_eq!(body, b"body");
}

#[test]
fn the_body_stays_after_a_final_answer() {
    let (status, body) = ask(vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 417 No\r\nContent-Length: 3\r\n\r\nabc".to_vec()),
    ]);
    assert_eq!(status.expect("good"), 417);
    assert_eq!(body, b"");
}

#[test]
fn other_interim_answers_are_refused() {
    let (status, _) = ask(vec![
        Do::ReadHead,
        Do::Send(b"HTTP/1.1 102 Processing\r\n\r\n".to_vec()),
    ]);
    assert!(matches!(status, Err(FailureKind::UnexpectedInterim(102))));
}

#[test]
fn a_long_body_that_trickles_is_dropped_as_it_comes() {
    const MIB: usize = 1 << 20;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 4 * MIB);
    let mut script = vec![Do::ReadHead, Do::Send(head.into_bytes())];
    // Fast, then too little to be woken for at once, then all.
    script.push(Do::Send(vec![b'x'; 2 * MIB]));
    for _ in 0..4 {
        script.push(Do::Wait(Duration::from_millis(30)));
        script.push(Do::Send(vec![b'x'; 1_000]));
    }
    script.push(Do::Send(vec![b'x'; 2 * MIB - 4_000]));
    let peer = Peer::start(vec![[script, answer(OK)].concat()]);
    run(async {
        let session = session();
        let target = peer.target();
        let out = Outgoing::new(crate::peer::GET);
        let response = exchange(&session, &target, out, WantedParts::NOTHING, LIMITS).await;
        let response = response.expect("no silence is long");
        assert_eq!(response.body_len, 4 * MIB as u64);
        // The next response is shorter than what woke for this one.
        let next = crate::peer::get(&session, &target).await.expect("good");
        assert!(next.reused);
        assert_eq!(next.body.as_deref(), Some(&b"ok"[..]));
    });
}
