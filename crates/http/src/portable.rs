//! Portable implementations of the functions in `linux.rs`.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as AsSocket;
#[cfg(windows)]
use std::os::windows::io::AsSocket;
use std::time::Duration;

use drumfire_platform::files::read_at;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// A non-blocking TCP socket.
pub(crate) fn tcp_socket(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Not supported: no read knows when its bytes arrived.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stamp_arrivals(_socket: &impl AsSocket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads into a buffer. Returns the number of bytes, 0 at the end of the stream.
#[cfg(not(target_os = "linux"))]
pub(crate) fn receive(
    socket: &impl AsSocket,
    buffer: &mut [std::mem::MaybeUninit<u8>],
) -> io::Result<(usize, Option<Duration>)> {
    let count = SockRef::from(socket).recv(buffer)?;
    Ok((count, None))
}

/// Reads up to `limit` bytes and drops them; 0 is the end of the stream.
pub(crate) fn discard(
    socket: &impl AsSocket,
    limit: usize,
    scratch: &mut [u8],
) -> io::Result<(usize, Option<Duration>)> {
    let limit = limit.min(scratch.len());
    let count = io::Read::read(&mut &*SockRef::from(socket), &mut scratch[..limit])?;
    Ok((count, None))
}

/// Not supported: the socket is readable as soon as anything has arrived.
pub(crate) fn set_low_water(_socket: &impl AsSocket, _bytes: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Other systems have different counters, or none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn segments(_socket: &impl AsSocket) -> Option<(u64, u64)> {
    None
}

/// Sends up to `length` bytes of a file; 0 is the end of the file.
pub(crate) fn send_file(
    socket: &impl AsSocket,
    file: &File,
    offset: u64,
    length: u64,
    scratch: &mut [u8],
) -> io::Result<usize> {
    let length = usize::try_from(length).map_or(scratch.len(), |l| l.min(scratch.len()));
    match read_at(file, &mut scratch[..length], offset)? {
        0 => Ok(0),
        length => SockRef::from(socket).send(&scratch[..length]),
    }
}

/// Leaves pacing to the system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn send_unpaced(_socket: &impl AsSocket) -> io::Result<()> {
    Ok(())
}

/// Other systems lack this option.
pub(crate) fn bind_address_no_port(_socket: &impl AsSocket) -> io::Result<()> {
    Ok(())
}

/// Leaves scheduling to the system.
#[cfg(not(target_os = "linux"))]
pub fn take_short_turns() {}

/// A placeholder: other systems have no such timer.
pub struct KernelTimer(());

impl KernelTimer {
    /// Always fails.
    ///
    /// # Errors
    /// Always `Unsupported`; callers use the runtime's own timers.
    pub fn new() -> io::Result<KernelTimer> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always fails.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn set(&self, _delay: Duration) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never completes.
    pub async fn expired(&self) {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let near = TcpStream::connect(address).expect("it listens");
        let (far, _) = listener.accept().expect("one is coming");
        (near, far)
    }

    #[test]
    fn discards_no_more_than_asked() {
        let (near, mut far) = pair();
        far.write_all(b"0123456789").expect("there is room");
        drop(far);
        let mut scratch = [0; 4];
        for expected in [4, 3, 3, 0] {
            let limit = if expected == 4 { 100 } else { 3 };
            let count = discard(&near, limit, &mut scratch).expect("it is open");
            assert_eq!(count, (expected, None));
        }
    }

    #[test]
    fn sends_pieces_of_files() {
        let (near, mut far) = pair();
        let path = std::env::temp_dir().join(format!("drumfire-portable-{}", std::process::id()));
        std::fs::write(&path, b"0123456789").expect("the temporary folder is writable");
        let file = File::open(&path).expect("it was just written");
        std::fs::remove_file(&path).expect("it is there");
        let mut scratch = [0; 4];
        let mut send = |offset, length| {
            let sent = send_file(&near, &file, offset, length, &mut scratch);
            sent.expect("it is open")
        };
        assert_eq!((send(2, 100), send(6, 3), send(10, 1)), (4, 3, 0));
        drop(near);
        let mut received = String::new();
        far.read_to_string(&mut received).expect("it is open");
        assert_eq!(received, "2345678");
    }

    #[test]
    fn any_byte_makes_readable() {
        let (near, _far) = pair();
        assert!(set_low_water(&near, 1 << 20).is_err());
    }

    #[test]
    fn there_is_no_timer() {
        let refused = KernelTimer::new().err().expect("there is none");
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        let timer = KernelTimer(());
        assert!(timer.set(Duration::ZERO).is_err());
        let mut expired = std::pin::pin!(timer.expired());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(expired.as_mut().poll(&mut cx).is_pending());
    }

    #[test]
    fn sockets_do_not_block() {
        let socket = tcp_socket(Domain::IPV4).expect("a socket");
        bind_address_no_port(&socket).expect("nothing is done");
        let refused = socket.connect(
            &"127.0.0.1:1"
                .parse::<std::net::SocketAddr>()
                .expect("an address")
                .into(),
        );
        assert!(refused.is_err());
        assert!(socket.nonblocking().expect("it is open"));
    }
}
