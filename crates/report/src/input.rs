//! Reads the input of a report, a comparison or a merge: a run file, finished or not, or a result file, compressed or not.
//! The content decides which it is.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use drumfire_platform::causes;
use drumfire_platform::spelling::absent;
use flate2::bufread::MultiGzDecoder;

use crate::jtl::{self, JtlError, JtlOptions};
use crate::run_file::{RunFile, RunFileError};
use crate::run_stream;

/// The start of every finished run file, once it is decompressed.
const RUN_FILE_START: &[u8] = b"{\"format\":\"drumfire-run\"";

/// Why an input cannot be used.
#[derive(Debug)]
pub enum InputError {
    /// The file cannot be opened or read.
    Unreadable {
        /// The file and the cause.
        message: String,
        /// The remedy, if there is one.
        hint: Option<String>,
    },
    /// A result file that is not valid.
    Jtl(JtlError),
    /// A run file that is not valid.
    Run(RunFileError),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Unreadable { message, hint } => {
                f.write_str(message)?;
                match hint {
                    Some(hint) => write!(f, "\nhint: {hint}"),
                    None => Ok(()),
                }
            }
            InputError::Jtl(error) => error.fmt(f),
            InputError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {}

impl InputError {
    /// Whether the text ends with a remedy.
    pub fn has_hint(&self) -> bool {
        match self {
            InputError::Unreadable { hint, .. } => hint.is_some(),
            InputError::Jtl(error) => !error.remedy.is_empty(),
            InputError::Run(_) => false,
        }
    }
}

/// Reads a run file, or a result file of any kind. Adds warnings about it to `warnings`.
///
/// # Errors
/// If the file cannot be read or is neither, with file, line and remedy.
pub fn read_input(
    path: &Path,
    options: &JtlOptions,
    warnings: &mut Vec<String>,
) -> Result<RunFile, InputError> {
    let unreadable = |error: io::Error| InputError::Unreadable {
        message: causes::unreadable(path, &error),
        hint: (error.kind() == io::ErrorKind::NotFound).then(|| absent(path)),
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut plain = BufReader::with_capacity(256 << 10, file);
    let is_packed = plain
        .fill_buf()
        .map_err(unreadable)?
        .starts_with(&[0x1f, 0x8b]);
    let is_stream = plain
        .fill_buf()
        .map_err(unreadable)?
        .starts_with(run_stream::START);
    if is_stream {
        let run = run_stream::read(path, plain).map_err(InputError::Run)?;
        warnings.push(format!(
            "{}: the run ended early; these are its numbers up to the last second written",
            path.display()
        ));
        return Ok(run);
    }
    let mut input: Box<dyn BufRead> = if is_packed {
        Box::new(BufReader::with_capacity(
            256 << 10,
            MultiGzDecoder::new(plain),
        ))
    } else {
        Box::new(plain)
    };
    if input
        .fill_buf()
        .map_err(unreadable)?
        .starts_with(RUN_FILE_START)
    {
        return RunFile::read(path, input).map_err(InputError::Run);
    }
    let jtl = jtl::read(path, input as Box<dyn Read>, options).map_err(InputError::Jtl)?;
    let warned = jtl.warnings.into_iter();
    warnings.extend(warned.map(|warning| format!("{}: {warning}", path.display())));
    Ok(RunFile::of_result_file(path, jtl.recording))
}
