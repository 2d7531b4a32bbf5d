//! Non-blocking reads from a socket.

use std::io;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::failure::FailureKind;

/// The outcome of a non-blocking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// The number of bytes; 0 is the end of the stream.
    Bytes(usize),
    NotReady,
}

/// A non-blocking read of up to `asked` bytes. After a short read, it tells the runtime that
/// the socket is drained, which saves another read.
pub(crate) fn read_once(
    stream: &TcpStream,
    asked: usize,
    read: impl FnOnce() -> io::Result<usize>,
) -> Result<Read, FailureKind> {
    let mut got = None;
    let result = stream.try_io(Interest::READABLE, || {
        let count = read()?;
        got = Some(count);
        if 0 < count && count < asked {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(())
    });
    match (got, result) {
        (Some(count), _) => Ok(Read::Bytes(count)),
        (None, Err(error)) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Read::NotReady),
            _ => Err(FailureKind::from_io(error)),
        },
        (None, Ok(())) => Ok(Read::NotReady),
    }
}

/// Reads into a buffer.
pub(crate) fn read_into(stream: &TcpStream, buffer: &mut [u8]) -> Result<Read, FailureKind> {
    read_once(stream, buffer.len(), || {
        io::Read::read(&mut &*SockRef::from(stream), buffer)
    })
}
