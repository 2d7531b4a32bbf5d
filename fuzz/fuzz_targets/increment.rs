//! Reads any bytes as the wire form of an increment. The decoder and the encoder agree, and a run can add what was decoded.
#![no_main]

use drumfire_report::{begun, statistics_json};
use drumfire_results::Increment;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Increment::decode(bytes) {
        Ok(increment) => {
            let again = Increment::decode(&increment.encode()).expect("it was written here");
            assert_eq!(again.encode(), increment.encode());
            let mut twice = increment.clone();
            twice.merge(again);
            let mut run = begun("fuzzed", 0);
            run.add(&increment);
            run.add(&twice);
            assert!(!statistics_json(&run, [None; 3]).is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
