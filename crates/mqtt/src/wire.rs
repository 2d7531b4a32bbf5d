//! Numbers and texts (MQTT 5 section 1.5, whose encodings MQTT 3.1.1 shares).

use crate::packet::PacketError;

/// The longest remaining length of a packet: 256 MiB less one byte.
pub const MAX_LENGTH: usize = 268_435_455;

/// The rest of a packet that is being read.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], PacketError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(PacketError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8, PacketError> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> Result<u16, PacketError> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u32(&mut self) -> Result<u32, PacketError> {
        Ok(u32::from(self.u16()?) << 16 | u32::from(self.u16()?))
    }

    pub fn binary(&mut self) -> Result<&'a [u8], PacketError> {
        let length = self.u16()?;
        self.take(length.into())
    }

    pub fn text(&mut self) -> Result<&'a str, PacketError> {
        std::str::from_utf8(self.binary()?).map_err(|_| PacketError::Text)
    }

    /// A variable byte integer.
    pub fn length(&mut self) -> Result<usize, PacketError> {
        let (length, count) = length(self.0)?.ok_or(PacketError::Short)?;
        self.take(count)?;
        Ok(length)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A variable byte integer at the start of `bytes`, and the number of its bytes; `None` if it has not arrived completely.
pub fn length(bytes: &[u8]) -> Result<Option<(usize, usize)>, PacketError> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
    }
    if bytes.len() < 4 {
        Ok(None)
    } else {
        Err(PacketError::Length)
    }
}

pub fn put_length(mut value: usize, out: &mut Vec<u8>) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// The bytes that [`put_length`] takes.
pub fn length_bytes(value: usize) -> usize {
    match value {
        0..128 => 1,
        128..16_384 => 2,
        16_384..2_097_152 => 3,
        _ => 4,
    }
}

/// Binary data or a text; the caller has made sure that it has at most 65,535 bytes.
pub fn put_binary(bytes: &[u8], out: &mut Vec<u8>) {
    let length = bytes.len().min(usize::from(u16::MAX));
    out.extend_from_slice(&(length as u16).to_be_bytes());
    out.extend_from_slice(&bytes[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits are those of table 2.4 of MQTT 3.1.1.
    #[test]
    fn lengths_of_one_to_four_bytes() {
        for (value, count) in [
            (0, 1),
            (127, 1),
            (128, 2),
            (16_383, 2),
            (16_384, 3),
            (2_097_151, 3),
            (2_097_152, 4),
            (MAX_LENGTH, 4),
        ] {
            let mut bytes = Vec::new();
            put_length(value, &mut bytes);
            assert_eq!((bytes.len(), length_bytes(value)), (count, count));
            assert_eq!(length(&bytes), Ok(Some((value, count))));
            assert_eq!(length(&bytes[..count - 1]), Ok(None));
        }
        assert_eq!(length(&[0x80; 4]), Err(PacketError::Length));
    }
}
