//! TLS of mail samplers: when it begins, and which servers are trusted (`SecuritySettingsPanel`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_elements::shared::mail_security as facts;
use drumfire_expr::Template;
use drumfire_http::{Tls, TlsOptions, TlsSessions, Trust};
use drumfire_java::{Exception, file_server};

use crate::decode::Decoder;
use crate::decode::setting::Flag;
use crate::elements::config::jks;
use crate::elements::samplers::http::state::authorities;
use crate::run::context::Context;

/// The settings of TLS.
pub struct SecuritySettings {
    ssl: Flag,
    start_tls: Flag,
    trusts_all: Flag,
    has_store: Flag,
    store: Template,
    protocols: Template,
    base_dir: PathBuf,
}

/// When TLS begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    Never,
    /// Before the server's greeting.
    AtOnce,
    /// With a command, if the server offers it. JMeter sets a property that JavaMail 1.5.0-b01 does not know to enforce it, so it is
    /// not enforced.
    Later,
}

/// The settings of one sample.
pub struct Security {
    pub begin: Begin,
    /// The settings of TLS; JavaMail tries the second ones on a new connection if TLS that begins at once fails with the first.
    pub tls: Vec<Secure>,
}

/// Settings of TLS, or why a handshake fails without being tried.
#[derive(Clone)]
pub enum Secure {
    With(Arc<Tls>),
    /// Nobody is trusted, or no version of TLS is left.
    Hopeless,
    /// A version of TLS is not known.
    UnknownProtocol(String),
}

/// The servers that are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Trusted {
    All,
    Default,
    Store(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TlsKey {
    trusted: Trusted,
    tls12: bool,
    tls13: bool,
}

/// The settings of TLS that the run's mail samplers share. `None` trusts nobody.
#[derive(Default)]
struct KnownTls(Mutex<HashMap<TlsKey, Option<Arc<Tls>>>>);

impl SecuritySettings {
    pub fn decode(d: &mut Decoder, of: &dyn Fn(&mut Decoder, &str) -> Template) -> Self {
        let mut flag = |name| Flag::of(of(d, name));
        let (ssl, start_tls) = (flag(facts::SSL.name), flag(facts::START_TLS.name));
        let trusts_all = flag(facts::TRUST_ALL.name);
        let has_store = flag(facts::USE_TRUST_STORE.name);
        SecuritySettings {
            ssl,
            start_tls,
            trusts_all,
            has_store,
            store: of(d, facts::TRUST_STORE.name),
            protocols: of(d, facts::TLS_PROTOCOLS.name),
            base_dir: d.settings().base_dir.clone(),
        }
    }

    /// Evaluates the settings (`SendMailCommand#configureCertificateTrust`).
    ///
    /// # Errors
    /// JMeter's exception, if the trust store does not exist or cannot be read.
    pub fn values(&self, cx: &mut Context) -> Result<Security, Exception> {
        let begin = match (self.ssl.get(cx), self.start_tls.get(cx)) {
            (true, _) => Begin::AtOnce,
            (false, true) => Begin::Later,
            (false, false) => Begin::Never,
        };
        let trusted = self.trusted(cx)?;
        let protocols = self.protocols.eval(cx).into_string();
        Self::with_trust(cx, begin, trusted, &protocols)
    }

    /// Evaluates the settings of a Mail Reader Sampler, whose protocol decides whether TLS begins at once. Trust in all servers and
    /// trust stores count only with one of the plan's boxes for TLS (`MailReaderSampler#sample`).
    ///
    /// # Errors
    /// As [`SecuritySettings::values`].
    pub fn of_reader(
        &self,
        cx: &mut Context,
        is_secure: bool,
        protocols: &str,
    ) -> Result<Security, Exception> {
        let (ssl, start_tls) = (self.ssl.get(cx), self.start_tls.get(cx));
        let begin = match (is_secure, start_tls) {
            (true, _) => Begin::AtOnce,
            (false, true) => Begin::Later,
            (false, false) => Begin::Never,
        };
        let trusted = self.trusted(cx)?;
        let trusted = if ssl || start_tls {
            trusted
        } else {
            Trusted::Default
        };
        Self::with_trust(cx, begin, trusted, protocols)
    }

    fn with_trust(
        cx: &Context,
        begin: Begin,
        trusted: Trusted,
        protocols: &str,
    ) -> Result<Security, Exception> {
        if begin == Begin::Never {
            let tls = Vec::new();
            return Ok(Security { begin, tls });
        }
        let mut tls = vec![secure(cx, trusted.clone(), protocols)?];
        if begin == Begin::AtOnce && trusted != Trusted::Default {
            tls.push(secure(cx, Trusted::Default, protocols)?);
        }
        Ok(Security { begin, tls })
    }

    fn trusted(&self, cx: &mut Context) -> Result<Trusted, Exception> {
        Ok(if self.trusts_all.get(cx) {
            Trusted::All
        } else if self.has_store.get(cx) {
            Trusted::Store(self.store_file(cx)?)
        } else {
            Trusted::Default
        })
    }

    fn store_file(&self, cx: &mut Context) -> Result<PathBuf, Exception> {
        let name = self.store.eval(cx).into_string();
        let file = file_server::resolve(&name, &self.base_dir);
        if Path::new(&name).exists() || file.exists() {
            return Ok(file);
        }
        let place = std::path::absolute(self.base_dir.join(&name)).unwrap_or(file);
        let message = format!(
            "Local truststore file not found. Also not available under : {}",
            place.display()
        );
        Err(Exception::new("java.io.IOException", message))
    }
}

fn secure(cx: &Context, trusted: Trusted, protocols: &str) -> Result<Secure, Exception> {
    let (tls12, tls13) = match versions(protocols) {
        Ok(versions) => versions,
        Err(unknown) => return Ok(Secure::UnknownProtocol(unknown.to_owned())),
    };
    if !tls12 && !tls13 {
        return Ok(Secure::Hopeless);
    }
    let key = TlsKey {
        trusted,
        tls12,
        tls13,
    };
    let known = cx.shared.statics.of::<KnownTls>();
    let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
    let tls = match known.get(&key) {
        Some(tls) => tls.clone(),
        None => {
            let tls = key.build(cx)?;
            known.insert(key, tls.clone());
            tls
        }
    };
    Ok(tls.map_or(Secure::Hopeless, Secure::With))
}

/// Whether TLS 1.2 and TLS 1.3 are among these versions; without a name, all are. As an error: a name that Java does not know.
pub fn versions(protocols: &str) -> Result<(bool, bool), &str> {
    const OLDER: [&str; 4] = ["SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"];
    if protocols.is_empty() {
        return Ok((true, true));
    }
    let (mut tls12, mut tls13) = (false, false);
    for name in protocols.split_ascii_whitespace() {
        match name {
            "TLSv1.2" => tls12 = true,
            "TLSv1.3" => tls13 = true,
            older if OLDER.contains(&older) => {}
            unknown => return Err(unknown),
        }
    }
    Ok((tls12, tls13))
}

impl TlsKey {
    /// The settings; `None` if nobody is trusted. As in JavaMail, the name in a certificate does not count. Only the default
    /// settings of Java keep their sessions from sample to sample.
    fn build(&self, cx: &Context) -> Result<Option<Arc<Tls>>, Exception> {
        let (trust, sessions) = match &self.trusted {
            Trusted::All => (Trust::All, TlsSessions::Never),
            Trusted::Default => {
                let properties = &cx.shared.program.settings.properties;
                let trust = authorities(properties)
                    .inspect_err(|error| tracing::error!("Mail servers are not trusted: {error}"));
                match trust {
                    Ok(trust) => (trust, TlsSessions::Shared),
                    Err(_) => return Ok(None),
                }
            }
            Trusted::Store(file) => {
                let certificates = read_store(file)?;
                (Trust::Authorities(certificates), TlsSessions::Never)
            }
        };
        let options = TlsOptions {
            tls12: self.tls12,
            tls13: self.tls13,
            sessions,
            trust,
            checks_name: false,
            ..TlsOptions::default()
        };
        let made = Tls::new(&options)
            .inspect_err(|error| tracing::warn!("Mail servers are not trusted: {error}"));
        Ok(made.ok())
    }
}

/// The certificates of a store in Java's format (`LocalTrustStoreSSLSocketFactory`). JMeter opens it without a password, with which
/// it finds none in a PKCS#12 file.
fn read_store(file: &Path) -> Result<Vec<Vec<u8>>, Exception> {
    let unusable = || {
        let message = "Could not create the SSL context";
        Exception::new("java.lang.RuntimeException", message)
    };
    let data = drumfire_platform::files::read_regular(file).map_err(|_| unusable())?;
    const PKCS12_BEGIN: u8 = 0x30;
    if data.first() == Some(&PKCS12_BEGIN) {
        return Ok(Vec::new());
    }
    jks::certificates(&data).ok_or_else(unusable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_tls_by_their_names_in_java() {
        assert_eq!(versions(""), Ok((true, true)));
        assert_eq!(versions("TLSv1.2"), Ok((true, false)));
        assert_eq!(versions("TLSv1.1 TLSv1.3"), Ok((false, true)));
        assert_eq!(versions("SSLv3 TLSv1"), Ok((false, false)));
        assert_eq!(versions("TLSv1.2 TLS"), Err("TLS"));
    }
}
