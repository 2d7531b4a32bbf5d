//! Any bytes as an input whose format the content tells.
#![no_main]

use drumfire_fuzz::imported;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| imported(bytes, None));
