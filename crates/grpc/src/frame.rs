//! Messages on the wire: a flag for compression, a length of 4 bytes, the message.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::status::{Code, Status};

/// The bytes in front of each message.
pub const PREFIX_BYTES: usize = 5;

/// Appends a message with its prefix.
pub fn put_frame(out: &mut Vec<u8>, message: &[u8]) {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    out.push(0);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(message);
}

/// The messages of complete frames without compression. What is left of the bytes is ignored.
pub fn messages_of(frames: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = frames;
    std::iter::from_fn(move || {
        let (prefix, after) = rest.split_first_chunk::<PREFIX_BYTES>()?;
        let [_, length @ ..] = *prefix;
        let (message, after) = after.split_at_checked(u32::from_be_bytes(length) as usize)?;
        rest = after;
        Some(message)
    })
}

/// Takes a message, with the length of the body at which its frame ends.
pub type Take<'t> = &'t mut dyn FnMut(&[u8], usize);

/// How compressed messages are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
}

/// Takes the messages out of a body. Fails as `MessageDeframer` does. Returns the content of a frame with the flag `end`, which
/// ends the body.
pub(crate) fn messages<'b>(
    mut body: &'b [u8],
    encoding: Encoding,
    max_bytes: u32,
    end: Option<u8>,
    take: Take<'_>,
) -> Result<Option<&'b [u8]>, Status> {
    let length_of_all = body.len();
    while !body.is_empty() {
        let Some((prefix, rest)) = body.split_first_chunk::<PREFIX_BYTES>() else {
            return Err(truncated());
        };
        let [flag, length @ ..] = *prefix;
        let length = u32::from_be_bytes(length);
        let is_end = end == Some(flag);
        if flag > 1 && !is_end {
            let text = "gRPC frame header malformed: reserved bits not zero";
            return Err(Status::new(Code::INTERNAL, text));
        }
        if length > max_bytes {
            // Java shows a length beyond its `int` as a negative number.
            let text = format!(
                "gRPC message exceeds maximum size {max_bytes}: {}",
                length as i32
            );
            return Err(Status::new(Code::RESOURCE_EXHAUSTED, text));
        }
        let Some((message, rest)) = rest.split_at_checked(length as usize) else {
            return Err(truncated());
        };
        if is_end {
            return Ok(Some(message));
        }
        let end = length_of_all - rest.len();
        match (flag, encoding) {
            (0, _) => take(message, end),
            (_, Encoding::Gzip) => take(&inflate(message, max_bytes)?, end),
            (_, Encoding::Identity) => {
                let text = "Can't decode compressed gRPC message as compression not configured";
                return Err(Status::new(Code::INTERNAL, text));
            }
        }
        body = rest;
    }
    Ok(None)
}

fn inflate(message: &[u8], max_bytes: u32) -> Result<Vec<u8>, Status> {
    let mut plain = Vec::new();
    let limit = u64::from(max_bytes) + 1;
    let read = GzDecoder::new(message).take(limit).read_to_end(&mut plain);
    // The client gives a call up whose message it cannot read, or that is too large when inflated.
    if read.is_err() || plain.len() as u64 == limit {
        return Err(Status::new(Code::CANCELLED, "Failed to read message."));
    }
    Ok(plain)
}

fn truncated() -> Status {
    Status::new(Code::INTERNAL, "Encountered end-of-stream mid-frame")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn all(body: &[u8], encoding: Encoding) -> Result<Vec<Vec<u8>>, Status> {
        let mut found = Vec::new();
        messages(body, encoding, 100, None, &mut |message, _| {
            found.push(message.to_vec())
        })?;
        Ok(found)
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).expect("memory");
        encoder.finish().expect("memory")
    }

    fn compressed(plain: &[u8]) -> Vec<u8> {
        let packed = gzip(plain);
        let mut body = Vec::new();
        put_frame(&mut body, &packed);
        body[0] = 1;
        body
    }

    #[test]
    fn messages_survive_their_frames() {
        let mut body = Vec::new();
        for message in [&b"one"[..], b"", b"three"] {
            put_frame(&mut body, message);
        }
        let expected = [b"one".to_vec(), Vec::new(), b"three".to_vec()];
        assert_eq!(all(&body, Encoding::Identity), Ok(expected.to_vec()));
        body.extend(compressed(b"four"));
        assert_eq!(all(&body, Encoding::Gzip).expect("messages").len(), 4);
    }

    #[test]
    fn damaged_and_large_messages_fail_as_in_java() {
        let fault = |body: &[u8], encoding| {
            let status = all(body, encoding).expect_err("a fault");
            (
                status.code,
                status.description.unwrap_or_default().into_string(),
            )
        };
        let text = "gRPC message exceeds maximum size 100: 101";
        let large = [&[0, 0, 0, 0, 101][..], &[0; 101]].concat();
        assert_eq!(
            fault(&large, Encoding::Identity),
            (Code::RESOURCE_EXHAUSTED, text.to_owned())
        );
        let text = "Encountered end-of-stream mid-frame";
        assert_eq!(
            fault(&[0, 0], Encoding::Identity),
            (Code::INTERNAL, text.to_owned())
        );
        assert_eq!(fault(&[0, 0, 0, 0, 2, 1], Encoding::Identity).1, text);
        assert_eq!(
            fault(&[2, 0, 0, 0, 0], Encoding::Identity).0,
            Code::INTERNAL
        );
        assert_eq!(
            fault(&compressed(b"x"), Encoding::Identity).0,
            Code::INTERNAL
        );
        assert_eq!(
            fault(&compressed(&[0; 101]), Encoding::Gzip).0,
            Code::CANCELLED
        );
        assert_eq!(
            fault(&[1, 0, 0, 0, 1, 9], Encoding::Gzip).0,
            Code::CANCELLED
        );
    }
}
