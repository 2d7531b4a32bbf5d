//! Reads a file instead of a response, for the protocol `file` (`HTTPFileImpl`). Relative names start at the working
//! directory. A folder gives the names in it, a line each, sorted without regard to case (Java sorts by the rules of its
//! language).
//!
//! The worker's thread reads the file, so the other users of the worker wait for it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use drumfire_platform::files::open_regular;

/// How many bytes of a file are stored unless `httpsampler.max_bytes_to_store_per_request` says otherwise.
pub(super) const DEFAULT_MOST_BYTES: u64 = 10 << 20;

/// Up to `most` bytes of the file, and its whole size.
pub(super) fn read(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    if path.is_dir() {
        let names = names(path)?;
        let size = names.len() as u64;
        return Ok((names, size));
    }
    let mut file = open_regular(path)?;
    let mut data = Vec::new();
    file.by_ref().take(most).read_to_end(&mut data)?;
    let rest = io::copy(&mut file, &mut io::sink())?;
    let size = data.len() as u64 + rest;
    Ok((data, size))
}

fn names(folder: &Path) -> io::Result<Vec<u8>> {
    let mut names = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    Ok(names
        .iter()
        .flat_map(|name| name.bytes().chain([b'\n']))
        .collect())
}
