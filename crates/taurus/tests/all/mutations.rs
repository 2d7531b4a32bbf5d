//! Configurations damaged in thousands of ways: reading them never panics, and a plan that comes out can be read again.

use std::path::Path;

use drumfire_testkit::mutation::{Random, damaged, rounds};

/// More for a longer search: `MUTATIONS=100000 cargo test -p drumfire-taurus --test all mutations`.
/// Most damage makes a key unknown, which is refused: one configuration in 25 can still be read.
const USUAL: usize = 900;

/// Pieces that are likely to matter somewhere.
const PIECES: [&str; 24] = [
    "~",
    "^",
    "$",
    "&a ",
    "*a",
    "<<: *a",
    "!!",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\n",
    "\t",
    "|\n",
    ">-\n",
    "%",
    "${",
    "99999999999999999999",
    "é",
    "\0",
];

/// The configurations of the recorded cases.
fn seeds() -> Vec<Vec<u8>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut seeds = Vec::new();
    let mut open = vec![cases];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(folder).expect("the cases");
        let mut entries: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        entries.sort();
        for entry in entries {
            if entry.is_dir() {
                open.push(entry);
            } else if drumfire_taurus::is_configuration(&entry) {
                seeds.push(std::fs::read(entry).expect("a configuration"));
            }
        }
    }
    seeds
}

#[test]
fn damaged_configurations_never_panic_and_plans_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test.yml");
    let seeds = seeds();
    let mut random = Random::default();
    let (mut plans, mut refused) = (0, 0);
    for number in 0..rounds(USUAL) {
        let content = damaged(&seeds[number % seeds.len()], &PIECES, &mut random);
        std::fs::write(&file, &content).expect("there is room");
        match drumfire_taurus::load(&file, &[]) {
            Ok(test) => {
                let plan = drumfire_jmx::write(&test.tree);
                let read = drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx"));
                assert!(read.is_ok(), "{}", String::from_utf8_lossy(&content));
                plans += 1;
            }
            Err(fault) => {
                assert!(
                    !fault.to_string().is_empty(),
                    "{}",
                    String::from_utf8_lossy(&content)
                );
                refused += 1;
            }
        }
    }
    assert!(plans > 20 && refused > 20, "{plans} {refused}");
}
