//! Frames as the plugin shows them (`Frame` and its subclasses, `BinaryUtils`).

use drumfire_http::{Frame, Opcode};

/// How many bytes of a binary frame are shown.
const SHOWN_BYTES: usize = 16;

/// `getTypeAsString`.
pub(super) fn kind(frame: &Frame) -> &'static str {
    match (frame.opcode, frame.is_final) {
        (Opcode::Text, true) => "text",
        (Opcode::Text, false) => "non-final text",
        (Opcode::Binary, true) => "binary",
        (Opcode::Binary, false) => "non-final binary",
        (Opcode::Continuation, true) => "final continuation",
        (Opcode::Continuation, false) => "continuation",
        (Opcode::Close, _) => "close",
        (Opcode::Ping, _) => "ping",
        (Opcode::Pong, _) => "pong",
        (Opcode::Other(_), _) => "unknown",
    }
}

/// `toString`. `is_binary` says whether the frame's message is binary, since a fragment does not.
pub(super) fn shown(frame: &Frame, is_binary: bool) -> String {
    let payload = &frame.payload;
    let data = |name: &str| match payload.as_slice() {
        [] => format!("{name} frame with no application data"),
        data => format!(
            "{name} frame with application data '{}'",
            String::from_utf8_lossy(data)
        ),
    };
    match frame.opcode {
        Opcode::Ping => data("Ping"),
        Opcode::Pong => data("Pong"),
        Opcode::Close => {
            let close = CloseReason::of(payload);
            let status = close
                .status
                .map(|status| status.to_string())
                .unwrap_or("null".to_owned());
            let reason = close.reason.as_deref().unwrap_or("null");
            format!("Close frame with status code {status} and close reason '{reason}'")
        }
        _ if is_binary && payload.is_empty() => "Binary frame, empty payload".to_owned(),
        _ if is_binary => format!(
            "Binary frame, payload (length {}): {}",
            payload.len(),
            hexadecimal(payload, SHOWN_BYTES, " ...")
        ),
        _ => format!(
            "Text frame with text '{}'",
            String::from_utf8_lossy(payload)
        ),
    }
}

/// Bytes of a frame's head and of its payload. A payload that was inflated counts at most as the bytes that were received.
pub(super) fn sizes(frame: &Frame) -> (u64, u64) {
    let payload_bytes = (frame.payload.len() as u64).min(frame.wire_bytes);
    (frame.wire_bytes - payload_bytes, payload_bytes)
}

/// The reason of a close frame.
pub(super) struct CloseReason {
    pub status: Option<i32>,
    pub reason: Option<String>,
}

impl CloseReason {
    /// Reads a close frame's payload. The first byte has a sign, as in Java.
    pub fn of(payload: &[u8]) -> CloseReason {
        let (status, reason) = match payload {
            [first, second, reason @ ..] => {
                let status = (i32::from(*first as i8) << 8) | i32::from(*second);
                (Some(status), reason)
            }
            _ => (None, &[][..]),
        };
        CloseReason {
            status,
            reason: (!reason.is_empty()).then(|| String::from_utf8_lossy(reason).into_owned()),
        }
    }
}

/// `BinaryUtils#formatBinary`: the first bytes, and `suffix` if there are more.
pub(super) fn hexadecimal(bytes: &[u8], most: usize, suffix: &str) -> String {
    let shown: Vec<String> = bytes
        .iter()
        .take(most)
        .map(|byte| format!("{byte:#04x}"))
        .collect();
    let mut text = shown.join(" ");
    if bytes.len() > most {
        text.push_str(suffix);
    }
    text
}

/// `BinaryUtils#parseBinaryString`: hexadecimal digits, two per byte, with optional blanks and `0x`. `None` if a part is not
/// a number.
pub(super) fn parse_binary(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if text.trim().is_empty() {
        return Some(bytes);
    }
    // `String#split` drops empty parts only at the end; an empty part elsewhere adds nothing.
    for part in text.split(' ') {
        if let Some(digits) = part.strip_prefix("0x") {
            bytes.push(u32::from_str_radix(digits, 16).ok()? as u8);
            continue;
        }
        if !part.is_ascii() {
            return None;
        }
        for pair in part.as_bytes().chunks(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            bytes.push(i32::from_str_radix(pair, 16).ok()? as u8);
        }
    }
    Some(bytes)
}

/// `BinaryUtils#contains`; an empty value is never contained.
pub(super) fn contains(source: &[u8], value: &[u8]) -> bool {
    !value.is_empty() && source.windows(value.len()).any(|window| window == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(opcode: Opcode, payload: &[u8]) -> Frame {
        Frame {
            opcode,
            is_final: true,
            is_compressed: false,
            payload: payload.to_vec(),
            wire_bytes: 0,
        }
    }

    #[test]
    fn frames_in_words() {
        let text = shown(&frame(Opcode::Text, "hé".as_bytes()), false);
        assert_eq!(text, "Text frame with text 'hé'");
        let many: Vec<u8> = (0..17).collect();
        let expected = "Binary frame, payload (length 17): 0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 \
            0x08 0x09 0x0a 0x0b 0x0c 0x0d 0x0e 0x0f ...";
        assert_eq!(shown(&frame(Opcode::Binary, &many), true), expected);
        let empty = shown(&frame(Opcode::Ping, b""), false);
        assert_eq!(empty, "Ping frame with no application data");
        let pong = shown(&frame(Opcode::Pong, b"x"), false);
        assert_eq!(pong, "Pong frame with application data 'x'");
        let close = shown(&frame(Opcode::Close, b"\x03\xe8bye"), false);
        assert_eq!(
            close,
            "Close frame with status code 1000 and close reason 'bye'"
        );
        let bare = shown(&frame(Opcode::Close, b""), false);
        assert_eq!(
            bare,
            "Close frame with status code null and close reason 'null'"
        );
        let mut part = frame(Opcode::Text, b"x");
        part.is_final = false;
        assert_eq!(kind(&part), "non-final text");
    }

    #[test]
    fn binary_data_as_it_is_written_in_plans() {
        let expected = Some(vec![0xca, 0xfe, 0xba, 0xbe]);
        for text in [
            "cafebabe",
            "ca fe ba be",
            "0xca 0xfe 0xba 0xbe",
            "0xca feba be ",
        ] {
            assert_eq!(parse_binary(text), expected, "{text}");
        }
        assert_eq!(parse_binary(" "), Some(Vec::new()));
        assert_eq!(parse_binary("abc"), Some(vec![0xab, 0x0c]));
        assert_eq!(parse_binary("xy"), None);
        assert!(contains(b"abc", b"bc") && !contains(b"abc", b"") && !contains(b"a", b"ab"));
    }
}
