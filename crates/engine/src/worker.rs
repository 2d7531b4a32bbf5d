//! One worker: an operating system thread with a runtime of its own, which owns its users, connections and recorder.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_expr::Random;
use drumfire_results::{Connections, Inlet, Live, Recorder};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::alarm::Alarms;
use crate::control::Stopping;
use crate::run::Shared;
use crate::supply::{Crew, Pool};

/// How often rows go to the writer.
const ROWS_TICK: Duration = Duration::from_millis(100);

/// What all users of a worker share.
pub struct Worker {
    pub recorder: RefCell<Recorder>,
    /// Wakes users that wait when the run is told to stop.
    pub stop: Arc<Notify>,
    pub http: Rc<drumfire_http::Worker>,
    pub addresses: crate::elements::samplers::http::Addresses,
    pub alarms: Rc<Alarms>,
    /// The users' tasks. All are woken when the run is told to stop, so whatever they wait for need not be told of it.
    tasks: RefCell<Tasks>,
    seeds: RefCell<Random>,
    /// Users that wait for an arrival, by thread group.
    pools: RefCell<HashMap<usize, Pool>>,
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
        Worker {
            recorder: RefCell::new(recorder),
            stop: shared.control.join(),
            http: crate::elements::samplers::http::new_worker(&shared.properties, &shared.tls),
            addresses: Default::default(),
            alarms: Alarms::new(),
            tasks: RefCell::default(),
            seeds: RefCell::new(Random::from_entropy()),
            pools: RefCell::default(),
        }
    }

    /// Records how late a wait ended that was to end at `due`: the generator's own delay.
    pub fn record_lateness(&self, due: Instant) {
        let late_us = due.elapsed().as_micros() as u64;
        self.recorder.borrow_mut().record_lateness(late_us);
    }

    fn wake_tasks(&self) {
        for waker in self.tasks.borrow().places.iter().flatten() {
            waker.wake_by_ref();
        }
    }

    /// Does something with the pool of a thread group's users.
    pub fn pool<T>(&self, group: usize, act: impl FnOnce(&mut Pool) -> T) -> T {
        act(self.pools.borrow_mut().entry(group).or_default())
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
pub struct Ledger {
    pub inlet: Inlet,
    pub live: Arc<Live>,
    /// Keep transaction controllers' samples from summarisers.
    pub ignore_transactions: bool,
}

pub enum Command {
    Start(StartGroup),
}

pub struct Handle {
    commands: UnboundedSender<Command>,
    thread: JoinHandle<()>,
}

impl Handle {
    pub fn send(&self, command: Command) {
        // A worker that panicked has closed its end; the run sees that in its results.
        let _ = self.commands.send(command);
    }

    /// Ends the worker; its recorder hands over what it has.
    pub fn end(self) {
        drop(self.commands);
        if self.thread.join().is_err() {
            tracing::error!("a worker panicked");
        }
    }
}

/// Starts worker `index` of `count`.
pub fn start(
    index: usize,
    count: usize,
    shared: Arc<Shared>,
    recorder: Ledger,
    done: Sender<usize>,
) -> Handle {
    let (commands, received) = unbounded_channel();
    let thread = std::thread::Builder::new()
        .name(format!("worker-{index}"))
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            match runtime {
                Ok(runtime) => {
                    let set = LocalSet::new();
                    set.block_on(
                        &runtime,
                        serve(index, count, shared, recorder, received, done),
                    );
                }
                Err(error) => tracing::error!("worker {index} cannot start: {error}"),
            }
        })
        .expect("the system can start a thread per core");
    Handle { commands, thread }
}

async fn serve(
    index: usize,
    count: usize,
    shared: Arc<Shared>,
    recorder: Ledger,
    mut commands: UnboundedReceiver<Command>,
    done: Sender<usize>,
) {
    let worker = Rc::new(Worker::new(
        &shared,
        Recorder::new(
            &recorder.inlet,
            &recorder.live,
            recorder.ignore_transactions,
        ),
    ));
    let alarms = spawn_local(worker.alarms.clone().serve());
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
                Some(Command::Start(start)) => {
                    let group = start.group;
                    let crew = Crew::new(index, count, start, shared.clone(), worker.clone());
                    spawn_local(serve_group(crew, group, done.clone()));
                }
                None => break,
            },
            due = rows.tick() => {
                let late = tokio::time::Instant::now().saturating_duration_since(due);
                shared
                    .loop_late_us
                    .fetch_max(late.as_micros() as u64, Ordering::Relaxed);
                worker.recorder.borrow_mut().flush();
            }
            () = told => {}
        }
    }
    alarms.abort();
    let http = worker.http.statistics();
    let mut recorder = worker.recorder.borrow_mut();
    recorder.flush();
    recorder.add_connections(Connections {
        opened: http.connections_opened,
        reused: http.connections_reused,
        handshakes_full: http.handshakes_full,
        handshakes_resumed: http.handshakes_resumed,
        closed_by_us: http.closed_by_us,
        closed_by_peer: http.closed_by_peer,
    });
}

/// Runs this worker's users of a group, and says when all have ended.
async fn serve_group(crew: Crew, group: usize, done: Sender<usize>) {
    crew.serve().await;
    let _ = done.send(group);
}
