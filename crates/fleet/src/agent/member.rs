//! An agent as a member of a run: the coordinator's state as the agent knows it, and the agent's
//! own state.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drumfire_engine::{
    Control, Fleet, GroupPhase, Lease, LeaseError, LeaseRequest, Move, MoveKind, RowsRequest,
    Slots, StartGate, Stopping,
};
use drumfire_expr::Properties;
use drumfire_results::{GroupUsers, ThreadCounts};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::agent::outbox::Spool;
use crate::leases::{self, PATIENCE};
use crate::link::Link;
use crate::streamed_rows as rows;
use crate::wire::{self, AgentState, CoordinatorOrder, RowsQuestion, RunState, Stage};

/// If a block has more places than this, the agent requests the next block as soon as it has taken this one.
const AHEAD: u64 = 16;
/// After this long without a message from the coordinator, an agent acts on its own.
pub const SILENCE: Duration = Duration::from_secs(30);
/// How long an agent that was told to end waits for the coordinator to say until when it runs.
const LEAVE: Duration = Duration::from_secs(2);
/// How long it goes on, so that others know in time when they take over.
const HANDOVER: Duration = Duration::from_secs(1);
/// How long users may take to end their iteration when others have taken over.
const LINGER: Duration = Duration::from_secs(2);
/// How often it looks whether the coordinator has.
const LOOK: Duration = Duration::from_millis(25);
/// How long the coordinator's count of users on all machines remains valid.
const FRESH: Duration = Duration::from_secs(3);

type Coming = Receiver<Result<Lease, LeaseError>>;
type ComingRows = Receiver<Result<String, LeaseError>>;

/// An agent in a run.
pub struct Member {
    pub run: String,
    pub index: u32,
    pub token: u64,
    agents: u64,
    is_again: bool,
    is_each: bool,
    has_joined: bool,
    /// The users, arrivals and places that it has after all known takeovers.
    slots: Mutex<Slots>,
    streamed: Vec<String>,
    folder: PathBuf,
    /// Rows that have been requested, and how many requests there were, by element.
    rows: Mutex<HashMap<String, (u64, Option<ComingRows>)>>,
    pub spool: Spool,
    pub control: Control,
    link: Link,
    runtime: Handle,
    state: Mutex<Known>,
    own: Mutex<AgentState>,
    /// Notified when the agent's own state has changed.
    pub news: Notify,
    /// Blocks that have been requested.
    ahead: Mutex<HashMap<String, Coming>>,
    /// Elements whose first block has been taken.
    begun: Mutex<HashSet<String>>,
    /// The properties as they were before the first user.
    before: Mutex<Option<BTreeMap<String, Arc<str>>>>,
    groups: Mutex<Vec<String>>,
    /// Since when NATS has had no room for seconds.
    full: Mutex<Option<Instant>>,
    /// When it gives its users away; the highest number without such a time.
    leaves_ms: AtomicI64,
}

/// The coordinator's last state, and how far the agent has carried it out.
#[derive(Debug)]
struct Known {
    state: RunState,
    heard: Instant,
    /// The number of orders and takeovers that have been carried out.
    orders: usize,
    takeovers: usize,
    has_properties: bool,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("run", &self.run)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

/// The agent's place in a run: its index, and how many agents there are.
#[derive(Clone, Debug)]
pub struct AgentSeat {
    pub run: String,
    pub index: u32,
    pub token: u64,
    /// Whether another agent with this index has taken part before.
    pub is_again: bool,
    pub agents: u64,
    pub is_each: bool,
    /// The users, arrivals and places that it has at first.
    pub slots: Slots,
    /// Whether it came later than others.
    pub has_joined: bool,
    /// The paths of files whose rows the coordinator sends, in the manifest's words.
    pub streamed: Vec<String>,
    /// The folder of the plan.
    pub folder: PathBuf,
}

impl Member {
    pub fn new(seat: AgentSeat, link: Link, runtime: Handle) -> Member {
        Member {
            run: seat.run,
            index: seat.index,
            token: seat.token,
            agents: seat.agents,
            is_again: seat.is_again,
            is_each: seat.is_each,
            has_joined: seat.has_joined,
            slots: Mutex::new(seat.slots),
            streamed: seat.streamed,
            folder: seat.folder,
            rows: Mutex::default(),
            spool: Spool::default(),
            control: Control::default(),
            link,
            runtime,
            state: Mutex::new(Known {
                state: RunState {
                    rate: 1.0,
                    ..RunState::default()
                },
                heard: Instant::now(),
                orders: 0,
                takeovers: 0,
                has_properties: false,
            }),
            own: Mutex::new(AgentState {
                token: seat.token,
                ..AgentState::default()
            }),
            news: Notify::new(),
            ahead: Mutex::default(),
            begun: Mutex::default(),
            before: Mutex::default(),
            groups: Mutex::default(),
            full: Mutex::default(),
            leaves_ms: AtomicI64::new(i64::MAX),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The coordinator's last state.
    pub fn state(&self) -> RunState {
        self.known().state.clone()
    }

    /// How long the coordinator has been silent.
    pub fn silence(&self) -> Duration {
        self.known().heard.elapsed()
    }

    /// The agent's own state.
    pub fn own(&self) -> AgentState {
        self.own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes the agent's own state and sends it.
    pub fn say(&self, change: impl FnOnce(&mut AgentState)) {
        change(&mut self.own.lock().unwrap_or_else(PoisonError::into_inner));
        self.news.notify_one();
    }

    /// Hands the agent's part over, because the agent was told to end: tells the coordinator, goes on until the time that the
    /// coordinator names, and then lets users finish their samples.
    pub fn leave(self: &Arc<Member>) {
        // It chooses the moment itself, so that it stops then even if messages are late: nobody else starts its users before.
        let leaves_ms = self.now_ms() + HANDOVER.as_millis() as i64;
        let leaves_ms = Some(leaves_ms).filter(|_| self.state().is_redistributed);
        self.leaves_ms
            .store(leaves_ms.unwrap_or(i64::MAX), Ordering::Release);
        self.say(|own| (own.is_leaving, own.leaves_ms) = (true, leaves_ms));
        let member = self.clone();
        self.runtime.spawn(async move {
            let asked = Instant::now();
            while asked.elapsed() < LEAVE {
                let state = member.state();
                let until = state
                    .leaving
                    .iter()
                    .find(|(token, _)| *token == member.token);
                if let Some((_, until_ms)) = until {
                    let left_ms = u64::try_from(until_ms - member.now_ms()).unwrap_or(0);
                    tokio::time::sleep(Duration::from_millis(left_ms)).await;
                    let mut takeovers = state.takeovers.iter();
                    if takeovers.any(|to| to.from_ms == *until_ms) {
                        member.last_users_end().await;
                    }
                    break;
                }
                tokio::time::sleep(LOOK).await;
            }
            member.control.shutdown_soon();
        });
    }

    /// Waits until the users have ended whose part others have: those that came for an arrival end their iteration.
    async fn last_users_end(&self) {
        let since = Instant::now();
        // The number of users is that of the last tick.
        tokio::time::sleep(LOOK * 8).await;
        while since.elapsed() < LINGER && self.own().users.active > 0 {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Whether the agent was told to end.
    pub fn is_leaving(&self) -> bool {
        self.own().is_leaving
    }

    fn note(&self, change: impl FnOnce(&mut AgentState)) {
        change(&mut self.own.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes that NATS has no room for seconds, or has room again. The coordinator is told once.
    pub fn note_full(&self, fault: Option<String>) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(fault) = fault else {
            *full = None;
            return;
        };
        if full.is_none() {
            *full = Some(Instant::now());
            drop(full);
            self.say(|own| {
                if !own.faults.contains(&fault) {
                    own.faults.push(fault);
                }
            });
        }
    }

    /// How long NATS has had no room for seconds.
    pub fn full_for(&self) -> Duration {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        full.map(|since| since.elapsed()).unwrap_or(Duration::ZERO)
    }

    pub fn note_sequence(&self, sequence: u64) {
        self.note(|own| own.sequence = sequence);
    }

    pub fn note_groups(&self, groups: &[String]) {
        *self.groups.lock().unwrap_or_else(PoisonError::into_inner) = groups.to_vec();
        self.note(|own| own.groups = vec![0; groups.len()]);
    }

    pub fn note_users(&self, users: &[GroupUsers]) {
        self.note(|own| {
            for group in users {
                if let Some(running) = own.groups.get_mut(group.group as usize) {
                    let all = u64::from(*running) + group.started;
                    *running = all.saturating_sub(group.ended) as u32;
                }
            }
        });
    }

    pub fn note_tick(&self, users: ThreadCounts, samples: u64, stopping: Stopping) {
        // The others go on when this agent leaves.
        let stopping = if self.is_leaving() {
            Stopping::No
        } else {
            stopping
        };
        let has_stopped = stopping > self.own().stopping;
        self.note(|own| {
            (own.users, own.samples) = (users, samples);
            own.stopping = own.stopping.max(stopping);
        });
        if has_stopped {
            self.news.notify_one();
        }
    }

    /// Takes a new state from the coordinator and carries it out.
    pub fn hear(&self, state: RunState) {
        let mut shared = self.known();
        shared.heard = Instant::now();
        if state.revision < shared.state.revision {
            return;
        }
        let orders: Vec<CoordinatorOrder> =
            state.orders.iter().skip(shared.orders).cloned().collect();
        let before = std::mem::replace(&mut shared.state, state.clone());
        // Orders wait until the run has begun.
        let has_begun = !self
            .groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty();
        if has_begun {
            shared.orders = state.orders.len();
        }
        drop(shared);
        self.obey(&state);
        if has_begun {
            orders.iter().for_each(|order| self.carry_out(order));
        }
        if before.revision != state.revision {
            self.news.notify_one();
        }
    }

    fn obey(&self, state: &RunState) {
        let control = &self.control;
        if state.fenced.contains(&self.token) {
            control.stop_now();
        }
        if state.stopping > control.state() {
            match state.stopping {
                Stopping::Now => control.stop_now(),
                _ if state.is_hurried => control.shutdown_soon(),
                _ => control.shutdown(),
            }
        }
        match (state.is_paused, control.is_paused()) {
            (true, false) => control.pause(),
            (false, true) => control.resume(),
            _ => {}
        }
        if state.rate != control.rate()
            && let Err(error) = control.set_rate(state.rate)
        {
            tracing::warn!("{error}");
        }
    }

    fn carry_out(&self, order: &CoordinatorOrder) {
        let groups = self
            .groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let done = match order {
            CoordinatorOrder::Users { group, users } => match groups.get(*group) {
                Some(name) => self.control.set_users(name, *users),
                None => Ok(()),
            },
            CoordinatorOrder::Property { name, value } => self.control.set_property(name, value),
        };
        if let Err(error) = done {
            tracing::warn!("{error}");
        }
    }

    /// Stores the properties as they are before the first user.
    pub fn note_properties(&self, properties: &Properties) {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        *before = Some(properties.snapshot());
    }

    /// The properties that have changed since before the first user.
    fn changed_properties(&self, properties: &Properties) -> Vec<(String, String)> {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = &*before else {
            return Vec::new();
        };
        let now = properties.snapshot();
        let changed = now
            .iter()
            .filter(|(name, value)| before.get(*name) != Some(value));
        changed
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }

    fn main_gate(&self, properties: &Properties) -> StartGate {
        if self.own().stage < Stage::AtStart {
            let set = match self.index {
                0 => self.changed_properties(properties),
                _ => Vec::new(),
            };
            self.say(|own| (own.stage, own.properties) = (Stage::AtStart, set));
        }
        let mut shared = self.known();
        let takeovers = &shared.state.takeovers;
        let has_part = !self.has_joined || takeovers.iter().any(|to| to.agent == self.index);
        let Some(start_ms) = shared.state.start_ms.filter(|_| has_part) else {
            drop(shared);
            if self.silence() > SILENCE {
                self.control.stop_now();
            }
            return StartGate::Closed;
        };
        if !std::mem::replace(&mut shared.has_properties, true) && self.index > 0 {
            for (name, value) in &shared.state.properties {
                properties.set(name, value.as_str());
            }
        }
        drop(shared);
        if self.own().stage < Stage::Running {
            // An agent that learns of the start too late begins at once.
            let late_ms = if self.has_joined {
                0
            } else {
                (self.now_ms() - start_ms).max(0)
            };
            let late_us = late_ms as u64 * 1000;
            self.say(|own| (own.stage, own.late_us) = (Stage::Running, late_us));
        }
        StartGate::OpensAt(start_ms)
    }

    /// Milliseconds since the Unix epoch, by the coordinator's clock.
    pub fn now_ms(&self) -> i64 {
        let offset_ns = self.own().offset_ns;
        (crate::clock::system_ns() + offset_ns) / 1_000_000
    }

    /// Requests the next block. The block arrives on the returned channel.
    fn ask(&self, request: &LeaseRequest<'_>) -> Coming {
        let (tell, coming) = channel();
        let (element, length) = (request.element.to_owned(), request.length);
        let is_recycled = request.is_recycled;
        let (link, run, agents) = (self.link.clone(), self.run.clone(), self.agents);
        self.runtime.spawn(async move {
            let request = LeaseRequest {
                element: &element,
                length,
                is_recycled,
            };
            let lease = leases::take(&link.runs, &run, &request, agents).await;
            // The receiver is gone if the run has ended.
            let _ = tell.send(lease);
        });
        coming
    }
}

impl Member {
    /// The manifest's words for a file whose rows the coordinator sends.
    fn streamed(&self, file: &Path) -> Option<&String> {
        let file = std::path::absolute(file).ok()?;
        let mut streamed = self.streamed.iter();
        streamed.find(|path| self.folder.join(path).components().eq(file.components()))
    }

    /// Requests rows. They arrive on the returned channel.
    fn ask_rows(&self, request: &RowsRequest<'_>, sequence: u64) -> ComingRows {
        let (tell, coming) = channel();
        let reading = &request.reading;
        let question = RowsQuestion {
            token: self.token,
            sequence,
            element: request.element.to_owned(),
            file: self.streamed(request.file).cloned().unwrap_or_default(),
            encoding: reading.encoding.clone(),
            is_quoted: reading.is_quoted,
            skips_first_line: reading.skips_first_line,
            is_recycled: reading.is_recycled,
        };
        let subject = wire::rows_subject(&self.run, self.index);
        let link = self.link.clone();
        self.runtime.spawn(async move {
            // The receiver is gone if the run has ended.
            let _ = tell.send(rows::ask(&link, subject, &question).await);
        });
        coming
    }
}

impl Fleet for Member {
    fn has_rows_of(&self, file: &Path) -> bool {
        self.streamed(file).is_some()
    }

    fn rows(&self, request: &RowsRequest<'_>) -> Result<String, LeaseError> {
        let all = || self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let (sequence, asked) = all().remove(request.element).unwrap_or_default();
        let (sequence, coming) = match asked {
            Some(coming) => (sequence, coming),
            None => (sequence + 1, self.ask_rows(request, sequence + 1)),
        };
        let rows = coming
            .recv_timeout(PATIENCE + PATIENCE / 4)
            .unwrap_or_else(|_| {
                Err(LeaseError {
                    element: request.element.to_owned(),
                    tried: None,
                })
            });
        let next = match &rows {
            Ok(rows) if !rows.is_empty() => {
                let next = self.ask_rows(request, sequence + 1);
                (sequence + 1, Some(next))
            }
            _ => (sequence, None),
        };
        all().insert(request.element.to_owned(), next);
        rows
    }

    fn gate(&self, phase: GroupPhase, properties: &Properties) -> StartGate {
        match phase {
            GroupPhase::Main => self.main_gate(properties),
            GroupPhase::TearDown => {
                if self.own().stage < Stage::AtEnd {
                    self.say(|own| own.stage = Stage::AtEnd);
                }
                let shared = self.known();
                let has_time = shared.state.tear_down_ms.is_some();
                let leads = shared.state.tear_down_by == self.index;
                drop(shared);
                let waits = leads && !self.is_each && !has_time;
                if waits && self.silence() < SILENCE {
                    StartGate::Closed
                } else {
                    StartGate::OpensAt(0)
                }
            }
        }
    }

    fn lease(&self, request: &LeaseRequest<'_>) -> Result<Lease, LeaseError> {
        let ahead = || self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = begun.insert(request.element.to_owned()) && !self.is_again;
        drop(begun);
        let lease = if is_first {
            leases::first(request, self.agents, u64::from(self.index))
        } else {
            let asked = ahead().remove(request.element);
            let coming = asked.unwrap_or_else(|| self.ask(request));
            coming
                .recv_timeout(PATIENCE + PATIENCE / 4)
                .map_err(|_| LeaseError {
                    element: request.element.to_owned(),
                    tried: None,
                })??
        };
        if lease.end - lease.start > AHEAD {
            let next = self.ask(request);
            ahead().insert(request.element.to_owned(), next);
        }
        Ok(lease)
    }

    fn tears_down(&self, _: bool) -> bool {
        self.is_each || self.known().state.tear_down_by == self.index
    }

    fn active_users(&self, group: Option<usize>) -> Option<u32> {
        let shared = self.known();
        let (groups, all) = &shared.state.active;
        if shared.heard.elapsed() > FRESH || *all == 0 {
            return None;
        }
        match group {
            Some(group) => groups.get(group).copied().filter(|users| *users > 0),
            None => Some(*all),
        }
    }

    fn begun(&self, late: Duration) {
        let late_us = late.as_micros() as u64;
        self.note(|own| own.late_us = own.late_us.max(late_us));
    }

    fn leaves_ms(&self) -> Option<i64> {
        let leaves_ms = self.leaves_ms.load(Ordering::Acquire);
        Some(leaves_ms).filter(|leaves_ms| *leaves_ms != i64::MAX)
    }

    fn take_moves(&self) -> Vec<Move> {
        let mut shared = self.known();
        let all = shared.state.takeovers.len();
        let first = std::mem::replace(&mut shared.takeovers, all);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let new = shared.state.takeovers.iter().skip(first);
        let leaves_ms = self.own().leaves_ms.filter(|_| !slots.is_empty());
        let leave = leaves_ms.map(|from_ms| {
            let none = Slots::new(slots.period(), Vec::new());
            let all = std::mem::replace(&mut *slots, none);
            Move {
                slots: all,
                from_ms,
                kind: MoveKind::Leave,
            }
        });
        let moves = new.filter_map(|takeover| {
            let taken = Slots::new(takeover.period, takeover.remainders.clone());
            let (taken, kind) = match (takeover.agent == self.index, takeover.is_shared) {
                (true, true) => (taken, MoveKind::Receive),
                (true, false) => (taken, MoveKind::Inherit),
                (false, true) => (slots.shared_with(&taken), MoveKind::Release),
                (false, false) => (slots.shared_with(&taken), MoveKind::Leave),
            };
            *slots = match kind {
                MoveKind::Release | MoveKind::Leave => slots.without(&taken),
                MoveKind::Receive | MoveKind::Inherit => slots.with(&taken),
            };
            (!taken.is_empty()).then_some(Move {
                slots: taken,
                from_ms: takeover.from_ms,
                kind,
            })
        });
        leave.into_iter().chain(moves).collect()
    }
}
