//! The outgoing queue for the events of a run. Messages wait here until NATS has stored them, however long that takes. An
//! agent that loses NATS therefore goes on and delivers later.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use drumfire_engine::{Event, Stopping, Subscriber};
use drumfire_health::Verdict;
use drumfire_results::{Increment, Recording};
use tokio::sync::Notify;

use crate::agent::member::Member;
use crate::log_queue::LogQueue;
use crate::wire::{Batch, pack};

/// The most bytes that may wait. Beyond this, the oldest messages are dropped and counted.
const MOST_WAITING: usize = 64 << 20;
/// Larger increments are sent in parts: NATS accepts messages of up to 1 MiB.
const LARGEST_PART: usize = 400 << 10;

/// The messages that wait for NATS.
#[derive(Debug, Default)]
pub struct Spool {
    waiting: Mutex<PendingMessages>,
    /// Notified when a message was added or removed.
    pub changed: Notify,
}

#[derive(Debug, Default)]
struct PendingMessages {
    messages: VecDeque<(u64, Bytes)>,
    bytes: usize,
    given_up: u64,
}

impl Spool {
    fn lock(&self) -> MutexGuard<'_, PendingMessages> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, sequence: u64, message: Vec<u8>) {
        let mut waiting = self.lock();
        waiting.bytes += message.len();
        waiting.messages.push_back((sequence, message.into()));
        while waiting.bytes > MOST_WAITING {
            let Some((_, oldest)) = waiting.messages.pop_front() else {
                break;
            };
            waiting.bytes -= oldest.len();
            waiting.given_up += 1;
        }
        drop(waiting);
        self.changed.notify_waiters();
    }

    /// The message to send next, with its sequence number.
    pub fn front(&self) -> Option<(u64, Bytes)> {
        self.lock().messages.front().cloned()
    }

    /// Removes this message, which NATS has stored.
    pub fn sent(&self, sequence: u64) {
        let mut waiting = self.lock();
        if waiting
            .messages
            .front()
            .is_some_and(|(front, _)| *front == sequence)
            && let Some((_, message)) = waiting.messages.pop_front()
        {
            waiting.bytes -= message.len();
        }
        drop(waiting);
        self.changed.notify_waiters();
    }

    /// The number of messages that were dropped.
    pub fn given_up(&self) -> u64 {
        self.lock().given_up
    }

    pub fn is_empty(&self) -> bool {
        self.lock().messages.is_empty()
    }

    /// The number of messages that wait.
    pub fn len(&self) -> usize {
        self.lock().messages.len()
    }
}

/// Receives the events of the run and turns them into messages.
#[derive(Debug)]
pub struct Outbox {
    member: Arc<Member>,
    log: Arc<LogQueue>,
    batch: Batch,
    sequence: u64,
    started_ms: i64,
    /// The last verdict that was sent.
    judged: Option<Arc<Verdict>>,
}

impl Outbox {
    pub fn new(member: Arc<Member>, log: Arc<LogQueue>) -> Outbox {
        Outbox {
            member,
            log,
            batch: Batch::default(),
            sequence: 0,
            started_ms: 0,
            judged: None,
        }
    }

    fn add(&mut self, increment: Increment) {
        self.member.note_users(&increment.users);
        let parts = parts(increment);
        let encoded = parts.iter().map(Increment::encode);
        for part in encoded {
            let waiting: usize = self.batch.increments.iter().map(Vec::len).sum();
            if waiting + part.len() > LARGEST_PART {
                self.seal();
            }
            self.batch.increments.push(part);
        }
    }

    /// Adds the verdict on the run's numbers to the batch, if it has changed.
    fn judge(&mut self, verdict: Option<&Arc<Verdict>>) {
        if let Some(verdict) = verdict
            && !self
                .judged
                .as_ref()
                .is_some_and(|last| is_same(last, verdict))
        {
            self.batch.verdict = Some((**verdict).clone());
            self.judged = Some(verdict.clone());
        }
    }

    /// Queues the batch for sending.
    pub fn seal(&mut self) {
        self.batch.log.extend(self.log.take());
        if self.batch.is_empty() {
            return;
        }
        self.sequence += 1;
        let users = self.batch.users;
        let mut batch = std::mem::take(&mut self.batch);
        (batch.sequence, batch.token) = (self.sequence, self.member.token);
        batch.started_ms = self.started_ms;
        self.batch.users = users;
        self.batch.connections = batch.connections;
        self.member.note_sequence(self.sequence);
        self.member.spool.push(self.sequence, pack(&batch));
    }
}

fn is_same(a: &Verdict, b: &Verdict) -> bool {
    a.grade == b.grade && a.reasons == b.reasons
}

/// Splits an increment into parts that each fit into a message.
fn parts(mut increment: Increment) -> Vec<Increment> {
    if increment.labels.len() < 2 || increment.encode().len() <= LARGEST_PART {
        return vec![increment];
    }
    let rest = Increment {
        labels: increment.labels.split_off(increment.labels.len() / 2),
        from_ms: increment.from_ms,
        to_ms: increment.to_ms,
        ..Increment::default()
    };
    let mut all = parts(increment);
    all.extend(parts(rest));
    all
}

impl Subscriber for Outbox {
    fn receive(&mut self, event: &Event, _: &Recording) {
        match event {
            Event::Started(started) => {
                self.started_ms = started.at_ms;
                self.member.note_groups(&started.groups);
            }
            Event::Increment(increment) => self.add((**increment).clone()),
            Event::Heard(backend, heard) => self.batch.heard.push((*backend, heard.encode())),
            Event::Tick(tick) => {
                self.batch.users = tick.users;
                self.batch.connections = tick.connections;
                let missing = tick
                    .summaries
                    .len()
                    .saturating_sub(self.batch.summaries.len());
                let empty = drumfire_results::SummaryDelta::EMPTY;
                self.batch
                    .summaries
                    .extend(std::iter::repeat_n(empty, missing));
                for (mine, new) in self.batch.summaries.iter_mut().zip(&tick.summaries) {
                    mine.merge(new);
                }
                self.batch.errors.extend(tick.recent_errors.iter().cloned());
                let second = tick.second.iter();
                self.batch
                    .seconds
                    .extend(second.map(|second| (**second).clone()));
                self.judge(tick.verdict.as_ref());
                let (samples, _) = tick.totals();
                let stopping = match tick.stopping {
                    // A stop that the coordinator ordered is not reported back.
                    stopping if stopping <= self.member.state().stopping => Stopping::No,
                    stopping => stopping,
                };
                self.member.note_tick(tick.users, samples, stopping);
                self.seal();
            }
            Event::Line(line) => self.batch.lines.push(line.to_string()),
            Event::Warning(text) => self.batch.warnings.push(text.to_string()),
            Event::Mark(mark) => self.batch.marks.push((mark.at_ms, mark.text.clone())),
            Event::Ended(_) => self.seal(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_in_order_until_they_are_sent() {
        let spool = Spool::default();
        spool.push(1, vec![1]);
        spool.push(2, vec![2]);
        assert_eq!(spool.front().map(|(number, _)| number), Some(1));
        spool.sent(2);
        assert_eq!(
            spool.front().map(|(number, _)| number),
            Some(1),
            "another one was meant"
        );
        spool.sent(1);
        spool.sent(2);
        assert!(spool.is_empty());
    }

    #[test]
    fn the_oldest_messages_are_given_up_and_counted() {
        let spool = Spool::default();
        for number in 0..70 {
            spool.push(number, vec![0; 1 << 20]);
        }
        assert_eq!(
            (spool.given_up(), spool.front().map(|(number, _)| number)),
            (6, Some(6))
        );
    }
}
