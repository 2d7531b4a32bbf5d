//! Builds addresses from a sampler's fields, and what is sent from addresses.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use drumfire_java::url as java_url;

pub use crate::wire::WireAddress;
use crate::wire::WireParts;
use drumfire_java::Exception;
use drumfire_java::uri::{self, Component, append_ascii, append_percent, append_quoted};

/// The fields of an HTTP sampler that define its address, already evaluated.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplerAddress<'a> {
    /// `HTTPSampler.protocol`; empty means `http`.
    pub protocol: &'a str,
    /// `HTTPSampler.domain`.
    pub domain: &'a str,
    /// `HTTPSampler.port` as written; the default port applies if it is empty, 0 or not a number.
    pub port: &'a str,
    /// `HTTPSampler.path`; may be a whole address.
    pub path: &'a str,
    /// `HTTPSampler.method`.
    pub method: &'a str,
    /// The arguments as [`crate::body::append_query_string`] writes them; used only with methods that put them into the address.
    pub query: &'a str,
}

/// Whether a method puts its arguments into the address (`HTTPSamplerBase.getUrl`).
pub fn method_takes_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS")
}

impl SamplerAddress<'_> {
    /// `HTTPSamplerBase.getUrl`.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn url(&self) -> Result<Url, Exception> {
        let path = encode_spaces(self.path);
        if path.starts_with("http://") || path.starts_with("https://") {
            return Url::parse(&path);
        }
        let protocol = if self.protocol.is_empty() {
            "http"
        } else {
            self.protocol
        };
        let local = protocol.eq_ignore_ascii_case("file");
        let takes_query = method_takes_query(self.method) && !self.query.is_empty();
        let file: Cow<'_, str> = if takes_query || !(local || path.starts_with('/')) {
            let mut file = String::with_capacity(path.len() + self.query.len() + 2);
            if !local && !path.starts_with('/') {
                file.push('/');
            }
            file.push_str(&path);
            if takes_query {
                file.push(if path.contains('?') { '&' } else { '?' });
                file.push_str(self.query);
            }
            file.into()
        } else {
            path
        };
        let host = (!local).then_some(self.domain);
        let port = effective_port(protocol, self.port);
        Url::from_parts(protocol, host, port, &file)
    }
}

/// The port of an address that names none.
pub const NO_PORT: i32 = -1;

/// The explicit port of the address, or [`NO_PORT`] (`isProtocolDefaultPort`, `getPort`).
#[must_use]
pub fn effective_port(protocol: &str, port: &str) -> i32 {
    let port = drumfire_java::text::trim(port).parse::<i32>().unwrap_or(0);
    let default = (protocol.eq_ignore_ascii_case("http") && port == 80)
        || (protocol.eq_ignore_ascii_case("https") && port == 443);
    if port == 0 || default { NO_PORT } else { port }
}

/// `HTTPSamplerBase.encodeSpaces`: encodes only spaces.
pub(crate) fn encode_spaces(path: &str) -> Cow<'_, str> {
    if path.contains(' ') {
        path.replace(' ', "%20").into()
    } else {
        path.into()
    }
}

/// An address of a request: a `java.net.URL`, and what HttpClient sends for it. Clones share both.
#[derive(Clone, Debug)]
pub struct Url {
    address: java_url::Url,
    /// The result of [`Url::wire`], if it is kept. It follows from the address, so comparisons ignore it.
    wire: Option<Rc<WireParts>>,
}

impl From<java_url::Url> for Url {
    fn from(address: java_url::Url) -> Url {
        Url {
            address,
            wire: None,
        }
    }
}

impl Deref for Url {
    type Target = java_url::Url;

    fn deref(&self) -> &java_url::Url {
        &self.address
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Url) -> bool {
        self.address == other.address
    }
}

impl Eq for Url {}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

const CLIENT_PROTOCOL: &str = "org.apache.http.client.ClientProtocolException";

impl Url {
    /// `new URL(spec)`.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn parse(spec: &str) -> Result<Self, Exception> {
        java_url::Url::parse(spec).map(Self::from)
    }

    /// `new URL(this, spec)`: resolves a possibly relative address against this one.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn join(&self, spec: &str) -> Result<Self, Exception> {
        self.address.join(spec).map(Self::from)
    }

    /// `new URL(protocol, host, port, file)`; a port of -1 means none, and a host of `None` means a local address.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn from_parts(
        protocol: &str,
        host: Option<&str>,
        port: i32,
        file: &str,
    ) -> Result<Self, Exception> {
        java_url::Url::from_parts(protocol, host, port, file).map(Self::from)
    }

    /// Computes what HttpClient sends for this address: `URL.toURI()`, `URIUtils.extractHost` and `URIUtils.rewriteURIForRoute`.
    ///
    /// # Errors
    /// The failure that JMeter reports for an address that is not a URI, has no host, an unknown protocol or a port beyond 65535.
    pub fn wire(&self) -> Result<WireAddress<'_>, Exception> {
        match &self.wire {
            Some(known) => Ok(known.wire()),
            None => self.work_out_wire(),
        }
    }

    /// Keeps the result of [`Url::wire`], unless it is a failure, in this address and its later clones. Worth its memory for an
    /// address that is requested again.
    #[must_use]
    pub fn keeping_wire(self) -> Self {
        let parts = self.wire().ok().map(|wire| Rc::new(WireParts::of(wire)));
        Self {
            wire: parts,
            ..self
        }
    }

    /// Checks whether a Cookie Manager can look up cookies for this address.
    ///
    /// # Errors
    /// The exception that JMeter reports for an address without a host, even if the manager has no cookies
    /// (`HC4CookieHandler#getCookiesForUrl`).
    pub fn cookie_origin(&self) -> Result<(), Exception> {
        if !self.host().trim().is_empty() {
            return Ok(());
        }
        Err(Exception::illegal_argument("Host may not be blank"))
    }

    fn work_out_wire(&self) -> Result<WireAddress<'_>, Exception> {
        let text = self.as_str();
        let uri = uri::parse(text, false)?;
        let (host, port) = extract_host(text, &uri).ok_or_else(|| {
            Exception::new(
                CLIENT_PROTOCOL,
                format!("URI does not specify a valid host name: {text}"),
            )
        })?;
        let secure = match self.protocol() {
            "http" => false,
            "https" => true,
            other => {
                return Err(Exception::new(
                    "org.apache.http.conn.UnsupportedSchemeException",
                    format!("{other} protocol is not supported"),
                ));
            }
        };
        let connect_port = if port >= 0 {
            port
        } else if secure {
            443
        } else {
            80
        };
        let connect_port = u16::try_from(connect_port)
            .map_err(|_| Exception::illegal_argument(format!("port out of range:{port}")))?;
        let host_header = if port < 0 {
            Cow::Borrowed(host)
        } else {
            host_and_port(self.authority().unwrap_or(""), host, port)
        };
        Ok(WireAddress {
            connect_host: host.trim_start_matches('[').trim_end_matches(']'),
            connect_port,
            secure,
            target: request_target(text, &uri),
            host_header,
        })
    }

    /// The address that JMeter shows if HttpClient follows redirects itself: the request target as sent, with only the host
    /// in front (`HTTPHC4Impl#sample`).
    ///
    /// # Errors
    /// Those of [`Url::wire`].
    pub fn as_sent(&self) -> Result<Self, Exception> {
        let wire = self.wire()?;
        Self::parse(&format!("{}://{}", self.protocol(), wire.host_header))?.join(&wire.target)
    }

    /// `url.toURI().normalize().toURL()`, which JMeter applies to every embedded resource.
    ///
    /// # Errors
    /// `java.net.URISyntaxException` if the address is not a URI.
    pub fn normalized(&self) -> Result<Self, Exception> {
        let text = self.as_str();
        let uri = uri::parse(text, false)?;
        match uri::normalized(text, &uri) {
            Some(text) => Self::parse(&text),
            None => Ok(self.clone()),
        }
    }

    /// `ConversionUtils.sanitizeUrl(url).toURL()`: this address if it is a URI, or else one with quoted parts.
    ///
    /// # Errors
    /// `java.net.URISyntaxException` if it is not a URI even after quoting.
    pub fn sanitized(&self) -> Result<Self, Exception> {
        if uri::parse(self.as_str(), false).is_ok() {
            return Ok(self.clone());
        }
        let mut text = format!("{}://", self.protocol());
        if let Some(user_info) = self.user_info() {
            append_quoted(user_info, Component::UserInfo, &mut text);
            text.push('@');
        }
        text.push_str(self.host());
        if let Some(port) = self.port() {
            text.push_str(&format!(":{port}"));
        }
        if !self.path().is_empty() && !self.path().starts_with('/') {
            return Err(Exception::new(
                "java.net.URISyntaxException",
                format!("Relative path in absolute URI: {text}{}", self.path()),
            ));
        }
        append_quoted(self.path(), Component::Path, &mut text);
        for (mark, part) in [('?', self.query()), ('#', self.reference())] {
            if let Some(part) = part {
                text.push(mark);
                append_quoted(part, Component::Uric, &mut text);
            }
        }
        uri::parse(&text, true)?;
        Self::parse(&text)
    }
}

/// `URIUtils.extractHost`: the host with its brackets, and the port or -1.
fn extract_host<'a>(text: &'a str, uri: &uri::UriParts) -> Option<(&'a str, i32)> {
    if let Some(host) = &uri.host {
        return Some((&text[host.clone()], uri.port));
    }
    // java.net.URI does not consider it server-based, for example because of an underscore, so HttpClient parses it itself.
    let authority = &text[uri.authority.clone()?];
    let server = authority
        .split_once('@')
        .map(|(_, server)| server)
        .unwrap_or(authority);
    let (host, port) = match server.split_once(':') {
        None => (server, -1),
        Some((host, "")) => (host, -1),
        Some((host, port)) => (host, port.parse().ok()?),
    };
    (!host.is_empty() && !host.contains(char::is_whitespace)).then_some((host, port))
}

/// Host and port as `HttpHost.toHostString` writes them; borrowed if the address has the same spelling.
fn host_and_port<'a>(authority: &'a str, host: &'a str, port: i32) -> Cow<'a, str> {
    let server = authority
        .rsplit_once('@')
        .map(|(_, server)| server)
        .unwrap_or(authority);
    let plain = server
        .strip_prefix(host)
        .and_then(|rest| rest.strip_prefix(':'))
        .is_some_and(|digits| !digits.starts_with(['0', '+', '-']) && digits.parse() == Ok(port));
    if plain {
        Cow::Borrowed(server)
    } else {
        Cow::Owned(format!("{host}:{port}"))
    }
}

/// `URIUtils.rewriteURI` with its default flags: no fragment, no empty path segments, `/` for an empty path; in ASCII.
fn request_target<'a>(text: &'a str, uri: &uri::UriParts) -> Cow<'a, str> {
    let path = &text[uri.path.clone()];
    let end = uri.query.as_ref().map_or(uri.path.end, |query| query.end);
    let multiple_slashes = path.contains("//");
    let whole = &text[uri.path.start..end];
    if !multiple_slashes && path.starts_with('/') && whole.is_ascii() {
        return Cow::Borrowed(whole);
    }
    let mut out = String::with_capacity(whole.len() + 1);
    if path.is_empty() {
        out.push('/');
    } else if multiple_slashes {
        append_without_empty_segments(path, &mut out);
    } else {
        append_ascii(path, &mut out);
    }
    append_ascii(&text[uri.path.end..end], &mut out);
    Cow::Owned(out)
}

/// Drops empty segments. Like `URIBuilder.setPathSegments`, it decodes and re-encodes the others.
fn append_without_empty_segments(path: &str, out: &mut String) {
    let mut segments = path[1..].split('/').peekable();
    while let Some(segment) = segments.next() {
        if segment.is_empty() && segments.peek().is_some() {
            continue;
        }
        out.push('/');
        let decoded: Vec<u8> = percent_encoding::percent_decode_str(segment).collect();
        for b in String::from_utf8_lossy(&decoded).bytes() {
            if b.is_ascii_alphanumeric() || b"_-.*!~'();:@&=+$,".contains(&b) {
                out.push(char::from(b));
            } else {
                append_percent(b, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target<'a>(path: &'a str, query: &'a str) -> SamplerAddress<'a> {
        SamplerAddress {
            domain: "127.0.0.1",
            port: "8080",
            path,
            method: "GET",
            query,
            ..SamplerAddress::default()
        }
    }

    fn wire_of(path: &str) -> String {
        let url = target(path, "").url().unwrap();
        url.wire().unwrap().target.into_owned()
    }

    #[test]
    fn a_kept_result_is_that_of_the_address() {
        for path in ["/p?q=1", "//a//b", "/\u{e9}"] {
            let url = target(path, "").url().unwrap();
            let kept = url.clone().keeping_wire();
            assert_eq!(kept.wire(), url.wire());
            assert_eq!(kept, url);
        }
        let failing = target("/<", "").url().unwrap().keeping_wire();
        assert!(failing.wire().is_err());
    }

    #[test]
    fn addresses_are_composed_as_jmeter_does() {
        let text = |t: SamplerAddress<'_>| t.url().unwrap().to_string();
        assert_eq!(text(target("/p", "a=1&n")), "http://127.0.0.1:8080/p?a=1&n");
        assert_eq!(
            text(target("/p?z=1", "a=1")),
            "http://127.0.0.1:8080/p?z=1&a=1"
        );
        assert_eq!(
            text(target("/a b/c  d?x=y z", "")),
            "http://127.0.0.1:8080/a%20b/c%20%20d?x=y%20z"
        );
        assert_eq!(text(target("rel/x", "")), "http://127.0.0.1:8080/rel/x");
        assert_eq!(text(target("", "")), "http://127.0.0.1:8080/");
        // A whole address in the path replaces the other fields and the arguments.
        assert_eq!(
            text(target("http://o:81/full?a=1", "b=2")),
            "http://o:81/full?a=1"
        );
        let post = SamplerAddress {
            method: "POST",
            ..target("/p", "a=1")
        };
        assert_eq!(text(post), "http://127.0.0.1:8080/p");
        let default = SamplerAddress {
            protocol: "HTTPS",
            port: " 443 ",
            ..target("/p", "")
        };
        assert_eq!(text(default), "https://127.0.0.1/p");
        let nonsense = SamplerAddress {
            port: "abc",
            ..target("/p", "")
        };
        assert_eq!(text(nonsense), "http://127.0.0.1/p");
        let odd = SamplerAddress {
            protocol: "https",
            port: "80",
            ..target("/p", "")
        };
        assert_eq!(text(odd), "https://127.0.0.1:80/p");
        let file = SamplerAddress {
            protocol: "file",
            path: "etc/x",
            ..target("", "")
        };
        assert_eq!(text(file), "file:etc/x");
    }

    #[test]
    fn request_targets_are_the_recorded_ones() {
        assert_eq!(
            wire_of("//a//b%20c/./x/../y;v=1?q=//"),
            "/a/b%20c/./x/../y;v=1?q=//"
        );
        assert_eq!(wire_of("/é/ü?x=é"), "/%C3%A9/%C3%BC?x=%C3%A9");
        assert_eq!(wire_of("/a?x[]=1"), "/a?x[]=1");
        assert_eq!(wire_of("/a#frag"), "/a");
        let url = Url::parse("http://h?x=1").unwrap();
        assert_eq!(url.wire().unwrap().target, "/?x=1");
        let url = Url::parse("http://us:pw@LOCALHOST:18761/ui").unwrap();
        let wire = url.wire().unwrap();
        assert_eq!((wire.connect_host, wire.connect_port), ("LOCALHOST", 18761));
        assert_eq!(wire.host_header, "LOCALHOST:18761");
        let url = Url::parse("http://[::1]:1/p").unwrap();
        let wire = url.wire().unwrap();
        assert_eq!((wire.connect_host, &*wire.host_header), ("::1", "[::1]:1"));
        let url = Url::parse("http://h:0080/").unwrap();
        assert_eq!(url.wire().unwrap().host_header, "h:80");
        let url = Url::parse("https://my_host/p").unwrap();
        let wire = url.wire().unwrap();
        assert_eq!(
            (&*wire.host_header, wire.connect_port, wire.secure),
            ("my_host", 443, true)
        );
    }

    #[test]
    fn the_address_as_sent_has_neither_fragment_nor_empty_segments_nor_user() {
        let as_sent = |text: &str| {
            let url = Url::parse(text).unwrap();
            url.as_sent().unwrap().as_str().to_owned()
        };
        assert_eq!(as_sent("http://h:80/a//b?x=1#top"), "http://h:80/a/b?x=1");
        assert_eq!(as_sent("http://us:pw@h/a"), "http://h/a");
        assert_eq!(as_sent("http://h"), "http://h/");
    }

    #[test]
    fn bad_addresses_fail_as_recorded() {
        let failure = |t: SamplerAddress<'_>| {
            let url = t.url().unwrap();
            let failure = url.wire().unwrap_err();
            (
                failure.class.into_owned(),
                failure.message.unwrap().into_owned(),
            )
        };
        assert_eq!(
            failure(target("/a|b", "")),
            (
                "java.net.URISyntaxException".to_owned(),
                "Illegal character in path at index 23: http://127.0.0.1:8080/a|b".into()
            )
        );
        assert_eq!(
            failure(SamplerAddress {
                domain: "",
                ..target("/p", "")
            }),
            (
                CLIENT_PROTOCOL.to_owned(),
                "URI does not specify a valid host name: http://:8080/p".into()
            )
        );
        assert_eq!(
            failure(SamplerAddress {
                port: "99999",
                ..target("/p", "")
            }),
            (
                "java.lang.IllegalArgumentException".to_owned(),
                "port out of range:99999".into()
            )
        );
        assert_eq!(
            failure(SamplerAddress {
                protocol: "ftp",
                ..target("/p", "")
            }),
            (
                "org.apache.http.conn.UnsupportedSchemeException".to_owned(),
                "ftp protocol is not supported".into()
            )
        );
        assert_eq!(
            failure(SamplerAddress {
                domain: "127.0 .0.1",
                ..target("/p", "")
            })
            .1,
            "Illegal character in authority at index 7: http://127.0 .0.1:8080/p"
        );
    }
}
