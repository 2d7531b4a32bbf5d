//! A QUIC connection that carries exchanges over HTTP/3.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use bytes::Bytes;
use h3::client::{RequestStream, SendRequest};
use h3::error::{Code, ConnectionError, LocalError, StreamError};
use h3_quinn::{BidiStream, OpenStreams};
use quinn::{Connection, VarInt};

use super::socket::Socket;
use crate::carriers::{Carrier, ConnectionLifetime};
use crate::failure::{FailureKind, Http3Failure, TlsFailure};
use crate::target::Target;
use crate::tls::take_refused;

/// An open HTTP/3 connection. Separate tasks (`quinn`'s and one for the control streams) process its packets, so messages of
/// the server are noticed immediately, even when no exchange waits.
pub(crate) struct Quic {
    lifetime: ConnectionLifetime,
    connection: Connection,
    /// `None` once it accepts no more exchanges. Dropping the last clone closes the connection.
    sender: RefCell<Option<SendRequest<OpenStreams, Bytes>>>,
    socket: Arc<Socket>,
    active: Cell<u32>,
}

impl Quic {
    /// Starts HTTP/3 on the connection; does not wait for the server's settings.
    pub(super) async fn begin(
        connection: Connection,
        socket: Arc<Socket>,
        target: Target,
        max_head_bytes: u64,
    ) -> Result<Rc<Self>, FailureKind> {
        let (mut control, sender) = h3::client::builder()
            .max_field_section_size(max_head_bytes)
            // Grease tests a server's tolerance, which is not the purpose of a load test.
            .send_grease(false)
            .build(h3_quinn::Connection::new(connection.clone()))
            .await
            .map_err(|error| of_end(connection.close_reason(), &error))?;
        let quic = Rc::new(Self {
            lifetime: ConnectionLifetime::new(target, Instant::now()),
            connection: connection.clone(),
            sender: RefCell::new(Some(sender)),
            socket: socket.clone(),
            active: Cell::new(0),
        });
        tokio::spawn(async move {
            let mut refused = pin!(socket.refused());
            poll_fn(|cx| match refused.as_mut().poll(cx) {
                // The server's process is gone, so no close frame will come.
                Poll::Ready(()) => {
                    connection.close(VarInt::from_u32(0), b"");
                    Poll::Ready(())
                }
                Poll::Pending => control.poll_close(cx).map(drop),
            })
            .await;
        });
        Ok(quic)
    }

    /// Registers an exchange with the connection until the seat is dropped.
    pub fn enter(self: &Rc<Self>) -> QuicSeat {
        self.active.set(self.active.get() + 1);
        QuicSeat { quic: self.clone() }
    }

    /// Classifies an error of `h3`.
    pub fn kind(&self, error: StreamError) -> FailureKind {
        FailureKind::Http3(match error {
            StreamError::StreamError { code, .. } => Http3Failure::Broken(code.value()),
            StreamError::RemoteTerminate { code, .. } => Http3Failure::Reset(code.value()),
            StreamError::RemoteClosing { .. } => Http3Failure::GoAway,
            StreamError::HeaderTooBig { max_size, .. } => {
                let limit = usize::try_from(max_size).unwrap_or(usize::MAX);
                return FailureKind::HeadTooLarge { limit };
            }
            _ if self.socket.take_refusal() => return FailureKind::Refused,
            StreamError::ConnectionError { 0: error, .. } => {
                return of_end(self.connection.close_reason(), &error);
            }
            _ => match self.connection.close_reason() {
                Some(reason) => return of_quic(reason),
                None => Http3Failure::Closed,
            },
        })
    }
}

impl Carrier for Quic {
    fn lifetime(&self) -> &ConnectionLifetime {
        &self.lifetime
    }

    fn is_idle(&self) -> bool {
        self.active.get() == 0
    }

    fn is_over(&self) -> bool {
        self.connection.close_reason().is_some()
    }

    fn is_fit(&self) -> bool {
        !self.is_over() && self.sender.borrow().is_some()
    }

    fn close(&self) {
        self.sender.take();
        if self.is_idle() {
            let code = VarInt::from_u64(Code::H3_NO_ERROR.value());
            self.connection.close(code.expect("the code is small"), b"");
        }
    }
}

/// One exchange's registration with a connection.
pub(crate) struct QuicSeat {
    pub quic: Rc<Quic>,
}

impl QuicSeat {
    /// Sends a request's head as soon as the server accepts another request.
    pub(super) async fn send(&self, request: http::Request<()>) -> Result<Stream, FailureKind> {
        let sender = self.quic.sender.borrow().clone();
        let mut sender = sender.ok_or(FailureKind::Http3(Http3Failure::GoAway))?;
        match sender.send_request(request).await {
            Ok(stream) => Ok(Stream {
                stream,
                _sender: sender,
                is_whole: false,
            }),
            Err(error) => {
                if matches!(error, StreamError::RemoteClosing { .. }) {
                    self.quic.sender.take();
                }
                Err(self.quic.kind(error))
            }
        }
    }
}

impl Drop for QuicSeat {
    fn drop(&mut self) {
        let quic = &self.quic;
        quic.active.set(quic.active.get() - 1);
        if quic.is_idle() && quic.sender.borrow().is_none() {
            quic.close();
        }
    }
}

/// A request and its response in progress. Dropping it before the request's end was sent cancels the request.
pub(super) struct Stream {
    stream: RequestStream<BidiStream<Bytes>, Bytes>,
    /// Keeps the connection open.
    _sender: SendRequest<OpenStreams, Bytes>,
    is_whole: bool,
}

impl Stream {
    /// Sends the end of the request.
    pub async fn finish(&mut self) -> Result<(), StreamError> {
        self.stream.finish().await?;
        self.is_whole = true;
        Ok(())
    }
}

impl Deref for Stream {
    type Target = RequestStream<BidiStream<Bytes>, Bytes>;

    fn deref(&self) -> &Self::Target {
        &self.stream
    }
}

impl DerefMut for Stream {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.stream
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.is_whole {
            self.stream.stop_stream(Code::H3_REQUEST_CANCELLED);
        }
    }
}

/// Why a connection ended: the reason that QUIC gives, or else the violation that `h3` found.
fn of_end(reason: Option<quinn::ConnectionError>, error: &ConnectionError) -> FailureKind {
    match (error, reason) {
        (
            ConnectionError::Local {
                error: LocalError::Application { code, .. },
                ..
            },
            _,
        ) => FailureKind::Http3(Http3Failure::Broken(code.value())),
        (_, Some(reason)) => of_quic(reason),
        (_, None) => FailureKind::Http3(Http3Failure::Closed),
    }
}

/// Classifies QUIC's errors.
pub(super) fn of_quic(reason: quinn::ConnectionError) -> FailureKind {
    use quinn::ConnectionError as Error;
    match reason {
        Error::Reset => FailureKind::Reset,
        Error::TimedOut => FailureKind::Http3(Http3Failure::Silence),
        Error::LocallyClosed => FailureKind::Http3(Http3Failure::Closed),
        Error::ApplicationClosed(close) => match close.error_code.into_inner() {
            code if code == Code::H3_NO_ERROR.value() => FailureKind::Http3(Http3Failure::Closed),
            code => FailureKind::Http3(Http3Failure::ClosedFor(code)),
        },
        Error::ConnectionClosed(close) => match alert(close.error_code.into()) {
            Some(alert) => FailureKind::Tls(TlsFailure::Alert(alert)),
            None => FailureKind::Http3(Http3Failure::Quic(close.error_code.into())),
        },
        Error::TransportError(error) => match alert(error.code.into()) {
            Some(_) => FailureKind::Tls(match take_refused() {
                Some(why) => TlsFailure::certificate(&why),
                None => TlsFailure::Other(error.reason.into()),
            }),
            None => FailureKind::Http3(Http3Failure::Quic(error.code.into())),
        },
        Error::VersionMismatch | Error::CidsExhausted => {
            FailureKind::Tls(TlsFailure::Other(reason.to_string().into()))
        }
    }
}

/// The TLS alert in a QUIC error code (RFC 9001 section 4.8).
fn alert(code: u64) -> Option<u8> {
    match code {
        0x100..=0x1ff => Some((code & 0xff) as u8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_quic_that_are_alerts() {
        assert_eq!(alert(0x100 + 120), Some(120));
        assert_eq!(alert(0xff), None);
        assert_eq!(alert(0x200), None);
    }

    #[test]
    fn ends_of_connections() {
        use quinn::ConnectionError as Error;
        assert!(matches!(of_quic(Error::Reset), FailureKind::Reset));
        let silent = of_quic(Error::TimedOut);
        assert!(matches!(silent, FailureKind::Http3(Http3Failure::Silence)));
        let close = |code: u64| {
            Error::ApplicationClosed(quinn::ApplicationClose {
                error_code: VarInt::from_u64(code).expect("it is small"),
                reason: Bytes::new(),
            })
        };
        let ends = [
            (0x100, Http3Failure::Closed),
            (0x102, Http3Failure::ClosedFor(0x102)),
        ];
        for (code, expected) in ends {
            let kind = of_quic(close(code));
            assert!(matches!(kind, FailureKind::Http3(kind) if kind == expected));
        }
    }
}
