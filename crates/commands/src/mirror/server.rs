//! JMeter's HTTP Mirror Server (`HttpMirrorServer`, `HttpMirrorThread`): it answers each request with the request
//! itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drumfire_probes::ASKS_MIRROR;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// A server that runs until it is dropped.
pub struct Mirror {
    pub address: SocketAddr,
    requests: Arc<AtomicU64>,
    _runtime: Runtime,
}

impl Mirror {
    /// Starts the server. `show` gets the lines that requests ask to print.
    ///
    /// # Errors
    /// If it cannot listen at the address.
    pub fn start(address: SocketAddr, show: fn(&str)) -> io::Result<Mirror> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let requests = Arc::new(AtomicU64::new(0));
        let counter = requests.clone();
        runtime.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let counter = counter.clone();
                        tokio::spawn(async move {
                            if let Err(error) = answer(stream, &counter, show).await {
                                tracing::error!("a request was not answered: {error}");
                            }
                        });
                    }
                    Err(error) => tracing::warn!("a connection was not accepted: {error}"),
                }
            }
        });
        Ok(Mirror {
            address,
            requests,
            _runtime: runtime,
        })
    }
}

impl Mirror {
    /// The requests so far, without those that asked for their number.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// `HttpMirrorThread#run`: answers one request, then closes the connection. Beyond JMeter, a request with [`ASKS_MIRROR`] gets the
/// number of the others.
async fn answer(mut stream: TcpStream, counter: &AtomicU64, show: fn(&str)) -> io::Result<()> {
    let mut request = Vec::new();
    let body = loop {
        if let Some(body) = start_of_body(&request) {
            break Some(body);
        }
        if stream.read_buf(&mut request).await? == 0 {
            break None;
        }
    };
    let text = latin1(&request);
    let Some((first_line, path)) = first_line(&text) else {
        tracing::error!("Invalid request received:'{text}'");
        return Ok(());
    };
    if header(&text, ASKS_MIRROR).is_some() {
        let description = format!(
            "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nrequests {}\n",
            counter.load(Ordering::Relaxed)
        );
        return finish(stream, description.as_bytes()).await;
    }
    counter.fetch_add(1, Ordering::Relaxed);
    let mut parameters = HashMap::new();
    if first_line.starts_with("GET") {
        read_parameters(path, &mut parameters);
    }
    let redirect = parameters
        .get("redirect")
        .map(|location| format!("Location: {location}"));
    if parameters.contains_key("v") {
        show(first_line);
        redirect.iter().for_each(|line| show(line));
    }
    let mut head = head(&text, &parameters, redirect.as_deref());
    let limit = match header(&text, "X-ResponseLength").map(str::parse::<i32>) {
        None => usize::MAX,
        Some(Ok(limit)) => usize::try_from(limit).unwrap_or(usize::MAX),
        // JMeter's thread ends here, and sends what it has written so far.
        Some(Err(_)) => return finish(stream, &bytes(&head)).await,
    };
    if let Some(cookie) = header(&text, "X-SetCookie") {
        head.push_str(&format!("Set-Cookie: {cookie}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&bytes(&head)).await?;
    let length = header(&text, "Content-Length").and_then(|length| length.parse::<usize>().ok());
    if let Some(Ok(sleep_ms)) = header(&text, "X-Sleep").map(str::parse) {
        tokio::time::sleep(Duration::from_millis(sleep_ms)).await;
    }
    stream
        .write_all(&request[..request.len().min(limit)])
        .await?;
    let seen = request.len() - body.unwrap_or(request.len());
    echo(&mut stream, length.unwrap_or(0), seen).await?;
    finish(stream, &[]).await
}

/// Sends back the rest of the body if its length is known, or else only the bytes that have already arrived.
async fn echo(stream: &mut TcpStream, length: usize, mut seen: usize) -> io::Result<()> {
    let mut buffer = vec![0; 8192];
    while seen < length {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..read]).await?;
        seen += read;
    }
    if length > 0 {
        return Ok(());
    }
    while let Ok(read) = stream.try_read(&mut buffer)
        && read > 0
    {
        stream.write_all(&buffer[..read]).await?;
    }
    Ok(())
}

async fn finish(mut stream: TcpStream, rest: &[u8]) -> io::Result<()> {
    stream.write_all(rest).await?;
    stream.shutdown().await
}

/// The status line and the headers, without those that come last.
fn head(request: &str, parameters: &HashMap<String, String>, redirect: Option<&str>) -> String {
    let status = match (parameters.get("status"), redirect) {
        (Some(status), _) => status,
        (None, Some(_)) => "302 Temporary Redirect",
        (None, None) => header(request, "X-ResponseStatus").unwrap_or("200 OK"),
    };
    let mut head = format!("HTTP/1.0 {status}\r\nContent-Type: text/plain\r\n");
    let set = header(request, "X-SetHeaders")
        .unwrap_or_default()
        .trim_end_matches('|'); // String#split
    let more = redirect
        .into_iter()
        .chain(set.split('|').filter(|_| !set.is_empty()));
    for line in more {
        head.push_str(line);
        head.push_str("\r\n");
    }
    head
}

/// The first line, and the path in it.
fn first_line(request: &str) -> Option<(&str, &str)> {
    let line = &request[..request.find('\r')?];
    let mut words = line
        .split(|c: char| c.is_ascii_whitespace() || c == '\u{b}')
        .filter(|word| !word.is_empty());
    words.next()?;
    Some((line, words.next()?))
}

fn start_of_body(request: &[u8]) -> Option<usize> {
    let end = request
        .windows(4)
        .position(|window| window == b"\r\n\r\n")?;
    Some(end + 4)
}

/// The value of a header, found as the expression `^name:\s+([^\r\n]+)` finds it.
fn header<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let mut line = Some(request);
    while let Some(rest) = line {
        if let Some(start) = rest.get(..name.len())
            && start.eq_ignore_ascii_case(name)
            && let Some(value) = rest[name.len()..].strip_prefix(':')
        {
            let trimmed = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
            let end = trimmed.find(['\r', '\n']).unwrap_or(trimmed.len());
            if trimmed.len() < value.len() && end > 0 {
                return Some(&trimmed[..end]);
            }
        }
        line = rest.find('\n').map(|end| &rest[end + 1..]);
    }
    None
}

/// Reads the parameters of a query. A query that `java.net.URI` cannot parse is used undecoded.
fn read_parameters(path: &str, parameters: &mut HashMap<String, String>) {
    let Some((_, raw)) = path.split_once('?') else {
        return;
    };
    let query = match decoded(path) {
        Some(_) => decoded(raw.split('#').next().unwrap_or_default()).unwrap_or_default(),
        None => {
            tracing::warn!("Illegal character in path or query: {path}");
            raw.to_owned()
        }
    };
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        parameters.insert(name.to_owned(), value.to_owned());
    }
}

/// Decodes the escapes in a part of a URL; `None` if a character is not allowed there.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => {
                let digits = std::str::from_utf8(after.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &after[2..];
            }
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0..=32 | 127 => {
                return None;
            }
            byte => bytes.push(*byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn bytes(text: &str) -> Cow<'static, [u8]> {
    text.chars().map(byte).collect()
}

fn byte(c: char) -> u8 {
    u8::try_from(u32::from(c)).unwrap_or(b'?')
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// Sends a request in pieces and returns the answers.
    fn ask(pieces: &[&str]) -> String {
        let mirror = Mirror::start("127.0.0.1:0".parse().unwrap(), |_| {}).unwrap();
        let mut stream = std::net::TcpStream::connect(mirror.address).unwrap();
        for piece in pieces {
            stream.write_all(piece.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(20)); // only to have pieces; any way of cutting gives the same
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The head of the answer, before the request itself.
    fn head_for(request: &str) -> String {
        let answer = ask(&[request]);
        answer
            .strip_suffix(request)
            .expect("the request comes back")
            .to_owned()
    }

    // All recorded from JMeter 5.6.3.

    #[test]
    fn the_request_comes_back() {
        let plain = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        assert_eq!(head_for("GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"), plain);
        assert_eq!(
            ask(&["POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nab", "cd", "ef"]),
            format!("{plain}POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nabcdef")
        );
        assert_eq!(
            ask(&["GET / HT", "TP/1.1\r\nA: b\r\n\r\n"]),
            format!("{plain}GET / HTTP/1.1\r\nA: b\r\n\r\n")
        );
        assert_eq!(ask(&["BAD\r\n\r\n"]), "");
    }

    #[test]
    fn headers_say_how_the_answer_looks() {
        let request = "POST /a?status=404 HTTP/1.1\r\nx-responsestatus:  201 Made\r\nX-SetHeaders: A: b|C: d|\r\nX-SetCookie: k=v\r\nX-ResponseLength: 10\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(
            ask(&[request]),
            "HTTP/1.0 201 Made\r\nContent-Type: text/plain\r\nA: b\r\nC: d\r\nSet-Cookie: k=v\r\n\r\nPOST /a?st"
        );
        assert_eq!(
            ask(&["GET / HTTP/1.1\r\nX-ResponseLength: abc\r\n\r\n"]),
            "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n"
        );
    }

    #[test]
    fn so_does_the_query_of_a_get() {
        let first = |request: &str| {
            let head = head_for(request);
            head.trim_end()
                .replace("\r\nContent-Type: text/plain", "")
                .replace("\r\n", " + ")
        };
        assert_eq!(
            first("GET /a?status=404%20Not%20Here&v HTTP/1.1\r\nX-ResponseStatus: 500 No\r\n\r\n"),
            "HTTP/1.0 404 Not Here"
        );
        assert_eq!(
            first("GET /a?redirect=/b%20c HTTP/1.1\r\n\r\n"),
            "HTTP/1.0 302 Temporary Redirect + Location: /b c"
        );
        assert_eq!(
            first("GET /?a|b&status=205+x HTTP/1.1\r\n\r\n"),
            "HTTP/1.0 205+x"
        );
        assert_eq!(
            first("GET /?redirect=x&status=301%20M HTTP/1.1\r\n\r\n"),
            "HTTP/1.0 301 M + Location: x"
        );
    }

    #[test]
    fn requests_are_counted_without_those_that_ask_for_the_count() {
        let mirror = Mirror::start("127.0.0.1:0".parse().unwrap(), |_| {}).unwrap();
        let send = |header: &str| {
            let mut stream = std::net::TcpStream::connect(mirror.address).unwrap();
            let request = format!("GET / HTTP/1.1\r\n{header}\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        for _ in 0..3 {
            assert!(send("Host: a\r\n").contains("Host: a"));
        }
        let asking = format!("{ASKS_MIRROR}: count\r\n");
        assert!(send(&asking).ends_with("\r\n\r\nrequests 3\n"));
        assert!(send(&asking).ends_with("\r\n\r\nrequests 3\n"));
        assert_eq!(mirror.requests(), 3);
    }
}
