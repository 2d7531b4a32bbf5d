//! The connection below HTTP/2: its bytes, over TLS or not.

use std::io;
use std::task::{Context, Poll};

use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::records::encrypt;
use crate::worker::Worker;

/// Plain text is encrypted in pieces of this size, so that little remains if the kernel does not accept it.
const PIECE_BYTES: usize = 64 * 1024;

/// Sends bytes until the kernel takes no more; removes those that it took. Then the task is woken when it takes more.
pub(super) fn flush(
    connection: &mut Connection,
    worker: &Worker,
    output: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Result<(), FailureKind> {
    let mut at = 0;
    let flushed = loop {
        let rest = &output[at..];
        let sent = match connection.tls.is_some() {
            true => send_tls(connection, worker, rest),
            false if rest.is_empty() => break Ok(()),
            false => try_write(connection, rest).map(|count| (count, count < rest.len())),
        };
        match sent {
            Err(kind) => break Err(kind),
            Ok((count, is_full)) => {
                at += count;
                if is_full && connection.stream.poll_write_ready(cx).is_pending() {
                    break Ok(());
                }
                if !is_full && at == output.len() {
                    break Ok(());
                }
            }
        }
    };
    output.drain(..at);
    flushed
}

/// Whether bytes are left that the kernel has not taken.
pub(super) fn is_blocked(connection: &Connection) -> bool {
    let tls = connection.tls.as_ref();
    tls.is_some_and(|tls| !tls.unsent.is_empty())
}

/// Encrypts and sends a piece. Returns the number of bytes that were encrypted, and whether the kernel takes no more.
fn send_tls(
    connection: &mut Connection,
    worker: &Worker,
    bytes: &[u8],
) -> Result<(usize, bool), FailureKind> {
    let Some(tls) = connection.tls.as_deref_mut() else {
        return Ok((0, true));
    };
    let mut unsent = std::mem::take(&mut tls.unsent);
    if !unsent.is_empty() {
        let taken = try_write(connection, &unsent)?;
        unsent.drain(..taken);
        let is_full = !unsent.is_empty();
        if let Some(tls) = connection.tls.as_deref_mut() {
            tls.unsent = unsent;
        }
        return Ok((0, is_full));
    }
    let plain = &bytes[..bytes.len().min(PIECE_BYTES)];
    if plain.is_empty() {
        return Ok((0, false));
    }
    let output = &mut worker.scratch.borrow_mut().output;
    output.clear();
    encrypt(tls, plain, output, &mut connection.surplus)?;
    let taken = try_write(connection, output)?;
    if let Some(tls) = connection.tls.as_deref_mut() {
        tls.unsent.extend_from_slice(&output[taken..]);
    }
    Ok((plain.len(), taken < output.len()))
}

/// Writes what the kernel takes at once.
fn try_write(connection: &Connection, bytes: &[u8]) -> Result<usize, FailureKind> {
    match connection.stream.try_write(bytes) {
        Ok(count) => Ok(count),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        Err(error) => Err(FailureKind::from_io(error)),
    }
}

/// Waits until something can be read.
pub(super) fn poll_readable(connection: &Connection, cx: &mut Context<'_>) -> Poll<()> {
    // An error means that the runtime is shutting down; the following read reports it.
    connection.stream.poll_read_ready(cx).map(drop)
}
