//! The opening handshake as the plugin makes it (`WebSocketClient#connect`, `#checkServerResponse`; RFC 6455 section 4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_java::text::spread_hash;
use sha1::{Digest, Sha1};

use super::stop::WebSocketFailure;

/// Headers that the user cannot set (`UPGRADE_HEADERS`).
const OWN: [&str; 5] = [
    "Host",
    "Upgrade",
    "Connection",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
];

/// The request's key.
pub fn nonce(random: [u64; 2]) -> String {
    STANDARD.encode(random.map(u64::to_ne_bytes).as_flattened())
}

/// The request; fails on a header that would break it.
pub fn request(
    host: &str,
    port: u16,
    path: &str,
    headers: &[(String, String)],
    nonce: &str,
) -> Result<Vec<u8>, WebSocketFailure> {
    let mut text = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    for (name, value) in headers {
        if OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            tracing::error!("Ignoring user supplied header '{name}={value}'");
            continue;
        }
        let line = format!("{name}: {value}");
        if line.contains(['\r', '\n']) {
            let text = "java.lang.IllegalArgumentException: Invalid header; contains new line.";
            return Err(WebSocketFailure::Exception(text.to_owned()));
        }
        text.push_str(&line);
        text.push_str("\r\n");
    }
    text.push_str("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ");
    text.push_str(nonce);
    text.push_str("\r\nSec-WebSocket-Version: 13\r\n\r\n");
    Ok(text.into_bytes())
}

/// The headers of a valid answer, sorted by name without regard to case, with the values of one name joined.
#[derive(Debug, PartialEq, Eq)]
pub struct UpgradeHeaders(Vec<(String, String)>);

impl UpgradeHeaders {
    /// Reads the answer's head.
    pub fn read(head: &[u8], nonce: &str) -> Result<UpgradeHeaders, WebSocketFailure> {
        let mut lines = head.split(|byte| *byte == b'\n').map(ascii);
        if head.is_empty() {
            return Err(WebSocketFailure::Io(
                "Empty response; connection closed.".to_owned(),
            ));
        }
        check_status(&lines.next().unwrap_or_default())?;
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in lines {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            let earlier = headers
                .iter_mut()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            match earlier {
                Some((_, values)) => {
                    values.push_str(", ");
                    values.push_str(value);
                }
                None => headers.push((name.to_owned(), value.to_owned())),
            }
        }
        headers.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        let answer = UpgradeHeaders(headers);
        answer.check(nonce)?;
        Ok(answer)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    fn check(&self, nonce: &str) -> Result<(), WebSocketFailure> {
        let wrong = |text: &str| Err(WebSocketFailure::Upgrade(String::new(), text.to_owned()));
        let is = |name, value: &str| {
            self.get(name)
                .is_some_and(|own| own.eq_ignore_ascii_case(value))
        };
        if !is("Upgrade", "websocket") {
            return wrong("Server response should contain 'Upgrade' header with value 'websocket'");
        }
        if !is("Connection", "upgrade") {
            return wrong(
                "Server response should contain 'Connection' header with value 'Upgrade'",
            );
        }
        match self.get("Sec-WebSocket-Accept") {
            None => wrong("Server response should contain 'Sec-WebSocket-Accept' header"),
            Some(accept) if accept == accepted(nonce) => Ok(()),
            Some(_) => wrong("Server response header 'Sec-WebSocket-Accept' has incorrect value."),
        }
    }

    /// As the sample shows it.
    pub fn shown(&self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.join("\n")
    }
}

/// The server's answer to the key.
fn accepted(nonce: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(nonce);
    hash.update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(hash.finalize())
}

/// `HTTP/\d\.\d (\d{3})` at the start of the line.
fn check_status(line: &str) -> Result<(), WebSocketFailure> {
    let bytes = line.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes
            .get(range)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let fits = line.starts_with("HTTP/")
        && digits(5..6)
        && bytes.get(6) == Some(&b'.')
        && digits(7..8)
        && bytes.get(8) == Some(&b' ')
        && digits(9..12);
    if !fits {
        return Err(WebSocketFailure::Io("Invalid status line".to_owned()));
    }
    match &line[9..12] {
        "101" => Ok(()),
        status => Err(WebSocketFailure::Upgrade(
            status.parse::<u16>().unwrap_or_default().to_string(),
            format!(
                "Got unexpected status {} with statusLine:{line}",
                status.parse::<u16>().unwrap_or_default()
            ),
        )),
    }
}

fn ascii(line: &[u8]) -> String {
    line.iter()
        .filter(|byte| **byte != b'\r')
        .map(|byte| {
            if byte.is_ascii() {
                char::from(*byte)
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

/// Brings entries into the order in which a `java.util.HashMap` with these keys gives them.
pub fn order_as_hash_map(map: &mut [(String, String)]) {
    let mut capacity = 16;
    while map.len() > capacity * 3 / 4 {
        capacity *= 2;
    }
    map.sort_by_key(|(name, _)| spread_hash(name) as usize & (capacity - 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn read(head: &str) -> Result<UpgradeHeaders, (String, String)> {
        UpgradeHeaders::read(head.as_bytes(), NONCE).map_err(|stop| match stop {
            WebSocketFailure::Upgrade(code, message) => (code, message),
            WebSocketFailure::Io(message) => ("io".to_owned(), message),
            _ => panic!("neither"),
        })
    }

    /// The key and its answer are those of RFC 6455 section 1.3.
    #[test]
    fn a_good_answer_is_sorted_and_joined() {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUPGRADE: WebSocket\r\nX-B: 1\r\nConnection: upgrade\r\n\
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nx-b: 2\r\n\r\n";
        let shown = read(head).expect("it is good").shown();
        let expected = "Connection: upgrade\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\nUPGRADE: WebSocket\nX-B: 1, 2";
        assert_eq!(shown, expected);
    }

    #[test]
    fn wrong_upgrade_responses_are_refused_with_the_reason() {
        let message = |head: &str| read(head).expect_err("it is not good");
        assert_eq!(message("").1, "Empty response; connection closed.");
        assert_eq!(message("hello\r\n\r\n").1, "Invalid status line");
        let (code, text) = message("HTTP/1.1 404 Not Found\r\n\r\n");
        assert_eq!(code, "404");
        assert_eq!(
            text,
            "Got unexpected status 404 with statusLine:HTTP/1.1 404 Not Found"
        );
        let ok = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\n";
        assert!(message(ok).1.contains("'Connection' header"));
        let (code, text) = message(&format!(
            "{ok}Connection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n"
        ));
        assert!(code.is_empty() && text.ends_with("incorrect value."));
    }

    #[test]
    fn requests_are_those_of_the_plugin() {
        let headers = [("Host", "other"), ("X-A", "1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let Ok(bytes) = request("shop.test", 80, "/chat", &headers, NONCE) else {
            panic!("the headers are good");
        };
        let expected = "GET /chat HTTP/1.1\r\nHost: shop.test:80\r\nX-A: 1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        let bad = [("X".to_owned(), "a\nb".to_owned())];
        assert!(request("h", 80, "/", &bad, NONCE).is_err());
    }

    /// `for (k in new java.util.HashMap(…).keySet())` of Java 17.
    #[test]
    fn the_order_of_a_hash_map() {
        let mut map: Vec<(String, String)> = ["Origin", "Cookie", "User-Agent", "X-A", "Accept"]
            .map(|name| (name.to_owned(), String::new()))
            .to_vec();
        order_as_hash_map(&mut map);
        let names: Vec<&str> = map.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Origin", "Cookie", "Accept", "User-Agent", "X-A"]);
    }
}
