//! One virtual user's connections and TLS sessions.

use std::cell::{OnceCell, RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::carriers::{Carriers, ConnectionLifetime};
use crate::connection::Connection;
use crate::http2::streams::Streams;
#[cfg(feature = "http3")]
use crate::http3::quic::Quic;
use crate::message::ClientRules;
use crate::resolve::Resolver;
use crate::target::Target;
use crate::tls::Identity;
use crate::version::HttpVersion;
use crate::worker::{Worker, add};
use rustls::ClientConfig;

/// The HTTP state of one user: idle connections, TLS sessions, and optionally its own resolver. It takes a few words
/// until it is used.
pub struct Session {
    worker: Rc<Worker>,
    /// The most recently used connection comes last.
    #[expect(
        clippy::vec_box,
        reason = "a connection moves here and back in every exchange"
    )]
    idle: RefCell<Vec<Box<Connection>>>,
    /// Created on first use.
    http2: OnceCell<Box<RefCell<Carriers<Streams>>>>,
    #[cfg(feature = "http3")]
    http3: OnceCell<Box<RefCell<Carriers<Quic>>>>,
    tls: RefCell<Vec<UserTls>>,
    resolver: RefCell<Option<Rc<dyn Resolver>>>,
}

/// The TLS configuration for one server and identity, which holds the sessions. As in Java, a session belongs to a host
/// and port (`sun.security.ssl.SSLSessionContextImpl`).
struct UserTls {
    host: Arc<str>,
    port: u16,
    version: HttpVersion,
    identity: Option<Arc<Identity>>,
    config: Arc<ClientConfig>,
}

impl Session {
    /// A user of this worker, without connections.
    pub fn new(worker: Rc<Worker>) -> Self {
        Self {
            worker,
            idle: RefCell::default(),
            http2: OnceCell::new(),
            #[cfg(feature = "http3")]
            http3: OnceCell::new(),
            tls: RefCell::default(),
            resolver: RefCell::default(),
        }
    }

    /// The worker that the user belongs to.
    pub fn worker(&self) -> &Rc<Worker> {
        &self.worker
    }

    /// Closes all idle connections. Exchanges in progress keep theirs.
    pub fn close_connections(&self) {
        for connection in self.idle.take() {
            self.worker.counts.closed(false);
            connection.close();
        }
        let counts = &self.worker.counts;
        if let Some(http2) = self.http2.get() {
            http2.borrow_mut().close_all(counts);
        }
        #[cfg(feature = "http3")]
        if let Some(http3) = self.http3.get() {
            http3.borrow_mut().close_all(counts);
        }
    }

    /// Drops the user's TLS sessions, so that the next handshakes are full ones. Connections stay open. Sessions in a
    /// store shared by all users also stay.
    pub fn forget_tls_sessions(&self) {
        self.tls.take();
    }

    /// From now on resolves names, and addresses in their place, with `resolver`; if `None`, resolves names with the
    /// worker's resolver.
    pub fn set_resolver(&self, resolver: Option<Rc<dyn Resolver>>) {
        *self.resolver.borrow_mut() = resolver;
    }

    /// The number of idle connections.
    pub fn idle_connections(&self) -> usize {
        let http2 = self.http2.get();
        let http2 = http2.map(|http2| http2.borrow().idle_count()).unwrap_or(0);
        #[cfg(feature = "http3")]
        let http3 = self.http3.get();
        #[cfg(feature = "http3")]
        let http2 = http2 + http3.map(|http3| http3.borrow().idle_count()).unwrap_or(0);
        self.idle.borrow().len() + http2
    }

    pub(crate) fn own_resolver(&self) -> Option<Rc<dyn Resolver>> {
        self.resolver.borrow().clone()
    }

    pub(crate) fn tls_config(
        &self,
        host: &Arc<str>,
        port: u16,
        version: HttpVersion,
        identity: Option<&Arc<Identity>>,
    ) -> Arc<ClientConfig> {
        let mut all = self.tls.borrow_mut();
        let known = all.iter().find(|tls| {
            let same_identity = match (&tls.identity, identity) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                _ => false,
            };
            tls.port == port && tls.version == version && same_identity && tls.host == *host
        });
        if let Some(known) = known {
            return known.config.clone();
        }
        let config = self.worker.tls.for_user(host, port, version, identity);
        all.push(UserTls {
            host: host.clone(),
            port,
            version,
            identity: identity.cloned(),
            config: config.clone(),
        });
        config
    }

    /// Takes the most recently used idle connection to `target` that is usable. Closes unusable ones that it meets.
    pub(crate) fn take_idle(&self, target: &Target, now: Instant) -> Option<Box<Connection>> {
        let mut idle = self.idle.borrow_mut();
        let mut at = idle.len();
        while at > 0 {
            at -= 1;
            if idle[at].target != *target {
                continue;
            }
            let mut connection = idle.remove(at);
            if self.is_fit(&mut connection, now) {
                connection.count_segments(now);
                return Some(connection);
            }
            let by_peer = connection.expires.is_none_or(|expires| now < expires);
            self.worker.counts.closed(by_peer);
            connection.close();
        }
        None
    }

    fn is_fit(&self, connection: &mut Connection, now: Instant) -> bool {
        let worker = &*self.worker;
        let validated = match connection.target.rules {
            ClientRules::HttpClient => worker.pool.validate_after_inactivity,
            // It sends the request again instead.
            ClientRules::UrlConnection => None,
        };
        if connection.expires.is_none() && validated.is_none() {
            return true;
        }
        if connection.expires.is_some_and(|expires| now >= expires) {
            add(&worker.counts.expired, 1);
            return false;
        }
        let idle = now.saturating_duration_since(connection.idle_since);
        let doubtful = validated.is_some_and(|limit| idle >= limit);
        if doubtful && connection.is_stale(worker) {
            add(&worker.counts.stale, 1);
            return false;
        }
        true
    }

    /// Returns a connection after a complete exchange. `idle_time` is how long it may be idle.
    pub(crate) fn put_idle(
        &self,
        mut connection: Box<Connection>,
        now: Instant,
        idle_time: Option<Duration>,
    ) {
        connection.idle_since = now;
        connection.expires = match connection.target.rules {
            ClientRules::HttpClient => self.expiry(connection.opened, now, idle_time),
            ClientRules::UrlConnection => idle_time.and_then(|time| now.checked_add(time)),
        };
        self.idle.borrow_mut().push(connection);
    }

    /// When a connection that becomes idle now expires.
    fn expiry(
        &self,
        opened: Instant,
        now: Instant,
        idle_time: Option<Duration>,
    ) -> Option<Instant> {
        let pool = &self.worker.pool;
        let stated = idle_time.filter(|time| pool.honour_keep_alive && !time.is_zero());
        let until_idle = stated.or(pool.max_idle).and_then(|d| now.checked_add(d));
        let until_old = pool.time_to_live.and_then(|d| opened.checked_add(d));
        match (until_idle, until_old) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The user's HTTP/2 connections.
    pub(crate) fn http2(&self) -> RefMut<'_, Carriers<Streams>> {
        self.http2.get_or_init(Box::default).borrow_mut()
    }

    /// The user's HTTP/3 connections.
    #[cfg(feature = "http3")]
    pub(crate) fn http3(&self) -> RefMut<'_, Carriers<Quic>> {
        self.http3.get_or_init(Box::default).borrow_mut()
    }

    /// Marks a shared connection as idle after an exchange.
    pub(crate) fn keep(&self, lifetime: &ConnectionLifetime, now: Instant) {
        lifetime.idle_since.set(now);
        lifetime
            .expires
            .set(self.expiry(lifetime.opened, now, None));
    }
}

/// Closes the user's connections.
impl Drop for Session {
    fn drop(&mut self) {
        self.close_connections();
    }
}
