//! Opens connections: name lookup, TCP, proxy, TLS. Connections are much rarer than exchanges, so this code is not optimized.

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::{ClientConfig, HandshakeKind};
use socket2::Domain;
use tokio::net::{TcpSocket, TcpStream};

use crate::arrivals::Arrivals;
use crate::connection::Connection;
use crate::failure::{Failure, FailureKind, Phase, TlsFailure};
use crate::message::{ClientRules, Handshake, Limits, Times, Tunnel, WireBytes};
use crate::pace::Pace;
use crate::proxy::{self, BareConnect};
use crate::records::{TlsState, append_encoded};
use crate::session::Session;
use crate::socket::{Read, read_into};
use crate::sys;
use crate::target::Target;
use crate::timer::Timers;
use crate::worker::{Worker, add};

/// Opens a connection to the target; if there is a proxy, `tunnel` writes the CONNECT.
pub(crate) async fn open(
    session: &Session,
    target: &Target,
    tunnel: Option<&dyn Tunnel>,
    limits: Limits,
    times: &mut Times,
) -> Result<(Box<Connection>, Option<Handshake>), Box<Failure>> {
    let mut opening = Opening::new(
        session,
        target,
        tunnel.unwrap_or(&BareConnect),
        limits,
        times,
    );
    let worker = session.worker();
    let begin = opening.times.begin;
    let opened = {
        let work = pin!(opening.open());
        let limit = limits.whole(worker.pool.max_exchange);
        let bounded = worker.timers.bounded(limit, begin, work);
        bounded.await
    };
    match opened {
        Ok(connection) => Ok((Box::new(connection), opening.handshake)),
        Err(kind) => Err(opening.failed(kind).await),
    }
}

/// An attempt to connect: its target, its limits, and what is known so far.
pub(crate) struct Opening<'a> {
    pub session: &'a Session,
    pub target: &'a Target,
    pub tunnel: &'a dyn Tunnel,
    /// Whether to request a tunnel from the proxy even if the target does not use TLS.
    pub tunnels_plain: bool,
    pub limits: Limits,
    pub times: &'a mut Times,
    pub phase: Phase,
    pub addresses: Vec<IpAddr>,
    pub handshake: Option<Handshake>,
}

impl<'a> Opening<'a> {
    pub fn new(
        session: &'a Session,
        target: &'a Target,
        tunnel: &'a dyn Tunnel,
        limits: Limits,
        times: &'a mut Times,
    ) -> Self {
        Self {
            session,
            target,
            tunnel,
            tunnels_plain: false,
            limits,
            times,
            phase: Phase::Resolve,
            addresses: Vec::new(),
            handshake: None,
        }
    }

    /// Turns an error into the failure of this attempt. If there are no file descriptors left, it waits first: otherwise
    /// users would fail a million times in a row and starve the connected ones.
    pub async fn failed(self, kind: FailureKind) -> Box<Failure> {
        let worker = self.session.worker();
        add(&worker.counts.failures, 1);
        self.times.end = Instant::now();
        if matches!(kind, FailureKind::TooManyFiles) {
            tokio::time::sleep(worker.descriptors.next_pause()).await;
        }
        Box::new(Failure {
            kind,
            phase: self.phase,
            times: *self.times,
            wire: WireBytes::default(),
            reused: false,
            addresses: self.addresses,
        })
    }
}

impl Opening<'_> {
    /// Opens a connection to the target, through its proxy if it has one.
    pub async fn open(&mut self) -> Result<Connection, FailureKind> {
        let (host, port) = match &self.target.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&self.target.host, self.target.port),
        };
        self.addresses = self.resolve(host).await?;
        if self.target.rules == ClientRules::UrlConnection {
            self.addresses.truncate(1); // NetworkClient#doConnect
        }
        self.times.resolved = Some(Instant::now());
        let mut connection = self.connect_to_any(port, Self::connect_to).await?;
        if let Some(proxy) = &self.target.proxy
            && (self.target.tls || self.tunnels_plain)
        {
            if proxy.tls {
                let text = "a tunnel through a proxy that itself uses TLS is not supported";
                return Err(FailureKind::Tls(TlsFailure::Other(text.into())));
            }
            self.phase = Phase::Proxy;
            connection = self.tunnel(connection, port).await?;
            if self.target.tls {
                let stream = &connection.stream;
                let peer = stream.peer_addr().map_err(FailureKind::from_io)?;
                let host = &self.target.host;
                let tls = self.tls(stream, host, self.target.port, peer.ip());
                connection.tls = Some(tls.await?);
            }
        }
        let pool = &self.session.worker().pool;
        connection.pace = Pace::of_connections(pool, connection.tls.is_some());
        self.times.connected = Some(Instant::now());
        self.session.worker().descriptors.recover();
        Ok(connection)
    }

    pub async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, FailureKind> {
        let addresses = match (self.session.own_resolver(), host.parse()) {
            (Some(own), _) => own.resolve(host).await?,
            (None, Ok(address)) => vec![address],
            (None, Err(_)) => self.session.worker().resolver.resolve(host).await?,
        };
        if addresses.is_empty() {
            Err(FailureKind::UnknownHost)
        } else {
            Ok(addresses)
        }
    }

    /// Tries the addresses in order. As in HttpClient's `DefaultHttpClientConnectionOperator`, the time limit applies to each
    /// address, and only a refusal, a timeout or a missing route leads to the next.
    pub async fn connect_to_any<C>(
        &mut self,
        port: u16,
        connect: impl AsyncFn(&mut Self, SocketAddr) -> Result<C, FailureKind>,
    ) -> Result<C, FailureKind> {
        let mut failure = FailureKind::UnknownHost;
        for index in 0..self.addresses.len() {
            let address = self.addresses[index];
            match connect(self, SocketAddr::new(address, port)).await {
                Ok(connection) => return Ok(connection),
                Err(
                    kind @ (FailureKind::Refused
                    | FailureKind::ConnectTimeout
                    | FailureKind::HostUnreachable),
                ) => failure = kind,
                Err(kind) => return Err(kind),
            }
        }
        Err(failure)
    }

    async fn connect_to(&mut self, address: SocketAddr) -> Result<Connection, FailureKind> {
        self.phase = Phase::Connect;
        let stream = self.tcp(address).await?;
        self.times.tcp_connected = Some(Instant::now());
        add(&self.session.worker().counts.opened, 1);
        let (secure, host) = match &self.target.proxy {
            None => (self.target.tls, &self.target.host),
            Some(proxy) => (proxy.tls, &proxy.host),
        };
        let tls = if secure {
            let tls = self.tls(&stream, host, address.port(), address.ip());
            Some(tls.await?)
        } else {
            None
        };
        let transport = &self.session.worker().transport;
        transport.note_target(&self.target.host, &stream, address.ip(), address.port());
        let (target, transport) = (self.target.clone(), transport.clone());
        Ok(Connection::new(stream, tls, target, transport))
    }

    async fn tcp(&self, address: SocketAddr) -> Result<TcpStream, FailureKind> {
        let socket = self.socket(address).map_err(FailureKind::from_io)?;
        let connecting = socket.connect(address);
        let timers = &self.session.worker().timers;
        let connected = timers.within(self.limits.connect, connecting).await;
        let connected = connected.ok_or(FailureKind::ConnectTimeout)?;
        connected.map_err(FailureKind::from_io)
    }

    fn socket(&self, address: SocketAddr) -> std::io::Result<TcpSocket> {
        let socket = sys::tcp_socket(Domain::for_address(address))?;
        socket.set_tcp_nodelay(true)?;
        // Not worth failing for: without it, the generator's own part of a sample is unknown.
        let _ = sys::stamp_arrivals(&socket);
        if self.session.worker().pool.close_with_reset {
            socket.set_linger(Some(Duration::ZERO))?;
        }
        if address.ip().is_loopback() {
            // Not worth failing for: pacing only costs CPU.
            let _ = sys::send_unpaced(&socket);
        }
        let source = self.target.source.as_ref();
        if let Some(source) = source.and_then(|source| source.next(address)) {
            // Not worth failing for: without it, the kernel merely runs out of ports earlier.
            let _ = sys::bind_address_no_port(&socket);
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        Ok(TcpSocket::from_std_stream(socket.into()))
    }

    /// Requests a tunnel from the proxy, and repeats the request if the proxy demands credentials.
    async fn tunnel(
        &mut self,
        connection: Connection,
        port: u16,
    ) -> Result<Connection, FailureKind> {
        let worker = self.session.worker();
        let limit = self.limits.response;
        let mut connection = connection;
        loop {
            let head = self.tunnel.head(self.target);
            let refusal = match proxy::connect(&mut connection, worker, limit, &head).await? {
                proxy::ProxyResponse::Tunnel => return Ok(connection),
                proxy::ProxyResponse::Refusal(refusal) => refusal,
            };
            if refusal.status != 407 || !self.tunnel.challenged(&refusal, self.target) {
                worker.counts.closed(false);
                return Err(FailureKind::ProxyRefused(refusal));
            }
            if !refusal.kept_alive {
                worker.counts.closed(true);
                connection = self.connect_to_any(port, Self::connect_to).await?;
                self.phase = Phase::Proxy;
            }
        }
    }

    /// Performs the TLS handshake. The connect limit applies to each silence within it (HttpClient's
    /// `SSLConnectionSocketFactory.connectSocket`).
    async fn tls(
        &mut self,
        stream: &TcpStream,
        host: &Arc<str>,
        port: u16,
        peer: IpAddr,
    ) -> Result<Box<TlsState>, FailureKind> {
        self.phase = Phase::TlsHandshake;
        let identity = self.target.identity.as_ref();
        let version = self.target.version;
        let worker = self.session.worker();
        let secured = Secured {
            config: self.session.tls_config(host, port, version, identity),
            host,
            peer,
            verifies: worker.tls.verifies(),
            limit: self.limits.connect,
        };
        let (tls, handshake) = secure(stream, worker, secured).await?;
        self.handshake = Some(handshake);
        Ok(tls)
    }
}

/// The settings of a handshake.
pub(crate) struct Secured<'h> {
    pub config: Arc<ClientConfig>,
    pub host: &'h Arc<str>,
    pub peer: IpAddr,
    /// Whether the certificate must be valid for the host.
    pub verifies: bool,
    /// The limit of each silence.
    pub limit: Option<Duration>,
}

/// Performs a handshake on an open connection.
pub(crate) async fn secure(
    stream: &TcpStream,
    worker: &Worker,
    settings: Secured<'_>,
) -> Result<(Box<TlsState>, Handshake), FailureKind> {
    let name = server_name(settings.host, settings.peer, settings.verifies);
    worker.turns.next().await;
    let session = worker
        .turns
        .take(|| UnbufferedClientConnection::new(settings.config, name))
        .map_err(|error| FailureKind::Tls(error.into()))?;
    let mut tls = Box::new(TlsState {
        session,
        received: Vec::new(),
        unsent: Vec::new(),
        closed: false,
        broken: false,
    });
    shake_hands(stream, &mut tls, worker, settings.limit).await?;
    check_chain(&tls.session)?;
    let counts = &worker.counts;
    let resumed = tls.session.handshake_kind() == Some(HandshakeKind::Resumed);
    let handshake = if resumed {
        add(&counts.handshakes_resumed, 1);
        Handshake::Resumed
    } else {
        add(&counts.handshakes_full, 1);
        Handshake::Full
    };
    Ok((tls, handshake))
}

/// The name to send by SNI. As in Java's `sun.security.ssl.Utilities.rawToSNIHostName`, none is sent for IP addresses, for
/// names without a dot and for invalid names; the session is then stored under the peer's address. A certificate is verified
/// against the unchanged name.
pub(crate) fn server_name(host: &str, peer: IpAddr, verifies: bool) -> ServerName<'static> {
    let dotted = host.find('.').is_some_and(|at| at > 0) && !host.ends_with('.');
    match ServerName::try_from(host.to_owned()) {
        Ok(name) if dotted || verifies => name,
        _ => ServerName::from(peer),
    }
}

async fn shake_hands(
    stream: &TcpStream,
    tls: &mut TlsState,
    worker: &Worker,
    limit: Option<Duration>,
) -> Result<(), FailureKind> {
    let mut received: Vec<u8> = Vec::new();
    let mut output: Vec<u8> = Vec::new();
    loop {
        worker.turns.next().await;
        let UnbufferedStatus { discard, state } = worker
            .turns
            .take(|| tls.session.process_tls_records(&mut received));
        let mut blocked = false;
        let mut finished = false;
        let mut failed = None;
        match state {
            Ok(ConnectionState::EncodeTlsData(mut encode)) => {
                append_encoded(&mut encode, &mut output);
            }
            Ok(ConnectionState::TransmitTlsData(transmit)) => transmit.done(),
            Ok(ConnectionState::BlockedHandshake) => blocked = true,
            Ok(ConnectionState::WriteTraffic(_) | ConnectionState::ReadTraffic(_)) => {
                finished = true;
            }
            Ok(_) => failed = Some(TlsFailure::Closed),
            Err(error) => failed = Some(error.into()),
        }
        received.drain(..discard);
        if let Some(failure) = failed {
            farewell(stream, tls, &mut received);
            return Err(FailureKind::Tls(failure));
        }
        if blocked || finished {
            write_all(stream, &output).await?;
            output.clear();
        }
        if finished {
            tls.received = received;
            return Ok(());
        }
        if blocked {
            read_more(stream, &mut received, &worker.timers, limit).await?;
        }
    }
}

/// The largest handshake message that Java accepts (`jdk.tls.maxHandshakeMessageSize`).
const MAX_HANDSHAKE_MESSAGE_BYTES: usize = 32_768;

/// Rejects a certificate chain that is too large for Java; rustls accepts messages twice as large.
fn check_chain(session: &UnbufferedClientConnection) -> Result<(), FailureKind> {
    let chain = session.peer_certificates().unwrap_or_default();
    // RFC 8446 section 4.4.2 adds an empty request context and empty extensions to each certificate.
    let (fixed, each) = match session.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => (4, 5),
        _ => (3, 3),
    };
    let size = chain.iter().fold(fixed, |sum, one| sum + each + one.len());
    if size > MAX_HANDSHAKE_MESSAGE_BYTES {
        return Err(FailureKind::Tls(TlsFailure::MessageTooLarge(Some(size))));
    }
    Ok(())
}

/// Sends the peer an alert with the cause of a failed handshake, if the kernel accepts it immediately. `received` is the
/// buffer in which the failure was found: rustls still refers to it.
fn farewell(stream: &TcpStream, tls: &mut TlsState, received: &mut [u8]) {
    let mut alert = Vec::new();
    tls.broken = true;
    if let Ok(ConnectionState::EncodeTlsData(mut encode)) =
        tls.session.process_tls_records(received).state
    {
        append_encoded(&mut encode, &mut alert);
        // The connection is over either way.
        let _ = stream.try_write(&alert);
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> Result<(), FailureKind> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                stream.writable().await.map_err(FailureKind::from_io)?;
            }
            Err(error) => return Err(FailureKind::from_io(error)),
        }
    }
    Ok(())
}

async fn read_more(
    stream: &TcpStream,
    received: &mut Vec<u8>,
    timers: &Timers,
    limit: Option<Duration>,
) -> Result<(), FailureKind> {
    const ROOM: usize = 8 * 1024;
    loop {
        let before = received.len();
        received.resize(before + ROOM, 0);
        let read = read_into(stream, &mut received[before..], &mut Arrivals::default())?;
        match read {
            Read::Bytes(0) => return Err(FailureKind::Tls(TlsFailure::Closed)),
            Read::Bytes(count) => {
                received.truncate(before + count);
                return Ok(());
            }
            Read::NotReady => received.truncate(before),
        }
        let ready = timers.within(limit, stream.readable()).await;
        let ready = ready.ok_or(FailureKind::ConnectTimeout)?;
        ready.map_err(FailureKind::from_io)?;
    }
}
