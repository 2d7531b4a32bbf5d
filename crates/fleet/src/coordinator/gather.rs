//! Gathers idle agents for a run, assigns each its part and checks that it accepts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_engine::Stopping;
use futures_util::StreamExt as _;

use crate::error::{FleetError, within};
use crate::files;
use crate::keys::{Signed, Signer};
use crate::link::{CALL, Link};
use crate::select::Selection;
use crate::wire::{
    self, Assignment, AssignmentReply, Handover, Hello, Manifest, PROTOCOL, RunState,
};

/// How long to collect the answers to one request.
const ROUND: Duration = Duration::from_millis(500);
/// How often an assignment is offered before the coordinator gives up.
const OFFERS: u32 = 3;

/// The agents that answer within this time.
///
/// # Errors
/// If NATS refuses.
pub async fn who(link: &Link, patience: Duration) -> Result<Vec<Hello>, FleetError> {
    let failed = |error: &dyn std::fmt::Display| FleetError::Nats {
        url: link.url.clone(),
        why: error.to_string(),
    };
    let inbox = link.client.new_inbox();
    let answers = link.client.subscribe(inbox.clone()).await;
    let mut answers = answers.map_err(|error| failed(&error))?;
    let asked = link
        .client
        .publish_with_reply(wire::WHO, inbox, Bytes::new())
        .await;
    asked.map_err(|error| failed(&error))?;
    let deadline = tokio::time::Instant::now() + patience;
    let mut found = BTreeMap::new();
    while let Ok(Some(answer)) = tokio::time::timeout_at(deadline, answers.next()).await {
        if let Ok(hello) = wire::of_json::<Hello>(&answer.payload) {
            found.insert(hello.name.clone(), hello);
        }
    }
    Ok(found.into_values().collect())
}

/// Waits until the agents of a selection are there. Calls `told` with the names of those that are
/// left out.
///
/// # Errors
/// If agents are missing when the time is over, or have another version.
pub async fn choose(
    link: &Link,
    selection: &Selection,
    patience: Duration,
    told: &mut dyn FnMut(String),
) -> Result<Vec<Hello>, FleetError> {
    let since = Instant::now();
    let mut idle;
    loop {
        idle = who(link, ROUND).await?;
        if let Some(chosen) = selection.choose(&idle) {
            return same_version(chosen);
        }
        if since.elapsed() >= patience {
            break;
        }
    }
    if let Some((chosen, missing)) = selection.choose_last(&idle) {
        told(format!(
            "there is no agent on `{missing}`; the run starts without it because of client.continue_on_fail=true"
        ));
        return same_version(chosen);
    }
    Err(FleetError::Late {
        what: selection.missing(&idle),
        waited: patience,
        remedy: "start `drumfire agent --nats URL` on more machines, or raise `--agents-wait`",
    })
}

fn same_version(chosen: Vec<Hello>) -> Result<Vec<Hello>, FleetError> {
    let others: Vec<String> = chosen
        .iter()
        .filter(|hello| hello.protocol != PROTOCOL)
        .map(|hello| format!("agent `{}` is drumfire {}", hello.name, hello.version))
        .collect();
    match others.is_empty() {
        true => Ok(chosen),
        false => Err(FleetError::Refused(
            others
                .into_iter()
                .map(|line| {
                    let own = env!("CARGO_PKG_VERSION");
                    format!(
                        "{line}, which does not understand drumfire {own}; install the same version"
                    )
                })
                .collect(),
        )),
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

    /// The assignment of the agent with this index.
    pub fn assignment(&self, index: u32, token: u64, is_again: bool) -> Assignment {
        let signer = self.signer.as_ref();
        let rights =
            |signer: &Signer| signer.run_credentials(&self.manifest, (index, token), &self.chunks);
        Assignment {
            run: self.manifest.run.clone(),
            index,
            token,
            is_again,
            key: signer.map(Signer::public_key),
            credentials: signer.and_then(rights),
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
        };
        for (what, text) in [
            ("manifest", wire::json(&signed)),
            ("handover", wire::json(&handover)),
        ] {
            let kept = link
                .runs
                .put(format!("{}.{what}", manifest.run), Bytes::from(text));
            within(CALL, "NATS to keep the run", kept).await?;
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
    let kept = link.runs.put(format!("{run}.state"), text);
    let _ = tokio::time::timeout(CALL, kept).await;
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
            Ok(AssignmentReply::Busy(run)) => Err(FleetError::Other(format!(
                "agent `{name}` is busy with run {run}; choose another one"
            ))),
            Err(error) => Err(FleetError::Other(format!("agent `{name}`: {error}"))),
        };
    }
    Err(FleetError::Late {
        what: format!("agent `{name}` to accept its part"),
        waited: CALL * OFFERS,
        remedy: "look at the agent's terminal",
    })
}
