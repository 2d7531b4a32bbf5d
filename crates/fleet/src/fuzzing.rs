//! The entry points of the fuzz target `messages`; built only with `--cfg fuzzing`.

use drumfire_results::Increment;

use crate::merge::Merger;
use crate::rows;
use crate::wire::Batch;

/// Adds up the seconds of batches as a coordinator of two agents does, and returns the number of seconds.
pub fn merged(batches: &[Batch]) -> usize {
    let mut merger = Merger::new(2);
    for (index, batch) in (0..).zip(batches) {
        let agent = index % 3;
        if !merger.is_new(agent, batch.sequence) {
            continue;
        }
        for increment in batch
            .increments
            .iter()
            .flat_map(|bytes| Increment::decode(bytes))
        {
            merger.add(agent, increment);
        }
        let _ = merger.post(Some(batch.started_ms));
    }
    std::iter::from_fn(|| merger.post(None)).count()
}

/// Merges files of rows into one, as bytes.
pub fn merged_rows(parts: &[&[u8]]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("there is room");
    let mut paths = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        std::fs::write(&path, part).expect("there is room");
        paths.push(path);
    }
    let target = folder.path().join("all");
    rows::merge(&paths, &target).expect("the parts can be read");
    std::fs::read(target).expect("it was written")
}
