//! Adds up the numbers that the workers of a run hand over.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_health::Shortages;
use drumfire_results::{
    Connections, Delivery, Distribution, GroupUsers, Handover, Increment, LabelCount, RecentError,
    Recording, SampleBalance, SummaryDelta,
};

use crate::run::program::Program;
use crate::run::shared::Counts;

/// How long after a second its increment is posted. Workers check the time only ten times a second.
const GRACE_MS: i64 = 250;
/// How often the labels' counts are added up.
const LABELS_PAUSE: Duration = Duration::from_millis(200);
/// How many failed samples one tick reports.
const RECENT_ERRORS: usize = 20;

/// The numbers of a run.
#[derive(Debug)]
pub struct Ledger {
    handovers: Vec<Arc<Handover>>,
    /// Increments that were not posted yet, by the start of their second.
    pending: BTreeMap<i64, Increment>,
    /// The sum of the increments that were posted.
    recording: Recording,
    connections: Connections,
    /// The lateness of users since it was last taken.
    lateness: Distribution,
    lacking: Shortages,
    summaries: Vec<SummaryDelta>,
    /// The samples of each backend listener that were not taken yet.
    heard: Vec<Increment>,
    recent_errors: VecDeque<RecentError>,
    /// Users that had started and ended, by group, at the last collection.
    users: Vec<GroupUsers>,
    labels: Arc<[LabelCount]>,
    labels_at: Option<Instant>,
}

impl Ledger {
    /// A ledger for this many workers.
    pub fn new(workers: usize, program: &Program) -> Ledger {
        let summarisers = program.summarisers.len();
        let backends = program.backends.len();
        Ledger {
            handovers: (0..workers)
                .map(|_| Arc::new(Handover::new(summarisers).with_backends(backends)))
                .collect(),
            pending: BTreeMap::new(),
            recording: Recording::default(),
            connections: Connections::default(),
            lateness: Distribution::default(),
            lacking: Shortages::default(),
            summaries: vec![SummaryDelta::EMPTY; summarisers],
            heard: vec![Increment::default(); backends],
            recent_errors: VecDeque::new(),
            users: vec![GroupUsers::default(); program.groups.len()],
            labels: Arc::default(),
            labels_at: None,
        }
    }

    /// The handover of each worker.
    pub fn handovers(&self) -> &[Arc<Handover>] {
        &self.handovers
    }

    /// Takes the numbers that the workers have handed over. Counts that belong to no second go to the one that `now_ms` is in.
    pub fn collect(&mut self, now_ms: i64, counts: &Counts) {
        let mut now = Increment::of_second(now_ms.div_euclid(1_000));
        now.note_users(counts.totals().active);
        now.add_users(self.new_users(counts));
        for handover in self.handovers.clone() {
            let Delivery {
                seconds,
                loose,
                summaries,
                heard,
                recent_errors,
            } = handover.take();
            for second in seconds {
                self.add(second);
            }
            self.connections = self.connections.plus(loose.connections);
            self.lateness.merge(&loose.lateness);
            for kind in &loose.errors {
                note_lacking(&mut self.lacking, &kind.message, kind.count);
            }
            now.merge(loose);
            for (all, its) in self.summaries.iter_mut().zip(&summaries) {
                all.merge(its);
            }
            for (all, its) in self.heard.iter_mut().zip(heard) {
                all.merge(its);
            }
            self.recent_errors.extend(recent_errors);
        }
        while self.recent_errors.len() > RECENT_ERRORS {
            self.recent_errors.pop_front();
        }
        if !now.is_empty() {
            self.add(now);
        }
    }

    fn add(&mut self, increment: Increment) {
        match self.pending.get_mut(&increment.from_ms) {
            Some(pending) => pending.merge(increment),
            None => drop(self.pending.insert(increment.from_ms, increment)),
        }
    }

    fn new_users(&mut self, counts: &Counts) -> Vec<GroupUsers> {
        let mut new = Vec::new();
        for (group, before) in self.users.iter_mut().enumerate() {
            let (started, ended) = counts.of_group(group);
            if (started, ended) != (before.started, before.ended) {
                new.push(GroupUsers {
                    group: group as u32,
                    started: started - before.started,
                    ended: ended - before.ended,
                });
                (before.started, before.ended) = (started, ended);
            }
        }
        new
    }

    /// Adds the earliest second to the recording and returns it, if no worker adds to it any more at `now_ms`. Without a time,
    /// posts the earliest second in any case.
    pub fn post(&mut self, now_ms: Option<i64>) -> Option<Arc<Increment>> {
        let (_, first) = self.pending.first_key_value()?;
        if now_ms.is_some_and(|now_ms| first.to_ms.saturating_add(GRACE_MS) > now_ms) {
            return None;
        }
        let (_, increment) = self.pending.pop_first()?;
        self.recording.absorb(&increment);
        Some(Arc::new(increment))
    }

    /// The sum of the increments that were posted.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Takes that sum at the end of the run.
    pub fn take_recording(&mut self) -> Recording {
        std::mem::take(&mut self.recording)
    }

    pub fn connections(&self) -> Connections {
        self.connections
    }

    /// The fate of the samples that users began, once everything is posted.
    pub fn balance(&self) -> SampleBalance {
        let mut balance = SampleBalance {
            recorded: self.recording.total().service.count(),
            ..SampleBalance::default()
        };
        for handover in &self.handovers {
            handover.turns.add_to(&mut balance);
        }
        balance
    }

    /// Samples so far, without those of transaction controllers: the number that every total of the run shows.
    pub fn samples(&self) -> u64 {
        let handovers = self.handovers.iter();
        handovers.map(|handover| handover.counts(counted)).sum()
    }

    /// Samples that have failed so far, by the resource that this machine lacked. Those that lacked ports are right only if
    /// ports have run out at all.
    pub fn lacking(&self) -> Shortages {
        self.lacking
    }

    /// The lateness of users since the last call.
    pub fn take_lateness(&mut self) -> Distribution {
        std::mem::take(&mut self.lateness)
    }

    /// The samples of each summariser and the latest failures since the last call.
    pub fn take_news(&mut self) -> (Vec<SummaryDelta>, Vec<RecentError>) {
        let summaries = self.summaries.iter_mut().map(std::mem::take).collect();
        (summaries, self.recent_errors.drain(..).collect())
    }

    /// The samples that each backend listener received since the last call, by its number. Omits listeners without samples.
    pub fn take_heard(&mut self) -> Vec<(u16, Increment)> {
        let heard = (0..).zip(&mut self.heard);
        heard
            .filter(|(_, heard)| !heard.labels.is_empty())
            .map(|(number, heard)| (number, std::mem::take(heard)))
            .collect()
    }

    /// How often each label occurred, as of a fifth of a second ago at most.
    pub fn labels(&mut self) -> Arc<[LabelCount]> {
        let is_fresh = self.labels_at.is_some_and(|at| at.elapsed() < LABELS_PAUSE);
        if !is_fresh {
            self.labels = self.put_labels_together();
            self.labels_at = Some(Instant::now());
        }
        self.labels.clone()
    }

    fn put_labels_together(&self) -> Arc<[LabelCount]> {
        // Labels keep their earlier order.
        let mut all: Vec<LabelCount> = self.labels.to_vec();
        let known = all.iter_mut().enumerate().map(|(place, label)| {
            (label.count, label.errors) = (0, 0);
            ((label.label.clone(), label.transaction), place)
        });
        let mut places: HashMap<(String, bool), usize> = known.collect();
        for handover in &self.handovers {
            handover.counts(|counts| {
                for label in counts {
                    let key = (label.label.clone(), label.transaction);
                    let place = *places.entry(key).or_insert_with(|| {
                        all.push(LabelCount {
                            count: 0,
                            errors: 0,
                            ..label.clone()
                        });
                        all.len() - 1
                    });
                    all[place].count += label.count;
                    all[place].errors += label.errors;
                }
            });
        }
        all.into()
    }
}

fn counted(counts: &[LabelCount]) -> u64 {
    let samplers = counts.iter().filter(|label| !label.transaction);
    samplers.map(|label| label.count).sum::<u64>()
}

/// Counts failures because this machine lacked a resource, recognized by the operating system's words in JMeter's messages.
fn note_lacking(lacking: &mut Shortages, message: &str, count: u64) {
    let causes = [
        ("Cannot assign requested address", &mut lacking.port),
        ("Too many open files", &mut lacking.file),
        ("Cannot allocate memory", &mut lacking.memory),
    ];
    for (words, counted) in causes {
        if message.contains(words) {
            *counted += count;
        }
    }
}
