//! Opens a connection.

use std::fmt;
use std::time::Instant;

use drumfire_http::{Failure, Limits, Session, Target, Times, WebSocket};
use drumfire_mqtt::{Client, Connect, connect_reason};

use super::link::{Answer, Link, LinkEnd};
use super::settings::ConnectValues;
use crate::base::clock::Clock;
use crate::elements::samplers::websocket::stop::WebSocketFailure;
use crate::elements::samplers::websocket::upgrade::{self, UpgradeHeaders};

/// The values for opening a connection besides the plan's values.
pub struct OpenRules {
    pub clock: Clock,
    /// The largest packet that the server may send.
    pub max_packet_bytes: usize,
    /// The memory of messages that no sampler has taken.
    pub max_waiting_bytes: usize,
    pub random: [u64; 2],
}

/// Why there is no connection.
pub enum OpenFailure {
    /// The connection could not be made.
    Unconnected(Box<Failure>),
    /// The server does not speak WebSocket.
    Upgrade(String),
    /// The server ended the connection instead of accepting it.
    Ended(LinkEnd),
    /// The server refused the client.
    Refused(String),
}

impl fmt::Display for OpenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenFailure::Unconnected(failure) => write!(f, "{:?}", failure.kind),
            OpenFailure::Upgrade(why) => write!(f, "no WebSocket connection: {why}"),
            OpenFailure::Ended(end) => end.fmt(f),
            OpenFailure::Refused(why) => write!(f, "the server refused the client: {why}"),
        }
    }
}

impl From<LinkEnd> for OpenFailure {
    fn from(end: LinkEnd) -> OpenFailure {
        OpenFailure::Ended(end)
    }
}

/// Connects, sends CONNECT, and waits for the answer.
pub async fn open(
    session: &Session,
    target: &Target,
    values: &ConnectValues,
    connect: &Connect,
    rules: &OpenRules,
) -> Result<(Link, Times), OpenFailure> {
    let connecting = WebSocket::connect(session, target, None, Limits::default());
    let (mut socket, mut times) = connecting.await.map_err(OpenFailure::Unconnected)?;
    let mut mask = None;
    if let Some(path) = &values.path {
        upgrade(&mut socket, target, path, rules).await?;
        mask = Some(rules.random[0] as u32);
    }
    let wire = socket.into_duplex(mask);
    let mut client = Client::new(connect.version, rules.max_packet_bytes);
    let mut out = Vec::new();
    client.connect(connect, &mut out);
    wire.send(&out).map_err(LinkEnd::from)?;
    times.sent = Some(Instant::now());
    let shown = format!("{}{{clientId='{}'}}", values.shown_class, values.client_id);
    let limit = rules.max_waiting_bytes;
    let id = values.client_id.clone();
    let mut link = Link::new(wire, client, id, shown, rules.clock, limit);
    let answer = link.connected().await?;
    times.end = Instant::now();
    times.first_byte = Some(times.end);
    times.arrivals = link.arrived().map(|at| (at, at));
    let Answer::Connected {
        code,
        reason,
        client_id,
        keep_alive_s,
    } = answer
    else {
        return Err(LinkEnd::Closed.into());
    };
    if code != 0 {
        let words = connect_reason(connect.version, code);
        return Err(OpenFailure::Refused(reason.unwrap_or(words.to_owned())));
    }
    if let Some(own) = client_id {
        link.client_id = own;
    }
    link.set_keep_alive(keep_alive_s.unwrap_or(connect.keep_alive_s));
    Ok((link, times))
}

/// Makes the connection one of WebSocket (MQTT 5 section 6).
async fn upgrade(
    socket: &mut WebSocket,
    target: &Target,
    path: &str,
    rules: &OpenRules,
) -> Result<(), OpenFailure> {
    let nonce = upgrade::nonce(rules.random);
    let headers = [("Sec-WebSocket-Protocol".to_owned(), "mqtt".to_owned())];
    let request = upgrade::request(&target.host, target.port, path, &headers, &nonce);
    let request = request.map_err(not_upgraded)?;
    let sent = socket.send_bytes(&request).await;
    sent.map_err(|kind| OpenFailure::Ended(kind.into()))?;
    let head = socket.receive_head(None).await;
    let head = head.map_err(|kind| OpenFailure::Ended(kind.into()))?;
    UpgradeHeaders::read(&head, &nonce).map_err(not_upgraded)?;
    Ok(())
}

fn not_upgraded(failure: WebSocketFailure) -> OpenFailure {
    OpenFailure::Upgrade(match failure {
        WebSocketFailure::Upgrade(_, why)
        | WebSocketFailure::Io(why)
        | WebSocketFailure::Exception(why) => why,
        WebSocketFailure::ReadTimeout
        | WebSocketFailure::Unexpected(_)
        | WebSocketFailure::Aborted => "no answer".to_owned(),
    })
}
