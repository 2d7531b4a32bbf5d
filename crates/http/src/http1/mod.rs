//! Exchanges over HTTP/1.1 (RFC 9112).

mod send;

use std::pin::pin;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::failure::{Failure, FailureKind};
use crate::message::{Body, Handshake, Incoming, Limits, Outgoing, Times, WantedParts};
use crate::outcome::{failed, finish};
use crate::pace::Pace;
use crate::receive::{Receiver, take_turns};
use crate::session::Session;
use crate::source::UnsentRequest;
use crate::turns::Turn;
use crate::worker::{Worker, add};

/// Runs one exchange on a connection. The arguments include the handshake that was made for it, and whether the
/// connection had served an earlier exchange.
///
/// Here and below, large values are passed by reference, since a future stores each of its arguments twice.
#[expect(
    clippy::manual_async_fn,
    reason = "an async function stores its arguments twice, in each user that waits"
)]
pub(crate) fn over_http1<'a>(
    session: &'a Session,
    (mut connection, handshake, reused): (Box<Connection>, Option<Handshake>, bool),
    out: &'a Outgoing<'_>,
    want: WantedParts,
    limits: Limits,
    times: &'a mut Times,
) -> impl Future<Output = Result<Box<Incoming>, Box<Failure>>> + 'a {
    async move {
        let worker = &**session.worker();
        let mut receiver = Receiver::new(want, out.is_head, worker.pool.sizes);
        receiver.known = Some(worker.heads.clone());
        receiver.watch = out.watch.cloned();
        receiver.rules = connection.target.rules;
        let by_proxy = connection.target.proxy.is_some() && !connection.target.tls;
        let mut source = UnsentRequest::new(out.head, out.body);
        let usual = connection.pace;
        connection.pace = Pace::of(limits).or(usual);
        let (begin, most) = (times.begin, limits.whole(worker.pool.max_exchange));
        let outcome = match out.expect_continue {
            None => {
                let limit = limits.response;
                let work = pin!(converse(
                    &mut connection,
                    worker,
                    &mut source,
                    &mut receiver,
                    times,
                    limit,
                ));
                worker.timers.bounded(most, begin, work).await
            }
            Some(patience) => {
                let asking = Asking {
                    connection: &mut connection,
                    worker,
                    receiver: &mut receiver,
                    times: &mut *times,
                    limit: limits.response,
                };
                let mut work = Box::pin(asking.converse(out, &mut source, patience));
                let bounded = worker.timers.bounded(most, begin, work.as_mut());
                bounded.await
            }
        };
        connection.pace = usual;
        times.end = receiver.ended.unwrap_or_else(Instant::now);
        worker
            .counts
            .transferred(source.sent, receiver.received_bytes());
        if let Err(kind) = outcome {
            add(&worker.counts.failures, 1);
            worker.counts.closed(kind.is_end_by_peer());
            return Err(failed(kind, receiver, source.sent, *times, reused));
        }
        add(&worker.counts.exchanges, 1);
        let is_open = !connection.is_closed_by_peer();
        let kept_alive = out.keep_alive && is_open && receiver.leaves_connection_usable(by_proxy);
        if kept_alive {
            session.put_idle(connection, times.end, receiver.idle_time(by_proxy));
        } else {
            let by_peer = out.keep_alive || connection.is_closed_by_peer();
            worker.counts.closed(by_peer && !receiver.is_ended_early());
            connection.close();
        }
        let mut incoming = finish(
            worker,
            &mut receiver,
            times,
            source.sent,
            reused,
            kept_alive,
        );
        incoming.handshake = handshake;
        Ok(incoming)
    }
}

/// The normal sequence: the whole request, then the response.
#[expect(
    clippy::manual_async_fn,
    reason = "an async function stores its arguments twice, in each user that waits"
)]
fn converse<'a>(
    connection: &'a mut Connection,
    worker: &'a Worker,
    source: &'a mut UnsentRequest<'_>,
    receiver: &'a mut Receiver,
    times: &'a mut Times,
    limit: Option<Duration>,
) -> impl Future<Output = Result<(), FailureKind>> + 'a {
    async move {
        match connection.pace {
            None => {
                if !connection.send_now(worker, source)? {
                    Box::pin(connection.send(worker, source, limit)).await?;
                }
            }
            Some(pace) => Box::pin(connection.send_slowly(pace, worker, source, limit)).await?,
        }
        times.sent = Some(Instant::now());
        receive_response(connection, worker, receiver, limit).await
    }
}

/// Reads until the response is complete.
#[expect(
    clippy::manual_async_fn,
    reason = "an async function stores its arguments twice, in each user that waits"
)]
pub(crate) fn receive_response<'a>(
    connection: &'a mut Connection,
    worker: &'a Worker,
    receiver: &'a mut Receiver,
    limit: Option<Duration>,
) -> impl Future<Output = Result<(), FailureKind>> + 'a {
    async move {
        if !connection.surplus.is_empty() {
            let surplus = std::mem::take(&mut connection.surplus);
            let taken = receiver.push(&surplus)?;
            connection.surplus.extend_from_slice(&surplus[taken..]);
        }
        let mut paused = false;
        let mut turn = Turn::default();
        while !receiver.is_done() {
            if receiver.is_due() {
                Box::pin(take_turns(receiver)).await?;
                continue;
            }
            if let Some(pace) = connection.pace.filter(|_| !paused) {
                Box::pin(pace.before_read(receiver.payload_ahead())).await;
                paused = true;
            }
            if connection.receive(worker, receiver)? {
                paused = false;
                if !receiver.is_done() && turn.is_over() {
                    tokio::task::yield_now().await;
                }
            } else {
                turn = Turn::default();
                // Only a plain wait notices the first byte of the body when it arrives.
                let ready = match receiver.first_body {
                    Some(_) if !receiver.is_watched() => {
                        let ahead = receiver.payload_ahead();
                        connection.body_readable(worker, limit, ahead).await
                    }
                    _ => connection.readable(worker, receiver.patience(limit)).await,
                };
                match ready {
                    Err(FailureKind::ReadTimeout) if receiver.is_over_in_time() => {}
                    ready => ready?,
                }
            }
        }
        connection.lower_water();
        Ok(())
    }
}

/// The sequence with `Expect: 100-continue`: head, interim response, body.
struct Asking<'a> {
    connection: &'a mut Connection,
    worker: &'a Worker,
    receiver: &'a mut Receiver,
    times: &'a mut Times,
    limit: Option<Duration>,
}

impl Asking<'_> {
    /// `HttpRequestExecutor.doSendRequest`: if a final response comes before the body was sent, it is the answer and
    /// the body is not sent. If nothing comes in time, the body is sent.
    async fn converse(
        self,
        out: &Outgoing<'_>,
        source: &mut UnsentRequest<'_>,
        patience: Duration,
    ) -> Result<(), FailureKind> {
        let mut head = UnsentRequest::new(out.head, Body::None);
        let (worker, limit) = (self.worker, self.limit);
        let sending = self.connection.send(worker, &mut head, limit).await;
        source.skip_head(head.sent);
        sending?;
        self.receiver.stop_at_interim = true;
        let deadline = Instant::now() + patience;
        let answered = loop {
            if self.connection.receive(self.worker, self.receiver)? {
                if self.receiver.in_body() || self.receiver.interim.is_some() {
                    break true;
                }
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.connection.readable(self.worker, Some(left)).await {
                Ok(()) => {}
                Err(FailureKind::ReadTimeout) if self.receiver.head_bytes == 0 => break false,
                Err(kind) => return Err(kind),
            }
        };
        self.receiver.stop_at_interim = false;
        match self.receiver.interim {
            None if answered => {}
            None | Some(100) => self.connection.send(worker, source, limit).await?,
            Some(other) => return Err(FailureKind::UnexpectedInterim(other)),
        }
        self.times.sent = Some(Instant::now());
        receive_response(self.connection, worker, self.receiver, limit).await
    }
}
