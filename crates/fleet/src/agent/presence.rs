//! An agent's answers to coordinators, and to other agents of its name: while it waits for work, and during a run.

use std::time::Duration;

use async_nats::{Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{AgentOptions, Leave};
use crate::error::FleetError;
use crate::keys;
use crate::link::Link;
use crate::wire::{self, Assignment, AssignmentReply, Hello};

/// How long other agents of the same name have to answer.
const NAMESAKES: Duration = Duration::from_secs(1);

/// The subscriptions of an agent that stay from its start to the end of its run.
pub struct Presence {
    link: Link,
    hello: Hello,
    trust: Vec<String>,
    leave: Leave,
    who: Subscriber,
    work: Subscriber,
    /// Questions of agents that have the same name.
    named: Subscriber,
    /// The answers to this agent's own question.
    namesakes: Subscriber,
}

impl Presence {
    /// Begins to listen, and asks whether another agent has the same name.
    ///
    /// # Errors
    /// If NATS cannot be reached.
    pub async fn begin(link: &Link, options: &AgentOptions) -> Result<Presence, FleetError> {
        let client = &link.client;
        let subscribe = async |subject: String| {
            let listening = client.subscribe(subject).await;
            listening.map_err(|error| failed(link, &error))
        };
        let hello = options.hello.clone();
        let inbox = client.new_inbox();
        let presence = Presence {
            who: subscribe(wire::WHO.to_owned()).await?,
            work: subscribe(wire::idle_subject(&hello.name)).await?,
            named: subscribe(wire::name_subject(&hello.name)).await?,
            namesakes: subscribe(inbox.clone()).await?,
            link: link.clone(),
            trust: options.trust.clone(),
            leave: options.leave.clone(),
            hello,
        };
        let question = Bytes::from(wire::json(&presence.hello));
        let subject = wire::name_subject(&presence.hello.name);
        let asked = client.publish_with_reply(subject, inbox, question).await;
        asked.map_err(|error| failed(link, &error))?;
        Ok(presence)
    }

    /// Answers questions until an assignment arrives.
    ///
    /// # Errors
    /// If the connection ends, or another agent has the same name.
    pub async fn wait_for_work(&mut self) -> Result<Assignment, FleetError> {
        let settling = tokio::time::sleep(NAMESAKES);
        let mut settling = std::pin::pin!(settling);
        let mut is_settling = true;
        loop {
            tokio::select! {
                () = &mut settling, if is_settling => {
                    (is_settling, self.hello.is_settled) = (false, true);
                }
                asked = self.who.next() => self.introduce(self.received(asked)?).await,
                asked = self.named.next() => {
                    let asked = self.received(asked)?;
                    self.introduce_to_namesake(asked).await;
                }
                other = self.namesakes.next() => {
                    let other = wire::of_json::<Hello>(&self.received(other)?.payload);
                    if let Ok(other) = other && self.yields_to(&other) {
                        return Err(self.taken(&other));
                    }
                }
                offered = self.work.next() => {
                    let offered = self.received(offered)?;
                    if let Some(assignment) = self.accept(offered).await {
                        return Ok(assignment);
                    }
                }
            }
        }
    }

    /// Answers questions during a run. An agent that was told to end leaves its name to its successor.
    pub async fn while_busy(mut self, run: String) {
        self.hello.run = Some(run.clone());
        self.hello.is_settled = true;
        loop {
            tokio::select! {
                Some(asked) = self.who.next() => self.introduce(asked).await,
                Some(asked) = self.named.next() => self.introduce_to_namesake(asked).await,
                Some(offered) = self.work.next() => {
                    if !self.leave.is_asked() {
                        self.answer(offered, &AssignmentReply::Busy(run.clone())).await;
                    }
                }
                else => return,
            }
        }
    }

    fn received(&self, message: Option<Message>) -> Result<Message, FleetError> {
        message.ok_or_else(|| failed(&self.link, &"the connection has ended"))
    }

    async fn introduce(&self, asked: Message) {
        if !self.leave.is_asked() {
            self.answer(asked, &self.hello).await;
        }
    }

    async fn introduce_to_namesake(&self, asked: Message) {
        let is_other = wire::of_json::<Hello>(&asked.payload)
            .is_ok_and(|other| other.instance != self.hello.instance);
        if is_other {
            self.introduce(asked).await;
        }
    }

    /// Whether the other agent of this name keeps it: the one that was there first, or one of two that start together.
    fn yields_to(&self, other: &Hello) -> bool {
        other.instance != self.hello.instance
            && (other.is_settled || other.instance < self.hello.instance)
    }

    fn taken(&self, other: &Hello) -> FleetError {
        FleetError::Unfit(format!(
            "an agent on host `{}` is called `{}` already; give this one another `--name`",
            other.host, other.name
        ))
    }

    /// The assignment that is offered, if the agent accepts it.
    async fn accept(&self, offered: Message) -> Option<Assignment> {
        let assignment = wire::of_json::<Assignment>(&offered.payload).ok()?;
        let is_taken = if self.trust.is_empty() {
            Ok(())
        } else {
            keys::trust(assignment.key.as_deref(), &self.trust).map(|_| ())
        };
        if let Err(error) = is_taken {
            let refusal = AssignmentReply::Refused(error.into());
            self.answer(offered, &refusal).await;
            return None;
        }
        if !self.leave.begin() {
            return None;
        }
        self.answer(offered, &AssignmentReply::Accepted).await;
        Some(assignment)
    }

    async fn answer(&self, asked: Message, answer: &impl serde::Serialize) {
        if let Some(reply) = asked.reply {
            // If the reply is lost, the coordinator asks again.
            let answer = Bytes::from(wire::json(answer));
            let _ = self.link.client.publish(reply, answer).await;
        }
    }
}

fn failed(link: &Link, error: &dyn std::fmt::Display) -> FleetError {
    FleetError::Nats {
        url: link.url.clone(),
        why: error.to_string(),
    }
}
