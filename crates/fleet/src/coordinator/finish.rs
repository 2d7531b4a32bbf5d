//! The end of a run on several machines: one outcome of all, with a verdict on each agent.

use std::path::Path;
use std::sync::Arc;

use drumfire_engine::{Event, Outcome};
use drumfire_health::{Cause, Grade, Reason, Second, StageTimes, Verdict};
use drumfire_results::{Connections, FileReport, ThreadCounts};

use super::watch::{Agent, OnLost};
use super::{AgentOutcome, Coordinator, FleetOutcome, clock_text};
use crate::rows;
use crate::wire::Rows;

impl Coordinator<'_, '_, '_> {
    /// Adds everything up and lets the agents go.
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
        self.state.is_over = true;
        self.push_state(true);
        for agent in &mut self.agents {
            // Those that are still lost stay so.
            if let Some((_, back_ms @ None)) = agent.gaps_ms.last_mut() {
                *back_ms = Some(now_ms);
            }
        }
        let samples = self.merger.samples().to_vec();
        let agents: Vec<AgentOutcome> = self
            .agents
            .iter()
            .zip(samples)
            .map(|(agent, samples)| outcome_of(agent, samples))
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
        let started_ms = self.state.start_ms.unwrap_or_else(|| self.clock.start_ms());
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
        let verdict = self.verdict(agents, started_ms, now_ms);
        let sum = |of: fn(&ThreadCounts) -> u64| self.users.iter().map(of).sum();
        Outcome {
            recording: self.merger.take_recording(),
            connections: ends()
                .map(|end| end.connections)
                .fold(Connections::default(), Connections::plus),
            elapsed: self.started.elapsed(),
            started_ms: self.clock.start_ms(),
            ended_ms: now_ms,
            users: ThreadCounts {
                active: sum(|users| users.active),
                started: sum(|users| users.started),
                finished: sum(|users| users.finished),
            },
            files,
            faults,
            nothing_sent,
            stopped: self.control.state(),
            seconds: seconds(agents),
            stages: stages(agents),
            verdict: Some(verdict),
            marks: std::mem::take(&mut self.marks),
            targets,
        }
    }

    /// The rows of all agents in one file, if they are collected.
    fn collect_rows(&mut self) -> Vec<FileReport> {
        let Some(results) = self
            .order
            .results
            .clone()
            .filter(|_| self.order.rows == Rows::Collect)
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
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut parts = Vec::new();
        for (index, agent) in self.agents.iter().enumerate() {
            if !agent.end.as_ref().is_some_and(|end| end.has_rows) {
                continue;
            }
            let part = folder.path().join(format!("{index}.jtl"));
            let name = format!("{}.{index}.rows", self.manifest.run);
            let fetched = rows::fetch(self.link, &name, &part);
            self.runtime
                .block_on(fetched)
                .map_err(|error| format!("agent `{}`: {error}", agent.name))?;
            parts.push(part);
        }
        rows::merge(&parts, results).map_err(|error| error.to_string())?;
        let ends = || self.agents.iter().filter_map(|agent| agent.end.as_ref());
        Ok(FileReport {
            path: results.to_path_buf(),
            rows: ends().map(|end| end.rows).sum(),
            lost_rows: ends().map(|end| end.lost_rows).sum(),
            problem: None,
        })
    }

    /// The worst of all agents, with what only the coordinator sees.
    fn verdict(&self, agents: &[AgentOutcome], started_ms: i64, now_ms: i64) -> Verdict {
        let mut verdict = Verdict {
            grade: Grade::Valid,
            reasons: Vec::new(),
            length_ms: (now_ms - self.clock.start_ms()).max(0) as u64,
        };
        let origin_ms = self.clock.start_ms();
        for agent in agents {
            let its = agent
                .end
                .as_ref()
                .and_then(|end| Some((end, end.verdict.as_ref()?)));
            let Some((end, its)) = its else { continue };
            verdict.grade = verdict.grade.max(its.grade);
            // Their moments count from the start of the agent's own run.
            let shift_ms = (end.started_ms - origin_ms).max(0) as u64;
            verdict.reasons.extend(its.reasons.iter().map(|reason| {
                Reason {
                    cause: reason.cause,
                    spans_ms: reason
                        .spans_ms
                        .iter()
                        .map(|(from, to)| (from + shift_ms, to + shift_ms))
                        .collect(),
                    measured: match reason.measured.as_str() {
                        "" => format!("agent `{}`", agent.name),
                        measured => format!("agent `{}`: {measured}", agent.name),
                    },
                    remedy: reason.remedy.clone(),
                }
            }));
        }
        for reason in self.own_reasons(agents, started_ms, now_ms) {
            let grade = match reason.cause {
                Cause::ClocksApart => Grade::Degraded,
                _ => Grade::Invalid,
            };
            verdict.grade = verdict.grade.max(grade);
            verdict.reasons.insert(0, reason);
        }
        verdict
    }

    fn own_reasons(&self, agents: &[AgentOutcome], started_ms: i64, now_ms: i64) -> Vec<Reason> {
        let origin_ms = self.clock.start_ms();
        let moment = |at_ms: i64| (at_ms - origin_ms).max(0) as u64;
        let reason = |cause: Cause, spans_ms: Vec<(u64, u64)>, measured: String| Reason {
            cause,
            spans_ms,
            measured,
            remedy: cause.remedy().to_owned(),
        };
        let mut reasons = Vec::new();
        for (agent, outcome) in self.agents.iter().zip(agents) {
            let name = &agent.name;
            for (from_ms, to_ms) in &agent.gaps_ms {
                let to_ms = to_ms.unwrap_or(now_ms);
                let seconds = (to_ms - from_ms).max(0) as f64 / 1000.0;
                let went = match (self.order.on_lost, agent.is_lost()) {
                    (OnLost::Redistribute, _) => "its users went to others",
                    (_, true) => "it did not come back",
                    (_, false) => "it came back",
                };
                let at = clock_text(*from_ms);
                let measured =
                    format!("agent `{name}` silent from {at} on, for {seconds:.1} s; {went}");
                reasons.push(reason(
                    Cause::AgentLost,
                    vec![(moment(*from_ms), moment(to_ms))],
                    measured,
                ));
            }
            let missing = match &outcome.end {
                Some(end) => end.samples.saturating_sub(outcome.samples),
                None => agent.state.samples.saturating_sub(outcome.samples),
            };
            if missing > 0 {
                let measured = format!("{missing} samples of agent `{name}`");
                reasons.push(reason(Cause::NumbersMissing, Vec::new(), measured));
            }
            if outcome.bound_ns > super::UNCERTAIN_NS {
                let bound_ms = outcome.bound_ns / 1_000_000;
                let measured = format!("agent `{name}` by {bound_ms} ms");
                let span = (moment(started_ms), moment(now_ms));
                reasons.push(reason(Cause::ClocksApart, vec![span], measured));
            }
        }
        reasons
    }
}

fn outcome_of(agent: &Agent, samples: u64) -> AgentOutcome {
    AgentOutcome {
        name: agent.name.clone(),
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

/// The seconds of the first agent: those of the others are shown by themselves.
fn seconds(agents: &[AgentOutcome]) -> Vec<Second> {
    let first = agents.iter().find_map(|agent| agent.end.as_ref());
    match agents {
        [_] => first.map_or_else(Vec::new, |end| end.seconds.clone()),
        _ => Vec::new(),
    }
}
