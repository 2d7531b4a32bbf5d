//! The files that fields name.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use drumfire_elements::FileUse;
use drumfire_java::file_server;
use drumfire_platform::files::open_regular;

use crate::protocol::types::File;

/// How many lines of a file are shown, and how long each may be.
const LINES: usize = 5;
const LONGEST: u64 = 400;

/// A file that a plan names; `None` for names that a run computes.
pub fn file(plan: &Path, name: &str, used: FileUse) -> Option<File> {
    let name = name.trim();
    if name.is_empty() || name.contains("${") {
        return None;
    }
    let folder = plan.parent().unwrap_or(Path::new(""));
    let path = file_server::resolve(name, folder);
    let is_read = matches!(
        used,
        FileUse::Data | FileUse::Read | FileUse::Script | FileUse::Upload
    );
    let is_beside = || {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(&path)
            .zip(real(folder))
            .is_some_and(|(path, folder)| path.starts_with(folder))
    };
    Some(File {
        exists: path.is_file(),
        first: if is_read && is_beside() {
            first(&path)
        } else {
            Vec::new()
        },
        path: path.display().to_string(),
    })
}

/// The first lines of a file that is text.
fn first(path: &Path) -> Vec<String> {
    let Ok(file) = open_regular(path) else {
        return Vec::new();
    };
    let mut reader = BufReader::new(file);
    let mut lines = Vec::new();
    for _ in 0..LINES {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if line.contains(&0) || !read.is_ok_and(|length| length > 0) {
            break;
        }
        lines.push(
            String::from_utf8_lossy(&line)
                .trim_end_matches(['\n', '\r'])
                .to_owned(),
        );
    }
    lines
}
