//! Describes a response as a JMeter result does: header text, sizes, content type and outcome.

use std::borrow::Cow;

use drumfire_java::charset::decode_latin1;

/// The head of a response, parsed as in HttpClient (`BasicLineParser`, `AbstractMessageParser`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead<'a> {
    version: &'a [u8],
    /// The status code.
    pub status: u16,
    reason: &'a [u8],
    /// Header lines; folded ones are already joined.
    lines: Vec<Cow<'a, [u8]>>,
}

fn trim_blanks(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes {
        if !blank(*first) {
            break;
        }
        bytes = rest;
    }
    while let [rest @ .., last] = bytes {
        if !blank(*last) {
            break;
        }
        bytes = rest;
    }
    bytes
}

fn blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

impl<'a> ResponseHead<'a> {
    /// Parses the bytes of a head, starting with the status line; the empty line at the end may be missing.
    ///
    /// `None` means that HttpClient would refuse it (`ClientProtocolException`): a bad status line, or a header without
    /// colon or name.
    pub fn parse(head: &'a [u8]) -> Option<Self> {
        let mut rows = head
            .split(|b| *b == b'\n')
            .map(|row| row.strip_suffix(b"\r").unwrap_or(row));
        let status_line = trim_blanks(rows.next()?);
        if !status_line.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
            return None;
        }
        let space = status_line.iter().position(|b| *b == b' ')?;
        let (version, rest) = status_line.split_at(space);
        let rest = trim_blanks(rest);
        let end = rest.iter().position(|b| *b == b' ').unwrap_or(rest.len());
        let status = std::str::from_utf8(&rest[..end]).ok()?;
        let status = if status.bytes().all(|b| b.is_ascii_digit()) {
            status.parse().ok()?
        } else {
            return None;
        };
        let reason = trim_blanks(&rest[end..]);
        let mut lines: Vec<Cow<'a, [u8]>> = Vec::new();
        for row in rows.take_while(|row| !row.is_empty()) {
            let folded = matches!(row.first(), Some(b' ' | b'\t'));
            match lines.last_mut() {
                Some(last) if folded => {
                    let skipped = row.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                    let last = last.to_mut();
                    last.push(b' ');
                    last.extend_from_slice(&row[skipped..]);
                }
                _ => lines.push(Cow::Borrowed(row)),
            }
        }
        let named = |line: &Cow<'_, [u8]>| {
            let colon = line.iter().position(|b| *b == b':');
            colon.is_some_and(|at| !trim_blanks(&line[..at]).is_empty())
        };
        lines.iter().all(named).then_some(Self {
            version,
            status,
            reason,
            lines,
        })
    }

    /// The reason phrase, which is the response message of the result; empty if there is none.
    pub fn reason(&self) -> Cow<'a, str> {
        decode_latin1(self.reason)
    }

    /// The values of all headers with this name, in order, without surrounding blanks.
    pub fn values<'s>(&'s self, name: &'s str) -> impl DoubleEndedIterator<Item = Cow<'s, str>> {
        self.lines.iter().filter_map(move |line| {
            let colon = line.iter().position(|b| *b == b':')?;
            let matches = trim_blanks(&line[..colon]).eq_ignore_ascii_case(name.as_bytes());
            matches.then(|| decode_latin1(trim_blanks(&line[colon + 1..])))
        })
    }

    /// The last header with this name, which JMeter uses for `Content-Type`, `Location` and the caching headers.
    pub fn last(&self, name: &str) -> Option<Cow<'_, str>> {
        self.lines.iter().rev().find_map(|line| {
            let colon = line.iter().position(|b| *b == b':')?;
            let matches = trim_blanks(&line[..colon]).eq_ignore_ascii_case(name.as_bytes());
            matches.then(|| decode_latin1(trim_blanks(&line[colon + 1..])))
        })
    }

    /// The number of headers.
    pub fn header_count(&self) -> usize {
        self.lines.len()
    }

    /// Whether JMeter decompresses the body: whether the first `Content-Encoding` names codings that it knows.
    ///
    /// An unknown coding leaves body and headers unchanged (`ResponseContentEncoding`).
    pub fn is_decompressed(&self) -> bool {
        self.values("Content-Encoding").next().is_some_and(|value| {
            let coding = value
                .split(',')
                .next()
                .unwrap_or("")
                .trim()
                .to_ascii_lowercase();
            matches!(coding.as_str(), "gzip" | "x-gzip" | "deflate" | "br")
        })
    }

    /// Writes the response headers of the result (`HTTPHC4Impl.getResponseHeaders`).
    ///
    /// `has_body` tells whether the response has an entity with a length other than 0. If that entity is decompressed,
    /// `Content-Length`, `Content-Encoding` and `Content-MD5` come last, in that order, because JMeter restores what
    /// HttpClient removed (`HTTPHC4Impl.RESPONSE_CONTENT_ENCODING`).
    pub fn append_text(&self, has_body: bool, out: &mut String) {
        out.push_str(&decode_latin1(self.version));
        out.push_str(&format!(" {} ", self.status));
        out.push_str(&self.reason());
        out.push('\n');
        let moves = has_body && self.is_decompressed();
        for line in &self.lines {
            if !(moves && MOVED.iter().any(|name| is_moved(line, name))) {
                push_line(line, out);
            }
        }
        if moves {
            for name in MOVED {
                // JMeter restores one header per name, since a second one finds the name already present.
                if let Some(line) = self.lines.iter().find(|line| is_moved(line, name)) {
                    push_line(line, out);
                }
            }
        }
    }
}

fn is_moved(line: &[u8], name: &str) -> bool {
    let name_len = line.iter().position(|b| *b == b':').unwrap_or(line.len());
    trim_blanks(&line[..name_len]).eq_ignore_ascii_case(name.as_bytes())
}

const MOVED: [&str; 3] = ["content-length", "content-encoding", "content-md5"];

fn push_line(line: &[u8], out: &mut String) {
    out.push_str(&decode_latin1(line));
    out.push('\n');
}

/// The sizes of a result in bytes (`HTTPHC4Impl.sample`). The header size is computed from the header text, not measured,
/// and the body size is the rest of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// `headersSize`.
    pub headers: i32,
    /// `bodySize`; negative if the computed header size exceeds the received bytes.
    pub body: i64,
}

/// Splits the bytes received for one response; `header_text` is what [`ResponseHead::append_text`] wrote and
/// `header_count` the number of headers in it.
pub fn sizes(received_bytes: u64, header_text: &str, header_count: usize) -> Sizes {
    let chars = if header_text.is_ascii() {
        header_text.len()
    } else {
        header_text.encode_utf16().count()
    };
    let headers = chars + header_count + 1 + 2;
    Sizes {
        headers: i32::try_from(headers).unwrap_or(i32::MAX),
        body: signed(received_bytes) - signed(headers as u64),
    }
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// `HTTPSamplerBase.isSuccessCode`.
pub fn is_success(status: u16) -> bool {
    (200..=399).contains(&status)
}

/// The media type of a content type (`SampleResult.getMediaType`): the part before the first semicolon, in lower case.
pub fn media_type(content_type: &str) -> String {
    content_type
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(head: &[u8], has_body: bool) -> String {
        let mut out = String::new();
        ResponseHead::parse(head)
            .unwrap()
            .append_text(has_body, &mut out);
        out
    }

    #[test]
    fn header_text_is_the_recorded_one() {
        assert_eq!(
            text(
                b"HTTP/1.1 200 OK\r\nX-A: a\r\n  b  \r\n\tc\r\nX-B:   v   \r\nX-C:\r\nx-d :  q\r\nContent-Length:2\r\n\r\n",
                true
            ),
            "HTTP/1.1 200 OK\nX-A: a b   c\nX-B:   v   \nX-C:\nx-d :  q\nContent-Length:2\n"
        );
        assert_eq!(
            text(b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false),
            "HTTP/1.1 200 \nContent-Length: 0\n"
        );
        assert_eq!(
            text(b"HTTP/1.1  404   Not   Found  \r\n\r\n", false),
            "HTTP/1.1 404 Not   Found\n"
        );
        assert_eq!(
            text(b"HTTP/1.1 500 Oops \xe9\r\nX-L: \xe9\xc3\xa9\r\n\r\n", true),
            "HTTP/1.1 500 Oops é\nX-L: éÃ©\n"
        );
    }

    #[test]
    fn decompression_moves_three_headers_to_the_end() {
        let gzip = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 28\r\nX: 1\r\nContent-MD5: q\r\n\r\n";
        assert_eq!(
            text(gzip, true),
            "HTTP/1.1 200 OK\nX: 1\nContent-Length: 28\nContent-Encoding: gzip\nContent-MD5: q\n"
        );
        assert_eq!(
            text(gzip, false),
            "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 28\nX: 1\nContent-MD5: q\n"
        );
        assert_eq!(
            text(
                b"HTTP/1.1 200 OK\r\nContent-Encoding: foo\r\nX: 1\r\n\r\n",
                true
            ),
            "HTTP/1.1 200 OK\nContent-Encoding: foo\nX: 1\n"
        );
    }

    #[test]
    fn broken_heads_are_refused() {
        for head in [
            &b"garbage line\r\n\r\n"[..],
            b"HTTP/1.1 abc OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nNoColonHere\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        ] {
            assert_eq!(ResponseHead::parse(head), None);
        }
    }

    #[test]
    fn the_last_header_counts() {
        let head = ResponseHead::parse(b"HTTP/1.1 200 OK\r\nA: 1\r\na:  2 \r\n\r\n").unwrap();
        assert_eq!(head.last("A").as_deref(), Some("2"));
        assert_eq!(head.values("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((head.header_count(), head.reason()), (2, "OK".into()));
    }

    #[test]
    fn sizes_are_computed_from_the_text() {
        // Recorded: 40 bytes received, including 2 of the body.
        let text = "HTTP/1.1 200 OK\nContent-Length: 2\n";
        assert_eq!(
            sizes(40, text, 1),
            Sizes {
                headers: 38,
                body: 2
            }
        );
    }

    #[test]
    fn a_media_type_has_no_parameters() {
        assert_eq!(media_type("Text/HTML ; x"), "text/html");
    }

    #[test]
    fn success_is_2xx_and_3xx() {
        assert!(is_success(200) && is_success(399) && !is_success(400) && !is_success(199));
    }
}
