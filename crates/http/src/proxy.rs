//! Opens a tunnel through an HTTP proxy.

use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::http1::receive_response;
use crate::message::{Body, Decode, Incoming, Times, Tunnel, WantedParts};
use crate::outcome::take_incoming;
use crate::receive::Receiver;
use crate::source::UnsentRequest;
use crate::target::Target;
use crate::worker::Worker;

/// CONNECT with `Host` and without credentials.
pub(crate) struct BareConnect;

impl Tunnel for BareConnect {
    fn head(&self, target: &Target) -> Vec<u8> {
        let authority = target.authority();
        format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").into_bytes()
    }

    fn challenged(&self, _refusal: &Incoming, _target: &Target) -> bool {
        false
    }
}

/// The proxy's answer.
pub(crate) enum ProxyResponse {
    Tunnel,
    /// Not a 2xx: the proxy's answer. `kept_alive` tells whether the connection can take another
    /// request.
    Refusal(Box<Incoming>),
}

/// Sends CONNECT with this head and receives the answer.
pub(crate) async fn connect(
    connection: &mut Connection,
    worker: &Worker,
    limit: Option<Duration>,
    head: &[u8],
) -> Result<ProxyResponse, FailureKind> {
    let mut source = UnsentRequest::new(head, Body::None);
    let mut times = Times::starting(Instant::now());
    connection.send(worker, &mut source, limit).await?;

    let want = WantedParts {
        decode: Decode::Nothing,
        ..WantedParts::ALL
    };
    let mut receiver = Receiver::new(want, false, worker.pool.sizes);
    receiver.is_connect = true;
    receive_response(connection, worker, &mut receiver, limit).await?;
    if receiver.head.as_ref().is_some_and(|h| h.status / 100 == 2) {
        return Ok(ProxyResponse::Tunnel);
    }
    times.end = Instant::now();
    let usable = receiver.leaves_connection_usable(false);
    let mut incoming =
        take_incoming(&mut receiver, &times).ok_or(FailureKind::ClosedBeforeResponse)?;
    incoming.wire.sent_bytes = source.sent;
    incoming.kept_alive = usable;
    Ok(ProxyResponse::Refusal(Box::new(incoming)))
}
