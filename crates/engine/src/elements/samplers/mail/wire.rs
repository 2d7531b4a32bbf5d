//! A connection to a mail server, whose lines are written to the log if the plan asks for that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_http::{Dialogue, Failure, FailureKind, Limits, Session, Target, Times, TlsFailure};
use drumfire_java::text::trim;
use drumfire_java::values::parse_int;

use super::security::{Begin, Secure, Security};
use crate::elements::samplers::own_part::OwnTurns;

/// The address of a server, and the limits of a connection to it.
pub struct Server {
    pub host: Arc<str>,
    pub port: u16,
    pub connect_timeout: Option<Duration>,
    /// The limit of each silence.
    pub read_timeout: Option<Duration>,
    /// The most bytes of a line.
    pub max_line_bytes: usize,
}

/// An open connection.
pub struct Wire {
    pub dialogue: Dialogue,
    read_timeout: Option<Duration>,
    max_line_bytes: usize,
    is_logged: bool,
    turns: OwnTurns,
}

/// Why there is no connection.
pub enum Unconnected {
    Failed(Box<Failure>),
    /// The handshake failed, with this exception of Java.
    Handshake(String),
    UnknownProtocol(String),
}

/// Java's message about an untrusted certificate.
const UNTRUSTED: &str = "javax.net.ssl.SSLHandshakeException: PKIX path building failed: \
    sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target";

impl Wire {
    /// Opens a connection, with TLS if it begins at once.
    pub async fn open(
        session: &Session,
        server: &Server,
        security: &Security,
        is_logged: bool,
    ) -> Result<(Wire, Times), Unconnected> {
        if security.begin != Begin::AtOnce {
            return Wire::connect(session, server, None, is_logged).await;
        }
        let mut last = Unconnected::Handshake(UNTRUSTED.to_owned());
        for secure in &security.tls {
            match Wire::connect(session, server, Some(secure), is_logged).await {
                Ok(opened) => return Ok(opened),
                Err(Unconnected::Failed(failure))
                    if matches!(failure.kind, FailureKind::ConnectTimeout) =>
                {
                    return Err(Unconnected::Failed(failure));
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    async fn connect(
        session: &Session,
        server: &Server,
        secure: Option<&Secure>,
        is_logged: bool,
    ) -> Result<(Wire, Times), Unconnected> {
        let target = Target::new(server.host.clone(), server.port, false);
        let limits = Limits {
            connect: server.connect_timeout,
            ..Limits::default()
        };
        let connecting = Dialogue::connect(session, &target, None, limits);
        let (dialogue, mut times) = connecting.await.map_err(Unconnected::Failed)?;
        let mut wire = Wire {
            dialogue,
            read_timeout: server.read_timeout,
            max_line_bytes: server.max_line_bytes,
            is_logged,
            turns: OwnTurns::begun_by_server(),
        };
        if let Some(secure) = secure {
            wire.start_tls(server, secure).await?;
            wire.turns = OwnTurns::begun_by_server();
            times.connected = Some(Instant::now());
        }
        Ok((wire, times))
    }

    /// Continues over TLS.
    pub async fn start_tls(&mut self, server: &Server, secure: &Secure) -> Result<(), Unconnected> {
        let tls = match secure {
            Secure::With(tls) => tls,
            Secure::Hopeless => return Err(Unconnected::Handshake(UNTRUSTED.to_owned())),
            Secure::UnknownProtocol(name) => {
                return Err(Unconnected::UnknownProtocol(name.clone()));
            }
        };
        self.note_answer();
        let (host, port) = (&server.host, server.port);
        let started = self.dialogue.start_tls(tls, host, port, self.read_timeout);
        started.await.map_err(|kind| {
            tracing::warn!("TLS with {host}:{port} failed: {kind:?}");
            Unconnected::Handshake(io_exception(&kind, host))
        })
    }

    /// Sends a line; `shown` stands for it in the log.
    pub async fn send_line(&mut self, line: &str, shown: &str) -> Result<(), FailureKind> {
        if self.is_logged {
            tracing::info!("Mail client: {shown}");
        }
        self.ask();
        let line = format!("{line}\r\n");
        let bytes: Vec<u8> = line.encode_utf16().map(|unit| unit as u8).collect();
        self.dialogue.send(&bytes, self.read_timeout).await
    }

    /// Sends bytes.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), FailureKind> {
        if self.is_logged {
            tracing::info!("Mail client: {} bytes", bytes.len());
        }
        self.ask();
        self.dialogue.send(bytes, self.read_timeout).await
    }

    /// The generator's own part of the conversation so far, in microseconds. `None` if what was sent last has no answer.
    pub fn own_us(&mut self) -> Option<u64> {
        self.note_answer();
        self.turns.own_us()
    }

    fn ask(&mut self) {
        self.note_answer();
        self.turns.asks();
    }

    fn note_answer(&mut self) {
        self.turns.answered(self.dialogue.take_arrival());
    }

    /// Receives a line; `None` at the end of the stream.
    pub async fn line(&mut self) -> Result<Option<Vec<u8>>, FailureKind> {
        let line = self.dialogue.line(self.max_line_bytes, self.read_timeout);
        let line = line.await?;
        if self.is_logged {
            match &line {
                Some(line) => tracing::info!("Mail server: {}", String::from_utf8_lossy(line)),
                None => tracing::info!("Mail server: the end"),
            }
        }
        Ok(line)
    }

    /// Receives this many bytes. False if the stream ends first.
    pub async fn block(&mut self, count: usize, into: &mut Vec<u8>) -> Result<bool, FailureKind> {
        self.dialogue.block(count, into, self.read_timeout).await
    }
}

/// The exception with which Java's sockets fail.
pub fn io_exception(kind: &FailureKind, host: &str) -> String {
    let (class, message) = match kind {
        FailureKind::UnknownHost => ("java.net.UnknownHostException", host),
        FailureKind::Refused => ("java.net.ConnectException", "Connection refused"),
        FailureKind::ConnectTimeout => ("java.net.SocketTimeoutException", "Connect timed out"),
        FailureKind::ReadTimeout | FailureKind::WriteTimeout => {
            ("java.net.SocketTimeoutException", "Read timed out")
        }
        FailureKind::HostUnreachable => ("java.net.NoRouteToHostException", "No route to host"),
        FailureKind::NetworkUnreachable => ("java.net.SocketException", "Network is unreachable"),
        FailureKind::Reset => ("java.net.SocketException", "Connection reset"),
        FailureKind::BrokenPipe => ("java.net.SocketException", "Broken pipe"),
        FailureKind::Tls(TlsFailure::Certificate(_)) => return UNTRUSTED.to_owned(),
        FailureKind::HeadTooLarge { limit } => {
            let message = format!("a line exceeds {limit} bytes ({MAX_LINE_BYTES})");
            return format!("java.io.IOException: {message}");
        }
        other => return format!("java.io.IOException: {other:?}"),
    };
    format!("{class}: {message}")
}

/// The exception for mails that exceed the bound.
pub fn too_large() -> String {
    format!("java.io.IOException: the mails of the sample exceed {MAX_MESSAGE_BYTES}")
}

/// The bound of the mails of a sample, which JMeter does not have.
pub const MAX_MESSAGE_BYTES: &str = "drumfire.mail.max_message_bytes";
/// The bound of a line of a reply, which JMeter does not have.
pub const MAX_LINE_BYTES: &str = "drumfire.mail.max_line_bytes";

/// Milliseconds; zero and texts that are no numbers are no limit.
pub fn timeout(text: &str) -> Option<Duration> {
    let ms = parse_int(trim(text)).and_then(|ms| u64::try_from(ms).ok())?;
    (ms > 0).then(|| Duration::from_millis(ms))
}
