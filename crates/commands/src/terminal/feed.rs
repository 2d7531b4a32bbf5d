//! Collects a run's events into snapshots for the terminal.

use std::collections::VecDeque;
use std::time::Duration;

use drumfire_results::Recording;

use super::snapshot::{AgentRow, LabelSnapshot, RecentError, Snapshot, Users, rows};
use crate::engine::{AgentPhase, AgentTick, Event, Started, Tick};

/// The shortest time between two snapshots.
const PAUSE: Duration = Duration::from_millis(250);
/// The window over which the current rates are computed.
const RATE_WINDOW: Duration = Duration::from_secs(3);
/// The number of failed samples that are shown.
const RECENT_ERRORS: usize = 20;

/// The data collected since the last snapshot.
#[derive(Default)]
pub struct Feed {
    planned_users: u64,
    planned_ms: Option<u64>,
    last: Option<Duration>,
    rates: Rates,
    recent_errors: VecDeque<RecentError>,
}

impl Feed {
    /// Takes an event; returns a snapshot if one is due. `so_far` is the sum of all increments.
    pub fn receive(&mut self, event: &Event, so_far: &Recording) -> Option<Snapshot> {
        match event {
            Event::Started(started) => {
                let Started {
                    planned_users,
                    planned_ms,
                    ..
                } = **started;
                (self.planned_users, self.planned_ms) = (planned_users, planned_ms);
                None
            }
            Event::Tick(tick) => {
                self.note_errors(tick);
                let is_early = self.last.is_some_and(|last| tick.elapsed < last + PAUSE);
                (!is_early).then(|| {
                    self.last = Some(tick.elapsed);
                    self.snapshot(tick, so_far)
                })
            }
            Event::Increment(_)
            | Event::Heard(..)
            | Event::Line(_)
            | Event::Warning(_)
            | Event::Mark(_)
            | Event::Ended(_) => None,
        }
    }

    fn note_errors(&mut self, tick: &Tick) {
        self.recent_errors
            .extend(tick.recent_errors.iter().map(recent_error));
        let surplus = self.recent_errors.len().saturating_sub(RECENT_ERRORS);
        self.recent_errors.drain(..surplus);
    }

    fn snapshot(&mut self, tick: &Tick, so_far: &Recording) -> Snapshot {
        let mut labels = current_rows(tick, so_far);
        self.rates.apply(tick.elapsed, &mut labels);
        let total = labels.pop().unwrap_or_default();
        Snapshot {
            elapsed_ms: tick.elapsed.as_millis() as u64,
            ending_ms: None,
            planned_ms: self.planned_ms,
            users: Users {
                planned: self.planned_users,
                started: tick.users.started,
                active: tick.users.active,
                finished: tick.users.finished,
            },
            total,
            labels,
            agents: tick.agents.iter().map(agent_row).collect(),
            recent_errors: self.recent_errors.iter().cloned().collect(),
            backlog_bytes: tick.writer.backlog_bytes,
            stopping: tick.stopping,
            grace_left_ms: None,
        }
    }
}

/// One row per label and the total. Counts are current; times and rates are as of the last full second.
fn current_rows(tick: &Tick, so_far: &Recording) -> Vec<LabelSnapshot> {
    let mut rows = rows(so_far);
    let mut total = rows.pop().unwrap_or_default();
    (total.samples, total.errors) = tick.totals();
    let labels = tick.labels.iter().map(|label| {
        let mut same = so_far.labels.iter();
        let index = same
            .position(|known| known.label == label.label && known.transaction == label.transaction);
        LabelSnapshot {
            label: label.label.clone(),
            transaction: label.transaction,
            samples: label.count,
            errors: label.errors,
            ..index.map(|place| rows[place].clone()).unwrap_or_default()
        }
    });
    labels.chain([total]).collect()
}

/// The sample counts of each label at several moments of the last seconds.
#[derive(Default)]
struct Rates {
    past: VecDeque<(Duration, Vec<u64>)>,
}

impl Rates {
    /// Fills in each row's rate since the oldest stored moment. New rows are only ever added before the last one,
    /// which is the total.
    fn apply(&mut self, now: Duration, rows: &mut [LabelSnapshot]) {
        while self.past.len() > 1 && self.past[1].0 + RATE_WINDOW <= now {
            self.past.pop_front();
        }
        let (then, counts) = self.past.front().cloned().unwrap_or_default();
        let seconds = (now - then).as_secs_f64();
        let count_before = |index: usize, is_total: bool| match counts.split_last() {
            None => 0,
            Some((total, _)) if is_total => *total,
            Some((_, labels)) => labels.get(index).copied().unwrap_or(0),
        };
        let last = rows.len().saturating_sub(1);
        for (index, row) in rows.iter_mut().enumerate() {
            let gained = row
                .samples
                .saturating_sub(count_before(index, index == last));
            row.rate_now = if seconds > 0.0 {
                gained as f64 / seconds
            } else {
                0.0
            };
        }
        self.past
            .push_back((now, rows.iter().map(|row| row.samples).collect()));
    }
}

fn agent_row(agent: &AgentTick) -> AgentRow {
    let second = agent.second.as_deref();
    let length_s = second.map_or(1.0, |second| second.length_ms() as f64 / 1000.0);
    let now = second.filter(|_| agent.phase == AgentPhase::Running);
    AgentRow {
        name: agent.name.to_string(),
        phase: agent.phase,
        users: agent.users,
        samples: agent.samples,
        rate_now: now.map_or(0.0, |second| second.samples as f64 / length_s),
        cores: now.map(|second| second.cores_used).unwrap_or(0.0),
        late_ms: now
            .map(|second| second.delay.max_us as f64 / 1000.0)
            .unwrap_or(0.0),
        grade: agent.grade,
    }
}

fn recent_error(error: &drumfire_results::RecentError) -> RecentError {
    RecentError {
        at_ms: error.end_ms,
        label: error.label.clone(),
        code: error.code.clone(),
        message: error.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(samples: &[u64]) -> Vec<LabelSnapshot> {
        samples
            .iter()
            .map(|samples| LabelSnapshot {
                samples: *samples,
                ..LabelSnapshot::default()
            })
            .collect()
    }

    fn rates(rates: &mut Rates, at_ms: u64, samples: &[u64]) -> Vec<f64> {
        let mut rows = counted(samples);
        rates.apply(Duration::from_millis(at_ms), &mut rows);
        rows.iter().map(|row| row.rate_now).collect()
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        let mut past = Rates::default();
        assert_eq!(rates(&mut past, 0, &[0]), [0.0]);
        assert_eq!(rates(&mut past, 1_000, &[10, 10]), [10.0, 10.0]);
        // A new label is added before the total and had no samples before.
        assert_eq!(rates(&mut past, 2_000, &[10, 20, 30]), [5.0, 10.0, 15.0]);
        assert_eq!(
            rates(&mut past, 4_000, &[10, 20, 30]),
            [0.0, 20.0 / 3.0, 20.0 / 3.0]
        );
        assert_eq!(rates(&mut past, 5_000, &[10, 20, 30]), [0.0, 0.0, 0.0]);
        assert_eq!(past.past.len(), 3);
    }
}
