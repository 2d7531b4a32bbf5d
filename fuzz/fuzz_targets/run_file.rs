//! Any bytes as a run file: unpacked, packed, or the records of a run that did not end. A run that is read has a page.
#![no_main]

use std::io::Write as _;
use std::path::Path;

use drumfire_report::jtl::JtlOptions;
use drumfire_report::{Apdex, RunFile, RunStream, begun, read_input, report_html};
use flate2::Crc;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let path = Path::new("test.run");
    let run = match choice % 2 {
        0 => RunFile::read(path, content),
        _ => Ok(of_records(content)),
    };
    let Ok(mut run) = run else { return };
    let same = run.clone();
    run.merge(&[same]);
    let page = report_html(&run, &Apdex::default(), &|_, _| false);
    assert!(page.contains("<html"));
});

/// The run of a stream whose records are the content, each with a kind, a length and a right check sum.
fn of_records(mut content: &[u8]) -> RunFile {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("test.run");
    let file = std::fs::File::create(&path).expect("there is room");
    drop(RunStream::begin(&path, file, begun("fuzzed", 0)).expect("there is room"));
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .expect("it exists");
    while let [kind, length, rest @ ..] = content {
        let (record, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let mut sum = Crc::new();
        sum.update(&[*kind]);
        sum.update(record);
        let parts = [
            &(record.len() as u32).to_le_bytes(),
            &[*kind][..],
            record,
            &sum.sum().to_le_bytes(),
        ];
        file.write_all(&parts.concat()).expect("there is room");
        content = rest;
    }
    drop(file);
    read_input(&path, &JtlOptions::default(), &mut Vec::new()).expect("its beginning is whole")
}
