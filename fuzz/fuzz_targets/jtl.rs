//! Any bytes as a result file.
#![no_main]

use std::path::Path;

use drumfire_report::jtl::{JtlOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read(Path::new("results.jtl"), bytes, &JtlOptions::default()) {
        Ok(jtl) => assert!(jtl.rows as usize <= bytes.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
