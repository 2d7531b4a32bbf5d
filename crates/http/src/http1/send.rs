//! Sends requests: head and body in one write if they fit, files without copying.

use std::fs::File;
use std::io::{self, IoSlice};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::message::Body;
use crate::pace::{PIECE_BYTES, Pace};
use crate::records::{TlsState, encrypt};
use crate::source::{MAX_SLICES, Segment, UnsentRequest, file_too_short};
use crate::sys;
use crate::worker::{SCRATCH_BYTES, Worker};

/// Limit of bytes for one sendfile call.
const MAX_FILE_BYTES: u64 = 1 << 30;

impl Connection {
    /// Sends as much of `source` as the kernel accepts immediately, which is mostly all; false if something is left.
    pub fn send_now(
        &mut self,
        worker: &Worker,
        source: &mut UnsentRequest<'_>,
    ) -> Result<bool, FailureKind> {
        while let Some(tls) = &mut self.tls {
            let more = encrypt_some(&self.stream, tls, worker, source, &mut self.surplus)?;
            if !more || !tls.unsent.is_empty() {
                return Ok(tls.unsent.is_empty());
            }
        }
        while let Some(segment) = source.current() {
            match write_segment(&self.stream, worker, segment, source)? {
                Ok(count) => source.advance(count as u64),
                Err(error) if is_transient(&error) => return Ok(false),
                Err(error) => return Err(FailureKind::from_io(error)),
            }
        }
        Ok(true)
    }

    /// Sends all of `source`. `limit` applies to each time in which the server takes nothing.
    pub async fn send(
        &mut self,
        worker: &Worker,
        source: &mut UnsentRequest<'_>,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        if self.tls.is_some() {
            return self.send_tls(worker, source, limit).await;
        }
        while let Some(segment) = source.current() {
            match write_segment(&self.stream, worker, segment, source)? {
                Ok(count) => source.advance(count as u64),
                Err(error) if is_transient(&error) => self.writable(worker, limit).await?,
                Err(error) => return Err(FailureKind::from_io(error)),
            }
        }
        Ok(())
    }

    /// Sends `source` in pieces, at the speed of `pace`.
    pub async fn send_slowly(
        &mut self,
        pace: Pace,
        worker: &Worker,
        source: &mut UnsentRequest<'_>,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = source.fill(&mut piece)?;
            if count == 0 {
                return Ok(());
            }
            pace.pause(count).await;
            let mut part = UnsentRequest::new(&piece[..count], Body::None);
            self.send(worker, &mut part, limit).await?;
        }
    }

    async fn send_tls(
        &mut self,
        worker: &Worker,
        source: &mut UnsentRequest<'_>,
        limit: Option<Duration>,
    ) -> Result<(), FailureKind> {
        loop {
            let Some(tls) = &mut self.tls else {
                return Ok(());
            };
            let more = encrypt_some(&self.stream, tls, worker, source, &mut self.surplus)?;
            let unsent = std::mem::take(&mut tls.unsent);
            let mut at = 0;
            while at < unsent.len() {
                match self.stream.try_write(&unsent[at..]) {
                    Ok(count) => at += count,
                    Err(error) if is_transient(&error) => self.writable(worker, limit).await?,
                    Err(error) => return Err(FailureKind::from_io(error)),
                }
            }
            if !more {
                return Ok(());
            }
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// The outer error is final; the inner one may mean that the socket's buffer is full.
fn write_segment<'a>(
    stream: &TcpStream,
    worker: &Worker,
    segment: Segment<'a>,
    source: &UnsentRequest<'a>,
) -> Result<io::Result<usize>, FailureKind> {
    match segment {
        Segment::Bytes(bytes) => Ok(write_bytes(stream, bytes, source)),
        Segment::File {
            file,
            offset,
            length,
        } => write_file(stream, worker, file, offset, length),
    }
}

fn write_bytes<'a>(
    stream: &TcpStream,
    bytes: &'a [u8],
    source: &UnsentRequest<'a>,
) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); MAX_SLICES];
    match source.gather(bytes, &mut slices) {
        1 => stream.try_write(bytes),
        count => stream.try_write_vectored(&slices[..count]),
    }
}

/// Errors are those of [`write_segment`].
fn write_file(
    stream: &TcpStream,
    worker: &Worker,
    file: &File,
    offset: u64,
    length: u64,
) -> Result<io::Result<usize>, FailureKind> {
    let scratch = &mut *worker.scratch.borrow_mut();
    let length = length.min(MAX_FILE_BYTES);
    let sent = stream.try_io(Interest::WRITABLE, || {
        sys::send_file(stream, file, offset, length, &mut scratch.input)
    });
    match sent {
        Ok(0) => Err(file_too_short()),
        other => Ok(other),
    }
}

/// Encrypts the next bytes of `source` and writes as many as the kernel accepts
/// immediately; the rest stays in `tls.unsent`. False if nothing of `source` is left.
fn encrypt_some(
    stream: &TcpStream,
    tls: &mut TlsState,
    worker: &Worker,
    source: &mut UnsentRequest<'_>,
    surplus: &mut Vec<u8>,
) -> Result<bool, FailureKind> {
    let scratch = &mut *worker.scratch.borrow_mut();
    let plain = source.fill(&mut scratch.input)?;
    let output = &mut scratch.output;
    output.clear();
    output.append(&mut tls.unsent);
    if plain > 0 {
        encrypt(tls, &scratch.input[..plain], output, surplus)?;
    }
    let written = match stream.try_write(output) {
        Ok(count) => count,
        Err(error) if is_transient(&error) => 0,
        Err(error) => return Err(FailureKind::from_io(error)),
    };
    tls.unsent.extend_from_slice(&output[written..]);
    Ok(plain == SCRATCH_BYTES)
}
