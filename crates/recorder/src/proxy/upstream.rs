//! Connections from the proxy to the site's servers.

use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::tape::Tape;

/// A body on its way through the proxy.
pub type Body = BoxBody<Bytes, hyper::Error>;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// `https` rather than `http`.
    pub is_secure: bool,
    /// A name or an address; IPv6 in brackets.
    pub host: String,
    pub port: u16,
}

impl Origin {
    /// The origin as a URL, without the default port.
    pub fn url(&self) -> String {
        let (scheme, usual) = if self.is_secure {
            ("https", 443)
        } else {
            ("http", 80)
        };
        if self.port == usual {
            format!("{scheme}://{}", self.host)
        } else {
            format!("{scheme}://{}:{}", self.host, self.port)
        }
    }

    fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// A connection without TLS.
    ///
    /// # Errors
    /// The host is unknown, or refuses the connection.
    pub async fn tcp(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect((self.bare_host(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Opens connections to servers.
#[derive(Clone)]
pub struct Connector {
    tls: Arc<ClientConfig>,
}

impl Connector {
    /// Trusts the certificates that the system trusts. Servers with other certificates are recorded as well, because test
    /// systems often use their own; the tape records their names.
    ///
    /// # Errors
    /// The TLS library rejects its own settings.
    pub fn new(tape: Arc<Mutex<Tape>>) -> Result<Connector, rustls::Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let trusted =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .ok();
        let verifier = Noting {
            trusted,
            algorithms: provider.signature_verification_algorithms,
            tape,
        };
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Connector { tls: Arc::new(tls) })
    }

    /// Opens a connection on which requests can be sent.
    ///
    /// # Errors
    /// The server cannot be reached or aborts the handshake.
    pub async fn open(&self, origin: &Origin) -> Result<SendRequest<Body>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", origin.url());
        let tcp = origin.tcp().await.map_err(|error| failed(&error))?;
        let mut builder = Builder::new();
        builder.preserve_header_case(true).title_case_headers(false);
        if !origin.is_secure {
            let (sender, connection) = builder
                .handshake(TokioIo::new(tcp))
                .await
                .map_err(|error| failed(&error))?;
            tokio::spawn(connection.with_upgrades());
            return Ok(sender);
        }
        let name =
            ServerName::try_from(origin.bare_host().to_owned()).map_err(|error| failed(&error))?;
        let tls = TlsConnector::from(Arc::clone(&self.tls))
            .connect(name, tcp)
            .await
            .map_err(|error| failed(&error))?;
        let (sender, connection) = builder
            .handshake(TokioIo::new(tls))
            .await
            .map_err(|error| failed(&error))?;
        tokio::spawn(connection.with_upgrades());
        Ok(sender)
    }
}

/// A verifier that accepts every certificate and records those that are not trusted.
#[derive(Debug)]
struct Noting {
    /// `None` on a system without trusted certificates.
    trusted: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
    tape: Arc<Mutex<Tape>>,
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.trusted.as_ref().map(|trusted| {
            trusted.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        if let Some(Err(error)) = verified {
            let mut tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
            tape.untrusted
                .insert(server_name.to_str().into_owned(), error.to_string());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
