//! Serves one connection of a client to the proxy: passes requests on, and copies the traffic to the tape.

use std::convert::Infallible;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue, UPGRADE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::request_line::Sendable;
use super::upstream::{Body, Connector, Origin};
use crate::authority::{Authority, covers};
use crate::seen::{Seen, Stage};
use crate::tape::Tape;

/// Fields between a client and a proxy, which must not reach the server (RFC 9110, section 7.6.1).
const HOP: [&str; 4] = [
    "proxy-connection",
    "proxy-authorization",
    "keep-alive",
    "te",
];

/// State that all connections share.
#[derive(Clone)]
pub struct ProxyState {
    pub tape: Arc<Mutex<Tape>>,
    /// `None` if nothing is decrypted.
    pub authority: Option<Arc<Authority>>,
    /// The domains that are decrypted; the authority may cover more.
    pub domains: Arc<[String]>,
    pub connector: Connector,
    /// Receives the requests as they come.
    pub seen: Sender<Seen>,
}

impl ProxyState {
    fn tape(&self) -> MutexGuard<'_, Tape> {
        lock(&self.tape)
    }

    fn note(&self, note: String) {
        // The recording may have ended.
        let _ = self.seen.send(Seen::Note(note));
    }

    fn tell(&self, place: usize, stage: Stage) {
        let exchange = self.tape().seen(place, stage);
        let _ = self.seen.send(Seen::Exchange(exchange));
    }
}

/// The server's end of a client's connection, kept while requests go to the same server.
type Upstream = Arc<tokio::sync::Mutex<Option<(Origin, SendRequest<Body>)>>>;

/// Serves a connection to its end. Behind a CONNECT every request goes to the same origin.
pub async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    origin: Option<Origin>,
    shared: ProxyState,
) {
    let upstream = Upstream::default();
    let service = service_fn(move |request| {
        let (shared, origin, upstream) = (shared.clone(), origin.clone(), Arc::clone(&upstream));
        async move { Ok::<_, Infallible>(answer(request, origin, upstream, shared).await) }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(Sendable::new(stream)), service)
        .with_upgrades();
    // A client that disconnects is not an error.
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    origin: Option<Origin>,
    upstream: Upstream,
    shared: ProxyState,
) -> Response<Body> {
    if request.method() == Method::CONNECT {
        return connect(request, shared);
    }
    match origin.or_else(|| origin_of(request.uri())) {
        Some(origin) => pass(request, origin, upstream, shared).await,
        None => own_page(request.uri(), &shared),
    }
}

/// Answers a request to the proxy itself with its certificate, ready to import.
fn own_page(uri: &Uri, shared: &ProxyState) -> Response<Body> {
    let authority = shared.authority.as_ref();
    let certificate = authority.map(|authority| std::fs::read(authority.certificate().file));
    match (uri.path(), certificate) {
        ("/" | "/ca.pem", Some(Ok(pem))) => {
            let mut response = Response::new(text(pem));
            let kind = HeaderValue::from_static("application/x-x509-ca-cert");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        _ => status(
            StatusCode::NOT_FOUND,
            "this is a recording proxy; its certificate is at /ca.pem\n",
        ),
    }
}

fn origin_of(uri: &Uri) -> Option<Origin> {
    let is_secure = uri.scheme_str()? == "https";
    Some(Origin {
        is_secure,
        host: uri.host()?.to_owned(),
        port: uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 }),
    })
}

/// Opens a tunnel, which is decrypted for the recorded domains and otherwise passed through unchanged.
fn connect(request: Request<Incoming>, shared: ProxyState) -> Response<Body> {
    let uri = request.uri();
    let (Some(host), Some(port)) = (uri.host().map(str::to_owned), uri.port_u16()) else {
        return status(StatusCode::BAD_REQUEST, "CONNECT needs a host and a port\n");
    };
    let origin = Origin {
        // Browsers also tunnel WebSockets without TLS.
        is_secure: port != 80,
        host,
        port,
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            tunnel(TokioIo::new(upgraded), origin, shared).await;
        }
    });
    Response::new(empty())
}

async fn tunnel(
    mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    origin: Origin,
    shared: ProxyState,
) {
    let authority = shared
        .authority
        .as_ref()
        .filter(|_| covers(&shared.domains, &origin.host));
    let Some(authority) = authority else {
        *shared.tape().unread.entry(origin.host.clone()).or_default() += 1;
        if let Ok(mut server) = origin.tcp().await {
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
        }
        return;
    };
    // Box a connection within the tunnel: serving it may open tunnels again, so the future would contain
    // itself.
    if !origin.is_secure {
        return Box::pin(serve(stream, Some(origin), shared)).await;
    }
    let config = match authority.server_config(&origin.host) {
        Ok(config) => config,
        Err(why) => {
            return shared.note(format!("no certificate for {}: {why}", origin.host));
        }
    };
    match TlsAcceptor::from(config).accept(stream).await {
        Ok(stream) => Box::pin(serve(stream, Some(origin), shared)).await,
        Err(error) => {
            let host = &origin.host;
            shared.note(format!(
                "TLS with the browser for {host} failed: {error}; is the certificate imported?"
            ));
        }
    }
}

/// Forwards a request and returns the server's response. Both bodies are copied to the tape as they pass.
async fn pass(
    mut request: Request<Incoming>,
    origin: Origin,
    upstream: Upstream,
    shared: ProxyState,
) -> Response<Body> {
    let path = request
        .uri()
        .path_and_query()
        .map(|path| path.as_str())
        .unwrap_or("/")
        .to_owned();
    let url = format!("{}{path}", origin.url());
    let method = request.method().clone();
    let entry = shared
        .tape()
        .request(method.as_str(), url.clone(), request.headers());
    shared.tell(entry, Stage::Sent);
    let browser = hyper::upgrade::on(&mut request);
    match exchange(request, &path, entry, &origin, &upstream, &shared).await {
        Ok(mut response) => {
            shared
                .tape()
                .response(entry, response.status().as_u16(), response.headers());
            shared.tell(entry, Stage::Answered);
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                join(browser, hyper::upgrade::on(&mut response));
            } else {
                without_hop(response.headers_mut());
            }
            let rest = Rest {
                shared,
                place: entry,
            };
            response.map(|body| {
                copied(body, move |bytes| {
                    rest.shared.tape().received(rest.place, bytes);
                })
            })
        }
        Err(why) => {
            shared.note(format!("failed {method} {url}: {why}"));
            shared.tell(entry, Stage::Complete);
            status(StatusCode::BAD_GATEWAY, &format!("{why}\n"))
        }
    }
}

/// The rest of a response. Nothing follows once the body is dropped.
struct Rest {
    shared: ProxyState,
    place: usize,
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.shared.tell(self.place, Stage::Complete);
    }
}

async fn exchange(
    mut request: Request<Incoming>,
    path: &str,
    place: usize,
    origin: &Origin,
    upstream: &Upstream,
    shared: &ProxyState,
) -> Result<Response<Incoming>, String> {
    *request.uri_mut() = path.parse().map_err(|error| format!("{error}"))?;
    let headers = request.headers_mut();
    if !headers.contains_key(UPGRADE) {
        without_hop(headers);
    }
    // hyper has already asked the client for the body.
    headers.remove(EXPECT);
    if let Some(accepted) = headers.get_mut(ACCEPT_ENCODING) {
        let has_gzip = accepted.to_str().is_ok_and(|text| text.contains("gzip"));
        *accepted = HeaderValue::from_static(if has_gzip { "gzip" } else { "identity" });
    }
    let tape = Arc::clone(&shared.tape);
    let mut request = request.map(|body| copied(body, move |bytes| lock(&tape).sent(place, bytes)));
    let mut connection = upstream.lock().await;
    let idle = connection
        .take()
        .filter(|(own, sender)| own == origin && !sender.is_closed());
    if let Some((_, mut sender)) = idle
        && sender.ready().await.is_ok()
    {
        match sender.try_send_request(request).await {
            Ok(response) => {
                *connection = Some((origin.clone(), sender));
                return Ok(response);
            }
            // The server had closed the connection before it received the request.
            Err(mut error) => match error.take_message() {
                Some(unsent) => request = unsent,
                None => return Err(error.into_error().to_string()),
            },
        }
    }
    let mut sender = shared.connector.open(origin).await?;
    let response = sender
        .send_request(request)
        .await
        .map_err(|error| error.to_string())?;
    *connection = Some((origin.clone(), sender));
    Ok(response)
}

fn lock(tape: &Mutex<Tape>) -> MutexGuard<'_, Tape> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A body that passes its bytes to a function as they go by.
fn copied(body: Incoming, see: impl Fn(&Bytes) + Send + Sync + 'static) -> Body {
    body.map_frame(move |frame| {
        if let Some(bytes) = frame.data_ref() {
            see(bytes);
        }
        frame
    })
    .boxed()
}

/// Connects both ends of a connection that is no longer HTTP, such as a WebSocket.
fn join(browser: OnUpgrade, server: OnUpgrade) {
    tokio::spawn(async move {
        if let (Ok(browser), Ok(server)) = (browser.await, server.await) {
            let (mut browser, mut server) = (TokioIo::new(browser), TokioIo::new(server));
            let _ = tokio::io::copy_bidirectional(&mut browser, &mut server).await;
        }
    });
}

/// Removes the hop-by-hop fields, including those that `Connection` names.
fn without_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    headers.remove(CONNECTION);
    for name in HOP {
        headers.remove(name);
    }
}

fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}

fn text(bytes: Vec<u8>) -> Body {
    Full::from(bytes).map_err(|never| match never {}).boxed()
}

fn status(code: StatusCode, why: &str) -> Response<Body> {
    let mut response = Response::new(text(why.as_bytes().to_vec()));
    *response.status_mut() = code;
    response
}
