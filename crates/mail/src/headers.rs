//! The header of a mail or of a part, in JavaMail's order (`InternetHeaders`).

use crate::latin::{low_bytes, one_char_each};

/// The places of well-known headers in a new mail. New ones go to the colon.
const PLACES: [&str; 30] = [
    "Return-Path",
    "Received",
    "Resent-Date",
    "Resent-From",
    "Resent-Sender",
    "Resent-To",
    "Resent-Cc",
    "Resent-Bcc",
    "Resent-Message-Id",
    "Date",
    "From",
    "Sender",
    "Reply-To",
    "To",
    "Cc",
    "Bcc",
    "Message-Id",
    "In-Reply-To",
    "References",
    "Subject",
    "Comments",
    "Keywords",
    "Errors-To",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
    "Content-MD5",
    ":",
    "Content-Length",
    "Status",
];

#[derive(Debug, Clone)]
struct Header {
    name: String,
    /// The whole line without its end; `None` keeps a place.
    line: Option<String>,
}

impl Header {
    fn value(&self) -> Option<&str> {
        let line = self.line.as_deref()?;
        let value = line.split_once(':').map(|(_, value)| value).unwrap_or(line);
        Some(value.trim_start_matches([' ', '\t', '\r', '\n']))
    }
}

/// The header of a mail or of a part.
#[derive(Debug, Clone)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// The empty header of a new mail.
    pub fn new() -> Headers {
        Headers(
            PLACES
                .iter()
                .map(|name| Header {
                    name: (*name).to_owned(),
                    line: None,
                })
                .collect(),
        )
    }

    /// Reads a header, and returns it with the offset of what follows its empty line.
    pub fn read(bytes: &[u8]) -> (Headers, usize) {
        let mut all: Vec<Header> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (line, next) = take_line(bytes, at);
            at = next;
            if line.is_empty() {
                break;
            }
            let text = one_char_each(line);
            match (text.starts_with([' ', '\t']), all.last_mut()) {
                (
                    true,
                    Some(Header {
                        line: Some(before), ..
                    }),
                ) => {
                    before.push_str("\r\n");
                    before.push_str(&text);
                }
                (true, _) => {}
                (false, _) => {
                    let name = text.split_once(':').map(|(name, _)| name).unwrap_or(&*text);
                    all.push(Header {
                        name: drumfire_java::text::trim(name).to_owned(),
                        line: Some(text),
                    });
                }
            }
        }
        (Headers(all), at)
    }

    /// Replaces the headers of a name (`setHeader`).
    pub fn set(&mut self, name: &str, value: &str) {
        let mut is_found = false;
        self.0.retain_mut(|header| {
            if !header.name.eq_ignore_ascii_case(name) {
                return true;
            }
            if is_found {
                return false;
            }
            is_found = true;
            let name = match &header.line {
                Some(line) => line.split_once(':').map(|(name, _)| name).unwrap_or(name),
                None => name,
            };
            header.line = Some(format!("{name}: {value}"));
            true
        });
        if !is_found {
            self.add(name, value);
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        let is_first = ["Received", "Return-Path"]
            .iter()
            .any(|first| first.eq_ignore_ascii_case(name));
        let marker = self.0.iter().position(|header| header.name == ":");
        let at = if is_first {
            0
        } else {
            marker.unwrap_or(self.0.len())
        };
        let header = Header {
            name: name.to_owned(),
            line: Some(format!("{name}: {value}")),
        };
        self.0.insert(at, header);
    }

    /// Removes the headers of a name (`removeHeader`).
    pub fn remove(&mut self, name: &str) {
        for header in &mut self.0 {
            if header.name.eq_ignore_ascii_case(name) {
                header.line = None;
            }
        }
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case(name))
            .find_map(Header::value)
    }

    /// All values of a name.
    pub fn values<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        self.0
            .iter()
            .filter(move |header| header.name.eq_ignore_ascii_case(name))
            .filter_map(Header::value)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let shown = |header: &'_ Header| header.line.is_some();
        self.0
            .iter()
            .filter(move |header| shown(header))
            .map(|header| (header.name.as_str(), header.value().unwrap_or_default()))
    }

    /// Writes the lines and the empty line, but not the headers with these names.
    pub fn write(&self, without: &[&str], out: &mut Vec<u8>) {
        for header in &self.0 {
            let is_left_out = without
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&header.name));
            if let (false, Some(line)) = (is_left_out, &header.line) {
                out.extend_from_slice(&low_bytes(line));
                out.extend_from_slice(b"\r\n");
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl Default for Headers {
    fn default() -> Headers {
        Headers::new()
    }
}

/// A line without its end (CR, LF or CR LF), and the offset of the next one.
pub fn take_line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    match memchr::memchr2(b'\r', b'\n', &bytes[at..]) {
        None => (&bytes[at..], bytes.len()),
        Some(length) => {
            let end = at + length;
            let is_pair = bytes[end..].starts_with(b"\r\n");
            (&bytes[at..end], end + if is_pair { 2 } else { 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(headers: &Headers) -> String {
        let mut out = Vec::new();
        headers.write(&["Bcc"], &mut out);
        one_char_each(&out)
    }

    #[test]
    fn new_headers_stand_in_the_order_of_javamail() {
        let mut headers = Headers::new();
        for (name, value) in [
            ("X-Own", "1"),
            ("Subject", "s"),
            ("Bcc", "hidden"),
            ("From", "f"),
            ("Content-Type", "text/plain"),
            ("subject", "over"),
            ("X-U", "\u{e9}\u{65e5}"),
        ] {
            headers.set(name, value);
        }
        let expected = "From: f\r\nSubject: over\r\nContent-Type: text/plain\r\nX-Own: 1\r\nX-U: \u{e9}\u{e5}\r\n\r\n";
        assert_eq!(written(&headers), expected);
        headers.remove("subject");
        assert_eq!(headers.get("Subject"), None);
    }

    #[test]
    fn headers_that_were_read_keep_their_order_and_spelling() {
        let text = b"to:  a\r\nSUBJECT: x\r\n folded\r\nto: b\n\nBody";
        let (mut headers, body) = Headers::read(text);
        assert_eq!(&text[body..], b"Body");
        assert_eq!(headers.get("Subject"), Some("x\r\n folded"));
        assert_eq!(headers.values("To").collect::<Vec<_>>(), ["a", "b"]);
        headers.set("To", "c");
        headers.set("X-New", "n");
        assert_eq!(
            written(&headers),
            "to: c\r\nSUBJECT: x\r\n folded\r\nX-New: n\r\n\r\n"
        );
    }
}
