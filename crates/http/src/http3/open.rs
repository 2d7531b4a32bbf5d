//! Opens QUIC connections: name lookup, UDP, handshake.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    ClientConfig, Connecting, Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig,
    VarInt,
};

use super::quic::{Quic, of_quic};
use super::socket::Socket;
use crate::connect::{Opening, server_name};
use crate::failure::{Failure, FailureKind, Http3Failure, Phase, TlsFailure};
use crate::message::{Handshake, Limits, Times};
use crate::proxy::BareConnect;
use crate::session::Session;
use crate::target::Target;
use crate::timer::Timers;
use crate::tls;
use crate::version::HttpVersion;
use crate::worker::add;

/// Receive windows of one response and of all together, as with HTTP/2.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

/// If the plan sets no limit, the handshake times out after this, as TCP connecting does on Linux
/// (`net.ipv4.tcp_syn_retries` of 6).
const PATIENCE: Duration = Duration::from_secs(127);

/// Opens a connection to the target.
pub(super) async fn open(
    session: &Session,
    target: &Target,
    limits: Limits,
    times: &mut Times,
) -> Result<(Rc<Quic>, Handshake), Box<Failure>> {
    let mut opening = Opening::new(session, target, &BareConnect, limits, times);
    let worker = session.worker();
    let begin = opening.times.begin;
    let opened = {
        let work = pin!(opening.open_quic());
        let limit = limits.whole(worker.pool.max_exchange);
        let bounded = worker.timers.bounded(limit, begin, work);
        bounded.await
    };
    match opened {
        Ok(quic) => {
            let handshake = opening.handshake.unwrap_or(Handshake::Full);
            Ok((quic, handshake))
        }
        Err(kind) => Err(opening.failed(kind).await),
    }
}

impl Opening<'_> {
    async fn open_quic(&mut self) -> Result<Rc<Quic>, FailureKind> {
        self.addresses = self.resolve(&self.target.host).await?;
        self.times.resolved = Some(Instant::now());
        let quic = self.connect_to_any(self.target.port, Self::quic_to).await?;
        self.times.connected = Some(Instant::now());
        Ok(quic)
    }

    async fn quic_to(&mut self, address: SocketAddr) -> Result<Rc<Quic>, FailureKind> {
        self.phase = Phase::TlsHandshake;
        let config = self.quic_config()?;
        let source = self.target.source.as_ref();
        let source = source.and_then(|source| source.next(address));
        let socket = Socket::to(address, source).map_err(FailureKind::from_io)?;
        let endpoint = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            socket.clone(),
            Arc::new(TokioRuntime),
        )
        .map_err(FailureKind::from_io)?;
        let verifies = self.session.worker().tls.verifies();
        let name = server_name(&self.target.host, address.ip(), verifies);
        let connecting = endpoint
            .connect_with(config, address, &name.to_str())
            .map_err(|error| FailureKind::Tls(TlsFailure::Other(error.to_string().into())))?;
        let worker = self.session.worker();
        let verified = tls::certificates_seen();
        let limit = self.limits.connect.unwrap_or(PATIENCE);
        let connection = shake_hands(connecting, &socket, &worker.timers, limit).await?;
        let counts = &worker.counts;
        add(&counts.opened, 1);
        // Only a full handshake shows a certificate. A concurrent full handshake of another user makes a resumed one
        // count as full.
        let (count, handshake) = if tls::certificates_seen() == verified {
            (&counts.handshakes_resumed, Handshake::Resumed)
        } else {
            (&counts.handshakes_full, Handshake::Full)
        };
        add(count, 1);
        self.handshake = Some(handshake);
        // The maximum of QUIC's integers.
        let max_head_bytes =
            (self.session.worker().pool.sizes.head_bytes as u64).min((1 << 62) - 1);
        Quic::begin(connection, socket, self.target.clone(), max_head_bytes).await
    }

    fn quic_config(&self) -> Result<ClientConfig, FailureKind> {
        let target = self.target;
        let tls = self.session.tls_config(
            &target.host,
            target.port,
            HttpVersion::Http3,
            target.identity.as_ref(),
        );
        if !self.session.worker().tls.is_fit_for_quic() {
            let text =
                "HTTP/3 needs TLS 1.3 with TLS_AES_128_GCM_SHA256, but the settings leave it out";
            return Err(FailureKind::Tls(TlsFailure::Other(text.into())));
        }
        let tls = QuicClientConfig::try_from(tls)
            .map_err(|error| FailureKind::Tls(TlsFailure::Other(error.to_string().into())))?;
        let mut transport = TransportConfig::default();
        transport
            // Only the server's idle limit applies; as with TCP, a slow response is no reason to close.
            .max_idle_timeout(None)
            .max_concurrent_bidi_streams(VarInt::from_u32(0))
            .stream_receive_window(VarInt::from_u32(STREAM_WINDOW_BYTES))
            .receive_window(VarInt::from_u32(CONNECTION_WINDOW_BYTES))
            .datagram_receive_buffer_size(None);
        let mut config = ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(transport));
        Ok(config)
    }
}

async fn shake_hands(
    connecting: Connecting,
    socket: &Socket,
    timers: &Timers,
    limit: Duration,
) -> Result<Connection, FailureKind> {
    let mut connecting = pin!(connecting);
    let mut refused = pin!(socket.refused());
    let shaken = poll_fn(|cx| match refused.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(Err(FailureKind::Refused)),
        Poll::Pending => connecting
            .as_mut()
            .poll(cx)
            .map(|shaken| shaken.map_err(of_quic)),
    });
    match timers.within(Some(limit), shaken).await {
        None | Some(Err(FailureKind::Http3(Http3Failure::Silence))) => {
            Err(FailureKind::ConnectTimeout)
        }
        Some(outcome) => outcome,
    }
}
