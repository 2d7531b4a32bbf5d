//! Authorization as JMeter and HttpClient perform it. This selects the row of the Authorization Manager that applies
//! (`AuthManager`), collects the credentials of a client (`BasicCredentialsProvider`), and negotiates Basic, Digest and NTLM
//! after a 401.

mod digest;
mod mechanism;
mod ntlm;

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::header_value::parse_elements;
use crate::url::Url;
use digest::Digest;
pub use digest::EntityReader;
use drumfire_java::Exception;
use drumfire_java::charset::Charset;
pub use mechanism::Mechanism;
use ntlm::Ntlm;

/// One row of the Authorization Manager, already evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// `Authorization.url`: the prefix of the addresses that it applies to.
    pub url: String,
    /// `Authorization.username`.
    pub user: String,
    /// `Authorization.password`.
    pub password: String,
    /// `Authorization.domain`; precedes the user name, in upper case.
    pub domain: String,
    /// `Authorization.realm`; empty means any.
    pub realm: String,
    /// `Authorization.mechanism`. HttpClient4 reads it when the address matches, Java never does.
    pub mechanism: Result<Mechanism, Exception>,
}

impl Default for Authorization {
    fn default() -> Self {
        Self {
            url: String::new(),
            user: String::new(),
            password: String::new(),
            domain: String::new(),
            realm: String::new(),
            mechanism: Ok(Mechanism::default()),
        }
    }
}

/// Finds the first row whose address is a prefix of the URL (`AuthManager.getAuthForURL`). HttpClient passes only scheme, host,
/// port and decoded path. A default port matches whether it is written out or not.
pub fn find<'a>(rows: &'a [Authorization], url: &Url) -> Option<&'a Authorization> {
    let default = match url.protocol() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let wire = url.wire().ok()?;
    let path = wire.target.split('?').next().unwrap_or("");
    let path = if path.contains('%') {
        decode_path(path)
    } else {
        path.to_owned()
    };
    let text = |port: Option<i32>| {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}{path}", url.protocol(), url.host())
    };
    let written = text(url.port());
    let other = match url.port() {
        None => Some(text(Some(default))),
        Some(port) if port == default => Some(text(None)),
        Some(_) => None,
    };
    rows.iter().find(|row| {
        written.starts_with(&row.url)
            || other
                .as_ref()
                .is_some_and(|text| text.starts_with(&row.url))
    })
}

fn decode_path(path: &str) -> String {
    // The path comes from a valid URI, so every '%' is followed by two hexadecimal digits. A '+' stands for itself.
    let protected = path.replace('+', "%2B");
    drumfire_java::url_coding::url_decode(&protected, &Charset::UTF_8)
        .map_or_else(|_| path.to_owned(), |text| text.into_owned())
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Credentials {
    user: String,
    password: String,
    /// The domain in upper case, possibly empty; `None` for credentials that NTLM cannot use.
    domain: Option<String>,
}

impl Credentials {
    /// `NTCredentials`.
    fn of(row: &Authorization) -> Self {
        Self {
            user: row.user.clone(),
            password: row.password.clone(),
            domain: Some(row.domain.to_uppercase()),
        }
    }

    /// The name for Basic and Digest (`NTUserPrincipal.getName`): preceded by the domain, if there is one.
    fn name(&self) -> Cow<'_, str> {
        match self.domain.as_deref() {
            None | Some("") => Cow::Borrowed(&self.user),
            Some(domain) => Cow::Owned(format!("{domain}\\{}", self.user)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AuthScope {
    host: String,
    /// -1 for any.
    port: i32,
    realm: Option<String>,
}

/// The credentials that one HttpClient has collected. JMeter has a client per user, scheme, authority and proxy.
///
/// They accumulate while requests match some row of any Authorization Manager. The first request that matches no row clears
/// them (`HTTPHC4Impl.PreemptiveAuthRequestInterceptor`).
#[derive(Clone, Debug, Default)]
pub struct CredentialStore {
    known: Vec<(AuthScope, Credentials)>,
}

impl CredentialStore {
    /// The credentials of a client whose proxy has a user (`HTTPHC4Impl.setupClient`); `domain` is `http.proxyDomain`.
    pub fn of_proxy(host: &str, port: i32, user: &str, password: &str, domain: &str) -> Self {
        let row = Authorization {
            user: user.to_owned(),
            password: password.to_owned(),
            domain: domain.to_owned(),
            ..Authorization::default()
        };
        let mut store = Self::default();
        let scope = AuthScope {
            host: host.to_lowercase(),
            port,
            realm: None,
        };
        store.set(scope, Credentials::of(&row));
        store
    }

    fn set(&mut self, scope: AuthScope, credentials: Credentials) {
        match self.known.iter_mut().find(|(own, _)| *own == scope) {
            Some((_, own)) => *own = credentials,
            None => self.known.push((scope, credentials)),
        }
    }

    /// `BasicCredentialsProvider.getCredentials`: the best match by host, port and realm.
    fn lookup(&self, host: &str, port: i32, realm: Option<&str>) -> Option<&Credentials> {
        let mut best: Option<(u8, &Credentials)> = None;
        for (scope, credentials) in &self.known {
            let Some(factor) = match_factor(scope, host, port, realm) else {
                continue;
            };
            if best.is_none_or(|(other, _)| factor > other) {
                best = Some((factor, credentials));
            }
        }
        best.map(|(_, credentials)| credentials)
    }
}

/// `AuthScope.match`: a matching realm counts 2, port 4, host 8; any mismatch excludes the scope.
fn match_factor(scope: &AuthScope, host: &str, port: i32, realm: Option<&str>) -> Option<u8> {
    let mut factor = 0;
    match (scope.realm.as_deref(), realm) {
        (own, asked) if own == asked => factor += 2,
        (Some(_), Some(_)) => return None,
        _ => {}
    }
    match (scope.port, port) {
        (own, asked) if own == asked => factor += 4,
        (-1, _) | (_, -1) => {}
        _ => return None,
    }
    if !scope.host.eq_ignore_ascii_case(host) {
        return None;
    }
    Some(factor + 8)
}

#[derive(Clone, Debug)]
enum Scheme {
    Basic,
    Digest(Digest),
    Ntlm(Ntlm),
    /// Kerberos with its challenge, and the answer once it is available.
    Ticket(String, Option<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeState {
    Unchallenged,
    Challenged,
    Succeeded,
    Failed,
}

/// The authorization of one sample with one server. It is created before the first request, supplies the header of every
/// request, and processes every 401. JMeter keeps none of it for the next sample.
#[derive(Clone, Debug)]
pub struct Negotiation {
    host: String,
    port: i32,
    state: HandshakeState,
    scheme: Option<(Scheme, Credentials)>,
    /// Other schemes that the server offered, used if the first cannot answer its challenge.
    others: Vec<(Scheme, Credentials)>,
    /// The credentials of a row that uses Kerberos.
    kerberos: Option<Credentials>,
}

/// A challenge that needs a Kerberos ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketRequest<'a> {
    /// The name to log in with; if empty, the login configuration decides.
    pub user: &'a str,
    /// The password.
    pub password: &'a str,
    /// The challenge, including the name of its scheme.
    pub challenge: &'a str,
}

/// The values of a request that its authorization depends on.
#[derive(Clone, Copy)]
pub struct AuthRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The target as on the request line.
    pub target: &'a str,
    /// Passes the body in pieces to a digest; `None` if the request has no entity.
    pub entity: Option<&'a EntityReader<'a>>,
    /// The name of this machine.
    pub workstation: &'a str,
    /// Milliseconds since 1970.
    pub now_ms: u64,
}

impl Negotiation {
    /// A negotiation with a proxy: nothing is sent before a challenge.
    pub fn with_proxy(host: &str, port: i32) -> Self {
        Self {
            host: host.to_lowercase(),
            port,
            state: HandshakeState::Unchallenged,
            scheme: None,
            others: Vec::new(),
            kerberos: None,
        }
    }

    /// Whether a row uses Kerberos.
    pub fn has_kerberos(&self) -> bool {
        self.kerberos.is_some()
    }

    /// For a negotiation with a proxy: uses the server row's Kerberos credentials, since JMeter offers these to any host
    /// (`AuthManager#setupCredentials`).
    pub fn share_kerberos(&mut self, server: Option<&Negotiation>) {
        self.kerberos = server.and_then(|server| server.kerberos.clone());
    }

    /// Starts a negotiation before the first request (`HTTPHC4Impl.PreemptiveAuthRequestInterceptor`). `rows` are those of the
    /// Authorization Manager in scope, empty without one. `preemptive` is the property `httpclient4.auth.preemptive` (default
    /// true).
    pub fn begin(
        store: &mut CredentialStore,
        rows: &[Authorization],
        url: &Url,
        preemptive: bool,
    ) -> Self {
        let port = url.port_or_default().unwrap_or(-1);
        let host = url.host().to_lowercase();
        let mut negotiation = Self {
            host,
            port,
            state: HandshakeState::Unchallenged,
            scheme: None,
            others: Vec::new(),
            kerberos: None,
        };
        if !preemptive {
            // ManagedCredentialsProvider knows every row from the start, by host, port and exact realm.
            store.known.clear();
            for row in rows {
                let Ok(row_url) = Url::parse(&row.url) else {
                    continue;
                };
                let scope = AuthScope {
                    host: row_url.host().to_owned(),
                    port: row_url.port_or_default().unwrap_or(-1),
                    realm: Some(row.realm.clone()),
                };
                let credentials = Credentials {
                    user: row.user.clone(),
                    password: row.password.clone(),
                    domain: None,
                };
                if !store.known.iter().any(|(known, _)| *known == scope) {
                    store.set(scope, credentials);
                }
            }
            return negotiation;
        }
        let Some(row) = find(rows, url) else {
            store.known.clear();
            return negotiation;
        };
        if row.mechanism == Ok(Mechanism::Kerberos) {
            negotiation.kerberos = Some(Credentials::of(row));
            return negotiation;
        }
        let scope = AuthScope {
            host: negotiation.host.clone(),
            port: url.port().unwrap_or(-1),
            realm: (!row.realm.is_empty()).then(|| row.realm.clone()),
        };
        store.set(scope, Credentials::of(row));
        if matches!(row.mechanism, Ok(Mechanism::Basic | Mechanism::BasicDigest)) {
            // This may pick another row's credentials: it takes the best match for any realm.
            let best = store.lookup(&negotiation.host, negotiation.port, None);
            negotiation.scheme = best.map(|credentials| (Scheme::Basic, credentials.clone()));
        }
        negotiation
    }

    /// The value of the `Authorization` header for the next request. `cnonce` generates the client nonce, eight random bytes.
    pub fn header(
        &mut self,
        request: &AuthRequest<'_>,
        mut cnonce: impl FnMut() -> [u8; 8],
    ) -> Option<String> {
        loop {
            let (scheme, credentials) = self.scheme.as_mut()?;
            if self.state == HandshakeState::Succeeded
                && matches!(scheme, Scheme::Ntlm(_) | Scheme::Ticket(..))
            {
                // NTLM and Kerberos authenticate the connection, so later requests need no header.
                return None;
            }
            let header = match scheme {
                Scheme::Basic => Some(basic(&credentials.name(), &credentials.password)),
                Scheme::Digest(digest) => digest.answer(
                    request,
                    &credentials.name(),
                    &credentials.password,
                    &mut cnonce,
                ),
                Scheme::Ntlm(ntlm) => ntlm.answer(request, credentials, &mut cnonce),
                Scheme::Ticket(_, answer) => answer.clone(),
            };
            if header.is_some() {
                self.others.clear();
                return header;
            }
            self.take_next();
        }
    }

    /// The challenge that needs a Kerberos ticket; pass the answer to [`Self::put_ticket`] before the next header.
    pub fn wanted_ticket(&self) -> Option<TicketRequest<'_>> {
        match &self.scheme {
            Some((Scheme::Ticket(challenge, None), credentials)) => Some(TicketRequest {
                user: &credentials.user,
                password: &credentials.password,
                challenge,
            }),
            _ => None,
        }
    }

    /// Switches to the server's next offer, after the current scheme has failed to answer.
    pub fn take_next(&mut self) {
        self.scheme = if self.others.is_empty() {
            None
        } else {
            Some(self.others.remove(0))
        };
    }

    /// Sets the header value that answers the challenge.
    pub fn put_ticket(&mut self, value: String) {
        if let Some((Scheme::Ticket(_, answer), _)) = &mut self.scheme {
            *answer = Some(value);
        }
    }

    /// Processes the `WWW-Authenticate` headers of a 401; true if the request should be repeated with the header that
    /// [`Self::header`] then returns (`HttpAuthenticator.handleAuthChallenge`).
    pub fn challenged<'h>(
        &mut self,
        store: &CredentialStore,
        challenges: impl Iterator<Item = &'h str>,
    ) -> bool {
        match self.state {
            HandshakeState::Failed => return false,
            HandshakeState::Succeeded => {
                self.state = HandshakeState::Unchallenged;
                self.scheme = None;
            }
            HandshakeState::Unchallenged | HandshakeState::Challenged => {}
        }
        let offers: Vec<(String, &str)> = challenges
            .map(|challenge| {
                let challenge = challenge.trim_start();
                let (name, rest) = challenge.split_once([' ', '\t']).unwrap_or((challenge, ""));
                (name.to_lowercase(), rest)
            })
            .collect();
        if offers.is_empty() {
            return false;
        }
        // If a scheme has several challenges, the last one counts.
        let offer = |name: &str| {
            offers
                .iter()
                .rev()
                .find(|(own, _)| own == name)
                .map(|(_, rest)| *rest)
        };
        if let Some((scheme, _)) = &mut self.scheme {
            let again = match scheme {
                Scheme::Basic => offer("basic").map(|_| false),
                Scheme::Digest(digest) => offer("digest").map(|rest| digest.challenge(rest)),
                Scheme::Ticket(challenge, _) => {
                    let name = challenge.split(' ').next().unwrap_or_default();
                    offer(&name.to_lowercase()).map(|_| false)
                }
                Scheme::Ntlm(ntlm) => offer("ntlm").map(|rest| ntlm.challenge(rest) == Ok(true)),
            };
            match again {
                Some(true) => return true,
                Some(false) => {
                    self.fail();
                    return false;
                }
                None => {}
            }
        } else if self.state == HandshakeState::Challenged {
            self.fail();
            return false;
        }
        let tickets = self.kerberos.iter().flat_map(|credentials| {
            let named = [("negotiate", "Negotiate"), ("kerberos", "Kerberos")];
            let offered = named.map(|(name, written)| offer(name).map(|rest| (written, rest)));
            offered.into_iter().flatten().map(|(name, rest)| {
                let challenge = format!("{name} {}", rest.trim());
                (Scheme::Ticket(challenge, None), credentials.clone())
            })
        });
        self.others = tickets.collect();
        self.select(store, ["ntlm", "digest", "basic"].map(offer))
    }

    /// Notes a response without a challenge (`HttpAuthenticator.isAuthenticationRequested`): a later challenge starts anew.
    pub fn accepted(&mut self) {
        if self.state == HandshakeState::Challenged {
            self.state = HandshakeState::Succeeded;
        }
    }

    fn fail(&mut self) {
        self.state = HandshakeState::Failed;
        self.scheme = None;
    }

    /// `AuthenticationStrategyImpl.select`: prefers Kerberos, then NTLM, Digest and Basic, regardless of the row's mechanism.
    fn select(
        &mut self,
        store: &CredentialStore,
        [ntlm, digest, basic]: [Option<&str>; 3],
    ) -> bool {
        if let Some(challenge) = ntlm {
            let mut scheme = Ntlm::default();
            if scheme.challenge(challenge).is_err() {
                self.scheme = None;
                return false;
            }
            if let Some(credentials) = store.lookup(&self.host, self.port, None) {
                self.others
                    .push((Scheme::Ntlm(scheme), credentials.clone()));
            }
        }
        if let Some(challenge) = digest {
            let mut scheme = Digest::default();
            scheme.challenge(challenge);
            if let Some(credentials) =
                store.lookup(&self.host, self.port, realm_of(challenge).as_deref())
            {
                self.others
                    .push((Scheme::Digest(scheme), credentials.clone()));
            }
        }
        if let Some(challenge) = basic
            && let Some(credentials) =
                store.lookup(&self.host, self.port, realm_of(challenge).as_deref())
        {
            self.others.push((Scheme::Basic, credentials.clone()));
        }
        if self.others.is_empty() {
            self.scheme = None;
            return false;
        }
        self.state = HandshakeState::Challenged;
        self.scheme = Some(self.others.remove(0));
        true
    }
}

fn realm_of(challenge: &str) -> Option<String> {
    parse_elements(challenge)
        .into_iter()
        .rfind(|element| element.name.eq_ignore_ascii_case("realm"))
        .and_then(|element| element.value)
}

/// `BasicScheme.authenticate`: name and password in ASCII, other characters as `?`.
fn basic(name: &str, password: &str) -> String {
    let pair = format!("{name}:{password}");
    format!("Basic {}", STANDARD.encode(Charset::US_ASCII.encode(&pair)))
}

/// `Authorization.toBasicHeader`, used by JMeter's Java implementation of the sampler: in UTF-8.
pub fn basic_utf8(row: &Authorization) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{}", row.user, row.password))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(url: &str, mechanism: Mechanism) -> Authorization {
        Authorization {
            url: url.into(),
            user: "u".into(),
            password: "p".into(),
            mechanism: Ok(mechanism),
            ..Authorization::default()
        }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    const GET: AuthRequest<'_> = AuthRequest {
        method: "GET",
        target: "/p",
        entity: None,
        workstation: "here",
        now_ms: 0,
    };
    const DIGEST: &str = "Digest realm=\"r e\", nonce=\"abc123\", qop=\"auth,auth-int\", opaque=\"op\", algorithm=MD5";

    fn header(negotiation: &mut Negotiation, request: &AuthRequest<'_>) -> Option<String> {
        negotiation.header(request, || [0x50, 0xf7, 0x14, 0x7f, 0xc7, 0x5e, 0x19, 0x37])
    }

    #[test]
    fn rows_match_by_the_start_of_the_address() {
        let rows = [
            row("http://h/p", Mechanism::Basic),
            row("http://h:80/", Mechanism::Digest),
        ];
        let found = |text: &str| find(&rows, &url(text)).and_then(|row| row.mechanism.clone().ok());
        assert_eq!(found("http://h/p/x?q"), Some(Mechanism::Basic));
        assert_eq!(found("http://h:80/p"), Some(Mechanism::Basic));
        assert_eq!(found("http://h/other"), Some(Mechanism::Digest));
        assert_eq!(found("https://h/p"), None);
        assert_eq!(found("http://h:81/p"), None);
        let spaced = [row("http://h/a b", Mechanism::Basic)];
        assert!(find(&spaced, &url("http://h/a%20b/c")).is_some());
    }

    #[test]
    fn basic_goes_with_the_first_request_and_fails_at_once() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Basic)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert_eq!(
            header(&mut negotiation, &GET).as_deref(),
            Some("Basic dTpw")
        );
        assert!(!negotiation.challenged(&store, ["Basic realm=\"r\""].into_iter()));
        assert_eq!(header(&mut negotiation, &GET), None);
        let german = Authorization {
            password: "pé".into(),
            domain: "dom".into(),
            ..rows[0].clone()
        };
        let mut negotiation = Negotiation::begin(&mut store, &[german], &url("http://h/p"), true);
        assert_eq!(header(&mut negotiation, &GET), Some(basic("DOM\\u", "p?")));
    }

    #[test]
    fn digest_waits_for_the_challenge() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Digest)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/d?x=1"), true);
        let request = AuthRequest {
            target: "/d?x=1",
            ..GET
        };
        assert_eq!(header(&mut negotiation, &request), None);
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
        // Recorded from JMeter, with this client nonce.
        assert_eq!(
            header(&mut negotiation, &request).as_deref(),
            Some(
                "Digest username=\"u\", realm=\"r e\", nonce=\"abc123\", uri=\"/d?x=1\", \
                 response=\"bc8d152a8da1c16aa70c5518b5a20778\", qop=auth, nc=00000001, cnonce=\"50f7147fc75e1937\", \
                 algorithm=MD5, opaque=\"op\""
            )
        );
        assert!(!negotiation.challenged(&store, [DIGEST].into_iter()));
        assert_eq!(header(&mut negotiation, &request), None);
    }

    #[test]
    fn a_stale_nonce_is_answered_again() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Digest)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
        header(&mut negotiation, &GET).unwrap();
        let stale = "Digest realm=\"r e\", nonce=\"new\", stale=TRUE, qop=auth";
        assert!(negotiation.challenged(&store, [stale].into_iter()));
        let again = header(&mut negotiation, &GET).unwrap();
        assert!(again.contains("nonce=\"new\"") && again.contains("nc=00000001"));
    }

    #[test]
    fn basic_credentials_answer_a_digest_challenge_and_the_reverse() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Basic)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
        assert!(
            header(&mut negotiation, &GET)
                .unwrap()
                .starts_with("Digest username=\"u\"")
        );
        let rows = [row("http://h/", Mechanism::Digest)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert!(negotiation.challenged(&store, ["Basic realm=x"].into_iter()));
        assert_eq!(
            header(&mut negotiation, &GET).as_deref(),
            Some("Basic dTpw")
        );
    }

    #[test]
    fn credentials_pile_up_until_a_request_matches_no_row() {
        let mut store = CredentialStore::default();
        let first = Authorization {
            realm: "r e".into(),
            user: "first".into(),
            ..row("http://h/", Mechanism::Digest)
        };
        Negotiation::begin(&mut store, &[first], &url("http://h/p"), true);
        let other = Authorization {
            realm: "zzz".into(),
            ..row("http://h/", Mechanism::Digest)
        };
        let mut negotiation = Negotiation::begin(&mut store, &[other], &url("http://h/p"), true);
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
        assert!(
            header(&mut negotiation, &GET)
                .unwrap()
                .contains("username=\"first\"")
        );
        Negotiation::begin(&mut store, &[], &url("http://h/p"), true);
        assert!(store.known.is_empty());
    }

    #[test]
    fn without_preemption_the_realm_decides() {
        let mut store = CredentialStore::default();
        let rows = [Authorization {
            realm: "r".into(),
            ..row("http://h/", Mechanism::Basic)
        }];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), false);
        assert_eq!(header(&mut negotiation, &GET), None);
        assert!(
            !negotiation
                .clone()
                .challenged(&store, ["Basic realm=\"other\""].into_iter())
        );
        assert!(negotiation.challenged(&store, ["Basic realm=\"r\""].into_iter()));
        assert_eq!(
            header(&mut negotiation, &GET).as_deref(),
            Some("Basic dTpw")
        );
    }

    #[test]
    fn ntlm_comes_before_digest_and_basic() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Digest)];
        let offers = ["Basic realm=x", DIGEST, "Negotiate", "NTLM"];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert!(negotiation.challenged(&store, offers.into_iter()));
        assert!(
            header(&mut negotiation, &GET)
                .unwrap()
                .starts_with("NTLM TlRM")
        );
        // The server repeats its offers, which means that it refused the answer.
        assert!(!negotiation.challenged(&store, offers.into_iter()));
        assert_eq!(header(&mut negotiation, &GET), None);
        // Without `httpclient4.auth.preemptive`, the credentials do not work for NTLM.
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), false);
        assert!(
            !negotiation
                .clone()
                .challenged(&store, ["NTLM x"].into_iter())
        );
        assert!(negotiation.challenged(&store, ["NTLM"].into_iter()));
        assert_eq!(header(&mut negotiation, &GET), None);
    }

    #[test]
    fn after_success_a_challenge_begins_anew() {
        let store = CredentialStore::of_proxy("proxy", 3128, "u", "p", "");
        let mut negotiation = Negotiation::with_proxy("proxy", 3128);
        let first = |negotiation: &mut Negotiation| {
            assert!(negotiation.challenged(&store, ["NTLM"].into_iter()));
            header(negotiation, &GET).unwrap()
        };
        let message = first(&mut negotiation);
        negotiation.accepted();
        assert_eq!(header(&mut negotiation, &GET), None);
        assert_eq!(first(&mut negotiation), message);
        let mut negotiation = Negotiation::with_proxy("proxy", 3128);
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
        assert!(header(&mut negotiation, &GET).is_some());
        negotiation.accepted();
        assert!(
            header(&mut negotiation, &GET)
                .unwrap()
                .contains("nc=00000002")
        );
        assert!(negotiation.challenged(&store, [DIGEST].into_iter()));
    }

    #[test]
    fn tickets_answer_before_all_else() {
        let mut store = CredentialStore::default();
        let rows = [row("http://h/", Mechanism::Kerberos)];
        let mut negotiation = Negotiation::begin(&mut store, &rows, &url("http://h/p"), true);
        assert_eq!(header(&mut negotiation, &GET), None);
        let offers = ["Basic realm=x", "Negotiate", "Kerberos"];
        assert!(negotiation.challenged(&store, offers.into_iter()));
        let mut without = negotiation.clone();
        let wanted = negotiation.wanted_ticket().unwrap();
        assert_eq!((wanted.user, wanted.challenge), ("u", "Negotiate "));
        negotiation.put_ticket("Negotiate YII=".into());
        assert_eq!(
            header(&mut negotiation, &GET).as_deref(),
            Some("Negotiate YII=")
        );
        assert!(!negotiation.challenged(&store, offers.into_iter()));
        // Without a ticket, the next scheme is used; after that, none remains.
        without.take_next();
        assert_eq!(without.wanted_ticket().unwrap().challenge, "Kerberos ");
        without.take_next();
        assert_eq!(header(&mut without, &GET), None);
    }

    #[test]
    fn credentials_of_basic_are_utf_8() {
        assert_eq!(basic_utf8(&row("", Mechanism::Basic)), "Basic dTpw");
    }
}
