//! Why a sample ends early.

use drumfire_http::Frame;

/// The reason why a sample fails.
pub enum WebSocketFailure {
    /// `HttpUpgradeException`: the status, if there is one, and the message.
    Upgrade(String, String),
    /// `IOException`.
    Io(String),
    /// `SocketTimeoutException`.
    ReadTimeout,
    Unexpected(Frame),
    /// `SamplingAbortedException`: the sample already says why.
    Aborted,
    /// Any other exception.
    Exception(String),
}

impl WebSocketFailure {
    pub fn illegal_state(text: String) -> WebSocketFailure {
        WebSocketFailure::Exception(format!("java.lang.IllegalStateException: {text}"))
    }
}
