//! The HTTP server of a page, on a separate thread.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use drumfire_report::live_html;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::access::{AccessRules, ListenAddress, PARAMETER, PageToken};
use crate::live::{Live, file_name};
use crate::orders::{Order, Refused, Steering};

/// The OpenAPI description of the API.
const OPEN_API: &str = include_str!("openapi.json");
/// The longest body of an order, in bytes.
const MOST_BYTES: usize = 64 << 10;
/// The most connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// How long a connection may take to send the head or the body of a request, and browsers to receive the last event.
const PATIENCE: Duration = Duration::from_secs(2);

/// The path of the files of the finished run, before their numbers.
const FILES: &str = "/api/files/";
/// How much of a file is read at a time.
const PIECE: usize = 256 << 10;
/// Why a page that only shows refuses an order.
const READONLY: &str = "This page cannot control the run (--ui-readonly)";

/// The body of a response that is read from a file as it is sent.
struct FileBody(File);

impl Body for FileBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut piece = vec![0; PIECE];
        // A file that cannot be read further ends early; the run is over, so waiting for the disk delays nothing.
        let length = self.0.read(&mut piece).unwrap_or(0);
        piece.truncate(length);
        Poll::Ready((length > 0).then(|| Ok(Frame::data(Bytes::from(piece)))))
    }
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A running page.
#[derive(Debug)]
pub struct Server {
    url: String,
    live: Live,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Turns the page into another kind: provides its script's payload and further paths below `/api/`.
pub trait Extension: Send + Sync {
    /// The payload for the script of the page; `kind` names the page.
    fn facts(&self) -> serde_json::Value;

    /// Answers a request with JSON, or with a sentence that explains the refusal; `None` if the path does not exist.
    fn answer(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Option<Result<serde_json::Value, Refused>>;
}

struct Site {
    gate: AccessRules,
    live: Live,
    steering: Arc<dyn Steering>,
    extension: Option<Arc<dyn Extension>>,
}

impl Server {
    /// Starts to serve the page of `live`, or the one that `extension` describes. Orders go to `steering`. `host_name` is the
    /// name of this machine.
    ///
    /// # Errors
    /// If the address is taken, or does not belong to this machine.
    pub fn start(
        address: ListenAddress,
        host_name: String,
        live: Live,
        steering: Arc<dyn Steering>,
        extension: Option<Arc<dyn Extension>>,
    ) -> std::io::Result<Server> {
        let listener = TcpListener::bind(address.0)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let token = PageToken::random()?;
        let url = url(address, &host_name, &token);
        let site = Arc::new(Site {
            gate: AccessRules {
                token,
                address,
                host_name,
            },
            live: live.clone(),
            steering,
            extension,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new()
            .name("live page".to_owned())
            .spawn(move || runtime.block_on(serve(listener, site, stopped)))?;
        Ok(Server {
            url,
            live,
            stop,
            thread: Some(thread),
        })
    }

    /// The URL of the page, including its token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Replaces open pages with the report, and goes on serving it.
    pub fn stay(&self, report: Option<&str>) {
        self.live.end(report);
    }

    /// Ends the server. Open pages are replaced with the report, if there is one; the server waits up to two seconds for them.
    pub fn end(self, report: Option<&str>) {
        self.live.end(report);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            // A server that panicked shows nothing more. The run does not depend on it.
            let _ = thread.join();
        }
    }
}

/// The URL of the page. If the server listens on all addresses, it contains the machine's name.
fn url(address: SocketAddr, host_name: &str, token: &PageToken) -> String {
    let place = if address.ip().is_unspecified() {
        format!("{host_name}:{}", address.port())
    } else {
        address.to_string()
    };
    format!("http://{place}/?{PARAMETER}={}", token.as_str())
}

async fn serve(listener: TcpListener, site: Arc<Site>, mut stopped: watch::Receiver<bool>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("the live page cannot be served: {error}"),
    };
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        while connections.try_join_next().is_some() {}
        // If all connections or file descriptors are in use, the connection is dropped and the browser tries again.
        if let (Ok((stream, _)), Ok(place)) = (accepted, room.clone().try_acquire_owned()) {
            let (site, stopped) = (site.clone(), stopped.clone());
            connections.spawn(async move {
                connection(stream, site, stopped).await;
                drop(place);
            });
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    // The server does not wait for a browser that does not read.
    let _ = tokio::time::timeout(PATIENCE, all).await;
}

async fn connection(
    stream: tokio::net::TcpStream,
    site: Arc<Site>,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| {
        let site = site.clone();
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    // A disconnect of the browser is not an error.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

impl Site {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let checked = self.gate.check(head.uri.query(), &head.headers);
        let mut answer = match checked {
            Err(status) => refusal(status),
            Ok(()) => self.route(&head.method, head.uri.path(), body).await,
        };
        let fixed: [(HeaderName, &str); 4] = [
            (CACHE_CONTROL, "no-store"),
            (REFERRER_POLICY, "no-referrer"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
        ];
        for (name, value) in fixed {
            answer
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        answer
    }

    async fn route(&self, method: &Method, path: &str, body: Incoming) -> Answer {
        let order = path
            .strip_prefix("/api/")
            .filter(|name| Order::NAMES.contains(name));
        let wanted = match (path, order) {
            (_, Some(_)) => Method::POST,
            ("/" | "/api/status" | "/api/events" | "/api/openapi.json", _) => Method::GET,
            ("/api/label" | "/api/close", _) => Method::POST,
            (path, _) if path.starts_with(FILES) => Method::GET,
            _ => return self.extended(method, path, body).await,
        };
        if *method != wanted {
            let mut answer = failure(
                StatusCode::METHOD_NOT_ALLOWED,
                &format!("Use {wanted} for this path"),
            );
            let allowed = HeaderValue::from_str(wanted.as_str());
            let allowed = allowed.expect("the name of a method is plain");
            answer.headers_mut().insert(ALLOW, allowed);
            return answer;
        }
        match (path, order) {
            (_, Some(name)) => self.order(name, body).await,
            ("/", _) => whole("text/html; charset=utf-8", self.page()),
            ("/api/status", _) => {
                let status = serde_json::to_string(&self.live.status());
                whole(JSON, status.expect("numbers and texts can be written"))
            }
            ("/api/openapi.json", _) => whole(JSON, OPEN_API.to_owned()),
            ("/api/label", _) => self.label(body).await,
            ("/api/close", _) => self.close(),
            (path, _) if path.starts_with(FILES) => self.file(&path[FILES.len()..]),
            _ => match self.live.follow() {
                Some(events) => answer("text/event-stream", UnsyncBoxBody::new(events)),
                None => failure(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Too many pages are open; close one",
                ),
            },
        }
    }

    async fn label(&self, body: Incoming) -> Answer {
        #[derive(serde::Deserialize)]
        struct Wanted {
            label: String,
            #[serde(default)]
            transaction: bool,
        }
        let body = match read(body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let Ok(wanted) = serde_json::from_slice::<Wanted>(&body) else {
            return failure(StatusCode::BAD_REQUEST, "The body must name a `label`");
        };
        match self.live.label(&wanted.label, wanted.transaction) {
            Some(label) => whole(JSON, label),
            None => failure(StatusCode::NOT_FOUND, "No sample has this label"),
        }
    }

    fn close(&self) -> Answer {
        if self.live.is_readonly() {
            return failure(StatusCode::FORBIDDEN, READONLY);
        }
        match self.live.close() {
            true => whole(JSON, json!({ "accepted": "close" }).to_string()),
            false => failure(
                StatusCode::CONFLICT,
                "The page closes with the run; only one that stays (--ui-stay) can be closed",
            ),
        }
    }

    /// A file of the finished run.
    fn file(&self, number: &str) -> Answer {
        let file = number
            .parse()
            .ok()
            .and_then(|number| self.live.file(number));
        let opened = file.as_ref().and_then(|path| File::open(path).ok());
        let (Some(path), Some(file)) = (file, opened) else {
            return failure(StatusCode::NOT_FOUND, "There is no such file");
        };
        let name = file_name(&path).replace(['"', '\\'], "_");
        let mut answer = answer(
            "application/octet-stream",
            UnsyncBoxBody::new(FileBody(file)),
        );
        let disposition = format!("attachment; filename=\"{name}\"");
        if let Ok(disposition) = HeaderValue::from_str(&disposition) {
            answer
                .headers_mut()
                .insert(CONTENT_DISPOSITION, disposition);
        }
        answer
    }

    fn page(&self) -> String {
        let facts = match &self.extension {
            Some(extension) => extension.facts(),
            None => json!({ "kind": "live" }),
        };
        live_html(&self.live.name(), &facts)
    }

    async fn extended(&self, method: &Method, path: &str, body: Incoming) -> Answer {
        let missing = || failure(StatusCode::NOT_FOUND, "There is nothing at this path");
        let Some(extension) = &self.extension else {
            return missing();
        };
        let body = match read(body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        match extension.answer(method.as_str(), path, &body) {
            Some(Ok(value)) => whole(JSON, value.to_string()),
            Some(Err(why)) => failure(StatusCode::BAD_REQUEST, &why.to_string()),
            None => missing(),
        }
    }

    async fn order(&self, name: &str, body: Incoming) -> Answer {
        if self.live.is_readonly() {
            return failure(StatusCode::FORBIDDEN, READONLY);
        }
        let body = match read(body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let order = match Order::read(name, &body) {
            Ok(order) => order,
            Err(why) => return failure(StatusCode::BAD_REQUEST, &why.to_string()),
        };
        match self.steering.carry_out(&order) {
            Ok(()) => whole(JSON, json!({ "accepted": order.name() }).to_string()),
            Err(why) => failure(StatusCode::CONFLICT, &why.to_string()),
        }
    }
}

/// The body of a request, which must arrive in time: the server has only so many connections.
async fn read(body: Incoming) -> Result<Bytes, Answer> {
    let collected = Limited::new(body, MOST_BYTES).collect();
    match tokio::time::timeout(PATIENCE, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(failure(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The body of a request is 64 KiB at most",
        )),
        Err(_) => {
            let why = "The body of a request must arrive within 2 seconds";
            let mut late = failure(StatusCode::REQUEST_TIMEOUT, why);
            late.headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
            Err(late)
        }
    }
}

const JSON: &str = "application/json";

fn refusal(status: StatusCode) -> Answer {
    let why = match status {
        StatusCode::UNAUTHORIZED => {
            "The token is missing or wrong: use the URL that the run printed"
        }
        StatusCode::FORBIDDEN => "Requests from other sites are refused",
        _ => "This host is not served here: use the URL that the run printed",
    };
    failure(status, why)
}

fn failure(status: StatusCode, why: &str) -> Answer {
    let mut answer = whole(JSON, json!({ "error": why }).to_string());
    *answer.status_mut() = status;
    answer
}

fn whole(kind: &'static str, content: String) -> Answer {
    answer(kind, UnsyncBoxBody::new(Full::new(Bytes::from(content))))
}

fn answer(kind: &'static str, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::time::Instant;

    use super::*;
    use crate::live::LiveOptions;

    /// Carries nothing out.
    struct Idle;

    impl Steering for Idle {
        fn carry_out(&self, _: &Order) -> Result<(), Refused> {
            Ok(())
        }
    }

    fn server() -> Server {
        let options = LiveOptions {
            readonly: false,
            keeps_failures: true,
            stays: false,
        };
        let live = Live::new(drumfire_report::begun("p.jmx", 0), options);
        let address = ListenAddress("127.0.0.1:0".parse().expect("an address"));
        Server::start(address, "host".to_owned(), live, Arc::new(Idle), None)
            .expect("a port is free")
    }

    #[test]
    fn bodies_that_never_come_do_not_keep_others_out() {
        let server = server();
        let rest = server.url().strip_prefix("http://").expect("a URL");
        let (host, query) = rest.split_once("/?").expect("a token");
        let begin = |length: usize| {
            let mut stream = TcpStream::connect(host).expect("it listens");
            let head = format!(
                "POST /api/stop?{query} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).expect("it is sent");
            stream
                .set_read_timeout(Some(PATIENCE * 5))
                .expect("the time is not zero");
            stream
        };
        let mut stalled: Vec<_> = (0..MOST_CONNECTIONS).map(|_| begin(100)).collect();
        let since = Instant::now();
        let mut told = String::new();
        stalled[0]
            .read_to_string(&mut told)
            .expect("the server closes the connection");
        assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
        assert!(since.elapsed() < PATIENCE * 3);
        // The places of all of them are free again.
        let until = Instant::now() + PATIENCE * 3;
        loop {
            let mut answer = [0; 12];
            if begin(0).read_exact(&mut answer).is_ok() {
                // The order has no number.
                assert_eq!(&answer[..9], b"HTTP/1.1 ");
                break;
            }
            assert!(Instant::now() < until, "nobody gets in");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
