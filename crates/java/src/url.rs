//! `java.net.URL`: parsing, relative resolution, and the text for the URL column of the results.
//!
//! JMeter represents every address as a `java.net.URL`, so its text, parts and failures are those of `java.net.URL`
//! and `java.net.URLStreamHandler.parseURL` (Java 17).

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use crate::exception::Exception;
use crate::text::is_blank;
use crate::values::parse_int_range;

/// The protocols that a Java runtime has handlers for.
const KNOWN_PROTOCOLS: [&str; 8] = [
    "http", "https", "file", "jar", "ftp", "mailto", "jrt", "jmod",
];

/// The brackets of an address literal, a colon and the digits of a port.
const LONGEST_PORT: usize = 13;

/// An address as `java.net.URL` represents it. The text is stored once and the parts are ranges of it. Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: Rc<str>,
    protocol_end: u32,
    authority: Option<UrlSpan>,
    user_info: Option<UrlSpan>,
    host: UrlSpan,
    port: i32,
    path: UrlSpan,
    query: Option<UrlSpan>,
    reference: Option<UrlSpan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UrlSpan(u32, u32);

impl UrlSpan {
    fn of(range: Range<usize>) -> Self {
        let narrow = |n| u32::try_from(n).expect("an address is shorter than 4 GiB");
        Self(narrow(range.start), narrow(range.end))
    }

    fn cut<'a>(&self, text: &'a str) -> &'a str {
        &text[self.0 as usize..self.1 as usize]
    }
}

/// The parts of an address before assembly. `user_info` and `host` are ranges of `authority`.
#[derive(Clone, Debug, Default)]
struct Parts<'a> {
    protocol: Cow<'a, str>,
    authority: Option<&'a str>,
    user_info: Option<Range<usize>>,
    host: Range<usize>,
    port: i32,
    /// Absent until it was read or taken from the context.
    path: Option<Cow<'a, str>>,
    query: Option<&'a str>,
    reference: Option<&'a str>,
}

impl Url {
    /// `new URL(spec)`.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn parse(spec: &str) -> Result<Self, Exception> {
        Self::resolve(None, spec)
    }

    /// `new URL(this, spec)`: resolves a possibly relative address against this one.
    ///
    /// # Errors
    /// `java.net.MalformedURLException` with Java's message.
    pub fn join(&self, spec: &str) -> Result<Self, Exception> {
        Self::resolve(Some(self), spec)
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
        let protocol = if KNOWN_PROTOCOLS.contains(&protocol) {
            Cow::Borrowed(protocol)
        } else {
            Cow::Owned(protocol.to_lowercase())
        };
        if host.is_some() && port < -1 {
            return Err(Exception::malformed_url(format!(
                "Invalid port number :{port}"
            )));
        }
        check_protocol(&protocol)?;
        let (file, reference) = split_first(file, '#');
        let (path, query) = match file.rfind('?') {
            Some(at) => (&file[..at], Some(&file[at + 1..])),
            None => (file, None),
        };
        let mut authority = String::with_capacity(host.map(str::len).unwrap_or(0) + LONGEST_PORT);
        let mut host_range = 0..0;
        if let Some(host) = host {
            if host.contains(':') && !host.starts_with('[') {
                authority.push('[');
                authority.push_str(host);
                authority.push(']');
            } else {
                authority.push_str(host);
            }
            host_range = 0..authority.len();
            check_host(&authority).map_err(Exception::malformed_url)?;
            if port != -1 {
                authority.push(':');
                authority.push_str(itoa::Buffer::new().format(port));
            }
        }
        Ok(Self::assemble(&Parts {
            protocol,
            authority: host.map(|_| authority.as_str()),
            user_info: None,
            host: host_range,
            port,
            path: Some(path.into()),
            query,
            reference,
        }))
    }

    fn resolve(context: Option<&Self>, original: &str) -> Result<Self, Exception> {
        let spec = original.trim_matches(|c| c <= ' ');
        let spec = match spec.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("url:") => &spec[4..],
            _ => spec,
        };
        let (new_protocol, mut rest) = split_protocol(spec);
        // The context only counts if the protocols are equal.
        let context = context.filter(|c| new_protocol.as_deref().is_none_or(|p| p == c.protocol()));
        let hierarchical = context.is_some_and(|c| c.path().starts_with('/'));
        let inherits = context.is_some() && (new_protocol.is_none() || hierarchical);
        let new_protocol_given = new_protocol.is_some();
        let mut parts = match context {
            Some(context) if inherits => Parts {
                protocol: context.protocol().into(),
                authority: context.authority(),
                user_info: context.range_in_authority(context.user_info),
                host: context
                    .range_in_authority(Some(context.host))
                    .unwrap_or(0..0),
                port: context.port,
                path: Some(context.path().into()),
                query: None,
                reference: None,
            },
            _ => Parts {
                protocol: new_protocol
                    .map(Cow::Owned)
                    .ok_or_else(|| Exception::malformed_url(format!("no protocol: {original}")))?,
                port: -1,
                ..Parts::default()
            },
        };
        check_protocol(&parts.protocol)?;
        if let Some(hash) = rest.find('#') {
            parts.reference = Some(&rest[hash + 1..]);
            rest = &rest[..hash];
        }
        if inherits && rest.is_empty() {
            // If the spec is only a fragment, Java keeps the context's query, and also its fragment if the spec's is
            // missing.
            parts.query = context.and_then(Self::query);
            parts.reference = parts
                .reference
                .or_else(|| context.and_then(Self::reference));
        }
        match &*parts.protocol {
            "mailto" => parse_mail_address(&mut parts, rest)?,
            "jar" if new_protocol_given => parse_jar_address(&mut parts, rest)?,
            _ => parse_spec(&mut parts, rest)?,
        }
        Ok(Self::assemble(&parts))
    }

    fn range_in_authority(&self, span: Option<UrlSpan>) -> Option<Range<usize>> {
        let base = self.authority?.0;
        let span = span?;
        Some((span.0 - base) as usize..(span.1 - base) as usize)
    }

    /// Writes the text as `URL.toExternalForm` does: without slashes for an empty authority.
    fn assemble(parts: &Parts<'_>) -> Self {
        let mut text = String::with_capacity(
            parts.protocol.len()
                + parts.authority.map(str::len).unwrap_or(0)
                + parts.path.as_deref().map(str::len).unwrap_or(0)
                + parts.query.map(str::len).unwrap_or(0)
                + parts.reference.map(str::len).unwrap_or(0)
                + 5,
        );
        text.push_str(&parts.protocol);
        let protocol_end = UrlSpan::of(0..text.len()).1;
        text.push(':');
        let authority = parts.authority.map(|authority| {
            if !authority.is_empty() {
                text.push_str("//");
            }
            let start = text.len();
            text.push_str(authority);
            start
        });
        let base = authority.unwrap_or(text.len());
        let shifted = |range: &Range<usize>| UrlSpan::of(base + range.start..base + range.end);
        let host = shifted(&parts.host);
        let user_info = parts.user_info.as_ref().map(shifted);
        let authority = authority.map(|start| UrlSpan::of(start..text.len()));
        let mut append = |mark: Option<char>, part: &str| {
            text.extend(mark);
            let start = text.len();
            text.push_str(part);
            UrlSpan::of(start..text.len())
        };
        let path = append(None, parts.path.as_deref().unwrap_or(""));
        let query = parts.query.map(|query| append(Some('?'), query));
        let reference = parts
            .reference
            .map(|reference| append(Some('#'), reference));
        Self {
            text: text.into(),
            protocol_end,
            authority,
            user_info,
            host,
            port: parts.port,
            path,
            query,
            reference,
        }
    }

    /// The text, sharing this address's allocation.
    pub fn text(&self) -> Rc<str> {
        self.text.clone()
    }

    /// `URL.toString()`: the URL column of the results.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The protocol in lower case.
    pub fn protocol(&self) -> &str {
        &self.text[..self.protocol_end as usize]
    }

    /// `URL.getAuthority()`.
    pub fn authority(&self) -> Option<&str> {
        self.authority.map(|span| span.cut(&self.text))
    }

    /// `URL.getUserInfo()`.
    pub fn user_info(&self) -> Option<&str> {
        self.user_info.map(|span| span.cut(&self.text))
    }

    /// `URL.getHost()`: as written, including the brackets of an IPv6 address; empty if there is none.
    pub fn host(&self) -> &str {
        self.host.cut(&self.text)
    }

    /// `URL.getPort()`; `None` if Java returns -1.
    pub fn port(&self) -> Option<i32> {
        (self.port != -1).then_some(self.port)
    }

    /// The port to connect to (`HTTPSamplerBase.getDefaultPort`): the explicit one, or else 80 or 443.
    pub fn port_or_default(&self) -> Option<i32> {
        self.port().or(match self.protocol() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        })
    }

    /// Whether the protocol is `https`.
    pub fn is_secure(&self) -> bool {
        self.protocol() == "https"
    }

    /// `URL.getPath()`.
    pub fn path(&self) -> &str {
        self.path.cut(&self.text)
    }

    /// `URL.getQuery()`.
    pub fn query(&self) -> Option<&str> {
        self.query.map(|span| span.cut(&self.text))
    }

    /// `URL.getRef()`: the fragment.
    pub fn reference(&self) -> Option<&str> {
        self.reference.map(|span| span.cut(&self.text))
    }
}

/// `ConversionUtils.makeRelativeURL` of JMeter: resolves a location, and drops any `../` that leads above the root.
///
/// # Errors
/// `java.net.MalformedURLException` with Java's message.
pub fn make_relative(base: &Url, location: &str) -> Result<Url, Exception> {
    let url = base.join(location)?;
    if !location.starts_with("../") {
        return Ok(url);
    }
    let Some(path) = url.path().strip_prefix('/') else {
        return Ok(url);
    };
    let surplus = path.len() - path.trim_start_matches("../").len();
    // The location must begin with the same number of them.
    match location.get(surplus..) {
        Some(rest) if surplus > 0 && path.get(..surplus) == location.get(..surplus) => {
            base.join(rest)
        }
        _ => Ok(url),
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn split_first(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn check_protocol(protocol: &str) -> Result<(), Exception> {
    if KNOWN_PROTOCOLS.contains(&protocol) {
        Ok(())
    } else {
        Err(Exception::malformed_url(format!(
            "unknown protocol: {protocol}"
        )))
    }
}

/// Splits off a leading `protocol:`, if a colon comes before any slash and the text before it can be a protocol.
fn split_protocol(spec: &str) -> (Option<String>, &str) {
    if spec.starts_with('#') {
        return (None, spec);
    }
    let Some(at) = spec.find(['/', ':']) else {
        return (None, spec);
    };
    let name = &spec[..at];
    let valid = name.starts_with(|c: char| c.is_alphabetic())
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-'));
    if spec.as_bytes()[at] == b':' && valid {
        (Some(name.to_lowercase()), &spec[at + 1..])
    } else {
        (None, spec)
    }
}

/// `URLStreamHandler.parseURL` for the part after the protocol, without the fragment.
fn parse_spec<'a>(parts: &mut Parts<'a>, spec: &'a str) -> Result<(), Exception> {
    let query_only = spec.starts_with('?');
    let (mut spec, query) = split_first(spec, '?');
    parts.query = query.or(parts.query);
    if spec.starts_with("//") && !spec.starts_with("////") {
        let rest = &spec[2..];
        let end = rest.find('/').unwrap_or(rest.len());
        let authority = &rest[..end];
        parse_authority(parts, authority)?;
        spec = &rest[end..];
        if !authority.is_empty() {
            parts.path = Some(Cow::default());
        }
    }
    if spec.starts_with('/') {
        parts.path = Some(spec.into());
    } else if !spec.is_empty() {
        let former = parts.path.take().unwrap_or_default();
        let folder = match former.rfind('/') {
            Some(slash) => &former[..=slash],
            None if parts.authority.is_some() => "/",
            None => "",
        };
        let mut path = format!("{folder}{spec}");
        if !former.is_empty() {
            remove_dots(&mut path);
        }
        parts.path = Some(path.into());
    } else if let (true, Some(path)) = (query_only, &mut parts.path) {
        let folder = &path[..path.rfind('/').unwrap_or(0)];
        *path = format!("{folder}/").into();
    }
    Ok(())
}

/// `sun.net.www.protocol.mailto.Handler.parseURL`: everything is the path, up to the last question mark; a fragment is lost.
fn parse_mail_address<'a>(parts: &mut Parts<'a>, spec: &'a str) -> Result<(), Exception> {
    if is_blank(spec) {
        let message = "No email address".to_owned();
        return Err(syntax("java.lang.RuntimeException", message));
    }
    let (path, query) = match spec.rsplit_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (spec, None),
    };
    *parts = Parts {
        protocol: std::mem::take(&mut parts.protocol),
        port: parts.port,
        path: Some(path.into()),
        query,
        ..Parts::default()
    };
    Ok(())
}

/// `sun.net.www.protocol.jar.Handler.parseAbsoluteSpec`: the address of an archive, `!/`, and the name of an entry.
fn parse_jar_address<'a>(parts: &mut Parts<'a>, spec: &'a str) -> Result<(), Exception> {
    const CAUSE: &str = "java.lang.NullPointerException";
    let Some(bang) = spec.rfind("!/") else {
        return Err(syntax(CAUSE, "no !/ in spec".to_owned()));
    };
    if let Err(inner) = Url::parse(&spec[..bang]) {
        return Err(syntax(CAUSE, format!("invalid url: {spec} ({inner})")));
    }
    let (path, query) = match spec.rsplit_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (spec, None),
    };
    (parts.path, parts.query) = (Some(path.into()), query);
    Ok(())
}

fn parse_authority<'a>(parts: &mut Parts<'a>, authority: &'a str) -> Result<(), Exception> {
    parts.authority = Some(authority);
    parts.user_info = None;
    let host_start = match authority.find('@') {
        None => 0,
        Some(at) if authority.rfind('@') == Some(at) => {
            parts.user_info = Some(0..at);
            at + 1
        }
        Some(_) => {
            // With several '@', this is not a server; Java keeps the context's port.
            parts.host = 0..0;
            return Ok(());
        }
    };
    let server = &authority[host_start..];
    let invalid = || syntax(ILLEGAL, format!("Invalid authority field: {authority}"));
    let (host_len, port) = if server.starts_with('[') {
        let close = server.find(']').filter(|at| *at > 2).ok_or_else(invalid)?;
        if !is_ipv6_literal(&server[1..close]) {
            return Err(syntax(
                ILLEGAL,
                format!("Invalid host: {}", &server[..=close]),
            ));
        }
        let port = &server[close + 1..];
        if !port.is_empty() && !port.starts_with(':') {
            return Err(invalid());
        }
        (close + 1, port.strip_prefix(':').unwrap_or(""))
    } else {
        let (host, port) = split_first(server, ':');
        (host.len(), port.unwrap_or(""))
    };
    parts.host = host_start..host_start + host_len;
    parts.port = if port.is_empty() {
        -1
    } else {
        parse_int_range(port, 10)
            .map_err(|message| syntax("java.lang.NumberFormatException", message))?
    };
    if parts.port < -1 {
        return Err(syntax(
            ILLEGAL,
            format!("Invalid port number :{}", parts.port),
        ));
    }
    check_host(&authority[parts.host.clone()]).map_err(|message| syntax(ILLEGAL, message))
}

const ILLEGAL: &str = "java.lang.IllegalArgumentException";

/// A failure of `URLStreamHandler.parseURL`, as the constructor of `URL` wraps it.
fn syntax(class: &'static str, message: String) -> Exception {
    Exception::malformed_url(message.clone()).caused_by(Exception::new(class, message))
}

fn is_ipv6_literal(text: &str) -> bool {
    let (address, scope) = split_first(text, '%');
    scope.is_none_or(|s| !s.is_empty()) && address.parse::<std::net::Ipv6Addr>().is_ok()
}

/// The dot removal of `URLStreamHandler.parseURL`, which only applies to relative paths.
fn remove_dots(path: &mut String) {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|i| i + from) {
        let previous = (at > 0).then(|| path[..at].rfind('/')).flatten();
        match previous {
            // A leading `..` segment is not cancelled by another.
            Some(slash) if !(slash == 0 && path.starts_with("/../")) => {
                path.replace_range(slash..at + 3, "");
                from = 0;
            }
            _ => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let at = path.find("/..").expect("the path ends with it");
        match path[..at].rfind('/') {
            Some(slash) => path.truncate(slash + 1),
            None => break,
        }
    }
    if path.starts_with("./") && path.len() > 2 {
        path.replace_range(..2, "");
    }
    if path.ends_with("/.") {
        path.pop();
    }
}

/// Characters outside ASCII that may become delimiters when a host name is normalized.
const DELIMITER_LOOKALIKES: &str = "\u{2047}\u{2048}\u{2049}\u{2100}\u{2101}\u{2105}\u{2106}\u{2a74}\u{fe55}\u{fe56}\u{fe5f}\u{fe6b}\u{ff03}\u{ff0f}\u{ff1a}\u{ff1f}\u{ff20}";

/// `sun.net.util.IPAddressUtil.checkExternalForm`.
fn check_host(host: &str) -> Result<(), String> {
    let Some(c) = host.chars().find(illegal) else {
        return Ok(());
    };
    let described = match c {
        '\n' => "LF".to_owned(),
        '\r' => "CR".to_owned(),
        _ if c.is_ascii_control() => format!("control char (code={})", c as u32),
        _ => format!("'{c}'"),
    };
    Err(format!("Illegal character found in host: {described}"))
}

fn illegal(c: &char) -> bool {
    c.is_ascii_control() || *c == '/' || (!c.is_ascii() && DELIMITER_LOOKALIKES.contains(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_ports_follow_the_protocol() {
        let url = Url::parse("https://h/x").unwrap();
        assert_eq!((url.port(), url.port_or_default()), (None, Some(443)));
        let url = Url::parse("http://h:8080/x").unwrap();
        assert_eq!(url.port_or_default(), Some(8080));
    }

    #[test]
    fn parts_constructor_splits_at_the_last_question_mark() {
        // The constructor splits the spec at the first one; the cookie path depends on it.
        let url = Url::from_parts("http", Some("h"), -1, "/a?b?c#d").unwrap();
        assert_eq!(
            (url.path(), url.query(), url.reference()),
            ("/a?b", Some("c"), Some("d"))
        );
        assert_eq!(Url::parse("http://h/a?b?c").unwrap().path(), "/a");
        let file = Url::from_parts("file", None, -1, "etc/x").unwrap();
        assert_eq!((file.as_str(), file.host()), ("file:etc/x", ""));
        let ipv6 = Url::from_parts("http", Some("::1"), 81, "/").unwrap();
        assert_eq!((ipv6.as_str(), ipv6.host()), ("http://[::1]:81/", "[::1]"));
    }

    #[test]
    fn malformed_addresses_fail_with_javas_words() {
        let message = |url: Result<Url, Exception>| url.unwrap_err().message.unwrap().into_owned();
        assert_eq!(
            message(Url::from_parts("http", Some("h"), -3, "/")),
            "Invalid port number :-3"
        );
        assert_eq!(
            message(Url::from_parts("htp", Some("h"), -1, "/")),
            "unknown protocol: htp"
        );
        assert_eq!(
            message(Url::from_parts("http", Some("http://x"), 80, "/")),
            "Illegal character found in host: '/'"
        );
        assert_eq!(
            message(Url::parse("http://a\tb/")),
            "Illegal character found in host: control char (code=9)"
        );
    }
}
