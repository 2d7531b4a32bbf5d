//! Splits addresses into the fields of JMeter's HTTP Request and leaves the rest unchanged.

use crate::text::PlanText;

/// An address in the fields of an HTTP Request. Each may hold variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// `http` or `https`; empty for an address relative to the server of the plan.
    pub scheme: PlanText,
    /// Empty for an address relative to the server of the plan.
    pub host: PlanText,
    /// Empty for the scheme's default port.
    pub port: PlanText,
    /// Includes the query, encoded as it was. Starts with `/` unless it starts with a variable.
    pub path: PlanText,
}

impl Address {
    /// Adds a parameter to the query.
    pub fn add_parameter(&mut self, name: &str, value: PlanText) {
        let has_query = self.path.template().contains('?');
        let separator = if has_query { '&' } else { '?' };
        self.path.push(&format!("{separator}{}=", encode(name)));
        self.path.append(value);
    }

    /// Without the segments `.` and `..` of the path, which curl and browsers remove before they send an address (RFC 3986,
    /// section 5.2.4). JMeter sends them.
    pub fn without_dot_segments(mut self) -> Address {
        let template = self.path.template();
        let (path, query) = match template.find('?') {
            Some(at) => template.split_at(at),
            None => (template.as_str(), ""),
        };
        if self.path.literal().is_none() || !path.split('/').any(is_dot) {
            return self;
        }
        let mut clean: Vec<&str> = Vec::new();
        let mut segments = path.split('/').skip(1).peekable();
        while let Some(segment) = segments.next() {
            if segment == ".." {
                clean.pop();
            }
            if !is_dot(segment) {
                clean.push(segment);
            } else if segments.peek().is_none() {
                clean.push("");
            }
        }
        self.path = format!("/{}{query}", clean.join("/")).into();
        self
    }

    /// Sets a parameter of the query, which gets it if it has none.
    pub fn set_parameter(&mut self, name: &str, value: PlanText) {
        let starts = ['?', '&'].map(|sign| format!("{sign}{}=", encode(name)));
        if !self.path.replace_up_to(&starts, '&', value.clone()) {
            self.add_parameter(name, value);
        }
    }

    /// Splits an address without variables; `None` if it is not an HTTP address. Credentials and fragments are
    /// dropped.
    pub fn parse(url: &str) -> Option<Address> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => "http",
            "https" => "https",
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or("");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit('@').next().unwrap_or("");
        let (host, port) = split_port(authority)?;
        if host.is_empty() || host.contains(char::is_whitespace) {
            return None;
        }
        let default_port = if scheme == "https" { "443" } else { "80" };
        Some(Address {
            scheme: scheme.into(),
            host: host.into(),
            port: if port == default_port { "" } else { port }.into(),
            path: rooted(path).into(),
        })
    }

    /// Whether both lead to the same server.
    pub fn same_server(&self, other: &Address) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }

    /// The path without the query, as far as it is literal.
    pub fn bare_path(&self) -> String {
        let template = self.path.template();
        template.split('?').next().unwrap_or("").to_owned()
    }
}

/// Whether a segment of a path is `.` or `..`.
fn is_dot(segment: &str) -> bool {
    matches!(segment, "." | "..")
}

/// Adds a missing leading `/` and makes the path and its query sendable.
fn rooted(path: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    match path.split_once('?') {
        Some((path, query)) => {
            format!("{slash}{}?{}", sendable_path(path), sendable_query(query))
        }
        None => format!("{slash}{}", sendable_path(path)),
    }
}

/// Encodes the characters that `java.net.URI` refuses in a path, which clients send as they are. Encoded characters stay.
pub fn sendable_path(path: &str) -> String {
    sendable(path, REFUSED_IN_PATH)
}

/// Like [`sendable_path`], for a query or a part of it.
pub fn sendable_query(query: &str) -> String {
    sendable(query, REFUSED)
}

fn sendable(text: &str, refused: &'static percent_encoding::AsciiSet) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, piece) in text.split('%').enumerate() {
        if place > 0 {
            let is_code = piece.len() >= 2 && piece.bytes().take(2).all(|b| b.is_ascii_hexdigit());
            out.push_str(if is_code { "%" } else { "%25" });
        }
        out.extend(percent_encoding::utf8_percent_encode(piece, refused));
    }
    out
}

/// The characters that no address may hold, besides those beyond ASCII.
const REFUSED: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Java allows brackets in queries, but not in paths.
const REFUSED_IN_PATH: &percent_encoding::AsciiSet = &REFUSED.add(b'[').add(b']');

/// Encodes a value for a segment of a path. Delimiters of lists stay.
pub fn encode_segment(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, SEGMENT).to_string()
}

const SEGMENT: &percent_encoding::AsciiSet =
    &REFUSED_IN_PATH.add(b'%').add(b'/').add(b'?').add(b'#');

fn split_port(authority: &str) -> Option<(&str, &str)> {
    if let Some(rest) = authority.strip_prefix('[') {
        // An IPv6 address keeps its brackets.
        let close = rest.find(']')? + 2;
        let (host, port) = authority.split_at(close);
        return Some((host, port.strip_prefix(':').unwrap_or("")));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some((host, port)),
        Some(_) => None,
        None => Some((authority, "")),
    }
}

/// Encodes a value for a query or a form.
pub fn encode(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, FORM).to_string()
}

const FORM: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'*');

/// Decodes a value of a query or a form; `+` is a blank.
pub fn decode(value: &str) -> String {
    let blanks = value.replace('+', " ");
    percent_encoding::percent_decode_str(&blanks)
        .decode_utf8_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(url: &str) -> Option<[String; 4]> {
        let address = Address::parse(url)?;
        Some([&address.scheme, &address.host, &address.port, &address.path].map(PlanText::template))
    }

    #[test]
    fn addresses_are_split_into_jmeters_fields() {
        let own = |a: &str, b: &str, c: &str, d: &str| Some([a, b, c, d].map(str::to_owned));
        assert_eq!(
            fields("https://shop.example/a?b=%20c#d"),
            own("https", "shop.example", "", "/a?b=%20c")
        );
        assert_eq!(
            fields("HTTP://u:p@shop.example:8080"),
            own("http", "shop.example", "8080", "/")
        );
        assert_eq!(
            fields("https://shop.example:443?x=1"),
            own("https", "shop.example", "", "/?x=1")
        );
        assert_eq!(
            fields("http://[::1]:80/ü b"),
            own("http", "[::1]", "", "/%C3%BC%20b")
        );
        assert_eq!(
            fields("http://h/{a}|^`\\[1]%zz%41%?{a}[1]|%%20%e#{x}?"),
            own(
                "http",
                "h",
                "",
                "/%7Ba%7D%7C%5E%60%5C%5B1%5D%25zz%41%25?%7Ba%7D[1]%7C%25%20%25e"
            )
        );
    }

    #[test]
    fn dot_segments_are_removed_as_curl_removes_them() {
        for (given, sent) in [
            ("/a/../b", "/b"),
            ("/a/./b", "/a/b"),
            ("/a/b/..", "/a/"),
            ("/a/b/.", "/a/b/"),
            ("/../x", "/x"),
            ("/a//../b", "/a/b"),
            ("/a/..?x=/../y", "/?x=/../y"),
            ("/a../b/...", "/a../b/..."),
            ("/a/%2e%2e/b", "/a/%2e%2e/b"),
        ] {
            let address = Address::parse(&format!("http://h{given}")).expect("an address");
            assert_eq!(
                address.without_dot_segments().path.template(),
                sent,
                "{given}"
            );
        }
    }

    #[test]
    fn other_addresses_are_none() {
        for url in [
            "data:text/plain,x",
            "/relative",
            "ftp://x/",
            "http://",
            "http://a b/",
            "chrome-extension://abc/x.js",
            "http://host:abc/",
        ] {
            assert_eq!(Address::parse(url), None, "{url}");
        }
    }

    #[test]
    fn forms_decode_as_they_encode() {
        assert_eq!(encode("a b&ü"), "a%20b%26%C3%BC");
        assert_eq!(decode("a+b%26%C3%BC%"), "a b&ü%");
    }
}
