//! An agent: waits for work, runs its part of a plan and delivers the numbers.

mod leave;
mod member;
mod outbox;
mod part;
mod presence;
mod talk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use drumfire_engine::{BoundPlan, Share};
use drumfire_platform::causes::cause;
use drumfire_platform::words::counted;
use tokio::runtime::{Builder, Runtime};

pub use self::leave::{AgentStanding, Leave};
use self::part::PartSurroundings;
use self::presence::Presence;
use crate::error::FleetError;
use crate::keys;
use crate::link::{Link, LinkOptions};
use crate::log_queue::LogQueue;
use crate::wire::{Hello, PlanSettings};

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    pub link: LinkOptions,
    /// Its description of itself.
    pub hello: Hello,
    /// The folder for the files of plans and for runs.
    pub cache: PathBuf,
    /// Its own JMeter properties, which override those of a run.
    pub properties: Vec<(String, String)>,
    /// Its own system properties, which override those of a run.
    pub system: Vec<(String, String)>,
    /// Public keys of the coordinators whose plans it runs. Without any, it runs only plans from this machine.
    pub trust: Vec<String>,
    /// The queue in which lines of its log wait for the coordinator.
    pub log: Arc<LogQueue>,
    /// Worker threads; 0 is one per core.
    pub workers: usize,
    /// The order to end.
    pub leave: Leave,
}

/// The plan that an agent is to compile.
#[derive(Clone, Debug)]
pub struct PlanOrder {
    pub plan: PathBuf,
    /// The settings of the run; properties that this agent was started with come last.
    pub settings: PlanSettings,
    /// This agent's name.
    pub agent: String,
    /// The file for rows of results.
    pub results: Option<PathBuf>,
    pub share: Share,
}

/// A compiled plan with its warnings, or everything that is wrong with it on this machine, in lines for the user.
pub type CompiledPart = Result<(BoundPlan, Vec<String>), Vec<String>>;

/// The functions of the program that an agent calls.
#[derive(Clone, Copy)]
pub struct AgentWork<'w> {
    /// Compiles a plan.
    pub compile: &'w dyn Fn(&PlanOrder) -> CompiledPart,
    /// Waits for threads that scripts of the plan have started.
    pub await_threads: fn(),
}

/// A runtime with one thread for NATS. The thread is independent of the run's threads.
pub(crate) fn runtime() -> Result<Runtime, FleetError> {
    let built = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("fleet")
        .enable_all()
        .build();
    built.map_err(|error| {
        FleetError::Other(format!("a thread cannot be started: {}", cause(&error)))
    })
}

/// How a run on this agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Whether the coordinator wants the agent to end.
    pub is_last: bool,
}

/// Waits for one run and takes part in it. Calls `told` with lines for the user.
///
/// # Errors
/// If NATS cannot be reached, or something that the run needs does not arrive in time.
pub fn serve(
    options: &AgentOptions,
    work: &AgentWork<'_>,
    told: &mut dyn FnMut(&str),
) -> Result<Served, FleetError> {
    let runtime = runtime()?;
    let name = &options.hello.name;
    if options.trust.is_empty() && !options.link.is_loopback() {
        return Err(FleetError::Unfit(
            "plans can run programs, so agents accept plans from other machines only if they are signed; pass `--trust KEY` with the key that `drumfire fleet init` writes".to_owned(),
        ));
    }
    let mut login = options.link.clone();
    login.user = Some(name.clone());
    let link = runtime.block_on(Link::connect(&login, name))?;
    let mut presence = runtime.block_on(Presence::begin(&link, options))?;
    told(&format!("agent `{name}` waits for work at {}", link.url));
    let assignment = runtime.block_on(presence.wait_for_work())?;
    let (run, index) = (&assignment.run, assignment.index);
    runtime.spawn(presence.while_busy(run.clone()));
    let link = match &assignment.credentials {
        Some(credentials) => {
            // With these credentials, it can do nothing but take part in this run.
            login.inline = Some(credentials.clone());
            login.user = Some(keys::run_user(run, index));
            runtime.block_on(Link::connect(&login, name))?
        }
        None => link,
    };
    told(&format!("agent `{name}` is agent {index} of run {run}"));
    let surroundings = PartSurroundings {
        options,
        work,
        runtime: &runtime,
        link: &link,
    };
    let end = part::take_part(&surroundings, &assignment);
    runtime.shutdown_timeout(Duration::from_secs(1));
    let line = match &end {
        Ok(part) => format!("run {run} has ended, {}", counted(part.samples, "sample")),
        Err(error) => format!("run {run}: {error}"),
    };
    told(&line);
    end.map(|part| Served {
        is_last: part.is_last,
    })
}
