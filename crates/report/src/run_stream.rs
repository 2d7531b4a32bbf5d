//! Run files of runs that are under way: a stream of records, so that a killed run leaves its numbers up to its last second.
//! When the run ends, a finished [`RunFile`] replaces the stream.
//!
//! The file begins with [`START`]. Each record consists of its length (four bytes, little-endian), a byte for its kind, its
//! content, and the CRC-32 of kind and content (four bytes). A reader stops at the first truncated or damaged record. When the
//! increments have become much larger than their sum, the stream is rewritten with the sum as its first record. The sum is then
//! read back from the file: the run holds it in memory already.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use drumfire_platform::files::claim;
use drumfire_platform::replacement::{Replacement, is_written_in_place};
use drumfire_results::{Connections, Increment, Recording};
use flate2::Crc;

use crate::run_file::{Mark, RunFile, RunFileError};

/// The first bytes of the file.
pub const START: &[u8] = b"drumfire-run-stream 1\n";
/// The longest record. A larger length means that the file is damaged.
const MOST_BYTES: u32 = 256 << 20;
/// The bytes of a record around its content: length, kind and CRC-32.
const FRAME_BYTES: usize = 9;
/// A stream shorter than this is not rewritten. To rewrite it takes as much memory as the run's statistics, and the allocator keeps
/// most of that: a process with 500 labels at 73,000 samples a second grew from 44 to 70 MiB. A shorter limit would let most such
/// runs pay it.
const LEAST_REWRITE_BYTES: u64 = 32 << 20;

/// A compressed run file with the sum of everything before.
const SUM: u8 = 1;
/// An increment.
const INCREMENT: u8 = 2;
/// A mark, as JSON.
const MARK: u8 = 3;

/// Writes the stream of a run.
#[derive(Debug)]
pub struct RunStream {
    path: PathBuf,
    file: File,
    /// The length of the file, and its length after the last rewrite.
    bytes: u64,
    sum_bytes: u64,
}

impl RunStream {
    /// Begins a stream in the open and empty file at `path`, which no other run may write from now on; `run` holds what is known
    /// before the first sample.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn begin(path: &Path, file: File, mut run: RunFile) -> io::Result<RunStream> {
        claim(&file)?;
        run.ended_early = true;
        let begin = beginning(&run)?;
        let mut stream = RunStream {
            path: path.to_path_buf(),
            file,
            bytes: begin.len() as u64,
            sum_bytes: begin.len() as u64,
        };
        stream.file.write_all(&begin)?;
        Ok(stream)
    }

    /// Appends the numbers of a second.
    ///
    /// # Errors
    /// The message of the operating system. The part that is already written stays readable.
    pub fn add(&mut self, increment: &Increment) -> io::Result<()> {
        self.append(INCREMENT, &increment.encode())?;
        let grown = self.bytes > LEAST_REWRITE_BYTES && self.bytes > 4 * self.sum_bytes;
        if grown && !is_written_in_place(&self.path) {
            self.write_anew()?;
        }
        Ok(())
    }

    /// Appends a mark.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn mark(&mut self, mark: Mark) -> io::Result<()> {
        self.append(MARK, &serde_json::to_vec(&mark)?)
    }

    /// The open file, which stays claimed until it is dropped.
    pub fn into_file(self) -> File {
        self.file
    }

    fn append(&mut self, kind: u8, content: &[u8]) -> io::Result<()> {
        let record = record(kind, content);
        self.file.write_all(&record)?;
        self.bytes += record.len() as u64;
        Ok(())
    }

    /// Replaces the stream with a file that begins with the sum. A file that does not hold all records stays as it is.
    fn write_anew(&mut self) -> io::Result<()> {
        self.sum_bytes = self.bytes;
        let Some(run) = self.read_back() else {
            return Ok(());
        };
        let begin = beginning(&run)?;
        let mut anew = Replacement::begin(&self.path)?;
        claim(anew.file())?;
        anew.file()
            .set_permissions(self.file.metadata()?.permissions())?;
        anew.file().write_all(&begin)?;
        if cfg!(windows) {
            // Windows replaces no open file.
            self.file = anew.file().try_clone()?;
        }
        self.file = anew.finish()?;
        self.bytes = begin.len() as u64;
        self.sum_bytes = self.bytes;
        Ok(())
    }

    /// The sum of all records; `None` if the file does not hold all of them, or cannot be read.
    fn read_back(&self) -> Option<RunFile> {
        let file = File::open(&self.path).ok()?;
        let (run, bytes) = read_records(&self.path, file).ok()?;
        (bytes == self.bytes).then_some(run)
    }
}

/// The start of a stream, with the sum of everything so far.
fn beginning(sum: &RunFile) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    sum.write(&mut content)?;
    Ok([START, &record(SUM, &content)].concat())
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut crc = Crc::new();
    crc.update(&[kind]);
    crc.update(content);
    let mut record = Vec::with_capacity(content.len() + FRAME_BYTES);
    record.extend(length.to_le_bytes());
    record.push(kind);
    record.extend(content);
    record.extend(crc.sum().to_le_bytes());
    record
}

/// Reads a stream that begins with [`START`], as far as it is intact.
///
/// # Errors
/// If nothing of it can be read.
pub fn read(path: &Path, input: impl Read) -> Result<RunFile, RunFileError> {
    read_records(path, input).map(|(run, _)| run)
}

/// Reads a stream, and tells the bytes of its intact records.
fn read_records(path: &Path, input: impl Read) -> Result<(RunFile, u64), RunFileError> {
    let damaged = |why: &str| RunFileError::new(path, format!("this run file is damaged: {why}"));
    let mut input = BufReader::new(input);
    let mut start = [0; START.len()];
    let has_start = input.read_exact(&mut start).is_ok() && start == *START;
    if !has_start {
        return Err(damaged("its beginning is missing"));
    }
    let Some((SUM, content)) = next(&mut input) else {
        return Err(damaged("it ends before the run began"));
    };
    let mut bytes = (START.len() + content.len() + FRAME_BYTES) as u64;
    let packed = flate2::read::MultiGzDecoder::new(content.as_slice());
    let mut run = RunFile::read(path, BufReader::new(packed))?;
    run.ended_early = true;
    while let Some((kind, content)) = next(&mut input) {
        match kind {
            INCREMENT => match Increment::decode(&content) {
                Ok(increment) => run.add(&increment),
                Err(_) => break,
            },
            MARK => match serde_json::from_slice(&content) {
                Ok(mark) => run.marks.push(mark),
                Err(_) => break,
            },
            // A kind of record from a later version.
            _ => {}
        }
        bytes += (content.len() + FRAME_BYTES) as u64;
    }
    run.ended_ms = run.ended_ms.max(run.started_ms);
    Ok((run, bytes))
}

/// The next record; `None` at the end, or if the record is damaged.
fn next(input: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    input.read_exact(&mut head).ok()?;
    let [a, b, c, d, kind] = head;
    let length = u32::from_le_bytes([a, b, c, d]);
    if length > MOST_BYTES {
        return None;
    }
    let mut content = Vec::new();
    let read = input
        .take(u64::from(length))
        .read_to_end(&mut content)
        .ok()?;
    let mut sum = [0; 4];
    input.read_exact(&mut sum).ok()?;
    let mut crc = Crc::new();
    crc.update(&[kind]);
    crc.update(&content);
    (read == length as usize && crc.sum() == u32::from_le_bytes(sum)).then_some((kind, content))
}

/// A run that has no measurements yet.
pub fn begun(name: impl Into<String>, started_ms: i64) -> RunFile {
    let mut run = RunFile::new(name, Recording::default());
    (run.started_ms, run.ended_ms) = (started_ms, started_ms);
    run.connections = Some(Connections::default());
    run
}

#[cfg(test)]
mod tests {
    use std::fs;

    use drumfire_results::{Collector, Sample};

    use super::*;

    fn second(second: i64, samples: i64) -> Increment {
        let mut collector = Collector::default();
        for number in 0..samples {
            let mut sample = Sample::new("Home".into(), "t 1-1".into());
            sample.set_ok();
            sample.start_ms = second * 1_000;
            sample.set_end(second * 1_000 + 10 + number);
            collector.record(&sample);
        }
        collector.take_all().remove(0)
    }

    fn mark(at_ms: i64) -> Mark {
        Mark {
            at_ms,
            text: "paused".to_owned(),
        }
    }

    fn create(path: &Path) -> RunStream {
        let file = File::create(path).unwrap();
        RunStream::begin(path, file, begun("p.jmx", 5_000)).unwrap()
    }

    #[test]
    fn a_run_that_was_killed_is_read_up_to_its_last_whole_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.drumfire");
        let mut stream = create(&path);
        let mut lengths = vec![fs::metadata(&path).unwrap().len()];
        for at in 5..8 {
            stream.add(&second(at, 10)).unwrap();
            lengths.push(fs::metadata(&path).unwrap().len());
        }
        stream.mark(mark(7_900)).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in START.len()..=whole.len() {
            let read = read(&path, &whole[..length]);
            let seconds = lengths.iter().filter(|end| **end <= length as u64).count();
            let Some(seconds) = seconds.checked_sub(1) else {
                assert!(read.is_err());
                continue;
            };
            let run = read.unwrap();
            assert!(run.ended_early);
            assert_eq!(run.recording.total().count, 10 * seconds as u64);
            assert_eq!(run.ended_ms, 5_000 + 1_000 * seconds as i64);
            assert_eq!(run.marks.len(), usize::from(length == whole.len()));
        }
    }

    #[test]
    fn a_damaged_record_ends_the_run_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.drumfire");
        let mut stream = create(&path);
        stream.add(&second(5, 10)).unwrap();
        let first = fs::metadata(&path).unwrap().len() as usize;
        stream.add(&second(6, 10)).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[first + 20] ^= 1;
        let run = read(&path, bytes.as_slice()).unwrap();
        assert_eq!(run.recording.total().count, 10);
    }

    #[test]
    fn a_long_stream_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.drumfire");
        let mut stream = create(&path);
        stream.add(&second(5, 10)).unwrap();
        stream.mark(mark(5_500)).unwrap();
        stream.write_anew().unwrap();
        stream.add(&second(6, 10)).unwrap();
        let run = read(&path, File::open(&path).unwrap()).unwrap();
        assert_eq!((run.recording.total().count, run.marks.len()), (20, 1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let other = File::open(&path).unwrap();
            assert!(claim(&other).is_err(), "the new file is claimed, too");
            drop(stream);
            claim(&other).unwrap();
        }
    }

    #[test]
    fn a_file_that_lost_records_is_not_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.drumfire");
        let mut stream = create(&path);
        stream.add(&second(5, 10)).unwrap();
        let other = File::options().write(true).open(&path).unwrap();
        other
            .set_len(fs::metadata(&path).unwrap().len() - 1)
            .unwrap();
        let before = fs::read(&path).unwrap();
        stream.write_anew().unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
