//! The front of every server of the crate, on a separate thread: who may ask, how many at a time, and for how long.

use std::convert::Infallible;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::access::{AccessRules, ListenAddress, PARAMETER, PageToken};

/// The most connections at a time.
pub(crate) const MOST_CONNECTIONS: usize = 64;
/// How long a connection may take to send the head or the body of a request, and browsers to receive the last event.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What a server answers to a request that may be asked.
pub(crate) trait Site: Send + Sync + 'static {
    /// Answers a request.
    fn route(
        self: Arc<Self>,
        method: Method,
        path: String,
        body: Incoming,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send>>;
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Front {
    url: String,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// A site with its access control.
struct Guarded<S> {
    gate: AccessRules,
    site: Arc<S>,
}

impl Front {
    /// Starts to serve a site. `host_name` is the name of this machine.
    pub(crate) fn start<S: Site>(
        address: ListenAddress,
        host_name: String,
        site: Arc<S>,
    ) -> std::io::Result<Front> {
        let listener = TcpListener::bind(address.0)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let token = PageToken::random()?;
        let url = url(address, &host_name, &token);
        let guarded = Arc::new(Guarded {
            gate: AccessRules {
                token,
                address,
                host_name,
            },
            site,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new()
            .name("live page".to_owned())
            .spawn(move || runtime.block_on(serve(listener, guarded, stopped)))?;
        Ok(Front {
            url,
            stop,
            thread: Some(thread),
        })
    }

    /// The URL of the page, including its token.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Front {
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
    let host = if address.ip().is_unspecified() {
        format!("{host_name}:{}", address.port())
    } else {
        address.to_string()
    };
    format!("http://{host}/?{PARAMETER}={}", token.as_str())
}

async fn serve<S: Site>(
    listener: TcpListener,
    site: Arc<Guarded<S>>,
    mut stopped: watch::Receiver<bool>,
) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("the page cannot be served: {error}"),
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
        if let (Ok((stream, _)), Ok(permit)) = (accepted, room.clone().try_acquire_owned()) {
            let (site, stopped) = (site.clone(), stopped.clone());
            connections.spawn(async move {
                connection(stream, site, stopped).await;
                drop(permit);
            });
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    // The server does not wait for a browser that does not read.
    let _ = tokio::time::timeout(PATIENCE, all).await;
}

async fn connection<S: Site>(
    stream: tokio::net::TcpStream,
    site: Arc<Guarded<S>>,
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

impl<S: Site> Guarded<S> {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let checked = self.gate.check(head.uri.query(), &head.headers);
        let mut answer = match checked {
            Err(status) => refusal(status),
            Ok(()) => {
                let path = head.uri.path().to_owned();
                self.site.clone().route(head.method, path, body).await
            }
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
}

/// The body of a request, which must arrive in time: the server has only so many connections.
pub(crate) async fn read(body: Incoming, most: usize) -> Result<Bytes, Answer> {
    let collected = Limited::new(body, most).collect();
    match tokio::time::timeout(PATIENCE, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(failure(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("The body of a request is {} KiB at most", most >> 10),
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

pub(crate) const JSON: &str = "application/json";

fn refusal(status: StatusCode) -> Answer {
    let why = match status {
        StatusCode::UNAUTHORIZED => {
            "The token is missing or wrong: use the URL that the program printed"
        }
        StatusCode::FORBIDDEN => "Requests from other sites are refused",
        _ => "This host is not served here: use the URL that the program printed",
    };
    failure(status, why)
}

pub(crate) fn failure(status: StatusCode, why: &str) -> Answer {
    let mut answer = whole(JSON, json!({ "error": why }).to_string());
    *answer.status_mut() = status;
    answer
}

pub(crate) fn whole(kind: &'static str, content: String) -> Answer {
    answer(kind, UnsyncBoxBody::new(Full::new(Bytes::from(content))))
}

pub(crate) fn answer(kind: &'static str, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
