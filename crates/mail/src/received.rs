//! A mail or a part that was read, with its content as JavaMail gives it (`MimeMessage#getContent`, `MimeMultipart#parse`).

use drumfire_java::Exception;
use drumfire_java::text::trim;

use crate::encoding::decode;
use crate::headers::{Headers, take_line};
use crate::latin::one_char_each;
use crate::parameters::Parameters;
use crate::words::find_charset;

/// Parts may stand in parts this deep; deeper ones are bytes.
const MAX_DEPTH: usize = 32;
/// The most parts of a content; the bytes after them belong to the last one.
const MAX_PARTS: usize = 100_000;

/// A mail or a part.
#[derive(Debug, Clone)]
pub struct Received<'m> {
    /// Its header.
    pub headers: Headers,
    body: &'m [u8],
    depth: usize,
}

/// The content of a mail or of a part.
#[derive(Debug)]
pub enum ReceivedContent<'m> {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Parts<'m>),
    /// Decoded bytes, and the Java class of the stream or of the mail that they are.
    Bytes(Vec<u8>, &'static str),
}

/// The parts of a content.
#[derive(Debug)]
pub struct Parts<'m> {
    /// The text in front of the first part, which is rare.
    pub preamble: Option<String>,
    /// The parts.
    pub parts: Vec<Received<'m>>,
}

impl<'m> Received<'m> {
    /// A mail from its bytes.
    pub fn read(bytes: &'m [u8]) -> Received<'m> {
        let (headers, body) = Headers::read(bytes);
        Received::of(headers, &bytes[body..])
    }

    /// A mail from its header and its body.
    pub fn of(headers: Headers, body: &'m [u8]) -> Received<'m> {
        let depth = 0;
        Received {
            headers,
            body,
            depth,
        }
    }

    /// The value of `Content-Type`.
    pub fn content_type(&self) -> &str {
        self.headers.get("Content-Type").unwrap_or("text/plain")
    }

    /// Whether it says that it is an attachment.
    pub fn is_attached(&self) -> bool {
        let value = self.headers.get("Content-Disposition");
        value
            .and_then(Parameters::parse)
            .is_some_and(|value| value.value == "attachment")
    }

    /// The boundary of its parts.
    pub fn boundary(&self) -> Option<String> {
        let kind = Parameters::parse(self.content_type())?;
        kind.get("boundary").map(str::to_owned)
    }

    /// The content.
    ///
    /// # Errors
    /// JavaMail's exception: the content has no parts although it should, or an encoding or a character set is not known.
    pub fn content(&self) -> Result<ReceivedContent<'m>, Exception> {
        let kind = Parameters::parse(self.content_type()).unwrap_or_default();
        let name = kind.value.to_ascii_lowercase();
        if name.starts_with("multipart/") && self.depth < MAX_DEPTH {
            return self.parts(&kind).map(ReceivedContent::Parts);
        }
        let encoding = self.headers.get("Content-Transfer-Encoding").map(trim);
        let bytes = decode(self.body, encoding).map_err(|error| {
            let message = format!("Unknown encoding: {}", error.0);
            Exception::new("javax.mail.MessagingException", message)
        })?;
        if matches!(name.as_str(), "text/plain" | "text/html" | "text/xml") {
            let charset = kind.get("charset").unwrap_or("us-ascii");
            return match find_charset(charset) {
                Some(known) => Ok(ReceivedContent::Text(known.decode(&bytes).into_owned())),
                None => {
                    let class = "java.io.UnsupportedEncodingException";
                    Err(Exception::new(class, charset.to_owned()))
                }
            };
        }
        let class = match encoding.map(str::to_ascii_lowercase).as_deref() {
            _ if name == "message/rfc822" => "javax.mail.internet.MimeMessage",
            Some("base64") => "com.sun.mail.util.BASE64DecoderStream",
            Some("quoted-printable") => "com.sun.mail.util.QPDecoderStream",
            _ => "javax.mail.util.SharedByteArrayInputStream",
        };
        Ok(ReceivedContent::Bytes(bytes.into_owned(), class))
    }

    /// Checks that parts, and parts in parts, can be told apart.
    ///
    /// # Errors
    /// JavaMail's exception.
    pub fn check_parts(&self) -> Result<(), Exception> {
        let kind = Parameters::parse(self.content_type()).unwrap_or_default();
        let is_cut = kind.value.to_ascii_lowercase().starts_with("multipart/");
        if !is_cut || self.depth >= MAX_DEPTH {
            return Ok(());
        }
        let parts = self.parts(&kind)?.parts;
        parts.iter().try_for_each(Received::check_parts)
    }

    /// Cuts the body at its boundary. Without a boundary in the header, the first line that begins with two hyphens is one.
    fn parts(&self, kind: &Parameters) -> Result<Parts<'m>, Exception> {
        let mut boundary = kind
            .get("boundary")
            .map(|text| format!("--{text}").into_bytes());
        let mut preamble = String::new();
        let mut at = 0;
        loop {
            if at >= self.body.len() {
                let class = "javax.mail.MessagingException";
                return Err(Exception::new(class, "Missing start boundary"));
            }
            let (line, next) = take_line(self.body, at);
            at = next;
            let end = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
            let line = &line[..end.map(|end| end + 1).unwrap_or(0)];
            match &boundary {
                Some(boundary) if line == *boundary => break,
                None if line.len() > 2 && line.starts_with(b"--") => {
                    boundary = Some(line.to_vec());
                    break;
                }
                _ if line.is_empty() => {}
                _ => {
                    preamble.push_str(&one_char_each(line));
                    preamble.push('\n');
                }
            }
        }
        let boundary = boundary.unwrap_or_default();
        Ok(Parts {
            preamble: (!preamble.is_empty()).then_some(preamble),
            parts: self.cut(&boundary, at),
        })
    }

    /// The parts from the first one on, which begins at `at`. A missing end is none.
    fn cut(&self, boundary: &[u8], at: usize) -> Vec<Received<'m>> {
        let mut parts = Vec::new();
        let mut start = at;
        let finder = memchr::memmem::Finder::new(boundary);
        let mut search = at;
        while parts.len() + 1 < MAX_PARTS
            && let Some(offset) = finder.find(&self.body[search..])
        {
            let mark = search + offset;
            search = mark + boundary.len();
            let begins_line = mark == start || matches!(self.body[mark - 1], b'\r' | b'\n');
            let rest = &self.body[search..];
            let is_last = rest.starts_with(b"--");
            let (tail, next) = take_line(self.body, search);
            if !begins_line || !(is_last || tail.trim_ascii().is_empty()) {
                continue;
            }
            parts.push(self.part(&self.body[start..line_end_before(self.body, start, mark)]));
            if is_last {
                return parts;
            }
            start = next;
            search = next;
        }
        if start < self.body.len() {
            parts.push(self.part(&self.body[start..]));
        }
        parts
    }

    fn part(&self, bytes: &'m [u8]) -> Received<'m> {
        Received {
            depth: self.depth + 1,
            ..Received::read(bytes)
        }
    }
}

/// The place in front of the line break before `mark`.
fn line_end_before(body: &[u8], start: usize, mark: usize) -> usize {
    let before = &body[start..mark];
    let length = if before.ends_with(b"\r\n") {
        2
    } else {
        usize::from(before.ends_with(b"\n") || before.ends_with(b"\r"))
    };
    mark - length
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &[u8] = b"Content-Type: multipart/mixed; boundary=b\r\n\r\nhello\r\n--b\r\n\r\none --b\r\n\r\n--b\r\n\
        Content-Type: multipart/alternative; boundary=\"c d\"\r\n\r\n--c d \r\nContent-Type: text/html; charset=utf-8\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nw6k=\r\n--c d--\r\n--b\r\nContent-Type: image/png\r\n\
        Content-Disposition: attachment; filename=x\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\nafter";

    #[test]
    fn parts_are_cut_and_decoded() {
        let mail = Received::read(MAIL);
        let Ok(ReceivedContent::Parts(Parts { preamble, parts })) = mail.content() else {
            panic!("it has parts");
        };
        assert_eq!(preamble.as_deref(), Some("hello\n"));
        assert_eq!(parts.len(), 3);
        let text = |part: &Received| match part.content() {
            Ok(ReceivedContent::Text(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(&parts[0]), "one --b\r\n");
        let Ok(ReceivedContent::Parts(inner)) = parts[1].content() else {
            panic!("it has parts");
        };
        assert_eq!(text(&inner.parts[0]), "\u{e9}");
        assert!(parts[2].is_attached());
        let bytes = parts[2].content().expect("it can be decoded");
        assert!(
            matches!(bytes, ReceivedContent::Bytes(bytes, "com.sun.mail.util.BASE64DecoderStream") if bytes == [0, 1, 2])
        );
    }

    #[test]
    fn faults_are_exceptions_and_deep_mails_end() {
        let fault = |mail: &[u8]| {
            let fault = Received::read(mail)
                .content()
                .map(|_| ())
                .expect_err("it is wrong");
            fault.to_string()
        };
        assert_eq!(
            fault(b"Content-Type: multipart/mixed; boundary=b\n\nx"),
            "javax.mail.MessagingException: Missing start boundary"
        );
        assert_eq!(
            fault(b"Content-Type: text/plain; charset=no-such\n\nx"),
            "java.io.UnsupportedEncodingException: no-such"
        );
        assert_eq!(
            fault(b"Content-Transfer-Encoding: x-own\n\nx"),
            "javax.mail.MessagingException: Unknown encoding: x-own"
        );
        let mut nested = Vec::new();
        for n in 0..1000 {
            let head = format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
            nested.extend_from_slice(head.as_bytes());
        }
        let mut depth = 0;
        let mut part = Received::read(&nested);
        while let Ok(ReceivedContent::Parts(mut parts)) = part.content() {
            depth += 1;
            part = parts.parts.remove(0);
        }
        assert_eq!(depth, MAX_DEPTH);
        let many = "Content-Type: multipart/mixed; boundary=b\n\n".to_owned()
            + &"--b\n\n".repeat(MAX_PARTS + 10);
        let content = Received::read(many.as_bytes()).content();
        let Ok(ReceivedContent::Parts(parts)) = content else {
            panic!("it has parts");
        };
        assert_eq!(parts.parts.len(), MAX_PARTS);
    }
}
