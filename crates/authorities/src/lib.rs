//! The certificate authorities that the program's own TLS connections trust, and the credentials in their URLs. Outputs, sources
//! of metrics and jar repositories use them.
//!
//! Trusted authorities are those of the system (`SSL_CERT_FILE` and `SSL_CERT_DIR` override them) and those of a file that the
//! user names, such as a company's. If the system has none, as in a container without certificates, the built-in ones of Mozilla
//! apply. Servers under test do not use this crate: they are only verified on request.

#![warn(missing_docs)]

mod credentials;
mod failures;

pub use credentials::without_credentials;
pub use failures::told;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use drumfire_platform::causes::unreadable;
use drumfire_platform::files::read_named;
use drumfire_platform::spelling::absent;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use thiserror::Error;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Why a file of authorities cannot be used.
#[derive(Debug, Error)]
#[error("{why}\nhint: {hint}")]
pub struct AuthoritiesError {
    why: String,
    hint: String,
}

/// The remedy for a file of another kind.
const PEM: &str = "name a file with certificates in PEM";

/// Authorities to trust in addition to the system's; none by default.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    own: Arc<[Certificate<'static>]>,
}

/// The system's authorities. Loading them takes milliseconds, so it is done once, for the first connection over TLS.
static SYSTEM: OnceLock<Vec<Certificate<'static>>> = OnceLock::new();

impl Authorities {
    /// Reads authorities from a file with certificates in PEM.
    ///
    /// # Errors
    /// The file cannot be read or contains no certificate.
    pub fn read(file: &Path) -> Result<Authorities, AuthoritiesError> {
        let wrong = |error: PemError| {
            let (why, hint) = match error {
                PemError::Io(error) if error.kind() == ErrorKind::NotFound => {
                    (unreadable(file, &error), absent(file))
                }
                PemError::Io(error) => (unreadable(file, &error), PEM.to_owned()),
                _ => (
                    format!("`{}` has no certificate that can be read", file.display()),
                    PEM.to_owned(),
                ),
            };
            AuthoritiesError { why, hint }
        };
        let pem = read_named(file).map_err(|error| wrong(PemError::Io(error)))?;
        let certificates =
            CertificateDer::pem_slice_iter(&pem).map(|one| one.map(|one| certificate(&one)));
        let own: Vec<_> = certificates.collect::<Result<_, _>>().map_err(wrong)?;
        if own.is_empty() {
            Err(wrong(PemError::NoItemsFound))
        } else {
            Ok(Authorities { own: own.into() })
        }
    }

    /// The settings of a client that verifies every server's certificate and name.
    #[must_use]
    pub fn tls(&self) -> TlsConfig {
        let system = SYSTEM.get_or_init(of_system);
        let all: Vec<_> = system.iter().chain(self.own.iter()).cloned().collect();
        let roots = if all.is_empty() {
            RootCerts::WebPki
        } else {
            RootCerts::new_with_certs(&all)
        };
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(provider))
            .root_certs(roots)
            .build()
    }
}

/// Whether a URL uses TLS.
#[must_use]
pub fn is_tls(url: &str) -> bool {
    let scheme = url.get(..8).unwrap_or_default();
    scheme.eq_ignore_ascii_case("https://")
}

fn of_system() -> Vec<Certificate<'static>> {
    let native = rustls_native_certs::load_native_certs();
    for error in native.errors {
        tracing::warn!("authorities of the system: {error}");
    }
    native.certs.iter().map(|one| certificate(one)).collect()
}

fn certificate(der: &CertificateDer<'_>) -> Certificate<'static> {
    Certificate::from_der(der).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Authorities, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, content).expect("it is written");
        Authorities::read(&file).map_err(|error| error.to_string())
    }

    #[test]
    fn every_certificate_of_a_file_is_read() {
        let made = |name: &str| rcgen::generate_simple_self_signed([name.to_owned()]);
        let pem = |name: &str| made(name).expect("it is made").cert.pem();
        let both = read(&format!("a note\n{}{}", pem("a"), pem("b"))).expect("both are good");
        assert_eq!(both.own.len(), 2);
    }

    #[test]
    fn a_file_without_certificates_is_refused_with_its_name() {
        let why = read("no certificate\n").expect_err("there is none");
        assert!(
            why.contains("ca.pem") && why.contains("no certificate"),
            "{why}"
        );
        let why = Authorities::read(Path::new("/nowhere/ca.pem")).expect_err("there is no file");
        assert!(why.to_string().contains("/nowhere/ca.pem"), "{why}");
        let cut = "-----BEGIN CERTIFICATE-----\nMIIB\n";
        assert!(read(cut).is_err(), "it is cut off");
    }
}
