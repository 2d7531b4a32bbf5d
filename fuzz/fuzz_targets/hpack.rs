//! Any bytes as a header block of an HTTP/2 server. The fields that it says survive encoding and decoding.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| drumfire_http::fuzzing::header_block(bytes));
