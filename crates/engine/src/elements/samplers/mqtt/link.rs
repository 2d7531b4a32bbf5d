//! An open connection, and the task that receives its messages.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_http::{Duplex, FailureKind};
use drumfire_mqtt::{Client, Event, Message, PacketError, PublishError, Qos, Sequence};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::task::coop::consume_budget;

use super::inbox::Inbox;
use crate::base::clock::Clock;

/// Bytes that may wait for the kernel before a message of QoS 0 waits, too.
const MAX_UNSENT_BYTES: usize = 256 << 10;

/// An open connection of a user, which ends when the user gives it up.
pub struct UserLink {
    pub link: Rc<Link>,
    task: JoinHandle<()>,
}

impl UserLink {
    /// Starts the task that receives.
    pub fn start(link: Link) -> UserLink {
        let link = Rc::new(link);
        let task = tokio::task::spawn_local(Link::serve(link.clone()));
        UserLink { link, task }
    }
}

impl Drop for UserLink {
    fn drop(&mut self) {
        self.task.abort();
        self.link.wire.close();
    }
}

/// An open connection.
pub struct Link {
    pub client_id: String,
    /// How the plugin shows it.
    pub shown: String,
    wire: Duplex,
    client: RefCell<Client>,
    clock: Clock,
    limits: LinkLimits,
    answers: RefCell<Vec<Answer>>,
    /// Where messages go; the last Sub Sampler of the user has it.
    inbox: RefCell<Option<Rc<RefCell<Inbox>>>>,
    /// The topics of each subscription, separated by commas.
    subscriptions: RefCell<Vec<String>>,
    pub sequence: RefCell<Sequence>,
    end: RefCell<Option<LinkEnd>>,
    /// Tells waiting samplers that something has come.
    news: Notify,
    last_sent: Cell<Instant>,
    awaits_pong: Cell<bool>,
}

/// The pings and the memory limit of a connection.
#[derive(Debug, Clone, Copy)]
pub struct LinkLimits {
    /// The pause after which a ping is sent; zero sends none.
    pub keep_alive: Duration,
    /// The memory of the messages that no sampler has taken.
    pub waiting_bytes: usize,
}

/// The answers of a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Connected {
        code: u8,
        reason: Option<String>,
        client_id: Option<String>,
        keep_alive_s: Option<u16>,
    },
    Published {
        id: u16,
        code: u8,
        /// When the kernel received it, as far as it says.
        arrived: Option<Instant>,
    },
    Subscribed(u16, Vec<u8>),
}

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEnd {
    /// The server closed it.
    Closed,
    /// The server said why (MQTT 5).
    Disconnected(String),
    Broken(String),
    Protocol(PacketError),
    /// The server did not answer a ping.
    Silent,
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkEnd::Closed => f.write_str("the server closed the connection"),
            LinkEnd::Disconnected(why) => write!(f, "the server ended the connection: {why}"),
            LinkEnd::Broken(why) => write!(f, "the connection broke: {why}"),
            LinkEnd::Protocol(error) => write!(f, "the server broke the protocol: {error}"),
            LinkEnd::Silent => f.write_str("the server did not answer a ping"),
        }
    }
}

impl From<FailureKind> for LinkEnd {
    fn from(kind: FailureKind) -> LinkEnd {
        match kind {
            FailureKind::Reset | FailureKind::BrokenPipe => LinkEnd::Closed,
            FailureKind::Io(error) => LinkEnd::Broken(error.to_string()),
            other => LinkEnd::Broken(format!("{other:?}")),
        }
    }
}

/// Why a message was not sent.
#[derive(Debug)]
pub enum SendFailure {
    /// The connection is over.
    Ended,
    Refused(PublishError),
}

impl Link {
    pub fn new(
        wire: Duplex,
        client: Client,
        client_id: String,
        shown: String,
        clock: Clock,
        waiting_bytes: usize,
    ) -> Link {
        Link {
            client_id,
            shown,
            wire,
            client: RefCell::new(client),
            clock,
            limits: LinkLimits {
                keep_alive: Duration::ZERO,
                waiting_bytes,
            },
            answers: RefCell::default(),
            inbox: RefCell::default(),
            subscriptions: RefCell::default(),
            sequence: RefCell::default(),
            end: RefCell::default(),
            news: Notify::new(),
            last_sent: Cell::new(Instant::now()),
            awaits_pong: Cell::new(false),
        }
    }

    pub fn set_keep_alive(&mut self, seconds: u16) {
        self.limits.keep_alive = Duration::from_secs(seconds.into());
    }

    /// Why the connection is over, if it is.
    pub fn end(&self) -> Option<LinkEnd> {
        self.end.borrow().clone()
    }

    /// Sends messages to this inbox from now on.
    pub fn deliver_to(&self, inbox: &Rc<RefCell<Inbox>>) {
        let mut known = self.inbox.borrow_mut();
        if !known.as_ref().is_some_and(|known| Rc::ptr_eq(known, inbox)) {
            *known = Some(inbox.clone());
        }
    }

    /// Whether it has subscribed to these topics.
    pub fn has_subscribed(&self, topics: &str) -> bool {
        self.subscriptions
            .borrow()
            .iter()
            .any(|known| known == topics)
    }

    /// Counts a subscription. Retained messages may come with the answer to it, so this comes before it is sent.
    pub fn note_subscription(&self, topics: &str) {
        self.subscriptions.borrow_mut().push(topics.to_owned());
    }

    /// Takes back the last subscription, which the server has refused.
    pub fn forget_subscription(&self) {
        self.subscriptions.borrow_mut().pop();
    }

    /// How often the plugin delivers a message: once for each subscription that matches it (`MqttIncomingPublishFlows`).
    fn deliveries(&self, topic: &str) -> usize {
        let subscriptions = self.subscriptions.borrow();
        if subscriptions.len() < 2 {
            return 1;
        }
        let is_match = |topics: &&String| {
            let mut filters = topics.split(',');
            filters.any(|filter| drumfire_mqtt::matches(filter, topic))
        };
        subscriptions.iter().filter(is_match).count()
    }

    /// Sends what `write` writes. True if the kernel has taken it.
    pub fn send<T>(
        &self,
        write: impl FnOnce(&mut Client, &mut Vec<u8>) -> Result<T, PublishError>,
    ) -> Result<(T, bool), SendFailure> {
        if self.end.borrow().is_some() {
            return Err(SendFailure::Ended);
        }
        let mut out = Vec::new();
        let written = write(&mut self.client.borrow_mut(), &mut out);
        let written = written.map_err(SendFailure::Refused)?;
        match self.wire.send(&out) {
            Ok(is_sent) => {
                self.last_sent.set(Instant::now());
                Ok((
                    written,
                    is_sent || self.wire.unsent_bytes() < MAX_UNSENT_BYTES,
                ))
            }
            Err(kind) => {
                self.finish(kind.into());
                Err(SendFailure::Ended)
            }
        }
    }

    /// Sends a message; see [`Link::send`].
    pub fn publish(&self, message: &Message<'_>) -> Result<(u16, bool), SendFailure> {
        self.send(|client, out| client.publish(message, out))
    }

    /// Asks for messages of these topics; see [`Link::send`].
    pub fn subscribe(&self, filters: &[&str], qos: Qos) -> Result<(u16, bool), SendFailure> {
        self.answers.borrow_mut().clear();
        self.send(|client, out| client.subscribe(filters, qos, out))
    }

    /// Tells the server that the client leaves.
    pub fn disconnect(&self) -> Result<(), SendFailure> {
        self.send(|client, out| {
            client.disconnect(out);
            Ok(())
        })
        .map(drop)
    }

    /// Forgets answers for which no sampler waits any more.
    pub fn forget_answers(&self) {
        self.answers.borrow_mut().clear();
    }

    /// Waits for the answer to a message: its code, and when the kernel received it.
    pub async fn published(&self, id: u16) -> Result<(u8, Option<Instant>), LinkEnd> {
        self.answer(|answer| match answer {
            Answer::Published {
                id: own,
                code,
                arrived,
            } if *own == id => Some((*code, *arrived)),
            _ => None,
        })
        .await
    }

    /// When the kernel had received the bytes of the latest read, as far as it says.
    pub fn arrived(&self) -> Option<Instant> {
        self.wire.arrived()
    }

    /// Waits for the answer to a subscription.
    pub async fn subscription(&self, id: u16) -> Result<Vec<u8>, LinkEnd> {
        self.answer(|answer| match answer {
            Answer::Subscribed(own, codes) if *own == id => Some(std::mem::take(codes)),
            _ => None,
        })
        .await
    }

    async fn answer<T>(&self, take: impl Fn(&mut Answer) -> Option<T>) -> Result<T, LinkEnd> {
        loop {
            if let Some(taken) = self.answers.borrow_mut().iter_mut().find_map(&take) {
                return Ok(taken);
            }
            self.goes_on()?;
            self.news.notified().await;
        }
    }

    /// Waits until the kernel has taken all bytes.
    pub async fn flushed(&self) {
        self.wire.flushed().await;
    }

    /// Waits until a batch of messages is complete.
    pub async fn batch(&self, inbox: &RefCell<Inbox>) -> Result<(), LinkEnd> {
        while !inbox.borrow().is_ready() {
            self.goes_on()?;
            self.news.notified().await;
        }
        Ok(())
    }

    fn goes_on(&self) -> Result<(), LinkEnd> {
        self.end().map_or(Ok(()), Err)
    }

    /// Receives the answer to CONNECT, before the task of the connection starts.
    pub async fn connected(&self) -> Result<Answer, LinkEnd> {
        loop {
            let answer = self.answers.borrow_mut().pop();
            if let Some(answer) = answer {
                return Ok(answer);
            }
            self.receive_once().await?;
        }
    }

    async fn receive_once(&self) -> Result<(), LinkEnd> {
        let mut bytes = Vec::new();
        if self.wire.receive(&mut bytes).await? {
            self.take(&bytes)
        } else {
            Err(LinkEnd::Closed)
        }
    }

    /// Receives until the connection is over.
    async fn serve(link: Rc<Link>) {
        let end = loop {
            let keep_alive = link.limits.keep_alive;
            let received = if keep_alive.is_zero() {
                link.receive_once().await
            } else {
                let due = link.last_sent.get() + keep_alive;
                match tokio::time::timeout_at(due.into(), link.receive_once()).await {
                    Ok(received) => received,
                    Err(_) => link.keep_alive(),
                }
            };
            if let Err(end) = received {
                break end;
            }
            // A server that floods the connection leaves the worker's other users their turn.
            consume_budget().await;
        };
        link.finish(end);
    }

    /// Sends a ping if nothing else was sent for long enough.
    fn keep_alive(&self) -> Result<(), LinkEnd> {
        if self.last_sent.get().elapsed() < self.limits.keep_alive {
            return Ok(());
        }
        if self.awaits_pong.replace(true) {
            return Err(LinkEnd::Silent);
        }
        let sent = self.send(|client, out| {
            client.ping(out);
            Ok(())
        });
        sent.map(drop)
            .map_err(|_| self.end().unwrap_or(LinkEnd::Closed))
    }

    fn take(&self, bytes: &[u8]) -> Result<(), LinkEnd> {
        let mut out = Vec::new();
        let mut end = None;
        let taken = self
            .client
            .borrow_mut()
            .receive(bytes, &mut out, &mut |event| {
                self.note(event, &mut end);
            });
        self.news.notify_waiters();
        taken.map_err(LinkEnd::Protocol)?;
        if !out.is_empty() {
            self.wire.send(&out)?;
            self.last_sent.set(Instant::now());
        }
        end.map_or(Ok(()), Err)
    }

    fn note(&self, event: Event<'_>, end: &mut Option<LinkEnd>) {
        let answer = match event {
            Event::Message(message) => {
                if let Some(inbox) = &*self.inbox.borrow() {
                    let now_ms = self.clock.now_ms();
                    let limit = self.limits.waiting_bytes;
                    for _ in 0..self.deliveries(message.topic) {
                        inbox.borrow_mut().take(message.payload, now_ms, limit);
                    }
                }
                return;
            }
            Event::Pong => return self.awaits_pong.set(false),
            Event::Ended(code, words) => {
                let why = words.unwrap_or(drumfire_mqtt::reason(code));
                *end = Some(LinkEnd::Disconnected(why.to_owned()));
                return;
            }
            Event::Connected(answer) => Answer::Connected {
                code: answer.code,
                reason: answer.reason.map(str::to_owned),
                client_id: answer.client_id.map(str::to_owned),
                keep_alive_s: answer.keep_alive_s,
            },
            Event::Published(id, code) => Answer::Published {
                id,
                code,
                arrived: self.wire.arrived(),
            },
            Event::Subscribed(id, codes) => Answer::Subscribed(id, codes.to_vec()),
        };
        let mut answers = self.answers.borrow_mut();
        // Most clients wait for one answer at a time, and the memory stays with the connection.
        answers.reserve_exact(1);
        answers.push(answer);
    }

    fn finish(&self, end: LinkEnd) {
        self.end.borrow_mut().get_or_insert(end);
        self.news.notify_waiters();
    }
}
