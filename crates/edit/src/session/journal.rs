//! The journal of a plan: every step, in a file of the user's state folder, so that undo and unsaved work survive the end of the
//! program.
//!
//! Its first line holds the text that the steps begin with. Each further line is an entry. The operating system has a line as soon
//! as the step is made, so that it survives `kill -9`; once a second it is forced to the disk.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use drumfire_platform::files;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::tree::Step;

/// A larger journal begins anew once everything in it is saved.
const LARGE: u64 = 64 << 20;
const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Begin<'t> {
    format: u32,
    path: Cow<'t, Path>,
    text: Cow<'t, str>,
}

/// A further line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry<S> {
    /// A step was made.
    Made(S),
    /// A step was made that is part of the one before.
    Joined(S),
    /// The last step was taken back.
    Undone,
    /// The next step was made again.
    Redone,
    /// The text was written to the file, whose bytes have this hash.
    Saved(String),
}

/// The journals of all plans.
#[derive(Debug, Clone)]
pub struct Journals(PathBuf);

/// What a journal holds.
#[derive(Debug)]
pub struct Kept {
    /// The text before the first entry.
    pub text: String,
    /// The entries.
    pub entries: Vec<Entry<Step>>,
}

/// The open journal of a plan, which no other program can open.
#[derive(Debug)]
pub struct Journal {
    place: PathBuf,
    path: PathBuf,
    file: Option<File>,
    /// Held until the journal is closed.
    _lock: File,
    is_unforced: bool,
}

/// The hash of a file's bytes, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Journals {
    /// The journals in a folder, which is made when the first is.
    pub fn new(folder: PathBuf) -> Journals {
        Journals(folder)
    }

    /// Opens the journal of a plan, with what it holds; `None` if another program has it open.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn open(&self, plan: &Path) -> io::Result<Option<(Journal, Option<Kept>)>> {
        files::private_folder(&self.0)?;
        let name = hash(plan.as_os_str().as_encoded_bytes());
        let file_path = self.0.join(format!("{}.journal", &name[..32]));
        let lock = private(&file_path.with_extension("lock"), false)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let (entries, length) = read(&file_path, plan);
        let mut journal = Journal {
            place: file_path,
            path: plan.to_owned(),
            file: None,
            _lock: lock,
            is_unforced: false,
        };
        if entries.is_some() {
            let file = private(&journal.place, true)?;
            // A line that was cut off is written over.
            file.set_len(length)?;
            journal.file = Some(file);
        }
        Ok(Some((journal, entries)))
    }
}

/// Opens a file that only its owner can read, and makes it if it is missing.
fn private(path: &Path, appends: bool) -> io::Result<File> {
    match files::private(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    OpenOptions::new().append(appends).write(true).open(path)
}

/// What a journal holds, and how many of its bytes are whole lines.
fn read(place: &Path, plan: &Path) -> (Option<Kept>, u64) {
    let Ok(bytes) = std::fs::read(place) else {
        return (None, 0);
    };
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map(|at| at + 1)
        .unwrap_or(0);
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
    let first = lines
        .next()
        .and_then(|line| serde_json::from_slice::<Begin>(line).ok());
    let Some(begin) = first.filter(|begin| begin.format == FORMAT && *begin.path == *plan) else {
        return (None, 0);
    };
    let mut length = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .map(|at| at + 1)
        .unwrap_or(0);
    let mut entries = Vec::new();
    for line in lines {
        let Ok(entry) = serde_json::from_slice(line) else {
            break;
        };
        entries.push(entry);
        length += line.len();
    }
    let stored = Kept {
        text: begin.text.into_owned(),
        entries,
    };
    (Some(stored), length as u64)
}

impl Journal {
    /// Begins the journal with a text. What it held is gone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin(&mut self, text: &str) -> io::Result<()> {
        let file = private(&self.place, true)?;
        file.set_len(0)?;
        self.file = Some(file);
        let begin = Begin {
            format: FORMAT,
            path: Cow::Borrowed(self.path.as_path()),
            text: Cow::Borrowed(text),
        };
        let line = serde_json::to_vec(&begin)?;
        self.line(line)
    }

    /// Whether it has begun.
    pub fn has_begun(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it should begin anew when everything is saved.
    pub fn is_large(&self) -> bool {
        let length = self.file.as_ref().and_then(|file| file.metadata().ok());
        length.is_some_and(|file| file.len() > LARGE)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, entry: &Entry<&Step>) -> io::Result<()> {
        self.line(serde_json::to_vec(entry)?)
    }

    fn line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        line.push(b'\n');
        file.write_all(&line)?;
        self.is_unforced = true;
        Ok(())
    }

    /// The file, if something was written to it since the last time.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn unforced(&mut self) -> io::Result<Option<File>> {
        let file = self.file.as_ref().filter(|_| self.is_unforced);
        self.is_unforced = false;
        file.map(File::try_clone).transpose()
    }

    /// Forces what was written to the disk.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn force_now(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.as_ref().filter(|_| self.is_unforced) {
            file.sync_data()?;
        }
        self.is_unforced = false;
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The operating system has everything already.
        let _ = self.force_now();
    }
}
