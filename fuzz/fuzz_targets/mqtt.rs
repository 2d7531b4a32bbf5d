//! Any bytes as the packets of an MQTT server: a client hears and answers the same, however the bytes are cut.
#![no_main]

use drumfire_mqtt::{Client, Version};
use libfuzzer_sys::fuzz_target;

/// The events that the client reports, the bytes that it answers, and its error.
fn heard(version: Version, bytes: &[u8], piece_bytes: usize) -> (String, Vec<u8>) {
    let mut client = Client::new(version, 1000);
    let (mut text, mut out) = (String::new(), Vec::new());
    // Its identifier is the one that most packets of the corpus name.
    let _ = client.subscribe(&["a/#"], drumfire_mqtt::Qos::ExactlyOnce, &mut out);
    for piece in bytes.chunks(piece_bytes) {
        let taken = client.receive(piece, &mut out, &mut |event| {
            text += &format!("{event:?}\n")
        });
        if let Err(error) = taken {
            text += &format!("{error:?}");
            break;
        }
    }
    (text, out)
}

fuzz_target!(|bytes: &[u8]| {
    let [version, piece, packets @ ..] = bytes else {
        return;
    };
    let version = match version % 2 {
        0 => Version::V311,
        _ => Version::V5,
    };
    let whole = heard(version, packets, packets.len().max(1));
    assert_eq!(heard(version, packets, usize::from(*piece % 32) + 1), whole);
});
