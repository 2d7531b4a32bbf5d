//! Any bytes as the frames of an HTTP/2 server, over a real connection: each request ends with a response or a failure.
#![no_main]

use std::time::Duration;

use drumfire_fuzz::{Peer, alone};
use drumfire_http::{
    HttpVersion, Limits, Outgoing, PoolOptions, Session, Target, Tls, TlsOptions, WantedParts,
    Worker, exchange,
};
use libfuzzer_sys::fuzz_target;

/// The server's preface: empty settings, and the acknowledgement of the client's.
const PREFACE: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";

/// Whole frames of the content's records: each begins with a kind, flags, a stream and a length.
fn framed(mut content: &[u8]) -> Vec<u8> {
    let mut frames = Vec::new();
    while let [kind, flags, stream, length, rest @ ..] = content {
        let (payload, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        frames.extend([0, 0, payload.len() as u8, *kind, *flags, 0, 0, 0, *stream]);
        frames.extend(payload);
        content = rest;
    }
    frames
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let preface = if choice % 8 == 0 { &[][..] } else { PREFACE };
    let frames = match choice % 16 {
        8.. => framed(content),
        _ => content.to_vec(),
    };
    let peer = Peer::answering([preface, &frames].concat());
    alone(async {
        let tls = Tls::new(&TlsOptions::default()).expect("the defaults are valid");
        let session = Session::new(Worker::new(tls, PoolOptions::default()));
        let target = Target {
            version: HttpVersion::Http2,
            ..Target::new("127.0.0.1", peer.port(), false)
        };
        let head = b"GET /a HTTP/1.1\r\nHost: shop.test\r\n\r\n";
        let limits = Limits {
            response: Some(Duration::from_secs(5)),
            ..Limits::default()
        };
        let outcome = exchange(
            &session,
            &target,
            Outgoing::new(head),
            WantedParts::ALL,
            limits,
        )
        .await;
        match outcome {
            Ok(response) => assert!(
                response
                    .body
                    .as_ref()
                    .is_none_or(|body| body.len() as u64 <= response.body_len)
            ),
            Err(failure) => assert!(!format!("{:?}", failure.kind).is_empty()),
        }
    });
});
