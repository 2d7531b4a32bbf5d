//! The coordinator: starts a run on agents at one instant, adds up their measurements, and passes them to the same
//! subscribers as a run on one machine.

mod attach;
mod collect;
mod finish;
mod gather;
mod health;
mod join;
mod lost;
mod order;
mod queue;
mod receive;
mod rejoin;
mod start;
mod steering;
mod watch;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_engine::{Clock, Control, Event, Mark, Outcome, Slots, Stopping, Subscriber};
use drumfire_expr::Random;
use drumfire_health::Verdict;
use drumfire_results::{RecentError, Recording, SummaryDelta, ThreadCounts};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::agent::runtime;
use crate::error::FleetError;
use crate::files;
use crate::keys::Signer;
use crate::link::{CALL, COORDINATOR, Link, LinkOptions};
use crate::local::Local;
use crate::merge::Merger;
use crate::select::Selection;
use crate::streamed_rows;
use crate::wire::{self, AgentEnd, Hello, Manifest, Member, PROTOCOL, RunState};

pub use attach::{BegunPlan, fetch_plan};
use gather::{Assigner, GatherNews};
pub use gather::{waiting, who};
use health::Generators;
pub use order::{FleetOrder, PlannedGroup};
use queue::QueuePlace;
use receive::Heard;
use rejoin::SharedAssigner;
use steering::Steering;
use watch::Agent;
pub use watch::OnLost;

/// How long agents may take to fetch the files and compile the plan.
const PREPARATION: Duration = Duration::from_secs(300);
/// How far ahead the start is announced: with all agents on this machine, and otherwise.
const LEAD_LOCAL: Duration = Duration::from_millis(500);
const LEAD: Duration = Duration::from_secs(2);
/// A clock with a larger error than the first gets a warning; one with a larger error than the second keeps the run from
/// starting.
const UNCERTAIN_NS: u64 = 50_000_000;
const USELESS_NS: u64 = 1_000_000_000;
/// How long to wait for the last numbers after all agents have said that they are done.
const LAST_NUMBERS: Duration = Duration::from_secs(15);
/// How long one turn of the coordinator waits for messages.
const LOOK: Duration = Duration::from_millis(25);
const TICK: Duration = Duration::from_millis(100);
/// How often the coordinator sends its state to agents.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The most failed samples in one tick.
const RECENT_ERRORS: usize = 20;

/// The outcome of a run on several machines.
#[derive(Debug)]
pub struct FleetOutcome {
    /// The run as a whole.
    pub outcome: Outcome,
    pub agents: Vec<AgentOutcome>,
}

/// The outcome of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOutcome {
    pub name: String,
    /// The number of its users.
    pub users: u64,
    /// Its samples that have arrived here.
    pub samples: u64,
    /// Its final message; `None` if it was lost.
    pub end: Option<AgentEnd>,
    /// The offset of its clock from the coordinator's and the bound of the error, in nanoseconds.
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
        link_options = LinkOptions {
            url: started.url().to_owned(),
            ..LinkOptions::default()
        };
        local = Some(started);
    }
    let linked = runtime.block_on(Link::connect(&link_options, COORDINATOR));
    let mut result = linked.and_then(|link| {
        coordinate(CoordinatorParts {
            order,
            control,
            subscribers,
            runtime: &runtime,
            link: &link,
            is_local: local.is_some(),
        })
    });
    if let Some(mut local) = local {
        match &mut result {
            Err(FleetError::Late { what, .. }) => what.push_str(&local.faults()),
            Err(FleetError::Full { folder, .. }) => *folder = Some(local.folder().to_path_buf()),
            _ => {}
        }
        local.end();
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

/// The parts that a coordinator works with.
struct CoordinatorParts<'a, 's, 'o> {
    order: &'a FleetOrder,
    control: &'a Control,
    subscribers: &'s mut [&'o mut dyn Subscriber],
    runtime: &'a Runtime,
    link: &'a Link,
    /// The agents are processes of this machine, at a server of their own.
    is_local: bool,
}

fn coordinate(mut parts: CoordinatorParts<'_, '_, '_>) -> Result<FleetOutcome, FleetError> {
    let CoordinatorParts {
        order,
        runtime,
        link,
        is_local,
        ..
    } = parts;
    let sign = order.link.sign.as_deref().filter(|_| !is_local);
    let signer = sign.map(Signer::read).transpose()?;
    let (tell, heard) = channel();
    let (begun, left_out, assigner) = match &order.attach {
        Some(run) => {
            let begun = runtime.block_on(attach::take_over(link, run))?;
            let assigner = runtime.block_on(Assigner::of(link, signer, &begun.manifest))?;
            receive_from(runtime, link, &begun.manifest.run, &tell);
            (begun, None, assigner)
        }
        None => {
            let assembled = assemble(&mut parts, signer, &tell)?;
            let manifest = &assembled.0.manifest;
            let agents = manifest.members.len().max(manifest.most as usize) as u64;
            let (run, files) = (manifest.run.clone(), order.files.clone());
            runtime.spawn(streamed_rows::serve(link.clone(), run, files, agents));
            assembled
        }
    };
    let Begun {
        manifest,
        tokens,
        joined,
        state,
    } = begun;
    let now = Instant::now();
    let members = manifest.members.iter().chain(&joined);
    let agents: Vec<Agent> = members
        .zip(&tokens)
        .map(|(member, token)| Agent::new(member, *token, now))
        .collect();
    let run = AssignedRun {
        manifest,
        agents,
        heard,
        tell_heard: tell,
        assigner: Arc::new(assigner),
    };
    let mut coordinator = Coordinator::new(parts, run);
    if let Some(text) = left_out {
        coordinator.warn(text);
    }
    match state {
        Some(state) => coordinator.resume(state)?,
        None => {
            if let Err(error) = coordinator.wait_for_ready() {
                coordinator.give_up();
                return Err(error);
            }
            coordinator.begin();
        }
    }
    while !coordinator.is_over() {
        coordinator.look(LOOK);
    }
    Ok(coordinator.finish())
}

/// Sends a state to the agents of a run, and stores it in NATS if it `keeps` it.
async fn tell(link: Link, run: String, state: RunState, keeps: bool) {
    let text = Bytes::from(wire::json(&state));
    let subject = wire::state_subject(&run);
    // A lost message is repeated, and the state is stored below.
    let _ = link.client.publish(subject, text.clone()).await;
    if keeps {
        let key = format!("{run}.state");
        let stored = tokio::time::timeout(CALL, link.runs.put(key, text)).await;
        if !matches!(stored, Ok(Ok(_))) {
            tracing::warn!("NATS could not store the state of the run");
        }
    }
}

/// A run whose agents have been chosen.
struct Begun {
    manifest: Manifest,
    /// The tokens of the agents' assignments, by index.
    tokens: Vec<u64>,
    /// The agents that joined during the run.
    joined: Vec<Member>,
    /// The state of the run, if another coordinator has begun it.
    state: Option<RunState>,
}

/// A run that its agents have been told of.
struct AssignedRun {
    manifest: Manifest,
    agents: Vec<Agent>,
    heard: Receiver<Heard>,
    tell_heard: Sender<Heard>,
    assigner: SharedAssigner,
}

/// Receives what the agents of a run send, and answers them. Returns the tasks that do so.
fn receive_from(
    runtime: &Runtime,
    link: &Link,
    run: &str,
    tell: &Sender<Heard>,
) -> [JoinHandle<()>; 3] {
    [
        runtime.spawn(receive::tell_time(link.clone(), run.to_owned())),
        runtime.spawn(receive::heartbeats(
            link.clone(),
            run.to_owned(),
            tell.clone(),
        )),
        runtime.spawn(receive::seconds(link.clone(), run.to_owned(), tell.clone())),
    ]
}

/// Chooses agents, stores the files and the manifest for them, and gives each its part. Waits again if another run gets one of
/// them first. Also returns which agents are left out.
fn assemble(
    parts: &mut CoordinatorParts<'_, '_, '_>,
    signer: Option<Signer>,
    tell: &Sender<Heard>,
) -> Result<(Begun, Option<String>, Assigner), FleetError> {
    let CoordinatorParts {
        order,
        control,
        runtime,
        link,
        ..
    } = *parts;
    let (since, mut random) = (Instant::now(), Random::from_entropy());
    let queue_place = runtime.block_on(QueuePlace::join(link, order, random.next_u64()))?;
    let mut left_out = None;
    let mut signer = signer;
    loop {
        let mut report = |news| match news {
            GatherNews::LeftOut(text) => left_out = Some(text),
            GatherNews::Waiting(line) => {
                for subscriber in parts.subscribers.iter_mut() {
                    let line = Event::Line(line.as_str().into());
                    subscriber.receive(&line, &Recording::default());
                }
            }
        };
        let is_stopped = || control.stopping();
        let choosing = gather::choose(link, order, &queue_place, &is_stopped, &mut report);
        let chosen = runtime.block_on(choosing)?;
        let files = runtime.block_on(files::offer(link, &order.files))?;
        let begun = Begun {
            manifest: manifest(order, &chosen, files, &mut random),
            tokens: chosen.iter().map(|_| random.next_u64()).collect(),
            joined: Vec::new(),
            state: None,
        };
        let assigner = runtime.block_on(Assigner::of(link, signer.take(), &begun.manifest))?;
        let tasks = receive_from(runtime, link, &begun.manifest.run, tell);
        let error = match runtime.block_on(assigner.assign(link, &begun.tokens)) {
            Ok(()) => return Ok((begun, left_out, assigner)),
            Err(error) => error,
        };
        tasks.iter().for_each(JoinHandle::abort);
        runtime.block_on(gather::call_off(link, &begun.manifest.run));
        if !matches!(error, FleetError::Busy { .. }) || since.elapsed() > order.patience {
            return Err(error);
        }
        signer = assigner.into_signer();
    }
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
        settings: order.settings.clone(),
        members: chosen
            .iter()
            .map(|hello| Member {
                name: hello.name.clone(),
                weight: hello.weight,
            })
            .collect(),
        made_ms: crate::clock::system_ms(),
        seed: random.next_u64(),
        is_each: order.is_each,
        rows: order.rows,
        is_last: order.ends_agents,
        most: order.selection.most().unwrap_or(0) as u32,
    }
}

/// A unique name for a run. Names sort in the order of the starts.
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
    tell_heard: Sender<Heard>,
    assigner: SharedAssigner,
    /// When the coordinator last looked for lost agents.
    looked: Instant,
    /// When it last looked for agents that may join, and whether one was offered a part since.
    looked_for_joining: Instant,
    is_joining: bool,
    control: &'a Control,
    subscribers: &'s mut [&'o mut dyn Subscriber],
    steering: Arc<Steering>,
    merger: Merger,
    /// The slots (users, arrivals and places) that each agent has now.
    owned: Vec<Slots>,
    state: RunState,
    /// The state as it was last sent.
    told: RunState,
    told_at: Instant,
    clock: Clock,
    started: Instant,
    /// The start, in milliseconds since the Unix epoch.
    started_ms: i64,
    ticked: Instant,
    /// When the coordinator last looked for the ends of silent agents.
    polled: Instant,
    is_local: bool,
    /// The agents' health, second by second.
    generators: Generators,
    /// The last verdict on the numbers, and when it was reached.
    judged: Option<(Instant, Arc<Verdict>)>,
    /// Data that has arrived since the last tick.
    summaries: Vec<SummaryDelta>,
    errors: Vec<RecentError>,
    /// The latest counts of each agent.
    users: Vec<ThreadCounts>,
    connections: Vec<drumfire_results::Connections>,
    marks: Vec<Mark>,
    warned: HashSet<String>,
    faults: Vec<String>,
    /// Since when all remaining agents are done.
    done_at: Option<Instant>,
}

impl<'a, 's, 'o> Coordinator<'a, 's, 'o> {
    fn new(parts: CoordinatorParts<'a, 's, 'o>, run: AssignedRun) -> Coordinator<'a, 's, 'o> {
        let CoordinatorParts {
            order,
            control,
            subscribers,
            runtime,
            link,
            is_local,
        } = parts;
        let AssignedRun {
            manifest,
            agents,
            heard,
            tell_heard,
            assigner,
        } = run;
        let clock = Clock::start();
        let steering = Steering::attach(control, clock, order);
        let mut owned = watch::slots(&manifest.shares());
        let period = owned.first().map(Slots::period).unwrap_or(1);
        owned.resize(agents.len(), Slots::new(period, Vec::new()));
        let (count, now) = (agents.len(), Instant::now());
        Coordinator {
            owned,
            merger: Merger::new(count),
            users: vec![ThreadCounts::default(); count],
            connections: vec![Default::default(); count],
            state: RunState {
                rate: 1.0,
                is_redistributed: order.on_lost == OnLost::Redistribute,
                ..RunState::default()
            },
            told: RunState::default(),
            told_at: now,
            started: now,
            started_ms: clock.start_ms(),
            ticked: now,
            polled: now,
            is_local,
            generators: Generators::default(),
            judged: None,
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
            tell_heard,
            assigner,
            looked: now,
            looked_for_joining: now,
            is_joining: false,
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

    /// Warns of something, once.
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
        agent.map(|agent| agent.name.clone()).unwrap_or_default()
    }

    /// Sends the state to agents if it has changed, if a heartbeat is due, or `always`.
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
        self.runtime.spawn(tell(link, run, state, is_new || always));
    }

    /// Tells agents that the run is over. Waits until NATS has the message, since this process may end next.
    fn end_for_agents(&mut self) {
        self.state.is_over = true;
        self.state.revision += 1;
        self.told = self.state.clone();
        let (link, run) = (self.link.clone(), self.manifest.run.clone());
        self.runtime
            .block_on(tell(link, run, self.state.clone(), true));
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

    /// One turn: handles messages, checks on the agents, and informs subscribers.
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
        self.look_for_lost();
        self.look_for_joining();
        self.share_with_joined(now_ms);
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

    /// Passes on orders, from the user to the agents and from the plan to the control.
    fn steer(&mut self) {
        // A fenced agent has lost its users to others and must end, so its stop does not count.
        let is_fenced = |agent: &&Agent| self.state.fenced.contains(&agent.token);
        let others = self.agents.iter().filter(|agent| !is_fenced(agent));
        let by_plan = others.map(|agent| agent.state.stopping).max();
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
}
