//! Writes gzip, and stores short texts in it without compression.

use std::io::{self, BufWriter, Write};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

/// The longest text that is stored. Clearing the 300 KiB of a compressor's tables takes longer than the rest of such a write.
const STORED_BYTES: usize = 8 << 10;
/// A call of the encoder is expensive, and JSON is written in small pieces.
const PIECE_BYTES: usize = 64 << 10;
/// RFC 1952, 2.3: no name, no time, an unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Compresses what `write_text` writes.
///
/// # Errors
/// Those of `write_text`, or the message of the operating system.
pub fn write_packed<W: Write>(
    out: W,
    write_text: impl FnOnce(&mut BufWriter<Packer<W>>) -> io::Result<()>,
) -> io::Result<()> {
    let mut pieces = BufWriter::with_capacity(PIECE_BYTES, Packer::Idle(Some(out)));
    write_text(&mut pieces)?;
    let (mut packer, rest) = pieces.into_parts();
    let rest = rest.map_err(io::Error::other)?;
    if let Packer::Idle(out) = &mut packer
        && rest.len() <= STORED_BYTES
        && let Some(mut out) = out.take()
    {
        return store(&mut out, &rest);
    }
    packer.write_all(&rest)?;
    match packer {
        Packer::Idle(_) => Ok(()),
        Packer::Packing(encoder) => encoder.finish()?.flush(),
    }
}

/// Compresses from the first piece on.
pub enum Packer<W: Write> {
    /// Nothing was written yet.
    Idle(Option<W>),
    Packing(Box<GzEncoder<W>>),
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if let Packer::Idle(out) = self
            && let Some(out) = out.take()
        {
            let encoder = GzEncoder::new(out, Compression::new(4));
            *self = Packer::Packing(Box::new(encoder));
        }
        match self {
            Packer::Idle(_) => Ok(0),
            Packer::Packing(encoder) => encoder.write(piece),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Idle(_) => Ok(()),
            Packer::Packing(encoder) => encoder.flush(),
        }
    }
}

/// Writes a text as one stored block (RFC 1951, 3.2.4).
fn store(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    const LAST: u8 = 1;
    let length = u16::try_from(text.len()).expect("the bound of stored texts is below 64 KiB");
    let mut crc = Crc::new();
    crc.update(text);
    out.write_all(&HEADER)?;
    out.write_all(&[LAST])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&(!length).to_le_bytes())?;
    out.write_all(text)?;
    out.write_all(&crc.sum().to_le_bytes())?;
    out.write_all(&u32::from(length).to_le_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn texts_of_any_length_can_be_read_again() {
        for length in [0, 1, STORED_BYTES, STORED_BYTES + 1, 3 * PIECE_BYTES] {
            let text = "0123456789".repeat(length.div_ceil(10));
            let text = &text[..length];
            let mut packed = Vec::new();
            write_packed(&mut packed, |pieces| {
                pieces.write_all(text.as_bytes())?;
                pieces.write_all(b"!")
            })
            .expect("memory has room");
            assert_eq!(packed.len() > length, length < STORED_BYTES, "{length}");
            let mut read = String::new();
            GzDecoder::new(&*packed)
                .read_to_string(&mut read)
                .expect("it is gzip");
            assert_eq!(read, format!("{text}!"));
        }
    }
}
