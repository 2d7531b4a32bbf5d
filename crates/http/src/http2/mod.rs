//! Exchanges over HTTP/2 (RFC 9113), by the `h2` crate: over TLS if the server chooses it by ALPN, over plain TCP by prior
//! knowledge. The caller passes and receives heads in the form of HTTP/1.1.
//!
//! Sizes refer to that form, too, as in the HTTP/2 plugin of JMeter: the size of a head after HPACK depends on earlier
//! requests. Speed limits ([`crate::PoolOptions::bytes_per_second`]) apply to each stream.

mod failure;
pub(crate) mod streams;
mod wire;

use std::cell::RefMut;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};

pub(crate) use streams::Streams;

use failure::kind;
use streams::StreamSeat;

use crate::binary_head;
use crate::carriers::{Carrier, Carriers};
use crate::connect;
use crate::failure::{Failure, FailureKind, Http2Failure};
use crate::message::{Body, Handshake, Limits, Outgoing, Times, WantedParts};
use crate::multiplex::{Multiplexed, OpenExchange, Opened, PIECE_BYTES};
use crate::outcome::failed;
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::session::Session;
use crate::source::UnsentRequest;
use crate::target::Target;
use crate::worker::add;

const UNSENDABLE: FailureKind = FailureKind::Http2(Http2Failure::Unsendable);

impl Multiplexed for Streams {
    fn of(session: &Session) -> RefMut<'_, Carriers<Self>> {
        session.http2()
    }

    async fn open(
        session: &Session,
        target: &Target,
        out: &Outgoing<'_>,
        limits: Limits,
        times: &mut Times,
    ) -> Result<(Opened<Self>, Option<Handshake>), Box<Failure>> {
        let worker = session.worker();
        let opening = connect::open(session, target, out.tunnel, limits, times);
        let (connection, handshake) = opening.await?;
        if !connection.speaks_http2() {
            return Ok((Opened::Http1(connection), handshake));
        }
        match Streams::begin(connection, worker.clone()).await {
            Ok(streams) => Ok((Opened::Shared(streams), handshake)),
            Err(kind) => {
                add(&worker.counts.failures, 1);
                worker.counts.closed(kind.is_end_by_peer());
                times.end = Instant::now();
                let nothing = Receiver::new(WantedParts::NOTHING, false, worker.pool.sizes);
                Err(failed(kind, nothing, 0, *times, false))
            }
        }
    }

    async fn converse(
        self: &Rc<Self>,
        session: &Session,
        out: &Outgoing<'_>,
        exchange: OpenExchange<'_, '_>,
    ) -> Result<(), FailureKind> {
        let conversation = Conversation {
            session,
            place: self.enter(),
            receiver: exchange.receiver,
            times: exchange.times,
            limit: exchange.limits.response,
            pace: exchange.pace,
        };
        let target = &self.lifetime().target;
        conversation.hold(target, out, exchange.source).await
    }

    /// RFC 9113 section 8.7: the request was refused, or was not processed before the server shut down gracefully.
    fn is_unprocessed(failure: &Failure) -> bool {
        const NO_ERROR: u32 = 0;
        const REFUSED_STREAM: u32 = 7;
        matches!(
            failure.kind,
            FailureKind::Http2(
                Http2Failure::Reset(REFUSED_STREAM) | Http2Failure::GoAway(NO_ERROR)
            )
        ) && failure.wire.head_bytes == 0
    }
}

/// Takes the informational heads that have arrived, of which a response may have so many.
fn skip_interim(
    receiver: &mut Receiver,
    response: &mut ResponseFuture,
    cx: &mut Context<'_>,
) -> Result<(), FailureKind> {
    while let Poll::Ready(Some(interim)) = response.poll_informational(cx) {
        let interim = interim.map_err(kind)?;
        receiver.skip_interim(binary_head::response_bytes(&interim))?;
    }
    Ok(())
}

struct Conversation<'a> {
    session: &'a Session,
    place: StreamSeat,
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
        let worker = self.session.worker().clone();
        let request = binary_head::request(out.head, target, &worker.requests).ok_or(UNSENDABLE)?;
        let has_body = !matches!(out.body, Body::None);
        let mut sender = self.place.sender().await?;
        let (mut response, mut stream) = sender.send_request(request, !has_body).map_err(kind)?;
        drop(sender);
        if has_body {
            self.send_body(&mut stream, &mut response, source).await?;
        }
        self.times.sent = Some(Instant::now());
        let timers = &self.session.worker().timers;
        let receiver = &mut *self.receiver;
        let response = self.place.arrival(|cx| {
            skip_interim(receiver, &mut response, cx)?;
            Pin::new(&mut response).poll(cx).map_err(kind)
        });
        let response = timers.within(self.limit, response).await;
        let response = response.ok_or(FailureKind::ReadTimeout)??;
        let (parts, mut body) = response.into_parts();
        let ends = body.is_end_stream();
        let head = binary_head::response(&http::Response::from_parts(parts, ()), 2, &worker.heads)?;
        self.receiver.begin(head, ends)?;
        self.arrived();
        self.receive_body(&mut body).await
    }

    /// Sends the body as fast as the server's windows allow. The limit of this exchange applies to each time in which the
    /// server takes nothing. Stops if the server has answered and refuses the rest.
    async fn send_body(
        &mut self,
        stream: &mut SendStream<Bytes>,
        response: &mut ResponseFuture,
        source: &mut UnsentRequest<'_>,
    ) -> Result<(), FailureKind> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = source.fill(&mut piece)?;
            self.pause(count).await;
            let mut rest = Bytes::copy_from_slice(&piece[..count]);
            let last = count < PIECE_BYTES;
            while !rest.is_empty() {
                stream.reserve_capacity(rest.len());
                let receiver = &mut *self.receiver;
                let capacity = self.place.taking(|cx| {
                    // Otherwise they would pile up until the body is sent.
                    skip_interim(receiver, response, cx)?;
                    stream.poll_capacity(cx).map(Ok)
                });
                let timers = &self.session.worker().timers;
                let capacity = timers.within(self.limit, capacity).await;
                match capacity.ok_or(FailureKind::WriteTimeout)?? {
                    Some(Ok(capacity)) => {
                        let part = rest.split_to(capacity.min(rest.len()));
                        let ends = last && rest.is_empty();
                        stream.send_data(part, ends).map_err(kind)?;
                    }
                    Some(Err(error)) if error.reason() == Some(Reason::NO_ERROR) => return Ok(()),
                    Some(Err(error)) => return Err(kind(error)),
                    None => return Ok(()),
                }
            }
            if last {
                if count == 0 {
                    stream.send_data(Bytes::new(), true).map_err(kind)?;
                }
                return Ok(());
            }
        }
    }

    /// If the stream has a speed limit, waits for the time that `bytes` bytes take.
    async fn pause(&self, bytes: usize) {
        if let Some(pace) = self.pace {
            self.place.driving(pace.pause(bytes)).await;
        }
    }

    /// Notes when the kernel received the frames that were read last. A speed limit makes them wait on purpose.
    fn arrived(&mut self) {
        let at = self.place.arrived().filter(|_| self.pace.is_none());
        self.receiver.arrived(at);
    }

    async fn receive_body(&mut self, body: &mut RecvStream) -> Result<(), FailureKind> {
        let timers = &self.session.worker().timers;
        loop {
            let data = self.place.taking(|cx| body.poll_data(cx));
            let data = timers
                .within(self.receiver.patience(self.limit), data)
                .await;
            if data.is_none() && self.receiver.is_over_in_time() {
                return Ok(());
            }
            match data.ok_or(FailureKind::ReadTimeout)? {
                Some(Ok(data)) => {
                    self.pause(data.len()).await;
                    if !self.receiver.is_done() {
                        self.receiver.push(&data)?;
                    }
                    self.arrived();
                    self.receiver.note_piece(self.place.arrived());
                    let released = body.flow_control().release_capacity(data.len());
                    released.map_err(kind)?;
                    if self.receiver.is_due() {
                        Box::pin(take_turns(self.receiver)).await?;
                    }
                    if self.receiver.is_ended_early()
                        || self.receiver.is_done() && body.is_end_stream()
                    {
                        return Ok(());
                    }
                }
                Some(Err(error)) => return Err(kind(error)),
                None => {
                    self.arrived();
                    if self.receiver.wants_trailers() {
                        self.receive_trailers(body).await?;
                    }
                    return match self.receiver.is_done() {
                        true => Ok(()),
                        false => self.receiver.end_of_stream(),
                    };
                }
            }
        }
    }

    async fn receive_trailers(&mut self, body: &mut RecvStream) -> Result<(), FailureKind> {
        let timers = &self.session.worker().timers;
        let trailers = self.place.taking(|cx| body.poll_trailers(cx));
        let trailers = timers.within(self.limit, trailers).await;
        if let Some(fields) = trailers.ok_or(FailureKind::ReadTimeout)?.map_err(kind)? {
            self.receiver.keep_trailers(binary_head::lines(&fields))?;
        }
        Ok(())
    }
}
