//! Simulated agents at a real NATS server, to measure the cost of a coordinator. They send no load: every second, each reports a
//! fixed number of samples.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use drumfire_fleet::wire::{
    self, AgentEnd, AgentState, Assignment, AssignmentReply, Batch, Hello, PROTOCOL, RunState,
    Stage,
};
use drumfire_fleet::{COORDINATOR, FleetError, Link, LinkOptions};
use drumfire_results::{Collector, Sample};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::runtime::Builder;
use tokio::sync::watch::{Receiver, Sender, channel};

const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long the coordinator may take for each step.
const PATIENCE: Duration = Duration::from_secs(120);
/// How many ends are delivered at once.
const AT_ONCE: usize = 50;

/// The simulated agents and their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swarm {
    /// How many there are.
    pub agents: usize,
    /// Labels of each agent.
    pub labels: usize,
    /// Samples of each label in each second.
    pub samples: usize,
    /// The length of their run, in seconds.
    pub seconds: u32,
}

/// Takes simulated agents through one run. Calls `begun` when their users would start and `ended` when they would have ended.
/// Returns the number of samples that they reported.
///
/// # Errors
/// If NATS cannot be reached, or the coordinator does not proceed.
pub fn swarm(
    options: &LinkOptions,
    swarm: Swarm,
    begun: &mut dyn FnMut(),
    ended: &mut dyn FnMut(),
) -> Result<u64, FleetError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| FleetError::Other(error.to_string()))?;
    let told = runtime.block_on(run(options, swarm, begun, ended));
    runtime.shutdown_timeout(HEARTBEAT);
    told
}

async fn run(
    options: &LinkOptions,
    swarm: Swarm,
    begun: &mut dyn FnMut(),
    ended: &mut dyn FnMut(),
) -> Result<u64, FleetError> {
    let link = Link::connect(options, COORDINATOR).await?;
    let (run, tokens) = assigned(&link, swarm.agents).await?;
    let own = Arc::new(Mutex::new(AgentState {
        stage: Stage::Ready,
        bound_ns: 1_000,
        ..AgentState::default()
    }));
    let (tell, mut state) = channel(RunState::default());
    tokio::spawn(listen(link.clone(), run.clone(), tell));
    tokio::spawn(beat(link.clone(), run.clone(), tokens.clone(), own.clone()));
    let say = |change: &dyn Fn(&mut AgentState)| {
        change(&mut own.lock().unwrap_or_else(PoisonError::into_inner));
    };
    until(&mut state, "to begin", |state| state.revision > 0).await?;
    say(&|own| own.stage = Stage::AtStart);
    let start_ms = until(&mut state, "to name the start", |state| {
        state.start_ms.is_some()
    })
    .await?
    .start_ms
    .unwrap_or_default();
    say(&|own| own.stage = Stage::Running);
    begun();
    // Seconds begin at whole seconds of the coordinator's clock.
    let first_s = start_ms.div_euclid(1000);
    for second in 0..swarm.seconds {
        send(&link, &run, &tokens, swarm, first_s, second).await?;
        say(&|own| own.sequence = u64::from(second) + 1);
    }
    ended();
    say(&|own| own.stage = Stage::AtEnd);
    let samples = swarm.labels as u64 * swarm.samples as u64 * u64::from(swarm.seconds);
    let end = AgentEnd {
        sequence: u64::from(swarm.seconds),
        samples,
        elapsed_ms: u64::from(swarm.seconds) * 1000,
        started_ms: start_ms,
        ended_ms: system_ms(),
        ..AgentEnd::default()
    };
    let text = wire::json(&end);
    let names: Vec<String> = (0..swarm.agents as u32)
        .map(|index| wire::end_name(&run, index, "end"))
        .collect();
    for names in names.chunks(AT_ONCE) {
        let puts = names
            .iter()
            .map(|name| drumfire_fleet::put_end(&link, name, &text));
        join_all(puts)
            .await
            .into_iter()
            .collect::<Result<(), _>>()?;
    }
    say(&|own| own.stage = Stage::Delivered);
    until(&mut state, "to end", |state| state.is_over).await?;
    Ok(samples * swarm.agents as u64)
}

/// Answers for all agents until each has its part. Returns the run and the tokens by index.
async fn assigned(link: &Link, agents: usize) -> Result<(String, Vec<u64>), FleetError> {
    let who = link.client.subscribe(wire::WHO).await;
    let mut who = who.map_err(|error| failed(error.to_string()))?;
    let work = link.client.subscribe(wire::idle_subject("*")).await;
    let mut work = work.map_err(|error| failed(error.to_string()))?;
    let (mut run, mut tokens, mut left) = (String::new(), vec![0; agents], agents);
    while left > 0 {
        tokio::select! {
            Some(asked) = who.next() => {
                let Some(reply) = asked.reply else { continue };
                for number in 0..agents {
                    let hello = Hello {
                        protocol: PROTOCOL,
                        version: env!("CARGO_PKG_VERSION").to_owned(),
                        name: format!("made-up-{number:05}"),
                        weight: 1,
                        ..Hello::default()
                    };
                    let _ = link.client.publish(reply.clone(), Bytes::from(wire::json(&hello))).await;
                }
            }
            Some(offered) = work.next() => {
                let Ok(assignment) = wire::of_json::<Assignment>(&offered.payload) else { continue };
                let place = tokens.get_mut(assignment.index as usize);
                if let Some(token) = place {
                    left -= usize::from(*token == 0);
                    *token = assignment.token;
                }
                run = assignment.run;
                if let Some(reply) = offered.reply {
                    let accepted = Bytes::from(wire::json(&AssignmentReply::Accepted));
                    let _ = link.client.publish(reply, accepted).await;
                }
            }
            else => return Err(failed("the connection has ended".to_owned())),
        }
    }
    Ok((run, tokens))
}

fn failed(why: String) -> FleetError {
    FleetError::Other(why)
}

async fn listen(link: Link, run: String, tell: Sender<RunState>) {
    let Ok(mut told) = link.client.subscribe(wire::state_subject(&run)).await else {
        return;
    };
    while let Some(message) = told.next().await {
        if let Ok(state) = wire::of_json(&message.payload)
            && tell.send(state).is_err()
        {
            return;
        }
    }
}

async fn until(
    state: &mut Receiver<RunState>,
    what: &str,
    is_so: impl Fn(&RunState) -> bool,
) -> Result<RunState, FleetError> {
    let waiting = tokio::time::timeout(PATIENCE, state.wait_for(|state| is_so(state))).await;
    let state = waiting
        .map_err(|_| FleetError::Late {
            what: format!("the coordinator {what}"),
            waited: PATIENCE,
            remedy: "look at its terminal",
        })?
        .map_err(|error| FleetError::Other(error.to_string()))?;
    Ok(state.clone())
}

/// Sends the state of all agents once a second.
async fn beat(link: Link, run: String, tokens: Vec<u64>, own: Arc<Mutex<AgentState>>) {
    let mut pace = tokio::time::interval(HEARTBEAT / 4);
    loop {
        pace.tick().await;
        for (index, token) in (0..).zip(&tokens) {
            let mut state = own.lock().unwrap_or_else(PoisonError::into_inner).clone();
            state.token = *token;
            let subject = wire::heartbeat_subject(&run, index);
            let _ = link
                .client
                .publish(subject, Bytes::from(wire::json(&state)))
                .await;
        }
        // Between the heartbeats of a second, only a change of the stage triggers another.
        let stage = own.lock().unwrap_or_else(PoisonError::into_inner).stage;
        let before = tokio::time::Instant::now();
        while before.elapsed() < HEARTBEAT {
            pace.tick().await;
            if own.lock().unwrap_or_else(PoisonError::into_inner).stage != stage {
                break;
            }
        }
    }
}

/// Sends the measurements of all agents in a second, spread over the next one.
async fn send(
    link: &Link,
    run: &str,
    tokens: &[u64],
    swarm: Swarm,
    first_s: i64,
    second: u32,
) -> Result<(), FleetError> {
    let at_s = first_s + i64::from(second);
    let sequence = u64::from(second) + 1;
    let packed = Packed::of(&Batch {
        sequence,
        increments: measured(swarm, at_s),
        ..Batch::default()
    });
    let due_ms = (at_s + 1) * 1000;
    let mut acknowledged = Vec::new();
    for (index, token) in (0_u32..).zip(tokens) {
        let own_ms = due_ms + i64::from(index) * 900 / tokens.len() as i64;
        let early = u64::try_from(own_ms - system_ms()).unwrap_or(0);
        if early > 0 {
            tokio::time::sleep(Duration::from_millis(early)).await;
        }
        let message = PublishMessage::build()
            .payload(Bytes::from(packed.message(sequence, *token)))
            .message_id(format!("{run}/{token}/{sequence}"));
        let subject = wire::seconds_subject(run, index);
        let sent = link.jetstream.send_publish(subject, message).await;
        acknowledged.push(sent.map_err(|error| FleetError::Other(error.to_string()))?);
    }
    for sent in acknowledged {
        sent.await
            .map_err(|error| FleetError::Other(error.to_string()))?;
    }
    Ok(())
}

/// A batch that is the same for all agents except for its sequence number and token. Compressing a thousand batches a second
/// would cost more than the coordinator that is to be measured.
struct Packed(Vec<u8>);

impl Packed {
    fn of(batch: &Batch) -> Packed {
        let plain = postcard::to_stdvec(batch).expect("every field has a wire form");
        let rest = &plain[head(batch.sequence, batch.token).len()..];
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(rest).expect("memory takes all");
        Packed(packed.finish().expect("memory takes all"))
    }

    /// The message of one agent: its own fields as an uncompressed deflate block (RFC 1951, 3.2.4), then the shared fields.
    fn message(&self, sequence: u64, token: u64) -> Vec<u8> {
        let head = head(sequence, token);
        let length = head.len() as u16;
        let mut message = vec![PROTOCOL as u8, 0];
        message.extend(length.to_le_bytes());
        message.extend((!length).to_le_bytes());
        message.extend(head);
        message.extend(&self.0);
        message
    }
}

/// The first fields of a [`Batch`], in their wire form.
fn head(sequence: u64, token: u64) -> Vec<u8> {
    postcard::to_stdvec(&(sequence, token)).expect("numbers have a wire form")
}

/// Milliseconds since the Unix epoch.
fn system_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The increments of a second, with times that vary like those of a real target.
fn measured(swarm: Swarm, at_s: i64) -> Vec<Vec<u8>> {
    let mut collector = Collector::default();
    let mut spread = 7_u64;
    for label in 0..swarm.labels {
        for _ in 0..swarm.samples {
            spread = spread
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let elapsed_ms = 1 + (spread >> 33) as i64 % 300;
            let mut sample =
                Sample::new(format!("Request {label:03}").into(), "made up 1-1".into());
            sample.set_ok();
            sample.start_ms = at_s * 1000 + 999 - elapsed_ms;
            sample.set_end(at_s * 1000 + 999);
            collector.record(&sample);
        }
    }
    collector
        .take_all()
        .iter()
        .map(drumfire_results::Increment::encode)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_the_batch_of_its_agent() {
        let swarm = Swarm {
            agents: 2,
            labels: 3,
            samples: 4,
            seconds: 1,
        };
        let batch = Batch {
            sequence: 300,
            increments: measured(swarm, 5),
            ..Batch::default()
        };
        let packed = Packed::of(&batch);
        for token in [0, 1, u64::MAX] {
            let read: Batch = wire::unpack(&packed.message(300, token)).expect("it can be read");
            assert_eq!(
                read,
                Batch {
                    token,
                    ..batch.clone()
                }
            );
        }
    }
}
