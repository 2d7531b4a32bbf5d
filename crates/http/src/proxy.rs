//! Making a tunnel through an HTTP proxy.

use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::exchange::{into_incoming, receive_response};
use crate::failure::FailureKind;
use crate::message::{Body, Incoming, Times, Want};
use crate::receive::Receiver;
use crate::send::Source;
use crate::worker::Worker;

/// What the proxy said.
pub(crate) enum Answer {
    Tunnel,
    /// Not a 2xx: the answer as the proxy gave it. `kept_alive` tells whether the connection can
    /// take another request.
    Refusal(Box<Incoming>),
}

/// Sends CONNECT for the connection's target and reads the answer.
pub(crate) async fn connect(
    connection: &mut Connection,
    worker: &Worker,
    limit: Option<Duration>,
    with_credentials: bool,
) -> Result<Answer, FailureKind> {
    let head = request(connection, with_credentials);
    let mut source = Source::new(head.as_bytes(), Body::None);
    let mut times = Times::starting(Instant::now());
    connection.send(worker, &mut source).await?;

    let want = Want {
        decode: false,
        ..Want::ALL
    };
    let mut receiver = Receiver::new(want, false);
    receiver.is_connect = true;
    receive_response(connection, worker, &mut receiver, limit).await?;
    if receiver.head.as_ref().is_some_and(|h| h.status / 100 == 2) {
        return Ok(Answer::Tunnel);
    }
    times.end = Instant::now();
    let usable = receiver.leaves_connection_usable();
    let mut incoming = into_incoming(receiver, times).ok_or(FailureKind::ClosedBeforeResponse)?;
    incoming.wire.sent_bytes = source.sent;
    incoming.kept_alive = usable;
    Ok(Answer::Refusal(Box::new(incoming)))
}

fn request(connection: &Connection, with_credentials: bool) -> String {
    let target = &connection.target;
    let host = match target.host.contains(':') {
        true => format!("[{}]:{}", target.host, target.port),
        false => format!("{}:{}", target.host, target.port),
    };
    let mut head = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n");
    if let Some(proxy) = &target.proxy {
        head.push_str(&proxy.connect_headers);
        if let Some(authorization) = proxy.authorization.as_ref().filter(|_| with_credentials) {
            head.push_str("Proxy-Authorization: ");
            head.push_str(authorization);
            head.push_str("\r\n");
        }
    }
    head.push_str("\r\n");
    head
}
