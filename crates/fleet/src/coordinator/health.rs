//! Combines the verdicts of the coordinator and its agents on the run's numbers, during the run and at its end, and the agents'
//! health.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_engine::AgentTick;
use drumfire_health::{Cause, Grade, Reason, Second, Verdict};
use drumfire_platform::words::counted;

use super::watch::{OnLost, clock_text};
use super::{AgentOutcome, Coordinator, UNCERTAIN_NS};

/// How long after its end a second is passed on although agents have not sent theirs, in seconds.
const GRACE_S: i64 = 3;
/// The most agents to name with one measurement, and the most measurements to list with one reason. The rest are only counted.
const NAMES: usize = 4;
const MEASUREMENTS: usize = 2;
/// How often the run is judged while it goes on.
const JUDGE_PAUSE: Duration = Duration::from_secs(1);

/// Combines the seconds of all agents into seconds of one generator.
#[derive(Debug, Default)]
pub(super) struct Generators {
    /// By the second in which they ended: how many agents have sent theirs, and the combination of these.
    pending: BTreeMap<i64, (usize, Second)>,
}

impl Generators {
    /// Adds an agent's second that ended at this time.
    pub fn add(&mut self, to_ms: i64, second: &Second) {
        let pending = self
            .pending
            .entry(to_ms.div_euclid(1000))
            .or_insert_with(|| (0, Second::default()));
        pending.1 = match pending.0 {
            0 => second.clone(),
            _ => pending.1.beside(second),
        };
        pending.0 += 1;
    }

    /// Takes the earliest second that this many agents have sent, or that is overdue.
    pub fn take(&mut self, agents: usize, now_ms: i64) -> Option<Second> {
        let (at_s, (count, _)) = self.pending.first_key_value()?;
        let is_due = *count >= agents || at_s.saturating_add(GRACE_S) < now_ms.div_euclid(1000);
        is_due
            .then(|| self.pending.pop_first())?
            .map(|(_, (_, second))| second)
    }
}

/// An agent's verdict on its own numbers.
pub(super) struct AgentVoice<'v> {
    pub name: &'v str,
    /// When its run started; the times in its verdict are relative to that.
    pub started_ms: i64,
    pub verdict: &'v Verdict,
    /// Whether it took part in the whole run.
    pub is_whole: bool,
}

impl AgentVoice<'_> {
    /// Whether it judged its part of the run.
    fn has_judged(&self) -> bool {
        self.verdict.grade != Grade::TooShort
    }
}

impl Coordinator<'_, '_, '_> {
    /// Stores an agent's last seconds and its verdict on them.
    pub(super) fn note_health(
        &mut self,
        index: usize,
        started_ms: i64,
        seconds: Vec<Second>,
        verdict: Option<Verdict>,
    ) {
        let shift_ms = started_ms.saturating_sub(self.started_ms);
        let moved = |ms: u64| ms.saturating_add_signed(shift_ms);
        for mut second in seconds {
            self.generators
                .add(started_ms.saturating_add_unsigned(second.to_ms), &second);
            (second.from_ms, second.to_ms) = (moved(second.from_ms), moved(second.to_ms));
            self.agents[index].second = Some(Arc::new(second));
        }
        if let Some(verdict) = verdict {
            self.agents[index].verdict = Some((started_ms, verdict));
        }
    }

    /// The combined second of all agents that has been completed since the last call, if any.
    pub(super) fn take_second(&mut self, now_ms: i64) -> Option<Arc<Second>> {
        let there = self
            .agents
            .iter()
            .filter(|agent| !agent.is_lost() && !agent.is_done());
        let second = self.generators.take(there.count().max(1), now_ms)?;
        let moved = now_ms - self.started_ms;
        // Agents count their seconds from their own starts.
        let length_ms = second.length_ms();
        let to_ms = u64::try_from(moved).unwrap_or(0);
        Some(Arc::new(Second {
            from_ms: to_ms.saturating_sub(length_ms),
            to_ms,
            ..second
        }))
    }

    /// The current state of each agent.
    pub(super) fn agent_ticks(&self) -> Vec<AgentTick> {
        let samples = self.merger.samples().iter();
        let ticks = self.agents.iter().zip(samples);
        ticks
            .map(|(agent, samples)| AgentTick {
                name: agent.name.as_str().into(),
                phase: agent.phase(),
                users: agent.state.users.active,
                samples: *samples,
                second: agent.second.clone(),
                grade: agent.verdict.as_ref().map(|(_, verdict)| verdict.grade),
                late_us: agent.state.late_us,
                offset_ns: agent.state.offset_ns,
                bound_ns: agent.state.bound_ns,
            })
            .collect()
    }

    /// The verdict on the numbers so far; it is at most a second old.
    pub(super) fn live_verdict(&mut self, now_ms: i64) -> Option<Arc<Verdict>> {
        if !self.judged.as_ref().is_some_and(|(at, _)| is_fresh(at)) {
            let voices: Vec<AgentVoice<'_>> = self
                .agents
                .iter()
                .enumerate()
                .filter_map(|(index, agent)| {
                    let (started_ms, verdict) = agent.verdict.as_ref()?;
                    Some(AgentVoice {
                        name: &agent.name,
                        started_ms: *started_ms,
                        verdict,
                        is_whole: self.is_whole(index),
                    })
                })
                .collect();
            if voices.is_empty() {
                return None;
            }
            let coordinator_reasons = self.own_reasons(now_ms);
            let verdict = self.verdict(&voices, coordinator_reasons, now_ms);
            self.judged = Some((Instant::now(), Arc::new(verdict)));
        }
        self.judged.as_ref().map(|(_, verdict)| verdict.clone())
    }

    /// The verdict on the numbers at the end.
    pub(super) fn last_verdict(&self, agents: &[AgentOutcome], now_ms: i64) -> Verdict {
        let voices: Vec<AgentVoice<'_>> = agents
            .iter()
            .enumerate()
            .filter_map(|(index, agent)| {
                let end = agent.end.as_ref()?;
                Some(AgentVoice {
                    name: &agent.name,
                    started_ms: end.started_ms,
                    verdict: end.verdict.as_ref()?,
                    is_whole: self.is_whole(index),
                })
            })
            .collect();
        let mut coordinator_reasons = self.own_reasons(now_ms);
        coordinator_reasons.extend(self.missing_numbers(agents));
        self.verdict(&voices, coordinator_reasons, now_ms)
    }

    /// Whether an agent took part in the whole run: it neither joined later nor was told to end.
    fn is_whole(&self, index: usize) -> bool {
        let is_first = index < self.manifest.members.len();
        is_first && self.agents[index].left_ms.is_none()
    }

    /// The worst verdict of all agents, with reasons that only the coordinator can see.
    fn verdict(&self, voices: &[AgentVoice<'_>], own: Vec<Reason>, now_ms: i64) -> Verdict {
        let mut verdict = Verdict {
            grade: Grade::Valid,
            reasons: Vec::new(),
            length_ms: (now_ms - self.started_ms).max(0) as u64,
        };
        let mut said: Vec<(&str, Reason)> = Vec::new();
        // The part of an agent that joined late or left may be short although the run is not.
        let is_judged = voices.iter().any(AgentVoice::has_judged);
        for voice in voices
            .iter()
            .filter(|voice| voice.is_whole || voice.has_judged() || !is_judged)
        {
            verdict.grade = verdict.grade.max(voice.verdict.grade);
            let shift_ms = (voice.started_ms - self.started_ms).max(0) as u64;
            said.extend(voice.verdict.reasons.iter().map(|reason| {
                let spans = reason.spans_ms.iter();
                let spans_ms = spans.map(|(from, to)| (from + shift_ms, to + shift_ms));
                let reason = Reason {
                    spans_ms: spans_ms.collect(),
                    ..reason.clone()
                };
                (voice.name, reason)
            }));
        }
        verdict.reasons = gathered(&said);
        for reason in own {
            let grade = match reason.cause {
                Cause::ClocksApart => Grade::Degraded,
                _ => Grade::Invalid,
            };
            verdict.grade = verdict.grade.max(grade);
            verdict.reasons.insert(0, reason);
        }
        verdict
    }

    fn moment(&self, at_ms: i64) -> u64 {
        (at_ms - self.started_ms).max(0) as u64
    }

    /// Reasons from lost agents and uncertain clocks.
    fn own_reasons(&self, now_ms: i64) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let started_ms = self.state.start_ms.unwrap_or(self.started_ms);
        for (agent, owned) in self.agents.iter().zip(&self.owned) {
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
                let span = (self.moment(*from_ms), self.moment(to_ms));
                reasons.push(reason(Cause::AgentLost, vec![span], measured));
            }
            // Nobody has taken its users over, or not at once.
            let is_missing = !owned.is_empty() || agent.replaced_ms.is_some();
            if let Some(left_ms) = agent.left_ms.filter(|_| is_missing) {
                let to_ms = agent.replaced_ms.unwrap_or(now_ms);
                let at = clock_text(left_ms);
                let seconds = (to_ms - left_ms).max(0) as f64 / 1000.0;
                let then = match agent.replaced_ms {
                    Some(_) => format!("another one has its users since {seconds:.1} s after that"),
                    None => "nobody has its users since".to_owned(),
                };
                let measured = format!("agent `{name}` was told to end at {at}; {then}");
                let span = (self.moment(left_ms), self.moment(to_ms));
                reasons.push(reason(Cause::LoadMissing, vec![span], measured));
            }
            if agent.state.bound_ns > UNCERTAIN_NS {
                let bound_ms = agent.state.bound_ns / 1_000_000;
                let measured = format!("agent `{name}` by {bound_ms} ms");
                let span = (self.moment(started_ms), self.moment(now_ms));
                reasons.push(reason(Cause::ClocksApart, vec![span], measured));
            }
        }
        reasons
    }

    /// Reasons from samples that agents took but did not deliver.
    fn missing_numbers(&self, agents: &[AgentOutcome]) -> Vec<Reason> {
        let both = self.agents.iter().zip(agents);
        let missing = both.filter_map(|(agent, outcome)| {
            let taken = outcome
                .end
                .as_ref()
                .map(|end| end.samples)
                .unwrap_or(agent.state.samples);
            let missing = (agent.before + taken).saturating_sub(outcome.samples);
            let measured = format!("{} of agent `{}`", counted(missing, "sample"), agent.name);
            (missing > 0).then(|| reason(Cause::NumbersMissing, Vec::new(), measured))
        });
        missing.collect()
    }
}

fn is_fresh(judged: &Instant) -> bool {
    judged.elapsed() < JUDGE_PAUSE
}

/// Merges reasons with the same cause and remedy. Each names the agents that it comes from.
fn gathered(said: &[(&str, Reason)]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (_, first) in said {
        let is_such =
            |reason: &Reason| (reason.cause, &reason.remedy) == (first.cause, &first.remedy);
        if reasons.iter().any(is_such) {
            continue;
        }
        let same = said.iter().filter(|(_, reason)| is_such(reason));
        let mut spans_ms = Vec::new();
        let mut measured: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, reason) in same {
            spans_ms.extend(&reason.spans_ms);
            let text = reason.measured.as_str();
            match measured.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name),
                None => measured.push((text, vec![name])),
            }
        }
        reasons.push(Reason {
            cause: first.cause,
            spans_ms: joined(spans_ms),
            measured: by_agents(&measured),
            remedy: first.remedy.clone(),
        });
    }
    reasons
}

/// Lists measurements, each with the names of the agents that report it.
fn by_agents(measured: &[(&str, Vec<&str>)]) -> String {
    let lines = measured.iter().take(MEASUREMENTS).map(|(text, names)| {
        let agents = if names.len() == 1 { "agent" } else { "agents" };
        let shown = names[..names.len().min(NAMES)].join("`, `");
        let more = match names.len().saturating_sub(NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match *text {
            "" => format!("{agents} `{shown}`{more}"),
            text => format!("{agents} `{shown}`{more}: {text}"),
        }
    });
    let mut lines: Vec<String> = lines.collect();
    let hidden: usize = measured
        .iter()
        .skip(MEASUREMENTS)
        .map(|(_, names)| names.len())
        .sum();
    if hidden > 0 {
        lines.push(counted(hidden as u64, "more agent"));
    }
    lines.join("; ")
}

/// Sorts spans and merges those that overlap.
fn joined(mut spans_ms: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans_ms.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from, to) in spans_ms {
        match joined.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => joined.push((from, to)),
        }
    }
    joined
}

fn reason(cause: Cause, spans_ms: Vec<(u64, u64)>, measured: String) -> Reason {
    Reason {
        cause,
        spans_ms,
        measured,
        remedy: cause.remedy().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(samples: u64, cores_used: f64) -> Second {
        Second {
            from_ms: 0,
            to_ms: 1_000,
            samples,
            cores_used,
            ..Second::default()
        }
    }

    #[test]
    fn agents_with_the_same_reason_stand_in_one() {
        let of = |span: (u64, u64), measured: &str| {
            reason(Cause::TooShort, vec![span], measured.to_owned())
        };
        let lost = reason(Cause::AgentLost, Vec::new(), String::new());
        let said = [
            ("a", of((0, 4), "x")),
            ("b", of((3, 6), "x")),
            ("a", lost),
            ("c", of((8, 9), "y")),
        ];
        let reasons = gathered(&said);
        let told: Vec<&str> = reasons
            .iter()
            .map(|reason| reason.measured.as_str())
            .collect();
        assert_eq!(told, ["agents `a`, `b`: x; agent `c`: y", "agent `a`"]);
        assert_eq!(reasons[0].spans_ms, [(0, 6), (8, 9)]);
        let names: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let many: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), of((0, 1), "x")))
            .collect();
        let told = &gathered(&many)[0].measured;
        assert_eq!(told, "agents `0`, `1`, `2`, `3` and 5 more: x");
    }

    #[test]
    fn seconds_of_agents_stand_side_by_side() {
        let mut generators = Generators::default();
        generators.add(10_100, &second(30, 0.5));
        assert_eq!(generators.take(2, 10_200), None, "one agent is late");
        generators.add(10_900, &second(12, 0.75));
        let both = generators.take(2, 10_950).expect("both have sent it");
        assert_eq!((both.samples, both.cores_used), (42, 1.25));
        generators.add(11_100, &second(1, 0.5));
        assert!(generators.take(2, 15_000).is_some(), "it is long over");
        assert_eq!(generators.take(2, 15_000), None);
    }
}
