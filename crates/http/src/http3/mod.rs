//! Exchanges over HTTP/3 (RFC 9114): QUIC by the `quinn` crate, frames by `h3`. As with HTTP/2, the caller passes and receives
//! heads in the form of HTTP/1.1, and sizes refer to that form. Early data is not used: a request is sent after the handshake.

mod heads;
mod open;
pub(crate) mod quic;
mod socket;

use std::cell::RefMut;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use h3::error::{Code, StreamError};

use quic::{QuicSeat, Stream};

pub(crate) use quic::Quic;

use crate::carriers::{Carrier, Carriers};
use crate::failure::{Failure, FailureKind, Http3Failure};
use crate::message::{Body, Handshake, Limits, Outgoing, Times};
use crate::multiplex::{Multiplexed, OpenExchange, Opened};
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::session::Session;
use crate::source::UnsentRequest;
use crate::target::Target;
use crate::worker::Worker;

/// Size of the pieces in which a request's body is read.
const PIECE_BYTES: usize = 64 * 1024;
const UNSENDABLE: FailureKind = FailureKind::Http3(Http3Failure::Unsendable);

impl Multiplexed for Quic {
    fn of(session: &Session) -> RefMut<'_, Carriers<Self>> {
        session.http3()
    }

    /// Uses HTTP/3 without checking that the server supports it.
    async fn open(
        session: &Session,
        target: &Target,
        _out: &Outgoing<'_>,
        limits: Limits,
        times: &mut Times,
    ) -> Result<(Opened<Self>, Option<Handshake>), Box<Failure>> {
        let (quic, handshake) = open::open(session, target, limits, times).await?;
        Ok((Opened::Shared(quic), Some(handshake)))
    }

    async fn converse(
        self: &Rc<Self>,
        session: &Session,
        out: &Outgoing<'_>,
        exchange: OpenExchange<'_, '_>,
    ) -> Result<(), FailureKind> {
        let place = self.enter();
        let conversation = Conversation {
            worker: session.worker(),
            place: &place,
            receiver: exchange.receiver,
            times: exchange.times,
            limit: exchange.limits.response,
            pace: exchange.pace,
        };
        let target = &self.lifetime().target;
        conversation.hold(target, out, exchange.source).await
    }

    /// Whether the request was refused, or not sent because the server is shutting down.
    fn is_unprocessed(failure: &Failure) -> bool {
        const REJECTED: u64 = Code::H3_REQUEST_REJECTED.value();
        matches!(
            failure.kind,
            FailureKind::Http3(Http3Failure::Reset(REJECTED) | Http3Failure::GoAway)
        ) && failure.wire.head_bytes == 0
    }
}

struct Conversation<'a> {
    worker: &'a Worker,
    place: &'a QuicSeat,
    receiver: &'a mut Receiver,
    times: &'a mut Times,
    limit: Option<Duration>,
    /// Speed limit of this stream; it does not delay other streams of the connection.
    pace: Option<Pace>,
}

impl Conversation<'_> {
    async fn hold(
        mut self,
        target: &Target,
        out: &Outgoing<'_>,
        source: &mut UnsentRequest<'_>,
    ) -> Result<(), FailureKind> {
        let request =
            heads::request(out.head, target, &self.worker.http3_requests).ok_or(UNSENDABLE)?;
        let mut stream = self.place.send(request).await?;
        if matches!(out.body, Body::None) || self.send_body(&mut stream, source).await? {
            stream.finish().await.map_err(|error| self.kind(error))?;
        }
        self.times.sent = Some(Instant::now());
        while !self.receiver.in_body() {
            let timers = &self.worker.timers;
            let response = timers.within(self.limit, stream.recv_response()).await;
            let response = response
                .ok_or(FailureKind::ReadTimeout)?
                .map_err(|error| self.kind(error))?;
            let head = heads::response(&response, &self.worker.heads)?;
            self.receiver.begin(head, false)?;
        }
        self.receive_body(&mut stream).await
    }

    /// Sends the body as fast as the server's windows allow. The limit of this exchange applies to each time in which the server
    /// takes nothing. False if the server has answered and refuses the rest.
    async fn send_body(
        &self,
        stream: &mut Stream,
        source: &mut UnsentRequest<'_>,
    ) -> Result<bool, FailureKind> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = source.fill(&mut piece)?;
            if count == 0 {
                return Ok(true);
            }
            self.pause(count).await;
            let sent = stream.send_data(Bytes::copy_from_slice(&piece[..count]));
            let sent = self.worker.timers.within(self.limit, sent).await;
            match sent.ok_or(FailureKind::WriteTimeout)? {
                Ok(()) => {}
                Err(StreamError::RemoteTerminate { code, .. }) if code == Code::H3_NO_ERROR => {
                    return Ok(false);
                }
                Err(error) => return Err(self.kind(error)),
            }
        }
    }

    async fn receive_body(&mut self, stream: &mut Stream) -> Result<(), FailureKind> {
        let timers = &self.worker.timers;
        loop {
            let patience = self.receiver.patience(self.limit);
            let data = timers.within(patience, stream.recv_data()).await;
            if data.is_none() && self.receiver.is_over_in_time() {
                return Ok(());
            }
            let data = data.ok_or(FailureKind::ReadTimeout)?;
            match data.map_err(|error| self.kind(error))? {
                Some(mut data) => {
                    self.pause(data.remaining()).await;
                    while data.has_remaining() && !self.receiver.is_done() {
                        let taken = self.receiver.push(data.chunk())?;
                        data.advance(taken);
                    }
                    self.receiver.arrived(None);
                    if self.receiver.is_ended_early() {
                        return Ok(());
                    }
                    if self.receiver.is_due() {
                        Box::pin(take_turns(self.receiver)).await?;
                    }
                }
                None if self.receiver.is_done() => return Ok(()),
                None => return self.receiver.end_of_stream(),
            }
        }
    }

    /// If the stream has a speed limit, waits for the time that `bytes` bytes take.
    async fn pause(&self, bytes: usize) {
        if let Some(pace) = self.pace {
            pace.pause(bytes).await;
        }
    }

    fn kind(&self, error: StreamError) -> FailureKind {
        self.place.quic.kind(error)
    }
}
