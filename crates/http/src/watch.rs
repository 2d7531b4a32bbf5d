//! Observers of bodies that arrive slowly on purpose, such as server-sent events.

use std::time::Instant;

use crate::failure::FailureKind;

/// Sees the body of a response while it arrives, and may end it. One observer sees all attempts of an exchange.
pub trait BodyWatch {
    /// A response has begun. Returns how many bytes of its body to keep at most, if anything is to be kept; `None` not to watch it.
    fn begin(&self, status: u16, content_type: Option<&[u8]>) -> Option<u64>;

    /// Takes the next bytes of the body, after dechunking and decoding.
    ///
    /// # Errors
    /// If the body breaks a limit of the observer. The exchange fails.
    fn piece(&self, bytes: &[u8]) -> Result<(), FailureKind>;

    /// The pieces since the last call had arrived at this time: when the kernel received the last of them, if it says.
    fn arrived(&self, at: Instant) -> Watched;

    /// When the body ends by itself, if it does.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// How an observed body continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// It continues.
    Continues,
    /// The response ends here, as if it were complete. Its connection is closed.
    Ends,
}
