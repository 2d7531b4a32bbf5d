//! A gRPC server whose methods do what their requests say. Its service is `compat.Echo` of `compat/grpc/protos/echo.proto`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Request, Response};
use prost::Message;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// `compat.Say`.
#[derive(Clone, PartialEq, Message)]
struct Say {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(btree_map = "string, string", tag = "2")]
    metadata: BTreeMap<String, String>,
}

/// `compat.Order`.
#[derive(Clone, PartialEq, Message)]
struct Order {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    delay_ms: i32,
    #[prost(int32, tag = "4")]
    bytes: i32,
    #[prost(bool, tag = "5")]
    gzip: bool,
    #[prost(string, tag = "6")]
    odd: String,
}

/// `compat.Number`.
#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(int64, tag = "1")]
    value: i64,
}

/// `compat.Blob`.
#[derive(Clone, PartialEq, Message)]
struct Blob {
    #[prost(bytes = "vec", tag = "1")]
    data: Vec<u8>,
}

/// A server on 127.0.0.1. It serves until the program ends.
pub struct GrpcServer {
    address: SocketAddr,
    certificate: String,
}

impl GrpcServer {
    /// Starts a server without TLS. `descriptors` are files that it tells by reflection v1alpha, as `FileDescriptorProto`; there
    /// is no reflection if there are none.
    ///
    /// # Errors
    /// No port is free.
    pub fn start(descriptors: Vec<Vec<u8>>) -> std::io::Result<GrpcServer> {
        Self::start_with(None, String::new(), descriptors)
    }

    /// Starts a server with TLS that presents a certificate of its own.
    ///
    /// # Errors
    /// No port is free, or the certificate cannot be made.
    pub fn start_tls() -> std::io::Result<GrpcServer> {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
        let made = made.map_err(std::io::Error::other)?;
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(std::io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key);
        let mut config = config.map_err(std::io::Error::other)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Self::start_with(Some(Arc::new(config).into()), made.cert.pem(), Vec::new())
    }

    /// Its certificate in PEM; empty without TLS.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn start_with(
        tls: Option<TlsAcceptor>,
        certificate: String,
        descriptors: Vec<Vec<u8>>,
    ) -> std::io::Result<GrpcServer> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let descriptors = Arc::new(descriptors);
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    return;
                };
                while let Ok((stream, _)) = listener.accept().await {
                    let (tls, descriptors) = (tls.clone(), descriptors.clone());
                    tokio::spawn(async move {
                        let _ = stream.set_nodelay(true);
                        match tls {
                            None => serve(stream, descriptors).await,
                            Some(tls) => {
                                if let Ok(stream) = tls.accept(stream).await {
                                    serve(stream, descriptors).await;
                                }
                            }
                        }
                    });
                }
            });
        });
        Ok(GrpcServer {
            address,
            certificate,
        })
    }
}

type Descriptors = Arc<Vec<Vec<u8>>>;

/// After this time, a client that waits has sent everything.
const QUIET: Duration = Duration::from_millis(100);

/// A client that goes away ends its connection.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, descriptors: Descriptors) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let (closing, mut closed) = tokio::sync::mpsc::channel::<Reply>(1);
    loop {
        let accepted = tokio::select! {
            accepted = connection.accept() => accepted,
            reply = closed.recv() => {
                // A connection that closes with unread bytes resets: first take what the client has under way.
                let _ = tokio::time::timeout(QUIET, connection.accept()).await;
                // The stream ends after its connection, which then says nothing about it.
                return drop((connection, reply));
            }
        };
        let Some(Ok((request, respond))) = accepted else {
            return;
        };
        let (descriptors, closing) = (descriptors.clone(), closing.clone());
        tokio::spawn(async move {
            let mut reply = Reply { respond };
            if let Some(Closing) = answer(request, &mut reply, &descriptors).await {
                let _ = closing.send(reply).await;
            }
        });
    }
}

/// The connection is to be closed without a word.
struct Closing;

/// The rest of a response.
struct Reply {
    respond: SendResponse<Bytes>,
}

impl Reply {
    fn begin(
        &mut self,
        status: u16,
        headers: &[(&'static str, &str)],
        ends: bool,
    ) -> Option<h2::SendStream<Bytes>> {
        let mut response = Response::new(());
        *response.status_mut() = http::StatusCode::from_u16(status).ok()?;
        for (name, value) in headers {
            response
                .headers_mut()
                .append(*name, HeaderValue::from_str(value).ok()?);
        }
        self.respond.send_response(response, ends).ok()
    }

    /// Sends messages and the status OK.
    fn send(&mut self, messages: &[Vec<u8>], trailers: &[(&'static str, &str)]) -> Option<()> {
        let mut stream = self.begin(200, &[("content-type", "application/grpc")], false)?;
        for message in messages {
            stream.send_data(frame(0, message).into(), false).ok()?;
        }
        stream.send_trailers(fields(trailers)?).ok()
    }

    /// Sends a status without messages.
    fn fail(&mut self, code: i32, message: &str) -> Option<()> {
        let (code, message) = (code.to_string(), percent(message));
        let mut headers = vec![
            ("content-type", "application/grpc"),
            ("grpc-status", code.as_str()),
        ];
        if !message.is_empty() {
            headers.push(("grpc-message", &message));
        }
        self.begin(200, &headers, true).map(drop)
    }
}

const OK: &[(&str, &str)] = &[("grpc-status", "0")];

async fn answer(
    request: Request<RecvStream>,
    reply: &mut Reply,
    descriptors: &[Vec<u8>],
) -> Option<Closing> {
    let (head, body) = request.into_parts();
    let messages = messages(body).await?;
    let first = messages.first().cloned().unwrap_or_default();
    match head.uri.path() {
        "/compat.Echo/Hello" => {
            let mut say = Say::decode(first.as_slice()).ok()?;
            say.text = format!("Hello, {}", say.text);
            let shown = |name: &str| name.starts_with("x-") || name == "user-agent";
            let seen = head.headers.iter().filter(|(name, _)| shown(name.as_str()));
            say.metadata.extend(seen.map(|(name, value)| {
                (
                    name.to_string(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            }));
            reply.send(&[say.encode_to_vec()], OK);
        }
        "/compat.Echo/Types" => _ = reply.send(&[first], OK),
        "/compat.Echo/Obey" => {
            return obey(reply, &Order::decode(first.as_slice()).ok()?).await;
        }
        "/compat.Echo/Count" => {
            let order = Order::decode(first.as_slice()).ok()?;
            let headers = [("content-type", "application/grpc")];
            let mut stream = reply.begin(200, &headers, false)?;
            for value in 1..=i64::from(order.code) {
                pause(&order).await;
                let number = Number { value }.encode_to_vec();
                stream.send_data(frame(0, &number).into(), false).ok()?;
            }
            stream.send_trailers(fields(OK)?).ok()?;
        }
        "/compat.Echo/Sum" => {
            let numbers = messages
                .iter()
                .filter_map(|m| Number::decode(m.as_slice()).ok());
            let value = numbers.map(|number| number.value).sum();
            reply.send(&[Number { value }.encode_to_vec()], OK);
        }
        "/compat.Echo/Chat" => _ = reply.send(&messages, OK),
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
            if !descriptors.is_empty() =>
        {
            // Each question is answered with all files: a response with field 4, whose field 1 are the files.
            let files = Files {
                files: descriptors.to_vec(),
            };
            let told = Told { files: Some(files) }.encode_to_vec();
            reply.send(&vec![told; messages.len()], OK);
        }
        path => _ = reply.fail(12, &format!("there is no {path}")),
    }
    None
}

/// `ServerReflectionResponse`.
#[derive(Clone, PartialEq, Message)]
struct Told {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
}

/// `FileDescriptorResponse`.
#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// Waits as long as an order says.
async fn pause(order: &Order) {
    let ms = u64::try_from(order.delay_ms).unwrap_or(0);
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

async fn obey(reply: &mut Reply, order: &Order) -> Option<Closing> {
    pause(order).await;
    if !order.odd.is_empty() {
        return misbehave(reply, &order.odd);
    }
    if order.code != 0 {
        reply.fail(order.code, &order.message)?;
        return None;
    }
    let data = vec![b'x'; order.bytes.max(0) as usize];
    let message = Blob { data }.encode_to_vec();
    if order.gzip {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&message).ok()?;
        let headers = [
            ("content-type", "application/grpc"),
            ("grpc-encoding", "gzip"),
        ];
        let mut stream = reply.begin(200, &headers, false)?;
        stream
            .send_data(frame(1, &packer.finish().ok()?).into(), false)
            .ok()?;
        stream.send_trailers(fields(OK)?).ok()?;
    } else {
        reply.send(&[message], OK)?;
    }
    None
}

/// Violates the protocol in the way that a word names.
fn misbehave(reply: &mut Reply, how: &str) -> Option<Closing> {
    const GRPC: (&str, &str) = ("content-type", "application/grpc");
    let one = Blob {
        data: b"x".to_vec(),
    }
    .encode_to_vec();
    match how {
        "page" => {
            let mut stream = reply.begin(503, &[("content-type", "text/html")], false)?;
            stream.send_data(Bytes::from_static(b"busy"), true).ok()?;
        }
        "reset" => reply.respond.send_reset(h2::Reason::ENHANCE_YOUR_CALM),
        "close" => return Some(Closing),
        "none" => reply.send(&[], OK)?,
        "two" => reply.send(&[one.clone(), one], OK)?,
        "damaged" => reply.send(&[vec![0x0A, 0x7F]], OK)?,
        "no-status" => reply.send(&[one], &[("x-other", "1")])?,
        "encoding" => {
            let mut stream = reply.begin(200, &[GRPC, ("grpc-encoding", "zstd")], false)?;
            stream.send_data(frame(1, &one).into(), false).ok()?;
            stream.send_trailers(fields(OK)?).ok()?;
        }
        "flag" => {
            let mut stream = reply.begin(200, &[GRPC], false)?;
            stream.send_data(frame(7, &one).into(), false).ok()?;
            stream.send_trailers(fields(OK)?).ok()?;
        }
        "cut" => {
            let mut stream = reply.begin(200, &[GRPC], false)?;
            stream
                .send_data(Bytes::from_static(&[0, 0, 0]), false)
                .ok()?;
            stream.send_trailers(fields(OK)?).ok()?;
        }
        "status-late" => {
            let trailers = [("grpc-status", "9"), ("grpc-message", "too%20late %C3%A9")];
            reply.send(&[one], &trailers)?;
        }
        "metadata" => {
            let large = "y".repeat(9000);
            reply.send(&[one], &[("grpc-status", "0"), ("x-large", &large)])?;
        }
        _ => reply.fail(3, &format!("`{how}` is no order"))?,
    }
    None
}

async fn messages(mut body: RecvStream) -> Option<Vec<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.ok()?;
        bytes.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len()).ok()?;
    }
    let mut rest = bytes.as_slice();
    let mut found = Vec::new();
    while let Some((prefix, after)) = rest.split_first_chunk::<5>() {
        let [_, length @ ..] = *prefix;
        let (message, after) = after.split_at_checked(u32::from_be_bytes(length) as usize)?;
        found.push(message.to_vec());
        rest = after;
    }
    Some(found)
}

fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut bytes = vec![flag];
    bytes.extend((message.len() as u32).to_be_bytes());
    bytes.extend_from_slice(message);
    bytes
}

fn fields(list: &[(&'static str, &str)]) -> Option<HeaderMap> {
    let mut fields = HeaderMap::new();
    for (name, value) in list {
        fields.append(*name, HeaderValue::from_str(value).ok()?);
    }
    Some(fields)
}

/// A message in the percent-encoding of `grpc-message`.
fn percent(message: &str) -> String {
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'%';
    let encode = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    message.bytes().map(encode).collect()
}
