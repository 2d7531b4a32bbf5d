//! Passes the messages of agents on to the subscribers while the run goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_engine::{Event, Tick};
use drumfire_results::{Connections, Increment, SummaryDelta, ThreadCounts};

use super::receive::Heard;
use super::{Coordinator, LAST_NUMBERS, RECENT_ERRORS};
use crate::files;
use crate::wire::{self, Batch, LogLevel, LogLine, Stage};

/// The most ends of agents that one turn reads.
const ENDS_AT_ONCE: usize = 16;
/// An agent that is silent for this long may have delivered everything and ended, without its last state being heard.
const MAY_HAVE_ENDED: Duration = Duration::from_secs(2);

impl Coordinator<'_, '_, '_> {
    /// Handles the messages of agents. Waits at most `patience` for the first one.
    pub(super) fn listen(&mut self, patience: Duration) {
        let mut next = self.heard.recv_timeout(patience).ok();
        while let Some(heard) = next {
            match heard {
                Heard::State(index, state) => self.hear_state(index, *state),
                Heard::Batch(index, batch) => self.hear_batch(index, *batch),
                Heard::Rejoined(index, token) => self.rejoin(index, token),
                Heard::Joined(joined) => self.join(joined),
                Heard::Damaged(index, why) => {
                    let name = self.name(index);
                    self.warn(format!(
                        "agent `{name}` sent a message that cannot be read: {why}"
                    ));
                }
            }
            next = self.heard.try_recv().ok();
        }
    }

    pub(super) fn hear_state(&mut self, index: u32, state: wire::AgentState) {
        let (now, now_ms) = (Instant::now(), self.clock.now_ms());
        let users = state.users;
        let Some(agent) = self.agents.get_mut(index as usize) else {
            return;
        };
        if agent.token != state.token {
            return;
        }
        let faults = state.faults.clone();
        let is_running = state.stage != Stage::Refused;
        let news = agent.hear(index, state, now, now_ms);
        self.users[index as usize] = users;
        for fault in faults.iter().filter(|_| is_running) {
            let name = self.name(index);
            self.warn(format!("agent `{name}`: {fault}"));
        }
        if let Some(news) = news {
            self.react(&news);
        }
    }

    pub(super) fn hear_batch(&mut self, index: u32, batch: Batch) {
        let is_known = self
            .agents
            .get(index as usize)
            .is_some_and(|agent| agent.token == batch.token);
        if !is_known || !self.merger.is_new(index, batch.sequence) {
            return;
        }
        let name = self.name(index);
        for bytes in &batch.increments {
            match Increment::decode(bytes) {
                Ok(increment) => self.merger.add(index, increment),
                Err(error) => self.warn(format!("agent `{name}`: {error}")),
            }
        }
        for (backend, bytes) in &batch.heard {
            if let Ok(increment) = Increment::decode(bytes) {
                self.tell(&Event::Heard(*backend, Arc::new(increment)));
            }
        }
        let missing = batch.summaries.len().saturating_sub(self.summaries.len());
        self.summaries
            .extend(std::iter::repeat_n(SummaryDelta::EMPTY, missing));
        for (all, its) in self.summaries.iter_mut().zip(&batch.summaries) {
            all.merge(its);
        }
        self.errors.extend(batch.errors);
        let surplus = self.errors.len().saturating_sub(RECENT_ERRORS);
        self.errors.drain(..surplus);
        self.users[index as usize] = batch.users;
        self.connections[index as usize] = batch.connections;
        let (started_ms, seconds) = (batch.started_ms, batch.seconds);
        self.note_health(index as usize, started_ms, seconds, batch.verdict);
        for line in &batch.log {
            log(&name, line);
        }
        for line in batch.lines {
            self.tell(&Event::Line(format!("[{name}] {line}").into()));
        }
        for warning in batch.warnings {
            self.warn(format!("agent `{name}`: {warning}"));
        }
        // All agents go through the same phases, so the first agent's marks suffice. Marks ordered here are
        // already there.
        if index == 0 {
            for (at_ms, text) in batch.marks {
                if !self.marks.iter().any(|mark| mark.text == text) {
                    self.mark(at_ms, text);
                }
            }
        }
    }

    /// Reads the outcome of agents that have delivered everything.
    pub(super) fn take_ends(&mut self) {
        let polls = self.polled.elapsed() > MAY_HAVE_ENDED && self.is_connected();
        if polls {
            self.polled = Instant::now();
        }
        let mut left = ENDS_AT_ONCE;
        for index in 0..self.agents.len() {
            let agent = &self.agents[index];
            let may_have_ended = polls && agent.silence(Instant::now()) > MAY_HAVE_ENDED;
            let is_done = agent.state.stage == Stage::Delivered || may_have_ended;
            if !is_done || agent.end.is_some() {
                continue;
            }
            if left == 0 {
                // The next turns read the others.
                return;
            }
            left -= 1;
            let name = wire::end_name(&self.manifest.run, index as u32, "end");
            let stored_end = self.runtime.block_on(files::end(self.link, &name));
            let end: Option<wire::AgentEnd> = stored_end
                .ok()
                .flatten()
                .and_then(|bytes| wire::of_json(&bytes).ok());
            if agent.state.stage != Stage::Delivered {
                // Rows arrive after the end. A lost agent may never deliver them.
                let has_rows = end.as_ref().is_some_and(|end| end.has_rows);
                let awaits_rows = has_rows
                    && !agent.is_lost()
                    && self.manifest.rows == wire::RowHandling::Collect
                    && !self.has_rows(index);
                if end.is_none() || awaits_rows {
                    continue;
                }
            }
            self.agents[index].state.stage = Stage::Delivered;
            self.agents[index].end = end;
            self.merger.set_over(index as u32, true);
        }
    }

    fn is_connected(&self) -> bool {
        self.link.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Whether NATS has the rows of an agent.
    fn has_rows(&self, index: usize) -> bool {
        let name = wire::end_name(&self.manifest.run, index as u32, "rows");
        self.runtime.block_on(files::has_end(self.link, &name))
    }

    pub(super) fn tick(&mut self, at_ms: i64) {
        let sum = |of: fn(&ThreadCounts) -> u64| self.users.iter().map(of).sum();
        let users = ThreadCounts {
            active: sum(|users| users.active),
            started: sum(|users| users.started),
            finished: sum(|users| users.finished),
        };
        let (second, verdict) = (self.take_second(at_ms), self.live_verdict(at_ms));
        let connections = self.connections.iter().copied();
        let tick = Tick {
            at_ms,
            elapsed: self.started.elapsed(),
            users,
            labels: self.merger.labels(),
            summaries: self.summaries.iter_mut().map(std::mem::take).collect(),
            recent_errors: std::mem::take(&mut self.errors),
            connections: connections.fold(Default::default(), Connections::plus),
            writer: Default::default(),
            stopping: self.control.state(),
            paused: self.control.is_paused(),
            rate: self.control.rate(),
            second,
            verdict,
            agents: self.agent_ticks(),
        };
        self.tell(&Event::Tick(Arc::new(tick)));
    }

    /// Whether everything that can be expected has arrived.
    pub(super) fn is_over(&mut self) -> bool {
        let mut is_whole = true;
        for (index, agent) in (0..).zip(&self.agents) {
            if agent.is_lost() || agent.state.stage == Stage::Refused {
                continue;
            }
            if !agent.is_done() {
                return false;
            }
            let last = agent.end.as_ref().map(|end| end.sequence);
            is_whole &= last.is_some_and(|last| self.merger.sequence(index) >= last);
        }
        let since = *self.done_at.get_or_insert_with(Instant::now);
        is_whole || since.elapsed() > LAST_NUMBERS
    }
}

/// Writes a line of an agent's log to the coordinator's log.
fn log(agent: &str, line: &LogLine) {
    let LogLine {
        level,
        category,
        text,
    } = line;
    match level {
        LogLevel::Trace => tracing::trace!(category, "[{agent}] {text}"),
        LogLevel::Debug => tracing::debug!(category, "[{agent}] {text}"),
        LogLevel::Info => tracing::info!(category, "[{agent}] {text}"),
        LogLevel::Warning => tracing::warn!(category, "[{agent}] {text}"),
        LogLevel::Error => tracing::error!(category, "[{agent}] {text}"),
    }
}
