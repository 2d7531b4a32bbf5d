//! Opens and writes result files by the rules of JMeter's `ResultCollector`.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use drumfire_platform::causes::unwritable;
use drumfire_platform::files::{claim, is_at, is_claimed};

use crate::row::RowFormat;
use crate::xml;

/// The treatment of an existing result file. Without a GUI, JMeter ignores `resultcollector.action_if_file_exists` and
/// appends to the file, unless `-f` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExistingFile {
    /// Append to it.
    #[default]
    Append,
    /// Delete it first (`-f`).
    Delete,
    /// Append to it, as other agents of the same run on this machine may do. Otherwise a run claims its files, and another run
    /// that names one of them is refused.
    Share,
}

/// How file names of listeners are resolved.
#[derive(Clone, Debug)]
pub struct ResultFolder {
    /// Folder of the plan.
    pub base_dir: PathBuf,
    /// Names with this prefix are relative to `base_dir`, others to the working directory
    /// (`jmeter.save.saveservice.base_prefix`, by default `~/`).
    pub base_prefix: String,
    /// The treatment of existing files.
    pub existing: ExistingFile,
}

impl ResultFolder {
    /// Resolves a listener's file name (`FileServer.resolveBaseRelativeName`).
    pub fn resolve(&self, name: &str) -> PathBuf {
        match name.strip_prefix(self.base_prefix.as_str()) {
            // Java's `File` joins paths, so a leading slash in the rest does not make it absolute.
            Some(rest) => self.base_dir.join(rest.trim_start_matches('/')),
            None => PathBuf::from(name),
        }
    }
}

/// Why a run cannot start.
#[derive(Debug)]
pub struct OpenError {
    pub(crate) path: PathBuf,
    pub(crate) cause: io::Error,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_claimed(&self.cause) {
            let reason = unwritable(&self.path, &self.cause);
            return write!(f, "the results file {reason}");
        }
        write!(f, "Could not delete results file {}", self.path.display())
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Deletes the file of a listener, if it exists. The name is used without resolving the base prefix
/// (`JMeter.runNonGui`).
///
/// # Errors
/// When the file exists and cannot be deleted; JMeter then refuses to start.
pub(crate) fn delete_existing(name: &str) -> Result<(), OpenError> {
    // Opening a pipe would wait for the other side.
    let is_file = fs::metadata(name).is_ok_and(|found| found.is_file());
    let opened = is_file.then(|| File::open(name).and_then(|file| claim(&file)));
    let removed = match opened {
        Some(Err(error)) if is_claimed(&error) => Err(error),
        _ => fs::remove_file(name),
    };
    match removed {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound && Path::new(name).exists() => {
            Err(OpenError {
                path: PathBuf::from(name),
                cause,
            })
        }
        _ => Ok(()),
    }
}

/// An open result file.
#[derive(Debug)]
pub(crate) struct ResultFile {
    pub path: PathBuf,
    file: File,
    /// Length up to which the file contains only whole rows; `None` for pipes and devices.
    whole_len: Option<u64>,
    pub rows: u64,
    pub lost_rows: u64,
    pub problem: Option<String>,
}

impl ResultFile {
    /// Opens `path`, creates its folders, and writes the head into a new file (`ResultCollector.getFileWriter`). A CSV
    /// file is new if it did not exist, an XML file if it did not end with a complete `testResults`. Rows that the plan
    /// defines get a head each time (`FlexibleFileWriter`).
    ///
    /// # Errors
    /// The operating system's error.
    pub fn open(path: &Path, format: &RowFormat, existing: ExistingFile) -> io::Result<ResultFile> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            match fs::create_dir_all(folder) {
                // A file has the folder's name; opening `path` will report that.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        let existed = path.exists();
        let is_xml = format.config.xml && format.columns.is_none();
        let mut file = OpenOptions::new()
            .read(is_xml)
            .append(true)
            .create(true)
            .open(path)?;
        if existing != ExistingFile::Share {
            claim(&file)?;
        }
        let regular = file.metadata()?.is_file();
        let mut whole_len = file.metadata()?.len();
        let continued = if let Some(columns) = &format.columns {
            if columns.overwrites {
                whole_len = 0;
            }
            false
        } else if is_xml {
            let end = if regular {
                end_tag_start(&mut file, whole_len)?
            } else {
                None
            };
            whole_len = end.unwrap_or(0);
            end.is_some()
        } else {
            existed
        };
        if regular {
            // As in JMeter, an XML file without its end tag is overwritten.
            file.set_len(whole_len)?;
        }
        let mut opened = ResultFile {
            path: path.to_owned(),
            file,
            whole_len: regular.then_some(whole_len),
            rows: 0,
            lost_rows: 0,
            problem: None,
        };
        if !continued {
            let mut head = Vec::new();
            format.write_head(&mut head);
            opened.append(&head)?;
        }
        Ok(opened)
    }

    /// Writes whole rows. After a failure it truncates the file to the last whole row and counts the rows as lost. The
    /// next call tries again.
    pub fn write_rows(&mut self, data: &[u8], rows: u64) {
        match self.append(data) {
            Ok(()) => self.rows += rows,
            Err(error) => {
                self.lost_rows += rows;
                self.fail(&error);
            }
        }
    }

    /// Writes the end of the file and checks that the file still exists at its path.
    pub fn finish(&mut self, format: &RowFormat) {
        let mut tail = Vec::new();
        format.write_tail(&mut tail);
        if let Err(error) = self.append(&tail) {
            self.fail(&error);
        }
        if self.whole_len.is_some() && !is_at(&self.path, &self.file) {
            self.problem.get_or_insert_with(|| {
                format!(
                    "{} was removed or replaced while the test was running",
                    self.path.display()
                )
            });
        }
    }

    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(data);
        if let Some(whole_len) = &mut self.whole_len {
            match &written {
                Ok(()) => *whole_len += data.len() as u64,
                Err(_) => {
                    // Truncating may fail as well on a broken disk; the error to report is the first one.
                    let _ = self.file.set_len(*whole_len);
                }
            }
        }
        written
    }

    fn fail(&mut self, error: &io::Error) {
        self.problem
            .get_or_insert_with(|| unwritable(&self.path, error));
    }
}

/// Offset of the end tag of a complete XML file (`ResultCollector.trimLastLine`). Only the last bytes are searched; a
/// file that is too short to be complete has no end tag.
fn end_tag_start(file: &mut File, len: u64) -> io::Result<Option<u64>> {
    if len < xml::MIN_FILE_LEN {
        return Ok(None);
    }
    let searched = xml::END_TAG.len() as u64 + 10;
    let start = len - searched;
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(searched).read_to_end(&mut end)?;
    let offset = end
        .windows(xml::END_TAG.len())
        .position(|window| window == xml::END_TAG);
    Ok(offset.map(|at| start + at as u64))
}

/// A path that is identical for all names of one file, even before the file exists.
pub(crate) fn identity(path: &Path) -> PathBuf {
    if let Ok(canonical) = fs::canonicalize(path) {
        return canonical;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // The folder may be missing, too: resolve the part of it that exists.
    let mut rest = Vec::new();
    let mut folder = absolute.as_path();
    while let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
        rest.push(name);
        folder = parent;
        if let Ok(canonical) = fs::canonicalize(folder) {
            return rest
                .iter()
                .rev()
                .fold(canonical, |path, name| path.join(name));
        }
    }
    absolute
}
