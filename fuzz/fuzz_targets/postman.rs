//! Any bytes as Postman collections.
#![no_main]

use drumfire_fuzz::imported;
use drumfire_import::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| imported(bytes, Some(Format::Postman)));
