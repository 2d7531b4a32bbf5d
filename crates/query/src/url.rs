//! URLs as `java.net.URL` resolves and prints them, which differs from browsers.

use std::fmt;

/// A URL of a protocol that Java has a handler for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaUrl {
    /// The protocol, in lower case.
    pub protocol: String,
    /// `user@host:port` as written; absent for `mailto:` and similar URLs.
    pub authority: Option<String>,
    /// The host, without user and port.
    pub host: String,
    /// The port; absent if not written.
    pub port: Option<u32>,
    /// The path; `/./` and `/../` are folded if it was relative.
    pub path: String,
    /// The part after `?`.
    pub query: Option<String>,
    /// The part after `#`.
    pub fragment: Option<String>,
}

/// `MalformedURLException`
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedUrl(pub String);

/// Protocols for which a plain JDK has handlers.
const PROTOCOLS: [&str; 8] = [
    "http", "https", "ftp", "file", "jar", "mailto", "jmod", "jrt",
];

impl JavaUrl {
    /// `new URL(context, spec)`.
    ///
    /// # Errors
    /// With Java's message, if the protocol is missing or has no handler, or if the port is invalid.
    pub fn parse(context: Option<&JavaUrl>, spec: &str) -> Result<JavaUrl, MalformedUrl> {
        let trimmed = spec.trim_matches(|c| c <= ' ');
        let trimmed = match trimmed.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("url:") => &trimmed[4..],
            _ => trimmed,
        };
        let (protocol, rest) = split_protocol(trimmed);
        let context =
            context.filter(|context| protocol.as_ref().is_none_or(|own| *own == context.protocol));
        // A protocol before a relative part only counts if the context is not hierarchical.
        let context = context.filter(|context| protocol.is_none() || context.path.starts_with('/'));
        let mut url = match (context, protocol) {
            (Some(context), _) => JavaUrl {
                query: None,
                fragment: None,
                ..context.clone()
            },
            (None, None) => return Err(MalformedUrl(format!("no protocol: {spec}"))),
            (None, Some(protocol)) => JavaUrl::empty(protocol),
        };
        if !PROTOCOLS.contains(&url.protocol.as_str()) {
            return Err(MalformedUrl(format!("unknown protocol: {}", url.protocol)));
        }
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
            None => (rest, None),
        };
        url.fragment = fragment;
        if let (Some(context), true) = (context, rest.is_empty()) {
            url.query = context.query.clone();
            url.fragment = url.fragment.or_else(|| context.fragment.clone());
        }
        url.resolve(rest)?;
        Ok(url)
    }

    fn empty(protocol: String) -> JavaUrl {
        JavaUrl {
            protocol,
            authority: None,
            host: String::new(),
            port: None,
            path: String::new(),
            query: None,
            fragment: None,
        }
    }

    /// `URLStreamHandler.parseURL`, without the protocol and fragment, which were already parsed.
    fn resolve(&mut self, spec: &str) -> Result<(), MalformedUrl> {
        let query_only = spec.starts_with('?');
        let spec = match spec.split_once('?') {
            Some((before, query)) => {
                self.query = Some(query.to_owned());
                before
            }
            None => spec,
        };
        let mut rest = spec;
        if spec.starts_with("//") && !spec.starts_with("////") {
            let behind = &spec[2..];
            let end = behind.find('/').unwrap_or(behind.len());
            rest = &behind[end..];
            self.set_authority(&behind[..end])?;
        }
        if rest.starts_with('/') {
            self.path = rest.to_owned();
        } else if !rest.is_empty() {
            let end = self.path.rfind('/').map_or(0, |slash| slash + 1);
            let separator = if end == 0 && self.authority.is_some() {
                "/"
            } else {
                ""
            };
            self.path = format!("{}{separator}{rest}", &self.path[..end]);
            // Java only folds relative paths.
            fold_dots(&mut self.path);
        } else if query_only {
            let end = self.path.rfind('/').unwrap_or(0);
            self.path = format!("{}/", &self.path[..end]);
        }
        Ok(())
    }

    fn set_authority(&mut self, authority: &str) -> Result<(), MalformedUrl> {
        let host = match authority.split_once('@') {
            Some((_, host)) if host.contains('@') => "",
            Some((_, host)) => host,
            None => authority,
        };
        let colon = match host.starts_with('[') {
            true => host
                .find(']')
                .and_then(|close| host[close..].find(':').map(|colon| close + colon)),
            false => host.find(':'),
        };
        self.port = match colon.map(|colon| &host[colon + 1..]) {
            None | Some("") => None,
            Some(digits) => match digits.parse::<i32>() {
                Ok(-1) => None,
                Ok(port) if port >= 0 => Some(port.unsigned_abs()),
                Ok(port) => return Err(MalformedUrl(format!("Invalid port number :{port}"))),
                Err(_) => {
                    let at = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
                    return Err(MalformedUrl(format!(
                        "Error at index {at} in: \"{digits}\""
                    )));
                }
            },
        };
        self.host = colon.map_or(host, |colon| &host[..colon]).to_owned();
        self.authority = Some(authority.to_owned());
        if !authority.is_empty() {
            self.path.clear();
        }
        Ok(())
    }
}

/// Splits off a protocol before the first slash, in lower case.
fn split_protocol(spec: &str) -> (Option<String>, &str) {
    let Some(at) = spec
        .find([':', '/'])
        .filter(|at| spec[*at..].starts_with(':'))
    else {
        return (None, spec);
    };
    let name = &spec[..at];
    let valid = !spec.starts_with('#')
        && name.starts_with(char::is_alphabetic)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-'));
    match valid {
        true => (Some(name.to_lowercase()), &spec[at + 1..]),
        false => (None, spec),
    }
}

/// Folds `.` and `..`; keeps a leading `/../`.
fn fold_dots(path: &mut String) {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|at| at + from) {
        let before = if at > 0 { path[..at].rfind('/') } else { None };
        match before {
            Some(before) if path[before..].find("/../") != Some(0) => {
                path.replace_range(before..at + 3, "");
                from = 0;
            }
            _ => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let at = path.find("/..").unwrap_or(0);
        match path[..at].rfind('/') {
            Some(before) => path.truncate(before + 1),
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

/// `toExternalForm`
impl fmt::Display for JavaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.protocol)?;
        if let Some(authority) = self
            .authority
            .as_ref()
            .filter(|authority| !authority.is_empty())
        {
            write!(f, "//{authority}")?;
        }
        f.write_str(&self.path)?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if let Some(fragment) = &self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}

/// `ConversionUtils.makeRelativeURL`: resolves a location, and drops any `../` that leads above the
/// root.
///
/// # Errors
/// Same as [`JavaUrl::parse`].
pub fn make_relative(base: &JavaUrl, location: &str) -> Result<JavaUrl, MalformedUrl> {
    let initial = JavaUrl::parse(Some(base), location)?;
    if !location.starts_with("../") {
        return Ok(initial);
    }
    let mut prefix = initial.path.strip_prefix('/').unwrap_or("");
    let mut length = 0;
    while let Some(rest) = prefix.strip_prefix("../") {
        prefix = rest;
        length += "../".len();
    }
    // The location must begin with the same number of them.
    match length > 0 && location.starts_with(&"../".repeat(length / 3)) {
        true => JavaUrl::parse(Some(base), &location[length..]),
        false => Ok(initial),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_as_java_does() {
        let base = JavaUrl::parse(None, "http://user@h:8080/a/b/c.html?q=1#f").expect("a URL");
        let golden = include_str!("../tests/golden/url.txt");
        for line in golden.lines() {
            let (spec, wanted) = line.split_once('\t').expect("two columns");
            let found = make_relative(&base, spec)
                .map_or_else(|error| format!("! {error}"), |url| url.to_string());
            assert_eq!(found, wanted, "{spec:?}");
        }
    }

    #[test]
    fn parts() {
        let url = JavaUrl::parse(None, " URL:HTTPS://me@[::1]:443/x?y ").expect("a URL");
        assert_eq!(url.protocol, "https");
        assert_eq!(url.host, "[::1]");
        assert_eq!(url.port, Some(443));
        assert_eq!(url.authority.as_deref(), Some("me@[::1]:443"));
        assert_eq!((url.path.as_str(), url.query.as_deref()), ("/x", Some("y")));
    }
}
