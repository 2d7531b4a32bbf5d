//! Frames of HTTP/2 (RFC 9113 sections 4 and 6): their heads, and the frames that a client sends.

/// The length of a frame's head, in bytes.
pub(super) const HEAD_BYTES: usize = 9;
/// The largest payload that servers may send, in bytes: the default of SETTINGS_MAX_FRAME_SIZE.
pub(super) const MAX_PAYLOAD_BYTES: usize = 1 << 14;
/// The first bytes that a client sends (section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames.
pub(super) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(super) mod flag {
    pub const END_STREAM: u8 = 1;
    pub const ACK: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 32;
}

/// Error codes (section 7).
pub(super) mod code {
    pub const NO_ERROR: u32 = 0;
    pub const PROTOCOL_ERROR: u32 = 1;
    pub const FLOW_CONTROL_ERROR: u32 = 3;
    pub const STREAM_CLOSED: u32 = 5;
    pub const FRAME_SIZE_ERROR: u32 = 6;
    pub const REFUSED_STREAM: u32 = 7;
    pub const CANCEL: u32 = 8;
    pub const COMPRESSION_ERROR: u32 = 9;
    pub const ENHANCE_YOUR_CALM: u32 = 11;
}

/// Identifiers of settings (section 6.5.2).
pub(super) mod setting {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// The first nine bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    /// The length of the payload, in bytes.
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    /// The head at the start of `bytes`; `None` if it is incomplete.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = *bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            // The highest bit is reserved.
            stream: u32::from_be_bytes(stream) & 0x7FFF_FFFF,
        })
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload without padding and without the priority of HEADERS; `None` if it is too short for them.
    pub fn content<'p>(&self, payload: &'p [u8]) -> Option<&'p [u8]> {
        const PRIORITY_BYTES: usize = 5;
        let mut content = payload;
        if self.has(flag::PADDED) {
            let (padding, rest) = content.split_first()?;
            content = &rest[..rest.len().checked_sub(usize::from(*padding))?];
        }
        if self.kind == kind::HEADERS && self.has(flag::PRIORITY) {
            content = content.get(PRIORITY_BYTES..)?;
        }
        Some(content)
    }
}

/// The head of a frame.
pub(super) fn head(length: usize, kind: u8, flags: u8, stream: u32) -> [u8; HEAD_BYTES] {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    [a, b, c, kind, flags, s0, s1, s2, s3]
}

/// Appends the head of a frame.
pub(super) fn put_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&head(length, kind, flags, stream));
}

/// Puts heads around the header block that begins at `start`: HEADERS and, if it is longer than `max_bytes`, CONTINUATION.
pub(super) fn frame_block(
    out: &mut Vec<u8>,
    start: usize,
    stream: u32,
    ends_stream: bool,
    max_bytes: usize,
) {
    let is_last = |rest: usize| if rest == 0 { flag::END_HEADERS } else { 0 };
    let end = if ends_stream { flag::END_STREAM } else { 0 };
    let mut at = start;
    loop {
        let rest = out.len() - at;
        let length = rest.min(max_bytes);
        let (kind, flags) = match at == start {
            true => (kind::HEADERS, is_last(rest - length) | end),
            false => (kind::CONTINUATION, is_last(rest - length)),
        };
        out.splice(at..at, head(length, kind, flags, stream));
        at += HEAD_BYTES + length;
        if at == out.len() {
            return;
        }
    }
}

/// Appends SETTINGS.
pub(super) fn put_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    put_head(out, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (identifier, value) in settings {
        out.extend_from_slice(&identifier.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends RST_STREAM.
pub(super) fn put_reset(out: &mut Vec<u8>, stream: u32, code: u32) {
    put_head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.to_be_bytes());
}

/// Appends GOAWAY of a client that has accepted no streams of the server.
pub(super) fn put_goaway(out: &mut Vec<u8>, code: u32) {
    put_head(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&code.to_be_bytes());
}

/// Appends WINDOW_UPDATE.
pub(super) fn put_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    put_head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&increment.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_block_continues_in_other_frames() {
        let mut out = b"-abcde".to_vec();
        frame_block(&mut out, 1, 5, true, 2);
        let mut frames = Vec::new();
        let mut rest = &out[1..];
        while let Some(head) = FrameHead::read(rest) {
            let (payload, after) = rest[HEAD_BYTES..].split_at(head.length);
            frames.push((head.kind, head.flags, head.stream, payload));
            rest = after;
        }
        let expected: [(u8, u8, u32, &[u8]); 3] = [
            (kind::HEADERS, flag::END_STREAM, 5, b"ab"),
            (kind::CONTINUATION, 0, 5, b"cd"),
            (kind::CONTINUATION, flag::END_HEADERS, 5, b"e"),
        ];
        assert_eq!(frames, expected);
    }

    #[test]
    fn padding_and_priority_are_no_content() {
        let head = |flags| FrameHead {
            length: 0,
            kind: kind::HEADERS,
            flags,
            stream: 1,
        };
        let both = flag::PADDED | flag::PRIORITY;
        assert_eq!(head(0).content(b"ab"), Some(&b"ab"[..]));
        assert_eq!(head(flag::PADDED).content(b"\x01ab"), Some(&b"a"[..]));
        assert_eq!(head(both).content(b"\x01prioxab"), Some(&b"a"[..]));
        for (flags, payload) in [
            (flag::PADDED, &b""[..]),
            (flag::PADDED, b"\x03ab"),
            (flag::PRIORITY, b"prio"),
        ] {
            assert_eq!(head(flags).content(payload), None);
        }
    }
}
