//! A TLS server over rustls' blocking stream.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls::{SupportedProtocolVersion, version};

/// A server that answers each request of a connection with the name the client asked for by
/// SNI and ends the connection upon `/close`; `/long/N` gets N bytes, `/echo` a body back, `/after/MS` an answer after a pause.
pub struct Server {
    pub address: SocketAddr,
}

/// A self-signed certificate in DER, and its key.
pub fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(vec![name.to_owned()]).expect("a valid name")
}

impl Server {
    pub fn start() -> Self {
        Self::with(&[&version::TLS12, &version::TLS13], None, false)
    }

    pub fn behind_connect() -> Self {
        Self::with(&[&version::TLS12, &version::TLS13], None, true)
    }

    pub fn speaking(versions: &[&'static SupportedProtocolVersion]) -> Self {
        Self::with(versions, None, false)
    }

    /// A server that shows this certificate so many times in its chain.
    pub fn showing(
        shown: &CertifiedKey<KeyPair>,
        times: usize,
        version: &'static SupportedProtocolVersion,
    ) -> Self {
        Self::with_certificate((shown, times), &[version], None, false)
    }

    /// A server that wants this certificate of its clients.
    pub fn for_client(client: &CertifiedKey<KeyPair>) -> Self {
        Self::with(&[&version::TLS12, &version::TLS13], Some(client), false)
    }

    fn with(
        versions: &[&'static SupportedProtocolVersion],
        client: Option<&CertifiedKey<KeyPair>>,
        connect: bool,
    ) -> Self {
        Self::with_certificate((&certificate("peer.test"), 1), versions, client, connect)
    }

    fn with_certificate(
        (shown, times): (&CertifiedKey<KeyPair>, usize),
        versions: &[&'static SupportedProtocolVersion],
        client: Option<&CertifiedKey<KeyPair>>,
        connect: bool,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let CertifiedKey { cert, signing_key } = shown;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("PKCS#8");
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .expect("the provider knows them");
        let builder = match client {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let mut roots = RootCertStore::empty();
                roots.add(client.cert.der().clone()).expect("a certificate");
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().expect("there is a root"))
            }
        };
        let config = builder
            .with_single_cert(vec![cert.der().clone(); times], key)
            .expect("the key fits");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("the listener is bound");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let config = config.clone();
                // A client that goes away early is what some tests are about.
                thread::spawn(move || serve(stream, config, connect));
            }
        });
        Self { address }
    }
}

fn serve(mut stream: TcpStream, config: Arc<ServerConfig>, connect: bool) -> std::io::Result<()> {
    if connect {
        read_head(&mut stream)?;
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nContent-Length: 9\r\n\r\n")?;
    }
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    loop {
        let head = read_head(&mut tls)?;
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        if let Some(ms) = path.strip_prefix("/after/") {
            let ms = ms.parse().map_err(std::io::Error::other)?;
            thread::sleep(std::time::Duration::from_millis(ms));
        }
        let body = if path == "/echo" {
            let length = head.split("Content-Length: ").nth(1).unwrap_or_default();
            let length = length.lines().next().unwrap_or_default().parse();
            let mut body = vec![0; length.unwrap_or(0)];
            tls.read_exact(&mut body)?;
            body
        } else if let Some(length) = path.strip_prefix("/long/") {
            let length = length.parse().map_err(std::io::Error::other)?;
            (0..length).map(|n: usize| (n % 251) as u8).collect()
        } else {
            format!("name={}", tls.conn.server_name().unwrap_or("none")).into_bytes()
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        tls.write_all(&[head.as_bytes(), &body].concat())?;
        tls.flush()?;
        if path == "/close" {
            tls.conn.send_close_notify();
            tls.flush()?;
            // Stays open beneath TLS.
            thread::sleep(std::time::Duration::from_secs(5));
            return Ok(());
        }
    }
}

fn read_head(stream: &mut impl Read) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
