//! What Linux does better than POSIX. `portable.rs` has the same functions for other systems.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use socket2::{Domain, Protocol, Socket, Type};

/// A non-blocking TCP socket, in one system call.
pub(crate) fn tcp_socket(domain: Domain) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    Socket::new_raw(domain, kind, Some(Protocol::TCP))
}

/// Drops up to `limit` received bytes inside the kernel and gives how many; 0 is the end of
/// the stream.
pub(crate) fn discard(
    socket: BorrowedFd<'_>,
    limit: usize,
    _scratch: &mut [u8],
) -> io::Result<usize> {
    // SAFETY: for TCP, MSG_TRUNC makes recv drop the bytes without writing to the buffer
    // (tcp(7)), so a null buffer is never touched. The descriptor is open while borrowed.
    let got = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            std::ptr::null_mut(),
            limit,
            libc::MSG_TRUNC,
        )
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Sends up to `length` bytes of a file without passing them through this process; 0 is the
/// end of the file.
pub(crate) fn send_file(
    socket: BorrowedFd<'_>,
    file: &File,
    offset: u64,
    length: u64,
    _scratch: &mut [u8],
) -> io::Result<usize> {
    let mut at = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // SAFETY: both descriptors are open while borrowed, and `at` outlives the call.
    let sent = unsafe { libc::sendfile(socket.as_raw_fd(), file.as_raw_fd(), &raw mut at, length) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Lets the kernel choose the local port when connecting, where it may share a port between
/// connections to different servers, instead of when binding, where it may not.
pub(crate) fn bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is a live c_int of the length given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
