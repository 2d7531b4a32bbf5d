//! Any bytes as an input of each importer: the first byte chooses the format. A plan that comes out can be read again.
#![no_main]

use std::path::Path;

use drumfire_import::{FORMATS, Options, correlate::correlate, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let options = Options {
        format: FORMATS.get(usize::from(*choice)).map(|(format, _)| *format),
        ..Options::default()
    };
    let files = [("input".to_owned(), content.to_vec())];
    if let Ok(mut draft) = import(&files, &options) {
        correlate(&mut draft, &[]);
        let plan = drumfire_jmx::write(&draft.tree("data.csv"));
        assert!(drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx")).is_ok(), "{plan}");
    }
});
