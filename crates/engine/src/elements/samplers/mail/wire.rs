//! A connection to a mail server, whose lines are written to the log if the plan asks for that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_http::{Dialogue, Failure, FailureKind, Limits, Session, Target, Times};

use super::security::{Begin, Secure, Security};

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
}

/// Why there is no connection.
pub enum Unconnected {
    Failed(Box<Failure>),
    /// The handshake failed.
    Handshake,
    UnknownProtocol(String),
}

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
        let mut last = Unconnected::Handshake;
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
        };
        if let Some(secure) = secure {
            wire.start_tls(server, secure).await?;
            times.connected = Some(Instant::now());
        }
        Ok((wire, times))
    }

    /// Continues over TLS.
    pub async fn start_tls(&mut self, server: &Server, secure: &Secure) -> Result<(), Unconnected> {
        let tls = match secure {
            Secure::With(tls) => tls,
            Secure::Hopeless => return Err(Unconnected::Handshake),
            Secure::UnknownProtocol(name) => {
                return Err(Unconnected::UnknownProtocol(name.clone()));
            }
        };
        let (host, port) = (&server.host, server.port);
        let started = self.dialogue.start_tls(tls, host, port, self.read_timeout);
        started.await.map_err(|kind| {
            tracing::warn!("TLS with {host}:{port} failed: {kind:?}");
            Unconnected::Handshake
        })
    }

    /// Sends a line; `shown` stands for it in the log.
    pub async fn send_line(&mut self, line: &str, shown: &str) -> Result<(), FailureKind> {
        if self.is_logged {
            tracing::info!("Mail client: {shown}");
        }
        let line = format!("{line}\r\n");
        let bytes: Vec<u8> = line.encode_utf16().map(|unit| unit as u8).collect();
        self.dialogue.send(&bytes, self.read_timeout).await
    }

    /// Sends bytes.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), FailureKind> {
        if self.is_logged {
            tracing::info!("Mail client: {} bytes", bytes.len());
        }
        self.dialogue.send(bytes, self.read_timeout).await
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
}
