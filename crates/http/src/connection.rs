//! A single connection: reading, waiting, and low costs while idle.

use std::io;
use std::rc::Rc;
use std::task::Context;
use std::time::{Duration, Instant};

use rustls::unbuffered::ConnectionState;
use socket2::SockRef;
use tokio::net::TcpStream;

use crate::failure::FailureKind;
use crate::pace::{PIECE_BYTES, Pace};
use crate::receive::Receiver;
use crate::records::{TlsState, read_tls};
use crate::socket::{Read, read_into, read_once};
use crate::sys;
use crate::target::Target;
use crate::tls;
use crate::transport::{Segments, Transport};
use crate::version::HttpVersion;
use crate::worker::{SCRATCH_BYTES, Scratch, Worker};

/// Limit of bytes that the kernel is asked to drop in one call.
const MAX_AT_ONCE: u64 = 1 << 30;
/// Limit of bytes that the kernel is asked to copy in one call.
const MAX_STORED_AT_ONCE: u64 = 1 << 20;

/// An open connection.
pub(crate) struct Connection {
    pub stream: TcpStream,
    pub tls: Option<Box<TlsState>>,
    /// Bytes received after the end of a response. Like HttpClient's session buffer, they are treated as the start of the
    /// next one.
    pub surplus: Vec<u8>,
    pub target: Target,
    pub opened: Instant,
    pub idle_since: Instant,
    /// When the connection expires and must not be reused.
    pub expires: Option<Instant>,
    /// The speed limit of the user, if any.
    pub pace: Option<Pace>,
    low_water: LowWater,
    segments: Segments,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.segments.count(&self.stream);
    }
}

/// The number of received bytes that makes a connection readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LowWater {
    /// Any.
    None,
    /// [`LOW_WATER`].
    Set,
    /// One byte, because the body arrives slowly, until only this many of its bytes remain.
    Lowered { until_ahead: u64 },
}

/// For a long body, the kernel wakes the worker only when this many bytes have arrived.
const LOW_WATER: usize = 1 << 20;
/// Receive buffer for a long body, so that the peer can keep sending while the worker wakes up.
const ROOM: usize = 4 * LOW_WATER;
/// After this many bytes, a slow body is tried at full [`LOW_WATER`] again.
const SLOW_BYTES: u64 = 16 << 20;
/// If [`LOW_WATER`] bytes do not arrive in this time, the server is slow, and any byte wakes the worker.
const LOW_WATER_PATIENCE: Duration = Duration::from_millis(5);

impl Connection {
    /// Reads once, without waiting, and hands over the decrypted bytes. Bytes that an earlier read left come first. The end of the
    /// stream is `Bytes(0)`.
    pub fn read(
        &mut self,
        scratch: &mut Scratch,
        hand: &mut dyn FnMut(&[u8]),
    ) -> Result<Read, FailureKind> {
        if !self.surplus.is_empty() {
            let surplus = std::mem::take(&mut self.surplus);
            hand(&surplus);
            return Ok(Read::Bytes(surplus.len()));
        }
        let Some(tls) = self.tls.as_deref_mut() else {
            let read = read_into(&self.stream, &mut scratch.input, &mut scratch.arrivals)?;
            if let Read::Bytes(count) = read {
                hand(&scratch.input[..count]);
            }
            return Ok(read);
        };
        if tls.closed {
            return Ok(Read::Bytes(0));
        }
        let mut pass = |payload: &[u8]| {
            hand(payload);
            Ok(())
        };
        read_tls(&self.stream, tls, scratch, &mut pass)
    }

    pub fn new(
        stream: TcpStream,
        tls: Option<Box<TlsState>>,
        target: Target,
        transport: Rc<Transport>,
    ) -> Self {
        let now = Instant::now();
        Self {
            stream,
            tls,
            surplus: Vec::new(),
            target,
            opened: now,
            idle_since: now,
            expires: None,
            pace: None,
            low_water: LowWater::None,
            segments: Segments::new(transport, now),
        }
    }

    /// Updates the count of segments that this connection has sent, at most once a second.
    pub fn count_segments(&mut self, now: Instant) {
        self.segments.look(&self.stream, now);
    }

    /// Waits until the connection is readable. Fails with `ReadTimeout` after `limit`.
    pub async fn readable(
        &self,
        worker: &Worker,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        let ready = |cx: &mut Context<'_>| self.stream.poll_read_ready(cx);
        match worker.timers.poll_within(limit, ready).await {
            // An error means that the runtime is shutting down; the following read reports it.
            Some(_) => Ok(()),
            None => Err(FailureKind::ReadTimeout),
        }
    }

    /// Like [`Connection::readable`], for a body of which at least `ahead` bytes remain. Waking up for every few bytes would cost
    /// this process more than the kernel, so it waits for many at once. From a slow server it wakes up for each read, so that
    /// `limit` applies to silence.
    pub async fn body_readable(
        &mut self,
        worker: &Worker,
        limit: Option<Duration>,
        ahead: u64,
    ) -> Result<(), FailureKind> {
        let is_slow = match self.low_water {
            LowWater::Lowered { until_ahead } => ahead > until_ahead,
            _ => false,
        };
        // With TLS, the start of a record may already be buffered.
        let is_short = ahead < (LOW_WATER + SCRATCH_BYTES) as u64;
        if is_short || self.pace.is_some() {
            self.lower_water();
            return self.readable(worker, limit).await;
        }
        if is_slow || !self.raise_water() {
            return self.readable(worker, limit).await;
        }
        let patience = LOW_WATER_PATIENCE.min(limit.unwrap_or(LOW_WATER_PATIENCE));
        match self.readable(worker, Some(patience)).await {
            Err(FailureKind::ReadTimeout) => {}
            ready => return ready,
        }
        self.lower_water();
        self.low_water = LowWater::Lowered {
            until_ahead: ahead.saturating_sub(SLOW_BYTES),
        };
        self.readable(worker, limit).await
    }

    /// Makes the connection readable only with many bytes; false if the system does not support that.
    fn raise_water(&mut self) -> bool {
        if self.low_water != LowWater::Set {
            let socket = &self.stream;
            // The first call makes the kernel enlarge the buffer.
            let raised = sys::set_low_water(socket, ROOM)
                .and_then(|()| sys::set_low_water(socket, LOW_WATER));
            if raised.is_err() {
                return false;
            }
            self.low_water = LowWater::Set;
        }
        true
    }

    /// Makes the connection readable with any byte again.
    pub fn lower_water(&mut self) {
        if self.low_water == LowWater::Set {
            // Cannot fail, since raising it succeeded.
            let _ = sys::set_low_water(&self.stream, 1);
        }
        self.low_water = LowWater::None;
    }

    /// Waits until the kernel accepts more bytes. Fails with `WriteTimeout` after `limit`. Java's sockets wait for ever, but a
    /// server that takes nothing must not hold a user whose plan sets a timeout.
    pub async fn writable(
        &self,
        worker: &Worker,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        let ready = |cx: &mut Context<'_>| self.stream.poll_write_ready(cx);
        match worker.timers.poll_within(limit, ready).await {
            // An error is handled as in `readable`.
            Some(_) => Ok(()),
            None => Err(FailureKind::WriteTimeout),
        }
    }

    /// Reads the available bytes into `receiver` without waiting. False if there were none.
    pub fn receive(
        &mut self,
        worker: &Worker,
        receiver: &mut Receiver,
    ) -> Result<bool, FailureKind> {
        let scratch = &mut *worker.scratch.borrow_mut();
        scratch.arrivals.last = None;
        let received = match &mut self.tls {
            None if self.pace.is_some() => receive_piece(
                &self.stream,
                scratch,
                receiver,
                &mut self.surplus,
                PIECE_BYTES,
            ),
            None => receive_plain(&self.stream, scratch, receiver, &mut self.surplus),
            Some(tls) => receive_tls(&self.stream, tls, scratch, receiver, &mut self.surplus),
        };
        // A speed limit makes responses wait on purpose.
        receiver.arrived(scratch.arrivals.last.filter(|_| self.pace.is_none()));
        received
    }

    /// Checks without waiting whether the server closed this idle connection (`BHttpConnectionBase.isStale`).
    pub fn is_stale(&mut self, worker: &Worker) -> bool {
        if !self.surplus.is_empty() {
            return false;
        }
        let mut byte = [std::mem::MaybeUninit::uninit()];
        match SockRef::from(&self.stream).peek(&mut byte) {
            Ok(0) => true,
            Ok(_) => match &mut self.tls {
                None => false,
                // The bytes may be a session ticket or a close notification.
                Some(tls) => {
                    let scratch = &mut *worker.scratch.borrow_mut();
                    let surplus = &mut self.surplus;
                    let mut keep = |payload: &[u8]| {
                        surplus.extend_from_slice(payload);
                        Ok(())
                    };
                    let read = read_tls(&self.stream, tls, scratch, &mut keep);
                    read.is_err() || tls.closed || read.is_ok_and(|r| r == Read::Bytes(0))
                }
            },
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Whether the server has chosen HTTP/2 by ALPN, or is known to speak it.
    pub fn speaks_http2(&self) -> bool {
        match &self.tls {
            None => self.target.version == HttpVersion::Http2,
            Some(tls) => tls.session.alpn_protocol() == Some(tls::ALPN_HTTP2),
        }
    }

    /// Closes the connection gracefully.
    pub fn close(mut self) {
        self.say_goodbye();
    }

    /// Whether the peer has ended TLS.
    pub fn is_closed_by_peer(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.closed)
    }

    /// Sends TLS's close notification, if the kernel accepts it immediately.
    pub fn say_goodbye(&mut self) {
        if let Some(tls) = self.tls.as_mut().filter(|tls| !tls.broken) {
            let mut farewell = [0; 256];
            let status = tls.session.process_tls_records(&mut tls.received);
            if let Ok(ConnectionState::WriteTraffic(mut writer)) = status.state
                && let Ok(length) = writer.queue_close_notify(&mut farewell)
            {
                // The connection is over either way.
                let _ = self.stream.try_write(&farewell[..length]);
            }
        }
    }
}

fn receive_plain(
    stream: &TcpStream,
    scratch: &mut Scratch,
    receiver: &mut Receiver,
    surplus: &mut Vec<u8>,
) -> Result<bool, FailureKind> {
    let discardable = receiver.discardable();
    // Chunks are usually shorter; it is better to read several of them with their framing.
    let storable = receiver.storable();
    if discardable > 0 && (discardable >= SCRATCH_BYTES as u64 || receiver.rest_is_payload()) {
        let limit = discardable.min(MAX_AT_ONCE) as usize;
        let read = read_once(stream, limit, || {
            let (count, stamp) = sys::discard(stream, limit, &mut scratch.input)?;
            scratch.arrivals.note(stamp);
            Ok(count)
        })?;
        return match read {
            Read::NotReady => Ok(false),
            Read::Bytes(0) => receiver.end_of_stream().map(|()| true),
            Read::Bytes(count) => receiver.discarded(count as u64).map(|()| true),
        };
    }
    if storable >= SCRATCH_BYTES as u64 {
        return store_plain(stream, scratch, receiver, storable);
    }
    receive_piece(stream, scratch, receiver, surplus, SCRATCH_BYTES)
}

/// Reads at most `most` bytes.
fn receive_piece(
    stream: &TcpStream,
    scratch: &mut Scratch,
    receiver: &mut Receiver,
    surplus: &mut Vec<u8>,
    most: usize,
) -> Result<bool, FailureKind> {
    match read_into(stream, &mut scratch.input[..most], &mut scratch.arrivals)? {
        Read::NotReady => Ok(false),
        Read::Bytes(0) => receiver.end_of_stream().map(|()| true),
        Read::Bytes(count) => {
            hand_over(&scratch.input[..count], receiver, surplus)?;
            Ok(true)
        }
    }
}

/// Reads a long body directly into its final buffer.
fn store_plain(
    stream: &TcpStream,
    scratch: &mut Scratch,
    receiver: &mut Receiver,
    storable: u64,
) -> Result<bool, FailureKind> {
    receiver.body.make_room(SCRATCH_BYTES);
    let stored = &mut receiver.body.stored;
    let room = stored.spare_capacity_mut();
    let asked = room.len().min(storable.min(MAX_STORED_AT_ONCE) as usize);
    let read = read_once(stream, asked, || {
        let (count, stamp) = sys::receive(stream, &mut room[..asked])?;
        scratch.arrivals.note(stamp);
        Ok(count)
    })?;
    match read {
        Read::NotReady => Ok(false),
        Read::Bytes(0) => receiver.end_of_stream().map(|()| true),
        Read::Bytes(count) => {
            // SAFETY: recv has initialised `count` bytes after the vector's length, within
            // its capacity.
            unsafe { stored.set_len(stored.len() + count) };
            receiver.stored(count as u64).map(|()| true)
        }
    }
}

/// Passes bytes to the receiver and keeps those that it does not take.
fn hand_over(
    bytes: &[u8],
    receiver: &mut Receiver,
    surplus: &mut Vec<u8>,
) -> Result<(), FailureKind> {
    let taken = if receiver.is_done() {
        0
    } else {
        receiver.push(bytes)?
    };
    surplus.extend_from_slice(&bytes[taken..]);
    Ok(())
}

fn receive_tls(
    stream: &TcpStream,
    tls: &mut TlsState,
    scratch: &mut Scratch,
    receiver: &mut Receiver,
    surplus: &mut Vec<u8>,
) -> Result<bool, FailureKind> {
    let mut hand = |payload: &[u8]| hand_over(payload, receiver, surplus);
    let read = read_tls(stream, tls, scratch, &mut hand)?;
    if (tls.closed || read == Read::Bytes(0)) && !receiver.is_done() {
        receiver.end_of_stream()?;
        return Ok(true);
    }
    Ok(read != Read::NotReady)
}
