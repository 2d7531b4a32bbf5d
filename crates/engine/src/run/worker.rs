//! One worker: an operating system thread with a runtime of its own, which owns its users, connections and recorder.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_expr::{Random, Vars};
use drumfire_health::Segments;
use drumfire_results::{Connections, Handover, Inlet, Recorder};
use drumfire_web::charset::Charset;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::run::action::OnError;
use crate::run::alarm::Alarms;
use crate::run::context::{Context, Identity};
use crate::run::control::Stopping;
use crate::run::java::{Java, Visit};
use crate::run::program::Program;
use crate::run::room::Room;
use crate::run::shared::{Counts, Shared};
use crate::run::stages::Stages;
use crate::run::supply::Crew;

/// How often rows go to the writer.
const ROWS_TICK: Duration = Duration::from_millis(100);

/// How often an ending worker is looked at.
const END_TICK: Duration = Duration::from_millis(1);

/// What all users of a worker share.
pub struct Worker {
    /// Who needs it for a while holds the worker: where all cores counted who has the program, each would wait for the others.
    pub program: Arc<Program>,
    pub recorder: RefCell<Recorder>,
    /// Wakes users that wait when the run is told to stop.
    pub stop: Arc<Notify>,
    /// Wakes who waits for other orders: a pause that ends, more or fewer users.
    pub orders: Arc<Notify>,
    /// Wakes those that start users when a script stops some.
    pub told: Notify,
    pub http: Rc<drumfire_http::Worker>,
    pub addresses: crate::elements::samplers::http::Addresses,
    pub calls: crate::elements::samplers::http::Calls,
    pub heads: crate::elements::samplers::http::Heads,
    /// What responses say of their bodies.
    pub media_type: crate::elements::samplers::http::MediaType,
    /// Of bodies whose response names none (`sampleresult.default.encoding`); none is UTF-8.
    pub default_charset: Option<Rc<Charset>>,
    pub alarms: Rc<Alarms>,
    pub room: Room,
    /// Where the time of samples goes.
    pub stages: Stages,
    /// The users' tasks. All are woken when the run is told to stop, so whatever they wait for need not be told of it.
    tasks: RefCell<Tasks>,
    seeds: RefCell<Random>,
    /// Users that are to end, by thread group.
    surplus: RefCell<HashMap<usize, usize>>,
    has_surplus: Cell<bool>,
    /// What the run's numbers have of this worker's connections.
    connections: Cell<Connections>,
    /// What the verdict has of their TCP segments.
    segments: Cell<Segments>,
    /// How long users were in Java code, as far as the run's numbers do not have it yet.
    in_scripts: Cell<Duration>,
    /// The thread was made one that the system wakes without delay.
    is_prompt: Cell<bool>,
}

#[derive(Default)]
struct Tasks {
    places: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// The place of a user's task among those of its worker.
pub struct Enlisted {
    worker: Rc<Worker>,
    place: usize,
}

impl Enlisted {
    /// Enlists the task that awaits this.
    pub async fn here(worker: Rc<Worker>) -> Enlisted {
        let waker = std::future::poll_fn(|cx| std::task::Poll::Ready(cx.waker().clone())).await;
        let mut tasks = worker.tasks.borrow_mut();
        let place = match tasks.free.pop() {
            Some(place) => {
                tasks.places[place] = Some(waker);
                place
            }
            None => {
                tasks.places.push(Some(waker));
                tasks.places.len() - 1
            }
        };
        drop(tasks);
        Enlisted { worker, place }
    }
}

impl Drop for Enlisted {
    fn drop(&mut self) {
        let mut tasks = self.worker.tasks.borrow_mut();
        let waker = tasks.places[self.place].take();
        tasks.free.push(self.place);
        drop(tasks);
        drop(waker);
    }
}

impl Worker {
    pub fn new(shared: &Shared, recorder: Recorder) -> Worker {
        let bell = shared.control.join();
        Worker {
            program: shared.program.clone(),
            recorder: RefCell::new(recorder),
            stop: bell.stop,
            orders: bell.orders,
            surplus: RefCell::default(),
            has_surplus: Cell::new(false),
            http: crate::elements::samplers::http::new_worker(&shared.properties, &shared.tls),
            addresses: Default::default(),
            calls: Default::default(),
            heads: Default::default(),
            media_type: Default::default(),
            default_charset: shared
                .properties
                .get("sampleresult.default.encoding")
                .and_then(|name| Charset::find(&name))
                .map(Rc::new),
            alarms: Alarms::new(),
            room: Room::default(),
            stages: Stages::default(),
            tasks: RefCell::default(),
            seeds: RefCell::new(Random::from_entropy()),
            told: Notify::new(),
            connections: Cell::default(),
            segments: Cell::default(),
            in_scripts: Cell::default(),
            is_prompt: Cell::new(false),
        }
    }

    /// Records how late a wait ended that was to end at `due`: the generator's own delay.
    pub fn record_lateness(&self, due: Instant) {
        let late_us = due.elapsed().as_micros() as u64;
        self.recorder.borrow_mut().record_lateness(late_us);
    }

    /// Users of this worker keep a schedule: from now on it is not to stand behind other threads when something is due. Where
    /// users only ask as often as they can that would cost throughput.
    pub fn keep_schedules(&self) {
        if !self.is_prompt.replace(true) {
            drumfire_http::take_short_turns();
        }
    }

    /// A call of Java code took so long.
    pub fn note_script(&self, took: Duration) {
        self.in_scripts.set(self.in_scripts.get() + took);
    }

    /// So many users of a group are to end after their samples at hand. Those that sleep end now.
    pub fn set_surplus(&self, group: usize, users: usize) {
        let mut surplus = self.surplus.borrow_mut();
        surplus.insert(group, users);
        let any = surplus.values().any(|users| *users > 0);
        drop(surplus);
        self.has_surplus.set(any);
        if users > 0 {
            self.wake_tasks();
        }
    }

    /// Whether a user of the group is one that is to end; then there is one less to end.
    pub fn take_surplus(&self, group: usize) -> bool {
        if !self.has_surplus.get() {
            return false;
        }
        match self.surplus.borrow_mut().get_mut(&group) {
            Some(users) if *users > 0 => {
                *users -= 1;
                true
            }
            _ => false,
        }
    }

    /// Hands over what was recorded, and what became of connections, since the last time; without a time, what belongs to
    /// the second at hand, too.
    fn publish(&self, counts: &Counts, now_ms: Option<i64>) {
        counts.script(self.in_scripts.take());
        let mut recorder = self.recorder.borrow_mut();
        match now_ms {
            Some(now_ms) => recorder.flush(now_ms),
            None => recorder.flush_all(),
        }
        let http = self.http.statistics();
        let now = Connections {
            opened: http.connections_opened,
            reused: http.connections_reused,
            handshakes_full: http.handshakes_full,
            handshakes_resumed: http.handshakes_resumed,
            closed_by_us: http.closed_by_us,
            closed_by_peer: http.closed_by_peer,
        };
        let segments = Segments {
            sent: http.segments_sent,
            sent_again: http.segments_sent_again,
        };
        let counted = self.segments.replace(segments);
        counts.segments_sent(Segments {
            sent: segments.sent - counted.sent,
            sent_again: segments.sent_again - counted.sent_again,
        });
        let then = self.connections.replace(now);
        if now != then {
            counts.asked(self.http.targets(), &self.http.local_ports());
            recorder.add_connections(now.since(then));
        }
    }

    fn wake_tasks(&self) {
        for waker in self.tasks.borrow().places.iter().flatten() {
            waker.wake_by_ref();
        }
    }

    pub fn new_random(&self) -> Random {
        Random::from_seed(self.seeds.borrow_mut().next_u64())
    }
}

/// Starts the users of a thread group that belong to this worker.
#[derive(Clone, Debug)]
pub struct StartGroup {
    pub group: usize,
    /// The group's number in its phase, from 1, as thread names show it.
    pub number: usize,
    pub at_ms: i64,
}

/// What a worker's recorder is made of.
pub struct RecorderParts {
    pub inlet: Inlet,
    pub handover: Arc<Handover>,
    /// Keep transaction controllers' samples from summarisers.
    pub ignore_transactions: bool,
}

/// When elements that Java runs are told of the whole test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaMoment {
    TestStarted,
    TestEnded,
}

pub enum Command {
    Start(StartGroup, Done),
    Java(JavaMoment, Done),
}

/// Says that a group's users on a worker have all ended, when it is dropped: so it is said too if the worker or the task
/// that starts the users panics, or if nobody reads the command.
pub struct Done(Sender<()>);

impl Done {
    pub fn new(sender: Sender<()>) -> Done {
        Done(sender)
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        // Nobody listens any more when the run did not wait for all users.
        let _ = self.0.send(());
    }
}

pub struct Handle {
    commands: UnboundedSender<Command>,
    thread: JoinHandle<()>,
}

impl Handle {
    pub fn send(&self, command: Command) {
        // A worker that panicked has closed its end; the command is dropped, and the run goes on.
        let _ = self.commands.send(command);
    }

    /// Ends the worker; its recorder hands over what it has. `None` if it hangs in Java code past the deadline, if there is
    /// one: then it is left to itself. What it panicked with is the error.
    pub fn end(self, deadline: Option<Instant>) -> Option<std::thread::Result<()>> {
        drop(self.commands);
        while let Some(deadline) = deadline
            && !self.thread.is_finished()
        {
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(END_TICK);
        }
        Some(self.thread.join())
    }
}

/// The event loops of up to `count` workers: fewer if the system refuses more of them.
///
/// # Errors
/// If it refuses even the first.
pub fn runtimes(count: usize) -> std::io::Result<(Vec<Runtime>, Option<std::io::Error>)> {
    let mut made = Vec::with_capacity(count);
    while made.len() < count {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => made.push(runtime),
            Err(error) if made.is_empty() => return Err(error),
            Err(error) => return Ok((made, Some(error))),
        }
    }
    Ok((made, None))
}

/// Starts worker `index` of `count`; without its users, if the system has no thread for it.
pub fn start(
    (index, count): (usize, usize),
    runtime: Runtime,
    shared: Arc<Shared>,
    recorder: RecorderParts,
) -> Option<Handle> {
    let (commands, received) = unbounded_channel();
    let own = shared.clone();
    let thread = std::thread::Builder::new()
        .name(format!("worker-{index}"))
        .spawn(move || {
            let set = LocalSet::new();
            set.block_on(&runtime, serve(index, count, own, recorder, received));
        });
    match thread {
        Ok(thread) => Some(Handle { commands, thread }),
        Err(error) => {
            let text = format!("worker {index} has no thread: {error}");
            shared.defects.note_worker(&text);
            None
        }
    }
}

async fn serve(
    index: usize,
    count: usize,
    shared: Arc<Shared>,
    recorder: RecorderParts,
    mut commands: UnboundedReceiver<Command>,
) {
    let worker = Rc::new(Worker::new(
        &shared,
        Recorder::new(
            &recorder.inlet,
            &recorder.handover,
            recorder.ignore_transactions,
        ),
    ));
    if index == 0 {
        let program = shared.program.clone();
        spawn_local(async move {
            for preparation in &program.preparations {
                preparation.prepare().await;
            }
        });
    }
    let alarms = spawn_local(worker.alarms.clone().serve());
    let orders = shared.orders.join();
    let mut rows = tokio::time::interval(ROWS_TICK);
    let mut state = Stopping::No;
    loop {
        let told = worker.stop.notified();
        let now = shared.control.state();
        if std::mem::replace(&mut state, now) != now {
            worker.wake_tasks();
        }
        tokio::select! {
            command = commands.recv() => match command {
                Some(Command::Start(start, done)) => {
                    let crew = Crew::new(index, count, start, shared.clone(), worker.clone());
                    spawn_local(serve_group(crew, shared.clone(), worker.clone(), done));
                }
                Some(Command::Java(moment, _done)) => tell_java(&shared, &worker, moment),
                None => break,
            },
            due = rows.tick() => {
                let late = tokio::time::Instant::now().saturating_duration_since(due);
                shared
                    .loop_late_us
                    .fetch_max(late.as_micros() as u64, Ordering::Relaxed);
                worker.publish(&shared.counts, Some(shared.clock.now_ms()));
            }
            () = told => {}
            () = orders.notified() => {
                worker.wake_tasks();
                worker.told.notify_waiters();
            }
        }
    }
    alarms.abort();
    worker.publish(&shared.counts, None);
    shared.stages.add(&worker.stages);
}

/// What Java elements do before and after all users, with variables of their own (`StandardJMeterEngine#run`).
fn tell_java(shared: &Arc<Shared>, worker: &Rc<Worker>, moment: JavaMoment) {
    let Java::Host(host) = &shared.program.settings.java else {
        return;
    };
    let identity = Identity {
        thread_name: "StandardJMeterEngine".into(),
        group_name: "".into(),
        group: 0,
        number: 0,
        same_user: true,
        on_error: OnError::Continue,
        end_ms: None,
        interrupted_at_end: false,
    };
    let mut cx = Context::new(shared, worker, identity);
    let starts = moment == JavaMoment::TestStarted;
    let told = host.test_state(&mut Visit::new(&mut cx), starts);
    if starts {
        let outcome = told
            .map(|()| added_variables(&shared.program, &cx.vars))
            .map_err(|raised| raised.to_string());
        let first = shared.java_start.set(outcome);
        debug_assert!(first.is_ok(), "a test starts once");
    }
}

/// The variables that are not as the plan has them.
fn added_variables(program: &Program, vars: &Vars) -> Vec<(String, String)> {
    let initial = program.initial_vars();
    vars.iter()
        .filter(|(name, value)| initial.get_named(name) != Some(*value))
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect()
}

/// Runs this worker's users of a group, and says when all have ended. Their rows are handed over before that, so that they
/// stand before those of a group that starts afterwards, whichever worker it has.
async fn serve_group(crew: Crew, shared: Arc<Shared>, worker: Rc<Worker>, _done: Done) {
    if let Err(error) = spawn_local(crew.serve()).await
        && let Ok(panic) = error.try_into_panic()
    {
        shared.defects.note_worker(&*panic);
    }
    worker.publish(&shared.counts, None);
}
