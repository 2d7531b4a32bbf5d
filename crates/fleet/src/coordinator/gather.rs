//! Gathers idle agents for a run, assigns each its part and checks that it accepts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_engine::Stopping;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use super::order::FleetOrder;
use super::queue::{self, QueuePlace};
use crate::error::{FleetError, within};
use crate::files;
use crate::keys::{Signed, Signer};
use crate::link::{CALL, Link};
use crate::select::Selection;
use crate::wire::{
    self, Assignment, AssignmentReply, Handover, Hello, Manifest, PROTOCOL, RunState, WaitingRun,
};

/// How long to collect the answers to one request.
const ROUND: Duration = Duration::from_millis(500);
/// How many agents and runs a line names.
const SHOWN: usize = 3;
/// How often an assignment is offered before the coordinator gives up.
const OFFERS: u32 = 3;

/// The agents that answer within this time.
///
/// # Errors
/// If NATS refuses.
pub async fn who(link: &Link, patience: Duration) -> Result<Vec<Hello>, FleetError> {
    let mut agents = BTreeMap::new();
    for hello in answers::<Hello>(link, wire::WHO, patience).await? {
        agents.insert((hello.name.clone(), hello.instance), hello);
    }
    Ok(agents.into_values().collect())
}

/// The runs that wait for agents, in the order in which they came.
///
/// # Errors
/// If NATS refuses.
pub async fn waiting(link: &Link, patience: Duration) -> Result<Vec<WaitingRun>, FleetError> {
    let mut runs = answers::<WaitingRun>(link, wire::WAITING, patience).await?;
    runs.sort_by_key(|run| (run.since_ms, run.ticket));
    Ok(runs)
}

/// The answers to a question within this time.
async fn answers<T: DeserializeOwned>(
    link: &Link,
    subject: &'static str,
    patience: Duration,
) -> Result<Vec<T>, FleetError> {
    let failed = |error: &dyn std::fmt::Display| FleetError::Nats {
        url: link.url.clone(),
        why: error.to_string(),
    };
    let inbox = link.client.new_inbox();
    let mut answers = link
        .client
        .subscribe(inbox.clone())
        .await
        .map_err(|error| failed(&error))?;
    let asked = link
        .client
        .publish_with_reply(subject, inbox, Bytes::new())
        .await;
    asked.map_err(|error| failed(&error))?;
    let deadline = tokio::time::Instant::now() + patience;
    let mut parsed = Vec::new();
    while let Ok(Some(answer)) = tokio::time::timeout_at(deadline, answers.next()).await {
        parsed.extend(wire::of_json::<T>(&answer.payload));
    }
    Ok(parsed)
}

/// Waits until the agents of the order's selection are there and no earlier run wants them. Calls `told` with lines for the user:
/// what it waits for, and the names of agents that are left out.
///
/// # Errors
/// If agents are missing when the time is over, two have the same name or another version, or the run was told to stop.
pub async fn choose(
    link: &Link,
    order: &FleetOrder,
    place: &QueuePlace,
    is_stopped: &dyn Fn() -> bool,
    told: &mut dyn FnMut(GatherNews),
) -> Result<Vec<Hello>, FleetError> {
    let (since, selection) = (Instant::now(), &order.selection);
    let mut told_last = String::new();
    let mut free;
    loop {
        let (agents, runs) = tokio::join!(who(link, ROUND), waiting(link, ROUND));
        let (agents, runs) = (agents?, runs?);
        let before = place.before(&runs, &agents);
        free = queue::left_over(&agents, &before);
        if let Some(chosen) = selection.choose(&free) {
            return fit(chosen, &agents);
        }
        if is_stopped() {
            return Err(FleetError::Other("stopped before the start".to_owned()));
        }
        if since.elapsed() >= order.patience {
            break;
        }
        let line = waiting_line(selection, &agents, &before);
        if since.elapsed() > ROUND * 2 && line != told_last {
            told(GatherNews::Waiting(line.clone()));
            told_last = line;
        }
    }
    if let Some((chosen, missing)) = selection.choose_last(&free) {
        told(GatherNews::LeftOut(format!(
            "there is no agent on `{missing}`; the run starts without it because of client.continue_on_fail=true"
        )));
        return fit(chosen, &free);
    }
    Err(FleetError::Late {
        what: selection.missing(&free),
        waited: order.patience,
        remedy: "start `drumfire agent --nats URL` on more machines, raise `--agents-wait`, or pass `--wait`",
    })
}

/// News for the user while the coordinator gathers agents.
pub enum GatherNews {
    /// The agents or runs that this run waits for.
    Waiting(String),
    /// Agents that it starts without.
    LeftOut(String),
}

/// The reasons why a run waits: agents that run other plans, and runs that came earlier.
fn waiting_line(selection: &Selection, agents: &[Hello], before: &[&WaitingRun]) -> String {
    let busy = agents
        .iter()
        .filter(|hello| selection.covers(hello))
        .filter_map(|hello| {
            let run = hello.run.as_ref()?;
            Some(format!("`{}` is busy with run {run}", hello.name))
        });
    let mut parts: Vec<String> = busy.take(SHOWN).collect();
    let ahead = before.iter().take(SHOWN);
    parts.extend(ahead.map(|run| format!("{} on {} came earlier", run.plan, run.host)));
    let missing = selection.missing(agents);
    if parts.is_empty() {
        format!("waiting for {missing}")
    } else {
        format!("waiting for {missing}: {}", parts.join(", "))
    }
}

/// Checks that agents have different names and the version of this program.
fn fit(chosen: Vec<Hello>, all: &[Hello]) -> Result<Vec<Hello>, FleetError> {
    for hello in &chosen {
        let same = all.iter().filter(|other| other.name == hello.name);
        let hosts: Vec<&str> = same.map(|other| other.host.as_str()).collect();
        if hosts.len() > 1 {
            return Err(FleetError::Other(format!(
                "{} agents are called `{}`, on `{}`; end all but one, or give each another `--name`",
                hosts.len(),
                hello.name,
                hosts.join("`, `")
            )));
        }
    }
    same_version(chosen)
}

fn same_version(chosen: Vec<Hello>) -> Result<Vec<Hello>, FleetError> {
    let others: Vec<String> = chosen
        .iter()
        .filter(|hello| hello.protocol != PROTOCOL)
        .map(|hello| format!("agent `{}` is drumfire {}", hello.name, hello.version))
        .collect();
    if others.is_empty() {
        Ok(chosen)
    } else {
        Err(FleetError::Refused(
            others
                .into_iter()
                .map(|line| {
                    let version = env!("CARGO_PKG_VERSION");
                    format!(
                        "{line}, which does not understand drumfire {version}; install the same version"
                    )
                })
                .collect(),
        ))
    }
}

/// Gives agents their parts of a run.
pub struct Assigner {
    signer: Option<Signer>,
    manifest: Manifest,
    /// The subjects of the parts of the plan's files.
    chunks: Vec<String>,
}

impl Assigner {
    /// An assigner for a run whose files NATS already has.
    ///
    /// # Errors
    /// If NATS does not have them.
    pub async fn of(
        link: &Link,
        signer: Option<Signer>,
        manifest: &Manifest,
    ) -> Result<Assigner, FleetError> {
        let mut chunks = Vec::new();
        for file in &manifest.files {
            chunks.push(files::chunks(link, &file.sha256).await?);
        }
        Ok(Assigner {
            signer,
            manifest: manifest.clone(),
            chunks,
        })
    }

    /// The signer, for another run.
    pub fn into_signer(self) -> Option<Signer> {
        self.signer
    }

    /// The assignment of the agent with this index.
    pub fn assignment(&self, index: u32, token: u64, is_again: bool) -> Assignment {
        let signer = self.signer.as_ref();
        Assignment {
            run: self.manifest.run.clone(),
            index,
            token,
            is_again,
            key: signer.map(Signer::public_key),
            credentials: signer.and_then(|signer| {
                signer.run_credentials(&self.manifest, (index, token), &self.chunks)
            }),
        }
    }

    /// Stores the manifest and gives each agent its index.
    ///
    /// # Errors
    /// If an agent does not accept.
    pub async fn assign(&self, link: &Link, tokens: &[u64]) -> Result<(), FleetError> {
        let manifest = &self.manifest;
        let text = String::from_utf8_lossy(&wire::json(manifest)).into_owned();
        let signed = match &self.signer {
            Some(signer) => signer.sign(text),
            None => Signed {
                manifest: text,
                ..Signed::default()
            },
        };
        let handover = Handover {
            tokens: tokens.to_vec(),
            joined: Vec::new(),
        };
        for (what, text) in [
            ("manifest", wire::json(&signed)),
            ("handover", wire::json(&handover)),
        ] {
            let storing = link
                .runs
                .put(format!("{}.{what}", manifest.run), Bytes::from(text));
            within(CALL, "NATS to keep the run", storing).await?;
        }
        for ((index, member), token) in (0..).zip(&manifest.members).zip(tokens) {
            offer(link, &member.name, &self.assignment(index, *token, false)).await?;
        }
        Ok(())
    }
}

/// Releases agents that have accepted, when the run does not start.
pub async fn call_off(link: &Link, run: &str) {
    let over = RunState {
        revision: 1,
        stopping: Stopping::Now,
        is_over: true,
        ..RunState::default()
    };
    let text = Bytes::from(wire::json(&over));
    // An agent that misses this gives up on its own after a minute.
    let _ = link
        .client
        .publish(wire::state_subject(run), text.clone())
        .await;
    let storing = link.runs.put(format!("{run}.state"), text);
    let _ = tokio::time::timeout(CALL, storing).await;
}

/// Offers an agent its assignment.
///
/// # Errors
/// If it does not accept.
pub async fn offer(link: &Link, name: &str, assignment: &Assignment) -> Result<(), FleetError> {
    let subject = wire::idle_subject(name);
    for _ in 0..OFFERS {
        let offer = Bytes::from(wire::json(assignment));
        let asking = link.client.request(subject.clone(), offer);
        let Ok(Ok(answer)) = tokio::time::timeout(CALL, asking).await else {
            continue;
        };
        return match wire::of_json(&answer.payload) {
            Ok(AssignmentReply::Accepted) => Ok(()),
            Ok(AssignmentReply::Refused(why)) => {
                Err(FleetError::Refused(vec![format!("agent `{name}`: {why}")]))
            }
            Ok(AssignmentReply::Busy(run)) => Err(FleetError::Busy {
                agent: name.to_owned(),
                run,
            }),
            Err(error) => Err(FleetError::Other(format!("agent `{name}`: {error}"))),
        };
    }
    Err(FleetError::Late {
        what: format!("agent `{name}` to accept its part"),
        waited: CALL * OFFERS,
        remedy: "look at the agent's terminal",
    })
}
