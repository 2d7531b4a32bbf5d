//! One stream, and what has arrived on it.

use crate::failure::{FailureKind, Http2Failure, TlsFailure};
use crate::head::Head;
use crate::receive::InterimHeads;

use super::super::window::{ReceiveWindow, SendWindow};

/// A stream whose exchange is under way.
pub(super) struct Stream {
    pub id: u32,
    /// The exchange to wake when something arrives.
    pub ticket: u32,
    pub send_window: SendWindow,
    pub receive_window: ReceiveWindow,
    /// Whether the whole request was handed over.
    pub is_sent: bool,
    /// Whether the final head has arrived.
    pub has_head: bool,
    pub inbox: Inbox,
    /// How the response ended.
    pub end: Option<StreamEnd>,
}

/// The parts of a response that have arrived and that the exchange has not taken. The receive window bounds the data, the size limits
/// bound the rest.
#[derive(Default)]
pub(super) struct Inbox {
    /// The number and the size of interim heads.
    pub interim: InterimHeads,
    pub head: Option<Head>,
    pub data: Vec<u8>,
    pub trailers: Option<Vec<u8>>,
}

/// How the server's side of a stream has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    Complete,
    Failed(Fault),
}

/// Why a stream or the connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Http2(Http2Failure),
    HeadTooLarge {
        limit: usize,
    },
    /// The connection failed below HTTP/2.
    Lost(LostConnection),
}

/// A failure of the operating system or of TLS, which each exchange of the connection gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LostConnection {
    Reset,
    BrokenPipe,
    Tls(TlsFailure),
    /// Any other error: its number, if it has one, and its kind and text.
    Io(Option<i32>, std::io::ErrorKind, Box<str>),
}

impl From<FailureKind> for LostConnection {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Reset => Self::Reset,
            FailureKind::BrokenPipe => Self::BrokenPipe,
            FailureKind::Tls(failure) => Self::Tls(failure),
            FailureKind::Io(error) => {
                Self::Io(error.raw_os_error(), error.kind(), error.to_string().into())
            }
            other => Self::Io(None, std::io::ErrorKind::Other, format!("{other:?}").into()),
        }
    }
}

impl From<Fault> for FailureKind {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Http2(failure) => Self::Http2(failure),
            Fault::HeadTooLarge { limit } => Self::HeadTooLarge { limit },
            Fault::Lost(LostConnection::Reset) => Self::Reset,
            Fault::Lost(LostConnection::BrokenPipe) => Self::BrokenPipe,
            Fault::Lost(LostConnection::Tls(failure)) => Self::Tls(failure),
            Fault::Lost(LostConnection::Io(Some(number), ..)) => {
                Self::Io(std::io::Error::from_raw_os_error(number))
            }
            Fault::Lost(LostConnection::Io(None, kind, text)) => {
                Self::Io(std::io::Error::new(kind, text.into_string()))
            }
        }
    }
}

impl Stream {
    /// Whether neither side has anything more to send.
    pub fn is_over(&self) -> bool {
        match self.end {
            Some(StreamEnd::Complete) => self.is_sent,
            Some(StreamEnd::Failed(_)) => true,
            None => false,
        }
    }

    /// Ends the stream, unless it has ended before.
    pub fn finish(&mut self, end: StreamEnd) {
        self.end.get_or_insert(end);
    }

    /// Whether the server has sent the whole response, after which it may refuse the rest of the request (RFC 9113 section 8.1).
    pub fn is_complete(&self) -> bool {
        self.end == Some(StreamEnd::Complete)
    }
}
