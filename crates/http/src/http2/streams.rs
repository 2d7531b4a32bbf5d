//! A connection that carries several exchanges at once over HTTP/2.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use h2::client::{Builder, Connection as Frames, SendRequest};

use super::failure::kind;
use super::wire::{Driver, Http2Transport};
use crate::carriers::{Carrier, ConnectionLifetime};
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::worker::Worker;

/// Receive windows of one response and of all together, as in Jetty's client.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// Size of HPACK's table: the default of RFC 9113.
const HEADER_TABLE_BYTES: u32 = 4096;

/// An open HTTP/2 connection.
///
/// It has no task of its own: an exchange that waits for a response drives the connection, which saves a wake-up for each
/// one. A finished exchange wakes another one that still waits. As with HTTP/1.1, an idle connection answers nothing;
/// frames that arrived meanwhile are processed at its next use. `h2` wakes the connection's task after each change of a
/// stream, but the exchange that makes the change drives the connection next. Therefore only the socket wakes the driver.
pub(crate) struct Streams {
    lifetime: ConnectionLifetime,
    driver: Driver,
    sender: RefCell<Option<SendRequest<Bytes>>>,
    /// `None` after the end of the connection.
    frames: RefCell<Option<Frames<Http2Transport, Bytes>>>,
    waiting: RefCell<Vec<(u32, Waker)>>,
    active: Cell<u32>,
    next_ticket: Cell<u32>,
}

impl Streams {
    /// Starts HTTP/2 on the connection; does not wait for the server's settings.
    pub async fn begin(
        connection: Box<Connection>,
        worker: Rc<Worker>,
    ) -> Result<Rc<Self>, FailureKind> {
        let (target, opened) = (connection.target.clone(), connection.opened);
        let driver = Driver::default();
        let max_head_bytes = u32::try_from(worker.pool.sizes.head_bytes).unwrap_or(u32::MAX);
        let wire = Http2Transport {
            connection,
            worker,
            driver: driver.clone(),
        };
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .header_table_size(HEADER_TABLE_BYTES)
            .max_header_list_size(max_head_bytes)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        let (sender, frames) = builder.handshake(wire).await.map_err(kind)?;
        Ok(Rc::new(Self {
            lifetime: ConnectionLifetime::new(target, opened),
            driver,
            sender: RefCell::new(Some(sender)),
            frames: RefCell::new(Some(frames)),
            waiting: RefCell::default(),
            active: Cell::new(0),
            next_ticket: Cell::new(0),
        }))
    }

    /// Registers an exchange with the connection until the seat is dropped.
    pub fn enter(self: &Rc<Self>) -> StreamSeat {
        if self.active.get() == 1 {
            // A lone exchange did not register for wake-ups by other exchanges.
            self.wake_another();
        }
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket.wrapping_add(1));
        self.active.set(self.active.get() + 1);
        StreamSeat {
            streams: self.clone(),
            ticket,
        }
    }

    /// Sends and receives the available frames without waiting.
    fn drive(&self, cx: &mut Context<'_>) {
        let mut frames = self.frames.borrow_mut();
        self.driver.begin_turn(cx.waker());
        let mut cx = Context::from_waker(Waker::noop());
        let over = match &mut *frames {
            Some(connection) => Pin::new(connection).poll(&mut cx).is_ready(),
            None => false,
        };
        if over {
            // Each exchange learns the reason from its own stream.
            *frames = None;
        }
    }

    /// Wakes a waiting exchange, which drives the connection from now on.
    fn wake_another(&self) {
        if let Some((_, waker)) = self.waiting.borrow().first() {
            waker.wake_by_ref();
        }
    }
}

impl Carrier for Streams {
    fn lifetime(&self) -> &ConnectionLifetime {
        &self.lifetime
    }

    fn is_over(&self) -> bool {
        self.frames.borrow().is_none()
    }

    fn is_idle(&self) -> bool {
        self.active.get() == 0
    }

    fn is_fit(&self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        if self.is_idle() {
            self.drive(&mut cx);
        }
        let mut sender = self.sender.borrow_mut();
        let ready = sender.as_mut().map(|sender| sender.poll_ready(&mut cx));
        !self.is_over() && !matches!(ready, None | Some(Poll::Ready(Err(_))))
    }

    fn close(&self) {
        self.sender.take();
        if self.is_idle() {
            self.drive(&mut Context::from_waker(Waker::noop()));
            self.frames.take();
        }
    }
}

/// One exchange's registration with a connection.
pub(crate) struct StreamSeat {
    pub streams: Rc<Streams>,
    ticket: u32,
}

impl StreamSeat {
    /// The sender of requests, as soon as the server accepts another one.
    pub async fn sender(&self) -> Result<SendRequest<Bytes>, FailureKind> {
        let sender = self.streams.sender.borrow().clone();
        let Some(mut sender) = sender else {
            return Err(FailureKind::ClosedBeforeResponse);
        };
        let ready = self.taking(|cx| sender.poll_ready(cx));
        ready.await.map_err(kind)?;
        Ok(sender)
    }

    /// Waits for `future` and drives the connection meanwhile.
    pub async fn driving<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            self.streams.drive(cx);
            self.or_wait(future.as_mut().poll(cx), cx)
        })
        .await
    }

    /// Waits for an event that only frames of this connection cause, and drives the connection.
    pub async fn arrival<T>(&self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        poll_fn(|cx| {
            self.streams.drive(cx);
            // A lone exchange reads its own frames, so it needs no wake-up. Among several, one may read frames of another.
            let polled = match self.streams.active.get() {
                1 => poll(&mut Context::from_waker(Waker::noop())),
                _ => poll(cx),
            };
            self.or_wait(polled, cx)
        })
        .await
    }

    /// Returns a result that is already available, or waits for it like [`Self::arrival`].
    pub async fn taking<T>(&self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => self.arrival(poll).await,
        }
    }

    /// When the kernel received the bytes that the connection read last.
    pub fn arrived(&self) -> Option<Instant> {
        self.streams.driver.arrived()
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

impl Drop for StreamSeat {
    fn drop(&mut self) {
        let streams = &self.streams;
        streams.active.set(streams.active.get() - 1);
        let mut waiting = streams.waiting.borrow_mut();
        waiting.retain(|(ticket, _)| *ticket != self.ticket);
        drop(waiting);
        streams.wake_another();
        if streams.is_idle() && streams.sender.borrow().is_none() {
            streams.close();
        }
    }
}
