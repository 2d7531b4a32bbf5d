//! Any bytes as the file of a CSV Data Set: reading it ends, and gives no more fields than the file has characters.
#![no_main]

use drumfire_engine::fuzzing::csv_rows;
use libfuzzer_sys::fuzz_target;

const ENCODINGS: [&str; 6] = [
    "",
    "UTF-8",
    "ISO-8859-1",
    "UTF-16",
    "UTF-16LE",
    "windows-1252",
];
const DELIMITERS: [char; 4] = [',', ';', '\t', '"'];

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let choice = usize::from(*choice);
    let encoding = ENCODINGS[choice % ENCODINGS.len()];
    let delimiter = DELIMITERS[choice / 8 % DELIMITERS.len()];
    let file = tempfile::NamedTempFile::new().expect("there is room");
    std::fs::write(file.path(), content).expect("there is room");
    let rows = csv_rows(file.path(), encoding, delimiter, choice >= 128);
    assert!(rows.iter().map(Vec::len).sum::<usize>() <= content.len() + 1);
});
