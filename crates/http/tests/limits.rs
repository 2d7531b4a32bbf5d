//! Responses that are too large, and the time that a body may take at once.

mod peer;

use std::cell::Cell;
use std::io::Write;

use drumfire_http::{
    Failure, FailureKind, Incoming, Keep, Outgoing, PoolOptions, Session, SizeLimits, WantedParts,
    exchange,
};
use peer::{Do, GET, LIMITS, Peer, run, worker};

const MIB: usize = 1 << 20;

const SIZES: SizeLimits = SizeLimits {
    head_bytes: 4096,
    body_bytes: MIB as u64,
    decoded_bytes: 2 * MIB as u64,
};

/// One GET to a peer that answers with these bytes and then closes.
async fn answer(bytes: Vec<u8>, keep: Keep) -> Result<Box<Incoming>, Box<Failure>> {
    let peer = Peer::start(vec![vec![Do::ReadHead, Do::Send(bytes), Do::Close]]);
    let pool = PoolOptions {
        sizes: SIZES,
        ..PoolOptions::default()
    };
    let session = Session::new(worker(pool));
    let want = WantedParts {
        keep,
        ..WantedParts::ALL
    };
    exchange(&session, &peer.target(), Outgoing::new(GET), want, LIMITS).await
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

/// How often another task of the thread ran while this response was received.
fn turns_of_others(bytes: Vec<u8>, keep: Keep) -> usize {
    run(async {
        let turns = Cell::new(0);
        let others = async {
            loop {
                turns.set(turns.get() + 1);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            outcome = answer(bytes, keep) => drop(outcome),
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
