//! The demo site's certificate: made at start, signed by itself, for `localhost` and `127.0.0.1`.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::TlsAcceptor;

/// Makes the certificate and what answers handshakes with it.
pub fn acceptor() -> Result<TlsAcceptor, Box<dyn std::error::Error + Send + Sync>> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certified = rcgen::generate_simple_self_signed(names)?;
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    // The provider is named, because a process may hold more than one and then has no default.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.into())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
