//! A connection that carries several exchanges at once over HTTP/2.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::protocol::{Fault, HeadRoom, OUTPUT_BYTES, Protocol};
use super::wire;
use crate::carriers::{Carrier, ConnectionLifetime};
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::hpack::RequestFields;
use crate::socket::Read;
use crate::turns::Turn;
use crate::worker::Worker;

/// The most memory for frames that a worker keeps for the next connection, in bytes.
const KEPT_BYTES: usize = 2 * OUTPUT_BYTES;

/// An open HTTP/2 connection.
///
/// It has no task of its own: an exchange that waits for a response drives the connection, which saves a wake-up for each
/// one. A finished exchange wakes another one that still waits. As with HTTP/1.1, an idle connection answers nothing;
/// frames that arrived meanwhile are processed at its next use.
pub(crate) struct Streams {
    lifetime: ConnectionLifetime,
    worker: Rc<Worker>,
    link: RefCell<Link>,
    waiting: RefCell<Vec<(u32, Waker)>>,
    active: Cell<u32>,
    /// The number of exchanges that wait until the server allows another stream.
    queueing: Cell<u32>,
    next_ticket: Cell<u32>,
    is_closing: Cell<bool>,
}

/// The connection and its state.
struct Link {
    connection: Box<Connection>,
    protocol: Protocol,
    /// Frames that concern no exchange, such as PRIORITY or interim responses, never make an exchange wait, so a server could
    /// otherwise keep the worker busy with them.
    turn: Turn,
    /// When the kernel received the bytes of the last read.
    arrived: Option<Instant>,
}

/// The outcome of one step of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Something was sent or received.
    Made,
    /// The task is woken when there is something to do.
    Waits,
}

impl Streams {
    /// Starts HTTP/2 on the connection; does not wait for the server's settings.
    pub fn begin(connection: Box<Connection>, worker: Rc<Worker>) -> Rc<Self> {
        let lifetime = ConnectionLifetime::new(connection.target.clone(), connection.opened);
        let link = Link {
            connection,
            protocol: Protocol::new(worker.pool.sizes),
            turn: Turn::default(),
            arrived: None,
        };
        Rc::new(Self {
            lifetime,
            worker,
            link: RefCell::new(link),
            waiting: RefCell::default(),
            active: Cell::new(0),
            queueing: Cell::new(0),
            next_ticket: Cell::new(0),
            is_closing: Cell::new(false),
        })
    }

    /// Registers an exchange with the connection until the seat is dropped.
    pub(super) fn enter(self: &Rc<Self>) -> StreamSeat {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket.wrapping_add(1));
        self.active.set(self.active.get() + 1);
        StreamSeat {
            streams: self.clone(),
            ticket,
            stream: Cell::new(None),
        }
    }

    /// Sends what is to be sent, and reads once.
    fn step(&self, ticket: Option<u32>, cx: &mut Context<'_>) -> Step {
        let link = &mut *self.link.borrow_mut();
        let made = link.step(&self.worker, cx);
        self.rouse(&mut link.protocol, ticket);
        made
    }

    /// Wakes the exchanges for which something has arrived, except the one that drives the connection.
    fn rouse(&self, protocol: &mut Protocol, driver: Option<u32>) {
        let is_for_all = std::mem::take(&mut protocol.has_more_room);
        if self.active.get() > 1 {
            for (ticket, waker) in self.waiting.borrow().iter() {
                let is_stirred = is_for_all || protocol.stirred.contains(ticket);
                if is_stirred && Some(*ticket) != driver {
                    waker.wake_by_ref();
                }
            }
        }
        protocol.stirred.clear();
    }

    /// Sends as much as the kernel takes. An exchange that waits sends the rest.
    fn flush(&self) {
        let link = &mut *self.link.borrow_mut();
        link.flush(&self.worker, &mut Context::from_waker(Waker::noop()));
    }
}

impl Link {
    fn step(&mut self, worker: &Worker, cx: &mut Context<'_>) -> Step {
        let unsent_bytes = self.protocol.output.len();
        self.flush(worker, cx);
        let has_sent = self.protocol.output.len() < unsent_bytes;
        if self.protocol.is_over() || self.protocol.output.len() > OUTPUT_BYTES {
            return Step::Waits;
        }
        if self.turn.is_over() {
            let _ = pin!(tokio::task::yield_now()).poll(cx);
            return Step::Waits;
        }
        match self.read(worker) {
            Read::Bytes(_) => Step::Made,
            Read::NotReady if has_sent => Step::Made,
            Read::NotReady => match wire::poll_readable(&self.connection, cx) {
                Poll::Ready(()) => Step::Made,
                Poll::Pending => Step::Waits,
            },
        }
    }

    /// Sends as much as the kernel takes, and wakes the task when it takes more.
    fn flush(&mut self, worker: &Worker, cx: &mut Context<'_>) {
        let output = &mut self.protocol.output;
        if output.is_empty() && !wire::is_blocked(&self.connection) {
            return;
        }
        if let Err(kind) = wire::flush(&mut self.connection, worker, output, cx) {
            output.clear();
            self.protocol.end(Fault::Lost(kind.into()));
        }
        let output = &mut self.protocol.output;
        if output.is_empty() && output.capacity() <= KEPT_BYTES {
            worker.frames.set(std::mem::take(output));
        }
    }

    /// Reads once, without waiting. The length of what was read does not matter.
    fn read(&mut self, worker: &Worker) -> Read {
        let scratch = &mut *worker.scratch.borrow_mut();
        let mut lines = std::mem::take(&mut scratch.output);
        let mut room = HeadRoom {
            heads: &worker.heads,
            lines: &mut lines,
        };
        let protocol = &mut self.protocol;
        let read = self.connection.read(scratch, &mut |bytes| {
            protocol.receive(bytes, &mut room);
        });
        scratch.output = lines;
        match read {
            Ok(Read::NotReady) => return Read::NotReady,
            Ok(Read::Bytes(0)) => self.protocol.end_of_input(),
            Ok(Read::Bytes(_)) => self.arrived = scratch.arrivals.last,
            Err(kind) => self.protocol.end(Fault::Lost(kind.into())),
        }
        Read::Bytes(0)
    }
}

impl Carrier for Streams {
    fn lifetime(&self) -> &ConnectionLifetime {
        &self.lifetime
    }

    fn is_over(&self) -> bool {
        self.link.borrow().protocol.is_over()
    }

    fn is_idle(&self) -> bool {
        self.active.get() == 0
    }

    fn is_fit(&self) -> bool {
        if self.is_idle() {
            self.link.borrow_mut().turn = Turn::default();
            let mut cx = Context::from_waker(Waker::noop());
            while self.step(None, &mut cx) == Step::Made {}
        }
        !self.is_closing.get() && self.link.borrow().protocol.is_fit()
    }

    fn close(&self) {
        self.is_closing.set(true);
        if self.is_idle() {
            self.link.borrow_mut().protocol.leave();
            self.flush();
            self.link.borrow_mut().connection.say_goodbye();
        }
    }
}

/// One exchange's registration with a connection.
pub(super) struct StreamSeat {
    streams: Rc<Streams>,
    ticket: u32,
    stream: Cell<Option<u32>>,
}

impl StreamSeat {
    /// Begins a request, as soon as the server accepts another one.
    pub async fn open(&self, fields: &Rc<RequestFields>, ends: bool) -> Result<(), FailureKind> {
        let opened = {
            let streams = &self.streams;
            streams.queueing.set(streams.queueing.get() + 1);
            let _queueing = Queueing(&streams.queueing);
            self.until(|protocol| {
                if protocol.output.capacity() == 0 {
                    protocol.output = streams.worker.frames.take();
                }
                protocol.poll_open(fields, ends, self.ticket)
            })
            .await
        };
        self.stream.set(Some(opened?));
        Ok(())
    }

    /// The number of the stream, which is opened.
    pub fn stream(&self) -> u32 {
        self.stream.get().unwrap_or(0)
    }

    /// Uses the state of the connection.
    pub fn with<T>(&self, act: impl FnOnce(&mut Protocol) -> T) -> T {
        act(&mut self.streams.link.borrow_mut().protocol)
    }

    /// Waits for an event that only frames of this connection cause, and drives the connection.
    pub async fn until<T>(&self, mut poll: impl FnMut(&mut Protocol) -> Poll<T>) -> T {
        poll_fn(|cx| {
            self.streams.link.borrow_mut().turn = Turn::default();
            loop {
                if let Poll::Ready(output) = self.with(&mut poll) {
                    return Poll::Ready(output);
                }
                if self.streams.step(Some(self.ticket), cx) == Step::Waits {
                    // The connection may have ended just now.
                    let polled = self.with(&mut poll);
                    return self.or_wait(polled, cx);
                }
            }
        })
        .await
    }

    /// Waits for `future` and drives the connection meanwhile.
    pub async fn driving<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            self.streams.link.borrow_mut().turn = Turn::default();
            while self.streams.step(Some(self.ticket), cx) == Step::Made {}
            self.or_wait(future.as_mut().poll(cx), cx)
        })
        .await
    }

    /// Sends as much as the kernel takes at once.
    pub fn flush(&self) {
        self.streams.flush();
    }

    /// When the kernel received the bytes that the connection read last.
    pub fn arrived(&self) -> Option<Instant> {
        self.streams.link.borrow().arrived
    }

    fn or_wait<T>(&self, polled: Poll<T>, cx: &Context<'_>) -> Poll<T> {
        if polled.is_pending() {
            self.wait(cx.waker());
        }
        polled
    }

    fn wait(&self, waker: &Waker) {
        let mut waiting = self.streams.waiting.borrow_mut();
        match waiting
            .iter_mut()
            .find(|(ticket, _)| *ticket == self.ticket)
        {
            Some((_, known)) => known.clone_from(waker),
            None => waiting.push((self.ticket, waker.clone())),
        }
    }
}

/// Counts an exchange that waits for a stream, until it is dropped.
struct Queueing<'a>(&'a Cell<u32>);

impl Drop for Queueing<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Drop for StreamSeat {
    fn drop(&mut self) {
        let streams = &self.streams;
        streams.active.set(streams.active.get() - 1);
        let mut waiting = streams.waiting.borrow_mut();
        waiting.retain(|(ticket, _)| *ticket != self.ticket);
        // The first one drives the connection from now on. Those that queue may begin their requests.
        let woken = if streams.queueing.get() > 0 {
            waiting.len()
        } else {
            1
        };
        waiting
            .iter()
            .take(woken)
            .for_each(|(_, waker)| waker.wake_by_ref());
        drop(waiting);
        if let Some(stream) = self.stream.get() {
            self.with(|protocol| protocol.close(stream));
            streams.flush();
        }
        if streams.is_idle() && streams.is_closing.get() {
            streams.close();
        }
    }
}
