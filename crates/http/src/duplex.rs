//! A connection whose owner sends and receives at the same time, for protocols other than HTTP.
//!
//! One task waits in [`Duplex::receive`], which also sends what the kernel did not take at once. Any code of the thread may call
//! [`Duplex::send`], which never waits.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::sync::Notify;

use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::records::encrypt;
use crate::socket::Read;
use crate::websocket::{FrameHead, Opcode, encode};
use crate::worker::{Worker, add};

/// A connection in both directions.
pub struct Duplex {
    connection: RefCell<Box<Connection>>,
    worker: Rc<Worker>,
    /// Bytes that the kernel has not taken yet, encrypted if the connection is.
    unsent: RefCell<Vec<u8>>,
    /// The start of a frame, if the bytes are in frames of WebSocket.
    frames: Option<RefCell<Vec<u8>>>,
    mask: Cell<u32>,
    receiver: RefCell<Option<Waker>>,
    flushed: Notify,
    /// When the kernel had received the bytes of the latest read, as far as it says.
    arrived: Cell<Option<Instant>>,
}

impl Duplex {
    /// `received` bytes came before the connection was made a duplex one; `mask` seeds the masks of frames.
    pub(crate) fn new(
        connection: Box<Connection>,
        worker: Rc<Worker>,
        received: Vec<u8>,
        mask: Option<u32>,
    ) -> Self {
        let mut connection = connection;
        connection.surplus.splice(..0, received);
        Self {
            connection: RefCell::new(connection),
            worker,
            unsent: RefCell::default(),
            frames: mask.map(|_| RefCell::default()),
            mask: Cell::new(mask.unwrap_or(0)),
            receiver: RefCell::default(),
            flushed: Notify::new(),
            arrived: Cell::default(),
        }
    }

    /// When the kernel had received the bytes of the latest read, as far as it says.
    pub fn arrived(&self) -> Option<Instant> {
        self.arrived.get()
    }

    /// Sends bytes, or keeps those that the kernel does not take for the task that receives. True if nothing is kept.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn send(&self, bytes: &[u8]) -> Result<bool, FailureKind> {
        if self.frames.is_some() {
            return self.send_plain(&encode(Opcode::Binary, bytes, self.next_mask()));
        }
        self.send_plain(bytes)
    }

    /// The bytes that the kernel has not taken yet.
    pub fn unsent_bytes(&self) -> usize {
        self.unsent.borrow().len()
    }

    /// Waits until the kernel has taken all bytes, or the receiving task has ended.
    pub async fn flushed(&self) {
        while self.unsent_bytes() > 0 {
            self.flushed.notified().await;
        }
    }

    /// Waits for bytes and appends them to `into`. False at the end of the stream.
    ///
    /// # Errors
    /// The connection is broken, or the server breaks the rules of TLS or WebSocket.
    pub async fn receive(&self, into: &mut Vec<u8>) -> Result<bool, FailureKind> {
        let received = poll_fn(|task| self.poll_receive(task, into)).await;
        if !matches!(received, Ok(true)) {
            // Nobody sends the rest.
            self.unsent.borrow_mut().clear();
            self.flushed.notify_waiters();
        }
        received
    }

    /// Closes the connection gracefully, without waiting for unsent bytes.
    pub fn close(&self) {
        self.worker.counts.closed(false);
        self.connection.borrow_mut().say_goodbye();
    }

    fn poll_receive(
        &self,
        task: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<Result<bool, FailureKind>> {
        self.poll_flush(task)?;
        let before = into.len();
        loop {
            let read = self.read(into)?;
            if into.len() > before {
                return Poll::Ready(Ok(true));
            }
            match read {
                Read::Bytes(0) => return Poll::Ready(Ok(false)),
                // A part of a record or of a frame.
                Read::Bytes(_) => {}
                Read::NotReady => {
                    // An error means that the runtime is shutting down; the following read reports it.
                    let ready = self.connection.borrow().stream.poll_read_ready(task);
                    if ready.is_pending() {
                        self.receiver.replace(Some(task.waker().clone()));
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Sends what is kept, as far as the kernel takes it.
    fn poll_flush(&self, task: &mut Context<'_>) -> Result<(), FailureKind> {
        while self.unsent_bytes() > 0 {
            if self
                .connection
                .borrow()
                .stream
                .poll_write_ready(task)
                .is_pending()
            {
                return Ok(());
            }
            self.write_unsent()?;
        }
        Ok(())
    }

    fn send_plain(&self, bytes: &[u8]) -> Result<bool, FailureKind> {
        let mut unsent = self.unsent.borrow_mut();
        let connection = &mut **self.connection.borrow_mut();
        let before = unsent.len();
        match &mut connection.tls {
            None if before == 0 => {
                let taken = match connection.stream.try_write(bytes) {
                    Ok(count) => count,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
                    Err(error) => return Err(FailureKind::from_io(error)),
                };
                add(&self.worker.counts.bytes_sent, taken as u64);
                unsent.extend_from_slice(&bytes[taken..]);
            }
            None => unsent.extend_from_slice(bytes),
            Some(tls) => {
                unsent.append(&mut tls.unsent);
                encrypt(tls, bytes, &mut unsent, &mut connection.surplus)?;
            }
        }
        let is_encrypted = connection.tls.is_some();
        drop(unsent);
        if before == 0 && is_encrypted {
            self.write_with(&connection.stream)?;
        }
        let is_sent = self.unsent_bytes() == 0;
        // Bytes that TLS has handed over while it encrypted must be read, too.
        if (!is_sent || !connection.surplus.is_empty())
            && let Some(receiver) = self.receiver.take()
        {
            receiver.wake();
        }
        Ok(is_sent)
    }

    fn write_unsent(&self) -> Result<(), FailureKind> {
        self.write_with(&self.connection.borrow().stream)
    }

    /// Writes as much of the kept bytes as the kernel takes.
    fn write_with(&self, stream: &tokio::net::TcpStream) -> Result<(), FailureKind> {
        let mut unsent = self.unsent.borrow_mut();
        let mut at = 0;
        let written = loop {
            if at == unsent.len() {
                break Ok(());
            }
            match stream.try_write(&unsent[at..]) {
                Ok(count) => at += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(FailureKind::from_io(error)),
            }
        };
        add(&self.worker.counts.bytes_sent, at as u64);
        unsent.drain(..at);
        if unsent.is_empty() {
            *unsent = Vec::new();
            self.flushed.notify_waiters();
        }
        written
    }

    /// Reads what is there without waiting.
    fn read(&self, into: &mut Vec<u8>) -> Result<Read, FailureKind> {
        let Some(frames) = &self.frames else {
            return self.read_plain(into);
        };
        let mut partial = frames.borrow_mut();
        let read = self.read_plain(&mut partial)?;
        let mut at = 0;
        while let Some(head) = FrameHead::read(&partial[at..]) {
            let limit = self.worker.pool.sizes.body_bytes;
            if head.payload_bytes > limit {
                return Err(FailureKind::BodyTooLarge { limit });
            }
            let Some(frame) = head.take(&partial[at..]) else {
                break;
            };
            at += frame.wire_bytes as usize;
            match frame.opcode {
                Opcode::Binary | Opcode::Text | Opcode::Continuation => {
                    into.extend_from_slice(&frame.payload);
                }
                Opcode::Ping => {
                    self.send_plain(&encode(Opcode::Pong, &frame.payload, self.next_mask()))?;
                }
                Opcode::Close => return Ok(Read::Bytes(0)),
                Opcode::Pong | Opcode::Other(_) => {}
            }
        }
        partial.drain(..at);
        if partial.is_empty() {
            *partial = Vec::new();
        }
        Ok(read)
    }

    fn read_plain(&self, into: &mut Vec<u8>) -> Result<Read, FailureKind> {
        let connection = &mut **self.connection.borrow_mut();
        let before = into.len();
        // Bytes that an earlier read left were counted then.
        let is_counted = !connection.surplus.is_empty();
        let scratch = &mut *self.worker.scratch.borrow_mut();
        let read = connection.read(scratch, &mut |bytes| into.extend_from_slice(bytes))?;
        if into.len() > before {
            self.arrived.set(scratch.arrivals.last);
        }
        if !is_counted {
            let count = into.len() - before;
            add(&self.worker.counts.bytes_received, count as u64);
        }
        Ok(read)
    }

    /// The next mask of a frame (xorshift; RFC 6455 asks for masks that scripts of a page cannot foresee, and there is no page).
    fn next_mask(&self) -> [u8; 4] {
        let mut mask = self.mask.get() | 1;
        mask ^= mask << 13;
        mask ^= mask >> 17;
        mask ^= mask << 5;
        self.mask.set(mask);
        mask.to_ne_bytes()
    }
}
