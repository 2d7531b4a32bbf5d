//! Serves `/metrics` for Prometheus from a small server on a separate thread.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::cumulative::Cumulative;
use crate::encoder::{Interval, RunInfo, Users};
use crate::prometheus::{AgentMetrics, Prometheus};
use drumfire_results::Increment;

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Produces the text of `/metrics`, in OpenMetrics or in Prometheus's own format.
pub type MetricsText = Arc<dyn Fn(bool) -> String + Send + Sync>;

/// A server of `/metrics`.
pub struct MetricsServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl MetricsServer {
    /// Starts to listen; port 0 chooses a free one.
    ///
    /// # Errors
    /// The server cannot listen on the address.
    pub fn listen(address: SocketAddr, text: MetricsText) -> std::io::Result<MetricsServer> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::Builder::new()
            .name("sink prometheus".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = serve(listener, text) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(MetricsServer {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, only `/metrics` is lost.
            let _ = thread.join();
        }
    }
}

/// The metrics behind `/metrics`, and the server for them.
pub struct Scrape {
    state: Arc<ScrapeState>,
    server: MetricsServer,
}

struct ScrapeState {
    totals: Mutex<Cumulative>,
    dropped: Mutex<Vec<(String, u64)>>,
    agents: Mutex<Vec<AgentMetrics>>,
    prometheus: Prometheus,
}

impl Scrape {
    /// Starts to listen; port 0 chooses a free one.
    ///
    /// # Errors
    /// The server cannot listen on the address.
    pub fn listen(address: SocketAddr, run: RunInfo) -> std::io::Result<Scrape> {
        let state = Arc::new(ScrapeState {
            totals: Mutex::default(),
            dropped: Mutex::default(),
            agents: Mutex::default(),
            prometheus: Prometheus { run },
        });
        let shown = state.clone();
        let text: MetricsText = Arc::new(move |is_open_metrics| {
            let dropped = lock(&shown.dropped).clone();
            let totals = lock(&shown.totals);
            let agents = lock(&shown.agents).clone();
            shown
                .prometheus
                .text(&totals, &dropped, &agents, is_open_metrics)
        });
        let server = MetricsServer::listen(address, text)?;
        Ok(Scrape { state, server })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Adds samples.
    pub fn add(&self, increment: Increment) {
        let mut totals = lock(&self.state.totals);
        let interval = Interval {
            increment,
            users: totals.users,
            verdict: totals.verdict,
            at_ms: totals.at_ms,
            ..Interval::default()
        };
        totals.add(&interval);
    }

    /// Sets the agents of a run on several machines.
    pub fn set_agents(&self, agents: Vec<AgentMetrics>) {
        *lock(&self.state.agents) = agents;
    }

    /// Sets the users, the verdict if it is known, and what other sinks dropped.
    pub fn tick(&self, users: Users, verdict: Option<u8>, dropped: Vec<(String, u64)>) {
        let mut totals = lock(&self.state.totals);
        (totals.users, totals.verdict) = (users, verdict);
        *lock(&self.state.dropped) = dropped;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: std::net::TcpListener, text: MetricsText) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    while let Ok((stream, _)) = listener.accept().await {
        let text = text.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let answer = answer(&request, &text);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(hyper_util::rt::TokioTimer::new());
            // A client that disconnects is not an error.
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

fn answer(request: &Request<Incoming>, text: &MetricsText) -> Response<Full<Bytes>> {
    let plain = |status: StatusCode, text: &'static str| {
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        response
    };
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "GET /metrics\n");
    }
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "GET /metrics\n");
    }
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    let is_open_metrics =
        accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
    let text = text(is_open_metrics);
    let kind = if is_open_metrics { OPEN_METRICS } else { TEXT };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    fn get(address: SocketAddr, path: &str) -> String {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        .expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn a_scrape_shows_what_was_added() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let scrape = Scrape::listen(any, RunInfo::default()).expect("a port");
        scrape.tick(
            Users {
                active: 3,
                started: 3,
                ended: 0,
            },
            None,
            Vec::new(),
        );
        let answer = get(scrape.address(), "/metrics");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("drumfire_users{run=\"\"} 3"),
            "{answer}"
        );
        assert!(get(scrape.address(), "/").starts_with("HTTP/1.1 404"));
    }
}
