//! A TCP connection to a server, encrypted or not.

use std::io::{self, Write as _};
use std::sync::{Arc, LazyLock};

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

pub enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.write_all(bytes).await,
            Stream::Encrypted(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    pub async fn read_buf(&mut self, into: &mut BytesMut) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read_buf(into).await,
            Stream::Encrypted(stream) => stream.read_buf(into).await,
        }
    }

    /// Writes as many bytes as the system takes at once.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.try_write(bytes).map(drop),
            Stream::Encrypted(stream) => {
                let (stream, session) = stream.get_mut();
                session.writer().write_all(bytes)?;
                session.send_close_notify();
                let mut records = Vec::new();
                while session.wants_write() {
                    session.write_tls(&mut records)?;
                }
                stream.try_write(&records).map(drop)
            }
        }
    }
}

/// Encrypts a connection without checking the server's certificate (`NonValidatingFactory`), and never resumes a session,
/// since the driver makes a new factory for each connection.
pub async fn encrypt(stream: TcpStream, host: &str) -> io::Result<Stream> {
    static CONFIG: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("the provider has suites of both versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Arc::new(config)
    });
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(CONFIG.clone());
    let stream = connector.connect(name, stream).await?;
    Ok(Stream::Encrypted(Box::new(stream)))
}

/// A verifier that accepts every certificate.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
