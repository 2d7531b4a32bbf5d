//! A dedicated connection for a protocol in which client and server take turns: bytes are sent, and lines or blocks are received.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::memchr;

use crate::connect::{Opening, Secured, secure};
use crate::connection::Connection;
use crate::failure::{Failure, FailureKind};
use crate::message::{Body, Limits, Times, Tunnel};
use crate::proxy::BareConnect;
use crate::session::Session;
use crate::socket::Read;
use crate::source::UnsentRequest;
use crate::target::Target;
use crate::tls::Tls;
use crate::turns::Turn;
use crate::version::HttpVersion;
use crate::worker::{Worker, add};

/// An open connection, with the bytes that were received and not yet taken.
pub struct Dialogue {
    pub(crate) connection: Box<Connection>,
    pub(crate) worker: Rc<Worker>,
    /// Received bytes, of which the first were consumed already.
    pub(crate) received: Vec<u8>,
    pub(crate) consumed: usize,
    /// When the kernel had received the bytes of the latest read, as far as it says.
    pub(crate) arrived: Option<Instant>,
    turn: Turn,
}

impl Dialogue {
    /// Opens a dedicated connection to `target`. If it has a proxy, connects through it with the CONNECT that `tunnel` writes.
    ///
    /// # Errors
    /// Errors of connecting, see [`FailureKind`].
    pub async fn connect(
        session: &Session,
        target: &Target,
        tunnel: Option<&dyn Tunnel>,
        limits: Limits,
    ) -> Result<(Self, Times), Box<Failure>> {
        let mut times = Times::starting(Instant::now());
        let tunnel = tunnel.unwrap_or(&BareConnect);
        let mut opening = Opening::new(session, target, tunnel, limits, &mut times);
        opening.tunnels_plain = true;
        let connection = match opening.open().await {
            Ok(connection) => Box::new(connection),
            Err(kind) => return Err(opening.failed(kind).await),
        };
        times.end = Instant::now();
        let dialogue = Self {
            connection,
            worker: session.worker().clone(),
            received: Vec::new(),
            consumed: 0,
            arrived: None,
            turn: Turn::default(),
        };
        Ok((dialogue, times))
    }

    /// Sends bytes unchanged. `limit` applies to each time in which the server takes nothing.
    ///
    /// # Errors
    /// The connection is broken, or the server takes nothing.
    pub async fn send(&mut self, bytes: &[u8], limit: Option<Duration>) -> Result<(), FailureKind> {
        let mut source = UnsentRequest::new(bytes, Body::None);
        let sent = self.connection.send(&self.worker, &mut source, limit).await;
        add(&self.worker.counts.bytes_sent, source.sent);
        sent
    }

    /// Receives a line without its end, LF or CR LF. `None` at the end of the stream, unless a line without an end stands in front
    /// of it. `limit` applies to each silence.
    ///
    /// # Errors
    /// The connection is broken, the server is silent, or the line has more than `most` bytes.
    pub async fn line(
        &mut self,
        most: usize,
        limit: Option<Duration>,
    ) -> Result<Option<Vec<u8>>, FailureKind> {
        let mut searched = 0;
        loop {
            let rest = &self.received[self.consumed..];
            if let Some(found) = memchr(b'\n', &rest[searched..]) {
                let end = searched + found;
                let line = &rest[..end];
                let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
                self.consumed += end + 1;
                return Ok(Some(line));
            }
            searched = rest.len();
            if searched > most {
                return Err(FailureKind::HeadTooLarge { limit: most });
            }
            if !self.receive_more(limit).await? {
                let rest = self.received.split_off(self.consumed);
                return Ok((!rest.is_empty()).then_some(rest));
            }
        }
    }

    /// Receives this many bytes and appends them to `into`. False if the stream ends first.
    ///
    /// # Errors
    /// The connection is broken, or the server is silent.
    pub async fn block(
        &mut self,
        count: usize,
        into: &mut Vec<u8>,
        limit: Option<Duration>,
    ) -> Result<bool, FailureKind> {
        let mut missing = count;
        loop {
            let rest = &self.received[self.consumed..];
            let taken = rest.len().min(missing);
            into.extend_from_slice(&rest[..taken]);
            self.consumed += taken;
            missing -= taken;
            if missing == 0 {
                return Ok(true);
            }
            if !self.receive_more(limit).await? {
                return Ok(false);
            }
        }
    }

    /// Continues the connection over TLS. Bytes that arrived before the handshake are dropped, because anybody may have sent them.
    ///
    /// # Errors
    /// The handshake failed.
    pub async fn start_tls(
        &mut self,
        tls: &Tls,
        host: &Arc<str>,
        port: u16,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        self.received.clear();
        self.consumed = 0;
        let stream = &self.connection.stream;
        let peer = stream.peer_addr().map_err(FailureKind::from_io)?;
        let config = tls.for_user(host, port, HttpVersion::Http1, None);
        let secured = Secured {
            config,
            host,
            peer: peer.ip(),
            verifies: tls.verifies(),
            limit,
        };
        let (state, _) = secure(stream, &self.worker, secured).await?;
        self.connection.tls = Some(state);
        Ok(())
    }

    /// When the kernel had received the bytes that were read since the last call, as far as it says.
    pub fn take_arrival(&mut self) -> Option<Instant> {
        self.arrived.take()
    }

    /// Closes the connection.
    pub fn close(self) {
        self.worker.counts.closed(false);
        self.connection.close();
    }

    /// Yields to the other users of the worker if this turn is over.
    pub(crate) async fn take_turns(&mut self) {
        if self.turn.is_over() {
            tokio::task::yield_now().await;
        }
    }

    /// Waits for more bytes. False at the end of the stream.
    pub(crate) async fn receive_more(
        &mut self,
        limit: Option<Duration>,
    ) -> Result<bool, FailureKind> {
        self.received.drain(..std::mem::take(&mut self.consumed));
        loop {
            self.take_turns().await;
            let before = self.received.len();
            match self.read_available()? {
                Read::Bytes(0) => return Ok(self.received.len() > before),
                _ if self.received.len() > before => {
                    let count = self.received.len() - before;
                    self.arrived = self.worker.scratch.borrow().arrivals.last;
                    add(&self.worker.counts.bytes_received, count as u64);
                    return Ok(true);
                }
                // A part of a record, or a record without data.
                Read::Bytes(_) => {}
                Read::NotReady => {
                    self.connection.readable(&self.worker, limit).await?;
                    self.turn = Turn::default();
                }
            }
        }
    }

    fn read_available(&mut self) -> Result<Read, FailureKind> {
        let received = &mut self.received;
        let scratch = &mut *self.worker.scratch.borrow_mut();
        let mut keep = |bytes: &[u8]| received.extend_from_slice(bytes);
        self.connection.read(scratch, &mut keep)
    }
}
