//! Compressed messages (`permessage-deflate`, RFC 7692), as far as version 1.3 of the plugin reads them (`WebSocketInflater`,
//! `Frame#parseFrame`). The plugin compresses nothing, and offers the extension only if a Header Manager does.

use drumfire_http::{Frame, Opcode};
use flate2::{Decompress, FlushDecompress, Status};

use super::stop::WebSocketFailure;

/// Shown instead of a fragment of text, since only a whole message can be inflated.
const INCOMPLETE: &str =
    "<not showing response data, because it is compressed and at this stage incomplete>";

/// The bytes left out at the end of a message (RFC 7692 section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Java's message for a compressed message if the request did not ask for compression.
const NOBODY: &str = "java.lang.NullPointerException: Cannot invoke \"eu.luminis.websocket.WebSocketInflater.\
    appendCompressedData(byte[], boolean, org.apache.log.Logger)\" because \"webSocketInflater\" is null";

/// The reading side of the extension on one connection.
pub(super) struct Inflater {
    stream: Decompress,
    /// Whether messages refer to earlier ones (context takeover).
    takes_over: bool,
    /// The message whose fragments are arriving.
    message: Vec<u8>,
    /// Longer messages fail.
    max_bytes: u64,
}

/// A frame or message beyond a limit that JMeter does not have.
pub(super) fn too_large(limit: u64) -> String {
    format!("the message exceeds {limit} bytes (drumfire.http.max_body_bytes)")
}

impl Inflater {
    /// An inflater if the headers of the request ask for the extension; the server's answer does not matter
    /// (`WebSocketClient#initializeStreamingInflater`).
    pub fn asked_for(headers: &[(String, String)], max_bytes: u64) -> Option<Inflater> {
        let asked = headers.iter().rev().find(|(name, value)| {
            name.contains("Sec-WebSocket-Extensions") && value.contains("permessage-deflate")
        });
        asked.map(|(_, value)| Inflater {
            stream: Decompress::new(false),
            takes_over: !value.contains("server_no_context_takeover"),
            message: Vec::new(),
            max_bytes,
        })
    }

    fn check(&self, length: usize) -> Result<(), WebSocketFailure> {
        if length as u64 > self.max_bytes {
            Err(WebSocketFailure::Io(too_large(self.max_bytes)))
        } else {
            Ok(())
        }
    }

    /// Inflates the message that ends with this payload.
    fn message(&mut self, payload: &[u8]) -> Result<Vec<u8>, WebSocketFailure> {
        let mut deflated = std::mem::take(&mut self.message);
        deflated.extend_from_slice(payload);
        if self.takes_over {
            deflated.extend_from_slice(&TAIL);
        }
        let mut inflated = Vec::new();
        let begin = self.stream.total_in();
        loop {
            self.check(inflated.len())?;
            inflated.reserve(4096);
            let at = (self.stream.total_in() - begin) as usize;
            let status =
                self.stream
                    .decompress_vec(&deflated[at..], &mut inflated, FlushDecompress::Sync);
            match status {
                Err(error) => {
                    self.stream.reset(false);
                    let cause = error.message().unwrap_or("null");
                    return Err(WebSocketFailure::Exception(format!(
                        "java.lang.RuntimeException: java.util.zip.DataFormatException: {cause}"
                    )));
                }
                Ok(Status::StreamEnd) => break,
                // The input is used up.
                Ok(_) if inflated.len() < inflated.capacity() => break,
                Ok(_) => {}
            }
        }
        if !self.takes_over {
            self.stream.reset(false);
        }
        Ok(inflated)
    }
}

/// Replaces a data frame's compressed payload by the inflated message, if the frame ends it. Returns whether the frame is part
/// of a compressed message; `of_compressed` says so of the frame before, and `in_text` says that the message is text.
pub(super) fn inflate(
    inflater: &mut Option<Inflater>,
    frame: &mut Frame,
    of_compressed: bool,
    in_text: bool,
) -> Result<bool, WebSocketFailure> {
    let is_compressed = match frame.opcode {
        Opcode::Text | Opcode::Binary => frame.is_compressed,
        Opcode::Continuation => of_compressed,
        _ => false,
    };
    if !is_compressed {
        return Ok(false);
    }
    let inflater = inflater
        .as_mut()
        .ok_or_else(|| WebSocketFailure::Exception(NOBODY.to_owned()))?;
    if frame.is_final {
        frame.payload = inflater.message(&frame.payload)?;
    } else {
        inflater.check(inflater.message.len() + frame.payload.len())?;
        inflater.message.append(&mut frame.payload);
        if in_text || frame.opcode == Opcode::Text {
            frame.payload = INCOMPLETE.into();
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflater(value: &str) -> Inflater {
        let header = ("Sec-WebSocket-Extensions".to_owned(), value.to_owned());
        Inflater::asked_for(&[header], 1000).expect("it is asked for")
    }

    fn message(inflater: &mut Inflater, payload: &[u8]) -> String {
        let Ok(message) = inflater.message(payload) else {
            panic!("it can be read");
        };
        String::from_utf8(message).expect("it is text")
    }

    /// RFC 7692 section 7.2.3.
    #[test]
    fn the_examples_of_the_rfc() {
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
        let mut with_context = inflater("permessage-deflate");
        assert_eq!(message(&mut with_context, &hello), "Hello");
        assert_eq!(message(&mut with_context, &again), "Hello");
        let mut without = inflater("permessage-deflate; server_no_context_takeover");
        assert_eq!(message(&mut without, &hello), "Hello");
        assert_eq!(message(&mut without, &hello), "Hello");
        let stored = [
            0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00,
        ];
        assert_eq!(message(&mut with_context, &stored), "Hello");
        let ending = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        assert_eq!(message(&mut without, &ending), "Hello");
        let damaged = without.message(&[0xff; 8]);
        assert!(
            matches!(damaged, Err(WebSocketFailure::Exception(text)) if text.contains("DataFormatException"))
        );
    }

    #[test]
    fn messages_that_grow_too_large_fail() {
        let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
        let mut payload = Vec::with_capacity(4096);
        let zeros = vec![0; 100_000];
        let status = deflate.compress_vec(&zeros, &mut payload, flate2::FlushCompress::Sync);
        status.expect("there is room");
        let bomb = inflater("permessage-deflate").message(&payload);
        assert!(matches!(bomb, Err(WebSocketFailure::Io(text)) if text.contains("max_body_bytes")));
    }

    #[test]
    fn only_a_header_of_the_user_asks_for_it() {
        let asked = |name: &str, value: &str| {
            Inflater::asked_for(&[(name.to_owned(), value.to_owned())], 1000).is_some()
        };
        assert!(asked("Sec-WebSocket-Extensions", "permessage-deflate"));
        assert!(!asked("sec-websocket-extensions", "permessage-deflate"));
        assert!(!asked("Sec-WebSocket-Extensions", "x-webkit-deflate-frame"));
    }

    #[test]
    fn fragments_are_shown_when_the_last_has_come() {
        let mut inflater = Some(inflater("permessage-deflate"));
        let mut show = |opcode, payload: &[u8], is_final, of_compressed| {
            let mut frame = Frame {
                opcode,
                is_final,
                is_compressed: opcode != Opcode::Continuation,
                payload: payload.to_vec(),
                wire_bytes: 2 + payload.len() as u64,
            };
            let Ok(compressed) = inflate(&mut inflater, &mut frame, of_compressed, false) else {
                panic!("it can be read");
            };
            (compressed, frame.payload)
        };
        let first = show(Opcode::Text, &[0xf2, 0x48, 0xcd], false, false);
        assert_eq!(first, (true, INCOMPLETE.into()));
        let last = [0xc9, 0xc9, 0x07, 0x00];
        let last = show(Opcode::Continuation, &last, true, true);
        assert_eq!(last, (true, b"Hello".to_vec()));
        let bytes = show(Opcode::Binary, &[0xf2], false, false);
        assert_eq!(bytes, (true, Vec::new()));
        // A ping between fragments ends the compressed message (`lastFrameWasCompressed`).
        let after_ping = show(Opcode::Continuation, b"x", true, false);
        assert_eq!(after_ping, (false, b"x".to_vec()));
    }
}
