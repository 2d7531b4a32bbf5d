//! The end of a run on several machines: one outcome for all agents, with a verdict on each.

use std::path::Path;
use std::sync::Arc;

use drumfire_engine::{Event, Outcome};
use drumfire_health::{Second, StageTimes};
use drumfire_platform::causes::cause;
use drumfire_results::{Connections, FileReport, SampleBalance, ThreadCounts};

use super::watch::Agent;
use super::{AgentOutcome, Coordinator, FleetOutcome};
use crate::rows;
use crate::wire::RowHandling;

impl Coordinator<'_, '_, '_> {
    /// Sums up the run and releases the agents.
    pub(super) fn finish(mut self) -> FleetOutcome {
        while let Some(increment) = self.merger.post(None) {
            self.tell(&Event::Increment(increment));
        }
        let now_ms = self.clock.now_ms();
        self.tick(now_ms);
        let files = self.collect_rows();
        match self.merger.repeated() {
            0 => {}
            repeated => tracing::info!("{repeated} messages came twice and were counted once"),
        }
        self.end_for_agents();
        for agent in &mut self.agents {
            // Agents that are still lost stay so.
            if let Some((_, back_ms @ None)) = agent.gaps_ms.last_mut() {
                *back_ms = Some(now_ms);
            }
        }
        let samples = self.merger.samples().to_vec();
        let agents: Vec<AgentOutcome> = self
            .agents
            .iter()
            .zip(samples)
            .zip(&self.users)
            .map(|((agent, samples), users)| outcome_of(agent, samples, users.started))
            .collect();
        let outcome = self.outcome(&agents, files, now_ms);
        let ended = Event::Ended(Arc::new(outcome));
        for subscriber in self.subscribers.iter_mut() {
            let Event::Ended(outcome) = &ended else { break };
            subscriber.receive(&ended, &outcome.recording);
        }
        let Event::Ended(outcome) = ended else {
            unreachable!("it was made above")
        };
        FleetOutcome {
            outcome: Arc::unwrap_or_clone(outcome),
            agents,
        }
    }

    fn outcome(&mut self, agents: &[AgentOutcome], files: Vec<FileReport>, now_ms: i64) -> Outcome {
        let ends = || agents.iter().filter_map(|agent| agent.end.as_ref());
        let mut faults = std::mem::take(&mut self.faults);
        for agent in agents {
            let its = agent.end.iter().flat_map(|end| &end.faults);
            faults.extend(its.map(|fault| format!("agent `{}`: {fault}", agent.name)));
        }
        for agent in &self.agents {
            let its = agent.state.faults.iter();
            faults.extend(its.map(|fault| format!("agent `{}`: {fault}", agent.name)));
        }
        let nothing = ends().map(|end| end.nothing_sent.clone());
        let total: u64 = agents.iter().map(|agent| agent.samples).sum();
        let nothing_sent = match total {
            0 => nothing
                .flatten()
                .next()
                .or_else(|| Some("no agent sent a sample".to_owned())),
            _ => None,
        };
        let mut targets: Vec<String> = ends().flat_map(|end| end.targets.clone()).collect();
        targets.sort_unstable();
        targets.dedup();
        let verdict = self.last_verdict(agents, now_ms);
        let balance = self.balance(agents);
        let sum = |of: fn(&ThreadCounts) -> u64| self.users.iter().map(of).sum();
        Outcome {
            recording: self.merger.take_recording(),
            balance,
            connections: ends()
                .map(|end| end.connections)
                .fold(Connections::default(), Connections::plus),
            elapsed: self.started.elapsed(),
            started_ms: self.started_ms,
            ended_ms: now_ms,
            users: ThreadCounts {
                active: sum(|users| users.active),
                started: sum(|users| users.started),
                finished: sum(|users| users.finished),
            },
            files,
            faults,
            nothing_sent,
            warnings: warnings(agents),
            stopped: self.control.state(),
            seconds: seconds(agents),
            stages: stages(agents),
            verdict: Some(verdict),
            marks: std::mem::take(&mut self.marks),
            targets,
        }
    }

    /// The fate of the samples that users began; `None` if an agent did not tell, or told only of its life after a restart.
    fn balance(&self, agents: &[AgentOutcome]) -> Option<SampleBalance> {
        let mut sum = SampleBalance::default();
        for (agent, outcome) in self.agents.iter().zip(agents) {
            let balance = outcome.end.as_ref()?.balance?;
            if agent.before > 0 {
                return None;
            }
            sum.add(balance);
        }
        Some(sum)
    }

    /// Merges the rows of all agents into one file, if they are collected.
    fn collect_rows(&mut self) -> Vec<FileReport> {
        let Some(results) = self
            .order
            .results
            .clone()
            .filter(|_| self.manifest.rows == RowHandling::Collect)
        else {
            return Vec::new();
        };
        match self.merge_rows(&results) {
            Ok(report) => vec![report],
            Err(why) => {
                let path = results.display();
                self.faults
                    .push(format!("the rows could not be written to {path}: {why}"));
                Vec::new()
            }
        }
    }

    fn merge_rows(&mut self, results: &Path) -> Result<FileReport, String> {
        let folder = tempfile::tempdir().map_err(|error| cause(&error))?;
        let (mut parts, mut faults, mut missing) = (Vec::new(), Vec::new(), 0);
        for (index, agent) in self.agents.iter().enumerate() {
            let Some(end) = agent.end.as_ref().filter(|end| end.has_rows) else {
                continue;
            };
            let part = folder.path().join(format!("{index}.jtl"));
            let name = format!("{}.{index}.rows", self.manifest.run);
            match self.runtime.block_on(rows::fetch(self.link, &name, &part)) {
                Ok(()) => parts.push(part),
                // The rows of the others are still useful. An agent that could not deliver its rows
                // has already reported why.
                Err(error) => {
                    missing += end.rows;
                    if agent.state.faults.is_empty() {
                        faults.push(format!("no rows of agent `{}`: {error}", agent.name));
                    }
                }
            }
        }
        self.faults.extend(faults);
        self.tell_of_lost_rows();
        rows::merge(&parts, results).map_err(|error| error.to_string())?;
        let ends = || self.agents.iter().filter_map(|agent| agent.end.as_ref());
        Ok(FileReport {
            path: results.to_path_buf(),
            rows: ends().map(|end| end.rows).sum::<u64>() - missing,
            lost_rows: ends().map(|end| end.lost_rows).sum::<u64>() + missing,
            problem: None,
        })
    }

    /// Warns of rows that are missing, because their agents were lost or started again.
    fn tell_of_lost_rows(&mut self) {
        let agents = self.agents.iter().zip(self.merger.samples());
        let lost: Vec<String> = agents
            .filter_map(|(agent, samples)| {
                let rows = match agent.end {
                    Some(_) => agent.before,
                    None => *samples,
                };
                (rows > 0).then(|| format!("{rows} of agent `{}`", agent.name))
            })
            .collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            self.warn(format!(
                "the result file lacks rows of samples that are counted: {lost}"
            ));
        }
    }
}

fn outcome_of(agent: &Agent, samples: u64, users: u64) -> AgentOutcome {
    AgentOutcome {
        name: agent.name.clone(),
        users,
        samples,
        end: agent.end.clone(),
        offset_ns: agent.state.offset_ns,
        bound_ns: agent.state.bound_ns,
        late_us: agent.state.late_us,
    }
}

fn stages(agents: &[AgentOutcome]) -> StageTimes {
    let mut sum = StageTimes::default();
    for end in agents.iter().filter_map(|agent| agent.end.as_ref()) {
        sum.merge(&end.stages);
    }
    sum
}

/// The seconds of a single agent. With several agents, the seconds of each are shown separately.
fn seconds(agents: &[AgentOutcome]) -> Vec<Second> {
    let first = agents.iter().find_map(|agent| agent.end.as_ref());
    match agents {
        [_] => first.map(|end| end.seconds.clone()).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The warnings of the agents, with the agents' names.
fn warnings(agents: &[AgentOutcome]) -> Vec<String> {
    const MOST: usize = 6;
    let mut lines = Vec::new();
    for agent in agents {
        let its = agent.end.iter().flat_map(|end| &end.warnings);
        lines.extend(its.map(|warning| format!("agent `{}`: {warning}", agent.name)));
    }
    if lines.len() > MOST {
        let more = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(format!("{more} more warnings of agents are in their logs"));
    }
    lines
}
