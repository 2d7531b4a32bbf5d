//! An HTTP/3 server on a loopback port that answers by path.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::server::RequestStream;
use h3_quinn::BidiStream;
use http::{Request, Response};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::PrivateKeyDer;
use tokio::sync::{Barrier, oneshot};

type Stream = RequestStream<BidiStream<Bytes>, Bytes>;

/// A running server. It ends when dropped.
pub struct Http3Server {
    /// The address on which it listens.
    pub address: SocketAddr,
    seen: Mutex<Receiver<String>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// The settings of a server.
#[derive(Clone, Copy)]
pub struct Http3Options {
    /// The protocol that it accepts in ALPN.
    pub alpn: &'static [u8],
    /// How long a connection may be idle before the server closes it.
    pub idle: Option<Duration>,
    /// How many requests for `/meet/…` must be waiting before all of them are answered.
    pub meeting: usize,
}

impl Default for Http3Options {
    fn default() -> Self {
        Self {
            alpn: b"h3",
            idle: None,
            meeting: 5,
        }
    }
}

impl Http3Server {
    /// Starts a server on a free loopback port.
    pub fn start() -> Self {
        Self::with(Http3Options::default())
    }

    /// Answers every path with `hello`, except: `/long/N` gets N bytes, `/echo` its body, `/empty` a 204, `/early` a 103
    /// first, `/missing` a 404, `/page` HTML with three images; `/refuse` and `/reject` are reset, `/cut` is reset after
    /// the head, `/silent` gets no response, `/enough` is answered before its body has arrived, `/goodbye` is the last
    /// request of its connection, and `/vanish` closes the connection at once.
    pub fn with(options: Http3Options) -> Self {
        let (tell_address, address) = channel();
        let (tell_seen, seen) = channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let any = SocketAddr::from(([127, 0, 0, 1], 0));
                let endpoint = Endpoint::server(config(options), any).expect("a free port");
                let bound = endpoint.local_addr().expect("it is bound");
                tell_address.send(bound).expect("the test waits");
                let meeting = Arc::new(Barrier::new(options.meeting));
                tokio::select! {
                    () = accept(&endpoint, &tell_seen, &meeting) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: address.recv().expect("it starts"),
            seen: Mutex::new(seen),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The requests since the last call: connection number, method, address, headers.
    pub fn seen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.try_iter().collect()
    }
}

impl Drop for Http3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "it panicked");
        }
    }
}

fn config(options: Http3Options) -> ServerConfig {
    let certified =
        rcgen::generate_simple_self_signed(["peer.test".to_owned()]).expect("a valid name");
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).expect("PKCS#8");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider knows it")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .expect("they belong together");
    tls.alpn_protocols = vec![options.alpn.to_vec()];
    let tls = QuicServerConfig::try_from(tls).expect("it has QUIC's suite");
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    let mut transport = TransportConfig::default();
    let idle = options.idle.map(|idle| idle.as_millis() as u32);
    transport.max_idle_timeout(idle.map(|ms| VarInt::from_u32(ms).into()));
    config.transport_config(Arc::new(transport));
    config
}

async fn accept(endpoint: &Endpoint, seen: &Sender<String>, meeting: &Arc<Barrier>) {
    let mut number = 0;
    while let Some(incoming) = endpoint.accept().await {
        let (seen, meeting) = (seen.clone(), meeting.clone());
        tokio::spawn(async move {
            if let Ok(connection) = incoming.await {
                serve(connection, number, seen, meeting).await;
            }
        });
        number += 1;
    }
}

async fn serve(
    connection: quinn::Connection,
    number: u32,
    seen: Sender<String>,
    meeting: Arc<Barrier>,
) {
    let quic = h3_quinn::Connection::new(connection.clone());
    let mut frames = h3::server::Connection::<_, Bytes>::new(quic)
        .await
        .expect("the client lets it open its streams");
    while let Ok(Some(resolver)) = frames.accept().await {
        let Ok((request, stream)) = resolver.resolve_request().await else {
            continue;
        };
        let mut text = format!("{number} {} {}", request.method(), request.uri());
        for (name, value) in request.headers() {
            text += &format!(" {name}={}", String::from_utf8_lossy(value.as_bytes()));
        }
        // The test may have ended.
        let _ = seen.send(text);
        match request.uri().path() {
            "/vanish" => {
                connection.close(VarInt::from_u32(0x102), b"");
                return;
            }
            "/goodbye" => {
                let said = frames.shutdown(0).await;
                said.expect("the control stream is open");
            }
            _ => {}
        }
        let meeting = meeting.clone();
        tokio::spawn(async move {
            // The client may have disconnected.
            let _ = answer(request, stream, meeting).await;
        });
    }
}

async fn answer(
    request: Request<()>,
    mut stream: Stream,
    meeting: Arc<Barrier>,
) -> Result<(), h3::error::StreamError> {
    let path = request.uri().path();
    let mut response = Response::builder().header("server", "peer");
    let mut body = Bytes::from_static(b"hello");
    match path {
        "/silent" => std::future::pending().await,
        "/refuse" => return cancel(&mut stream, Code::H3_INTERNAL_ERROR),
        "/reject" => return cancel(&mut stream, Code::H3_REQUEST_REJECTED),
        "/empty" => {
            let empty = response.status(204).body(()).expect("a response");
            stream.send_response(empty).await?;
            return stream.finish().await;
        }
        "/missing" => response = response.status(404),
        "/page" => {
            let page = "<html><img src=a.png><img src=b.png><img src=c.png></html>";
            response = response.header("content-type", "text/html");
            body = Bytes::from_static(page.as_bytes());
        }
        "/early" => {
            let early = Response::builder().status(103).body(());
            stream.send_response(early.expect("a response")).await?;
        }
        "/enough" => stream.stop_sending(Code::H3_NO_ERROR),
        "/echo" => {
            let mut all = Vec::new();
            while let Some(mut data) = stream.recv_data().await? {
                all.extend_from_slice(&data.copy_to_bytes(data.remaining()));
            }
            response = response.header("x-length", all.len());
            body = all.into();
        }
        _ => {
            if let Some(length) = path.strip_prefix("/long/") {
                body = vec![b'x'; length.parse().unwrap_or(0)].into();
            }
            if path.starts_with("/meet/") {
                meeting.wait().await;
            }
        }
    }
    let response = response.body(()).expect("a response");
    stream.send_response(response).await?;
    if path == "/cut" {
        return cancel(&mut stream, Code::H3_INTERNAL_ERROR);
    }
    stream.send_data(body).await?;
    stream.finish().await
}

fn cancel(stream: &mut Stream, code: Code) -> Result<(), h3::error::StreamError> {
    stream.stop_stream(code);
    Ok(())
}
