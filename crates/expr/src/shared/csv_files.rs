//! The open files of `__CSVRead`, shared by all users, and each user's row in them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open files by alias: `FileWrapper.fileContainers`.
#[derive(Debug, Default)]
pub(crate) struct CsvFiles(Mutex<OpenFiles>);

#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    pub(crate) by_alias: HashMap<String, Arc<CsvFile>>,
    /// The first file that was opened. While it is the only one, an empty file name refers to it.
    pub(crate) default: String,
}

impl CsvFiles {
    pub(crate) fn lock(&self) -> MutexGuard<'_, OpenFiles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One user's current rows by alias: `FileWrapper.filePacks`.
#[derive(Debug, Default)]
pub(crate) struct CsvCursors(pub(crate) HashMap<String, CsvCursor>);

#[derive(Debug)]
pub(crate) struct CsvCursor {
    pub(crate) file: Arc<CsvFile>,
    /// `None` until the next column is read.
    pub(crate) row: Option<usize>,
}

/// A file in memory: `FileRowColContainer`.
#[derive(Debug)]
pub(crate) struct CsvFile {
    rows: Vec<Vec<String>>,
    next_row: AtomicUsize,
}

impl CsvFile {
    pub(crate) fn new(rows: Vec<Vec<String>>) -> CsvFile {
        CsvFile {
            rows,
            next_row: AtomicUsize::new(0),
        }
    }

    /// Takes the next row; all users share the position. The first row follows the last one.
    pub(crate) fn take_row(&self) -> usize {
        let next = self.next_row.fetch_add(1, Ordering::Relaxed);
        next % self.rows.len().max(1)
    }

    pub(crate) fn field(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column).map(String::as_str)
    }
}
