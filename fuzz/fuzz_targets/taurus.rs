//! Any bytes as a Taurus configuration. A plan that comes out can be read again.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test.yml");
    std::fs::write(&file, bytes).expect("there is room");
    if let Ok(test) = drumfire_taurus::load(&file, &[]) {
        let plan = drumfire_jmx::write(&test.tree);
        assert!(drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx")).is_ok(), "{plan}");
    }
});
