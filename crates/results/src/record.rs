//! What a worker does with each sample: count it and append its rows, without a lock and without an allocation.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::failures::ErrorKinds;
use crate::histogram::Histogram;
use crate::live::{Connections, Live, RecentError};
use crate::sample::Sample;
use crate::statistics::{LabelStatistics, MAX_LABELS, OTHER_LABELS, Recording};
use crate::summariser::SummaryDelta;
use crate::timeline::{Codes, Moment};
use crate::writer::{Channel, Inlet};

/// A buffer with this many bytes goes to the writer at once.
const FULL_BUFFER_BYTES: usize = 64 << 10;
/// A full buffer has room for one more row of common size.
const BUFFER_BYTES: usize = FULL_BUFFER_BYTES + (4 << 10);
/// Failed samples a worker keeps for showing, between two publications.
const RECENT_ERRORS: usize = 8;
/// Samples that a worker keeps for the timeline, between two publications.
const MOMENTS: usize = 4_096;

/// The listeners in whose scope a sampler is: numbers of outputs and of summarisers, in the order in which JMeter would
/// notify them. Cheap to clone, for the compiled plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputSet {
    outputs: Arc<[u16]>,
    summarisers: Arc<[u16]>,
}

impl OutputSet {
    /// Outputs are numbered as in [`ResultWriter::open`], summarisers as in [`Live::new`].
    pub fn new(
        outputs: impl IntoIterator<Item = u16>,
        summarisers: impl IntoIterator<Item = u16>,
    ) -> OutputSet {
        OutputSet {
            outputs: outputs.into_iter().collect(),
            summarisers: summarisers.into_iter().collect(),
        }
    }
}

/// Rows of one file that are not yet handed over.
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

/// A worker's recorder. Dropping it hands everything over.
#[derive(Debug)]
pub struct Recorder {
    channel: Arc<Channel>,
    live: Arc<Live>,
    ignore_transactions: bool,
    buffers: Vec<Buffer>,
    /// File names that already have the sample at hand.
    marked: Vec<bool>,
    /// Places in `labels` of plain samples and of those of transaction controllers.
    index: [FxHashMap<Rc<str>, usize>; 2],
    /// Since the last publication.
    labels: Vec<LabelStatistics>,
    /// Places of `labels` in the shared recording, as far as published.
    shared: Vec<usize>,
    /// Places of `labels` that have samples.
    touched: Vec<usize>,
    /// Samples since the last publication, for the timeline; labels and codes are places of this worker.
    moments: Vec<Moment>,
    codes: Codes,
    /// Places of `codes` in the shared recording, as far as published.
    shared_codes: Vec<u16>,
    errors: ErrorKinds,
    recent_errors: VecDeque<RecentError>,
    summaries: Vec<SummaryDelta>,
    lateness: Histogram,
}

impl Recorder {
    /// A recorder for one worker. `ignore_transactions` keeps transaction controllers' samples from summarisers
    /// (`summariser.ignore_transaction_controller_sample_result`).
    pub fn new(inlet: &Inlet, live: &Arc<Live>, ignore_transactions: bool) -> Recorder {
        let channel = Arc::clone(&inlet.0);
        let summarisers = live.lock().summaries.len();
        let marks = channel.outputs.iter().map(|output| output.mark + 1).max();
        Recorder {
            live: Arc::clone(live),
            ignore_transactions,
            buffers: (0..channel.file_count).map(|_| Buffer::default()).collect(),
            marked: vec![false; marks.unwrap_or(0)],
            index: Default::default(),
            labels: Vec::new(),
            shared: Vec::new(),
            touched: Vec::new(),
            moments: Vec::with_capacity(MOMENTS),
            codes: Codes::default(),
            shared_codes: Vec::new(),
            errors: ErrorKinds::default(),
            recent_errors: VecDeque::new(),
            summaries: vec![SummaryDelta::EMPTY; summarisers],
            lateness: Histogram::new(),
            channel,
        }
    }

    /// Records a sample that listeners are told of: statistics of its label, summaries, and a row in every file of
    /// `outputs` whose filter wants it. An ignored sample is not recorded.
    pub fn record(&mut self, sample: &Sample, outputs: &OutputSet) {
        if sample.ignore {
            return;
        }
        let transaction = sample.is_from_transaction();
        self.count(sample, transaction);
        if !(transaction && self.ignore_transactions) {
            for &summariser in outputs.summarisers.iter() {
                self.summaries[usize::from(summariser)].add(sample);
            }
        }
        self.write(sample, outputs);
    }

    /// Counts how late the generator itself was when something was due, in microseconds.
    pub fn record_lateness(&mut self, late_us: u64) {
        self.lateness.record(late_us);
    }

    /// Hands all rows to the writer and publishes the statistics. Call it on a tick.
    pub fn flush(&mut self) {
        self.flush_rows();
        self.publish();
    }

    /// Hands all rows to the writer. Call it every 100 ms or so.
    pub fn flush_rows(&mut self) {
        for (file, buffer) in self.buffers.iter_mut().enumerate() {
            buffer.hand_over(file, &self.channel);
        }
    }

    /// Adds what only the end of a run can tell, such as the connections of this worker's users.
    pub fn add_connections(&self, connections: Connections) {
        let mut live = self.live.lock();
        live.connections = live.connections.plus(connections);
    }

    /// Adds the statistics since the last time to the shared ones. Call it once a second or so.
    pub fn publish(&mut self) {
        let live = Arc::clone(&self.live);
        let mut live = live.lock();
        for index in 0..self.touched.len() {
            let place = self.touched[index];
            let shared = self.shared_place(place, &mut live.recording);
            let label = &mut self.labels[place];
            live.recording.labels[shared].merge(label);
            label.clear();
        }
        self.touched.clear();
        self.publish_moments(&mut live.recording);
        for kind in self.errors.drain() {
            live.recording.errors.add_kind(kind);
        }
        if self.lateness.count() > 0 {
            live.recording.lateness.merge(&self.lateness);
            self.lateness.clear();
        }
        for error in self.recent_errors.drain(..) {
            live.add_error(error);
        }
        for (all, mine) in live.summaries.iter_mut().zip(&mut self.summaries) {
            all.merge(mine);
            *mine = SummaryDelta::EMPTY;
        }
    }

    fn shared_place(&mut self, place: usize, recording: &mut Recording) -> usize {
        while self.shared.len() <= place {
            let label = &self.labels[self.shared.len()];
            self.shared
                .push(recording.place(&label.label, label.transaction));
        }
        self.shared[place]
    }

    fn shared_code(&mut self, place: u16, recording: &mut Recording) -> u16 {
        let place = usize::from(place);
        while self.shared_codes.len() <= place {
            let code = &self.codes.names()[self.shared_codes.len()];
            self.shared_codes.push(recording.timeline.code_place(code));
        }
        self.shared_codes[place]
    }

    fn publish_moments(&mut self, recording: &mut Recording) {
        for index in 0..self.moments.len() {
            let mut moment = self.moments[index];
            moment.label = self.shared_place(moment.label, recording);
            moment.code = self.shared_code(moment.code, recording);
            recording.timeline.add(&moment);
        }
        self.moments.clear();
    }

    fn count(&mut self, sample: &Sample, transaction: bool) {
        let place = match self.index[usize::from(transaction)].get(&sample.label) {
            Some(&place) => place,
            None => self.add_label(&sample.label, transaction),
        };
        let label = &mut self.labels[place];
        if label.service.count() == 0 {
            self.touched.push(place);
        }
        label.add(sample);
        let code = self.codes.place(&sample.code);
        self.moments
            .push(Moment::of(sample, place, code, transaction));
        if self.moments.len() == MOMENTS {
            let live = Arc::clone(&self.live);
            self.publish_moments(&mut live.lock().recording);
        }
        if !sample.success && !transaction {
            self.errors.add(sample);
            if self.recent_errors.len() < RECENT_ERRORS {
                self.recent_errors.push_back(RecentError::of(sample));
            }
        }
        // Nobody else tells of the samples inside a transaction's parent sample.
        if transaction {
            for child in &sample.children {
                self.count(child, child.is_from_transaction());
            }
        }
    }

    #[cold]
    fn add_label(&mut self, label: &Rc<str>, transaction: bool) -> usize {
        let index = &mut self.index[usize::from(transaction)];
        let full = index.len() >= MAX_LABELS;
        let label = if full {
            Rc::from(OTHER_LABELS)
        } else {
            Rc::clone(label)
        };
        if let Some(&place) = index.get(&label) {
            return place;
        }
        self.labels
            .push(LabelStatistics::new(label.as_ref().to_owned(), transaction));
        index.insert(label, self.labels.len() - 1);
        self.labels.len() - 1
    }

    /// Writes the rows of a sample that only some listeners are told of; it does not count in the run's statistics.
    pub fn write(&mut self, sample: &Sample, outputs: &OutputSet) {
        let Recorder {
            channel,
            buffers,
            marked,
            ..
        } = self;
        for &number in outputs.outputs.iter() {
            let output = &channel.outputs[usize::from(number)];
            let Some(file) = output.file else { continue };
            if !output.filter.wants(sample.success)
                || std::mem::replace(&mut marked[output.mark], true)
            {
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
        for &number in outputs.outputs.iter() {
            marked[channel.outputs[usize::from(number)].mark] = false;
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush();
    }
}
