//! The certificate authority of the recording proxy. Each user has one, in a folder that only its owner can read. Name
//! constraints limit it to the recorded domains, and it is valid for 90 days.
//!
//! A browser that trusts it accepts its certificates only for these domains (RFC 5280, section 4.2.1.10), so a stolen key
//! endangers no other site.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::RecordError;
use jiff::civil::Date;
use jiff::{ToSpan as _, Zoned};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};

/// How long a new authority is valid, in days.
const DAYS: i64 = 90;

/// Stands for all domains.
pub const ANY_DOMAIN: &str = "*";

/// The description of an authority, as stored in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Description {
    name: String,
    /// Domains (with their subdomains), IP addresses, or [`ANY_DOMAIN`].
    domains: Vec<String>,
    begins: Date,
    ends: Date,
}

/// An authority with its key.
pub struct Authority {
    description: Description,
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    /// TLS settings, cached by host.
    configs: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

/// The location of an authority's certificate, and its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The file to import in browsers, in PEM.
    pub file: PathBuf,
    /// The domains that it covers, or `*` for all.
    pub domains: Vec<String>,
    /// The last day of its validity, such as `2026-12-31`.
    pub ends: String,
}

fn certificate_file(folder: &Path) -> PathBuf {
    folder.join("ca.pem")
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("ca.key")
}

fn description_file(folder: &Path) -> PathBuf {
    folder.join("ca.json")
}

/// The authority in a folder, if there is one.
pub fn shown(folder: &Path) -> Option<Certificate> {
    let description = Description::read(folder)?;
    Some(description.certificate(folder))
}

/// Removes the authority in a folder; returns whether there was one.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(folder: &Path) -> std::io::Result<bool> {
    let mut is_removed = false;
    for file in [
        certificate_file(folder),
        key_file(folder),
        description_file(folder),
    ] {
        match fs::remove_file(file) {
            Ok(()) => is_removed = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(is_removed)
}

impl Authority {
    /// Opens the authority in a folder if it covers the domains and is valid today, or else makes a new one. Returns whether
    /// it is new.
    ///
    /// # Errors
    /// Files cannot be read or written, or a domain is not a valid name.
    pub fn open(folder: &Path, domains: &[String]) -> Result<(Authority, bool), RecordError> {
        let today = Zoned::now().date();
        if let Some(description) = Description::read(folder)
            && description.ends > today
            && domains
                .iter()
                .all(|domain| covers(&description.domains, domain))
            && let Ok(key) = fs::read_to_string(key_file(folder))
            && let Ok(key) = KeyPair::from_pem(&key)
        {
            return Ok((Authority::with(description, folder, key)?, false));
        }
        let user = std::env::var("USER").unwrap_or_default();
        let of_user = if user.is_empty() {
            user
        } else {
            format!(" ({user})")
        };
        let description = Description {
            name: format!("Drumfire recording of {}{of_user}", domains.join(", ")),
            domains: domains.to_vec(),
            begins: today,
            ends: today.saturating_add(DAYS.days()),
        };
        let key = KeyPair::generate().map_err(RecordError::Certificate)?;
        let authority = Authority::with(description, folder, key)?;
        authority
            .write()
            .map_err(|error| RecordError::Authority(folder.to_owned(), error))?;
        Ok((authority, true))
    }

    fn with(
        description: Description,
        folder: &Path,
        key: KeyPair,
    ) -> Result<Authority, RecordError> {
        let parameters = description.parameters().map_err(RecordError::Certificate)?;
        Ok(Authority {
            issuer: Issuer::new(parameters, key),
            description,
            folder: folder.to_owned(),
            configs: Mutex::default(),
        })
    }

    fn write(&self) -> std::io::Result<()> {
        drumfire_platform::files::private_folder(&self.folder)?;
        remove(&self.folder)?;
        let parameters = self
            .description
            .parameters()
            .map_err(std::io::Error::other)?;
        let certificate = parameters
            .self_signed(self.issuer.key())
            .map_err(std::io::Error::other)?;
        private(&key_file(&self.folder), &self.issuer.key().serialize_pem())?;
        private(&certificate_file(&self.folder), &certificate.pem())?;
        private(
            &description_file(&self.folder),
            &self.description.json().to_string(),
        )
    }

    /// The location of its certificate.
    pub fn certificate(&self) -> Certificate {
        self.description.certificate(&self.folder)
    }

    /// The TLS settings of a connection on which the proxy impersonates this host.
    ///
    /// # Errors
    /// The host is not a valid name.
    pub fn server_config(&self, host: &str) -> Result<Arc<ServerConfig>, String> {
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = configs.get(host) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.issue(host).map_err(|error| error.to_string())?);
        configs.insert(host.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    fn issue(&self, host: &str) -> Result<ServerConfig, Box<dyn std::error::Error>> {
        let (certificate, key) = self.leaf(host)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key.into())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Issues a certificate with its own key, from which the serial number is derived.
    fn leaf(
        &self,
        host: &str,
    ) -> Result<(CertificateDer<'static>, PrivatePkcs8KeyDer<'static>), rcgen::Error> {
        let key = KeyPair::generate()?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let mut parameters = CertificateParams::new(vec![host.to_owned()])?;
        parameters.distinguished_name.push(DnType::CommonName, host);
        self.description.date(&mut parameters);
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        let private = PrivatePkcs8KeyDer::from(key.serialize_der());
        Ok((certificate.der().clone(), private))
    }
}

/// Writes a file that only its owner can read.
fn private(file: &Path, text: &str) -> std::io::Result<()> {
    drumfire_platform::files::private(file)?.write_all(text.as_bytes())
}

impl Description {
    fn read(folder: &Path) -> Option<Description> {
        let text = fs::read_to_string(description_file(folder)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let domains = value["domains"].as_array()?.iter();
        Some(Description {
            name: value["name"].as_str()?.to_owned(),
            domains: domains
                .map(|domain| domain.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            begins: value["begins"].as_str()?.parse().ok()?,
            ends: value["ends"].as_str()?.parse().ok()?,
        })
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "domains": self.domains,
            "begins": self.begins.to_string(),
            "ends": self.ends.to_string(),
        })
    }

    fn certificate(&self, folder: &Path) -> Certificate {
        Certificate {
            file: certificate_file(folder),
            domains: self.domains.clone(),
            ends: self.ends.to_string(),
        }
    }

    /// The certificate parameters. They must be the same after a restart, because the authority keeps issuing certificates
    /// with them.
    fn parameters(&self) -> Result<CertificateParams, rcgen::Error> {
        let mut parameters = CertificateParams::new(Vec::new())?;
        parameters
            .distinguished_name
            .push(DnType::CommonName, self.name.as_str());
        self.date(&mut parameters);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        if !self.domains.iter().any(|domain| domain == ANY_DOMAIN) {
            parameters.name_constraints = Some(self.constraints());
        }
        Ok(parameters)
    }

    fn constraints(&self) -> NameConstraints {
        let mut permitted = Vec::new();
        let mut excluded = Vec::new();
        let (addresses, names): (Vec<_>, Vec<_>) = self
            .domains
            .iter()
            .partition(|domain| address(domain).is_some());
        for ip in addresses.iter().filter_map(|domain| address(domain)) {
            let bits = if ip.is_ipv4() { 32 } else { 128 };
            permitted.push(GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(
                ip, bits,
            )));
        }
        permitted.extend(
            names
                .iter()
                .map(|name| GeneralSubtree::DnsName((*name).clone())),
        );
        // A kind of name that the constraints omit would be permitted.
        if addresses.is_empty() {
            for all in ["0.0.0.0", "::"] {
                let all: IpAddr = all.parse().expect("the address is well-formed");
                excluded.push(GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(
                    all, 0,
                )));
            }
        }
        if names.is_empty() {
            permitted.push(GeneralSubtree::DnsName("invalid".to_owned()));
        }
        NameConstraints {
            permitted_subtrees: permitted,
            excluded_subtrees: excluded,
        }
    }

    fn date(&self, parameters: &mut CertificateParams) {
        let time_of = |date: Date| {
            rcgen::date_time_ymd(i32::from(date.year()), part(date.month()), part(date.day()))
        };
        // Clocks and time zones differ by a day at most.
        parameters.not_before = time_of(self.begins.saturating_sub(1.day()));
        parameters.not_after = time_of(self.ends);
    }
}

fn part(number: i8) -> u8 {
    u8::try_from(number).unwrap_or(1)
}

/// Whether a host or a domain equals one of these domains or is a subdomain of one.
pub fn covers(domains: &[String], host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    domains.iter().any(|domain| {
        domain == ANY_DOMAIN
            || host == *domain
            || (host.ends_with(&format!(".{domain}")) && address(domain).is_none())
    })
}

fn address(domain: &str) -> Option<IpAddr> {
    domain
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{ServerName, UnixTime};

    use super::*;

    fn domains(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Whether a browser that trusts the authority accepts the certificate that it issues for this host.
    fn is_accepted(folder: &Path, authority: &Authority, host: &str) -> bool {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_file(certificate_file(folder)).expect("a certificate");
        roots.add(root).expect("a root");
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("a verifier");
        let leaf = authority.leaf(host).expect("a certificate").0;
        let name = ServerName::try_from(host.to_owned()).expect("a name");
        let verified = verifier.verify_server_cert(&leaf, &[], &name, &[], UnixTime::now());
        verified.is_ok()
    }

    #[test]
    fn the_authority_is_good_for_its_domains_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("recorder");
        let named = domains(&["shop.example", "127.0.0.1"]);
        let (authority, is_new) = Authority::open(&folder, &named).expect("an authority");
        assert!(is_new);
        for (host, accepted) in [
            ("shop.example", true),
            ("www.shop.example", true),
            ("127.0.0.1", true),
            ("bank.example", false),
            ("127.0.0.2", false),
            ("myshop.example", false),
        ] {
            assert_eq!(is_accepted(&folder, &authority, host), accepted, "{host}");
        }
        let (names_only, _) = Authority::open(&folder.join("names"), &domains(&["shop.example"]))
            .expect("an authority");
        assert!(!is_accepted(&folder.join("names"), &names_only, "10.0.0.1"));
        let (numbers_only, _) = Authority::open(&folder.join("numbers"), &domains(&["10.0.0.1"]))
            .expect("an authority");
        assert!(is_accepted(
            &folder.join("numbers"),
            &numbers_only,
            "10.0.0.1"
        ));
        assert!(!is_accepted(
            &folder.join("numbers"),
            &numbers_only,
            "bank.example"
        ));
    }

    #[test]
    fn it_is_kept_for_what_it_covers_and_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("recorder");
        let open =
            |names: &[&str]| Authority::open(&folder, &domains(names)).expect("an authority");
        open(&["shop.example"]);
        let first = fs::read(certificate_file(&folder)).expect("a certificate");
        let (again, is_new) = open(&["www.shop.example"]);
        assert!(!is_new);
        // It still issues certificates after a restart.
        assert!(is_accepted(&folder, &again, "www.shop.example"));
        assert_eq!(
            fs::read(certificate_file(&folder)).expect("a certificate"),
            first
        );
        assert!(open(&["other.example"]).1);
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&key_file(&folder))), (0o700, 0o600));
        assert!(remove(&folder).expect("it can be removed"));
        assert!(!remove(&folder).expect("nothing is left"));
        assert!(shown(&folder).is_none());
    }
}
