//! An address as HttpClient uses it.

use std::borrow::Cow;

/// An address as HttpClient uses it: the server to connect to and the values to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireAddress<'a> {
    /// The name or address to connect to, without brackets, as written.
    pub connect_host: &'a str,
    /// The port to connect to.
    pub connect_port: u16,
    /// Whether to use TLS.
    pub secure: bool,
    /// The request target in origin form.
    pub target: Cow<'a, str>,
    /// The default value of the `Host` header: the host as written, and the port if it is explicit.
    pub host_header: Cow<'a, str>,
}

/// The owned parts of a [`WireAddress`].
#[derive(Debug)]
pub(crate) struct WireParts {
    pub connect_host: Box<str>,
    pub connect_port: u16,
    pub secure: bool,
    pub target: Box<str>,
    pub host_header: Box<str>,
}

impl WireParts {
    pub fn of(wire: WireAddress<'_>) -> Self {
        Self {
            connect_host: wire.connect_host.into(),
            connect_port: wire.connect_port,
            secure: wire.secure,
            target: wire.target.into(),
            host_header: wire.host_header.into(),
        }
    }

    pub fn wire(&self) -> WireAddress<'_> {
        WireAddress {
            connect_host: &self.connect_host,
            connect_port: self.connect_port,
            secure: self.secure,
            target: Cow::Borrowed(&self.target),
            host_header: Cow::Borrowed(&self.host_header),
        }
    }
}
