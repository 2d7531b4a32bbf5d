//! A WebSocket connection, frame by frame (RFC 6455 section 5).
//!
//! A load test needs each frame as received, with its size, including fragments and control frames, and needs no frame sent on
//! its behalf. So this module only handles frames: it assembles no messages, answers no pings and inflates nothing. The caller
//! also performs the opening handshake: it sends bytes and receives a head.

use std::time::{Duration, Instant};

use memchr::memchr;

use crate::dialogue::Dialogue;
use crate::duplex::Duplex;
use crate::failure::{Failure, FailureKind};
use crate::message::{Limits, Times, Tunnel};
use crate::session::Session;
use crate::target::Target;

/// Limit of a payload: longer ones do not fit into a Java array.
const MAX_PAYLOAD_BYTES: u64 = i32::MAX as u64;

/// The purpose of a frame (RFC 6455 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// Another part of a message.
    Continuation,
    /// A message of text, or its first part.
    Text,
    /// A message of bytes, or its first part.
    Binary,
    /// A request to close the connection.
    Close,
    /// A check whether the peer is alive.
    Ping,
    /// The answer to a ping.
    Pong,
    /// A reserved opcode.
    Other(u8),
}

impl Opcode {
    fn of(bits: u8) -> Self {
        match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            other => Self::Other(other),
        }
    }

    fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
            Self::Other(bits) => bits,
        }
    }
}

/// A received frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The purpose of the frame.
    pub opcode: Opcode,
    /// Whether it is the last frame of its message.
    pub is_final: bool,
    /// The first reserved bit, by which extensions mark compressed messages.
    pub is_compressed: bool,
    /// The payload, unmasked.
    pub payload: Vec<u8>,
    /// Bytes on the connection, including the frame's head.
    pub wire_bytes: u64,
}

/// Why no frame was received.
#[derive(Debug)]
pub enum FrameFailure {
    /// The stream ended between frames, or within a frame's first two bytes or its length field.
    End,
    /// The stream ended within the payload.
    EndInPayload {
        /// The announced bytes.
        expected: u64,
        /// The bytes received.
        received: u64,
    },
    /// The frame is longer than 2,147,483,647 bytes.
    TooLarge,
    /// The connection failed.
    Exchange(FailureKind),
}

/// A connection on which frames are sent and received.
pub struct WebSocket(Dialogue);

impl WebSocket {
    /// Opens a dedicated connection, see [`Dialogue::connect`].
    ///
    /// # Errors
    /// Errors of connecting, see [`FailureKind`].
    pub async fn connect(
        session: &Session,
        target: &Target,
        tunnel: Option<&dyn Tunnel>,
        limits: Limits,
    ) -> Result<(Self, Times), Box<Failure>> {
        let (dialogue, times) = Dialogue::connect(session, target, tunnel, limits).await?;
        Ok((Self(dialogue), times))
    }

    /// Sends bytes unchanged.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), FailureKind> {
        self.0.send(bytes, None).await
    }

    /// Receives up to the end of a head: its empty line, or the end of the stream, in which case the head may be empty.
    /// `limit` applies to each silence.
    pub async fn receive_head(&mut self, limit: Option<Duration>) -> Result<Vec<u8>, FailureKind> {
        let mut at = 0;
        loop {
            while let Some(end) = memchr(b'\n', &self.0.received[at..]) {
                let line = self.0.received[at..at + end].trim_ascii();
                at += end + 1;
                if line.is_empty() && at > end + 1 {
                    let rest = self.0.received.split_off(at);
                    return Ok(std::mem::replace(&mut self.0.received, rest));
                }
            }
            let most = self.0.worker.pool.sizes.head_bytes;
            if self.0.received.len() > most {
                return Err(FailureKind::HeadTooLarge { limit: most });
            }
            if !self.0.receive_more(limit).await? {
                return Ok(std::mem::take(&mut self.0.received));
            }
        }
    }

    /// Sends a frame that is a whole message, masked as clients must do; returns its size in bytes.
    pub async fn send(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        mask: [u8; 4],
    ) -> Result<u64, FailureKind> {
        let bytes = encode(opcode, payload, mask);
        self.send_bytes(&bytes).await?;
        Ok(bytes.len() as u64)
    }

    /// Receives a frame; `limit` applies to each silence. After a timeout, the next call continues with the part of a frame
    /// that already arrived.
    pub async fn receive(&mut self, limit: Option<Duration>) -> Result<Frame, FrameFailure> {
        loop {
            self.0.take_turns().await;
            let received = &self.0.received[self.0.consumed..];
            let received_bytes = received.len() as u64;
            let head = FrameHead::read(received);
            if let Some(head) = &head {
                if head.payload_bytes > MAX_PAYLOAD_BYTES {
                    return Err(FrameFailure::TooLarge);
                }
                let limit = self.0.worker.pool.sizes.body_bytes;
                if head.payload_bytes > limit {
                    let kind = FailureKind::BodyTooLarge { limit };
                    return Err(FrameFailure::Exchange(kind));
                }
                if let Some(frame) = head.take(received) {
                    self.0.consumed += frame.wire_bytes as usize;
                    return Ok(frame);
                }
            }
            let more = self.0.receive_more(limit).await;
            if !more.map_err(FrameFailure::Exchange)? {
                return Err(match head {
                    Some(head) => FrameFailure::EndInPayload {
                        expected: head.payload_bytes,
                        received: received_bytes - head.head_bytes as u64,
                    },
                    None => FrameFailure::End,
                });
            }
        }
    }

    /// When the kernel had received the bytes of the latest read; `None` if it does not say.
    pub fn arrived(&self) -> Option<Instant> {
        self.0.arrived
    }

    /// The connection for a protocol that is not HTTP: its bytes are sent in binary frames if `mask` is there, which seeds their
    /// masks, and as they are otherwise.
    pub fn into_duplex(mut self, mask: Option<u32>) -> Duplex {
        let received = self.0.received.split_off(self.0.consumed);
        Duplex::new(self.0.connection, self.0.worker, received, mask)
    }

    /// Closes the connection.
    pub fn close(self) {
        self.0.close();
    }
}

/// The head of a frame.
pub(crate) struct FrameHead {
    first: u8,
    head_bytes: usize,
    pub payload_bytes: u64,
}

impl FrameHead {
    /// Parses the head; `None` if it is incomplete.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [first, second, rest @ ..] = bytes else {
            return None;
        };
        let (length_bytes, payload_bytes) = match second & 0x7f {
            126 => (2, u64::from(u16::from_be_bytes(*rest.first_chunk()?))),
            127 => (8, u64::from_be_bytes(*rest.first_chunk()?)),
            short => (0, u64::from(short)),
        };
        Some(Self {
            first: *first,
            head_bytes: 2 + length_bytes,
            payload_bytes,
        })
    }

    /// Takes the frame, if it has arrived completely.
    pub fn take(&self, received: &[u8]) -> Option<Frame> {
        let start = self.head_bytes;
        let end = start + usize::try_from(self.payload_bytes).ok()?;
        let payload = received.get(start..end)?.to_vec();
        Some(Frame {
            opcode: Opcode::of(self.first & 0x0f),
            is_final: self.first & 0x80 != 0,
            is_compressed: self.first & 0x40 != 0,
            payload,
            wire_bytes: end as u64,
        })
    }
}

/// A final, masked frame.
pub(crate) fn encode(opcode: Opcode, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    const FINAL: u8 = 0x80;
    const MASKED: u8 = 0x80;
    let mut bytes = Vec::with_capacity(14 + payload.len());
    bytes.push(FINAL | opcode.bits());
    match payload.len() {
        length @ ..126 => bytes.push(MASKED | length as u8),
        length @ ..65_536 => {
            bytes.push(MASKED | 126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(MASKED | 127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(&mask);
    let start = bytes.len();
    bytes.extend_from_slice(payload);
    for chunk in bytes[start..].chunks_mut(4) {
        for (byte, mask) in chunk.iter_mut().zip(mask) {
            *byte ^= mask;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6455 section 5.7.
    #[test]
    fn the_examples_of_the_rfc() {
        let masked = encode(Opcode::Text, b"Hello", [0x37, 0xfa, 0x21, 0x3d]);
        let expected = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ];
        assert_eq!(masked, expected);
        let received = [0x01, 0x03, b'H', b'e', b'l', 0x80, 0x02, b'l', b'o', 0x89];
        let mut at = 0;
        let mut take = || {
            let frame = FrameHead::read(&received[at..])?.take(&received[at..])?;
            at += frame.wire_bytes as usize;
            Some(frame)
        };
        let first = take().expect("it is whole");
        assert_eq!(
            (first.opcode, first.is_final, first.wire_bytes),
            (Opcode::Text, false, 5)
        );
        assert_eq!(first.payload, b"Hel");
        let second = take().expect("it is whole");
        assert_eq!(
            (second.opcode, second.is_final),
            (Opcode::Continuation, true)
        );
        assert_eq!(take(), None);
    }

    #[test]
    fn lengths_of_all_three_sizes() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; length];
            let mut bytes = encode(Opcode::Binary, &payload, [0; 4]);
            // Like a server's frame: without the mask.
            bytes[1] &= 0x7f;
            let head = FrameHead::read(&bytes).expect("its head is whole");
            bytes.drain(head.head_bytes..head.head_bytes + 4);
            assert_eq!(head.payload_bytes, length as u64);
            let short = bytes.len() - 1;
            assert!(length == 0 || head.take(&bytes[..short]).is_none());
            let frame = head.take(&bytes).expect("it is whole");
            let sizes = (frame.payload.len(), frame.wire_bytes as usize);
            assert_eq!(sizes, (length, bytes.len()));
        }
        let huge = [0x82, 127, 0, 0, 0, 0, 0x80, 0, 0, 0];
        let head = FrameHead::read(&huge).expect("its head is whole");
        assert!(head.payload_bytes > MAX_PAYLOAD_BYTES);
        assert!(FrameHead::read(&huge[..9]).is_none());
    }
}
