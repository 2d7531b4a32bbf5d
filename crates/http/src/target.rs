//! Where an exchange goes.

use std::net::IpAddr;
use std::sync::Arc;

use crate::tls::Identity;

/// The other end of a connection, and how to get there. Connections are reused between equal targets.
#[derive(Debug, Clone)]
pub struct Target {
    /// A name or an IP address (IPv6 without brackets).
    pub host: Arc<str>,
    pub port: u16,
    pub tls: bool,
    pub proxy: Option<Arc<Proxy>>,
    /// The local address to connect from.
    pub source: Option<IpAddr>,
    /// The certificate to show if the server asks for one.
    pub identity: Option<Arc<Identity>>,
}

impl Target {
    pub fn new(host: impl Into<Arc<str>>, port: u16, tls: bool) -> Self {
        Self {
            host: host.into(),
            port,
            tls,
            proxy: None,
            source: None,
            identity: None,
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.port == other.port
            && self.tls == other.tls
            && (Arc::ptr_eq(&self.host, &other.host) || self.host.eq_ignore_ascii_case(&other.host))
            && self.source == other.source
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

/// An HTTP proxy. Requests to plain targets are sent to it as they are (so the caller writes
/// the absolute form and `Proxy-Authorization`); for TLS targets a tunnel is made by CONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    pub host: Arc<str>,
    pub port: u16,
    /// Header lines for CONNECT beside Host, each ending in CRLF.
    pub connect_headers: Box<str>,
    /// The value of `Proxy-Authorization` for CONNECT, such as `Basic dTpw`. Sent once the
    /// proxy has answered 407.
    pub authorization: Option<Box<str>>,
}
