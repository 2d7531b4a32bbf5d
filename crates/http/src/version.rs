//! HTTP versions.

/// The newest HTTP version to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2. Over TLS only if the server chooses it, else HTTP/1.1; over plain TCP always, except to a proxy.
    Http2,
    /// HTTP/3. Only over TLS without a proxy, and if it is built in (see [`HttpVersion::is_built`]); then always, without
    /// checking the server's support. Otherwise HTTP/1.1.
    Http3,
}

impl HttpVersion {
    /// Whether this build supports the version; HTTP/3 is a build option.
    pub const fn is_built(self) -> bool {
        !matches!(self, Self::Http3) || cfg!(feature = "http3")
    }
}
