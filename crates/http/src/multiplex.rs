//! Exchanges over connections that carry several at once: the common part of HTTP/2 and HTTP/3.

use std::cell::RefMut;
use std::pin::pin;
use std::rc::Rc;

use crate::carriers::{Carrier, Carriers};
use crate::connection::Connection;
use crate::failure::{Failure, FailureKind};
use crate::http1::over_http1;
use crate::message::{Handshake, Incoming, Limits, Outgoing, Times, WantedParts};
use crate::outcome::Ending;
use crate::pace::Pace;
use crate::receive::Receiver;
use crate::session::Session;
use crate::source::UnsentRequest;
use crate::target::Target;
use crate::worker::add;

/// A connection of an HTTP version that carries several exchanges at once.
pub(crate) trait Multiplexed: Carrier + Sized {
    /// The user's connections of this version.
    fn of(session: &Session) -> RefMut<'_, Carriers<Self>>;

    /// Opens a connection; [`Opened::Http1`] if the server chooses that.
    async fn open(
        session: &Session,
        target: &Target,
        out: &Outgoing<'_>,
        limits: Limits,
        times: &mut Times,
    ) -> Result<(Opened<Self>, Option<Handshake>), Box<Failure>>;

    /// Sends the request and receives the response.
    async fn converse(
        self: &Rc<Self>,
        session: &Session,
        out: &Outgoing<'_>,
        exchange: OpenExchange<'_, '_>,
    ) -> Result<(), FailureKind>;

    /// Whether the server has not processed the request, so that it may be sent again.
    fn is_unprocessed(failure: &Failure) -> bool;
}

/// A new connection.
pub(crate) enum Opened<C> {
    Shared(Rc<C>),
    Http1(Box<Connection>),
}

/// An exchange in progress.
pub(crate) struct OpenExchange<'a, 's> {
    pub source: &'a mut UnsentRequest<'s>,
    pub receiver: &'a mut Receiver,
    pub times: &'a mut Times,
    pub limits: Limits,
    /// Speed limit of this exchange; it does not delay others of the connection.
    pub pace: Option<Pace>,
}

/// Runs one exchange over a connection of this version, or over HTTP/1.1 if the server chooses that.
pub(crate) async fn over_shared<C: Multiplexed>(
    session: &Session,
    target: &Target,
    out: Outgoing<'_>,
    want: WantedParts,
    limits: Limits,
) -> Result<Box<Incoming>, Box<Failure>> {
    let mut times = Times::starting(out.begin);
    let mut tried_again = false;
    loop {
        let way = find::<C>(session, target, &out, limits, &mut times).await?;
        let (carrier, handshake, reused) = match way {
            (Opened::Http1(connection), handshake, reused) => {
                let way = (connection, handshake, reused);
                return over_http1(session, way, &out, want, limits, &mut times).await;
            }
            (Opened::Shared(carrier), handshake, reused) => (carrier, handshake, reused),
        };
        let outcome = over(session, &carrier, &out, want, limits, times, reused).await;
        match outcome {
            Err(failure) if !tried_again && C::is_unprocessed(&failure) => tried_again = true,
            Err(failure) => return Err(failure),
            Ok(mut incoming) => {
                incoming.handshake = handshake;
                return Ok(incoming);
            }
        }
    }
}

/// Finds or opens the connection of an exchange. Also returns the handshake made for it, and whether
/// it had served an earlier exchange.
async fn find<C: Multiplexed>(
    session: &Session,
    target: &Target,
    out: &Outgoing<'_>,
    limits: Limits,
    times: &mut Times,
) -> Result<(Opened<C>, Option<Handshake>, bool), Box<Failure>> {
    let counts = &session.worker().counts;
    let known = || {
        let carrier = C::of(session).find(target, counts)?;
        add(&counts.reused, 1);
        Some((Opened::Shared(carrier), None, true))
    };
    if let Some(way) = known() {
        return Ok(way);
    }
    if let Some(connection) = session.take_idle(target, out.begin) {
        add(&counts.reused, 1);
        return Ok((Opened::Http1(connection), None, true));
    }
    // Exchanges that start while a connection is being opened share it.
    let turn = C::of(session).turn_to_open(target);
    let _turn = turn.lock().await;
    if let Some(way) = known() {
        return Ok(way);
    }
    let (opened, handshake) = C::open(session, target, out, limits, times).await?;
    if let Opened::Shared(carrier) = &opened {
        C::of(session).add(carrier.clone());
    }
    Ok((opened, handshake, false))
}

/// Runs one exchange on a connection.
async fn over<C: Multiplexed>(
    session: &Session,
    carrier: &Rc<C>,
    out: &Outgoing<'_>,
    want: WantedParts,
    limits: Limits,
    mut times: Times,
    reused: bool,
) -> Result<Box<Incoming>, Box<Failure>> {
    let pool = &session.worker().pool;
    let begin = times.begin;
    let mut receiver = Receiver::new(want, out.is_head, pool.sizes);
    receiver.watch = out.watch.cloned();
    let mut source = UnsentRequest::new(out.head, out.body);
    source.skip_head(out.head.len() as u64);
    let exchange = OpenExchange {
        source: &mut source,
        receiver: &mut receiver,
        times: &mut times,
        limits,
        pace: Pace::of(limits).or(Pace::of_connections(pool, carrier.lifetime().target.tls)),
    };
    let outcome = {
        let worker = session.worker();
        let work = pin!(carrier.converse(session, out, exchange));
        let bounded = worker
            .timers
            .bounded(limits.whole(pool.max_exchange), begin, work);
        bounded.await
    };
    let ending = Ending {
        receiver,
        times,
        sent_bytes: source.sent,
        reused,
        keep_alive: out.keep_alive,
    };
    ending.settle(outcome, session, &mut C::of(session), carrier)
}
