//! Versions of HTTP.

/// The newest version of HTTP to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// Over TLS if the server chooses it, else HTTP/1.1; over plain TCP whatever the server says, except to a proxy.
    Http2,
    /// Over TLS without a proxy, if it is built in (see [`HttpVersion::is_built`]), whether the server speaks it or not; else
    /// HTTP/1.1.
    Http3,
}

impl HttpVersion {
    /// HTTP/3 is an option of the build.
    pub const fn is_built(self) -> bool {
        !matches!(self, Self::Http3) || cfg!(feature = "http3")
    }
}
