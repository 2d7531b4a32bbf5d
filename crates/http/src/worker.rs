//! The state that the users of one worker thread share.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use recycle_box::RecycleBox;
use rustls::Error;

use crate::arrivals::Arrivals;
use crate::hpack::RequestFields;
use crate::known_heads::{KnownHeads, KnownRequests};
use crate::message::{Incoming, SizeLimits};
use crate::resolve::{Resolver, SystemResolver};
use crate::spare::SparePool;
use crate::timer::Timers;
use crate::tls::{Tls, TlsOptions};
use crate::transport::Transport;
use crate::turns::Turns;

/// Size of the buffers for reading and encrypting. They hold more than one TLS record.
pub(crate) const SCRATCH_BYTES: usize = 64 * 1024;

/// Settings of a worker's connections.
#[derive(Debug, Clone, Copy)]
pub struct PoolOptions {
    /// Before reusing a connection that was idle for this long, check whether the server closed it
    /// (`PoolingHttpClientConnectionManager.setValidateAfterInactivity`). `None`: never.
    pub validate_after_inactivity: Option<Duration>,
    /// Do not reuse a connection that was idle for this long, unless its server announced another time by `Keep-Alive:
    /// timeout`.
    pub max_idle: Option<Duration>,
    /// Do not reuse a connection that was opened this long ago.
    pub time_to_live: Option<Duration>,
    /// Honour the server's `Keep-Alive: timeout` (`DefaultConnectionKeepAliveStrategy`).
    pub honour_keep_alive: bool,
    /// Close connections by a reset (`SO_LINGER` of 0), which leaves no port in TIME_WAIT. Data that the peer has not
    /// received yet may be lost.
    pub close_with_reset: bool,
    /// Speed limit of plain connections (`httpclient.socket.http.cps`).
    pub bytes_per_second: Option<NonZeroU32>,
    /// Speed limit of TLS connections (`httpclient.socket.https.cps`).
    pub tls_bytes_per_second: Option<NonZeroU32>,
    /// Size limits of responses; larger ones fail.
    pub sizes: SizeLimits,
    /// The longest time that an exchange may take in all, with its connection. [`crate::Limits`] bound each silence; a server
    /// that sends a byte now and then never reaches those.
    pub max_exchange: Option<Duration>,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            validate_after_inactivity: None,
            max_idle: None,
            time_to_live: None,
            honour_keep_alive: true,
            close_with_reset: false,
            bytes_per_second: None,
            tls_bytes_per_second: None,
            sizes: SizeLimits::default(),
            max_exchange: None,
        }
    }
}

/// Buffers, TLS settings, name cache and counters of one worker thread. It belongs to one tokio runtime, as its
/// connections and timers do.
pub struct Worker {
    pub(crate) tls: Arc<Tls>,
    pub(crate) pool: PoolOptions,
    pub(crate) resolver: Rc<dyn Resolver>,
    /// Never borrowed across an await.
    pub(crate) scratch: RefCell<Scratch>,
    pub(crate) counts: Counters,
    pub(crate) heads: Rc<KnownHeads>,
    pub(crate) requests: KnownRequests<Rc<RequestFields>>,
    #[cfg(feature = "http3")]
    pub(crate) http3_requests: KnownRequests<http::Request<()>>,
    /// Memory for the frames that a connection of HTTP/2 sends.
    pub(crate) frames: Cell<Vec<u8>>,
    pub(crate) responses: SparePool<Box<Incoming>>,
    /// Memory for the futures of HTTP/2 exchanges.
    pub(crate) rooms: SparePool<RecycleBox<()>>,
    pub(crate) timers: Timers,
    /// Limits the time of TLS handshakes.
    pub(crate) turns: Turns,
    pub(crate) descriptors: BackOff,
    pub(crate) transport: Rc<Transport>,
}

pub(crate) struct Scratch {
    pub input: Box<[u8]>,
    pub output: Vec<u8>,
    pub arrivals: Arrivals,
}

impl Worker {
    /// A worker with the operating system's resolver.
    pub fn new(tls: Arc<Tls>, pool: PoolOptions) -> Rc<Self> {
        Self::with_resolver(tls, pool, Rc::new(SystemResolver::default()))
    }

    /// A worker that resolves names with `resolver`.
    pub fn with_resolver(tls: Arc<Tls>, pool: PoolOptions, resolver: Rc<dyn Resolver>) -> Rc<Self> {
        Rc::new(Self {
            tls,
            pool,
            resolver,
            scratch: RefCell::new(Scratch {
                input: vec![0; SCRATCH_BYTES].into(),
                output: Vec::new(),
                arrivals: Arrivals::default(),
            }),
            counts: Counters::default(),
            heads: Rc::default(),
            requests: KnownRequests::default(),
            #[cfg(feature = "http3")]
            http3_requests: KnownRequests::default(),
            frames: Cell::default(),
            responses: SparePool::default(),
            rooms: SparePool::default(),
            timers: Timers::default(),
            turns: Turns::default(),
            descriptors: BackOff::default(),
            transport: Rc::default(),
        })
    }

    /// A worker with default settings.
    pub fn with_defaults() -> Result<Rc<Self>, Error> {
        let tls = Tls::new(&TlsOptions::default())?;
        Ok(Self::new(tls, PoolOptions::default()))
    }

    /// Returns a processed response, whose memory the next one reuses.
    pub fn take_back(&self, mut response: Box<Incoming>) {
        response.body = None;
        self.responses.take_back(response);
    }

    /// The size limits of responses.
    pub fn sizes(&self) -> SizeLimits {
        self.pool.sizes
    }

    /// The longest time that an exchange may take in all.
    pub fn max_exchange(&self) -> Option<Duration> {
        self.pool.max_exchange
    }

    /// The counts of this worker so far.
    pub fn statistics(&self) -> Statistics {
        let counts = &self.counts;
        Statistics {
            connections_opened: counts.opened.get(),
            connections_reused: counts.reused.get(),
            connections_stale: counts.stale.get(),
            connections_expired: counts.expired.get(),
            handshakes_full: counts.handshakes_full.get(),
            handshakes_resumed: counts.handshakes_resumed.get(),
            bytes_sent: counts.bytes_sent.get(),
            bytes_received: counts.bytes_received.get(),
            exchanges: counts.exchanges.get(),
            failures: counts.failures.get(),
            closed_by_us: counts.closed_by_us.get(),
            closed_by_peer: counts.closed_by_peer.get(),
            segments_sent: self.transport.sent.get(),
            segments_sent_again: self.transport.sent_again.get(),
        }
    }

    /// The targets of connections, each with its port.
    pub fn targets(&self) -> Vec<String> {
        self.transport.targets()
    }

    /// Ports of targets on this machine.
    pub fn local_ports(&self) -> Vec<u16> {
        self.transport.local_ports()
    }
}

/// Delays users who found no file descriptor. The delay grows with every failure on the worker until a connection
/// opens.
#[derive(Default)]
pub(crate) struct BackOff {
    failures: Cell<u32>,
}

impl BackOff {
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(1);

    /// Records another failure and returns how long to wait.
    pub fn next_pause(&self) -> Duration {
        let failures = self.failures.get();
        self.failures.set(failures.saturating_add(1));
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        Self::FIRST.saturating_mul(factor).min(Self::LONGEST)
    }

    /// Resets the delay: a file descriptor was available.
    pub fn recover(&self) {
        self.failures.set(0);
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub opened: Cell<u64>,
    pub reused: Cell<u64>,
    pub stale: Cell<u64>,
    pub expired: Cell<u64>,
    pub handshakes_full: Cell<u64>,
    pub handshakes_resumed: Cell<u64>,
    pub bytes_sent: Cell<u64>,
    pub bytes_received: Cell<u64>,
    pub exchanges: Cell<u64>,
    pub failures: Cell<u64>,
    pub closed_by_us: Cell<u64>,
    pub closed_by_peer: Cell<u64>,
}

impl Counters {
    /// Adds bytes sent and received.
    pub fn transferred(&self, sent_bytes: u64, received_bytes: u64) {
        add(&self.bytes_sent, sent_bytes);
        add(&self.bytes_received, received_bytes);
    }

    /// Counts a closed connection.
    pub fn closed(&self, by_peer: bool) {
        add(
            if by_peer {
                &self.closed_by_peer
            } else {
                &self.closed_by_us
            },
            1,
        );
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &Cell<u64>, count: u64) {
    counter.set(counter.get() + count);
}

/// Counts since the worker was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// TCP connections that were opened.
    pub connections_opened: u64,
    /// Exchanges that ran on a connection opened for an earlier one.
    pub connections_reused: u64,
    /// Idle connections found closed by the server and dropped.
    pub connections_stale: u64,
    /// Idle connections dropped because they had expired.
    pub connections_expired: u64,
    /// TLS handshakes with a full key exchange.
    pub handshakes_full: u64,
    /// TLS handshakes that resumed a session.
    pub handshakes_resumed: u64,
    /// Bytes of HTTP, before encryption.
    pub bytes_sent: u64,
    /// Bytes of HTTP, after decryption.
    pub bytes_received: u64,
    /// Exchanges that received a response.
    pub exchanges: u64,
    /// Exchanges without a response.
    pub failures: u64,
    /// Connections closed by Drumfire: without keep-alive, for a new iteration, expired, or after a local failure.
    pub closed_by_us: u64,
    /// Connections closed by the server, or at its request (`Connection: close`).
    pub closed_by_peer: u64,
    /// TCP segments of these connections, as far as counted: once a second, and at their end.
    pub segments_sent: u64,
    /// Those of them that were retransmissions.
    pub segments_sent_again: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_without_descriptors_back_off_until_one_connects() {
        let back_off = BackOff::default();
        let pauses: Vec<_> = (0..9).map(|_| back_off.next_pause().as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        (0..100).for_each(|_| _ = back_off.next_pause());
        assert_eq!(back_off.next_pause(), BackOff::LONGEST);
        back_off.recover();
        assert_eq!(back_off.next_pause(), BackOff::FIRST);
    }
}
