//! Any bytes as a plan that is checked: it is resolved and decoded, and each finding has a message.
#![no_main]

use std::path::Path;
use std::sync::Arc;

use drumfire_engine::{RunSettings, draft, resolve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(read) = drumfire_jmx::read(bytes, Path::new("plan.jmx")) else {
        return;
    };
    let settings = Arc::new(RunSettings::default());
    let plan = resolve(read.tree, &settings.properties, &settings.base_dir);
    let draft = draft(&plan, &settings);
    assert!(
        draft
            .findings
            .iter()
            .all(|finding| !finding.message.is_empty())
    );
});
