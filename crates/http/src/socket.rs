//! Non-blocking reads from a socket.

use std::io;
use std::mem::MaybeUninit;

use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::arrivals::Arrivals;
use crate::failure::FailureKind;
use crate::sys;

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

/// Reads into a buffer, and notes when the kernel received the bytes.
pub(crate) fn read_into(
    stream: &TcpStream,
    buffer: &mut [u8],
    arrivals: &mut Arrivals,
) -> Result<Read, FailureKind> {
    // SAFETY: initialised bytes stay initialised, because reading only writes bytes.
    let room = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
    read_once(stream, room.len(), || {
        let (count, stamp) = sys::receive(stream, room)?;
        arrivals.note(stamp);
        Ok(count)
    })
}
