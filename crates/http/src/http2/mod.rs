//! Exchanges over HTTP/2 (RFC 9113), by the `h2` crate: over TLS where the server chooses it by ALPN, over plain TCP by prior
//! knowledge. The caller gives and gets heads in the form of HTTP/1.1.
//!
//! Sizes are those of that form, too, as the HTTP/2 plugin of JMeter counts them: what HPACK makes of a head depends on the
//! requests before it. Limits on the speed of connections ([`crate::PoolOptions::bytes_per_second`]) hold for each stream.

mod streams;
mod wire;

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream};

pub(crate) use streams::{Place, Streams};

use crate::binary_head;
use crate::carriers::{Carrier, Ending};
use crate::connection::Connection;
use crate::exchange::{failed, open, over_http1};
use crate::failure::{Failure, FailureKind, Http2Failure};
use crate::message::{Body, Handshake, Incoming, Limits, Outgoing, Times, Want};
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::send::Source;
use crate::session::Session;
use crate::target::Target;
use crate::worker::add;

/// What is read of a request's body at once.
const PIECE_BYTES: usize = 64 * 1024;
const UNSENDABLE: FailureKind = FailureKind::Http2(Http2Failure::Unsendable);

/// An exchange over HTTP/2, or over HTTP/1.1 where the server wants that.
pub(crate) async fn exchange(
    session: &Session,
    target: &Target,
    out: Outgoing<'_>,
    want: Want,
    limits: Limits,
) -> Result<Box<Incoming>, Box<Failure>> {
    let mut times = Times::starting(out.begin);
    let mut tried_again = false;
    loop {
        let way = find(session, target, &out, limits, &mut times).await?;
        let (streams, handshake, reused) = match way {
            Way::Http1(connection, handshake, reused) => {
                let way = (connection, handshake, reused);
                return over_http1(session, way, &out, want, limits, &mut times).await;
            }
            Way::Http2(streams, handshake, reused) => (streams, handshake, reused),
        };
        let outcome = over(session, &streams, out, want, limits, times, reused).await;
        match outcome {
            // The server has not looked at the request (RFC 9113 section 8.7), so it goes out once more.
            Err(failure) if !tried_again && is_unprocessed(&failure) => tried_again = true,
            Err(failure) => return Err(failure),
            Ok(mut incoming) => {
                incoming.handshake = handshake;
                return Ok(incoming);
            }
        }
    }
}

/// The connection of an exchange, the handshake made for it, and whether it had served an earlier one.
enum Way {
    Http1(Box<Connection>, Option<Handshake>, bool),
    Http2(Rc<Streams>, Option<Handshake>, bool),
}

async fn find(
    session: &Session,
    target: &Target,
    out: &Outgoing<'_>,
    limits: Limits,
    times: &mut Times,
) -> Result<Way, Box<Failure>> {
    let worker = session.worker();
    let known = |session: &Session| {
        let streams = session.http2().find(target, &worker.counts)?;
        add(&worker.counts.reused, 1);
        Some(Way::Http2(streams, None, true))
    };
    if let Some(way) = known(session) {
        return Ok(way);
    }
    if let Some(connection) = session.take_idle(target, out.begin) {
        add(&worker.counts.reused, 1);
        return Ok(Way::Http1(connection, None, true));
    }
    // Those who come while a connection is being opened share it.
    let turn = session.http2().turn_to_open(target);
    let _turn = turn.lock().await;
    if let Some(way) = known(session) {
        return Ok(way);
    }
    let (connection, handshake) = open(session, target, out.tunnel, limits, times).await?;
    if !connection.speaks_http2() {
        return Ok(Way::Http1(connection, handshake, false));
    }
    match Streams::begin(connection, worker.clone()).await {
        Ok(streams) => {
            session.http2().add(streams.clone());
            Ok(Way::Http2(streams, handshake, false))
        }
        Err(kind) => {
            add(&worker.counts.failures, 1);
            worker.counts.closed(kind.is_end_by_peer());
            times.end = Instant::now();
            Err(failed(
                kind,
                Receiver::new(Want::NOTHING, false, worker.pool.sizes),
                0,
                *times,
                false,
            ))
        }
    }
}

/// One exchange on a connection.
async fn over(
    session: &Session,
    streams: &Rc<Streams>,
    out: Outgoing<'_>,
    want: Want,
    limits: Limits,
    mut times: Times,
    reused: bool,
) -> Result<Box<Incoming>, Box<Failure>> {
    let worker = session.worker();
    let target = &streams.lifetime().target;
    let mut receiver = Receiver::new(want, out.is_head, worker.pool.sizes);
    let mut source = Source::new(out.head, out.body);
    source.skip_head(0);
    let conversation = Conversation {
        session,
        place: streams.enter(),
        receiver: &mut receiver,
        times: &mut times,
        limit: limits.response,
        pace: Pace::of(limits).or(Pace::of_connections(&worker.pool, target.tls)),
    };
    let outcome = conversation.hold(target, &out, &mut source).await;
    let ending = Ending {
        receiver,
        times,
        sent_bytes: source.sent + out.head.len() as u64,
        reused,
        keep_alive: out.keep_alive,
    };
    ending.settle(outcome, session, &mut session.http2(), streams)
}

struct Conversation<'a> {
    session: &'a Session,
    place: Place,
    receiver: &'a mut Receiver,
    times: &'a mut Times,
    limit: Option<Duration>,
    /// How fast this stream may be; others of the connection go on meanwhile.
    pace: Option<Pace>,
}

impl Conversation<'_> {
    async fn hold(
        mut self,
        target: &Target,
        out: &Outgoing<'_>,
        source: &mut Source<'_>,
    ) -> Result<(), FailureKind> {
        let worker = self.session.worker().clone();
        let request = binary_head::request(out.head, target, &worker.requests).ok_or(UNSENDABLE)?;
        let has_body = !matches!(out.body, Body::None);
        let mut sender = self.place.sender().await?;
        let (mut response, mut stream) = sender.send_request(request, !has_body).map_err(kind)?;
        drop(sender);
        if has_body {
            self.send_body(&mut stream, source).await?;
        }
        self.times.sent = Some(Instant::now());
        let timers = &self.session.worker().timers;
        let response = self.place.arrival(|cx| Pin::new(&mut response).poll(cx));
        let response = timers.within(self.limit, response).await;
        let response = response.ok_or(FailureKind::ReadTimeout)?.map_err(kind)?;
        let (parts, mut body) = response.into_parts();
        let ends = body.is_end_stream();
        let head = binary_head::response(&http::Response::from_parts(parts, ()), 2, &worker.heads)?;
        self.receiver.begin(head, ends)?;
        self.receive_body(&mut body).await
    }

    /// Sends the body as fast as the server's windows allow; waits for them without a limit, as for the kernel. A server that
    /// has answered and wants no more of it ends the sending.
    async fn send_body(
        &self,
        stream: &mut SendStream<Bytes>,
        source: &mut Source<'_>,
    ) -> Result<(), FailureKind> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = source.fill(&mut piece)?;
            self.pause(count).await;
            let mut rest = Bytes::copy_from_slice(&piece[..count]);
            let last = count < PIECE_BYTES;
            while !rest.is_empty() {
                stream.reserve_capacity(rest.len());
                match self.place.taking(|cx| stream.poll_capacity(cx)).await {
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

    /// Waits for so many bytes, if the stream is slowed down.
    async fn pause(&self, bytes: usize) {
        if let Some(pace) = self.pace {
            self.place.driving(pace.pause(bytes)).await;
        }
    }

    async fn receive_body(&mut self, body: &mut RecvStream) -> Result<(), FailureKind> {
        let timers = &self.session.worker().timers;
        loop {
            let data = self.place.taking(|cx| body.poll_data(cx));
            let data = timers.within(self.limit, data).await;
            match data.ok_or(FailureKind::ReadTimeout)? {
                Some(Ok(data)) => {
                    self.pause(data.len()).await;
                    if !self.receiver.is_done() {
                        self.receiver.push(&data)?;
                    }
                    let released = body.flow_control().release_capacity(data.len());
                    released.map_err(kind)?;
                    if self.receiver.is_due() {
                        Box::pin(take_turns(self.receiver)).await?;
                    }
                    if self.receiver.is_done() && body.is_end_stream() {
                        return Ok(());
                    }
                }
                Some(Err(error)) => return Err(kind(error)),
                None if self.receiver.is_done() => return Ok(()),
                None => return self.receiver.end_of_stream(),
            }
        }
    }
}

/// RFC 9113 section 8.7: refused, or left over when the server went away in good order.
fn is_unprocessed(failure: &Failure) -> bool {
    const NO_ERROR: u32 = 0;
    const REFUSED_STREAM: u32 = 7;
    matches!(
        failure.kind,
        FailureKind::Http2(Http2Failure::Reset(REFUSED_STREAM) | Http2Failure::GoAway(NO_ERROR))
    ) && failure.wire.head_bytes == 0
}

/// Sorts an error of `h2` into the kinds of failure.
fn kind(error: h2::Error) -> FailureKind {
    let code = error.reason().map_or(0, u32::from);
    if error.is_io() {
        let is_end = |kind| {
            matches!(
                kind,
                std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::BrokenPipe
            )
        };
        return match error.into_io() {
            Some(error) if error.raw_os_error().is_none() && is_end(error.kind()) => {
                FailureKind::Http2(Http2Failure::Closed)
            }
            Some(error) => FailureKind::from_io(error),
            None => FailureKind::Http2(Http2Failure::Closed),
        };
    }
    FailureKind::Http2(if error.is_go_away() && error.is_remote() {
        Http2Failure::GoAway(code)
    } else if error.is_reset() && error.is_remote() {
        Http2Failure::Reset(code)
    } else {
        Http2Failure::Broken(code)
    })
}
