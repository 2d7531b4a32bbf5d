//! The background tasks of an agent during a run: heartbeats, the coordinator's state, the clock, and its seconds.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::agent::member::Member;
use crate::clock::{self, Offset, PAUSE, PROBES, Probe};
use crate::error::{FleetError, failed};
use crate::link::{CALL, Link};
use crate::wire::{self, RunState};

/// How often an agent sends its state.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How often the stored state is read, in case a message was lost.
const RECONCILE: Duration = Duration::from_secs(5);
/// How long one clock probe may take.
const PROBE: Duration = Duration::from_secs(2);

/// Sends the agent's state once a second and whenever it changes.
pub async fn heartbeats(link: Link, member: Arc<Member>) {
    let subject = wire::heartbeat_subject(&member.run, member.index);
    loop {
        let state = Bytes::from(wire::json(&member.own()));
        // A lost heartbeat does not matter: another one follows.
        let _ = link.client.publish(subject.clone(), state).await;
        let _ = tokio::time::timeout(HEARTBEAT, member.news.notified()).await;
    }
}

/// Receives the coordinator's state.
pub async fn listen(link: Link, member: Arc<Member>) {
    let key = format!("{}.state", member.run);
    let mut subscription = None;
    loop {
        if subscription.is_none() {
            let subject = wire::state_subject(&member.run);
            subscription = link.client.subscribe(subject).await.ok();
        }
        let next = async {
            match &mut subscription {
                Some(subscription) => subscription.next().await,
                None => {
                    tokio::time::sleep(RECONCILE).await;
                    None
                }
            }
        };
        match tokio::time::timeout(RECONCILE, next).await {
            Ok(Some(message)) => hear(&member, &message.payload),
            Ok(None) => subscription = None,
            Err(_) => {
                if let Ok(Ok(Some(state))) = tokio::time::timeout(CALL, link.runs.get(&key)).await {
                    hear_kept(&member, &state);
                }
            }
        }
    }
}

fn hear(member: &Member, payload: &[u8]) {
    match wire::of_json::<RunState>(payload) {
        Ok(state) => member.hear(state),
        Err(error) => tracing::warn!("the coordinator's state cannot be read: {error}"),
    }
}

/// Takes the stored state only if it is new: a stored message does not prove that the coordinator is alive.
fn hear_kept(member: &Member, payload: &[u8]) {
    if let Ok(state) = wire::of_json::<RunState>(payload)
        && state.revision > member.state().revision
    {
        member.hear(state);
    }
}

/// Measures the offset of the clock from the coordinator's.
pub async fn measure(link: &Link, run: &str) -> Option<Offset> {
    let subject = wire::time_subject(run);
    let mut probes = Vec::new();
    for _ in 0..PROBES {
        let asked_ns = clock::system_ns();
        let asking = link.client.request(subject.clone(), Bytes::new());
        let Ok(Ok(answer)) = tokio::time::timeout(PROBE, asking).await else {
            continue;
        };
        let came_ns = clock::system_ns();
        let text = std::str::from_utf8(&answer.payload).ok();
        if let Some(answer_ns) = text.and_then(|text| text.parse().ok()) {
            probes.push(Probe {
                asked_ns,
                answer_ns,
                came_ns,
            });
        }
    }
    clock::best(&probes)
}

/// Measures the clock repeatedly, so that the coordinator can show how certain it is.
pub async fn watch_clock(link: Link, member: Arc<Member>) {
    let first = member.own().offset_ns;
    loop {
        tokio::time::sleep(PAUSE).await;
        if let Some(offset) = measure(&link, &member.run).await {
            // The run keeps its initial offset, so any drift since then makes the clock less certain.
            let drift_ns = (offset.offset_ns - first).unsigned_abs();
            member.say(|own| own.bound_ns = offset.bound_ns + drift_ns);
        }
    }
}

/// Sends the seconds in order, each until NATS has stored it.
pub async fn send(link: Link, member: Arc<Member>) {
    let subject = wire::seconds_subject(&member.run, member.index);
    loop {
        let changed = member.spool.changed.notified();
        let Some((sequence, message)) = member.spool.front() else {
            let _ = tokio::time::timeout(HEARTBEAT, changed).await;
            continue;
        };
        match tokio::time::timeout(CALL, publish(&link, &subject, &member, sequence, message)).await
        {
            Ok(Ok(())) => {
                member.note_full(None);
                member.spool.sent(sequence);
            }
            Ok(Err(error)) => {
                if matches!(error, FleetError::Full { .. }) {
                    member.note_full(Some(error.to_string()));
                }
                tracing::warn!("the results of second {sequence} are not sent yet: {error}");
                tokio::time::sleep(HEARTBEAT).await;
            }
            Err(_) => tracing::warn!(
                "the results of second {sequence} are not sent yet: NATS does not answer"
            ),
        }
    }
}

async fn publish(
    link: &Link,
    subject: &str,
    member: &Member,
    sequence: u64,
    message: Bytes,
) -> Result<(), FleetError> {
    let failed = |error: &dyn std::fmt::Display| failed("seconds", &error.to_string());
    // NATS drops a message whose id it already knows.
    let id = format!("{}/{}/{sequence}", member.run, member.token);
    let message = PublishMessage::build().payload(message).message_id(id);
    let sending = link
        .jetstream
        .send_publish(subject.to_owned(), message)
        .await;
    let acknowledged = sending.map_err(|error| failed(&error))?.await;
    acknowledged.map(|_| ()).map_err(|error| failed(&error))
}
