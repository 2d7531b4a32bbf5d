//! Configurations damaged in thousands of ways: reading them never panics, and a plan that comes out can be read again.

use std::path::Path;

/// More for a longer search: `MUTATIONS=100000 cargo test -p drumfire-taurus --test mutations`.
const USUAL: usize = 300;

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

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn damaged(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(20)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 | 3 => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            4 => {
                let copied = bytes[at..end].to_vec();
                let target = random.below(bytes.len());
                bytes.splice(target..target, copied);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.below(256) as u8;
                }
            }
        }
    }
    bytes
}

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
    let count = std::env::var("MUTATIONS")
        .ok()
        .and_then(|text| text.parse().ok());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test.yml");
    let seeds = seeds();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut plans, mut refused) = (0, 0);
    for number in 0..count.unwrap_or(USUAL) {
        let content = damaged(&seeds[number % seeds.len()], &mut random);
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
