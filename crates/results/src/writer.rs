//! The thread that writes all result files, and the queue between it and the workers.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_platform::causes::{cause, unwritable};
use drumfire_platform::files::is_claimed;

use crate::files::{self, ExistingFile, OpenError, ResultFile, ResultFolder};
use crate::row::RowFormat;

/// Limit of empty buffers kept for reuse.
const MAX_SPARE_BUFFERS: usize = 64;

/// Which samples a listener writes (`ResultCollector.isSampleWanted`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// All samples.
    #[default]
    All,
    /// Failed samples only.
    Errors,
    /// Successful samples only.
    Successes,
}

impl Filter {
    /// The filter for a listener's two switches; setting both has the same effect as setting neither.
    pub fn new(error_logging: bool, success_only_logging: bool) -> Filter {
        match (error_logging, success_only_logging) {
            (true, false) => Filter::Errors,
            (false, true) => Filter::Successes,
            _ => Filter::All,
        }
    }

    /// Whether to write a sample with this success.
    pub fn wants(self, success: bool) -> bool {
        match self {
            Filter::All => true,
            Filter::Errors => !success,
            Filter::Successes => success,
        }
    }
}

/// One listener that writes a file.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// File name as given by the plan or the command line; an empty one writes nothing.
    pub file_name: String,
    /// The format of rows.
    pub format: RowFormat,
    /// Which samples are written.
    pub filter: Filter,
}

/// A listener from the recorders' point of view.
#[derive(Debug)]
pub(crate) struct Output {
    pub format: RowFormat,
    pub filter: Filter,
    /// Number of the file; `None` if there is no name or the file could not be opened.
    pub file: Option<usize>,
    /// Number shared by all listeners with the same file name: only the first of them writes a sample
    /// (`SampleResult.markFile`).
    pub mark: usize,
}

/// The state of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterGauge {
    /// Bytes of rows that wait to be written.
    pub backlog_bytes: u64,
    /// The maximum of `backlog_bytes`.
    pub peak_backlog_bytes: u64,
    /// How long workers had to wait because the backlog was at its limit.
    pub stalled: Duration,
    /// The first problem, such as a full disk.
    pub problem: Option<String>,
}

/// The outcome of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its path.
    pub path: PathBuf,
    /// Samples written.
    pub rows: u64,
    /// Samples that could not be written.
    pub lost_rows: u64,
    /// The first problem.
    pub problem: Option<String>,
}

/// The outcome of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterReport {
    /// One entry per file, in the order of the listeners.
    pub files: Vec<FileReport>,
    /// The last state of the queue.
    pub gauge: WriterGauge,
}

/// Rows of one file on their way to the writer.
#[derive(Debug)]
struct Batch {
    file: usize,
    rows: u64,
    data: Vec<u8>,
}

#[derive(Debug, Default)]
struct BatchQueue {
    batches: VecDeque<Batch>,
    spare: Vec<Vec<u8>>,
    gauge: WriterGauge,
    /// Whether the queue accepts no more rows.
    closed: bool,
    /// Rows that arrived after the queue was closed.
    late_rows: u64,
}

/// State that recorders and writer share.
#[derive(Debug)]
pub(crate) struct Channel {
    pub outputs: Vec<Output>,
    pub file_count: usize,
    queue: Mutex<BatchQueue>,
    filled: Condvar,
    drained: Condvar,
    backlog_limit_bytes: u64,
}

impl Channel {
    /// Queues rows and returns an empty buffer. Blocks while the backlog is at its limit: a late sample, whose delay
    /// is counted, is better than a lost row or unbounded memory.
    pub fn push(&self, file: usize, rows: u64, data: Vec<u8>) -> Vec<u8> {
        let mut queue = self.lock();
        if queue.gauge.backlog_bytes >= self.backlog_limit_bytes && !queue.closed {
            let since = Instant::now();
            while queue.gauge.backlog_bytes >= self.backlog_limit_bytes && !queue.closed {
                queue = self
                    .drained
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            queue.gauge.stalled += since.elapsed();
        }
        let spare = queue.spare.pop().unwrap_or_default();
        if queue.closed {
            queue.late_rows += rows;
            return spare;
        }
        let backlog = queue.gauge.backlog_bytes + data.len() as u64;
        queue.gauge.backlog_bytes = backlog;
        queue.gauge.peak_backlog_bytes = queue.gauge.peak_backlog_bytes.max(backlog);
        queue.batches.push_back(Batch { file, rows, data });
        drop(queue);
        self.filled.notify_one();
        spare
    }

    /// Locks the queue. It stays usable after a panic elsewhere, since every change of it is complete in itself.
    fn lock(&self) -> MutexGuard<'_, BatchQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    /// The next batch; `None` when the queue is closed and empty.
    fn pop(&self) -> Option<Batch> {
        let mut queue = self.lock();
        loop {
            if let Some(batch) = queue.batches.pop_front() {
                return Some(batch);
            }
            if queue.closed {
                return None;
            }
            queue = self
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Accounts for a written batch and keeps its buffer.
    fn done(&self, mut batch: Batch, problem: Option<&String>) {
        let mut queue = self.lock();
        queue.gauge.backlog_bytes -= batch.data.len() as u64;
        if queue.gauge.problem.is_none() {
            queue.gauge.problem = problem.cloned();
        }
        if queue.spare.len() < MAX_SPARE_BUFFERS {
            batch.data.clear();
            queue.spare.push(batch.data);
        }
        drop(queue);
        self.drained.notify_all();
    }
}

/// The handle through which a worker's recorder queues its rows.
#[derive(Clone, Debug)]
pub struct Inlet(pub(crate) Arc<Channel>);

/// All result files of a run and the thread that writes them. Like [`ResultWriter::finish`], dropping it writes the
/// queued rows and ends the files, so a panic or an early return leaves them complete.
#[derive(Debug)]
pub struct ResultWriter {
    channel: Arc<Channel>,
    thread: Option<JoinHandle<Vec<FileReport>>>,
    problems: Vec<String>,
}

impl ResultWriter {
    /// Bytes of rows that may be queued before workers block.
    pub const BACKLOG_LIMIT_BYTES: u64 = 256 << 20;

    /// Opens the files of all listeners; their order defines the numbers in an [`OutputSet`](crate::OutputSet). A file
    /// that cannot be opened is a [problem](ResultWriter::problems), not an error: like JMeter, the run continues
    /// without it.
    ///
    /// # Errors
    /// When an existing file has to be deleted first and cannot be, or another run writes a file.
    pub fn open(specs: Vec<OutputSpec>, place: &ResultFolder) -> Result<ResultWriter, OpenError> {
        ResultWriter::open_with_limit(specs, place, ResultWriter::BACKLOG_LIMIT_BYTES)
    }

    /// Like [`ResultWriter::open`], with an explicit backlog limit, in bytes.
    ///
    /// # Errors
    /// When an existing file has to be deleted first and cannot be, or another run writes a file.
    pub fn open_with_limit(
        specs: Vec<OutputSpec>,
        place: &ResultFolder,
        backlog_limit_bytes: u64,
    ) -> Result<ResultWriter, OpenError> {
        if place.existing == ExistingFile::Delete {
            // -f applies to the files of Result Collectors only.
            for spec in specs.iter().filter(|spec| spec.format.columns.is_none()) {
                files::delete_existing(&spec.file_name)?;
            }
        }
        let mut opening = Opening::default();
        for spec in specs {
            opening.add(spec, place)?;
        }
        let channel = Arc::new(Channel {
            file_count: opening.files.len(),
            outputs: opening.outputs,
            queue: Mutex::default(),
            filled: Condvar::new(),
            drained: Condvar::new(),
            backlog_limit_bytes: backlog_limit_bytes.max(1),
        });
        let mut writer = ResultWriter {
            channel: Arc::clone(&channel),
            thread: None,
            problems: opening.problems,
        };
        let files = opening.files;
        let spawned = std::thread::Builder::new()
            .name("result-writer".to_owned())
            .spawn(move || run(&channel, files));
        match spawned {
            Ok(thread) => writer.thread = Some(thread),
            Err(error) => {
                writer.channel.close();
                writer
                    .problems
                    .push(format!("cannot start the result writer: {}", cause(&error)));
            }
        }
        Ok(writer)
    }

    /// The errors of files that could not be opened; the run continues without these files.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The state of the queue at this moment.
    pub fn gauge(&self) -> WriterGauge {
        self.channel.lock().gauge.clone()
    }

    /// Writes the queued rows, ends all files, and reports their outcomes. Drop or flush the recorders before: rows
    /// that arrive later are lost, and reported as a problem.
    pub fn finish(mut self) -> WriterReport {
        let files = self.end();
        let mut gauge = self.gauge();
        let late_rows = self.channel.lock().late_rows;
        if gauge.problem.is_none() {
            let first = files.iter().find_map(|file| file.problem.clone());
            let late = (late_rows > 0)
                .then(|| format!("{late_rows} results came after the end of the run"));
            gauge.problem = first.or(late);
        }
        WriterReport { files, gauge }
    }

    /// The handle for recorders; it can be sent to other threads.
    pub fn inlet(&self) -> Inlet {
        Inlet(Arc::clone(&self.channel))
    }

    fn end(&mut self) -> Vec<FileReport> {
        self.channel.close();
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(files)) => files,
            Some(Err(_)) | None => Vec::new(),
        }
    }
}

impl Drop for ResultWriter {
    fn drop(&mut self) {
        self.end();
    }
}

/// Listeners and files while they are being opened.
#[derive(Default)]
struct Opening {
    outputs: Vec<Output>,
    files: Vec<(ResultFile, RowFormat)>,
    identities: Vec<PathBuf>,
    names: Vec<String>,
    problems: Vec<String>,
}

impl Opening {
    fn add(&mut self, spec: OutputSpec, place: &ResultFolder) -> Result<(), OpenError> {
        // Only Result Collectors mark a sample as written.
        let is_marked = spec.format.columns.is_none();
        let name = if is_marked {
            spec.file_name.as_str()
        } else {
            ""
        };
        let index = self.names.iter().position(|known| known == name);
        let mark = index.filter(|_| is_marked).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        let file = if spec.file_name.is_empty() {
            None
        } else {
            self.file(&spec, place)?
        };
        self.outputs.push(Output {
            format: spec.format,
            filter: spec.filter,
            file,
            mark,
        });
        Ok(())
    }

    /// Opens a file, or reuses it for a further listener. The first listener's format defines its head and end.
    ///
    /// # Errors
    /// Another run writes the file.
    fn file(
        &mut self,
        spec: &OutputSpec,
        place: &ResultFolder,
    ) -> Result<Option<usize>, OpenError> {
        let path = place.resolve(&spec.file_name);
        let identity = files::identity(&path);
        if let Some(index) = self.identities.iter().position(|known| *known == identity) {
            return Ok(Some(index));
        }
        match ResultFile::open(&path, &spec.format, place.existing) {
            Ok(file) => {
                self.files.push((file, spec.format.clone()));
                self.identities.push(files::identity(&path));
                Ok(Some(self.files.len() - 1))
            }
            Err(cause) if is_claimed(&cause) => Err(OpenError { path, cause }),
            Err(error) => {
                self.problems.push(cannot_open(&path, &error));
                Ok(None)
            }
        }
    }
}

fn cannot_open(path: &std::path::Path, error: &io::Error) -> String {
    format!("the results file {}", unwritable(path, error))
}

/// The writer thread.
fn run(channel: &Channel, mut files: Vec<(ResultFile, RowFormat)>) -> Vec<FileReport> {
    while let Some(batch) = channel.pop() {
        let (file, _) = &mut files[batch.file];
        file.write_rows(&batch.data, batch.rows);
        channel.done(batch, file.problem.as_ref());
    }
    let mut reports = Vec::with_capacity(files.len());
    for (mut file, format) in files {
        file.finish(&format);
        reports.push(FileReport {
            path: file.path,
            rows: file.rows,
            lost_rows: file.lost_rows,
            problem: file.problem,
        });
    }
    reports
}
