//! Any bytes as the frames of a WebSocket server, over a real connection: reading ends, and frames are no larger than the input.
#![no_main]

use std::time::Duration;

use drumfire_fuzz::{Peer, alone};
use drumfire_http::{Limits, PoolOptions, Session, Target, Tls, TlsOptions, WebSocket, Worker};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let peer = Peer::answering(bytes.to_vec());
    alone(async {
        let tls = Tls::new(&TlsOptions::default()).expect("the defaults are valid");
        let session = Session::new(Worker::new(tls, PoolOptions::default()));
        let target = Target::new("127.0.0.1", peer.port(), false);
        let opened = WebSocket::connect(&session, &target, None, Limits::default()).await;
        let Ok((mut socket, _)) = opened else {
            panic!("the peer listens")
        };
        let limit = Some(Duration::from_secs(5));
        let head = socket
            .receive_head(limit)
            .await
            .expect("the peer ends the stream");
        let mut total = head.len() as u64;
        while let Ok(frame) = socket.receive(limit).await {
            assert!(frame.payload.len() as u64 + 2 <= frame.wire_bytes);
            total += frame.wire_bytes;
        }
        assert!(total <= bytes.len() as u64);
        socket.close();
    });
});
