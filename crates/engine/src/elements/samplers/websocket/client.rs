//! A user's WebSocket connection and its states (`WebSocketClient`).

use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_http::{
    Failure, FailureKind, Frame, FrameFailure, Limits, Opcode, Session, Target, TlsFailure, Tunnel,
    WebSocket,
};
use drumfire_results::Sample;
use drumfire_web::status::too_large_message;

use super::call::Endpoint;
use super::inflater::{self, Inflater};
use super::proxy::Connect;
use super::stop::WebSocketFailure;
use super::upgrade::{self, UpgradeHeaders};
use crate::elements::samplers::http::proxy::ProxyChoice;
use crate::elements::samplers::http::settings::took_too_long;
use crate::elements::samplers::http::state::{user, worker};
use crate::run::context::{Context, Unfinished};

/// `WebSocketClient.WebSocketState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientState {
    Closed,
    /// This side has sent its close frame.
    ClosedClient,
    ClosedServer,
    Connected,
}

impl ClientState {
    fn name(self) -> &'static str {
        match self {
            ClientState::Closed => "CLOSED",
            ClientState::ClosedClient => "CLOSED_CLIENT",
            ClientState::ClosedServer => "CLOSED_SERVER",
            ClientState::Connected => "CONNECTED",
        }
    }
}

/// The type of the message whose fragments are arriving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Text,
    Binary,
}

/// The opening handshake of a connection.
pub(super) struct Opened {
    pub answer: UpgradeHeaders,
    /// The size of the answer's head.
    pub received_bytes: u64,
    /// The size of the request.
    pub sent_bytes: u64,
}

/// A connection, open or not, to one address.
pub struct WebSocketClient {
    place: Endpoint,
    state: ClientState,
    socket: Option<WebSocket>,
    /// The message that has begun and not yet ended.
    fragmented: Option<Message>,
    /// The type of the last data frame's message.
    last: Option<Message>,
    inflater: Option<Inflater>,
    /// Whether the last frame was part of a compressed message.
    was_compressed: bool,
    /// When the sample at hand has taken too long in all, with the limit that it exceeds then.
    deadline: Option<(Instant, Duration)>,
    /// The memory of the frames that filters discarded from the sample at hand.
    discarded_bytes: u64,
}

impl WebSocketClient {
    pub(super) fn new(place: &Endpoint) -> WebSocketClient {
        WebSocketClient {
            place: place.clone(),
            state: ClientState::Closed,
            socket: None,
            fragmented: None,
            last: None,
            inflater: None,
            was_compressed: false,
            deadline: None,
            discarded_bytes: 0,
        }
    }

    /// Begins a sample.
    pub(super) fn begin(&mut self, max_exchange: Option<Duration>) {
        self.discarded_bytes = 0;
        self.deadline =
            max_exchange.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit)));
    }

    /// Counts a frame that becomes a sub-result. Fails if they take more memory than a body may.
    pub(super) fn discard(&mut self, cx: &Context, frame: &Frame) -> Result<(), WebSocketFailure> {
        self.discarded_bytes += (size_of::<Sample>() + frame.payload.len()) as u64;
        let limit = worker(cx).http.sizes().body_bytes;
        if self.discarded_bytes > limit {
            Err(WebSocketFailure::Io(inflater::too_large(limit)))
        } else {
            Ok(())
        }
    }

    /// When the kernel had received the bytes of the latest read; `None` if it does not say.
    pub(super) fn arrived(&self) -> Option<Instant> {
        self.socket.as_ref()?.arrived()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.state == ClientState::Connected
    }

    /// `WebsocketSampler#getConnectUrl`.
    pub(super) fn shown_url(&self) -> String {
        self.url(if self.place.tls { "wss" } else { "ws" })
    }

    pub(super) fn host(&self) -> &str {
        &self.place.host
    }

    /// The address by which cookies are selected.
    pub(super) fn http_url(&self) -> String {
        self.url(if self.place.tls { "https" } else { "http" })
    }

    fn url(&self, scheme: &str) -> String {
        let Endpoint {
            host, port, path, ..
        } = &self.place;
        format!("{scheme}://{host}:{port}{path}")
    }

    /// Closes the connection without a close frame.
    pub(super) fn dispose(&mut self) {
        self.state = ClientState::Closed;
        if let Some(socket) = self.socket.take() {
            socket.close();
        }
    }

    /// `WebSocketClient#connect`: connects, asks for the upgrade and reads the answer.
    pub(super) async fn open(
        &mut self,
        cx: &mut Context,
        limits: Limits,
        headers: &[(String, String)],
        proxy: Option<&ProxyChoice>,
    ) -> Result<Opened, WebSocketFailure> {
        if self.state != ClientState::Closed {
            let text = format!("Cannot connect when state is {}", self.state.name());
            return Err(WebSocketFailure::illegal_state(text));
        }
        let Endpoint {
            tls,
            host,
            port,
            path,
        } = &self.place;
        let mut target = Target::new(host.as_str(), *port, *tls);
        let tunnel = proxy.map(|choice| Connect { choice });
        target.proxy = tunnel.as_ref().map(Connect::proxy);
        let random = cx.random();
        let nonce = upgrade::nonce([random.next_u64(), random.next_u64()]);
        let whole;
        let asked = match &tunnel {
            None => path,
            Some(_) => {
                whole = self.http_url();
                &whole
            }
        };
        let request = upgrade::request(host, *port, asked, headers, &nonce)?;
        let joint = Rc::clone(&user(cx).joint);
        let connecting = connect(&joint.session, &target, tunnel.as_ref(), limits, &request);
        let (socket, head) = attend(cx, self.deadline, connecting).await??;
        let answer = match UpgradeHeaders::read(&head, &nonce) {
            Ok(answer) => answer,
            Err(stop) => {
                socket.close();
                return Err(stop);
            }
        };
        self.socket = Some(socket);
        self.inflater = Inflater::asked_for(headers, worker(cx).http.sizes().body_bytes);
        self.state = ClientState::Connected;
        Ok(Opened {
            answer,
            received_bytes: head.len() as u64,
            sent_bytes: request.len() as u64,
        })
    }

    /// Sends a frame; returns its size in bytes.
    pub(super) async fn send(
        &mut self,
        cx: &mut Context,
        opcode: Opcode,
        payload: &[u8],
    ) -> Result<u64, WebSocketFailure> {
        if !self.is_connected() {
            let kind = match opcode {
                Opcode::Ping => "Cannot send ping frame",
                Opcode::Pong => "Cannot send pong frame",
                _ => "Cannot send data frame",
            };
            let text = format!("{kind} when state is {}", self.state.name());
            return Err(WebSocketFailure::illegal_state(text));
        }
        self.write(cx, opcode, payload).await
    }

    /// `WebSocketClient#sendClose`.
    pub(super) async fn send_close(
        &mut self,
        cx: &mut Context,
        payload: &[u8],
    ) -> Result<u64, WebSocketFailure> {
        let is_answer = self.state == ClientState::ClosedServer;
        if !is_answer && self.state != ClientState::Connected {
            let text = format!("Cannot close when state is {}", self.state.name());
            return Err(WebSocketFailure::illegal_state(text));
        }
        let sent = self.write(cx, Opcode::Close, payload).await?;
        if is_answer {
            self.dispose();
        } else {
            self.state = ClientState::ClosedClient;
        }
        Ok(sent)
    }

    async fn write(
        &mut self,
        cx: &mut Context,
        opcode: Opcode,
        payload: &[u8],
    ) -> Result<u64, WebSocketFailure> {
        let mask = (cx.random().next_u64() as u32).to_ne_bytes();
        let deadline = self.deadline;
        let Some(socket) = &mut self.socket else {
            return Err(closed());
        };
        let sent = attend(cx, deadline, socket.send(opcode, payload, mask)).await?;
        sent.map_err(lost)
    }

    /// `WebSocketClient#receiveFrame`.
    pub(super) async fn receive(
        &mut self,
        cx: &Context,
        timeout_ms: u64,
    ) -> Result<Frame, WebSocketFailure> {
        if !matches!(
            self.state,
            ClientState::Connected | ClientState::ClosedClient
        ) {
            let text = format!(
                "Cannot receive data frame when state is {}",
                self.state.name()
            );
            return Err(WebSocketFailure::illegal_state(text));
        }
        let deadline = self.deadline;
        let Some(socket) = &mut self.socket else {
            return Err(closed());
        };
        let received = attend(cx, deadline, socket.receive(limit(timeout_ms))).await?;
        let mut frame = received.map_err(unreadable)?;
        let in_text = self.fragmented == Some(Message::Text);
        self.was_compressed =
            inflater::inflate(&mut self.inflater, &mut frame, self.was_compressed, in_text)?;
        self.note(&frame)?;
        Ok(frame)
    }

    /// Keeps track of fragments and close frames.
    fn note(&mut self, frame: &Frame) -> Result<(), WebSocketFailure> {
        let begins = match frame.opcode {
            Opcode::Text => Some(Message::Text),
            Opcode::Binary => Some(Message::Binary),
            Opcode::Continuation => None,
            Opcode::Close => {
                match self.state {
                    ClientState::Connected => self.state = ClientState::ClosedServer,
                    _ => self.dispose(),
                }
                return Ok(());
            }
            Opcode::Ping | Opcode::Pong => return Ok(()),
            Opcode::Other(bits) => {
                let text = format!("java.lang.RuntimeException: unsupported frame type: {bits}");
                return Err(WebSocketFailure::Exception(text));
            }
        };
        match (begins, self.fragmented) {
            (None, None) => {
                return Err(WebSocketFailure::Io(
                    "no continuation frame expected".to_owned(),
                ));
            }
            (Some(_), Some(_)) => {
                return Err(WebSocketFailure::Io(
                    "missing continuation frame".to_owned(),
                ));
            }
            (Some(message), None) => {
                self.last = Some(message);
                self.fragmented = (!frame.is_final).then_some(message);
            }
            (None, Some(message)) => {
                self.last = Some(message);
                self.fragmented = (!frame.is_final).then_some(message);
            }
        }
        Ok(())
    }

    /// Whether the frame just received is text, or a fragment of it.
    pub(super) fn is_text(&self, frame: &Frame) -> bool {
        is_data(frame) && self.last == Some(Message::Text)
    }

    /// Whether the frame just received is a part of a compressed message whose end is yet to come.
    pub(super) fn is_partly_inflated(&self, frame: &Frame) -> bool {
        self.was_compressed && !frame.is_final
    }

    pub(super) fn is_binary(&self, frame: &Frame) -> bool {
        is_data(frame) && self.last == Some(Message::Binary)
    }
}

/// Connects, sends the request and returns the head of the answer.
async fn connect(
    session: &Session,
    target: &Target,
    tunnel: Option<&Connect<'_>>,
    limits: Limits,
    request: &[u8],
) -> Result<(WebSocket, Vec<u8>), WebSocketFailure> {
    let tunnel = tunnel.map(|tunnel| tunnel as &dyn Tunnel);
    let connected = WebSocket::connect(session, target, tunnel, limits).await;
    let (mut socket, _) = connected.map_err(|failure| match &target.proxy {
        None => refused(&failure, &target.host),
        Some(proxy) => Connect::failed(&failure).unwrap_or_else(|| refused(&failure, &proxy.host)),
    })?;
    socket.send_bytes(request).await.map_err(lost)?;
    let head = socket.receive_head(limits.response).await.map_err(lost)?;
    Ok((socket, head))
}

fn is_data(frame: &Frame) -> bool {
    matches!(
        frame.opcode,
        Opcode::Text | Opcode::Binary | Opcode::Continuation
    )
}

/// 0 waits for ever, as `Socket#setSoTimeout` has it.
pub(super) fn limit(ms: u64) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// Runs a part of a sample, unless the run stops, or the sample is interrupted or has taken too long.
async fn attend<T>(
    cx: &Context,
    deadline: Option<(Instant, Duration)>,
    work: impl Future<Output = T>,
) -> Result<T, WebSocketFailure> {
    let attended = cx.attend_by(deadline.map(|(at, _)| at), work).await;
    attended.map_err(|why| match (why, deadline) {
        (Unfinished::TooLong, Some((_, limit))) => WebSocketFailure::Io(took_too_long(limit)),
        _ => closed(),
    })
}

fn closed() -> WebSocketFailure {
    WebSocketFailure::Io("Socket closed".to_owned())
}

/// Java's message for a connection that could not be made.
fn refused(failure: &Failure, host: &str) -> WebSocketFailure {
    WebSocketFailure::Io(match &failure.kind {
        FailureKind::UnknownHost | FailureKind::UnknownToNameServers => host.to_owned(),
        FailureKind::Refused => "Connection refused".to_owned(),
        FailureKind::ConnectTimeout => "Connect timed out".to_owned(),
        FailureKind::HostUnreachable => "No route to host".to_owned(),
        FailureKind::NetworkUnreachable => "Network is unreachable".to_owned(),
        FailureKind::AddressNotAvailable => "Cannot assign requested address".to_owned(),
        FailureKind::TooManyFiles => "Too many open files".to_owned(),
        FailureKind::Tls(TlsFailure::Closed) => "Remote host terminated the handshake".to_owned(),
        FailureKind::Tls(TlsFailure::NotTls) => {
            "Unsupported or unrecognized SSL message".to_owned()
        }
        FailureKind::Tls(TlsFailure::MessageTooLarge(size)) => too_large_message(*size),
        FailureKind::Tls(TlsFailure::Certificate(text) | TlsFailure::Other(text)) => {
            text.to_string()
        }
        FailureKind::Tls(tls) => {
            format!(
                "Received fatal alert: {}",
                tls.alert_name().unwrap_or("unknown")
            )
        }
        kind => return lost_by(kind),
    })
}

fn lost(kind: FailureKind) -> WebSocketFailure {
    lost_by(&kind)
}

fn lost_by(kind: &FailureKind) -> WebSocketFailure {
    WebSocketFailure::Io(match kind {
        FailureKind::ReadTimeout => return WebSocketFailure::ReadTimeout,
        FailureKind::Reset => "Connection reset".to_owned(),
        FailureKind::BrokenPipe => "Broken pipe".to_owned(),
        FailureKind::Io(error) => error.to_string(),
        FailureKind::BodyTooLarge { limit } => inflater::too_large(*limit),
        other => format!("{other:?}"),
    })
}

fn unreadable(failure: FrameFailure) -> WebSocketFailure {
    match failure {
        FrameFailure::End => WebSocketFailure::Io("end of stream".to_owned()),
        FrameFailure::EndInPayload { expected, received } => WebSocketFailure::Io(format!(
            "WebSocket protocol error: expected payload of length {expected}, but can only read {received} bytes"
        )),
        FrameFailure::TooLarge => WebSocketFailure::Exception(
            "java.lang.RuntimeException: Frame too large; Java does not support arrays longer than 2147483647 bytes."
                .to_owned(),
        ),
        FrameFailure::Exchange(kind) => lost(kind),
    }
}
