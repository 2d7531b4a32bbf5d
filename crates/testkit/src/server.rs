//! An HTTP server on loopback that follows a test's script: it can answer slowly, stop in the middle, reset,
//! or stay silent.
//!
//! ```
//! use drumfire_testkit::server::{ResponseStep, Server, ok};
//! let server = Server::start(|request| vec![ResponseStep::Send(ok(&format!("you asked for {}", request.target)))]);
//! let address = server.address();
//! # assert_ne!(address.port(), 0);
//! ```

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::websocket::Frame;

/// How long a connection waits for the next request before it is closed.
const IDLE: Duration = Duration::from_secs(10);
/// How often a waiting connection checks whether the server is shutting down.
const PATIENCE: Duration = Duration::from_millis(50);

/// One step of the server's reaction to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseStep {
    /// Send these bytes as they are.
    Send(Vec<u8>),
    /// Send these bytes one at a time with this pause between them.
    Drip(Vec<u8>, Duration),
    /// Wait.
    Pause(Duration),
    /// Close the connection gracefully.
    Close,
    /// Reset the connection, so that the client gets `ECONNRESET`.
    Reset,
    /// Neither answer nor close until the client closes the connection or the server ends.
    Hang,
    /// Echo each frame of a WebSocket connection until the client closes it.
    Echo,
}

/// A request as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The method.
    pub method: String,
    /// The target as it was sent.
    pub target: String,
    /// The head with its line ends, up to the blank line.
    pub head: String,
    /// The body, with chunks joined.
    pub body: Vec<u8>,
}

/// A request at the time when it was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The target as it was sent.
    pub target: String,
    /// The number of unanswered requests at that time, including this one.
    pub under_way: usize,
}

impl ReceivedRequest {
    /// The value of the first header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        pairs
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next()
    }
}

type Script = dyn Fn(&ReceivedRequest) -> Vec<ResponseStep> + Send + Sync;

struct ServerState {
    script: Box<Script>,
    seen: Mutex<Vec<ReceivedRequest>>,
    arrivals: Mutex<Vec<Arrival>>,
    under_way: AtomicUsize,
    connections: AtomicUsize,
    ended: AtomicBool,
}

/// A server; dropping it ends it and all its connections.
pub struct Server {
    address: SocketAddr,
    shared: Arc<ServerState>,
    thread: Option<JoinHandle<()>>,
}

/// A 200 response with this text and its length.
pub fn ok(body: &str) -> Vec<u8> {
    respond("200 OK", "", body)
}

/// A response with this status, these header lines (each with its line end), the length, and this text.
pub fn respond(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

impl Server {
    /// Starts a server on a free loopback port. It calls `script` for each request to decide what to do.
    pub fn start(
        script: impl Fn(&ReceivedRequest) -> Vec<ResponseStep> + Send + Sync + 'static,
    ) -> Server {
        Server::start_at(Ipv4Addr::LOCALHOST.into(), script)
    }

    /// Starts a server on a free port of an address of this machine.
    pub fn start_at(
        host: IpAddr,
        script: impl Fn(&ReceivedRequest) -> Vec<ResponseStep> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind((host, 0)).expect("the address has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(ServerState {
            script: Box::new(script),
            seen: Mutex::default(),
            arrivals: Mutex::default(),
            under_way: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::spawn(move || accept(&listener, &accepting));
        Server {
            address,
            shared,
            thread: Some(thread),
        }
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT` and this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far, in the order in which they were completed.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.seen().clone()
    }

    /// The same requests, each with how many were in progress.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.shared.arrivals().clone()
    }

    /// How many connections were opened.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wake the accepting thread.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ServerState {
    fn seen(&self) -> MutexGuard<'_, Vec<ReceivedRequest>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrivals(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self, request: &ReceivedRequest) {
        let mut arrivals = self.arrivals();
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        arrivals.push(Arrival {
            connection: request.connection,
            target: request.target.clone(),
            under_way,
        });
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<ServerState>) {
    let mut conversations = Vec::new();
    for stream in listener.incoming() {
        if shared.has_ended() {
            break;
        }
        let Ok(stream) = stream else { continue };
        let number = shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        conversations.push(std::thread::spawn(move || {
            Conversation {
                stream,
                number,
                shared,
                pending: Vec::new(),
            }
            .hold()
        }));
    }
    for conversation in conversations {
        let _ = conversation.join();
    }
}

struct Conversation {
    stream: TcpStream,
    number: usize,
    shared: Arc<ServerState>,
    /// Received bytes that belong to no request yet.
    pending: Vec<u8>,
}

impl Conversation {
    /// Answers requests until one side closes the connection.
    fn hold(mut self) {
        let _ = self.stream.set_nodelay(true);
        let _ = self.stream.set_read_timeout(Some(PATIENCE));
        while let Some(request) = self.request() {
            self.shared.arrive(&request);
            let steps = (self.shared.script)(&request);
            self.shared.seen().push(request);
            let goes_on = steps.into_iter().all(|step| self.take(step));
            self.shared.under_way.fetch_sub(1, Ordering::SeqCst);
            if !goes_on {
                return;
            }
        }
    }

    /// Executes a step; returns false if the connection ends.
    fn take(&mut self, step: ResponseStep) -> bool {
        match step {
            ResponseStep::Send(bytes) => self.stream.write_all(&bytes).is_ok(),
            ResponseStep::Drip(bytes, pause) => bytes.iter().all(|byte| {
                std::thread::sleep(pause);
                !self.shared.has_ended() && self.stream.write_all(&[*byte]).is_ok()
            }),
            ResponseStep::Pause(time) => {
                std::thread::sleep(time);
                true
            }
            ResponseStep::Close => {
                let _ = self.stream.shutdown(Shutdown::Both);
                false
            }
            ResponseStep::Reset => {
                // With a linger time of zero, closing sends RST.
                let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
                false
            }
            ResponseStep::Hang => {
                while self.more(IDLE) {}
                false
            }
            ResponseStep::Echo => self.echo(),
        }
    }

    /// Echoes frames until one closes the connection.
    fn echo(&mut self) -> bool {
        loop {
            while let Some(frame) = Frame::take(&mut self.pending) {
                if self.stream.write_all(&frame.back()).is_err() || frame.closes() {
                    return false;
                }
            }
            if !self.more(IDLE) {
                return false;
            }
        }
    }

    fn request(&mut self) -> Option<ReceivedRequest> {
        let end = loop {
            if let Some(at) = self
                .pending
                .windows(4)
                .position(|bytes| bytes == b"\r\n\r\n")
            {
                break at + 4;
            }
            self.more(IDLE).then_some(())?;
        };
        let head = String::from_utf8_lossy(&self.pending[..end]).into_owned();
        self.pending.drain(..end);
        let mut words = head.split([' ', '\r']);
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default().to_owned();
        let mut request = ReceivedRequest {
            connection: self.number,
            method,
            target,
            head,
            body: Vec::new(),
        };
        request.body = match (
            request.header("Transfer-Encoding"),
            request.header("Content-Length"),
        ) {
            (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => self.chunks()?,
            (_, Some(length)) => self.exactly(length.parse().ok()?)?,
            _ => Vec::new(),
        };
        Some(request)
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let length = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
            if length == 0 {
                // Trailers, up to the blank line.
                while !self.line()?.is_empty() {}
                return Some(body);
            }
            body.extend(self.exactly(length)?);
            self.line()?;
        }
    }

    fn line(&mut self) -> Option<String> {
        let end = loop {
            if let Some(at) = self.pending.windows(2).position(|bytes| bytes == b"\r\n") {
                break at;
            }
            self.more(IDLE).then_some(())?;
        };
        let line = String::from_utf8_lossy(&self.pending[..end]).into_owned();
        self.pending.drain(..end + 2);
        Some(line)
    }

    fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.pending.len() < length {
            self.more(IDLE).then_some(())?;
        }
        Some(self.pending.drain(..length).collect())
    }

    /// Reads more bytes; returns false if none arrive.
    fn more(&mut self, idle: Duration) -> bool {
        let mut buffer = [0; 16 * 1024];
        let mut waited = Duration::ZERO;
        while waited < idle && !self.shared.has_ended() {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) => {
                    self.pending.extend_from_slice(&buffer[..length]);
                    return true;
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    ) =>
                {
                    waited += PATIENCE;
                }
                Err(_) => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(server: &Server, text: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(server.address())?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(text.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn requests_are_seen_with_their_bodies() {
        let server = Server::start(|request| match request.target.as_str() {
            "/last" => vec![ResponseStep::Send(ok("bye")), ResponseStep::Close],
            _ => vec![ResponseStep::Send(ok("hi"))],
        });
        let text = "POST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc\
                    POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x=y\r\nf\r\n0\r\n\r\n\
                    GET /last HTTP/1.1\r\n\r\n";
        let answer = send(&server, text).expect("closed in order");
        assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3);
        let bodies: Vec<_> = server
            .requests()
            .into_iter()
            .map(|request| (request.target, request.body))
            .collect();
        let expected = [("/a", "abc"), ("/b", "def"), ("/last", "")];
        assert_eq!(
            bodies,
            expected.map(|(target, body)| (target.to_owned(), body.as_bytes().to_vec()))
        );
        assert_eq!(server.connections(), 1);
    }

    #[test]
    fn it_breaks_off_and_resets() {
        let server = Server::start(|request| match request.target.as_str() {
            "/cut" => vec![
                ResponseStep::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort".to_vec()),
                ResponseStep::Close,
            ],
            _ => vec![ResponseStep::Reset],
        });
        let cut = send(&server, "GET /cut HTTP/1.1\r\n\r\n").expect("closed in order");
        assert!(cut.ends_with("\r\n\r\nshort"));
        let error = send(&server, "GET /reset HTTP/1.1\r\n\r\n").expect_err("reset");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }

    #[test]
    fn dropping_ends_a_hanging_connection() {
        let server = Server::start(|_| vec![ResponseStep::Hang]);
        let mut stream = TcpStream::connect(server.address()).expect("it listens");
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
        while server.requests().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(server);
        assert_eq!(stream.read(&mut [0; 8]).expect("closed in order"), 0);
    }
}
