//! A connection as the byte stream that the `h2` crate reads and writes.

use std::cell::{Cell, RefCell};
use std::future::Future as _;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::records::{TlsState, encrypt, read_tls};
use crate::socket::{Read, read_into};
use crate::turns::Turn;
use crate::worker::Worker;

/// Plain text is encrypted in pieces of this size, so that little remains if the kernel does not accept it.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) struct Http2Transport {
    pub connection: Box<Connection>,
    pub worker: Rc<Worker>,
    pub driver: Driver,
}

/// The task that drives a connection.
#[derive(Clone, Default)]
pub(super) struct Driver(Rc<DriverState>);

#[derive(Default)]
struct DriverState {
    /// The waker of the task. The socket wakes it when it is ready. There is none while the connection is being opened.
    waker: RefCell<Option<Waker>>,
    /// Frames that concern no exchange, such as PRIORITY or interim responses, never make an exchange wait, so a server could
    /// otherwise keep the worker busy with them.
    turn: Cell<Turn>,
    /// When the kernel received the bytes of the last read.
    arrived: Cell<Option<Instant>>,
}

impl Driver {
    /// Begins a turn of the task with this waker.
    pub fn begin_turn(&self, waker: &Waker) {
        self.0.turn.take();
        match &mut *self.0.waker.borrow_mut() {
            Some(last) => last.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// When the kernel received the bytes of the last read.
    pub fn arrived(&self) -> Option<Instant> {
        self.0.arrived.get()
    }

    /// Reads, unless this turn has lasted long enough. Then the task is woken after the runtime has polled timers and sockets.
    fn poll_turn(
        &self,
        asking: &mut Context<'_>,
        read: impl FnOnce(&mut Context<'_>) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<()>> {
        let mut turn = self.0.turn.take();
        let is_over = turn.is_over();
        self.0.turn.set(turn);
        self.woken(asking, |cx| {
            if is_over {
                let _ = pin!(tokio::task::yield_now()).poll(cx);
                Poll::Pending
            } else {
                read(cx)
            }
        })
    }

    /// Runs `act` so that it wakes the driver, or the caller's task if there is none.
    fn woken<T>(&self, asking: &mut Context<'_>, act: impl FnOnce(&mut Context<'_>) -> T) -> T {
        match &*self.0.waker.borrow() {
            Some(waker) => act(&mut Context::from_waker(waker)),
            None => act(asking),
        }
    }
}

impl Http2Transport {
    /// Passes on plain text that was decrypted earlier. False if there is none.
    fn take_surplus(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let surplus = &mut self.connection.surplus;
        let count = surplus.len().min(buffer.remaining());
        buffer.put_slice(&surplus[..count]);
        surplus.drain(..count);
        count > 0
    }

    fn poll_read_plain(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &self.connection.stream;
        let arrivals = &mut self.worker.scratch.borrow_mut().arrivals;
        loop {
            let room = buffer.initialize_unfilled();
            match read_into(stream, room, arrivals).map_err(FailureKind::into_io)? {
                Read::Bytes(count) => {
                    buffer.advance(count);
                    self.driver.0.arrived.set(arrivals.last);
                    return Poll::Ready(Ok(()));
                }
                Read::NotReady => ready!(stream.poll_read_ready(cx))?,
            }
        }
    }

    fn poll_read_tls(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.take_surplus(buffer) {
                return Poll::Ready(Ok(()));
            }
            let connection = &mut *self.connection;
            let Some(tls) = connection.tls.as_deref_mut().filter(|tls| !tls.closed) else {
                return Poll::Ready(Ok(()));
            };
            let surplus = &mut connection.surplus;
            let before = buffer.filled().len();
            let mut hand = |payload: &[u8]| {
                let fits = payload.len().min(buffer.remaining());
                buffer.put_slice(&payload[..fits]);
                surplus.extend_from_slice(&payload[fits..]);
                Ok(())
            };
            let scratch = &mut *self.worker.scratch.borrow_mut();
            let read = read_tls(&connection.stream, tls, scratch, &mut hand)
                .map_err(FailureKind::into_io)?;
            self.driver.0.arrived.set(scratch.arrivals.last);
            match read {
                Read::Bytes(0) => return Poll::Ready(Ok(())),
                Read::Bytes(_) if buffer.filled().len() > before => return Poll::Ready(Ok(())),
                // A part of a record, or a record without data.
                Read::Bytes(_) => {}
                Read::NotReady => ready!(connection.stream.poll_read_ready(cx))?,
            }
        }
    }

    fn poll_write_tls(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_unsent(cx))?;
        let connection = &mut *self.connection;
        let Some(tls) = connection.tls.as_deref_mut() else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        let plain = &bytes[..bytes.len().min(PIECE_BYTES)];
        let output = &mut self.worker.scratch.borrow_mut().output;
        output.clear();
        encrypt(tls, plain, output, &mut connection.surplus).map_err(FailureKind::into_io)?;
        let written = match connection.stream.try_write(output) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Poll::Ready(Err(error)),
        };
        tls.unsent.extend_from_slice(&output[written..]);
        Poll::Ready(Ok(plain.len()))
    }

    /// Writes the bytes that are already encrypted.
    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = &self.connection.stream;
        let Some(TlsState { unsent, .. }) = self.connection.tls.as_deref_mut() else {
            return Poll::Ready(Ok(()));
        };
        while !unsent.is_empty() {
            match stream.try_write(unsent) {
                Ok(count) => drop(unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(stream.poll_write_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Http2Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let driver = self.driver.clone();
        driver.poll_turn(cx, |cx| {
            if self.connection.tls.is_some() {
                return self.poll_read_tls(cx, buffer);
            }
            if self.take_surplus(buffer) {
                return Poll::Ready(Ok(()));
            }
            self.poll_read_plain(cx, buffer)
        })
    }
}

impl AsyncWrite for Http2Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let driver = self.driver.clone();
        driver.woken(cx, |cx| {
            if self.connection.tls.is_some() {
                return self.poll_write_tls(cx, bytes);
            }
            Pin::new(&mut self.connection.stream).poll_write(cx, bytes)
        })
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let driver = self.driver.clone();
        driver.woken(cx, |cx| {
            if self.connection.tls.is_some() {
                let first = slices.iter().find(|slice| !slice.is_empty());
                return self.poll_write_tls(cx, first.map_or(&[], |slice| slice));
            }
            Pin::new(&mut self.connection.stream).poll_write_vectored(cx, slices)
        })
    }

    fn is_write_vectored(&self) -> bool {
        // With TLS, it is better to encrypt several small pieces into one record.
        self.connection.tls.is_none()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let driver = self.driver.clone();
        driver.woken(cx, |cx| self.poll_unsent(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let driver = self.driver.clone();
        driver.woken(cx, |cx| {
            ready!(self.poll_unsent(cx))?;
            self.connection.say_goodbye();
            Pin::new(&mut self.connection.stream).poll_shutdown(cx)
        })
    }
}
