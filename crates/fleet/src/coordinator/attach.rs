//! Continues a run whose coordinator is gone. NATS stores everything that agents have sent, so nothing is lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use drumfire_engine::{Slots, Stopping};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use super::{Begun, Coordinator};
use crate::agent::runtime;
use crate::clock;
use crate::error::{FleetError, within};
use crate::files;
use crate::keys::Signed;
use crate::link::{CALL, COORDINATOR, Link, LinkOptions};
use crate::wire::{self, Handover, Manifest, PROTOCOL, RowHandling, RunState};

/// A live coordinator sends its state within this time.
const ALIVE: Duration = Duration::from_millis(2_500);
/// Added to the stored revision: the last coordinator may have sent newer revisions than NATS has stored, but fewer
/// than this.
const REVISIONS: u64 = 1_000;

/// The plan of a run that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunPlan {
    /// Where it is stored on this machine.
    pub plan: PathBuf,
    /// The properties that its command line set.
    pub given: Vec<(String, String)>,
}

/// Fetches the plan and its files into a folder.
///
/// # Errors
/// If there is no such run, or NATS cannot be reached.
pub fn fetch_plan(
    options: &LinkOptions,
    run: &str,
    folder: &Path,
) -> Result<BegunPlan, FleetError> {
    let runtime = runtime()?;
    let fetched = runtime.block_on(async {
        let link = Link::connect(options, COORDINATOR).await?;
        let manifest = manifest(&link, run).await?;
        let cache = folder.join(".cache");
        files::fetch(
            &link,
            &manifest.files,
            |file| format!("{run}-attach-{}-{file}", std::process::id()),
            &cache,
            folder,
        )
        .await?;
        let given_properties = manifest
            .settings
            .properties
            .into_iter()
            .filter(|(name, _)| manifest.settings.given.contains(name));
        Ok(BegunPlan {
            plan: folder.join(&manifest.plan),
            given: given_properties.collect(),
        })
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    fetched
}

/// Reads a part of a run that NATS stores.
async fn kept<T: DeserializeOwned>(link: &Link, run: &str, what: &str) -> Result<T, FleetError> {
    if !wire::is_token(run) {
        return Err(FleetError::Other(format!("`{run}` is not a run's name")));
    }
    let stored = within(CALL, "NATS", link.runs.get(format!("{run}.{what}")))
        .await?
        .ok_or_else(|| {
            FleetError::Other(format!(
                "there is no run `{run}` at {}, or it has not started; `drumfire run` starts one",
                link.url
            ))
        })?;
    wire::of_json(&stored).map_err(|error| FleetError::Other(format!("run {run}: {error}")))
}

async fn manifest(link: &Link, run: &str) -> Result<Manifest, FleetError> {
    let signed: Signed = kept(link, run, "manifest").await?;
    // This coordinator does not run the plan, so the manifest needs no trusted signature.
    let manifest = signed.open(&[]);
    manifest.map_err(|why| FleetError::Other(format!("run {run}: {why}")))
}

/// The run as its last coordinator left it.
///
/// # Errors
/// If there is no such run, or its coordinator is alive.
pub(super) async fn take_over(link: &Link, run: &str) -> Result<Begun, FleetError> {
    let manifest = manifest(link, run).await?;
    if manifest.protocol != PROTOCOL {
        return Err(FleetError::Other(format!(
            "run {run} was started by another version of drumfire; install the same version"
        )));
    }
    let handover: Handover = kept(link, run, "handover").await?;
    let state: RunState = kept(link, run, "state").await?;
    let subject = wire::state_subject(run);
    let mut progress_messages = within(CALL, "NATS", link.client.subscribe(subject)).await?;
    if let Ok(Some(_)) = tokio::time::timeout(ALIVE, progress_messages.next()).await {
        return Err(FleetError::Other(format!(
            "run {run} still has a running coordinator; end that one first"
        )));
    }
    Ok(Begun {
        manifest,
        tokens: handover.tokens,
        joined: handover.joined,
        state: Some(state),
    })
}

impl Coordinator<'_, '_, '_> {
    /// Continues the run from this state.
    pub(super) fn resume(&mut self, state: RunState) -> Result<(), FleetError> {
        let Some(start_ms) = state.start_ms else {
            return Err(FleetError::Other(format!(
                "run {} had not started when its coordinator ended; start it again",
                self.manifest.run
            )));
        };
        let since_ms = u64::try_from(clock::system_ms() - start_ms).unwrap_or(0);
        let started = self.started.checked_sub(Duration::from_millis(since_ms));
        (self.started, self.started_ms) = (started.unwrap_or(self.started), start_ms);
        for takeover in &state.takeovers {
            let more = Slots::new(takeover.period, takeover.remainders.clone());
            for (agent, owned) in (0..).zip(&mut self.owned) {
                *owned = if agent == takeover.agent {
                    owned.with(&more)
                } else {
                    owned.without(&more)
                };
            }
        }
        // An agent that has joined and has no users yet gets some.
        let first = self.manifest.members.len();
        for (index, agent) in self.agents.iter_mut().enumerate().skip(first) {
            let mut takeovers = state.takeovers.iter();
            agent.is_joining = !takeovers.any(|to| to.agent as usize == index);
        }
        for (agent, owned) in self.agents.iter().zip(&mut self.owned) {
            if state.fenced.contains(&agent.token) {
                *owned = Slots::new(owned.period(), Vec::new());
            }
        }
        for (token, until_ms) in &state.leaving {
            let mut agents = self.agents.iter_mut();
            if let Some(agent) = agents.find(|agent| agent.token == *token) {
                agent.left_ms = Some(*until_ms);
            }
        }
        match state.stopping {
            Stopping::No => {}
            Stopping::Shutdown if state.is_hurried => self.control.shutdown_soon(),
            Stopping::Shutdown => self.control.shutdown(),
            Stopping::Now => self.control.stop_now(),
        }
        if state.is_paused {
            self.control.pause();
        }
        let rate = self.control.set_rate(state.rate);
        rate.map_err(|error| FleetError::Other(error.to_string()))?;
        self.state = RunState {
            revision: state.revision + REVISIONS,
            // An agent may still deliver after the end.
            is_over: false,
            ..state
        };
        self.begin();
        if self.order.results.is_some() && self.manifest.rows != RowHandling::Collect {
            self.warn(
                "the agents write no rows in this run; the result file is not written".to_owned(),
            );
        }
        let now_ms = self.clock.now_ms();
        self.mark(now_ms, "another coordinator took over".to_owned());
        Ok(())
    }
}
