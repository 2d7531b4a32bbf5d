//! The server side of WebSocket (RFC 6455): the response to an opening handshake, and the echo of frames.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use crate::server::ReceivedRequest;

const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// The flag of a message's last frame, and the flag of masked data.
const HIGH: u8 = 0x80;

/// The response to an opening handshake.
pub fn switch(request: &ReceivedRequest) -> Vec<u8> {
    let accept = accept(request.header("Sec-WebSocket-Key").unwrap_or_default());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// The server's answer to the key of an opening handshake.
pub(crate) fn accept(key: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(hash.finalize())
}

/// A frame from a client.
pub(crate) struct Frame {
    first: u8,
    pub(crate) data: Vec<u8>,
}

impl Frame {
    /// Takes a complete frame from the start of the bytes; `None` while a part of it is missing.
    pub(crate) fn take(bytes: &mut Vec<u8>) -> Option<Frame> {
        let (&first, &second) = (bytes.first()?, bytes.get(1)?);
        let (length, head) = match second & !HIGH {
            126 => (number(bytes.get(2..4)?), 4),
            127 => (number(bytes.get(2..10)?), 10),
            short => (usize::from(short), 2),
        };
        let start: usize = head + if second & HIGH != 0 { 4 } else { 0 };
        let mut data = bytes.get(start..start.checked_add(length)?)?.to_vec();
        for (byte, mask) in data.iter_mut().zip(bytes[head..start].iter().cycle()) {
            *byte ^= mask;
        }
        bytes.drain(..start + length);
        Some(Frame { first, data })
    }

    /// A whole binary message.
    pub(crate) fn binary(data: Vec<u8>) -> Frame {
        Frame {
            first: HIGH | 2,
            data,
        }
    }

    /// Whether it closes the connection.
    pub(crate) fn closes(&self) -> bool {
        self.first & 0x0F == CLOSE
    }

    /// The same frame as a server sends it. A ping becomes a pong.
    pub(crate) fn back(&self) -> Vec<u8> {
        let first = match self.first & 0x0F {
            PING => HIGH | PONG,
            _ => self.first,
        };
        let mut bytes = vec![first];
        match self.data.len() {
            short @ 0..=125 => bytes.push(short as u8),
            middle @ 126..=0xFFFF => {
                bytes.push(126);
                bytes.extend((middle as u16).to_be_bytes());
            }
            long => {
                bytes.push(127);
                bytes.extend((long as u64).to_be_bytes());
            }
        }
        bytes.extend(&self.data);
        bytes
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A masked text frame.
    fn masked(length: usize) -> Vec<u8> {
        let mut bytes = vec![0x81];
        match length {
            0..=125 => bytes.push(HIGH | length as u8),
            126..=0xFFFF => {
                bytes.push(HIGH | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            _ => {
                bytes.push(HIGH | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes.extend((0..length).map(|at| b'x' ^ [1, 2, 3, 4][at % 4]));
        bytes
    }

    #[test]
    fn frames_go_back_unmasked_and_whole() {
        for (length, head) in [
            (0, 2),
            (5, 2),
            (125, 2),
            (126, 4),
            (65_535, 4),
            (65_536, 10),
        ] {
            let whole = masked(length);
            let mut cut = whole[..whole.len() - 1].to_vec();
            assert!(Frame::take(&mut cut).is_none(), "{length}");
            let mut bytes = [&whole[..], b"next"].concat();
            let frame = Frame::take(&mut bytes).expect("it is whole");
            assert_eq!(bytes, b"next");
            let back = frame.back();
            assert_eq!(back.len(), head + length);
            assert!(back[head..].iter().all(|byte| *byte == b'x'), "{length}");
            assert!(!frame.closes());
        }
        let mut ping = vec![0x89, 0x80, 0, 0, 0, 0];
        assert_eq!(
            Frame::take(&mut ping).map(|frame| frame.back()),
            Some(vec![0x8A, 0])
        );
        let mut close = vec![0x88, 0x80, 0, 0, 0, 0];
        assert!(Frame::take(&mut close).is_some_and(|frame| frame.closes()));
    }
}
