//! Request lines whose target hyper refuses: clients such as curl send `"`, `<`, `>` and others as they are. Browsers encode them.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longer lines are left to hyper, which refuses them.
const LONGEST: usize = 64 << 10;

const METHODS: [&str; 9] = [
    "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS ", "TRACE ", "CONNECT ",
];

/// A client's connection. The characters that hyper refuses are encoded in the targets of its requests.
pub struct Sendable<S> {
    stream: S,
    /// Whether the next bytes are the start of a request, if they look like one: nothing was read yet, or a response was written.
    is_before_line: bool,
    /// The beginning of a request line without its end.
    begun: Vec<u8>,
    /// Bytes that are ready to be read.
    ready: Vec<u8>,
}

impl<S> Sendable<S> {
    pub fn new(stream: S) -> Sendable<S> {
        Sendable {
            stream,
            is_before_line: true,
            begun: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Takes bytes from the client. `is_last` if no more come.
    fn take(&mut self, bytes: &[u8], is_last: bool) {
        if !self.is_before_line {
            return self.ready.extend_from_slice(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let end = self.begun.iter().position(|byte| *byte == b'\n');
        if end.is_none() && !is_last && self.begun.len() < LONGEST && may_begin(&self.begun) {
            return;
        }
        self.is_before_line = false;
        let begun = std::mem::take(&mut self.begun);
        let (line, rest) = begun.split_at(end.unwrap_or(0));
        self.ready.extend(with_sendable_target(line));
        self.ready.extend_from_slice(rest);
    }

    fn give(&mut self, to: &mut ReadBuf<'_>) {
        let count = self.ready.len().min(to.remaining());
        to.put_slice(&self.ready[..count]);
        self.ready.drain(..count);
    }
}

/// Whether the bytes may be the beginning of a request line.
fn may_begin(bytes: &[u8]) -> bool {
    let mut methods = METHODS.iter().map(|method| method.as_bytes());
    methods.any(|method| bytes.starts_with(method) || method.starts_with(bytes))
}

/// The line with an encoded target, if it is a request line.
fn with_sendable_target(line: &[u8]) -> Vec<u8> {
    let is_blank = |byte: &u8| *byte == b' ';
    let (Some(first), Some(last)) = (
        line.iter().position(is_blank),
        line.iter().rposition(is_blank),
    ) else {
        return line.to_vec();
    };
    if !may_begin(line) || first == last || !line[last..].starts_with(b" HTTP/1.") {
        return line.to_vec();
    }
    let mut out = line[..=first].to_vec();
    for byte in &line[first + 1..last] {
        match byte {
            b'"' | b'<' | b'>' | b'`' | 0x80.. => out.extend(format!("%{byte:02X}").bytes()),
            byte => out.push(*byte),
        }
    }
    out.extend_from_slice(&line[last..]);
    out
}

impl<S: AsyncRead + Unpin> AsyncRead for Sendable<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        while self.ready.is_empty() {
            if !self.is_before_line {
                return Pin::new(&mut self.stream).poll_read(cx, to);
            }
            let mut bytes = [0; 8 << 10];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut read))?;
            let is_last = read.filled().is_empty();
            self.take(read.filled(), is_last);
            if is_last {
                break;
            }
        }
        self.give(to);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Sendable<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        // After `100 Continue`, a body comes.
        self.is_before_line |= !bytes.starts_with(b"HTTP/1.1 100");
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(parts: &[&[u8]]) -> String {
        let mut stream = Sendable::new(());
        for part in parts {
            stream.take(part, false);
        }
        stream.take(b"", true);
        String::from_utf8(stream.ready).expect("UTF-8")
    }

    #[test]
    fn targets_are_encoded_whatever_the_parts_in_which_they_come() {
        let whole = "GET http://h/a\"<b>?{c}|`^\\é HTTP/1.1\r\nA: \"<>\"\r\n\r\n";
        let sent = "GET http://h/a%22%3Cb%3E?{c}|%60^\\%C3%A9 HTTP/1.1\r\nA: \"<>\"\r\n\r\n";
        for at in 1..whole.len() {
            let parts = [&whole.as_bytes()[..at], &whole.as_bytes()[at..]];
            assert_eq!(given(&parts), sent, "{at}");
        }
    }

    #[test]
    fn other_bytes_pass_as_they_are() {
        for bytes in [
            "{\"a\": \"<b>\"}\n",
            "GET \"\n",
            "GET /\"",
            "A \" HTTP/2\n",
            "",
        ] {
            assert_eq!(given(&[bytes.as_bytes()]), bytes);
        }
        let mut stream = Sendable::new(());
        stream.take(b"\x81\x05hello", false);
        assert_eq!(stream.ready, b"\x81\x05hello", "no line is waited for");
    }
}
