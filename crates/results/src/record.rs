//! Records each sample of a worker: counts it and appends its rows, without locking or allocating.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::balance::{HeldTurns, TurnCounts};
use crate::collect::Collector;
use crate::connections::Connections;
use crate::distribution::Distribution;
use crate::handover::{Handover, RecentError};
use crate::increment::Increment;
use crate::sample::Sample;
use crate::summariser::SummaryDelta;
use crate::writer::{Channel, Inlet};

/// A buffer with this many bytes is passed to the writer immediately.
const FULL_BUFFER_BYTES: usize = 64 << 10;
/// Capacity of a buffer: a full one has room for one more row of common size.
const BUFFER_BYTES: usize = FULL_BUFFER_BYTES + (4 << 10);
/// Limit of failed samples that a worker keeps for display, between two handovers.
const RECENT_ERRORS: usize = 8;

/// The listeners in whose scope a sampler is: the numbers of outputs, summarisers and backend listeners, in the order in which
/// JMeter would notify them. It is cheap to clone into the compiled plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputSet {
    outputs: Arc<[u16]>,
    summarisers: Arc<[u16]>,
    backends: Arc<[u16]>,
}

impl OutputSet {
    /// Outputs are numbered as in [`ResultWriter::open`](crate::writer::ResultWriter::open), summarisers as in [`Handover::new`].
    pub fn new(
        outputs: impl IntoIterator<Item = u16>,
        summarisers: impl IntoIterator<Item = u16>,
    ) -> OutputSet {
        OutputSet {
            outputs: outputs.into_iter().collect(),
            summarisers: summarisers.into_iter().collect(),
            backends: Arc::default(),
        }
    }

    /// Adds backend listeners, numbered as in [`Handover::with_backends`].
    pub fn with_backends(self, backends: impl IntoIterator<Item = u16>) -> OutputSet {
        OutputSet {
            backends: backends.into_iter().collect(),
            ..self
        }
    }
}

/// Rows of one file that the writer has not received yet.
#[derive(Debug, Default)]
struct Buffer {
    data: Vec<u8>,
    rows: u64,
}

impl Buffer {
    fn hand_over(&mut self, file: usize, channel: &Channel) {
        if !self.data.is_empty() {
            let data = std::mem::take(&mut self.data);
            self.data = channel.push(file, std::mem::take(&mut self.rows), data);
        }
    }
}

/// Records the samples of a worker. Dropping it hands over everything.
#[derive(Debug)]
pub struct Recorder {
    channel: Arc<Channel>,
    handover: Arc<Handover>,
    ignore_transactions: bool,
    buffers: Vec<Buffer>,
    collector: Collector,
    /// The samples that each backend listener received.
    backends: Vec<Collector>,
    recent_errors: VecDeque<RecentError>,
    summaries: Vec<SummaryDelta>,
    lateness: Distribution,
}

impl Recorder {
    /// A recorder for one worker. `ignore_transactions` keeps transaction controllers' samples from summarisers
    /// (`summariser.ignore_transaction_controller_sample_result`).
    pub fn new(inlet: &Inlet, handover: &Arc<Handover>, ignore_transactions: bool) -> Recorder {
        let channel = Arc::clone(&inlet.0);
        let (summarisers, backends) = {
            let waiting = handover.lock();
            (waiting.summaries.len(), waiting.heard.len())
        };
        Recorder {
            handover: Arc::clone(handover),
            ignore_transactions,
            buffers: (0..channel.file_count).map(|_| Buffer::default()).collect(),
            collector: Collector::default(),
            backends: (0..backends).map(|_| Collector::of_listener()).collect(),
            recent_errors: VecDeque::new(),
            summaries: vec![SummaryDelta::EMPTY; summarisers],
            lateness: Distribution::default(),
            channel,
        }
    }

    /// Truncates labels to this many bytes in statistics. Rows keep the whole labels.
    pub fn limit_labels(&mut self, bytes: usize) {
        let collectors = self.backends.iter_mut().chain([&mut self.collector]);
        collectors.for_each(|collector| collector.limit_labels(bytes));
    }

    /// Records a sample that listeners receive: in its label's statistics, in summaries, and as a row in every file of `outputs`
    /// whose filter accepts it. An ignored sample is not recorded. A sample that comes again counts again in summaries only.
    pub fn record(&mut self, sample: &Sample, outputs: &OutputSet) {
        if sample.ignore {
            return;
        }
        let transaction = sample.is_from_transaction();
        let is_new = sample.written.mark_counted();
        if is_new {
            self.collector.record(sample);
        }
        if is_new && !sample.success && !transaction && self.recent_errors.len() < RECENT_ERRORS {
            self.recent_errors.push_back(RecentError::of(sample));
        }
        if !(transaction && self.ignore_transactions) {
            for &summariser in outputs.summarisers.iter() {
                self.summaries[usize::from(summariser)].add(sample);
            }
        }
        self.write(sample, outputs);
    }

    /// The turns of samplers that the worker's users take.
    pub fn turns(&self) -> &TurnCounts {
        &self.handover.turns
    }

    /// Holds the turns whose samples become parts of a transaction.
    pub fn held_turns(&self) -> HeldTurns {
        HeldTurns::new(Arc::clone(&self.handover))
    }

    /// Counts how late the generator itself was when an event was due, in microseconds.
    pub fn record_lateness(&mut self, late_us: u64) {
        self.lateness.record(late_us);
    }

    /// Passes all rows to the writer and hands over the numbers: the seconds that are complete at `now_ms`, in milliseconds
    /// since the Unix epoch, and everything that is not counted by second. Call it on a tick.
    pub fn flush(&mut self, now_ms: i64) {
        self.flush_rows();
        let seconds = self.collector.take(now_ms);
        self.hand_over(seconds);
    }

    /// Like [`Recorder::flush`], including the current second: for the end of a group or of the run.
    pub fn flush_all(&mut self) {
        self.flush_rows();
        let seconds = self.collector.take_all();
        self.hand_over(seconds);
    }

    /// Passes all rows to the writer. Call it about every 100 ms.
    pub fn flush_rows(&mut self) {
        for (file, buffer) in self.buffers.iter_mut().enumerate() {
            buffer.hand_over(file, &self.channel);
        }
    }

    /// Adds the changes in the worker's connections since the last call.
    pub fn add_connections(&self, connections: Connections) {
        let loose = &mut self.handover.lock().loose;
        loose.connections = loose.connections.plus(connections);
    }

    fn hand_over(&mut self, seconds: Vec<Increment>) {
        let errors = self.collector.take_errors();
        let mut waiting = self.handover.lock();
        self.collector.count_labels(&mut waiting.counts);
        waiting.add_seconds(seconds);
        waiting.loose.add_errors(errors);
        if self.lateness.count() > 0 {
            let lateness = std::mem::take(&mut self.lateness);
            waiting.loose.lateness.merge(&lateness);
        }
        for (all, mine) in waiting.heard.iter_mut().zip(&mut self.backends) {
            all.merge(mine.take_sum());
        }
        for error in self.recent_errors.drain(..) {
            waiting.add_error(error);
        }
        for (all, mine) in waiting.summaries.iter_mut().zip(&mut self.summaries) {
            all.merge(mine);
            *mine = SummaryDelta::EMPTY;
        }
    }

    /// Writes the rows of a sample that only some listeners receive, and passes it to backend listeners. It is not counted in
    /// the run's statistics.
    pub fn write(&mut self, sample: &Sample, outputs: &OutputSet) {
        for &backend in outputs.backends.iter() {
            self.backends[usize::from(backend)].record(sample);
        }
        let Recorder {
            channel, buffers, ..
        } = self;
        for &number in outputs.outputs.iter() {
            let output = &channel.outputs[usize::from(number)];
            let Some(file) = output.file else { continue };
            if !output.filter.wants(sample.success) || !sample.written.mark_file(output.mark) {
                continue;
            }
            let buffer = &mut buffers[file];
            if buffer.data.capacity() == 0 {
                buffer.data.reserve(BUFFER_BYTES);
            }
            buffer.rows += output.format.write_sample(sample, &mut buffer.data);
            if buffer.data.len() >= FULL_BUFFER_BYTES || output.format.config.autoflush {
                buffer.hand_over(file, channel);
            }
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush_all();
    }
}
