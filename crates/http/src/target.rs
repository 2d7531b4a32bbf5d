//! The target of an exchange.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::message::ClientRules;
use crate::tls::Identity;
use crate::version::HttpVersion;

/// The server of a connection, and how to reach it. Connections are reused between equal targets.
#[derive(Debug, Clone)]
pub struct Target {
    /// A name or an IP address (IPv6 without brackets).
    pub host: Arc<str>,
    /// The TCP or UDP port.
    pub port: u16,
    /// Whether to use TLS.
    pub tls: bool,
    /// The newest HTTP version to use.
    pub version: HttpVersion,
    /// The client whose rules connections follow.
    pub rules: ClientRules,
    /// The proxy, if there is one.
    pub proxy: Option<Arc<Proxy>>,
    /// The local addresses to connect from.
    pub source: Option<Arc<SourceAddresses>>,
    /// The certificate to present if the server requests one.
    pub identity: Option<Arc<Identity>>,
}

impl Target {
    /// A target that is reached directly over HTTP/1.1.
    pub fn new(host: impl Into<Arc<str>>, port: u16, tls: bool) -> Self {
        Self {
            host: host.into(),
            port,
            tls,
            version: HttpVersion::Http1,
            rules: ClientRules::HttpClient,
            proxy: None,
            source: None,
            identity: None,
        }
    }
}

impl Target {
    /// Host and port as in CONNECT, with IPv6 addresses in brackets.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.port == other.port
            && self.tls == other.tls
            && self.version == other.version
            && self.rules == other.rules
            && (Arc::ptr_eq(&self.host, &other.host) || self.host.eq_ignore_ascii_case(&other.host))
            && match (&self.source, &other.source) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.addresses == b.addresses,
                _ => false,
            }
            && match (&self.proxy, &other.proxy) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
                _ => false,
            }
            && match (&self.identity, &other.identity) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                _ => false,
            }
    }
}

/// Local addresses that connections use in turn. Each address has its own ports.
#[derive(Debug)]
pub struct SourceAddresses {
    addresses: Box<[IpAddr]>,
    next: AtomicUsize,
}

impl SourceAddresses {
    /// These addresses, in turn.
    pub fn new(addresses: impl Into<Box<[IpAddr]>>) -> Arc<Self> {
        Arc::new(Self {
            addresses: addresses.into(),
            next: AtomicUsize::new(0),
        })
    }

    /// The addresses in order.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The next address in turn, from the peer's address family if there are any.
    pub(crate) fn next(&self, peer: SocketAddr) -> Option<IpAddr> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let fits = |address: &&IpAddr| address.is_ipv4() == peer.is_ipv4();
        let count = self.addresses.iter().filter(fits).count();
        match count {
            0 => self.addresses.first().copied(),
            _ => self
                .addresses
                .iter()
                .filter(fits)
                .nth(turn % count)
                .copied(),
        }
    }
}

/// An HTTP proxy. Requests to plain targets are sent to it unchanged (so the caller writes the
/// absolute form and `Proxy-Authorization`). For TLS targets a tunnel is opened by CONNECT, whose
/// head comes from [`crate::Outgoing::tunnel`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// A name or an IP address.
    pub host: Arc<str>,
    /// The TCP or UDP port.
    pub port: u16,
    /// Whether to use TLS to the proxy itself. Only for plain targets.
    pub tls: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_take_turns_within_the_family_of_the_peer() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let source =
            SourceAddresses::new([address("127.0.0.2"), address("::1"), address("127.0.0.3")]);
        let four = SocketAddr::from(([127, 0, 0, 1], 80));
        let turns: Vec<_> = (0..3).filter_map(|_| source.next(four)).collect();
        assert_eq!(turns, ["127.0.0.2", "127.0.0.3", "127.0.0.2"].map(address));
        let six = SocketAddr::new(address("::1"), 80);
        assert_eq!(source.next(six), Some(address("::1")));
        // The only address has the wrong family: binding will report the error.
        let only = SourceAddresses::new([address("::1")]);
        assert_eq!(only.next(four), Some(address("::1")));
    }
}
