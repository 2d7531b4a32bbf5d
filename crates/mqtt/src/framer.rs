//! Packets in a stream of bytes.

use crate::packet::PacketError;
use crate::wire;

/// A packet's first byte, and what follows its length.
pub type Frame<'a> = (u8, &'a [u8]);

/// The start of a packet that has not arrived completely. It holds no memory between packets.
#[derive(Default)]
pub struct Framer {
    partial: Vec<u8>,
    max_bytes: usize,
}

impl Framer {
    /// Packets with more bytes than `max_bytes` after their length are errors.
    pub fn new(max_bytes: usize) -> Framer {
        Framer {
            partial: Vec::new(),
            max_bytes,
        }
    }

    /// Takes bytes from the stream and passes on each packet that they complete.
    pub fn push(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(Frame<'_>) -> Result<(), PacketError>,
    ) -> Result<(), PacketError> {
        if self.partial.is_empty() {
            let rest = self.split(bytes, each)?;
            self.partial.extend_from_slice(rest);
            return Ok(());
        }
        let mut whole = std::mem::take(&mut self.partial);
        whole.extend_from_slice(bytes);
        let rest = self.split(&whole, each)?.len();
        if rest > 0 {
            whole.drain(..whole.len() - rest);
            self.partial = whole;
        }
        Ok(())
    }

    /// Passes on the complete packets and returns the bytes after them.
    fn split<'b>(
        &self,
        mut bytes: &'b [u8],
        each: &mut dyn FnMut(Frame<'_>) -> Result<(), PacketError>,
    ) -> Result<&'b [u8], PacketError> {
        while let Some((first, rest)) = bytes.split_first() {
            let Some((length, count)) = wire::length(rest)? else {
                break;
            };
            if length > self.max_bytes {
                return Err(PacketError::TooLarge {
                    bytes: length,
                    limit: self.max_bytes,
                });
            }
            let Some(body) = rest.get(count..count + length) else {
                break;
            };
            each((*first, body))?;
            bytes = &rest[count + length..];
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_the_same_at_every_split_of_the_stream() {
        let mut stream = vec![0xd0, 0, 0x30, 0x81, 0x01];
        stream.extend([7; 129]);
        stream.extend([0x40, 2, 0, 9]);
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut framer = Framer::new(200);
                let mut found = Vec::new();
                for piece in [&stream[..first], &stream[first..second], &stream[second..]] {
                    let mut keep = |(first, body): Frame<'_>| {
                        found.push((first, body.len()));
                        Ok(())
                    };
                    framer.push(piece, &mut keep).expect("the stream is sound");
                }
                assert_eq!(found, [(0xd0, 0), (0x30, 129), (0x40, 2)]);
                assert!(framer.partial.is_empty());
            }
        }
    }

    #[test]
    fn a_packet_above_the_limit_is_refused_at_its_length() {
        let mut framer = Framer::new(128);
        let refused = framer.push(&[0x30, 0x81, 0x01], &mut |_| Ok(()));
        let expected = PacketError::TooLarge {
            bytes: 129,
            limit: 128,
        };
        assert_eq!(refused, Err(expected));
    }
}
