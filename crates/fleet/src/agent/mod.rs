//! An agent: waits for work, runs its part of a plan and delivers the numbers.

mod member;
mod outbox;
mod part;
mod talk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use drumfire_engine::{BoundPlan, Share};
use drumfire_platform::causes::cause;
use drumfire_platform::words::counted;
use futures_util::StreamExt as _;
use tokio::runtime::{Builder, Runtime};

use self::part::PartSurroundings;
use crate::error::FleetError;
use crate::keys;
use crate::link::{Link, LinkOptions};
use crate::log_queue::LogQueue;
use crate::wire::{self, Assignment, AssignmentReply, Hello};

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
}

/// The plan that an agent is to compile.
#[derive(Clone, Debug)]
pub struct PlanOrder {
    pub plan: PathBuf,
    pub properties: Vec<(String, String)>,
    pub system: Vec<(String, String)>,
    /// The names of the properties that the command line sets.
    pub given: Vec<String>,
    /// Names of properties that this machine must not set itself; the second list has system properties.
    pub removed: Vec<String>,
    pub removed_system: Vec<String>,
    /// Categories and levels of the log, in the order of the command line; an empty category is the root.
    pub log_levels: Vec<(String, String)>,
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
    let mut own = options.link.clone();
    own.user = Some(name.clone());
    let link = runtime.block_on(Link::connect(&own, name))?;
    told(&format!("agent `{name}` waits for work at {}", link.url));
    let assignment = runtime.block_on(wait_for_work(&link, options))?;
    let (run, index) = (&assignment.run, assignment.index);
    let link = match &assignment.credentials {
        Some(credentials) => {
            // With these credentials, it can do nothing but take part in this run.
            own.inline = Some(credentials.clone());
            own.user = Some(keys::run_user(run, index));
            runtime.block_on(Link::connect(&own, name))?
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

/// Answers requests of coordinators until an assignment arrives.
async fn wait_for_work(link: &Link, options: &AgentOptions) -> Result<Assignment, FleetError> {
    let failed = |error: &dyn std::fmt::Display| FleetError::Nats {
        url: link.url.clone(),
        why: error.to_string(),
    };
    let (client, hello) = (&link.client, &options.hello);
    let who = client.subscribe(wire::WHO).await;
    let mut who = who.map_err(|error| failed(&error))?;
    let work = client.subscribe(wire::idle_subject(&hello.name)).await;
    let mut work = work.map_err(|error| failed(&error))?;
    loop {
        tokio::select! {
            asked = who.next() => {
                let Some(asked) = asked else { return Err(failed(&"the connection has ended")) };
                if let Some(reply) = asked.reply {
                    // If the reply is lost, the coordinator asks again.
                    let _ = client.publish(reply, Bytes::from(wire::json(hello))).await;
                }
            }
            offered = work.next() => {
                let Some(offered) = offered else { return Err(failed(&"the connection has ended")) };
                let Ok(assignment) = wire::of_json::<Assignment>(&offered.payload) else { continue };
                let is_taken = match options.trust.is_empty() {
                    true => Ok(()),
                    false => keys::trust(assignment.key.as_deref(), &options.trust).map(|_| ()),
                };
                let answer = match &is_taken {
                    Ok(()) => AssignmentReply::Accepted,
                    Err(why) => AssignmentReply::Refused(why.clone()),
                };
                if let Some(reply) = offered.reply {
                    let _ = client.publish(reply, Bytes::from(wire::json(&answer))).await;
                }
                if is_taken.is_err() {
                    continue;
                }
                return Ok(assignment);
            }
        }
    }
}
