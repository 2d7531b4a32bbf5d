//! Opens a connection, encrypted as the address says.

use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use drumfire_platform::files::read_regular;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, SslOpts};
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

use super::{JdbcDriver, connector_j, mariadb};
use crate::address::{Encryption, Verification};
use crate::{DatabaseAddress, SqlFailure};

/// `mysql_async` lets a wrong name pass if the text of rustls's error has this word. The text quotes the expected name.
const ANY_NAME: &str = "NotValidForName";

/// Connects with encryption, unless the address forbids it, or the server lacks it and the address does not insist
/// (`NativeProtocol#negotiateSSLConnection` of Connector/J).
///
/// # Errors
/// The driver's failure.
pub async fn open(
    address: &DatabaseAddress,
    driver: JdbcDriver,
    builder: OptsBuilder,
) -> Result<(Conn, Opts), SqlFailure> {
    /// Servers that do not offer encryption.
    static PLAIN_SERVERS: Mutex<Vec<(String, u16)>> = Mutex::new(Vec::new());

    let server = (address.host.clone(), address.port);
    let plain_servers = || PLAIN_SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let failure = |error: Error| match driver {
        JdbcDriver::ConnectorJ => connector_j::failure(error),
        JdbcDriver::MariaDb => mariadb::not_connected(error, address),
    };
    let encryption = address.encryption();
    let is_plain = match encryption {
        Encryption::Disable => true,
        Encryption::Require => false,
        _ => plain_servers().contains(&server),
    };
    let plain: Opts = builder.clone().into();
    if !is_plain {
        let opts: Opts = builder.ssl_opts(tls(address.verification())?).into();
        match Conn::new(opts.clone()).await {
            Err(error @ Error::Driver(DriverError::NoClientSslFlagFromServer)) => {
                if encryption == Encryption::Require {
                    return Err(match driver {
                        JdbcDriver::ConnectorJ => connector_j::no_encryption(),
                        JdbcDriver::MariaDb => failure(error),
                    });
                }
                plain_servers().push(server);
            }
            connected => return Ok((connected.map_err(failure)?, opts)),
        }
    }
    let connection = Conn::new(plain.clone()).await.map_err(failure)?;
    Ok((connection, plain))
}

/// Without verification any certificate will do. With it, the certificate's chain must lead to an authority of the file, or else of
/// the system, as Java's own authorities usually are.
fn tls(verification: &Verification) -> Result<SslOpts, SqlFailure> {
    let options = SslOpts::default().with_danger_skip_domain_validation(!verification.name);
    if !verification.chain {
        return Ok(options.with_danger_accept_invalid_certs(true));
    }
    let authorities = match &verification.authorities {
        Some(file) => read_authorities(file)?,
        None => system_authorities(),
    };
    let authorities = authorities.into_iter().map(Into::into);
    let options = options
        .with_root_certs(authorities.collect())
        .with_disable_built_in_roots(verification.authorities.is_some());
    let any_name = (!verification.name).then_some(ANY_NAME);
    Ok(options.with_danger_tls_hostname_override(any_name))
}

/// The certificates of the system's authorities, in DER.
fn system_authorities() -> Vec<Vec<u8>> {
    static AUTHORITIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let system = rustls_native_certs::load_native_certs().certs;
        let usable = system
            .into_iter()
            .filter(|one| RootCertStore::empty().add(one.clone()).is_ok());
        usable.map(|one| one.to_vec()).collect()
    });
    AUTHORITIES.clone()
}

/// Reads the certificates of `serverSslCert`, the one setting that names a file.
fn read_authorities(file: &str) -> Result<Vec<Vec<u8>>, SqlFailure> {
    let pem = read_regular(Path::new(file)).map_err(|_| mariadb::no_authorities())?;
    let certificates = CertificateDer::pem_slice_iter(&pem);
    let certificates = certificates.map(|one| one.map(|one| one.to_vec()));
    let certificates: Result<Vec<_>, _> = certificates.collect();
    certificates.map_err(|_| mariadb::no_authorities())
}
