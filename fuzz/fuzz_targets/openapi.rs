//! Any bytes as descriptions of APIs, in JSON and YAML.
#![no_main]

use drumfire_fuzz::imported;
use drumfire_import::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| imported(bytes, Some(Format::OpenApi)));
