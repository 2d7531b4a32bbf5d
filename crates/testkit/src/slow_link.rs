//! A TCP link that is slow or passes nothing. It imitates bad networks without needing privileges.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many chunks may be in flight in one direction. When it is full, TCP blocks the sender.
const CHUNKS: usize = 256;
const CHUNK: usize = 16 << 10;
const LOOK: Duration = Duration::from_millis(5);

/// The behaviour of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkQuality {
    /// The delay in each direction.
    pub delay: Duration,
    /// Bytes per second in each direction; 0 for unlimited.
    pub bytes_per_s: u64,
    /// Whether nothing arrives until this is reset. Connections stay open.
    pub is_cut: bool,
}

/// A link from a new port to a port on loopback.
#[derive(Debug)]
pub struct SlowLink {
    address: SocketAddr,
    conduct: Arc<Mutex<LinkQuality>>,
    is_over: Arc<AtomicBool>,
}

impl SlowLink {
    /// A link to this port on loopback.
    ///
    /// # Errors
    /// No port is available.
    pub fn to(port: u16) -> io::Result<SlowLink> {
        SlowLink::at(Ipv4Addr::LOCALHOST.into(), port)
    }

    /// A link from a port of this address to this port on loopback.
    ///
    /// # Errors
    /// No port is available.
    pub fn at(host: IpAddr, port: u16) -> io::Result<SlowLink> {
        let listener = TcpListener::bind((host, 0))?;
        listener.set_nonblocking(true)?;
        let way = SlowLink {
            address: listener.local_addr()?,
            conduct: Arc::default(),
            is_over: Arc::default(),
        };
        let (conduct, is_over) = (way.conduct.clone(), way.is_over.clone());
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let Ok((near, _)) = listener.accept() else {
                    std::thread::sleep(LOOK);
                    continue;
                };
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                // If the copying fails, the connection fails.
                let _ = join(&near, &far, &conduct, &is_over);
            }
        });
        Ok(way)
    }

    /// The port at which the link begins.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Changes the behaviour from now on.
    pub fn set(&self, conduct: LinkQuality) {
        *self.conduct.lock().unwrap_or_else(PoisonError::into_inner) = conduct;
    }

    /// Stops all data.
    pub fn cut(&self) {
        self.set(LinkQuality {
            is_cut: true,
            ..LinkQuality::default()
        });
    }

    /// Removes all limits.
    pub fn open(&self) {
        self.set(LinkQuality::default());
    }
}

impl Drop for SlowLink {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn join(
    near: &TcpStream,
    far: &TcpStream,
    conduct: &Arc<Mutex<LinkQuality>>,
    is_over: &Arc<AtomicBool>,
) -> io::Result<()> {
    for (from, to) in [(near, far), (far, near)] {
        from.set_nonblocking(false)?;
        from.set_nodelay(true)?;
        let (from, to) = (from.try_clone()?, to.try_clone()?);
        let (sent, coming) = sync_channel(CHUNKS);
        std::thread::spawn(move || take(from, &sent));
        let (conduct, is_over) = (conduct.clone(), is_over.clone());
        std::thread::spawn(move || bring(to, &coming, &conduct, &is_over));
    }
    Ok(())
}

fn take(mut from: TcpStream, sent: &SyncSender<(Instant, Vec<u8>)>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read) = from.read(&mut chunk) {
        let chunk = (Instant::now(), chunk[..read].to_vec());
        if sent.send(chunk).is_err() || read == 0 {
            return;
        }
    }
}

fn bring(
    mut to: TcpStream,
    coming: &Receiver<(Instant, Vec<u8>)>,
    conduct: &Mutex<LinkQuality>,
    is_over: &AtomicBool,
) {
    while let Ok((at, chunk)) = coming.recv() {
        let now = loop {
            let now = *conduct.lock().unwrap_or_else(PoisonError::into_inner);
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let left = (at + now.delay).saturating_duration_since(Instant::now());
            match (now.is_cut, left.is_zero()) {
                (false, true) => break now,
                (true, _) => std::thread::sleep(LOOK),
                (false, false) => std::thread::sleep(left.min(LOOK)),
            }
        };
        if chunk.is_empty() {
            let _ = to.shutdown(std::net::Shutdown::Write);
            return;
        }
        if now.bytes_per_s > 0 {
            let seconds = chunk.len() as f64 / now.bytes_per_s as f64;
            std::thread::sleep(Duration::from_secs_f64(seconds));
        }
        if to.write_all(&chunk).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_delays_and_is_cut_and_opened() {
        let echo = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = echo.local_addr().expect("it is bound").port();
        std::thread::spawn(move || {
            let (mut stream, _) = echo.accept().expect("a connection");
            let mut byte = [0];
            while stream.read_exact(&mut byte).is_ok() {
                stream.write_all(&byte).expect("it is read");
            }
        });
        let way = SlowLink::to(port).expect("a way");
        way.set(LinkQuality {
            delay: Duration::from_millis(30),
            ..LinkQuality::default()
        });
        let mut stream = TcpStream::connect(("127.0.0.1", way.port())).expect("it is open");
        let mut byte = [0];
        let since = Instant::now();
        stream.write_all(b"x").expect("there is room");
        stream.read_exact(&mut byte).expect("it comes back");
        assert!(since.elapsed() >= Duration::from_millis(60));
        way.cut();
        stream.write_all(b"y").expect("there is room");
        let patience = Some(Duration::from_millis(100));
        stream.set_read_timeout(patience).expect("it can be set");
        assert!(stream.read_exact(&mut byte).is_err(), "nothing arrives");
        way.open();
        stream.set_read_timeout(None).expect("it can be set");
        stream.read_exact(&mut byte).expect("it arrives now");
        assert_eq!(&byte, b"y");
    }
}
