//! Receives heartbeats, and seconds from the stream that stores them. A restarted coordinator reads the stream from its
//! beginning.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::clock;
use crate::error::{FleetError, within};
use crate::link::{CALL, Link};
use crate::wire::{self, AgentState, Batch, Member, STREAM};

/// The most messages that one request fetches.
const BATCH: usize = 500;
/// How long one request for messages waits for the first.
const WAIT: Duration = Duration::from_millis(500);
/// NATS removes a consumer that has not been read for this long.
const UNREAD: Duration = Duration::from_secs(10);
/// After this long without a message, a new consumer is created: a restarted server has forgotten the old one.
const SILENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(200);

/// A message from an agent.
#[derive(Debug)]
pub enum Heard {
    State(u32, Box<AgentState>),
    Batch(u32, Box<Batch>),
    /// A lost agent takes part again, with this token.
    Rejoined(u32, u64),
    /// An agent joins the run, with this token; `None` if none did.
    Joined(Option<(Member, u64)>),
    /// A message that cannot be read.
    Damaged(u32, String),
}

/// Answers agents that ask for the time.
pub async fn tell_time(link: Link, run: String) {
    link.answer_all(wire::time_subject(&run), |_| {
        Bytes::from(clock::system_ns().to_string())
    })
    .await;
}

/// Receives heartbeats.
pub async fn heartbeats(link: Link, run: String, told: Sender<Heard>) {
    let subject = wire::heartbeat_subjects(&run);
    loop {
        let Ok(mut beats) = link.client.subscribe(subject.clone()).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        while let Some(beat) = beats.next().await {
            let Some(agent) = wire::agent_of(&beat.subject) else {
                continue;
            };
            let heard = match wire::of_json(&beat.payload) {
                Ok(state) => Heard::State(agent, Box::new(state)),
                Err(error) => Heard::Damaged(agent, error.to_string()),
            };
            if told.send(heard).is_err() {
                return;
            }
        }
    }
}

/// Reads the seconds of a run from the stream, each at least once and in order.
pub async fn seconds(link: Link, run: String, told: Sender<Heard>) {
    let mut next = 1;
    loop {
        match read(&link, &run, &mut next, &told).await {
            Ok(ReadingEnd::Over) => return,
            Ok(ReadingEnd::Silent) => continue,
            Err(error) => tracing::warn!("the agents' results cannot be read yet: {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Why reading the stream ended.
enum ReadingEnd {
    /// The receiver of the messages is gone.
    Over,
    /// Nothing came for a while.
    Silent,
}

async fn read(
    link: &Link,
    run: &str,
    next: &mut u64,
    told: &Sender<Heard>,
) -> Result<ReadingEnd, FleetError> {
    let config = pull::Config {
        filter_subject: wire::seconds_subjects(run),
        deliver_policy: DeliverPolicy::ByStartSequence {
            start_sequence: *next,
        },
        ack_policy: AckPolicy::None,
        inactive_threshold: UNREAD,
        memory_storage: true,
        ..pull::Config::default()
    };
    let making = link.jetstream.create_consumer_on_stream(config, STREAM);
    let consumer = within(CALL, "the stream of results", making).await?;
    let mut heard = Instant::now();
    while heard.elapsed() < SILENCE {
        let asking = consumer
            .fetch()
            .max_messages(BATCH)
            .expires(WAIT)
            .messages();
        let mut messages = within(CALL, "the stream of results", asking).await?;
        while let Ok(Some(message)) = tokio::time::timeout(CALL, messages.next()).await {
            let message = message.map_err(|error| FleetError::Other(error.to_string()))?;
            heard = Instant::now();
            let sequence = message.info().map(|info| info.stream_sequence);
            *next = sequence.unwrap_or(*next) + 1;
            let Some(agent) = wire::agent_of(&message.subject) else {
                continue;
            };
            let heard = match wire::unpack(&message.payload) {
                Ok(batch) => Heard::Batch(agent, Box::new(batch)),
                Err(error) => Heard::Damaged(agent, error.to_string()),
            };
            if told.send(heard).is_err() {
                return Ok(ReadingEnd::Over);
            }
        }
        if link.client.connection_state() != async_nats::connection::State::Connected {
            return Err(FleetError::Other("the connection is lost".to_owned()));
        }
    }
    Ok(ReadingEnd::Silent)
}
