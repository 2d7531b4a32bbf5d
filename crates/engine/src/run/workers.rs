//! The threads of a run: each owns one worker and serves the run's commands.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_expr::Vars;
use drumfire_results::{Handover, Inlet, Recorder};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::run::action::OnError;
use crate::run::context::{Context, Identity};
use crate::run::control::Stopping;
use crate::run::crew::{Crew, StartGroup};
use crate::run::fleet::MoveKind;
use crate::run::java::host::Java;
use crate::run::java::visit::Visit;
use crate::run::journey::BoundPlan;
use crate::run::program::Program;
use crate::run::share::Slots;
use crate::run::shared::Shared;
use crate::run::worker::Worker;

/// How often rows go to the writer.
const ROWS_TICK: Duration = Duration::from_millis(100);

/// How often the run checks whether a worker has ended.
const END_TICK: Duration = Duration::from_millis(1);

/// The parts of a worker's recorder.
pub struct RecorderParts {
    pub inlet: Inlet,
    pub handover: Arc<Handover>,
    /// Keep transaction controllers' samples from summarisers.
    pub ignore_transactions: bool,
    /// Labels of more bytes are cut in statistics (`drumfire.max_label_bytes`).
    pub label_bytes: Option<usize>,
}

/// A moment of the whole test at which elements that Java runs are notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaMoment {
    TestStarted,
    TestEnded,
}

pub enum Command {
    Start(StartGroup, Done),
    /// Other machines have these users from now on.
    Release(Slots, MoveKind),
    Java(JavaMoment, Done),
}

/// Reports, when it is dropped, that all users of a group on a worker have ended. So the report also arrives if the worker or
/// the task that starts the users panics, or if the command is never read.
pub struct Done(Sender<()>);

impl Done {
    pub fn new(sender: Sender<()>) -> Done {
        Done(sender)
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        // The receiver is gone if the run did not wait for all users.
        let _ = self.0.send(());
    }
}

pub struct Handle {
    commands: UnboundedSender<Command>,
    /// Tells the thread how many workers there are, for which it waits.
    count: Sender<usize>,
    thread: JoinHandle<()>,
}

impl Handle {
    /// Lets the worker begin, as one of this many.
    pub fn begin(&self, count: usize) {
        // Nothing can have ended the thread yet.
        let _ = self.count.send(count);
    }

    pub fn send(&self, command: Command) {
        // A worker that panicked has closed its end; the command is dropped, and the run goes on.
        let _ = self.commands.send(command);
    }

    /// Ends the worker, whose recorder hands over its last numbers. Returns `None` if the worker hangs in Java code past the
    /// deadline, if there is one; its thread is then abandoned. The error is the worker's panic. Where Java has crashed, a thread
    /// that has done its work waits for Java for ever, and is not joined.
    pub fn end(
        self,
        deadline: Option<Instant>,
        has_crashed: bool,
    ) -> Option<std::thread::Result<()>> {
        drop(self.commands);
        while let Some(deadline) = deadline
            && !self.thread.is_finished()
        {
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(END_TICK);
        }
        Some(if has_crashed {
            Ok(())
        } else {
            self.thread.join()
        })
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

/// Starts the thread of worker `index`, which waits for [`Handle::begin`].
///
/// # Errors
/// If the system has no thread for it.
pub fn start(
    index: usize,
    runtime: Runtime,
    shared: Arc<Shared>,
    plan: Arc<BoundPlan>,
    recorder: RecorderParts,
) -> std::io::Result<Handle> {
    let (commands, received) = unbounded_channel();
    let (count, counted) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name(format!("worker-{index}"))
        .spawn(move || {
            // The run does not start if the sender is gone.
            let Ok(count) = counted.recv() else { return };
            // A task of its own: the future given to `block_on` is polled whenever any task of the worker wakes.
            let serving = serve((index, count), shared, plan, recorder, received);
            let served = LocalSet::new().block_on(&runtime, async { spawn_local(serving).await });
            if let Err(error) = served
                && let Ok(panic) = error.try_into_panic()
            {
                std::panic::resume_unwind(panic);
            }
        })?;
    Ok(Handle {
        commands,
        count,
        thread,
    })
}

async fn serve(
    (index, count): (usize, usize),
    shared: Arc<Shared>,
    plan: Arc<BoundPlan>,
    recorder: RecorderParts,
    mut commands: UnboundedReceiver<Command>,
) {
    let plan = Rc::new(plan);
    let label_bytes = recorder.label_bytes;
    let mut recorder = Recorder::new(
        &recorder.inlet,
        &recorder.handover,
        recorder.ignore_transactions,
    );
    if let Some(bytes) = label_bytes {
        recorder.limit_labels(bytes);
    }
    let worker = Rc::new(Worker::new(&shared, recorder, plan.clone()));
    if index == 0 {
        let plan = plan.clone();
        spawn_local(async move {
            for preparation in &plan.preparations {
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
                    let crew = Crew::new((index, count), start, shared.clone(), worker.clone(), plan.clone());
                    spawn_local(serve_group(crew, shared.clone(), worker.clone(), done));
                }
                Some(Command::Release(slots, kind)) => worker.release(slots, kind),
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

/// Notifies Java elements before or after all users, with a separate set of variables (`StandardJMeterEngine#run`).
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

/// The variables that differ from the plan's.
fn added_variables(program: &Program, vars: &Vars) -> Vec<(String, String)> {
    let initial = program.initial_vars();
    vars.iter()
        .filter(|(name, value)| initial.get_named(name) != Some(*value))
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect()
}

/// Runs this worker's users of a group, and reports when all have ended. Hands over their rows before that, so that these
/// precede the rows of a group that starts afterwards, on whichever worker.
async fn serve_group(crew: Crew, shared: Arc<Shared>, worker: Rc<Worker>, _done: Done) {
    if let Err(error) = spawn_local(crew.serve()).await
        && let Ok(panic) = error.try_into_panic()
    {
        shared.defects.note_worker(&*panic);
    }
    worker.publish(&shared.counts, None);
}
