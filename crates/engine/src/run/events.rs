//! The events of a run, and their subscribers.
//!
//! Workers hand their numbers over without waiting. The run adds them up ten times a second and passes each [`Event`] to its
//! [`Subscriber`]s in turn, on its own thread. A subscriber that may be slow, such as one that writes to a network, reads its
//! events from a [`mailbox`]. The mailbox is bounded: if its reader is slow, increments are merged, so that only detail is
//! lost, and lines and warnings are dropped.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drumfire_health::{Grade, Second, Verdict};
use drumfire_results::{
    Connections, Increment, LabelCount, RecentError, Recording, SummaryDelta, ThreadCounts,
    WriterGauge,
};

use crate::run::control::{Mark, Stopping};
use crate::run::outcome::Outcome;

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// The first user is about to start.
    Started(Arc<Started>),
    /// The counts of a second, of all workers. Samples that were recorded late come in another increment of the same
    /// second.
    Increment(Arc<Increment>),
    /// The samples that the backend listener of this number received since the last such event.
    Heard(u16, Arc<Increment>),
    /// The state of the run, several times a second.
    Tick(Arc<Tick>),
    /// A line that an element prints on standard output.
    Line(Arc<str>),
    /// Something is wrong that the user can fix while the run goes on, such as a full disk.
    Warning(Arc<str>),
    /// Something that happened at a moment, such as a use of the run's [`Control`](crate::Control).
    Mark(Mark),
    /// The last user has ended and all results are written.
    Ended(Arc<Outcome>),
}

/// The facts of a run at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// Names of the thread groups, in the order of the plan.
    pub groups: Vec<String>,
    /// The number of users in the plan, as far as it is known.
    pub planned_users: u64,
    /// The planned duration of the main thread groups, in milliseconds; `None` if one of them ends by its iterations.
    pub planned_ms: Option<u64>,
}

/// The state of a run. Numbers count from the start, unless they say otherwise.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// Time since the start.
    pub elapsed: Duration,
    /// The virtual users.
    pub users: ThreadCounts,
    /// How often each label occurred, transaction controllers too, in the order of the labels' first samples.
    pub labels: Arc<[LabelCount]>,
    /// The samples of each summariser since the last tick.
    pub summaries: Vec<SummaryDelta>,
    /// Failed samples since the last tick; if there are many, only the latest.
    pub recent_errors: Vec<RecentError>,
    /// The counts of connections.
    pub connections: Connections,
    /// Rows on their way to the disk.
    pub writer: WriterGauge,
    /// Whether the run was told to stop.
    pub stopping: Stopping,
    /// Whether the run is paused.
    pub paused: bool,
    /// The rate factor.
    pub rate: f64,
    /// The state of the generator in the second that has ended since the last tick, if one has.
    pub second: Option<Arc<Second>>,
    /// Whether the numbers so far can be trusted, as of a few seconds ago at most; `None` at first.
    pub verdict: Option<Arc<Verdict>>,
    /// The agents of a run on several machines, in the order of their numbers.
    pub agents: Vec<AgentTick>,
}

/// The state of an agent of a run on several machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum AgentPhase {
    /// It prepares, or waits for the others.
    #[default]
    Waiting,
    Running,
    /// The coordinator has not heard from it for some seconds.
    Silent,
    Lost,
    /// It has delivered everything.
    Done,
}

impl fmt::Display for AgentPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AgentPhase::Waiting => "waiting",
            AgentPhase::Running => "running",
            AgentPhase::Silent => "silent",
            AgentPhase::Lost => "lost",
            AgentPhase::Done => "done",
        })
    }
}

/// An agent of a run on several machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentTick {
    pub name: Arc<str>,
    pub phase: AgentPhase,
    /// Users that run there.
    pub users: u64,
    /// Its samples so far.
    pub samples: u64,
    /// Its latest known second, by the coordinator's clock.
    pub second: Option<Arc<Second>>,
    /// The agent's verdict on its own numbers.
    pub grade: Option<Grade>,
    /// How late it started, in microseconds.
    pub late_us: u64,
    /// How far its clock is behind the coordinator's, and the error bound of that, in nanoseconds.
    pub offset_ns: i64,
    pub bound_ns: u64,
}

impl Tick {
    /// Samples and failed samples, without those of transaction controllers.
    pub fn totals(&self) -> (u64, u64) {
        let samples = self.labels.iter().filter(|label| !label.transaction);
        samples.fold((0, 0), |(count, errors), label| {
            (count + label.count, errors + label.errors)
        })
    }

    /// Merges in an earlier tick that was not read.
    fn catch_up(&mut self, earlier: &Tick) {
        for (mine, theirs) in self.summaries.iter_mut().zip(&earlier.summaries) {
            mine.merge(theirs);
        }
        if self.second.is_none() {
            self.second.clone_from(&earlier.second);
        }
        let mut errors = earlier.recent_errors.clone();
        errors.append(&mut self.recent_errors);
        let surplus = errors.len().saturating_sub(RECENT_ERRORS);
        self.recent_errors = errors.split_off(surplus);
    }
}

/// How many failed samples a merged tick keeps.
const RECENT_ERRORS: usize = 20;

/// Receives the events of a run, on the run's thread. It has to be quick; a slow consumer reads from a [`mailbox`] instead.
pub trait Subscriber {
    /// Receives an event; `so_far` is the sum of all increments up to now.
    fn receive(&mut self, event: &Event, so_far: &Recording);
}

/// Events that wait for a reader.
#[derive(Debug)]
struct EventQueue {
    events: VecDeque<Event>,
    room: usize,
    /// Lines and warnings that were dropped because the reader was too slow.
    dropped: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct EventChannel {
    queue: Mutex<EventQueue>,
    filled: Condvar,
}

impl EventChannel {
    fn lock(&self) -> MutexGuard<'_, EventQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a mailbox that the run writes to.
#[derive(Debug)]
pub struct Mailbox(Arc<EventChannel>);

/// The end of a mailbox that another thread reads.
#[derive(Debug)]
pub struct Inbox(Arc<EventChannel>);

/// Creates a mailbox for `room` events, at least two.
pub fn mailbox(room: usize) -> (Mailbox, Inbox) {
    let slot = Arc::new(EventChannel {
        queue: Mutex::new(EventQueue {
            events: VecDeque::new(),
            room: room.max(2),
            dropped: 0,
            is_closed: false,
        }),
        filled: Condvar::new(),
    });
    (Mailbox(slot.clone()), Inbox(slot))
}

impl Subscriber for Mailbox {
    fn receive(&mut self, event: &Event, _: &Recording) {
        self.0.lock().push(event.clone());
        self.0.filled.notify_one();
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.filled.notify_all();
    }
}

impl Inbox {
    /// Waits for the next event. `None` once the run has ended and everything has been read.
    pub fn next(&self) -> Option<Event> {
        let mut queue = self.0.lock();
        loop {
            if let Some(event) = queue.events.pop_front() {
                return Some(event);
            }
            if queue.is_closed {
                return None;
            }
            queue = self
                .0
                .filled
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next event, if one comes within this time.
    pub fn next_within(&self, patience: Duration) -> Option<Event> {
        let deadline = Instant::now() + patience;
        let mut queue = self.0.lock();
        while queue.events.is_empty() && !queue.is_closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.0.filled.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.events.pop_front()
    }

    /// Lines and warnings that were dropped because the mailbox was full.
    pub fn dropped(&self) -> u64 {
        self.0.lock().dropped
    }
}

impl EventQueue {
    fn push(&mut self, event: Event) {
        if self.events.len() < self.room {
            self.events.push_back(event);
            return;
        }
        match event {
            Event::Increment(increment) => self.add(increment),
            Event::Heard(backend, heard) => self.add_heard(backend, heard),
            Event::Tick(tick) => self.replace(tick),
            // A run starts and ends once, and marks are few, so these may exceed the room.
            Event::Started(_) | Event::Mark(_) | Event::Ended(_) => self.events.push_back(event),
            Event::Line(_) | Event::Warning(_) => self.dropped += 1,
        }
    }

    /// Merges an increment into the last one in the queue.
    fn add(&mut self, increment: Arc<Increment>) {
        let waiting = self.events.iter_mut().rev().find_map(|event| match event {
            Event::Increment(waiting) => Some(waiting),
            _ => None,
        });
        match waiting {
            Some(waiting) => Arc::make_mut(waiting).merge(Arc::unwrap_or_clone(increment)),
            None => self.events.push_back(Event::Increment(increment)),
        }
    }

    /// Merges the samples of a backend listener into the last ones in the queue.
    fn add_heard(&mut self, backend: u16, heard: Arc<Increment>) {
        let waiting = self.events.iter_mut().rev().find_map(|event| match event {
            Event::Heard(other, waiting) if *other == backend => Some(waiting),
            _ => None,
        });
        match waiting {
            Some(waiting) => Arc::make_mut(waiting).merge(Arc::unwrap_or_clone(heard)),
            None => self.events.push_back(Event::Heard(backend, heard)),
        }
    }

    /// Replaces the last tick in the queue, and merges it into this one.
    fn replace(&mut self, mut tick: Arc<Tick>) {
        let place = self
            .events
            .iter()
            .rposition(|event| matches!(event, Event::Tick(_)));
        if let Some(Event::Tick(earlier)) = place.and_then(|place| self.events.remove(place)) {
            Arc::make_mut(&mut tick).catch_up(&earlier);
        }
        self.events.push_back(Event::Tick(tick));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64, samples: u64) -> Event {
        let mut increment = Increment::of_second(second);
        increment.connections.opened = samples;
        Event::Increment(Arc::new(increment))
    }

    fn tick(active: u64) -> Event {
        let mut delta = SummaryDelta::EMPTY;
        delta.add(&drumfire_results::Sample::default());
        Event::Tick(Arc::new(Tick {
            users: ThreadCounts {
                active,
                ..ThreadCounts::default()
            },
            summaries: vec![delta],
            ..Tick::default()
        }))
    }

    #[test]
    fn a_reader_that_is_slow_finds_increments_added_up() {
        let (mut mailbox, inbox) = mailbox(2);
        let nothing = Recording::default();
        for event in [
            tick(1),
            second(1, 10),
            second(2, 20),
            tick(2),
            second(3, 30),
            tick(3),
        ] {
            mailbox.receive(&event, &nothing);
        }
        mailbox.receive(&Event::Warning("the disk is full".into()), &nothing);
        mailbox.receive(
            &Event::Mark(Mark {
                at_ms: 1,
                text: "here".to_owned(),
            }),
            &nothing,
        );
        drop(mailbox);
        let Some(Event::Increment(sum)) = inbox.next() else {
            panic!("the increments come first")
        };
        assert_eq!(
            (sum.from_ms, sum.to_ms, sum.connections.opened),
            (1_000, 4_000, 60)
        );
        let Some(Event::Tick(last)) = inbox.next() else {
            panic!("then the tick")
        };
        let mut three = SummaryDelta::EMPTY;
        (0..3).for_each(|_| three.add(&drumfire_results::Sample::default()));
        assert_eq!((last.users.active, last.summaries[0]), (3, three));
        assert!(matches!(inbox.next(), Some(Event::Mark(mark)) if mark.text == "here"));
        assert!(inbox.next().is_none());
        assert_eq!(inbox.dropped(), 1);
        assert!(inbox.next_within(Duration::from_secs(9)).is_none());
    }

    #[test]
    fn a_reader_waits_for_the_next_event() {
        let (mut mailbox, inbox) = mailbox(8);
        assert!(inbox.next_within(Duration::ZERO).is_none());
        let reader = std::thread::spawn(move || inbox.next());
        mailbox.receive(&second(1, 1), &Recording::default());
        let event = reader.join().expect("the reader ends");
        assert!(matches!(event, Some(Event::Increment(_))));
    }
}
