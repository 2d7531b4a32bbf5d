//! A server of known times: it holds each request for a drawn time, and notes how long the answer really took since the kernel
//! received the request. A thread for each connection waits with the precision of the kernel's timers, in a process of its own.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use drumfire_http::StampedStream;
use drumfire_results::Histogram;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Socket, Type};

use super::service::Service;

/// The path below which a name has its true times.
const TRUTH: &str = "/truth/";
/// Names with this sign also count, all together, for what stands before it.
const OF_SEVERAL: char = '-';
/// The answer to all other requests.
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n";
/// The longest head of a request, in bytes, and its most fields.
const MOST_HEAD: usize = 64 << 10;
const MOST_FIELDS: usize = 128;
/// The stack of a connection's thread, in bytes.
const STACK: usize = 256 << 10;

/// The true times of the requests of a name: from the kernel's receipt of the request until its answer is handed to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The requests.
    pub count: u64,
    /// Percentiles, in milliseconds.
    pub p50_ms: f64,
    /// The 99th.
    pub p99_ms: f64,
    /// The 99.9th.
    pub p999_ms: f64,
}

impl Truth {
    fn of(times_us: &Histogram) -> Truth {
        Truth {
            count: times_us.count(),
            p50_ms: times_us.percentile_ms(50.0),
            p99_ms: times_us.percentile_ms(99.0),
            p999_ms: times_us.percentile_ms(99.9),
        }
    }
}

/// The requests of one name.
#[derive(Default)]
struct Named {
    times_us: Mutex<Histogram>,
    /// The requests that are being served, for a service with places.
    served: Mutex<usize>,
    freed: Condvar,
}

type Names = Mutex<HashMap<String, Arc<Named>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default()
}

/// All users may connect at once: a connection that finds no room is tried again only after a second.
const BACKLOG: i32 = 4096;

fn listener() -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Prints the address and serves until standard input ends.
///
/// # Errors
/// No port is free, or no thread can start.
pub fn serve() -> io::Result<()> {
    let listener = listener()?;
    println!("{}", listener.local_addr()?);
    let names = Arc::new(Names::default());
    let accepting = std::thread::Builder::new().name("accept".to_owned());
    accepting.spawn(move || {
        for stream in listener.incoming().flatten() {
            let names = names.clone();
            let thread = std::thread::Builder::new().stack_size(STACK);
            // The peer of a connection without a thread sees it closed.
            let _ = thread.spawn(move || answer_all(stream, &names));
        }
    })?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

/// A request of which only the size and the path matter.
struct Request {
    path: String,
    /// The length of the head and the body, in bytes.
    length: usize,
}

/// The first request in the bytes; `None` if it is not whole.
fn first_request(bytes: &[u8]) -> io::Result<Option<Request>> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let parsed = request.parse(bytes).map_err(io::Error::other)?;
    let httparse::Status::Complete(head) = parsed else {
        return if bytes.len() > MOST_HEAD {
            Err(io::ErrorKind::InvalidData.into())
        } else {
            Ok(None)
        };
    };
    let field = |name: &str| {
        let mut fields = request.headers.iter();
        let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(field.value).ok()
    };
    let body = if field("Transfer-Encoding").is_some() {
        let end = memchr::memmem::find(&bytes[head..], b"0\r\n\r\n");
        end.map(|at| at + 5)
    } else {
        let length: usize = field("Content-Length")
            .map(|value| value.trim().parse().ok())
            .unwrap_or(Some(0))
            .ok_or(io::ErrorKind::InvalidData)?;
        Some(length).filter(|length| bytes.len() >= head + length)
    };
    Ok(body.map(|body| Request {
        path: request.path.unwrap_or_default().to_owned(),
        length: head + body,
    }))
}

/// Answers the requests of a connection until it ends.
fn answer_all(stream: TcpStream, names: &Names) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = StampedStream::new(stream);
    let mut held = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    loop {
        let (count, stamp) = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        held.extend_from_slice(&buffer[..count]);
        while let Some(request) = first_request(&held)? {
            held.drain(..request.length);
            answer(&request.path, stamp.unwrap_or_else(now), &stream, names)?;
        }
    }
}

/// Answers a request for `/SERVICE/NAME` that arrived at a time.
fn answer(path: &str, arrived: Duration, stream: &StampedStream, names: &Names) -> io::Result<()> {
    // Requests of a plan may have a query of their own.
    let path = path.split('?').next().unwrap_or_default();
    let mut stream = stream.stream();
    if let Some(name) = path.strip_prefix(TRUTH) {
        let times = lock(names).get(name).cloned();
        let truth = times
            .map(|named| Truth::of(&lock(&named.times_us)))
            .unwrap_or_default();
        let body = serde_json::to_string(&truth).map_err(io::Error::other)?;
        let length = body.len();
        return write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
    }
    let (service, name) = path[1..]
        .split_once('/')
        .ok_or(io::ErrorKind::InvalidInput)?;
    let service = Service::read(service).ok_or(io::ErrorKind::InvalidInput)?;
    let named = lock(names).entry(name.to_owned()).or_default().clone();
    let begin = match service.places {
        Some(places) => {
            let served = lock(&named.served);
            let served = named.freed.wait_while(served, |served| *served >= places);
            *served.unwrap_or_else(PoisonError::into_inner) += 1;
            now()
        }
        None => arrived,
    };
    std::thread::sleep(service.end(begin).saturating_sub(now()));
    if service.places.is_some() {
        *lock(&named.served) -= 1;
        named.freed.notify_one();
    }
    let took_us = now().saturating_sub(arrived).as_micros() as u64;
    // The peer may ask for the truth as soon as it has the answer.
    lock(&named.times_us).record(took_us);
    if let Some((together, _)) = name.split_once(OF_SEVERAL) {
        let together = lock(names).entry(together.to_owned()).or_default().clone();
        lock(&together.times_us).record(took_us);
    }
    stream.write_all(ANSWER)
}

/// The server in a process of its own. Dropping it ends the process.
pub struct Target {
    child: Child,
    /// The server ends when this closes.
    _input: Option<ChildStdin>,
    /// Its address and port.
    pub address: String,
}

impl Target {
    /// Starts the server with this program.
    ///
    /// # Errors
    /// The process cannot start, or does not tell its address.
    pub fn start() -> io::Result<Target> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["calibrate", "--serve"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Target {
            _input: child.stdin.take(),
            address: line.trim().to_owned(),
            child,
        })
    }

    /// The true times of a name.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn truth(&self, name: &str) -> io::Result<Truth> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "GET {TRUTH}{name} HTTP/1.1\r\nHost: target\r\n\r\n")?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
        serde_json::from_str(body.unwrap_or_default()).map_err(io::Error::other)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_end_after_their_body() {
        let length = |text: &str| {
            let request = first_request(text.as_bytes()).expect("it can be read");
            request.map(|request| request.length)
        };
        let get = "GET /a?fixed=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(length(get), Some(get.len()));
        assert_eq!(length(&get[..get.len() - 1]), None);
        let post = "POST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
        assert_eq!(length(&format!("{post}GET")), Some(post.len()));
        assert_eq!(length(&post[..post.len() - 1]), None);
        let chunked = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
        assert_eq!(length(chunked), Some(chunked.len()));
        assert!(first_request(b"nonsense\r\n\r\n").is_err());
    }

    #[test]
    fn the_truth_is_what_an_answer_took_since_its_request_arrived() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let names = Arc::new(Names::default());
        let own = names.clone();
        let server = std::thread::spawn(move || {
            let stream = listener.accept().expect("a connection").0;
            answer_all(stream, &own)
        });
        let mut stream = TcpStream::connect(address).expect("a connection");
        let mut answer = vec![0; ANSWER.len()];
        for _ in 0..3 {
            stream
                .write_all(b"GET /fixed=20/slow?x=1 HTTP/1.1\r\n\r\n")
                .expect("sent");
            stream.read_exact(&mut answer).expect("an answer");
            assert_eq!(answer, ANSWER);
        }
        drop(stream);
        server.join().expect("it ends").expect("no error");
        let named = lock(&names)["slow"].clone();
        let truth = Truth::of(&lock(&named.times_us));
        assert_eq!(truth.count, 3);
        assert!(truth.p50_ms >= 20.0, "{truth:?}");
    }
}
