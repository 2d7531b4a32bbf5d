//! Sending a request: head and body in one write where they fit, files without copying.

use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustls::client::ClientConnectionData;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError,
};
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::connection::{Connection, TlsState};
use crate::failure::{FailureKind, TlsFailure};
use crate::message::{Body, Part};
use crate::sys;
use crate::worker::{SCRATCH_BYTES, Worker};

/// Slices of one write.
const MAX_SLICES: usize = 16;

/// The most sendfile is asked to send at once.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// What is still to be sent of a request.
pub(crate) struct Source<'a> {
    head: &'a [u8],
    body: Body<'a>,
    /// Segment 0 is the head, the others are the parts of the body.
    segment: usize,
    /// Bytes of that segment already sent.
    offset: u64,
    /// Bytes sent of all.
    pub sent: u64,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Bytes(&'a [u8]),
    File {
        file: &'a File,
        offset: u64,
        length: u64,
    },
}

impl Segment<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }
}

impl<'a> Source<'a> {
    pub fn new(head: &'a [u8], body: Body<'a>) -> Self {
        Self {
            head,
            body,
            segment: 0,
            offset: 0,
            sent: 0,
        }
    }

    /// The head was sent otherwise, `sent` bytes of it.
    pub fn skip_head(&mut self, sent: u64) {
        self.segment = 1;
        self.sent = sent;
    }

    fn segment(&self, index: usize) -> Option<Segment<'a>> {
        if index == 0 {
            return Some(Segment::Bytes(self.head));
        }
        match self.body {
            Body::None => None,
            Body::Bytes(bytes) => (index == 1).then_some(Segment::Bytes(bytes)),
            Body::Parts(parts) => parts.get(index - 1).map(|part| match part {
                Part::Bytes(bytes) => Segment::Bytes(bytes),
                Part::File {
                    file,
                    offset,
                    length,
                } => Segment::File {
                    file,
                    offset: *offset,
                    length: *length,
                },
            }),
        }
    }

    /// What comes next, without what is already sent of it.
    fn current(&mut self) -> Option<Segment<'a>> {
        loop {
            let segment = self.segment(self.segment)?;
            if self.offset < segment.len() {
                return Some(match segment {
                    Segment::Bytes(bytes) => Segment::Bytes(&bytes[self.offset as usize..]),
                    Segment::File {
                        file,
                        offset,
                        length,
                    } => Segment::File {
                        file,
                        offset: offset + self.offset,
                        length: length - self.offset,
                    },
                });
            }
            self.segment += 1;
            self.offset = 0;
        }
    }

    /// The bytes from `first`, the current segment, up to the next file.
    fn gather(&self, first: &'a [u8], slices: &mut [IoSlice<'a>; MAX_SLICES]) -> usize {
        slices[0] = IoSlice::new(first);
        let mut count = 1;
        while count < MAX_SLICES {
            match self.segment(self.segment + count) {
                Some(Segment::Bytes(bytes)) => slices[count] = IoSlice::new(bytes),
                _ => break,
            }
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut count: u64) {
        self.sent += count;
        while let Some(segment) = self.segment(self.segment) {
            let rest = segment.len() - self.offset;
            if count < rest {
                self.offset += count;
                return;
            }
            count -= rest;
            self.segment += 1;
            self.offset = 0;
        }
    }

    /// Copies the next bytes into `out`, as many as fit.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<usize, FailureKind> {
        let mut at = 0;
        while at < out.len() {
            let count = match self.current() {
                None => break,
                Some(Segment::Bytes(bytes)) => {
                    let count = bytes.len().min(out.len() - at);
                    out[at..at + count].copy_from_slice(&bytes[..count]);
                    count
                }
                Some(Segment::File {
                    file,
                    offset,
                    length,
                }) => {
                    let room = out.len() - at;
                    let asked = usize::try_from(length).map_or(room, |l| l.min(room));
                    let read = file.read_at(&mut out[at..at + asked], offset);
                    match read.map_err(FailureKind::File)? {
                        0 => return Err(file_too_short()),
                        count => count,
                    }
                }
            };
            at += count;
            self.advance(count as u64);
        }
        Ok(at)
    }
}

fn file_too_short() -> FailureKind {
    FailureKind::File(io::ErrorKind::UnexpectedEof.into())
}

impl Connection {
    /// Sends all of `source`, waiting as long as the server makes it wait.
    pub async fn send(
        &mut self,
        worker: &Worker,
        source: &mut Source<'_>,
    ) -> Result<(), FailureKind> {
        if self.tls.is_some() {
            return self.send_tls(worker, source).await;
        }
        while let Some(segment) = source.current() {
            let written = match segment {
                Segment::Bytes(bytes) => write_bytes(&self.stream, bytes, source),
                Segment::File {
                    file,
                    offset,
                    length,
                } => write_file(&self.stream, worker, file, offset, length)?,
            };
            match written {
                Ok(count) => source.advance(count as u64),
                Err(error) => self.until_writable(error).await?,
            }
        }
        Ok(())
    }

    async fn send_tls(
        &mut self,
        worker: &Worker,
        source: &mut Source<'_>,
    ) -> Result<(), FailureKind> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        loop {
            let more = encrypt_some(&self.stream, tls, worker, source, &mut self.surplus)?;
            let mut at = 0;
            while at < tls.unsent.len() {
                match self.stream.try_write(&tls.unsent[at..]) {
                    Ok(count) => at += count,
                    Err(error) if is_transient(&error) => {
                        // As in `writable`: the next write reports what is wrong.
                        let _ = self.stream.writable().await;
                    }
                    Err(error) => return Err(FailureKind::from_io(error)),
                }
            }
            tls.unsent = Vec::new();
            if !more {
                return Ok(());
            }
        }
    }

    async fn until_writable(&self, error: io::Error) -> Result<(), FailureKind> {
        if !is_transient(&error) {
            return Err(FailureKind::from_io(error));
        }
        self.writable().await;
        Ok(())
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn write_bytes<'a>(stream: &TcpStream, bytes: &'a [u8], source: &Source<'a>) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); MAX_SLICES];
    match source.gather(bytes, &mut slices) {
        1 => stream.try_write(bytes),
        count => stream.try_write_vectored(&slices[..count]),
    }
}

/// The outer error is final; the inner one may be that the socket is full.
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
        sys::send_file(stream.as_fd(), file, offset, length, &mut scratch.input)
    });
    match sent {
        Ok(0) => Err(file_too_short()),
        other => Ok(other),
    }
}

/// Encrypts the next bytes of `source` and writes what the kernel takes at once; the rest
/// waits in `tls.unsent`. False if nothing of `source` is left.
fn encrypt_some(
    stream: &TcpStream,
    tls: &mut TlsState,
    worker: &Worker,
    source: &mut Source<'_>,
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

/// Appends `plain` to `output` as TLS records. What came right behind the handshake is read
/// first, as TLS demands; it goes to `surplus`.
pub(crate) fn encrypt(
    tls: &mut TlsState,
    plain: &[u8],
    output: &mut Vec<u8>,
    surplus: &mut Vec<u8>,
) -> Result<(), FailureKind> {
    let failed = |error: rustls::Error| FailureKind::Tls(error.into());
    if tls.broken {
        return Err(FailureKind::Tls(TlsFailure::Closed));
    }
    // Until all of it has gone well.
    tls.broken = true;
    loop {
        let status = tls.session.process_tls_records(&mut tls.received);
        let mut discard = status.discard;
        let state = status.state;
        let mut done = false;
        match state.map_err(failed)? {
            ConnectionState::WriteTraffic(mut writer) => {
                let start = output.len();
                // Room for a header and a tag for each record is added when asked for.
                output.resize(start + plain.len() + 256, 0);
                let mut result = writer.encrypt(plain, &mut output[start..]);
                if let Err(EncryptError::InsufficientSize(InsufficientSizeError {
                    required_size,
                })) = result
                {
                    output.resize(start + required_size, 0);
                    result = writer.encrypt(plain, &mut output[start..]);
                }
                let length = result.map_err(|error| other_tls(&error))?;
                output.truncate(start + length);
                done = true;
            }
            ConnectionState::EncodeTlsData(mut encode) => append_encoded(&mut encode, output),
            ConnectionState::TransmitTlsData(transmit) => transmit.done(),
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let record = record.map_err(failed)?;
                    discard += record.discard;
                    surplus.extend_from_slice(record.payload);
                }
            }
            ConnectionState::PeerClosed => tls.closed = true,
            _ => return Err(FailureKind::Tls(TlsFailure::Closed)),
        }
        tls.received.drain(..discard);
        if done {
            tls.broken = false;
            return Ok(());
        }
    }
}

/// Appends what TLS itself has to say to `output`.
pub(crate) fn append_encoded(
    encode: &mut EncodeTlsData<'_, ClientConnectionData>,
    output: &mut Vec<u8>,
) {
    let start = output.len();
    output.resize(start + 1024, 0);
    let mut result = encode.encode(&mut output[start..]);
    if let Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) = result {
        output.resize(start + required_size, 0);
        result = encode.encode(&mut output[start..]);
    }
    // The only other error is that the data was encoded before; then there is none to send.
    output.truncate(start + result.unwrap_or(0));
}

fn other_tls(error: &dyn std::fmt::Display) -> FailureKind {
    FailureKind::Tls(TlsFailure::Other(error.to_string().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a source when it is read in pieces of this size.
    fn read(mut source: Source<'_>, piece: usize) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let mut buffer = vec![0; piece];
            let count = source.fill(&mut buffer).expect("there is no file");
            if count == 0 {
                assert_eq!(source.sent, all.len() as u64);
                return all;
            }
            all.extend_from_slice(&buffer[..count]);
        }
    }

    #[test]
    fn pieces_of_any_size_make_the_whole() {
        let parts = [
            Part::Bytes(b""),
            Part::Bytes(b"one"),
            Part::Bytes(b""),
            Part::Bytes(b"two"),
        ];
        for piece in 1..12 {
            assert_eq!(read(Source::new(b"head", Body::None), piece), b"head");
            let source = Source::new(b"head", Body::Bytes(b"body"));
            assert_eq!(read(source, piece), b"headbody");
            let source = Source::new(b"head", Body::Parts(&parts));
            assert_eq!(read(source, piece), b"headonetwo");
        }
    }

    #[test]
    fn one_write_gathers_what_is_left() {
        let mut source = Source::new(b"head", Body::Bytes(b"body"));
        source.advance(2);
        let Some(Segment::Bytes(first)) = source.current() else {
            panic!("half of the head is left");
        };
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        assert_eq!(source.gather(first, &mut slices), 2);
        assert_eq!((&*slices[0], &*slices[1]), (&b"ad"[..], &b"body"[..]));
        source.advance(3);
        let Some(Segment::Bytes(rest)) = source.current() else {
            panic!("most of the body is left");
        };
        assert_eq!(rest, b"ody");
        source.advance(3);
        assert!(source.current().is_none());
    }

    #[test]
    fn the_body_alone_follows_a_head_sent_before() {
        let mut source = Source::new(b"head", Body::Bytes(b"body"));
        source.skip_head(4);
        let mut buffer = [0; 8];
        assert_eq!(source.fill(&mut buffer).expect("there is no file"), 4);
        assert_eq!((&buffer[..4], source.sent), (&b"body"[..], 8));
    }
}
