//! A TCP connection to a server, encrypted or not.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::BytesMut;
use drumfire_platform::files::read_regular;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{
    Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::SqlFailure;
use crate::address::Verification;

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

/// Encrypts a connection (`MakeSSL#convert`), and never resumes a session, since the driver makes a new factory for each
/// connection.
///
/// # Errors
/// pgjdbc's failures: no file with authorities, a certificate that is not trusted, a handshake that fails.
pub async fn encrypt(
    stream: TcpStream,
    host: &str,
    verification: &Verification,
) -> Result<Stream, SqlFailure> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let authorities = match verification.chain {
        true => Some(Arc::new(authorities(verification)?)),
        false => None,
    };
    let verifier = Verifier {
        provider: provider.clone(),
        authorities,
        verifies_name: verification.name,
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has suites of both versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| broken(format!("SSL error: {error}")))?;
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = connecting.await.map_err(|error| refused(&error, host))?;
    Ok(Stream::Encrypted(Box::new(stream)))
}

/// Reads the file of authorities (`LibPQFactory`), by default the one of libpq.
fn authorities(verification: &Verification) -> Result<RootCertStore, SqlFailure> {
    let file = match &verification.authorities {
        Some(file) => PathBuf::from(file),
        None => default_authorities(),
    };
    let shown = file.display();
    let mut store = RootCertStore::empty();
    let pem = read_regular(&file)
        .map_err(|_| broken(format!("Could not open SSL root certificate file {shown}.")))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let added = certificate.is_ok_and(|certificate| store.add(certificate).is_ok());
        if !added {
            return Err(unreadable(&shown));
        }
    }
    match store.is_empty() {
        true => Err(unreadable(&shown)),
        false => Ok(store),
    }
}

fn default_authorities() -> PathBuf {
    let folder = match cfg!(windows) {
        true => std::env::var_os("APPDATA").map(|folder| PathBuf::from(folder).join("postgresql")),
        false => std::env::home_dir().map(|home| home.join(".postgresql")),
    };
    folder.unwrap_or_default().join("root.crt")
}

fn unreadable(file: &dyn Display) -> SqlFailure {
    broken(format!(
        "Loading the SSL root certificate {file} into a TrustManager failed."
    ))
}

/// The driver's failure for a handshake that failed, with the words of Java's library where they are known.
fn refused(error: &io::Error, host: &str) -> SqlFailure {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    broken(match cause {
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => format!(
            "The hostname {host} could not be verified by hostnameverifier PgjdbcHostnameVerifier."
        ),
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "SSL error: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target".to_owned()
        }
        _ => format!("SSL error: {error}"),
    })
}

/// `PSQLState.CONNECTION_FAILURE`.
fn broken(message: String) -> SqlFailure {
    SqlFailure::new(super::CLASS, message, Some("08006"))
}

/// Verifies as much of a server's certificate as the address says.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// `None` trusts every certificate (`NonValidatingFactory`).
    authorities: Option<Arc<RootCertStore>>,
    verifies_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            verify_server_cert_signed_by_trust_anchor(
                &ParsedCertificate::try_from(certificate)?,
                authorities,
                intermediates,
                now,
                self.provider.signature_verification_algorithms.all,
            )?;
        }
        if self.verifies_name {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
