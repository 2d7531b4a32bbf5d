//! Connections whose reads tell when the kernel received the bytes: a server's, for targets of known times, and those of samplers
//! that do not speak HTTP.

use std::io;
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

use crate::arrivals::Arrivals;
use crate::failure::FailureKind;
use crate::socket::{Read, read_into};
use crate::sys;

/// A connection whose reads wait, and know when their bytes arrived.
#[derive(Debug)]
pub struct StampedStream(TcpStream);

impl StampedStream {
    /// Asks the kernel to stamp what arrives from now on.
    pub fn new(stream: TcpStream) -> StampedStream {
        // Without stamps, reads return none.
        let _ = sys::stamp_arrivals(&stream);
        StampedStream(stream)
    }

    /// Reads into the buffer. Returns the number of bytes, 0 at the end of the stream, and when the kernel received the last of
    /// them, since the Unix epoch; `None` if it does not say.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
        // SAFETY: initialised bytes stay initialised, because reading only writes bytes.
        let room = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
        sys::receive(&self.0, room)
    }

    /// The connection, to write to.
    pub fn stream(&self) -> &TcpStream {
        &self.0
    }
}

/// Asks the kernel to stamp what arrives on a connection, for [`StampedReads`]. Without stamps, its reads know no arrival.
pub fn stamp_arrivals(stream: &tokio::net::TcpStream) {
    let _ = sys::stamp_arrivals(stream);
}

/// The reads of a connection of the event loop.
pub struct StampedReads<'s> {
    stream: &'s tokio::net::TcpStream,
    arrivals: Arrivals,
}

impl<'s> StampedReads<'s> {
    /// The reads that follow, of a connection whose arrivals are [stamped](stamp_arrivals).
    pub fn new(stream: &'s tokio::net::TcpStream) -> StampedReads<'s> {
        StampedReads {
            stream,
            arrivals: Arrivals::default(),
        }
    }

    /// When the kernel had received the last byte of the latest read; `None` if it does not say.
    pub fn arrived(&self) -> Option<Instant> {
        self.arrivals.last
    }
}

impl AsyncRead for StampedReads<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let StampedReads { stream, arrivals } = self.get_mut();
        loop {
            ready!(stream.poll_read_ready(task))?;
            let read = read_into(stream, buffer.initialize_unfilled(), arrivals);
            let read = read.map_err(|failure| match failure {
                FailureKind::Io(error) => error,
                other => io::Error::other(format!("{other:?}")),
            });
            if let Read::Bytes(count) = read? {
                buffer.advance(count);
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_read_tells_when_its_bytes_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut far = TcpStream::connect(address).expect("a connection");
        let near = StampedStream::new(listener.accept().expect("it is here").0);
        let now = || {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            now.expect("a clock after 1970")
        };
        // The kernel begins to stamp a moment after it was asked to.
        let mut stamps = (0..100).map(|_| {
            let before = now();
            far.write_all(b"hello").expect("sent");
            let after = now();
            std::thread::sleep(Duration::from_millis(20));
            let mut buffer = [0; 16];
            let (count, stamp) = near.read(&mut buffer).expect("read");
            assert_eq!(&buffer[..count], b"hello");
            Some((before, stamp?, after))
        });
        if cfg!(target_os = "linux") {
            let (before, stamp, after) = stamps.find_map(|stamp| stamp).expect("a stamp");
            let slack = Duration::from_millis(10);
            assert!(before - slack < stamp && stamp < after + slack);
        }
        drop(stamps);
        drop(far);
        assert_eq!(near.read(&mut [0; 16]).expect("the end").0, 0);
    }
}
