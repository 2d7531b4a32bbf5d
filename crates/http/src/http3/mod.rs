//! Exchanges over HTTP/3 (RFC 9114): QUIC by the `quinn` crate, frames by `h3`. The caller gives and gets heads in the form of
//! HTTP/1.1, and sizes are those of that form, as with HTTP/2. There is no early data: a request goes out when the handshake is
//! done.

mod open;
mod quic;
mod socket;

use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use h3::error::{Code, StreamError};

use quic::{Place, Stream};

pub(crate) use quic::Quic;

use crate::binary_head;
use crate::carriers::{Carrier, Ending};
use crate::failure::{Failure, FailureKind, Http3Failure};
use crate::message::{Body, Handshake, Incoming, Limits, Outgoing, Times, Want};
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::send::Source;
use crate::session::Session;
use crate::target::Target;
use crate::worker::{Worker, add};

/// What is read of a request's body at once.
const PIECE_BYTES: usize = 64 * 1024;
const UNSENDABLE: FailureKind = FailureKind::Http3(Http3Failure::Unsendable);

/// An exchange over HTTP/3, whether the server speaks it or not.
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
        let (quic, handshake) = find(session, target, limits, &mut times).await?;
        let reused = handshake.is_none();
        let outcome = over(session, &quic, out, want, limits, times, reused).await;
        match outcome {
            // The server has not looked at the request (RFC 9114 section 4.1.1), so it goes out once more.
            Err(failure) if !tried_again && is_unprocessed(&failure) => tried_again = true,
            Err(failure) => return Err(failure),
            Ok(mut incoming) => {
                incoming.handshake = handshake;
                return Ok(incoming);
            }
        }
    }
}

/// The connection of an exchange, and the handshake if it was made for it.
async fn find(
    session: &Session,
    target: &Target,
    limits: Limits,
    times: &mut Times,
) -> Result<(Rc<Quic>, Option<Handshake>), Box<Failure>> {
    let counts = &session.worker().counts;
    let known = || {
        let quic = session.http3().find(target, counts)?;
        add(&counts.reused, 1);
        Some((quic, None))
    };
    if let Some(way) = known() {
        return Ok(way);
    }
    // Those who come while a connection is being opened share it.
    let turn = session.http3().turn_to_open(target);
    let _turn = turn.lock().await;
    if let Some(way) = known() {
        return Ok(way);
    }
    let (quic, handshake) = open::open(session, target, limits, times).await?;
    session.http3().add(quic.clone());
    Ok((quic, Some(handshake)))
}

/// One exchange on a connection.
async fn over(
    session: &Session,
    quic: &Rc<Quic>,
    out: Outgoing<'_>,
    want: Want,
    limits: Limits,
    mut times: Times,
    reused: bool,
) -> Result<Box<Incoming>, Box<Failure>> {
    let worker = session.worker();
    let target = &quic.lifetime().target;
    let mut receiver = Receiver::new(want, out.is_head, worker.pool.sizes);
    let mut source = Source::new(out.head, out.body);
    source.skip_head(out.head.len() as u64);
    let place = quic.enter();
    let conversation = Conversation {
        worker,
        place: &place,
        receiver: &mut receiver,
        times: &mut times,
        limit: limits.response,
        pace: Pace::of(limits).or(Pace::of_connections(&worker.pool, true)),
    };
    let outcome = conversation.hold(target, &out, &mut source).await;
    drop(place);
    let ending = Ending {
        receiver,
        times,
        sent_bytes: source.sent,
        reused,
        keep_alive: out.keep_alive,
    };
    ending.settle(outcome, session, &mut session.http3(), quic)
}

struct Conversation<'a> {
    worker: &'a Worker,
    place: &'a Place,
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
        let request =
            binary_head::request(out.head, target, &self.worker.requests).ok_or(UNSENDABLE)?;
        let mut stream = self.place.send(request).await?;
        if matches!(out.body, Body::None) || self.send_body(&mut stream, source).await? {
            stream.finish().await.map_err(|error| self.kind(error))?;
        }
        self.times.sent = Some(Instant::now());
        while !self.receiver.in_body() {
            let timers = &self.worker.timers;
            let response = timers.within(self.limit, stream.recv_response()).await;
            let response = response.ok_or(FailureKind::ReadTimeout)?;
            let response = response.map_err(|error| self.kind(error))?;
            self.receiver.begin(
                binary_head::response(&response, 3, &self.worker.heads)?,
                false,
            )?;
        }
        self.receive_body(&mut stream).await
    }

    /// Sends the body as fast as the server's windows allow; waits for them without a limit, as for the kernel. False if the
    /// server has answered and wants no more of it.
    async fn send_body(
        &self,
        stream: &mut Stream,
        source: &mut Source<'_>,
    ) -> Result<bool, FailureKind> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = source.fill(&mut piece)?;
            if count == 0 {
                return Ok(true);
            }
            self.pause(count).await;
            let sent = stream.send_data(Bytes::copy_from_slice(&piece[..count]));
            match sent.await {
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
            let data = timers.within(self.limit, stream.recv_data()).await;
            let data = data.ok_or(FailureKind::ReadTimeout)?;
            match data.map_err(|error| self.kind(error))? {
                Some(mut data) => {
                    self.pause(data.remaining()).await;
                    while data.has_remaining() && !self.receiver.is_done() {
                        let taken = self.receiver.push(data.chunk())?;
                        data.advance(taken);
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

    /// Waits for so many bytes, if the stream is slowed down.
    async fn pause(&self, bytes: usize) {
        if let Some(pace) = self.pace {
            pace.pause(bytes).await;
        }
    }

    fn kind(&self, error: StreamError) -> FailureKind {
        self.place.quic.kind(error)
    }
}

/// Refused, or kept back because the server has said good-bye.
fn is_unprocessed(failure: &Failure) -> bool {
    const REJECTED: u64 = Code::H3_REQUEST_REJECTED.value();
    matches!(
        failure.kind,
        FailureKind::Http3(Http3Failure::Reset(REJECTED) | Http3Failure::GoAway)
    ) && failure.wire.head_bytes == 0
}
