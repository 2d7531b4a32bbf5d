//! The page of a run.

use std::convert::Infallible;
use std::fs::File;
use std::future::Future;
use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use drumfire_report::live_html;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{ALLOW, CONTENT_DISPOSITION, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::json;

use crate::access::ListenAddress;
use crate::front::{Answer, Front, JSON, Site, answer, failure, read, whole};
use crate::live::{Live, file_name};
use crate::orders::{Order, Steering};

/// The OpenAPI description of the API.
const OPEN_API: &str = include_str!("openapi.json");
/// The longest body of an order, in bytes.
const MOST_BYTES: usize = 64 << 10;

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

/// A running page.
#[derive(Debug)]
pub struct Server {
    front: Front,
    live: Live,
}

struct LiveSite {
    live: Live,
    steering: Arc<dyn Steering>,
}

impl Server {
    /// Starts to serve the page of `live`. Orders go to `steering`. `host_name` is the
    /// name of this machine.
    ///
    /// # Errors
    /// If the address is taken, or does not belong to this machine.
    pub fn start(
        address: ListenAddress,
        host_name: String,
        live: Live,
        steering: Arc<dyn Steering>,
    ) -> std::io::Result<Server> {
        let site = Arc::new(LiveSite {
            live: live.clone(),
            steering,
        });
        let front = Front::start(address, host_name, site)?;
        Ok(Server { front, live })
    }

    /// The URL of the page, including its token.
    pub fn url(&self) -> &str {
        self.front.url()
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

impl Site for LiveSite {
    fn route(
        self: Arc<Self>,
        method: Method,
        path: String,
        body: Incoming,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        Box::pin(async move { self.routed(&method, &path, body).await })
    }
}

impl LiveSite {
    async fn routed(&self, method: &Method, path: &str, body: Incoming) -> Answer {
        let order = path
            .strip_prefix("/api/")
            .filter(|name| Order::NAMES.contains(name));
        let wanted = match (path, order) {
            (_, Some(_)) => Method::POST,
            ("/" | "/api/status" | "/api/events" | "/api/openapi.json", _) => Method::GET,
            ("/api/label" | "/api/close", _) => Method::POST,
            (path, _) if path.starts_with(FILES) => Method::GET,
            _ => return failure(StatusCode::NOT_FOUND, "There is nothing at this path"),
        };
        if *method != wanted {
            let mut answer = failure(
                StatusCode::METHOD_NOT_ALLOWED,
                &format!("Use {wanted} for this path"),
            );
            let allowed =
                HeaderValue::from_str(wanted.as_str()).expect("the name of a method is plain");
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
        let body = match read(body, MOST_BYTES).await {
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
        if self.live.close() {
            whole(JSON, json!({ "accepted": "close" }).to_string())
        } else {
            failure(
                StatusCode::CONFLICT,
                "The page closes with the run; only one that stays (--ui-stay) can be closed",
            )
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
        live_html(&self.live.name())
    }

    async fn order(&self, name: &str, body: Incoming) -> Answer {
        if self.live.is_readonly() {
            return failure(StatusCode::FORBIDDEN, READONLY);
        }
        let body = match read(body, MOST_BYTES).await {
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::front::{MOST_CONNECTIONS, PATIENCE};
    use crate::live::LiveOptions;
    use crate::orders::Refused;

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
        Server::start(address, "host".to_owned(), live, Arc::new(Idle)).expect("a port is free")
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
