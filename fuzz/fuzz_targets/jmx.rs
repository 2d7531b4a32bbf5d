//! A plan file of any bytes is read or refused, and each finding can be shown.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let findings = match drumfire_jmx::read(bytes, Path::new("plan.jmx")) {
        Ok(read) => read.warnings,
        Err(findings) => {
            assert!(!findings.is_empty(), "a refusal says why");
            findings
        }
    };
    for finding in findings {
        assert!(!finding.render(false).is_empty());
    }
});
