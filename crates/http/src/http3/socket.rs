//! The UDP socket of one QUIC connection.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Unlike `quinn`'s own socket, it is connected to its one peer, so that the kernel reports a closed port. Otherwise every
/// connection to a server that is down would wait until its timeout.
#[derive(Debug)]
pub(super) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    is_refused: AtomicBool,
    refusal: Notify,
}

impl Socket {
    /// A socket on its own port. `quinn` names the peer in each datagram, which only Linux allows on a connected socket;
    /// elsewhere the socket stays unconnected.
    pub fn to(peer: SocketAddr, source: Option<IpAddr>) -> io::Result<Arc<Self>> {
        let any = match peer {
            SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let socket = std::net::UdpSocket::bind((source.unwrap_or(any), 0))?;
        socket.set_nonblocking(true)?;
        if cfg!(target_os = "linux") {
            socket.connect(peer)?;
        }
        Ok(Arc::new(Self {
            state: UdpSocketState::new((&socket).into())?,
            io: UdpSocket::from_std(socket)?,
            is_refused: AtomicBool::new(false),
            refusal: Notify::new(),
        }))
    }

    /// Waits until the peer's system reports a closed port. Supports one waiter at a time.
    pub async fn refused(&self) {
        self.refusal.notified().await;
    }

    /// Whether a refusal was reported since the last call.
    pub fn take_refusal(&self) -> bool {
        self.is_refused.swap(false, Ordering::Relaxed)
    }

    /// Records a refusal. Other errors only lose a datagram, for which QUIC compensates.
    fn note(&self, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            self.is_refused.store(true, Ordering::Relaxed);
            self.refusal.notify_one();
        }
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let sent = self.io.try_io(Interest::WRITABLE, || {
            self.state.try_send((&self.io).into(), transmit)
        });
        match sent {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                self.note(&error);
                Ok(())
            }
            sent => sent,
        }
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let received = self.io.try_io(Interest::READABLE, || {
                self.state.recv((&self.io).into(), buffers, meta)
            });
            match received {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(error) => self.note(&error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Waits until the socket accepts datagrams. A socket has one connection and therefore one waiting poller.
#[derive(Debug)]
struct Poller(Arc<Socket>);

impl UdpPoller for Poller {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.io.poll_send_ready(cx)
    }
}
