//! Merges the seconds of all agents into the seconds of one run. Increments are added, so percentiles are those of the pooled
//! samples.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use drumfire_results::{Increment, LabelCount, Recording};

/// How long after a second its sum is passed on although an agent's part is missing. A later part is passed on separately.
const GRACE_MS: i64 = 2_500;

/// The parts that agents have sent, and their sum.
#[derive(Debug, Default)]
pub struct Merger {
    agents: Vec<Progress>,
    /// Seconds that have not been passed on yet, by their start.
    pending: BTreeMap<i64, Second>,
    recording: Recording,
    labels: Vec<LabelCount>,
    places: HashMap<(String, bool), usize>,
    samples: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    /// The number of the last message; they arrive in order.
    sequence: u64,
    /// The end of its last second.
    until_ms: i64,
    /// Whether no more messages are expected.
    is_over: bool,
    /// Messages that arrived twice.
    repeated: u64,
    /// The number of users in the last second that was passed on.
    users: u32,
}

#[derive(Debug)]
struct Second {
    sum: Increment,
    /// The largest number of users of each agent.
    users: BTreeMap<u32, u32>,
}

impl Merger {
    /// A merger for this many agents.
    pub fn new(agents: usize) -> Merger {
        Merger {
            agents: vec![Progress::default(); agents],
            samples: vec![0; agents],
            ..Merger::default()
        }
    }

    /// Adds an agent, whose seconds are not waited for until the first one arrives.
    pub fn add_agent(&mut self) {
        self.agents.push(Progress {
            is_over: true,
            ..Progress::default()
        });
        self.samples.push(0);
    }

    /// Notes a message. Returns false for a repeated one, which must not be counted again.
    pub fn is_new(&mut self, agent: u32, sequence: u64) -> bool {
        let Some(progress) = self.agents.get_mut(agent as usize) else {
            return false;
        };
        if sequence <= progress.sequence {
            progress.repeated += 1;
            return false;
        }
        if progress.sequence == 0 {
            progress.is_over = false;
        }
        progress.sequence = sequence;
        true
    }

    /// The number of an agent's last message.
    pub fn sequence(&self, agent: u32) -> u64 {
        self.agents
            .get(agent as usize)
            .map(|agent| agent.sequence)
            .unwrap_or(0)
    }

    /// Sets whether seconds of this agent are no longer waited for.
    pub fn set_over(&mut self, agent: u32, is_over: bool) {
        if let Some(progress) = self.agents.get_mut(agent as usize) {
            progress.is_over = is_over;
        }
    }

    /// Resets a restarted agent: its messages are counted from 1 again, and its seconds are not waited for until the first one
    /// arrives.
    pub fn begin_again(&mut self, agent: u32) {
        if let Some(progress) = self.agents.get_mut(agent as usize) {
            *progress = Progress {
                is_over: true,
                repeated: progress.repeated,
                ..Progress::default()
            };
        }
    }

    /// Adds an agent's measurements of a second.
    pub fn add(&mut self, agent: u32, increment: Increment) {
        if let Some(progress) = self.agents.get_mut(agent as usize) {
            progress.until_ms = progress.until_ms.max(increment.to_ms);
        }
        if let Some(samples) = self.samples.get_mut(agent as usize) {
            *samples += increment.totals().0;
        }
        self.count(&increment);
        let users = increment.active.max;
        let second = self
            .pending
            .entry(increment.from_ms)
            .or_insert_with(|| Second {
                sum: Increment {
                    from_ms: increment.from_ms,
                    to_ms: increment.to_ms,
                    ..Increment::default()
                },
                users: BTreeMap::new(),
            });
        let most = second.users.entry(agent).or_default();
        *most = (*most).max(users);
        second.sum.merge(increment);
    }

    fn count(&mut self, increment: &Increment) {
        for label in &increment.labels {
            let key = (label.label.clone(), label.transaction);
            let index = *self.places.entry(key).or_insert_with(|| {
                self.labels.push(LabelCount {
                    label: label.label.clone(),
                    transaction: label.transaction,
                    ..LabelCount::default()
                });
                self.labels.len() - 1
            });
            self.labels[index].count += label.count;
            self.labels[index].errors += label.errors;
        }
    }

    /// The earliest second that all agents have sent, or that is overdue at `now_ms`; without a time, the earliest of all.
    pub fn post(&mut self, now_ms: Option<i64>) -> Option<Arc<Increment>> {
        let (from_ms, second) = self.pending.first_key_value()?;
        let to_ms = second.sum.to_ms;
        let is_whole = self
            .agents
            .iter()
            .all(|agent| agent.is_over || agent.until_ms > *from_ms && agent.until_ms >= to_ms);
        if now_ms.is_some_and(|now_ms| !is_whole && to_ms.saturating_add(GRACE_MS) > now_ms) {
            return None;
        }
        let (_, Second { mut sum, users }) = self.pending.pop_first()?;
        if self.agents.len() > 1 {
            let all = self.users_of(&users);
            spread_users(&mut sum, all);
        }
        self.recording.absorb(&sum);
        Some(Arc::new(sum))
    }

    /// The number of users on all agents in a second. An agent without samples in it counts with its previous number.
    fn users_of(&mut self, users: &BTreeMap<u32, u32>) -> u64 {
        let agents = (0..).zip(&mut self.agents);
        agents
            .map(|(index, agent)| {
                match users.get(&index) {
                    Some(users) => agent.users = *users,
                    None if agent.is_over => agent.users = 0,
                    None => {}
                }
                u64::from(agent.users)
            })
            .sum()
    }

    /// The sum of everything that was passed on.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    pub fn take_recording(&mut self) -> Recording {
        std::mem::take(&mut self.recording)
    }

    /// How often each label occurred.
    pub fn labels(&self) -> Arc<[LabelCount]> {
        self.labels.as_slice().into()
    }

    /// Samples of each agent, without those of transaction controllers.
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// The number of messages that arrived twice; they were counted once.
    pub fn repeated(&self) -> u64 {
        self.agents.iter().map(|agent| agent.repeated).sum()
    }
}

/// Sets the number of users in the sum to that of all agents: samples only record the users of their own agent.
fn spread_users(sum: &mut Increment, all: u64) {
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    let active = &mut sum.active;
    (active.min, active.max) = (all, all);
    active.sum = active.samples.saturating_mul(u64::from(all));
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Distribution, LabelIncrement};

    use super::*;

    fn second(second: i64, label: &str, times: &[u64]) -> Increment {
        let mut increment = Increment::of_second(second);
        increment.labels.push(label_of(second, label, times));
        increment.note_users(3);
        increment.active.samples = times.len() as u64;
        increment
    }

    fn label_of(second: i64, label: &str, times: &[u64]) -> LabelIncrement {
        let mut ok = Distribution::default();
        times.iter().for_each(|time| ok.record(*time));
        LabelIncrement {
            count: times.len() as u64,
            hits: times.len() as u64,
            first_start_ms: second * 1000,
            last_end_ms: second * 1000 + 999,
            ok,
            ..LabelIncrement::new(label.to_owned(), false)
        }
    }

    #[test]
    fn a_second_is_told_when_all_agents_have_sent_it() {
        let mut merger = Merger::new(2);
        merger.add(0, second(10, "a", &[1_000]));
        assert!(merger.post(Some(11_100)).is_none());
        merger.add(1, second(10, "a", &[3_000, 5_000]));
        let sum = merger.post(Some(11_100)).expect("both have sent it");
        assert_eq!((sum.totals().0, sum.active.max, sum.active.sum), (3, 6, 18));
        assert_eq!(merger.samples(), [1, 2]);
        assert_eq!(merger.labels()[0].count, 3);
        merger.add(0, second(11, "a", &[1_000]));
        assert!(merger.post(Some(12_100)).is_none());
        let late = merger.post(Some(15_000)).expect("an agent is late");
        assert_eq!(late.active.max, 6, "its users are there nevertheless");
        merger.add(0, second(12, "a", &[1_000]));
        merger.set_over(1, true);
        let lost = merger.post(Some(13_000)).expect("an agent is lost");
        assert_eq!(lost.active.max, 3, "and its users with it");
    }

    #[test]
    fn percentiles_are_those_of_the_pooled_samples() {
        let mut random = drumfire_expr::Random::from_seed(5);
        let (mut merger, mut pooled) = (Merger::new(3), Recording::default());
        for at in 0..20 {
            let mut all = Vec::new();
            for agent in 0..3 {
                // One agent is in another region.
                let far = if agent == 2 { 200_000 } else { 2_000 };
                let times: Vec<u64> = (0..50).map(|_| far + random.index(90_000) as u64).collect();
                merger.add(agent, second(at, "a", &times));
                all.extend(times);
            }
            pooled.absorb(&second(at, "a", &all));
        }
        while merger.post(None).is_some() {}
        let (merged, pooled) = (merger.recording().total(), pooled.total());
        assert_eq!(merged.service, pooled.service);
        for percent in [50.0, 90.0, 99.0, 99.9] {
            let both = [&merged, &pooled].map(|label| label.service.percentile(percent));
            assert_eq!(both[0], both[1]);
        }
    }

    #[test]
    fn a_message_that_comes_twice_counts_once() {
        let mut merger = Merger::new(2);
        let heard: Vec<bool> = [1, 2, 2, 1, 3]
            .iter()
            .map(|number| merger.is_new(1, *number))
            .collect();
        assert_eq!(heard, [true, true, false, false, true]);
        assert_eq!((merger.repeated(), merger.sequence(1)), (2, 3));
        assert!(!merger.is_new(7, 1), "there is no such agent");
        merger.begin_again(1);
        assert!(merger.is_new(1, 1) && merger.repeated() == 2);
    }
}
