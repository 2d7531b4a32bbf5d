//! Any bytes as a property file: entries and findings stand on lines of the file.
#![no_main]

use std::path::Path;

use drumfire_jmx::read_properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = read_properties(bytes, Path::new("user.properties"));
    let most = bytes
        .iter()
        .filter(|byte| matches!(byte, b'\r' | b'\n'))
        .count()
        + 1;
    assert!(
        file.entries
            .iter()
            .all(|entry| (1..=most).contains(&entry.line))
    );
    for finding in &file.findings {
        assert!(!finding.render(false).is_empty());
    }
});
