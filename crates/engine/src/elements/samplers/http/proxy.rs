//! Proxies: which one a request uses, and how the user authenticates with it.
//!
//! The implementation HttpClient4 first sends no credentials, answers a 407 with Basic, Digest or NTLM, and then sends the
//! answer with every request of the same client (`HTTPHC4Impl#saveProxyAuth`). A client is a combination of scheme,
//! authority and proxy. The implementation Java has no credentials for proxies.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::{Properties, Random, Template};
use drumfire_http::{Incoming, Proxy, Target, Tunnel};
use drumfire_java::Exception;
use drumfire_java::charset::decode_latin1;
use drumfire_web::auth::{AuthRequest, CredentialStore, Negotiation};
use drumfire_web::property::Client;

use crate::base::clock::Clock;
use crate::base::number;
use crate::run::context::Context;

/// A proxy and its credentials, by which JMeter tells clients apart (`HTTPHC4Impl.HttpClientKey`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyChoice {
    pub proxy: Arc<Proxy>,
    pub user: String,
    pub password: String,
    /// `http.proxyDomain`.
    pub domain: String,
}

/// The proxy in the properties of a sampler.
pub struct ProxyTemplate {
    /// `None` if the plan has no such property.
    pub scheme: Option<Template>,
    pub host: Template,
    pub port: Template,
    pub user: Template,
    pub password: Template,
}

impl ProxyTemplate {
    /// The texts that each request evaluates.
    pub fn texts(&self) -> impl Iterator<Item = &Template> {
        let others = [&self.host, &self.port, &self.password, &self.user];
        self.scheme.iter().chain(others)
    }

    /// The sampler's proxy, if it has a host and a port (`HTTPHCAbstractImpl#isDynamicProxy`). The implementation Java reads
    /// nothing else of it.
    ///
    /// # Errors
    /// HttpClient's exception for a scheme other than HTTP and HTTPS.
    pub fn evaluate(
        &self,
        cx: &mut Context,
        client: Client,
        general: &GeneralProxy,
    ) -> Result<Option<Arc<ProxyChoice>>, Exception> {
        let is_client = client == Client::HttpClient;
        let evaluate = |template: &Template, cx: &mut Context| {
            if is_client || !template.is_stateful() {
                template.eval(cx).into_string()
            } else {
                String::new()
            }
        };
        let scheme = self.scheme.as_ref().map(|scheme| evaluate(scheme, cx));
        let host = self.host.eval(cx).into_string();
        let port = number::int(&self.port.eval(cx));
        let (password, user) = (evaluate(&self.password, cx), evaluate(&self.user, cx));
        if host.trim().is_empty() || port <= 0 {
            return Ok(None);
        }
        let tls = match scheme.map(|scheme| scheme.to_lowercase()).as_deref() {
            _ if !is_client => false,
            None => general.tls,
            Some("http") => false,
            Some("https") => true,
            Some(other) => return Err(unsupported_scheme(other)),
        };
        Ok(Some(Arc::new(ProxyChoice {
            proxy: Arc::new(Proxy {
                host: host.into(),
                port: u16::try_from(port).unwrap_or(0),
                tls,
            }),
            user,
            password,
            domain: general.domain.clone(),
        })))
    }
}

fn unsupported_scheme(scheme: &str) -> Exception {
    Exception::new(
        "org.apache.http.conn.UnsupportedSchemeException",
        format!("{scheme} protocol is not supported"),
    )
}

/// The proxy of the properties, for samplers that name none.
#[derive(Clone, Debug, Default)]
pub struct GeneralProxy {
    /// `http.proxyScheme` is `https`.
    pub tls: bool,
    /// `http.proxyDomain`.
    pub domain: String,
    client: Option<(Arc<ProxyChoice>, Exceptions)>,
    java_http: Option<Arc<ProxyChoice>>,
    java_https: Option<Arc<ProxyChoice>>,
    java_exceptions: Exceptions,
}

/// Hosts that are reached without the proxy.
#[derive(Clone, Debug, Default)]
struct Exceptions(Vec<String>);

impl Exceptions {
    fn new(text: &str) -> Exceptions {
        let names = text.split('|').filter(|name| !name.is_empty());
        Exceptions(names.map(str::to_owned).collect())
    }

    /// `HTTPHCAbstractImpl#isNonProxy`: the name itself, or `*` and the end of it.
    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => host == name,
        })
    }

    /// `DefaultProxySelector#shouldNotUseProxyFor`: `*` at either end, ignoring case.
    fn has_as_java(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        self.0.iter().any(|name| {
            let name = name.to_lowercase();
            let bare = name.trim_matches('*');
            match (name.starts_with('*'), name.ends_with('*')) {
                (true, true) => host.contains(bare),
                (true, false) => host.ends_with(bare),
                (false, true) => host.starts_with(bare),
                (false, false) => host == name,
            }
        })
    }
}

/// The hosts that Java never reaches through a proxy (`sun.net.spi.DefaultProxySelector.NonProxyInfo`).
const JAVA_EXCEPTIONS: &str = "localhost|127.*|[::1]|0.0.0.0|[::0]";

impl GeneralProxy {
    /// The system properties `http.proxyHost`, `http.proxyPort`, `http.proxyScheme`, `http.nonProxyHosts` (and, for the
    /// implementation Java, those that begin with `https.`), and JMeter's `http.proxyUser`, `http.proxyPass`,
    /// `http.proxyDomain` (`HTTPHCAbstractImpl`).
    pub fn read(properties: &Properties) -> GeneralProxy {
        let system = |name: &str| properties.get_system(name).map(|value| value.to_string());
        let setting = |name: &str| {
            let value = properties.get_trimmed(name);
            value.map(|value| value.to_string()).unwrap_or_default()
        };
        let tls =
            system("http.proxyScheme").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        let domain = setting("http.proxyDomain");
        let choice = |scheme: &str, default_port: u16| {
            let host = system(&format!("{scheme}.proxyHost")).filter(|host| !host.is_empty())?;
            let port = system(&format!("{scheme}.proxyPort"))
                .map(|port| port.trim().parse().unwrap_or(0))
                .unwrap_or(default_port);
            (port > 0).then(|| {
                Arc::new(ProxyChoice {
                    proxy: Arc::new(Proxy {
                        host: host.into(),
                        port,
                        tls,
                    }),
                    user: setting("http.proxyUser"),
                    password: setting("http.proxyPass"),
                    domain: domain.clone(),
                })
            })
        };
        let exceptions = system("http.nonProxyHosts");
        let java_exceptions = match exceptions.as_deref() {
            None => JAVA_EXCEPTIONS.to_owned(),
            Some("") => String::new(),
            Some(setting) => format!("{setting}|{JAVA_EXCEPTIONS}"),
        };
        GeneralProxy {
            tls,
            client: choice("http", 0)
                .map(|choice| (choice, Exceptions::new(&exceptions.unwrap_or_default()))),
            java_http: choice("http", 80),
            java_https: choice("https", 443),
            java_exceptions: Exceptions::new(&java_exceptions),
            domain,
        }
    }

    /// The proxy of the implementation HttpClient4 for a host.
    pub fn for_client(&self, host: &str) -> Option<&Arc<ProxyChoice>> {
        let (choice, exceptions) = self.client.as_ref()?;
        (!exceptions.has(host)).then_some(choice)
    }

    /// The proxy of the implementation Java for a host.
    pub fn for_java(&self, host: &str, secure: bool) -> Option<&Arc<ProxyChoice>> {
        let choice = if secure {
            &self.java_https
        } else {
            &self.java_http
        }
        .as_ref()?;
        (!self.java_exceptions.has_as_java(host)).then_some(choice)
    }
}

/// One client's authentication with its proxy.
pub struct ProxyAccess {
    choice: Arc<ProxyChoice>,
    secure: bool,
    authority: Box<str>,
    client: ProxyClient,
    /// The headers of the last CONNECT, as results show them.
    shown: RefCell<String>,
    /// Whether the last response was the proxy's refusal of a tunnel.
    refused: Cell<bool>,
    credentials: RefCell<CredentialStore>,
    /// Kept from sample to sample (`HttpClientContext.PROXY_AUTH_STATE`).
    negotiation: RefCell<Option<Negotiation>>,
    random: Cell<Option<Random>>,
}

/// The properties of the client that talks to a proxy.
pub struct ProxyClient {
    /// The `User-Agent` of CONNECT.
    pub user_agent: Option<&'static str>,
    /// `httpclient4.auth.preemptive`.
    pub preemptive: bool,
    /// This machine's name.
    pub workstation: Arc<str>,
    pub clock: Clock,
}

impl ProxyAccess {
    pub fn new(
        choice: &Arc<ProxyChoice>,
        secure: bool,
        authority: &str,
        client: ProxyClient,
        random: Random,
    ) -> ProxyAccess {
        let proxy = &choice.proxy;
        // Without `httpclient4.auth.preemptive`, JMeter's own provider of credentials never finds the proxy's.
        let credentials = if choice.user.is_empty() || !client.preemptive {
            CredentialStore::default()
        } else {
            let port = i32::from(proxy.port);
            CredentialStore::of_proxy(
                &proxy.host,
                port,
                &choice.user,
                &choice.password,
                &choice.domain,
            )
        };
        ProxyAccess {
            choice: choice.clone(),
            secure,
            authority: authority.into(),
            client,
            shown: RefCell::default(),
            refused: Cell::new(false),
            credentials: RefCell::new(credentials),
            negotiation: RefCell::default(),
            random: Cell::new(Some(random)),
        }
    }

    /// Whether this is the client for this proxy, scheme and authority.
    pub fn is(&self, choice: &Arc<ProxyChoice>, secure: bool, authority: &str) -> bool {
        self.secure == secure
            && *self.authority == *authority
            && (Arc::ptr_eq(&self.choice, choice) || self.choice == *choice)
    }

    /// `HTTPHC4Impl#resetStateIfNeeded`.
    pub fn forget(&self) {
        self.negotiation.take();
    }

    /// Drops the credentials. A request to which no row of the Authorization Manager applies makes the client forget all of
    /// them (`HTTPHC4Impl.PreemptiveAuthRequestInterceptor`), including the proxy's.
    pub fn lose_credentials(&self) {
        self.credentials.take();
    }

    /// The value of `Proxy-Authorization` for the next request, if the proxy has asked for one.
    pub fn header(&self, method: &str, target: &str) -> Option<String> {
        let mut negotiation = self.negotiation.borrow_mut();
        let request = AuthRequest {
            method,
            target,
            entity: None,
            workstation: &self.client.workstation,
            now_ms: self.client.clock.now_ms().unsigned_abs(),
        };
        negotiation.as_mut()?.header(&request, || self.nonce())
    }

    /// Takes the negotiation with the proxy, to get a ticket for it. Give it back with [`Self::put_negotiation`].
    pub fn take_negotiation(&self) -> Option<Negotiation> {
        self.negotiation.take()
    }

    pub fn put_negotiation(&self, negotiation: Negotiation) {
        self.negotiation.replace(Some(negotiation));
    }

    /// The proxy's URL, as tickets name it.
    pub fn url(&self) -> String {
        format!(
            "http://{}:{}/",
            self.choice.proxy.host, self.choice.proxy.port
        )
    }

    /// Processes a 407; returns whether the next request answers it. `server` is the negotiation with the server behind the
    /// proxy.
    pub fn answers(&self, refusal: &Incoming, server: Option<&Negotiation>) -> bool {
        let challenges: Vec<String> = refusal
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case(b"Proxy-Authenticate"))
            .map(|(_, value)| decode_latin1(value).into_owned())
            .collect();
        let proxy = &self.choice.proxy;
        let mut negotiation = self.negotiation.borrow_mut();
        let negotiation = negotiation
            .get_or_insert_with(|| Negotiation::with_proxy(&proxy.host, i32::from(proxy.port)));
        negotiation.share_kerberos(server);
        let credentials = self.credentials.borrow();
        negotiation.challenged(&credentials, challenges.iter().map(String::as_str))
    }

    /// Processes a response that is not a 407.
    pub fn note_success(&self) {
        if let Some(negotiation) = &mut *self.negotiation.borrow_mut() {
            negotiation.accepted();
        }
    }

    /// Records that the proxy refused the tunnel, and that its answer is the result.
    pub fn mark_refused(&self) {
        self.refused.set(true);
    }

    /// If the response is the refusal of a tunnel, takes the headers of the CONNECT, as results show them.
    pub fn take_refused(&self) -> Option<String> {
        self.refused.replace(false).then(|| self.shown.take())
    }

    fn nonce(&self) -> [u8; 8] {
        let mut random = self.random.take().unwrap_or_else(Random::from_entropy);
        let nonce = random.next_u64().to_ne_bytes();
        self.random.set(Some(random));
        nonce
    }
}

impl Tunnel for ProxyAccess {
    /// As `MainClientExec#createTunnelToTarget` and `HttpClientBuilder`'s processor for proxies write it.
    fn head(&self, target: &Target) -> Vec<u8> {
        let authority = target.authority();
        let mut headers = format!("Host: {authority}\r\n");
        if let Some(user_agent) = self.client.user_agent {
            headers.push_str(&format!("User-Agent: {user_agent}\r\n"));
        }
        if let Some(value) = self.header("CONNECT", &authority) {
            headers.push_str(&format!("Proxy-Authorization: {value}\r\n"));
        }
        *self.shown.borrow_mut() = headers.replace('\r', "");
        format!("CONNECT {authority} HTTP/1.1\r\n{headers}\r\n").into_bytes()
    }

    fn challenged(&self, refusal: &Incoming, _target: &Target) -> bool {
        // Getting a ticket takes a while, so `Settlement::answer_proxy` gets it for the next tunnel.
        self.answers(refusal, None)
    }
}

/// The tunnels of the implementation Java (`HttpURLConnection#sendCONNECTRequest`).
pub struct JavaTunnel;

impl Tunnel for JavaTunnel {
    fn head(&self, target: &Target) -> Vec<u8> {
        drumfire_web::java_client::connect_head(&target.authority()).into_bytes()
    }

    fn challenged(&self, _refusal: &Incoming, _target: &Target) -> bool {
        false
    }
}

/// The proxy clients of a user. They are few, so a linear search finds them.
#[derive(Default)]
pub struct ProxyAccesses(Vec<Rc<ProxyAccess>>);

impl ProxyAccesses {
    pub fn get(
        &mut self,
        choice: &Arc<ProxyChoice>,
        secure: bool,
        authority: &str,
        make: impl FnOnce() -> ProxyAccess,
    ) -> Rc<ProxyAccess> {
        let proxy = self
            .0
            .iter()
            .find(|known| known.is(choice, secure, authority));
        if let Some(proxy) = proxy {
            return proxy.clone();
        }
        let access = Rc::new(make());
        self.0.push(access.clone());
        access
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(pairs: &[(&str, &str)]) -> GeneralProxy {
        let properties = Properties::default();
        for (name, value) in pairs {
            properties.set_system(name, *value);
        }
        GeneralProxy::read(&properties)
    }

    #[test]
    fn excepted_hosts_are_reached_without_the_proxy() {
        let proxy = general(&[
            ("http.proxyHost", "proxy"),
            ("http.proxyPort", "3128"),
            ("http.nonProxyHosts", "localhost|*.example.org"),
        ]);
        let port = |host| proxy.for_client(host).map(|choice| choice.proxy.port);
        assert_eq!(port("example.org"), Some(3128));
        assert_eq!((port("localhost"), port("a.example.org")), (None, None));
        assert_eq!(port("127.0.0.1"), Some(3128));
    }

    #[test]
    fn java_has_exceptions_of_its_own() {
        let set = [("http.proxyHost", "proxy"), ("https.proxyHost", "secure")];
        let proxy = general(&set);
        let port = |host, secure| {
            let choice = proxy.for_java(host, secure)?;
            Some(choice.proxy.port)
        };
        assert_eq!(port("example.org", false), Some(80));
        assert_eq!(port("example.org", true), Some(443));
        assert_eq!(
            (port("LocalHost", false), port("127.0.0.9", true)),
            (None, None)
        );
        // Without a port HttpClient4 has no proxy.
        assert!(proxy.for_client("example.org").is_none());
        let empty = general(&[set[0], ("http.nonProxyHosts", "")]);
        assert!(empty.for_java("localhost", false).is_some());
        let own = general(&[set[0], ("http.nonProxyHosts", "Shop.*|*test*")]);
        assert!(own.for_java("shop.example", false).is_none());
        assert!(own.for_java("a.test.b", false).is_none());
        assert!(own.for_java("127.0.0.1", false).is_none());
        assert!(own.for_java("other.example", false).is_some());
    }

    #[test]
    fn tunnels_are_asked_for_as_recorded() {
        let choice = Arc::new(ProxyChoice {
            proxy: Arc::new(Proxy {
                host: "proxy".into(),
                port: 3128,
                tls: false,
            }),
            user: "u".into(),
            password: "p".into(),
            domain: String::new(),
        });
        let client = ProxyClient {
            user_agent: Some("Apache-HttpClient/4.5.14 (Java/17.0.15)"),
            preemptive: true,
            workstation: "here".into(),
            clock: Clock::start(),
        };
        let access = ProxyAccess::new(&choice, true, "h:9", client, Random::from_seed(1));
        let target = Target::new("127.0.0.1", 9, true);
        assert_eq!(
            String::from_utf8_lossy(&access.head(&target)),
            "CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\
             User-Agent: Apache-HttpClient/4.5.14 (Java/17.0.15)\r\n\r\n"
        );
        assert_eq!(
            String::from_utf8_lossy(&JavaTunnel.head(&target)),
            "CONNECT 127.0.0.1:9 HTTP/1.1\r\nUser-Agent: Java/17.0.15\r\nHost: 127.0.0.1:9\r\n\
             Accept: text/html, image/gif, image/jpeg, */*; q=0.2\r\nProxy-Connection: keep-alive\r\n\r\n"
        );
    }
}
