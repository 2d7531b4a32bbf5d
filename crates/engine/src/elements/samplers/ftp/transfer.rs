//! Files over a data connection, with the line ends of text files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Write as _};
use std::time::Instant;

use drumfire_http::StampedReads;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::failure::FtpFailure;
use crate::elements::samplers::http::settings::MAX_BODY_BYTES;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;

/// The destination of a fetched file. The worker's thread writes the bytes as they arrive.
#[derive(Default)]
pub struct Target {
    pub file: Option<File>,
    /// The file as the sample's body, if something reads it.
    pub body: Option<Vec<u8>>,
    /// A larger body fails.
    pub max_body_bytes: u64,
}

impl Target {
    fn take(&mut self, bytes: &[u8]) -> Result<(), FtpFailure> {
        if let Some(file) = &mut self.file {
            let written = file.write_all(bytes);
            written.map_err(|error| FtpFailure::file(&error))?;
        }
        if let Some(body) = &mut self.body {
            let limit = self.max_body_bytes;
            if (body.len() + bytes.len()) as u64 > limit {
                return Err(FtpFailure::too_large("file", limit, MAX_BODY_BYTES));
            }
            body.extend_from_slice(bytes);
        }
        Ok(())
    }
}

/// A fetched file.
pub struct Fetched {
    /// Its bytes, with the line ends of this machine.
    pub size: u64,
    /// When the kernel had received the last of them, as far as it says.
    pub arrived: Option<Instant>,
}

/// Fetches a file to its end.
///
/// # Errors
/// The connection breaks, the local file cannot be written, or the body is too large.
pub async fn fetch(
    data: &TcpStream,
    is_text: bool,
    target: &mut Target,
) -> Result<Fetched, FtpFailure> {
    let mut reads = StampedReads::new(data);
    let mut arrived = None;
    let mut lines = FetchedLines::default();
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let mut size = 0;
    loop {
        piece.clear();
        let read = reads.read_buf(&mut piece).await;
        let is_end = read.map_err(|error| FtpFailure::reading(&error))? == 0;
        // The end of the stream has no stamp.
        arrived = reads.arrived().or(arrived);
        let bytes = match is_text && !cfg!(windows) {
            true if is_end => lines.rest().into(),
            true => lines.convert(&piece),
            false => Cow::Borrowed(&*piece),
        };
        size += bytes.len() as u64;
        target.take(&bytes)?;
        if is_end {
            return Ok(Fetched { size, arrived });
        }
    }
}

/// Stores a file, and ends the data connection.
///
/// # Errors
/// The connection breaks, or the file cannot be read.
pub async fn store(
    mut data: TcpStream,
    is_text: bool,
    mut source: impl Read,
) -> Result<(), FtpFailure> {
    let mut lines = StoredLines::default();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = source.read(&mut piece);
        let count = count.map_err(|error| FtpFailure::file(&error))?;
        let bytes = match is_text {
            true => lines.convert(&piece[..count]),
            false => Cow::Borrowed(&piece[..count]),
        };
        let sent = match count {
            0 => data.shutdown().await,
            _ => data.write_all(&bytes).await,
        };
        sent.map_err(|error| FtpFailure::writing(&error))?;
        if count == 0 {
            return Ok(());
        }
    }
}

/// Line ends of a fetched text: CR and LF become LF; a CR alone stays (`FromNetASCIIInputStream`).
#[derive(Default)]
struct FetchedLines {
    /// The last byte was a CR, and is not written yet.
    after_cr: bool,
}

impl FetchedLines {
    fn convert<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.after_cr && !piece.contains(&b'\r') {
            return Cow::Borrowed(piece);
        }
        let mut converted = Vec::with_capacity(piece.len() + 1);
        for byte in piece {
            if self.after_cr && *byte != b'\n' {
                converted.push(b'\r');
            }
            self.after_cr = *byte == b'\r';
            if !self.after_cr {
                converted.push(*byte);
            }
        }
        Cow::Owned(converted)
    }

    /// The bytes at the end of the file.
    fn rest(&self) -> &'static [u8] {
        if self.after_cr { b"\r" } else { b"" }
    }
}

/// Line ends of a stored text: LF becomes CR and LF, unless there is a CR (`ToNetASCIIOutputStream`).
#[derive(Default)]
struct StoredLines {
    after_cr: bool,
}

impl StoredLines {
    fn convert<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if !piece.contains(&b'\n') {
            self.after_cr = piece.last().map_or(self.after_cr, |last| *last == b'\r');
            return Cow::Borrowed(piece);
        }
        let mut converted = Vec::with_capacity(piece.len() + piece.len() / 16);
        for byte in piece {
            if *byte == b'\n' && !self.after_cr {
                converted.push(b'\r');
            }
            converted.push(*byte);
            self.after_cr = *byte == b'\r';
        }
        Cow::Owned(converted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(pieces: &[&[u8]]) -> Vec<u8> {
        let mut lines = FetchedLines::default();
        let mut all = Vec::new();
        for piece in pieces {
            all.extend_from_slice(&lines.convert(piece));
        }
        all.extend_from_slice(lines.rest());
        all
    }

    #[test]
    fn line_ends_of_fetched_texts_become_those_of_unix() {
        assert_eq!(fetched(&[b"a\r\nb\nc"]), b"a\nb\nc");
        assert_eq!(fetched(&[b"a\rb\r"]), b"a\rb\r");
        assert_eq!(fetched(&[b"a\r\r\n", b"b"]), b"a\r\nb");
        // A line end in two pieces.
        assert_eq!(fetched(&[b"a\r", b"\nb"]), b"a\nb");
        assert_eq!(fetched(&[b"a\r", b"b"]), b"a\rb");
    }

    fn stored(pieces: &[&[u8]]) -> Vec<u8> {
        let mut lines = StoredLines::default();
        let pieces = pieces.iter();
        pieces
            .flat_map(|piece| lines.convert(piece).into_owned())
            .collect()
    }

    #[test]
    fn line_ends_of_stored_texts_become_those_of_the_network() {
        assert_eq!(stored(&[b"a\nb\r\n\rc"]), b"a\r\nb\r\n\rc");
        assert_eq!(stored(&[b"a\r", b"\nb\n"]), b"a\r\nb\r\n");
        assert_eq!(stored(&[b"a\r", b"b", b"\n"]), b"a\rb\r\n");
        assert_eq!(stored(&[b"a\r", b"", b"\n"]), b"a\r\n");
    }
}
