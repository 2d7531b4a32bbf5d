//! Tells the command line how a run goes on, in the command line's terms.

use std::collections::VecDeque;
use std::time::Duration;

use drumfire::engine::Watch;
use drumfire::terminal::snapshot::{RecentError, Row, Snapshot, Stopping, Users, rows};
use drumfire_engine::{GroupKind, Observer, Program, Progress};

/// The shortest time between two snapshots.
const PAUSE: Duration = Duration::from_millis(250);
/// The time over which 'now' rates are taken.
const RATE_WINDOW: Duration = Duration::from_secs(3);

/// Turns progress into snapshots.
pub struct Relay<'w> {
    watch: &'w mut dyn Watch,
    planned_users: u64,
    planned_ms: Option<u64>,
    last: Option<Duration>,
    rates: Rates,
}

impl<'w> Relay<'w> {
    pub fn new(program: &Program, watch: &'w mut dyn Watch) -> Relay<'w> {
        Relay {
            watch,
            planned_users: program
                .groups
                .iter()
                .map(|group| u64::from(group.shape.users()))
                .sum(),
            planned_ms: planned_ms(program),
            last: None,
            rates: Rates::default(),
        }
    }

    fn snapshot(&mut self, progress: &Progress<'_>) -> Snapshot {
        let mut labels = progress.live.read(rows);
        self.rates.apply(progress.elapsed, &mut labels);
        let total = labels.pop().unwrap_or_default();
        Snapshot {
            elapsed_ms: progress.elapsed.as_millis() as u64,
            ending_ms: None,
            planned_ms: self.planned_ms,
            users: Users {
                planned: self.planned_users,
                started: progress.users.started,
                active: progress.users.active,
                finished: progress.users.finished,
            },
            total,
            labels,
            recent_errors: progress
                .live
                .recent_errors()
                .into_iter()
                .map(recent_error)
                .collect(),
            backlog_bytes: progress.writer.backlog_bytes,
            stopping: match progress.stopping {
                drumfire_engine::Stopping::No => Stopping::No,
                drumfire_engine::Stopping::Shutdown => Stopping::Shutdown,
                drumfire_engine::Stopping::Now => Stopping::Now,
            },
        }
    }
}

impl Observer for Relay<'_> {
    fn tick(&mut self, progress: &Progress<'_>) {
        let is_early = self
            .last
            .is_some_and(|last| progress.elapsed < last + PAUSE);
        if is_early || !self.watch.wants_snapshots() {
            return;
        }
        self.last = Some(progress.elapsed);
        let snapshot = self.snapshot(progress);
        self.watch.tick(&snapshot);
    }

    fn summary_line(&mut self, line: &str) {
        self.watch.summariser_line(line);
    }

    fn warning(&mut self, text: &str) {
        self.watch.warning(text);
    }

    fn ending(&mut self) {
        // The last numbers are the summary's, which is printed when the results are written.
    }
}

/// How long the plan says its main thread groups run; none if one of them ends by its iterations.
fn planned_ms(program: &Program) -> Option<u64> {
    let mut planned = 0;
    for group in program
        .groups
        .iter()
        .filter(|group| group.kind == GroupKind::Main && group.shape.check().is_ok())
    {
        let stop_ms = u64::try_from(group.shape.end_ms()?).unwrap_or(0);
        planned = if program.serialized {
            planned + stop_ms
        } else {
            stop_ms.max(planned)
        };
    }
    (planned > 0).then_some(planned)
}

/// How many samples each label had at moments of the last seconds.
#[derive(Default)]
struct Rates {
    past: VecDeque<(Duration, Vec<u64>)>,
}

impl Rates {
    /// Fills in what each row gained a second since the oldest moment that is known. Rows are only ever added before
    /// the last one, which is the total.
    fn apply(&mut self, now: Duration, rows: &mut [Row]) {
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

fn recent_error(error: drumfire_results::RecentError) -> RecentError {
    RecentError {
        at_ms: error.end_ms,
        label: error.label,
        code: error.code,
        message: error.message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(samples: &[u64]) -> Vec<Row> {
        samples
            .iter()
            .map(|samples| Row {
                samples: *samples,
                ..Row::default()
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
        // A new label stands before the total; nothing is known of it before.
        assert_eq!(rates(&mut past, 2_000, &[10, 20, 30]), [5.0, 10.0, 15.0]);
        assert_eq!(
            rates(&mut past, 4_000, &[10, 20, 30]),
            [0.0, 20.0 / 3.0, 20.0 / 3.0]
        );
        assert_eq!(rates(&mut past, 5_000, &[10, 20, 30]), [0.0, 0.0, 0.0]);
        assert_eq!(past.past.len(), 3);
    }
}
