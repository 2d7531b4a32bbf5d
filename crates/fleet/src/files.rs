//! The files of a plan, identified by the SHA-256 of their content. Each travels only once, however many runs and plans use
//! it.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use drumfire_platform::causes::{cause, unreadable, unwritable};
use drumfire_platform::replacement::Replacement;
use drumfire_platform::words::hex;
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::error::{FleetError, within};
use crate::link::{CALL, Link};
use crate::wire::{FILES, FileEntry};

/// How long the transfer of one file may take.
const FILE: Duration = Duration::from_secs(600);
/// NATS removes a consumer that has not been read for this long.
const UNREAD: Duration = Duration::from_secs(30);
/// The number of parts that one request fetches.
const BATCH: usize = 32;
/// The number of bytes to read at once.
const CHUNK: usize = 1 << 17;
/// The most bytes that an agent may leave at the end of a run; an honest one leaves some hundred kilobytes.
const MOST_END: u64 = 64 << 20;

/// A file of a plan, and its place on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The path relative to the plan's folder.
    pub path: String,
    pub here: PathBuf,
    /// Whether agents need only rows of it, each of which one of them reads.
    pub is_rows: bool,
}

/// A larger file of rows is not copied to agents.
const COPIED: u64 = 32 << 20;
/// How much of it they get, for its header and for checks before the start.
const START: u64 = 64 << 10;

impl PlanFile {
    /// Whether agents ask for the rows of this file as they use them.
    pub fn is_streamed(&self) -> bool {
        self.is_rows && std::fs::metadata(&self.here).is_ok_and(|facts| facts.len() > COPIED)
    }

    /// The first rows.
    fn start(&self) -> std::io::Result<Vec<u8>> {
        let mut start = Vec::new();
        let file = std::fs::File::open(&self.here)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(file, START), &mut start)?;
        // Only whole rows, if there are any.
        let rows = start.iter().rposition(|byte| *byte == b'\n');
        start.truncate(rows.map(|end| end + 1).unwrap_or(start.len()));
        Ok(start)
    }
}

/// A digest in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Whether a path stays inside the folder that it is put into.
pub fn stays_inside(path: &str) -> bool {
    let path = Path::new(path);
    !path.as_os_str().is_empty()
        && path
            .components()
            .all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

async fn digest(file: &Path) -> std::io::Result<(String, u64)> {
    let mut file = tokio::fs::File::open(file).await?;
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk).await?;
        if read == 0 {
            return Ok((hex(&sum.finalize()), bytes));
        }
        sum.update(&chunk[..read]);
        bytes += read as u64;
    }
}

/// Uploads the files that NATS does not have yet.
///
/// # Errors
/// If a file cannot be read, or NATS does not take it.
pub async fn offer(link: &Link, files: &[PlanFile]) -> Result<Vec<FileEntry>, FleetError> {
    let mut entries = Vec::new();
    for file in files {
        let PlanFile { path, here, .. } = file;
        let cannot = |error: std::io::Error| FleetError::Other(unreadable(here, &error));
        if file.is_streamed() {
            let start = file.start().map_err(cannot)?;
            let sum = sha256(&start);
            let what = format!("NATS to take the start of the file `{path}`");
            within(FILE, &what, link.files.put(sum.as_str(), &mut &start[..])).await?;
            entries.push(FileEntry {
                path: path.clone(),
                sha256: sum,
                bytes: start.len() as u64,
                is_start: true,
            });
            continue;
        }
        let (sha256, bytes) = digest(here).await.map_err(cannot)?;
        let stored = tokio::time::timeout(CALL, link.files.info(&sha256)).await;
        let is_there =
            matches!(&stored, Ok(Ok(info)) if !info.deleted && info.size as u64 == bytes);
        if !is_there {
            let mut file = tokio::fs::File::open(here).await.map_err(cannot)?;
            let what = format!("NATS to take the file `{path}`");
            within(FILE, &what, link.files.put(sha256.as_str(), &mut file)).await?;
        }
        entries.push(FileEntry {
            path: path.clone(),
            sha256,
            bytes,
            is_start: false,
        });
    }
    Ok(entries)
}

/// Fetches the files of a plan into a folder. Files in the cache are not fetched again. `reader` names the consumer for a
/// file.
///
/// # Errors
/// If a path leads out of the folder, a file does not arrive, or its content does not match its digest.
pub async fn fetch(
    link: &Link,
    files: &[FileEntry],
    reader: impl Fn(usize) -> String,
    cache: &Path,
    folder: &Path,
) -> Result<(), FleetError> {
    tokio::fs::create_dir_all(cache)
        .await
        .map_err(|error| cannot(cache, error))?;
    for (number, file) in files.iter().enumerate() {
        if !stays_inside(&file.path) {
            let why = format!("the file `{}` is outside the plan's folder", file.path);
            return Err(FleetError::Other(why));
        }
        let cached = cache.join(&file.sha256);
        let is_kept = matches!(digest(&cached).await, Ok((sha256, _)) if sha256 == file.sha256);
        if !is_kept {
            receive(link, file, &reader(number), &cached).await?;
        }
        let target = folder.join(&file.path);
        if let Some(parent) = target.parent() {
            let made = tokio::fs::create_dir_all(parent).await;
            made.map_err(|error| cannot(parent, error))?;
        }
        let copied = tokio::fs::copy(&cached, &target).await;
        copied.map_err(|error| cannot(&target, error))?;
    }
    Ok(())
}

fn cannot(path: &Path, error: std::io::Error) -> FleetError {
    FleetError::Other(unwritable(path, &error))
}

async fn receive(
    link: &Link,
    file: &FileEntry,
    reader: &str,
    target: &Path,
) -> Result<(), FleetError> {
    let what = format!("the file `{}` from NATS", file.path);
    let cannot = |error| FleetError::Other(unwritable(target, &error));
    let mut half = Replacement::begin(target).map_err(cannot)?;
    let copy_target = half.file().try_clone().map_err(cannot)?;
    within(FILE, &what, copy(link, file, reader, copy_target)).await?;
    let received = digest(half.path()).await;
    if !matches!(&received, Ok((sha256, _)) if *sha256 == file.sha256) {
        let why = format!(
            "the file `{}` arrived damaged; start the run again",
            file.path
        );
        return Err(FleetError::Other(why));
    }
    half.finish().map(drop).map_err(cannot)
}

/// Reads the parts of a file through a consumer of this name, so that an agent needs no other right to read.
async fn copy(
    link: &Link,
    file: &FileEntry,
    reader: &str,
    target: std::fs::File,
) -> Result<(), FleetError> {
    let cannot = |error: std::io::Error| FleetError::Other(cause(&error));
    let mut output = tokio::fs::File::from_std(target);
    let chunks = chunks(link, &file.sha256).await?;
    let config = pull::Config {
        name: Some(reader.to_owned()),
        filter_subject: chunks,
        ack_policy: AckPolicy::None,
        inactive_threshold: UNREAD,
        memory_storage: true,
        ..pull::Config::default()
    };
    let stream = format!("OBJ_{FILES}");
    let making = link.jetstream.create_consumer_on_stream(config, stream);
    let consumer = within(CALL, "the file", making).await?;
    let mut missing = file.bytes;
    while missing > 0 {
        let asking = consumer
            .fetch()
            .max_messages(BATCH)
            .expires(CALL)
            .messages();
        let mut messages = within(CALL, "the file", asking).await?;
        let before = missing;
        while missing > 0 {
            let next = within(CALL * 2, "the file", async {
                Ok::<_, String>(messages.next().await)
            });
            let Some(message) = next.await? else { break };
            let message = message.map_err(|error| FleetError::Other(error.to_string()))?;
            missing = missing.saturating_sub(message.payload.len() as u64);
            output.write_all(&message.payload).await.map_err(cannot)?;
        }
        if missing == before {
            return Err(FleetError::Other("it is incomplete".to_owned()));
        }
    }
    output.flush().await.map_err(cannot)
}

/// The subject of the parts of a file.
///
/// # Errors
/// If NATS does not have the file.
pub async fn chunks(link: &Link, sha256: &str) -> Result<String, FleetError> {
    let info = within(CALL, "the file", link.files.info(sha256)).await?;
    Ok(format!("$O.{FILES}.C.{}", info.nuid))
}

/// Stores an object that an agent leaves at the end of a run.
///
/// # Errors
/// If NATS does not take it.
pub async fn put_end(link: &Link, name: &str, bytes: &[u8]) -> Result<(), FleetError> {
    let mut reader = bytes;
    within(
        FILE,
        "NATS to take the end of the run",
        link.ends.put(name, &mut reader),
    )
    .await
    .map(|_| ())
}

/// Whether an agent has left an object of this name.
pub async fn has_end(link: &Link, name: &str) -> bool {
    let stored = tokio::time::timeout(CALL, link.ends.info(name)).await;
    matches!(stored, Ok(Ok(info)) if !info.deleted)
}

/// Reads an object that an agent left; `None` if it does not exist.
///
/// # Errors
/// If NATS does not answer, or the object is longer than [`MOST_END`].
pub async fn end(link: &Link, name: &str) -> Result<Option<Vec<u8>>, FleetError> {
    let object_read = tokio::time::timeout(CALL, link.ends.get(name)).await;
    let Ok(Ok(mut object)) = object_read else {
        return Ok(None);
    };
    if object.info.size as u64 > MOST_END {
        let most = MOST_END >> 20;
        return Err(FleetError::Other(format!(
            "an agent left more than {most} MiB at the end of the run as `{name}`"
        )));
    }
    let mut bytes = Vec::new();
    let reading = async { (&mut object).take(MOST_END).read_to_end(&mut bytes).await };
    within(FILE, "the end of a run from NATS", reading).await?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_of_the_folder() {
        for inside in ["a.csv", "data/a.csv", "./a"] {
            assert!(stays_inside(inside), "{inside}");
        }
        for outside in ["", "/etc/passwd", "../a", "a/../../b"] {
            assert!(!stays_inside(outside), "{outside}");
        }
    }

    #[test]
    fn digests_are_those_of_sha256() {
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
