//! The answers of servers: it makes no difference in which pieces the bytes arrive.
#![no_main]

use drumfire_http::fuzzing::response;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let at_once = response(bytes, bytes.len().max(1));
    let in_pieces = response(bytes, usize::from(*first).max(1));
    assert_eq!(at_once, in_pieces);
});
