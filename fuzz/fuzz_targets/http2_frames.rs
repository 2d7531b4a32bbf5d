//! Any bytes as the frames of an HTTP/2 server: two requests get the same, however the bytes are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Empty settings, with which a server begins.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

fuzz_target!(|bytes: &[u8]| {
    let Some((piece, content)) = bytes.split_first() else {
        return;
    };
    let frames = [SETTINGS, content].concat();
    let whole = drumfire_http::fuzzing::frames(&frames, frames.len());
    let cut = drumfire_http::fuzzing::frames(&frames, usize::from(*piece % 32) + 1);
    assert_eq!(whole, cut);
});
