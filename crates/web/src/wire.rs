//! An address as HttpClient uses it.

use std::borrow::Cow;

/// An address as HttpClient uses it: where it connects and what it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire<'a> {
    /// The name or address to connect to, without brackets, as written.
    pub connect_host: &'a str,
    /// The port to connect to.
    pub connect_port: u16,
    /// Whether TLS is to be spoken.
    pub secure: bool,
    /// The request target in origin form.
    pub target: Cow<'a, str>,
    /// The default value of the `Host` header: host as written, and the port if the address spells one out.
    pub host_header: Cow<'a, str>,
}

/// A [`Wire`] on its own.
#[derive(Debug)]
pub(crate) struct WireParts {
    pub connect_host: Box<str>,
    pub connect_port: u16,
    pub secure: bool,
    pub target: Box<str>,
    pub host_header: Box<str>,
}

impl WireParts {
    pub fn wire(&self) -> Wire<'_> {
        Wire {
            connect_host: &self.connect_host,
            connect_port: self.connect_port,
            secure: self.secure,
            target: Cow::Borrowed(&self.target),
            host_header: Cow::Borrowed(&self.host_header),
        }
    }
}
