//! TLS settings: protocol versions, session resumption, and verification of certificates.

#[cfg(feature = "http3")]
use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::version::HttpVersion;
use drumfire_certificates::{has_common_name, is_own_authority};
use drumfire_platform::files::read_named;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionStore, ResolvesClientCert, Resumption, Tls12ClientSessionValue,
    Tls13ClientSessionValue, verify_server_name,
};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
pub use rustls::pki_types::pem::Error as CertificatesError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, Error, NamedGroup,
    RootCertStore, SignatureScheme, SupportedProtocolVersion, version,
};

/// The TLS settings of a whole run, shared by all workers.
pub struct Tls {
    base: Arc<ClientConfig>,
    /// The same, but offering HTTP/2.
    base_http2: Arc<ClientConfig>,
    /// The same for QUIC, if the settings include its version and cipher suite (RFC 9001 sections 4.2 and 5.3).
    #[cfg(feature = "http3")]
    base_http3: Option<Arc<ClientConfig>>,
    sessions: TlsSessions,
    verifies: bool,
    /// If sessions are shared: the configuration for each host and port, with its sessions.
    shared: Mutex<Vec<SharedTls>>,
}

/// The configuration of all users for a host and port.
struct SharedTls {
    host: Arc<str>,
    port: u16,
    version: HttpVersion,
    config: Arc<ClientConfig>,
}

/// The ALPN name of HTTP/2 (RFC 9113 section 3.1).
pub(crate) const ALPN_HTTP2: &[u8] = b"h2";
/// The ALPN name of HTTP/3 (RFC 9114 section 3.1).
#[cfg(feature = "http3")]
const ALPN_HTTP3: &[u8] = b"h3";

#[cfg(feature = "http3")]
thread_local! {
    static CERTIFICATES_SEEN: Cell<u64> = const { Cell::new(0) };
    static REFUSED: Cell<Option<CertificateError>> = const { Cell::new(None) };
}

/// Why this thread refused a server's certificate last. QUIC's library passes on a text only.
#[cfg(feature = "http3")]
pub(crate) fn take_refused() -> Option<CertificateError> {
    REFUSED.take()
}

/// The number of certificates that servers have presented to this thread.
#[cfg(feature = "http3")]
pub(crate) fn certificates_seen() -> u64 {
    CERTIFICATES_SEEN.get()
}

/// TLS settings. The default is TLS 1.2 and 1.3, resumption per user, and trust in every server.
#[derive(Debug, Clone)]
pub struct TlsOptions {
    /// Enable TLS 1.2.
    pub tls12: bool,
    /// Enable TLS 1.3.
    pub tls13: bool,
    /// The sessions that a handshake may resume.
    pub sessions: TlsSessions,
    /// Offer X25519MLKEM768 first. It enlarges the client hello by about 1.2 KB.
    pub post_quantum: bool,
    /// Protocols to offer by ALPN; none by default.
    pub alpn: Vec<Vec<u8>>,
    /// Offer only these cipher suites, by their IANA names; unknown names are ignored. Empty: all.
    pub cipher_suites: Vec<String>,
    /// Send the server's name in the client hello.
    pub names_server: bool,
    /// The servers to trust.
    pub trust: Trust,
    /// Whether a trusted certificate must also be one of the server's name.
    pub checks_name: bool,
}

/// The servers to trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// All of them, as JMeter does.
    #[default]
    All,
    /// Servers with a certificate that the system's authorities issued. `SSL_CERT_FILE` and `SSL_CERT_DIR` override these.
    System,
    /// Servers with a certificate that these authorities issued, or with one of these certificates; in DER.
    Authorities(Vec<Vec<u8>>),
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            tls12: true,
            tls13: true,
            sessions: TlsSessions::PerUser,
            post_quantum: false,
            alpn: Vec::new(),
            cipher_suites: Vec::new(),
            names_server: true,
            trust: Trust::All,
            checks_name: true,
        }
    }
}

/// The TLS sessions that a handshake may resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsSessions {
    /// Sessions of the same user.
    PerUser,
    /// One store for all users of all workers.
    Shared,
    /// None: every handshake is a full one.
    Never,
}

impl Tls {
    /// Fails if no protocol version is enabled, if no enabled version supports any of the cipher suites, or if there is no
    /// authority to trust.
    pub fn new(options: &TlsOptions) -> Result<Arc<Self>, Error> {
        let mut provider = aws_lc_rs::default_provider();
        let mut groups = vec![
            aws_lc_rs::kx_group::X25519,
            aws_lc_rs::kx_group::SECP256R1,
            aws_lc_rs::kx_group::SECP384R1,
        ];
        if options.post_quantum {
            groups.insert(0, aws_lc_rs::kx_group::X25519MLKEM768);
        }
        provider.kx_groups = groups;
        if !options.cipher_suites.is_empty() {
            provider.cipher_suites.retain(|suite| {
                let name = iana_name(suite.suite());
                options.cipher_suites.contains(&name)
            });
        }
        let provider = Arc::new(provider);

        let mut versions: Vec<&'static SupportedProtocolVersion> = Vec::new();
        if options.tls13 {
            versions.push(&version::TLS13);
        }
        if options.tls12 {
            versions.push(&version::TLS12);
        }
        let verifier = Verifier {
            authorities: authorities(&options.trust, &provider)?,
            named: match &options.trust {
                Trust::Authorities(named) => named.clone(),
                Trust::All | Trust::System => Vec::new(),
            },
            checks_name: options.checks_name,
            provider: provider.clone(),
        };
        let verifies = verifier.authorities.is_some();
        let mut base = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        base.alpn_protocols.clone_from(&options.alpn);
        base.enable_sni = options.names_server;
        base.resumption = Resumption::disabled();
        let mut base_http2 = base.clone();
        base_http2.alpn_protocols = vec![ALPN_HTTP2.to_vec(), b"http/1.1".to_vec()];
        #[cfg(feature = "http3")]
        let base_http3 = {
            let suites = &base.crypto_provider().cipher_suites;
            let has_suite = suites
                .iter()
                .any(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
            (options.tls13 && has_suite).then(|| {
                let mut base_http3 = base.clone();
                base_http3.alpn_protocols = vec![ALPN_HTTP3.to_vec()];
                Arc::new(base_http3)
            })
        };
        Ok(Arc::new(Self {
            base: Arc::new(base),
            base_http2: Arc::new(base_http2),
            #[cfg(feature = "http3")]
            base_http3,
            sessions: options.sessions,
            verifies,
            shared: Mutex::default(),
        }))
    }

    /// The configuration of one user for a host and port. Users without their own sessions or identity share one.
    ///
    /// rustls resumes a session only with the same verifier and client certificate resolver objects that it was made with, so
    /// all configurations are clones of one base.
    pub(crate) fn for_user(
        &self,
        host: &Arc<str>,
        port: u16,
        version: HttpVersion,
        identity: Option<&Arc<Identity>>,
    ) -> Arc<ClientConfig> {
        let config = match self.sessions {
            TlsSessions::Never => self.base(version).clone(),
            TlsSessions::PerUser => self.with_sessions(version),
            TlsSessions::Shared => self.shared(host, port, version),
        };
        let Some(identity) = identity else {
            return config;
        };
        let mut config = Arc::unwrap_or_clone(config);
        config.client_auth_cert_resolver = identity.resolver.clone();
        Arc::new(config)
    }

    /// Whether a server's certificate must be valid for its name.
    pub(crate) fn verifies(&self) -> bool {
        self.verifies
    }

    #[cfg(feature = "http3")]
    pub(crate) fn is_fit_for_quic(&self) -> bool {
        self.base_http3.is_some()
    }

    fn base(&self, version: HttpVersion) -> &Arc<ClientConfig> {
        match version {
            HttpVersion::Http1 => &self.base,
            HttpVersion::Http2 => &self.base_http2,
            #[cfg(feature = "http3")]
            HttpVersion::Http3 => self.base_http3.as_ref().unwrap_or(&self.base),
            #[cfg(not(feature = "http3"))]
            HttpVersion::Http3 => &self.base,
        }
    }

    fn with_sessions(&self, version: HttpVersion) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(self.base(version));
        config.resumption = Resumption::store(Arc::new(SessionStore::default()));
        Arc::new(config)
    }

    /// The configuration of all users for a host and port.
    fn shared(&self, host: &Arc<str>, port: u16, version: HttpVersion) -> Arc<ClientConfig> {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let session = all
            .iter()
            .find(|known| known.port == port && known.version == version && known.host == *host);
        if let Some(session) = session {
            return session.config.clone();
        }
        let config = self.with_sessions(version);
        all.push(SharedTls {
            host: host.clone(),
            port,
            version,
            config: config.clone(),
        });
        config
    }
}

/// The cipher suite's name in Java and at IANA; rustls names those of TLS 1.3 differently.
fn iana_name(suite: CipherSuite) -> String {
    suite
        .as_str()
        .unwrap_or_default()
        .replacen("TLS13_", "TLS_", 1)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

/// A client certificate and its key.
pub struct Identity {
    resolver: Arc<dyn ResolvesClientCert>,
}

impl Identity {
    /// Builds an identity from certificates in DER, the client's own first, and its private key in DER (PKCS#8, PKCS#1 or
    /// SEC1). Fails if the kind of key is not supported or the key does not match the certificate.
    pub fn from_der(
        chain: Vec<Vec<u8>>,
        key: Vec<u8>,
    ) -> Result<Arc<Self>, Box<dyn std::error::Error>> {
        let chain = chain.into_iter().map(CertificateDer::from).collect();
        let key = PrivateKeyDer::try_from(key)?;
        let certified = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())?;
        Ok(Arc::new(Self {
            resolver: Arc::new(SingleCertAndKey::from(certified)),
        }))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// Reads the certificates of a PEM file, in DER.
///
/// # Errors
/// If the file cannot be read or contains no certificate.
pub fn certificates(file: impl AsRef<Path>) -> Result<Vec<Vec<u8>>, CertificatesError> {
    let pem = read_named(file.as_ref()).map_err(CertificatesError::Io)?;
    let certificates_found: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .map(|one| one.map(|one| one.to_vec()))
        .collect::<Result<_, _>>()?;
    if certificates_found.is_empty() {
        Err(CertificatesError::NoItemsFound)
    } else {
        Ok(certificates_found)
    }
}

/// The authorities to trust; `None` trusts every server.
fn authorities(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<WebPkiServerVerifier>>, Error> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::All => return Ok(None),
        Trust::System => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Trust::Authorities(authorities) => {
            for authority in authorities {
                roots.add(CertificateDer::from(authority.clone()))?;
            }
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map(Some)
        .map_err(|error| Error::General(error.to_string()))
}

/// Verifies certificates against the authorities, if there are any. Otherwise it accepts every certificate and does not check
/// handshake signatures either.
///
/// A load generator mostly tests servers whose certificates are self-signed, expired or issued for another name. Skipping the
/// signature saves about the cost of one RSA or ECDSA verification per full handshake.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that the user named, in DER. A server may present one of them as its own.
    named: Vec<Vec<u8>>,
    checks_name: bool,
}

impl Verifier {
    /// Accepts a trusted certificate of another name, if names do not count.
    fn accept_other_name(&self, refused: Error) -> Result<ServerCertVerified, Error> {
        let is_only_name = matches!(
            &refused,
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
            )
        );
        if is_only_name && !self.checks_name {
            return Ok(ServerCertVerified::assertion());
        }
        Err(refused)
    }

    /// Accepts a certificate that the user named although it may also sign others, as a self-signed one may. Checks its name.
    fn accept_named(
        &self,
        certificate: &CertificateDer<'_>,
        name: &ServerName<'_>,
        refused: Error,
    ) -> Result<ServerCertVerified, Error> {
        let is_named = self.named.iter().any(|named| **named == **certificate);
        let is_refused_for_that =
            matches!(&refused, Error::InvalidCertificate(why) if is_own_authority(why));
        if !is_named || !is_refused_for_that {
            return Err(refused);
        }
        match verify_server_name(&ParsedCertificate::try_from(certificate)?, name) {
            Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                presented,
                ..
            })) if presented.is_empty() && has_common_name(certificate, name) => {}
            checked => checked?,
        }
        Ok(ServerCertVerified::assertion())
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        #[cfg(feature = "http3")]
        CERTIFICATES_SEEN.set(CERTIFICATES_SEEN.get() + 1);
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        authorities
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .or_else(|refused| self.accept_named(end_entity, server_name, refused))
            .or_else(|refused| self.accept_other_name(refused))
            .inspect_err(|refused| {
                #[cfg(feature = "http3")]
                if let Error::InvalidCertificate(why) = refused {
                    REFUSED.set(Some(why.clone()));
                }
                #[cfg(not(feature = "http3"))]
                let _ = refused;
            })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.authorities {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(authorities) => authorities.verify_tls12_signature(message, cert, dss),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match &self.authorities {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(authorities) => authorities.verify_tls13_signature(message, cert, dss),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Limit of servers in a store; the oldest entry is dropped for a new one.
const MAX_SERVERS: usize = 256;

/// A store of resumable sessions. Unlike rustls' own store, it allocates nothing until there is a session, because every user
/// has one.
#[derive(Default)]
struct SessionStore {
    servers: Mutex<Vec<TlsServer>>,
}

struct TlsServer {
    name: ServerName<'static>,
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// Only the newest ticket is kept, and for one handshake: Java finds sessions by host and port
    /// (`SSLSessionContextImpl.put`) and removes those of TLS 1.3 when it offers them.
    ticket: Option<Tls13ClientSessionValue>,
}

impl SessionStore {
    /// Passes a server's entry to `look`, if there is one.
    fn find<T>(
        &self,
        name: &ServerName<'_>,
        look: impl FnOnce(&mut TlsServer) -> Option<T>,
    ) -> Option<T> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.iter_mut().find(|s| s.name == *name).and_then(look)
    }

    /// Changes a server's entry, which is created if missing.
    fn edit(&self, name: ServerName<'static>, change: impl FnOnce(&mut TlsServer)) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let at = servers.iter().position(|s| s.name == name);
        let at = at.unwrap_or_else(|| {
            if servers.len() == MAX_SERVERS {
                servers.remove(0);
            }
            servers.push(TlsServer {
                name,
                group: None,
                tls12: None,
                ticket: None,
            });
            servers.len() - 1
        });
        change(&mut servers[at]);
    }
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionStore")
    }
}

impl ClientSessionStore for SessionStore {
    fn set_kx_hint(&self, server_name: ServerName<'static>, group: NamedGroup) {
        self.edit(server_name, |server| server.group = Some(group));
    }

    fn kx_hint(&self, server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.find(server_name, |server| server.group)
    }

    fn set_tls12_session(&self, server_name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.edit(server_name, |server| server.tls12 = Some(value));
    }

    fn tls12_session(&self, server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.find(server_name, |server| server.tls12.clone())
    }

    fn remove_tls12_session(&self, server_name: &ServerName<'static>) {
        self.find(server_name, |server| server.tls12.take());
    }

    fn insert_tls13_ticket(
        &self,
        server_name: ServerName<'static>,
        value: Tls13ClientSessionValue,
    ) {
        self.edit(server_name, |server| server.ticket = Some(value));
    }

    fn take_tls13_ticket(
        &self,
        server_name: &ServerName<'static>,
    ) -> Option<Tls13ClientSessionValue> {
        self.find(server_name, |server| server.ticket.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_empty_until_used_and_bounded() {
        let store = SessionStore::default();
        assert_eq!(store.servers.lock().expect("nobody panicked").capacity(), 0);
        let name = |n: usize| ServerName::try_from(format!("s{n}.test")).expect("a name");
        for n in 0..=MAX_SERVERS {
            store.set_kx_hint(name(n), NamedGroup::X25519);
        }
        assert_eq!(store.kx_hint(&name(0)), None);
        assert_eq!(store.kx_hint(&name(1)), Some(NamedGroup::X25519));
        assert_eq!(store.kx_hint(&name(MAX_SERVERS)), Some(NamedGroup::X25519));
        assert!(store.tls12_session(&name(1)).is_none());
        assert!(store.take_tls13_ticket(&name(1)).is_none());
    }

    #[test]
    fn users_without_anything_of_their_own_share_a_configuration() {
        let shares = |sessions| {
            let options = TlsOptions {
                sessions,
                ..TlsOptions::default()
            };
            let tls = Tls::new(&options).expect("the options are valid");
            let user = |port| tls.for_user(&"shop.test".into(), port, HttpVersion::Http1, None);
            if sessions == TlsSessions::Shared {
                assert!(!Arc::ptr_eq(&user(443), &user(8443)));
            }
            Arc::ptr_eq(&user(443), &user(443))
        };
        assert!(shares(TlsSessions::Shared));
        assert!(shares(TlsSessions::Never));
        assert!(!shares(TlsSessions::PerUser));
    }

    #[test]
    fn cipher_suites_are_named_as_java_names_them() {
        let suites = |names: &[&str]| {
            let options = TlsOptions {
                cipher_suites: names.iter().map(|name| (*name).to_owned()).collect(),
                ..TlsOptions::default()
            };
            let tls = Tls::new(&options).ok()?;
            Some(tls.base.crypto_provider().cipher_suites.len())
        };
        let weak = "TLS_RSA_WITH_AES_128_CBC_SHA";
        assert_eq!(suites(&[weak]), None);
        assert_eq!(suites(&["TLS_AES_128_GCM_SHA256", weak]), Some(1));
        let both = [
            "TLS_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ];
        assert_eq!(suites(&both), Some(2));
        assert!(suites(&[]) > Some(5));
    }

    #[test]
    fn no_large_key_share_unless_asked() {
        let first_group = |post_quantum| {
            let options = TlsOptions {
                post_quantum,
                ..TlsOptions::default()
            };
            let tls = Tls::new(&options).expect("the options are valid");
            tls.base.crypto_provider().kx_groups[0].name()
        };
        assert_eq!(first_group(false), NamedGroup::X25519);
        assert_eq!(first_group(true), NamedGroup::X25519MLKEM768);
    }
}
