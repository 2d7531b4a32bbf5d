//! Content encodings, as HttpClient's `ResponseContentEncoding` and Java's streams undo them.

use std::io::Write;

use crate::peer::{GET, LIMITS, Peer, answer, run, session};
use drumfire_http::{
    Coded, Decode, DecodeFailure, Failure, FailureKind, Incoming, Outgoing, WantedParts, exchange,
};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

fn text() -> Vec<u8> {
    let lines = (0..3_000).map(|n| format!("line {n} of the text\n"));
    lines.collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing to a vector");
    encoder.finish().expect("writing to a vector")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing to a vector");
    encoder.finish().expect("writing to a vector")
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("writing to a vector");
    encoder.finish().expect("writing to a vector")
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli::BrotliCompress(
        &mut &bytes[..],
        &mut out,
        &brotli::enc::BrotliEncoderParams::default(),
    )
    .expect("writing to a vector");
    out
}

fn fetch(encoding: &str, body: &[u8], want: WantedParts) -> Result<Box<Incoming>, Box<Failure>> {
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    let peer = Peer::start(vec![answer(&bytes)]);
    run(async { exchange(&session(), &peer.target(), Outgoing::new(GET), want, LIMITS).await })
}

fn decoded(encoding: &str, body: &[u8]) -> Vec<u8> {
    let response = fetch(encoding, body, WantedParts::ALL).expect("the response is good");
    assert_eq!(response.wire.body_bytes, body.len() as u64);
    let body = response.body.expect("the body is kept");
    assert_eq!(response.body_len, body.len() as u64);
    body
}

fn failure(encoding: &str, body: &[u8]) -> DecodeFailure {
    match fetch(encoding, body, WantedParts::ALL)
        .expect_err("damaged")
        .kind
    {
        FailureKind::Decode(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_encoding() {
    let text = text();
    assert!(decoded("gzip", &gzip(&text)) == text);
    assert!(decoded("X-GZIP", &gzip(&text)) == text);
    assert!(decoded("deflate", &zlib(&text)) == text);
    assert!(decoded("deflate", &raw_deflate(&text)) == text);
    assert!(decoded("br", &brotli(&text)) == text);
    assert!(decoded("identity", &text) == text);
    assert!(decoded("unheard-of", &text) == text);
}

#[test]
fn several_encodings_are_undone_in_the_order_listed() {
    let text = text();
    assert!(decoded("gzip, identity, br", &gzip(&brotli(&text))) == text);
}

#[test]
fn gzip_members_and_rubbish() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decoded("gzip", &two), b"one two");
    let rubbish = [gzip(b"one"), b"\0\0\0 and so on".to_vec()].concat();
    assert_eq!(decoded("gzip", &rubbish), b"one");
}

#[test]
fn gzip_header_fields() {
    let mut encoder = flate2::GzBuilder::new()
        .filename("a name")
        .comment("a comment")
        .extra(vec![1, 2, 3])
        .write(Vec::new(), Compression::fast());
    encoder.write_all(b"hello").expect("writing to a vector");
    let bytes = encoder.finish().expect("writing to a vector");
    assert_eq!(decoded("gzip", &bytes), b"hello");
}

#[test]
fn damage() {
    assert_eq!(failure("gzip", b"plain text"), DecodeFailure::NotGzip);
    let unended = DecodeFailure::UnexpectedEnd;
    let corrupt = |coded, text: &str| DecodeFailure::Corrupt(coded, text.into());
    let whole = gzip(&text());
    let end = whole.len();
    assert_eq!(failure("gzip", &whole[..5]), unended(Coded::GzipHeader));
    assert_eq!(failure("gzip", &whole[..500]), unended(Coded::GzipData));
    assert_eq!(
        failure("gzip", &whole[..end - 4]),
        unended(Coded::GzipTrailer)
    );
    let mut wrong_sum = whole.clone();
    wrong_sum[end - 8] ^= 1;
    assert_eq!(failure("gzip", &wrong_sum), DecodeFailure::Checksum);
    let mut wrong_method = whole.clone();
    wrong_method[2] = 7;
    assert_eq!(
        failure("gzip", &wrong_method),
        corrupt(Coded::GzipHeader, "Unsupported compression method")
    );
    let wrong_block = [&whole[..10], &[0xff; 10]].concat();
    assert_eq!(
        failure("gzip", &wrong_block),
        corrupt(Coded::GzipData, "invalid block type")
    );
    // A distance too far back, near the end of the input and far from it: zlib-rs words the latter differently.
    for rest in [0, 600] {
        let far = [&whole[..10], &[0x4b, 0x04, 0x12, 0], &vec![0; rest]].concat();
        assert_eq!(
            failure("gzip", &far),
            corrupt(Coded::GzipData, "invalid distance too far back")
        );
    }
    assert_eq!(
        failure("deflate", &[0xff; 5]),
        corrupt(Coded::Deflate, "invalid block type")
    );
    let mut wrong_sum = zlib(b"hello");
    *wrong_sum.last_mut().expect("there is a check sum") ^= 1;
    assert_eq!(
        failure("deflate", &wrong_sum),
        corrupt(Coded::Deflate, "incorrect data check")
    );
    let whole = zlib(&text());
    assert_eq!(
        failure("deflate", &whole[..1]),
        unended(Coded::DeflateHeader)
    );
    assert_eq!(failure("deflate", &whole[..500]), unended(Coded::Deflate));
    let whole = brotli(&text());
    assert_eq!(failure("br", &whole[..50]), unended(Coded::Brotli));
    assert!(matches!(
        failure("br", &[0xff; 40]),
        DecodeFailure::Corrupt(Coded::Brotli, _)
    ));
}

#[test]
fn relaxed_about_the_end() {
    let relaxed = WantedParts {
        relaxed: drumfire_http::RelaxedDecoding {
            gzip: true,
            deflate: true,
        },
        ..WantedParts::ALL
    };
    let text = text();
    for (name, bytes) in [("gzip", gzip(&text)), ("deflate", zlib(&text))] {
        let response = fetch(name, &bytes[..bytes.len() / 2], relaxed).expect("relaxed");
        let body = response.body.expect("the body is kept");
        assert!(!body.is_empty() && text.starts_with(&body), "{name}");
    }
}

#[test]
fn undecoded_when_not_asked() {
    let bytes = gzip(b"hello");
    let want = WantedParts {
        decode: Decode::Nothing,
        ..WantedParts::ALL
    };
    let response = fetch("gzip", &bytes, want).expect("good");
    assert_eq!(response.body, Some(bytes));
    assert_eq!(response.encoded_len, None);
}

#[test]
fn no_body_is_nothing_to_decode() {
    let response =
        fetch("gzip", b"", WantedParts::ALL).expect("HttpClient leaves empty entities alone");
    assert_eq!(response.body_len, 0);
}

#[test]
fn counted_decoded_without_keeping() {
    let want = WantedParts {
        decode: Decode::All,
        ..WantedParts::NOTHING
    };
    let text = text();
    let response = fetch("br", &brotli(&text), want).expect("good");
    assert_eq!(response.body, None);
    assert_eq!(response.body_len, text.len() as u64);
    assert!(response.encoded_len.is_some());
}
