//! The coordinator: starts a run on agents at one instant, adds up what they measure, and hands it to the same subscribers
//! that hear a run on one machine.

mod finish;
mod gather;
mod receive;
mod steering;
mod watch;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_engine::{
    Clock, Control, Event, Mark, Outcome, Share, Slots, Started, Stopping, Subscriber, Tick,
};
use drumfire_expr::Random;
use drumfire_results::{Increment, RecentError, SummaryDelta, ThreadCounts};
use tokio::runtime::Runtime;

use crate::agent::runtime;
use crate::error::FleetError;
use crate::files::{self, PlanFile};
use crate::link::{CALL, Link, LinkOptions};
use crate::local::Local;
use crate::merge::Merger;
use crate::select::Selection;
use crate::wire::{
    self, AgentEnd, Batch, Hello, Manifest, Member, PROTOCOL, Rows, RunState, Stage,
};

pub use gather::who;
use receive::Heard;
use steering::Steering;
pub use watch::OnLost;
use watch::{Agent, News};

/// How long agents may take to bring the files and compile the plan.
const PREPARATION: Duration = Duration::from_secs(300);
/// How long before the start it is told: on one machine, and elsewhere.
const LEAD_LOCAL: Duration = Duration::from_millis(500);
const LEAD: Duration = Duration::from_secs(2);
/// Clocks that are less certain are told of; and those that keep a run from starting.
const UNCERTAIN_NS: u64 = 50_000_000;
const USELESS_NS: u64 = 1_000_000_000;
/// How long the last numbers of an agent may take after it has said that it is done.
const LAST_NUMBERS: Duration = Duration::from_secs(15);
/// How often the coordinator looks at everything.
const LOOK: Duration = Duration::from_millis(25);
const TICK: Duration = Duration::from_millis(100);
/// How often agents hear the coordinator.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Failed samples that are told with one tick.
const RECENT_ERRORS: usize = 20;

/// A thread group of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedGroup {
    pub name: String,
    /// Its users follow from its arrivals.
    pub has_arrivals: bool,
}

/// A run on several machines.
#[derive(Clone, Debug)]
pub struct FleetOrder {
    pub link: LinkOptions,
    pub selection: Selection,
    /// How long to wait for agents.
    pub patience: Duration,
    /// The plan, from the folder of the files on.
    pub plan: String,
    pub files: Vec<PlanFile>,
    pub properties: Vec<(String, String)>,
    pub system: Vec<(String, String)>,
    /// The names of the properties that the command line sets.
    pub given: Vec<String>,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    pub on_lost: OnLost,
    pub rows: Rows,
    /// Where collected rows go.
    pub results: Option<PathBuf>,
    pub groups: Vec<PlannedGroup>,
    pub planned_users: u64,
    pub planned_ms: Option<u64>,
    /// Agents end after this run.
    pub ends_agents: bool,
    /// Runs although clocks are uncertain by more than a second.
    pub allows_skew: bool,
}

/// How a run on several machines went.
#[derive(Debug)]
pub struct FleetOutcome {
    /// The run as a whole.
    pub outcome: Outcome,
    pub agents: Vec<AgentOutcome>,
}

/// How it went on one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOutcome {
    pub name: String,
    /// Samples that have arrived here.
    pub samples: u64,
    /// What it said in the end; none if it was lost.
    pub end: Option<AgentEnd>,
    /// How far its clock was from the coordinator's and how wrong that may be, in nanoseconds.
    pub offset_ns: i64,
    pub bound_ns: u64,
    /// How late it started, in microseconds.
    pub late_us: u64,
}

/// Runs a plan on agents, to its end.
///
/// # Errors
/// Why the run did not start.
pub fn run(
    order: &FleetOrder,
    control: &Control,
    subscribers: &mut [&mut dyn Subscriber],
) -> Result<FleetOutcome, FleetError> {
    let runtime = runtime()?;
    let (mut link_options, mut local) = (order.link.clone(), None);
    if let Selection::Local(agents) = order.selection {
        let started = Local::start(agents)?;
        link_options.url = started.url().to_owned();
        local = Some(started);
    }
    let link = runtime.block_on(Link::connect(&link_options, "coordinator"))?;
    let mut result = coordinate(
        order,
        control,
        subscribers,
        &runtime,
        &link,
        local.is_some(),
    );
    if let Some(mut local) = local {
        if let Err(FleetError::Late { what, .. }) = &mut result {
            what.push_str(&local.faults());
        }
        local.end();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

fn coordinate(
    order: &FleetOrder,
    control: &Control,
    subscribers: &mut [&mut dyn Subscriber],
    runtime: &Runtime,
    link: &Link,
    is_local: bool,
) -> Result<FleetOutcome, FleetError> {
    let mut left_out = None;
    let mut told = |text| left_out = Some(text);
    let choosing = gather::choose(link, &order.selection, order.patience, &mut told);
    let chosen = runtime.block_on(choosing)?;
    let files = runtime.block_on(files::offer(link, &order.files))?;
    let mut random = Random::from_entropy();
    let manifest = manifest(order, &chosen, files, &mut random);
    let tokens: Vec<u64> = chosen.iter().map(|_| random.next_u64()).collect();
    let (tell, heard) = channel();
    let run = manifest.run.clone();
    runtime.spawn(receive::tell_time(link.clone(), run.clone()));
    runtime.spawn(receive::heartbeats(link.clone(), run.clone(), tell.clone()));
    runtime.spawn(receive::seconds(link.clone(), run, tell));
    runtime.block_on(gather::assign(link, &manifest, &tokens))?;
    let now = Instant::now();
    let named = chosen.into_iter().zip(tokens);
    let agents: Vec<Agent> = named
        .map(|(hello, token)| Agent::new(hello.name, token, now))
        .collect();
    let mut coordinator = Coordinator::new(
        order,
        manifest,
        agents,
        runtime,
        link,
        heard,
        control,
        subscribers,
    );
    coordinator.is_local = is_local;
    if let Some(text) = left_out {
        coordinator.warn(text);
    }
    if let Err(error) = coordinator.wait_for_ready() {
        coordinator.give_up();
        return Err(error);
    }
    coordinator.begin();
    while !coordinator.is_over() {
        coordinator.look(LOOK);
    }
    Ok(coordinator.finish())
}

fn manifest(
    order: &FleetOrder,
    chosen: &[Hello],
    files: Vec<wire::FileEntry>,
    random: &mut Random,
) -> Manifest {
    Manifest {
        protocol: PROTOCOL,
        run: run_id(random),
        plan: order.plan.clone(),
        files,
        properties: order.properties.clone(),
        system: order.system.clone(),
        given: order.given.clone(),
        members: chosen
            .iter()
            .map(|hello| Member {
                name: hello.name.clone(),
                weight: hello.weight,
            })
            .collect(),
        seed: random.next_u64(),
        is_each: order.is_each,
        rows: order.rows,
        is_last: order.ends_agents,
    }
}

/// A name for a run that no other has, in the order of their starts.
fn run_id(random: &mut Random) -> String {
    format!(
        "{:011x}{:08x}",
        crate::clock::system_ms(),
        random.next_u64() as u32
    )
}

struct Coordinator<'a, 's, 'o> {
    order: &'a FleetOrder,
    manifest: Manifest,
    agents: Vec<Agent>,
    runtime: &'a Runtime,
    link: &'a Link,
    heard: Receiver<Heard>,
    control: &'a Control,
    subscribers: &'s mut [&'o mut dyn Subscriber],
    steering: Arc<Steering>,
    merger: Merger,
    /// The users, arrivals and places of each agent, as they are now.
    owned: Vec<Slots>,
    state: RunState,
    /// The state as it was last told.
    told: RunState,
    told_at: Instant,
    clock: Clock,
    started: Instant,
    ticked: Instant,
    is_local: bool,
    /// What came since the last tick.
    summaries: Vec<SummaryDelta>,
    errors: Vec<RecentError>,
    /// The latest of each agent.
    users: Vec<ThreadCounts>,
    connections: Vec<drumfire_results::Connections>,
    marks: Vec<Mark>,
    warned: HashSet<String>,
    faults: Vec<String>,
    /// When all that are left had said that they are done.
    done_at: Option<Instant>,
}

impl<'a, 's, 'o> Coordinator<'a, 's, 'o> {
    #[expect(clippy::too_many_arguments, reason = "each is a part of the run")]
    fn new(
        order: &'a FleetOrder,
        manifest: Manifest,
        agents: Vec<Agent>,
        runtime: &'a Runtime,
        link: &'a Link,
        heard: Receiver<Heard>,
        control: &'a Control,
        subscribers: &'s mut [&'o mut dyn Subscriber],
    ) -> Coordinator<'a, 's, 'o> {
        let clock = Clock::start();
        let steering = Steering::attach(control, clock, &order.groups);
        let weights: Vec<u32> = manifest
            .members
            .iter()
            .map(|member| member.weight)
            .collect();
        let shares = Share::of_weights(&weights, manifest.seed);
        let (count, now) = (agents.len(), Instant::now());
        Coordinator {
            owned: watch::slots(&shares),
            merger: Merger::new(count),
            users: vec![ThreadCounts::default(); count],
            connections: vec![Default::default(); count],
            state: RunState {
                rate: 1.0,
                ..RunState::default()
            },
            told: RunState::default(),
            told_at: now,
            started: now,
            ticked: now,
            is_local: false,
            summaries: Vec::new(),
            errors: Vec::new(),
            marks: Vec::new(),
            warned: HashSet::new(),
            faults: Vec::new(),
            done_at: None,
            order,
            manifest,
            agents,
            runtime,
            link,
            heard,
            control,
            subscribers,
            steering,
            clock,
        }
    }

    fn tell(&mut self, event: &Event) {
        for subscriber in self.subscribers.iter_mut() {
            subscriber.receive(event, self.merger.recording());
        }
    }

    /// Tells something once.
    fn warn(&mut self, text: String) {
        if self.warned.insert(text.clone()) {
            tracing::warn!("{text}");
            self.tell(&Event::Warning(text.into()));
        }
    }

    fn mark(&mut self, at_ms: i64, text: String) {
        let mark = Mark { at_ms, text };
        self.marks.push(mark.clone());
        self.tell(&Event::Mark(mark));
    }

    fn name(&self, agent: u32) -> String {
        let agent = self.agents.get(agent as usize);
        agent.map_or_else(String::new, |agent| agent.name.clone())
    }

    /// Waits until every agent has compiled the plan.
    fn wait_for_ready(&mut self) -> Result<(), FleetError> {
        let since = Instant::now();
        loop {
            self.listen(LOOK);
            let refused = self
                .agents
                .iter()
                .filter(|agent| agent.state.stage == Stage::Refused);
            let lines = refused.flat_map(|agent| {
                let faults = agent.state.faults.iter();
                faults.map(|fault| format!("agent `{}`: {fault}", agent.name))
            });
            let lines: Vec<String> = lines.collect();
            if !lines.is_empty() {
                return Err(FleetError::Refused(lines));
            }
            let late = self
                .agents
                .iter()
                .filter(|agent| agent.state.stage < Stage::Ready);
            let late: Vec<&str> = late.map(|agent| agent.name.as_str()).collect();
            if late.is_empty() {
                break;
            }
            let silent = self
                .agents
                .iter()
                .find(|agent| agent.silence(Instant::now()) > watch::LOST);
            if silent.is_some() || since.elapsed() > PREPARATION {
                let late = silent.map_or_else(|| late.join("`, `"), |agent| agent.name.clone());
                return Err(FleetError::Late {
                    what: format!("agent `{late}` to get ready"),
                    waited: since.elapsed(),
                    remedy: "look at its terminal, or take other agents",
                });
            }
            if self.control.stopping() {
                return Err(FleetError::Other("stopped before the start".to_owned()));
            }
        }
        self.check_clocks()
    }

    fn check_clocks(&mut self) -> Result<(), FleetError> {
        for agent in self.agents.clone() {
            let (name, bound_ns) = (&agent.name, agent.state.bound_ns);
            let bound_ms = bound_ns / 1_000_000;
            if bound_ns > USELESS_NS && !self.order.allows_skew {
                return Err(FleetError::Other(format!(
                    "the clock of agent `{name}` is known only to within {bound_ms} ms; look at the network, or pass `--allow-skew`"
                )));
            }
            if bound_ns > UNCERTAIN_NS {
                self.warn(format!(
                    "the clock of agent `{name}` is known only to within {bound_ms} ms"
                ));
            }
            for warning in agent.state.warnings {
                self.warn(warning);
            }
        }
        Ok(())
    }

    /// The run does not start: agents are told to forget it.
    fn give_up(&mut self) {
        (self.state.stopping, self.state.is_over) = (Stopping::Now, true);
        self.push_state(true);
    }

    /// All agents are ready: setUp thread groups run, then all start at one instant.
    fn begin(&mut self) {
        let names = self.order.groups.iter().map(|group| group.name.clone());
        let started = Started {
            at_ms: self.clock.start_ms(),
            groups: names.collect(),
            planned_users: self.order.planned_users,
            planned_ms: self.order.planned_ms,
        };
        self.tell(&Event::Started(Arc::new(started)));
        self.push_state(true);
    }

    /// Tells agents the state, if it has changed or `always`.
    fn push_state(&mut self, always: bool) {
        let is_new = self.state != self.told;
        if !is_new && !always && self.told_at.elapsed() < HEARTBEAT {
            return;
        }
        if is_new || always {
            self.state.revision += 1;
            self.told = self.state.clone();
        }
        self.told_at = Instant::now();
        let mut state = self.state.clone();
        state.active = self.active_users();
        let (link, run) = (self.link.clone(), self.manifest.run.clone());
        let keeps = is_new || always;
        self.runtime.spawn(async move {
            let text = Bytes::from(wire::json(&state));
            let subject = wire::state_subject(&run);
            // What is lost is repeated, and kept below.
            let _ = link.client.publish(subject, text.clone()).await;
            if keeps {
                let key = format!("{run}.state");
                let kept = tokio::time::timeout(CALL, link.runs.put(key, text)).await;
                if !matches!(kept, Ok(Ok(_))) {
                    tracing::warn!("NATS does not keep the state of the run");
                }
            }
        });
    }

    fn active_users(&self) -> (Vec<u32>, u32) {
        let mut groups = vec![0_u32; self.order.groups.len()];
        for agent in self.agents.iter().filter(|agent| !agent.is_lost()) {
            for (all, its) in groups.iter_mut().zip(&agent.state.groups) {
                *all = all.saturating_add(*its);
            }
        }
        let all = groups
            .iter()
            .fold(0, |all: u32, users| all.saturating_add(*users));
        (groups, all)
    }

    /// Takes what agents have said, waiting for the first for this long.
    fn listen(&mut self, patience: Duration) {
        let mut next = self.heard.recv_timeout(patience).ok();
        while let Some(heard) = next {
            match heard {
                Heard::State(index, state) => self.hear_state(index, *state),
                Heard::Batch(index, batch) => self.hear_batch(index, *batch),
                Heard::Damaged(index, why) => {
                    let name = self.name(index);
                    self.warn(format!(
                        "agent `{name}` says something that cannot be read: {why}"
                    ));
                }
            }
            next = self.heard.try_recv().ok();
        }
    }

    fn hear_state(&mut self, index: u32, state: wire::AgentState) {
        let (now, now_ms) = (Instant::now(), self.clock.now_ms());
        let users = state.users;
        let Some(agent) = self.agents.get_mut(index as usize) else {
            return;
        };
        if agent.token != state.token {
            return;
        }
        let news = agent.hear(index, state, now, now_ms);
        self.users[index as usize] = users;
        if let Some(news) = news {
            self.react(&news);
        }
    }

    fn hear_batch(&mut self, index: u32, batch: Batch) {
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
        for line in batch.lines {
            self.tell(&Event::Line(format!("[{name}] {line}").into()));
        }
        for warning in batch.warnings {
            self.warn(format!("agent `{name}`: {warning}"));
        }
        // All agents have the same phases, and what was ordered here is marked here.
        if index == 0 {
            for (at_ms, text) in batch.marks {
                if !self.marks.iter().any(|mark| mark.text == text) {
                    self.mark(at_ms, text);
                }
            }
        }
    }

    fn react(&mut self, news: &News) {
        let now_ms = self.clock.now_ms();
        match *news {
            News::Suspected(index) => {
                let name = self.name(index);
                let seconds = watch::SUSPECTED.as_secs();
                self.warn(format!("agent `{name}` has been silent for {seconds} s"));
            }
            News::Back(index) => {
                let name = self.name(index);
                self.merger.set_over(index, false);
                self.mark(now_ms, format!("agent `{name}` is back"));
                self.warn(format!("agent `{name}` is back at {}", clock_text(now_ms)));
            }
            News::Lost(index) => self.lose(index, now_ms),
        }
    }

    fn lose(&mut self, index: u32, now_ms: i64) {
        let name = self.name(index);
        let users = self.users[index as usize].active;
        self.merger.set_over(index, true);
        let mut then = match self.order.on_lost {
            OnLost::Continue => "the others go on".to_owned(),
            OnLost::Stop => {
                self.control.shutdown_soon();
                "the run ends".to_owned()
            }
            OnLost::Redistribute => {
                let alive: Vec<u32> = (0..)
                    .zip(&self.agents)
                    .filter(|(_, agent)| !agent.is_lost() && !agent.is_done())
                    .map(|(index, _)| index)
                    .collect();
                let takeovers = watch::redistribute(&mut self.owned, index, &alive, now_ms);
                let taken: Vec<String> = takeovers.iter().map(|to| self.name(to.agent)).collect();
                self.state.takeovers.extend(takeovers);
                self.state.fenced.push(self.agents[index as usize].token);
                format!("its users go to `{}`", taken.join("`, `"))
            }
        };
        if self.state.start_ms.is_none() {
            self.control.shutdown_soon();
            then = "the run ends, since it has not started".to_owned();
        }
        self.mark(now_ms, format!("agent `{name}` lost"));
        self.warn(format!(
            "agent `{name}` lost at {}, {users} users; {then}",
            clock_text(now_ms)
        ));
    }

    /// One turn: hears agents, looks after them, and tells subscribers.
    fn look(&mut self, patience: Duration) {
        self.listen(patience);
        let (now, now_ms) = (Instant::now(), self.clock.now_ms());
        for index in 0..self.agents.len() {
            let news = self.agents[index].look(index as u32, now, now_ms);
            if let Some(news) = news {
                self.react(&news);
            }
        }
        self.steer();
        self.advance(now_ms);
        self.push_state(false);
        self.take_ends();
        while let Some(increment) = self.merger.post(Some(now_ms)) {
            self.tell(&Event::Increment(increment));
        }
        if self.ticked.elapsed() >= TICK {
            self.ticked = now;
            self.tick(now_ms);
        }
    }

    /// Brings what was ordered here to the agents.
    fn steer(&mut self) {
        let by_plan = self.agents.iter().map(|agent| agent.state.stopping).max();
        match by_plan.unwrap_or_default() {
            Stopping::No => {}
            Stopping::Shutdown if !self.control.stopping() => self.control.shutdown(),
            Stopping::Now => self.control.stop_now(),
            Stopping::Shutdown => {}
        }
        for Mark { at_ms, text } in self.control.take_marks() {
            self.mark(at_ms, text);
        }
        self.state.orders.extend(self.steering.take());
        self.state.stopping = self.control.state();
        self.state.is_hurried = self.control.is_hurried();
        self.state.is_paused = self.control.is_paused();
        self.state.rate = self.control.rate();
    }

    /// Starts the main thread groups, and those of tearDown, when all agents are there.
    fn advance(&mut self, now_ms: i64) {
        let others = |stage: Stage, first: usize| {
            let agents = self.agents.iter().skip(first);
            let mut there = agents.filter(|agent| !agent.is_lost());
            there.all(|agent| agent.state.stage >= stage || agent.is_done())
        };
        if self.state.start_ms.is_none() {
            if others(Stage::AtStart, 0) {
                let lead = if self.is_local { LEAD_LOCAL } else { LEAD };
                let slowest = self.agents.iter().map(|agent| agent.state.bound_ns).max();
                let way = Duration::from_nanos(slowest.unwrap_or(0).saturating_mul(20));
                let start_ms = now_ms + lead.max(way).as_millis() as i64;
                self.state.start_ms = Some(start_ms);
                self.state.properties = self.agents[0].state.properties.clone();
                tracing::info!(
                    "{} agents have begun run {}",
                    self.agents.len(),
                    self.manifest.run
                );
            }
        } else if self.state.tear_down_ms.is_none() && others(Stage::AtEnd, 1) {
            self.state.tear_down_ms = Some(now_ms);
        }
    }

    /// Takes what agents that have delivered everything say of the run.
    fn take_ends(&mut self) {
        for index in 0..self.agents.len() {
            let agent = &self.agents[index];
            if agent.state.stage != Stage::Delivered || agent.end.is_some() {
                continue;
            }
            let name = format!("{}.{index}.end", self.manifest.run);
            let found = self.runtime.block_on(files::end(self.link, &name));
            let end = found
                .ok()
                .flatten()
                .and_then(|bytes| wire::of_json(&bytes).ok());
            self.agents[index].end = end;
            self.merger.set_over(index as u32, true);
        }
    }

    fn tick(&mut self, at_ms: i64) {
        let sum = |of: fn(&ThreadCounts) -> u64| self.users.iter().map(of).sum();
        let users = ThreadCounts {
            active: sum(|users| users.active),
            started: sum(|users| users.started),
            finished: sum(|users| users.finished),
        };
        let connections = self.connections.iter().copied();
        let tick = Tick {
            at_ms,
            elapsed: self.started.elapsed(),
            users,
            labels: self.merger.labels(),
            summaries: self.summaries.iter_mut().map(std::mem::take).collect(),
            recent_errors: std::mem::take(&mut self.errors),
            connections: connections.fold(Default::default(), drumfire_results::Connections::plus),
            writer: Default::default(),
            stopping: self.control.state(),
            paused: self.control.is_paused(),
            rate: self.control.rate(),
            second: None,
            verdict: None,
        };
        self.tell(&Event::Tick(Arc::new(tick)));
    }

    /// Whether everything has come that will come.
    fn is_over(&mut self) -> bool {
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

/// A time of day, for people.
fn clock_text(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1000).rem_euclid(86_400);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60)
}
