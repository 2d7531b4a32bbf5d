//! The cookie specifications of HttpClient 4.5: parsing, validation, matching and formatting.

use std::borrow::Cow;
use std::net::IpAddr;

use drumfire_java::text::{is_blank, trim};

use super::{Cookie, Policy, lower, public_suffix};
use crate::header_value::{Cursor, Element, parse_elements, parse_netscape_element};
use crate::http_date;
use crate::url::Url;

/// The origin or destination of a cookie (`CookieOrigin`).
pub(super) struct CookieOrigin<'a> {
    host: Cow<'a, str>,
    path: &'a str,
    secure: bool,
}

impl<'a> CookieOrigin<'a> {
    /// The origin of an address; `None` if the address has no host, on which HttpClient fails.
    pub fn of(url: &'a Url) -> Option<Self> {
        if is_blank(url.host()) {
            return None;
        }
        let path = url.path();
        Some(Self {
            host: lower(url.host()),
            path: if is_blank(path) { "/" } else { path },
            secure: url.is_secure(),
        })
    }

    /// `RFC2965Spec.adjustEffectiveHost`: a name without dots gets the domain `.local`.
    fn effective_host(&self) -> Cow<'_, str> {
        if self.host.contains(['.', ':']) {
            Cow::Borrowed(&self.host)
        } else {
            Cow::Owned(format!("{}.local", self.host))
        }
    }

    /// `CookieSpecBase.getDefaultPath`: the path without its last slash and what follows it.
    fn default_path(&self) -> &str {
        match self.path.rfind('/') {
            Some(0) => "/",
            Some(slash) => &self.path[..slash],
            None => self.path,
        }
    }
}

/// A cookie from a header, not validated yet.
pub(super) struct Arrived {
    pub cookie: Cookie,
    /// Milliseconds since the epoch.
    pub expires_ms: Option<i64>,
}

/// A cookie that is being parsed; if a handler returns `None`, the whole header is malformed.
struct CookieFields {
    arrived: Arrived,
    now_ms: i64,
}

impl CookieFields {
    fn new(name: String, value: Option<String>, origin: &CookieOrigin<'_>, now_ms: i64) -> Self {
        let cookie = Cookie {
            name: name.into(),
            value: value.unwrap_or_default().into(),
            domain: (&*origin.host).into(),
            path: origin.default_path().into(),
            secure: false,
            expires_s: 0,
            path_specified: false,
            domain_specified: false,
            version: 0,
        };
        Self {
            arrived: Arrived {
                cookie,
                expires_ms: None,
            },
            now_ms,
        }
    }

    fn finish(mut self) -> Arrived {
        self.arrived.cookie.expires_s = self.arrived.expires_ms.unwrap_or(0) / 1000;
        self.arrived
    }

    /// `BasicPathHandler.parse`.
    fn path(&mut self, value: Option<&str>) {
        let path = value.filter(|value| !is_blank(value)).unwrap_or("/");
        self.arrived.cookie.path = path.into();
    }

    /// `BasicDomainHandler.parse`: removes a leading dot; ignores a domain that ends in a dot.
    fn basic_domain(&mut self, value: Option<&str>) -> Option<()> {
        let value = value.filter(|value| !is_blank(value))?;
        if !value.ends_with('.') {
            self.set_domain(value.strip_prefix('.').unwrap_or(value));
        }
        Some(())
    }

    /// `NetscapeDomainHandler.parse`, `RFC2109DomainHandler.parse`.
    fn plain_domain(&mut self, value: Option<&str>) -> Option<()> {
        let value = value.filter(|value| !trim(value).is_empty())?;
        self.set_domain(value);
        Some(())
    }

    fn set_domain(&mut self, domain: &str) {
        self.arrived.cookie.domain = lower(domain).into();
    }

    /// `BasicMaxAgeHandler.parse`.
    fn max_age(&mut self, value: Option<&str>) -> Option<()> {
        let age: i32 = value?.parse().ok()?;
        if age < 0 {
            return None;
        }
        self.arrived.expires_ms = Some(self.now_ms + i64::from(age) * 1000);
        Some(())
    }

    /// `LaxMaxAgeHandler.parse`: ignores anything that is not a number; a negative age is in the past.
    fn lax_max_age(&mut self, value: Option<&str>) {
        let value = value.unwrap_or("");
        if value.starts_with('+') {
            return;
        }
        if let Ok(age) = value.parse::<i32>() {
            let expires = if age < 0 {
                i64::MIN
            } else {
                self.now_ms + i64::from(age) * 1000
            };
            self.arrived.expires_ms = Some(expires);
        }
    }

    /// `BasicExpiresHandler.parse`.
    fn expires(&mut self, value: Option<&str>, patterns: &[&str]) -> Option<()> {
        self.arrived.expires_ms = Some(http_date::parse_with(value?, patterns)?);
        Some(())
    }
}

/// Parses a `Set-Cookie` header. A malformed header gives no cookies.
pub(super) fn parse(
    policy: Policy,
    header: &str,
    origin: &CookieOrigin<'_>,
    now_ms: i64,
) -> Vec<Arrived> {
    let cookies = match policy {
        Policy::Standard => parse_rfc6265(header, origin, now_ms, false),
        Policy::StandardStrict => parse_rfc6265(header, origin, now_ms, true),
        Policy::Netscape => parse_old(
            &[parse_netscape_element(header)],
            origin,
            now_ms,
            Old::Netscape,
        ),
        Policy::Rfc2109 => parse_old(&parse_elements(header), origin, now_ms, Old::Rfc2109),
        Policy::BestMatch => parse_best_match(header, origin, now_ms),
        Policy::Ignore | Policy::Rfc2965 => None,
    };
    cookies.unwrap_or_default()
}

/// `RFC6265CookieSpec.parse`.
fn parse_rfc6265(
    header: &str,
    origin: &CookieOrigin<'_>,
    now_ms: i64,
    strict: bool,
) -> Option<Vec<Arrived>> {
    let mut cursor = Cursor::new(header);
    let name = cursor.token(b"=;");
    if name.is_empty() || cursor.take() != Some(b'=') {
        return None;
    }
    let value = cursor.value(b";");
    cursor.take();
    let mut reading = CookieFields::new(name, Some(value), origin, now_ms);
    let mut attributes: Vec<(String, Option<String>)> = Vec::new();
    while !cursor.at_end() {
        let name = cursor.token(b"=;").to_lowercase();
        let value = (cursor.take() == Some(b'=')).then(|| {
            let value = cursor.token(b";");
            cursor.take();
            value
        });
        // If an attribute occurs several times, its last value counts, at the first position.
        match attributes.iter_mut().find(|(own, _)| *own == name) {
            Some(own) => own.1 = value,
            None => attributes.push((name, value)),
        }
    }
    let has_max_age = attributes.iter().any(|(name, _)| name == "max-age");
    for (name, value) in &attributes {
        let value = value.as_deref();
        match name.as_str() {
            "path" => {
                reading.path(value);
                reading.arrived.cookie.path_specified = true;
            }
            "domain" => {
                reading.basic_domain(value)?;
                reading.arrived.cookie.domain_specified = true;
            }
            "secure" => reading.arrived.cookie.secure = true,
            "max-age" if strict => reading.max_age(value)?,
            "max-age" => reading.lax_max_age(value),
            "expires" if has_max_age => {}
            "expires" if strict => reading.expires(value, &http_date::DEFAULT_PATTERNS)?,
            "expires" => {
                if let Some(value) = value.filter(|value| !is_blank(value)) {
                    reading.arrived.expires_ms = Some(http_date::parse_lax(value)?);
                }
            }
            _ => {}
        }
    }
    Some(vec![reading.finish()])
}

/// The specifications before RFC 6265, which share `CookieSpecBase.parse`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    /// `NetscapeDraftSpec` as in the policy `netscape`.
    Netscape,
    /// `NetscapeDraftSpec` as in `DefaultCookieSpec`, with the domain rules of RFC 6265.
    NetscapeInBestMatch,
    Rfc2109,
}

/// `CookieSpecBase.parse`: attributes are read from the last to the first.
fn parse_old(
    elements: &[Element],
    origin: &CookieOrigin<'_>,
    now_ms: i64,
    spec: Old,
) -> Option<Vec<Arrived>> {
    let mut cookies = Vec::with_capacity(elements.len());
    for element in elements.iter().filter(|element| !element.name.is_empty()) {
        let mut reading =
            CookieFields::new(element.name.clone(), element.value.clone(), origin, now_ms);
        for (name, value) in element.params.iter().rev() {
            let value = value.as_deref();
            match name.to_lowercase().as_str() {
                "path" => {
                    reading.path(value);
                    reading.arrived.cookie.path_specified = true;
                }
                "domain" => {
                    match spec {
                        Old::NetscapeInBestMatch => reading.basic_domain(value)?,
                        Old::Netscape | Old::Rfc2109 => reading.plain_domain(value)?,
                    }
                    reading.arrived.cookie.domain_specified = true;
                }
                "secure" => reading.arrived.cookie.secure = true,
                "max-age" if spec == Old::Rfc2109 => reading.max_age(value)?,
                "version" if spec == Old::Rfc2109 => {
                    reading.arrived.cookie.version = value?.parse().ok()?
                }
                "expires" if spec != Old::Rfc2109 => {
                    reading.expires(value, &http_date::NETSCAPE_PATTERN)?
                }
                _ => {}
            }
        }
        cookies.push(reading.finish());
    }
    Some(cookies)
}

/// `DefaultCookieSpec.parse`.
fn parse_best_match(header: &str, origin: &CookieOrigin<'_>, now_ms: i64) -> Option<Vec<Arrived>> {
    let elements = parse_elements(header);
    let versioned = elements.iter().any(|element| element.has_param("version"));
    let netscape = elements.iter().any(|element| element.has_param("expires"));
    if versioned && !netscape {
        parse_old(&elements, origin, now_ms, Old::Rfc2109)
    } else {
        parse_old(
            &[parse_netscape_element(header)],
            origin,
            now_ms,
            Old::NetscapeInBestMatch,
        )
    }
}

/// `CookieSpec.validate`: whether the origin may set the cookie.
pub(super) fn is_valid(policy: Policy, arrived: &Arrived, origin: &CookieOrigin<'_>) -> bool {
    let cookie = &arrived.cookie;
    match policy {
        Policy::Standard | Policy::StandardStrict => basic_domain_valid(cookie, origin),
        Policy::Netscape => netscape_domain_valid(cookie, origin),
        Policy::Rfc2109 => rfc2109_valid(cookie, origin),
        Policy::BestMatch if cookie.version > 0 => rfc2109_valid(cookie, origin),
        Policy::BestMatch => basic_domain_valid(cookie, origin),
        Policy::Ignore | Policy::Rfc2965 => true,
    }
}

fn basic_domain_valid(cookie: &Cookie, origin: &CookieOrigin<'_>) -> bool {
    *origin.host == *cookie.domain || domain_match(&cookie.domain, &origin.host)
}

/// `BasicDomainHandler.domainMatch`; never for IP addresses.
fn domain_match(domain: &str, host: &str) -> bool {
    if host.parse::<IpAddr>().is_ok() {
        return false;
    }
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    if !ends_with_ignoring_case(host, domain) {
        return false;
    }
    let prefix = host.len() - domain.len();
    prefix == 0 || (prefix > 1 && host.as_bytes()[prefix - 1] == b'.')
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    text.len() >= end.len()
        && text.as_bytes()[text.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

/// `NetscapeDomainHandler.validate`.
fn netscape_domain_valid(cookie: &Cookie, origin: &CookieOrigin<'_>) -> bool {
    const SPECIAL: [&str; 7] = [".com", ".edu", ".net", ".gov", ".mil", ".org", ".int"];
    let (host, domain) = (&*origin.host, &*cookie.domain);
    if host != domain && !domain_match(domain, host) {
        return false;
    }
    if !host.contains('.') {
        return true;
    }
    let parts = domain.split('.').filter(|part| !part.is_empty()).count();
    let special = SPECIAL
        .iter()
        .any(|end| ends_with_ignoring_case(domain, end));
    parts >= if special { 2 } else { 3 }
}

/// `RFC2109Spec.validate` with `RFC2109DomainHandler.validate`.
fn rfc2109_valid(cookie: &Cookie, origin: &CookieOrigin<'_>) -> bool {
    if cookie.name.contains(' ') || cookie.name.starts_with('$') || cookie.version < 0 {
        return false;
    }
    let (host, domain) = (&*origin.host, &*cookie.domain);
    if domain == host {
        return true;
    }
    let embedded_dot = domain
        .get(1..)
        .and_then(|rest| rest.find('.'))
        .map(|at| at + 1);
    domain.starts_with('.')
        && embedded_dot.is_some_and(|at| at != domain.len() - 1)
        && host.ends_with(domain)
        && !host[..host.len() - domain.len()].contains('.')
}

/// `CookieSpec.match`: whether the cookie is sent to the origin.
pub(super) fn matches(policy: Policy, cookie: &Cookie, origin: &CookieOrigin<'_>) -> bool {
    if !(path_match(&cookie.path, origin.path) && (!cookie.secure || origin.secure)) {
        return false;
    }
    match policy {
        Policy::Standard | Policy::StandardStrict => basic_domain_match(cookie, origin),
        Policy::Netscape => ends_with_ignoring_case(&origin.host, &cookie.domain),
        Policy::Rfc2109 => {
            !is_public_suffix(cookie, &origin.host) && rfc2109_domain_match(cookie, &origin.host)
        }
        Policy::BestMatch if cookie.version > 0 => {
            !is_public_suffix(cookie, &origin.host) && rfc2109_domain_match(cookie, &origin.host)
        }
        Policy::BestMatch => {
            !is_public_suffix(cookie, &origin.host) && basic_domain_match(cookie, origin)
        }
        Policy::Rfc2965 => {
            let host = origin.effective_host();
            !is_public_suffix(cookie, &host)
                && rfc2109_domain_match(cookie, &host)
                && !host[..host.len() - cookie.domain.len()].contains('.')
        }
        Policy::Ignore => false,
    }
}

/// `BasicPathHandler.pathMatch`.
fn path_match(cookie_path: &str, path: &str) -> bool {
    let cookie_path = match cookie_path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => cookie_path,
    };
    match path.strip_prefix(cookie_path) {
        Some(rest) => cookie_path == "/" || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// `BasicDomainHandler.match`: the exact host, or its domain if the cookie specified one.
fn basic_domain_match(cookie: &Cookie, origin: &CookieOrigin<'_>) -> bool {
    let domain = cookie.domain.strip_prefix('.').unwrap_or(&cookie.domain);
    origin.host.eq_ignore_ascii_case(domain)
        || (cookie.domain_specified && domain_match(domain, &origin.host))
}

/// `RFC2109DomainHandler.match`, `RFC2965DomainAttributeHandler.domainMatch`.
fn rfc2109_domain_match(cookie: &Cookie, host: &str) -> bool {
    let domain = &*cookie.domain;
    host.eq_ignore_ascii_case(domain)
        || (domain.starts_with('.') && ends_with_ignoring_case(host, domain))
}

/// `PublicSuffixDomainFilter.match`.
fn is_public_suffix(cookie: &Cookie, host: &str) -> bool {
    const LOCAL: [&str; 5] = [".localhost.", ".test.", ".local.", ".local", ".localdomain"];
    let domain = lower(&cookie.domain);
    match domain.find('.') {
        Some(at) if LOCAL.contains(&&domain[at..]) => return false,
        None if domain.eq_ignore_ascii_case(host) => return false,
        _ => {}
    }
    let name = domain.strip_prefix('.').unwrap_or(&domain);
    if name.is_empty() || name.starts_with('.') {
        return true;
    }
    public_suffix::contains(name)
}

/// `RFC6265CookieSpec.formatCookies`: longest path first, otherwise in stored order; quoted if the value requires
/// it.
pub(super) fn append_standard<'c, I>(cookies: impl Fn() -> I, out: &mut String)
where
    I: Iterator<Item = &'c Cookie>,
{
    let start = out.len();
    let mut bound = usize::MAX;
    while let Some(len) = cookies()
        .map(|cookie| cookie.path.len())
        .filter(|len| *len < bound)
        .max()
    {
        for cookie in cookies().filter(|cookie| cookie.path.len() == len) {
            if out.len() > start {
                out.push_str("; ");
            }
            out.push_str(&cookie.name);
            out.push('=');
            if cookie.value.contains([' ', '"', ',', ';', '\\']) {
                out.push('"');
                for c in cookie.value.chars() {
                    if matches!(c, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(c);
                }
                out.push('"');
            } else {
                out.push_str(&cookie.value);
            }
        }
        bound = len;
    }
}

/// `NetscapeDraftSpec.formatCookies`.
pub(super) fn append_netscape<'c>(cookies: impl Iterator<Item = &'c Cookie>, out: &mut String) {
    for (i, cookie) in cookies.enumerate() {
        if i > 0 {
            out.push_str("; ");
        }
        out.push_str(&cookie.name);
        out.push('=');
        out.push_str(&cookie.value);
    }
}

/// `DefaultCookieSpec.formatCookies`: uses RFC 2109 only if every cookie has a version.
pub(super) fn append_best_match<'c, I>(cookies: impl Fn() -> I, out: &mut String)
where
    I: Iterator<Item = &'c Cookie>,
{
    if cookies().all(|cookie| cookie.version > 0) {
        append_versioned(cookies(), false, out);
    } else {
        append_netscape(cookies(), out);
    }
}

/// `RFC2109Spec.formatCookies`. With `one_header`, all cookies share the lowest version. Without it, each would have
/// its own header; JMeter joins these without a separator.
pub(super) fn append_versioned<'c>(
    cookies: impl Iterator<Item = &'c Cookie>,
    one_header: bool,
    out: &mut String,
) {
    let mut cookies: Vec<&Cookie> = cookies.collect();
    sort_by_path(&mut cookies);
    let lowest = cookies
        .iter()
        .map(|cookie| cookie.version)
        .min()
        .unwrap_or(0);
    for (i, cookie) in cookies.iter().enumerate() {
        let version = if one_header { lowest } else { cookie.version };
        if i == 0 || !one_header {
            out.push_str(&format!("$Version={version}"));
        }
        out.push_str("; ");
        append_parameter(&cookie.name, &cookie.value, version, out);
        if cookie.path_specified {
            out.push_str("; ");
            append_parameter("$Path", &cookie.path, version, out);
        }
        if cookie.domain_specified {
            out.push_str("; ");
            append_parameter("$Domain", &lower(&cookie.domain), version, out);
        }
    }
}

fn append_parameter(name: &str, value: &str, version: i32, out: &mut String) {
    let quote = if version > 0 { "\"" } else { "" };
    for piece in [name, "=", quote, value, quote] {
        out.push_str(piece);
    }
}

/// Sorts with `CookiePathComparator`, which is not a total order: the result depends on Java's binary insertion
/// sort, which this reproduces.
fn sort_by_path(cookies: &mut [&Cookie]) {
    let mut sorted = cookies.len().min(1);
    // Java first looks for a run: a strictly descending one is reversed.
    if cookies.len() > 1 {
        let descending = more_specific(cookies[1], cookies[0]);
        sorted = 2;
        while sorted < cookies.len()
            && more_specific(cookies[sorted], cookies[sorted - 1]) == descending
        {
            sorted += 1;
        }
        if descending {
            cookies[..sorted].reverse();
        }
    }
    for i in sorted..cookies.len() {
        let (mut left, mut right) = (0, i);
        while left < right {
            let middle = (left + right) / 2;
            if more_specific(cookies[i], cookies[middle]) {
                right = middle;
            } else {
                left = middle + 1;
            }
        }
        cookies[left..=i].rotate_right(1);
    }
}

fn more_specific(a: &Cookie, b: &Cookie) -> bool {
    let (a, b) = (a.path.trim_end_matches('/'), b.path.trim_end_matches('/'));
    a.len() > b.len() && a.starts_with(b) && a.as_bytes()[b.len()] == b'/'
}
