//! Exchanges over HTTP/2 (RFC 9113): over TLS if the server chooses it by ALPN, over plain TCP by prior knowledge. The caller passes
//! and receives heads in the form of HTTP/1.1.
//!
//! Sizes refer to that form, too, as in the HTTP/2 plugin of JMeter: the size of a head after HPACK depends on earlier
//! requests. Speed limits ([`crate::PoolOptions::bytes_per_second`]) apply to each stream.
//!
//! The frames are this crate's own: a client of servers that answer small requests spends most of its time on them, and only one
//! side of the protocol is needed.
//!
//! | file | its part |
//! |---|---|
//! | `mod.rs` | one exchange |
//! | `streams.rs` | a connection, and the exchanges that wait for it |
//! | `wire.rs` | its bytes, over TLS or not |
//! | `protocol/` | the state of a connection, without input or output |
//! | `response.rs` | fields as a head of HTTP/1.1 |
//! | `frame.rs` | the form of frames |
//! | `window.rs` | flow control |

mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod protocol;
mod response;
pub(crate) mod streams;
mod window;
mod wire;

use std::cell::RefMut;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::header::{HeaderName, HeaderValue};

pub(crate) use streams::Streams;

use crate::hpack::RequestFields;
use frame::code;
use protocol::{Begin, Piece};
use streams::StreamSeat;

use crate::binary_head;
use crate::carriers::{Carrier, Carriers};
use crate::connect;
use crate::failure::{Failure, FailureKind, Http2Failure};
use crate::head::Head;
use crate::message::{Handshake, Limits, Outgoing, Times};
use crate::multiplex::{Multiplexed, OpenExchange, Opened};
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::session::Session;
use crate::source::UnsentRequest;
use crate::target::Target;

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
        let opening = connect::open(session, target, out.tunnel, limits, times);
        let (connection, handshake) = opening.await?;
        let opened = if connection.speaks_http2() {
            Opened::Shared(Streams::begin(connection, session.worker().clone()))
        } else {
            Opened::Http1(connection)
        };
        Ok((opened, handshake))
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
        matches!(
            failure.kind,
            FailureKind::Http2(
                Http2Failure::Reset(code::REFUSED_STREAM) | Http2Failure::GoAway(code::NO_ERROR)
            )
        ) && failure.wire.head_bytes == 0
    }
}

/// The fields of a request. Names become lower case, as HTTP/2 requires. `None` if the head cannot be converted.
fn request_fields(head: &[u8], target: &Target) -> Option<Rc<RequestFields>> {
    let (method, uri) = binary_head::request_line(head, target)?;
    let mut fields = RequestFields::default();
    fields.add(b":method", method.as_str().as_bytes());
    if method != http::Method::CONNECT {
        fields.add(b":scheme", uri.scheme_str().unwrap_or("http").as_bytes());
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    fields.add(b":authority", authority.as_bytes());
    if method != http::Method::CONNECT {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        fields.add(b":path", path.as_bytes());
    }
    for (name, value) in binary_head::request_headers(head) {
        let name = HeaderName::from_bytes(name).ok()?;
        let value = HeaderValue::from_bytes(value).ok()?;
        fields.add(name.as_str().as_bytes(), value.as_bytes());
    }
    Some(Rc::new(fields))
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
        let known = &self.session.worker().requests;
        let fields = known.request(target, out.head, || request_fields(out.head, target));
        let fields = fields.ok_or(UNSENDABLE)?;
        let has_body = source.left() > 0;
        self.place.open(&fields, !has_body).await?;
        if has_body {
            self.send_body(source).await?;
        }
        self.place.flush();
        self.times.sent = Some(Instant::now());
        let (head, ends) = self.receive_head().await?;
        self.receiver.begin(head, ends)?;
        self.arrived();
        self.receive_body().await
    }

    /// Sends the body as fast as the server's windows allow. The limit of this exchange applies to each time in which the
    /// server takes nothing. Stops if the server has answered and refuses the rest.
    async fn send_body(&mut self, source: &mut UnsentRequest<'_>) -> Result<(), FailureKind> {
        let stream = self.place.stream();
        loop {
            let receiver = &mut *self.receiver;
            let room = self.place.until(|protocol| {
                // Otherwise a server could send them without an end.
                if let Err(kind) = receiver.skip_interim(protocol.take_interim(stream)) {
                    return Poll::Ready(Err(kind));
                }
                protocol.poll_room(stream)
            });
            let room = self.session.worker().timers.within(self.limit, room).await;
            let Some(room) = room.ok_or(FailureKind::WriteTimeout)?? else {
                return Ok(());
            };
            let left = usize::try_from(source.left()).unwrap_or(usize::MAX);
            let (bytes, is_last) = (left.min(room), left <= room);
            self.place.with(|protocol| {
                let fill = |payload: &mut [u8]| source.fill(payload).map(drop);
                protocol.send_data(stream, bytes, is_last, fill)
            })?;
            self.pause(bytes).await;
            if is_last {
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

    /// Receives the final head, and whether nothing follows it.
    async fn receive_head(&mut self) -> Result<(Head, bool), FailureKind> {
        let stream = self.place.stream();
        let receiver = &mut *self.receiver;
        let begin = self.place.until(|protocol| {
            loop {
                match std::task::ready!(protocol.poll_begin(stream))? {
                    Begin::Interim(heads) => receiver.skip_interim(heads)?,
                    Begin::Head(head, ends) => return Poll::Ready(Ok((head, ends))),
                }
            }
        });
        let begin = self.session.worker().timers.within(self.limit, begin).await;
        begin.ok_or(FailureKind::ReadTimeout)?
    }

    async fn receive_body(&mut self) -> Result<(), FailureKind> {
        let stream = self.place.stream();
        loop {
            let piece = self.place.until(|protocol| protocol.poll_piece(stream));
            let patience = self.receiver.patience(self.limit);
            let piece = self.session.worker().timers.within(patience, piece).await;
            if piece.is_none() && self.receiver.is_over_in_time() {
                return Ok(());
            }
            match piece.ok_or(FailureKind::ReadTimeout)?? {
                Piece::Data(data) => {
                    self.pause(data.len()).await;
                    self.take_data(data).await?;
                    if self.receiver.is_ended_early() {
                        return Ok(());
                    }
                }
                Piece::End(trailers) => {
                    self.arrived();
                    if let Some(lines) = trailers.filter(|_| self.receiver.wants_trailers()) {
                        self.receiver.keep_trailers(lines)?;
                    }
                    return match self.receiver.is_done() {
                        true => Ok(()),
                        false => self.receiver.end_of_stream(),
                    };
                }
            }
        }
    }

    async fn take_data(&mut self, data: Vec<u8>) -> Result<(), FailureKind> {
        let taken = match self.receiver.is_done() {
            true => 0,
            false => self.receiver.push(&data)?,
        };
        if taken < data.len() && self.receiver.has_announced_length() {
            // RFC 9113 section 8.1.1.
            return Err(FailureKind::Http2(Http2Failure::Broken(
                code::PROTOCOL_ERROR,
            )));
        }
        self.arrived();
        self.receiver.note_piece(self.place.arrived());
        let stream = self.place.stream();
        self.place.with(|protocol| protocol.consumed(stream, data));
        if self.receiver.is_due() {
            Box::pin(take_turns(self.receiver)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_heads_are_not_sent() {
        let target = Target::new("127.0.0.1", 80, false);
        for head in [
            &b"GET\r\n\r\n"[..],
            b"GET /<> HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nX Y: 1\r\n\r\n",
        ] {
            assert!(request_fields(head, &target).is_none());
        }
        assert!(request_fields(b"GET / HTTP/1.1\r\n\r\n", &target).is_some());
    }
}
