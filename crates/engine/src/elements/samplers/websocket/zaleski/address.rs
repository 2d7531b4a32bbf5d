//! The address of a new connection (`WebSocketSampler#getUri`).

use drumfire_expr::Template;
use drumfire_java::charset::{Charset, decode_utf8};
use drumfire_java::uri::{self, Component};
use drumfire_java::url_coding::append_url_encoded;
use drumfire_java::values::{parse_int, property_bool};

use super::super::call::Endpoint;
use super::link::Problem;
use crate::run::context::Context;

pub(super) struct AddressTemplate {
    pub server: Template,
    pub port: Template,
    pub protocol: Template,
    pub path: Template,
    pub arguments: Vec<QueryArgument>,
}

/// A parameter of the query.
pub(super) struct QueryArgument {
    pub name: Template,
    pub value: Template,
    /// Between name and value.
    pub metadata: Template,
    pub encode: Template,
}

impl AddressTemplate {
    /// The address; the error is the sample's problem.
    pub fn evaluate(&self, charset: &Charset, cx: &mut Context) -> Result<Endpoint, Problem> {
        let path = self.path.eval(cx).into_string();
        if path.starts_with("ws://") || path.starts_with("wss://") {
            return endpoint(&path);
        }
        let protocol = self.protocol.eval(cx).into_string();
        let protocol = if protocol.is_empty() { "ws" } else { &protocol };
        let mut text = format!("{protocol}://{}", self.server.eval(cx).into_string());
        let port = parse_int(&self.port.eval(cx).into_string()).unwrap_or_default();
        if port > 0 {
            text.push_str(&format!(":{port}"));
        }
        if !path.starts_with('/') {
            text.push('/');
        }
        uri::append_quoted(&path, Component::Path, &mut text);
        text.push('?');
        uri::append_quoted(&self.query(charset, cx), Component::Uric, &mut text);
        endpoint(&text)
    }

    /// `getQueryString`.
    fn query(&self, charset: &Charset, cx: &mut Context) -> String {
        let mut query = String::new();
        for argument in &self.arguments {
            let encodes = property_bool(&argument.encode.eval(cx));
            let append = |text: &str, charset: &Charset, out: &mut String| {
                if encodes {
                    append_url_encoded(text, charset, out)
                } else {
                    out.push_str(text)
                }
            };
            let name = argument.name.eval(cx).into_string();
            if name.is_empty() {
                continue;
            }
            if !query.is_empty() {
                query.push('&');
            }
            append(&name, &Charset::UTF_8, &mut query);
            query.push_str(&argument.metadata.eval(cx));
            append(&argument.value.eval(cx), charset, &mut query);
        }
        query
    }
}

/// Where Jetty's client connects to, and what it asks for: the path decoded, the query as it stands.
fn endpoint(text: &str) -> Result<Endpoint, Problem> {
    let parts = uri::parse(text, true).map_err(|error| {
        let why = error.message.as_deref().unwrap_or("null");
        Problem::from(format!("Invalid URI syntax: {why}"))
    })?;
    let scheme = &text[..parts.scheme_end.unwrap_or_default()];
    let tls = scheme.eq_ignore_ascii_case("wss");
    if !tls && !scheme.eq_ignore_ascii_case("ws") {
        return Err(Problem::unexpected(format_args!(
            "WebSocket URI scheme only supports [ws] and [wss], not [{scheme}]"
        )));
    }
    let host = parts.host.map(|range| &text[range]).unwrap_or_default();
    let port = match u16::try_from(parts.port) {
        Ok(port) if port > 0 => port,
        _ if parts.port > 0 => {
            let text = format_args!("port out of range:{}", parts.port);
            return Err(Problem::unexpected(text));
        }
        _ => {
            if tls {
                443
            } else {
                80
            }
        }
    };
    let quoted = &text[parts.path];
    let mut path = unquoted(quoted);
    // A line break would end the request's first line.
    if path.is_empty() || path.contains(char::is_control) {
        path = if quoted.is_empty() { "/" } else { quoted }.to_owned();
    }
    let query = parts.query.map(|range| &text[range]).unwrap_or_default();
    if !query.is_empty() {
        path.push('?');
        path.push_str(query);
    }
    Ok(Endpoint {
        tls,
        host: host.trim_matches(['[', ']']).to_owned(),
        port,
        path,
    })
}

/// `URI#getPath`: escapes decoded as UTF-8.
fn unquoted(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match rest {
            [b'%', a, b, ..] => hex(*a).zip(hex(*b)).map(|(a, b)| a << 4 | b),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    decode_utf8(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Result<(bool, String, u16, String), String> {
        let found = endpoint(text).map_err(|problem| problem.to_string())?;
        Ok((found.tls, found.host, found.port, found.path))
    }

    /// As the plugin's client was seen to ask.
    #[test]
    fn the_path_is_sent_decoded_and_the_query_as_it_stands() {
        let plain = |path: &str| Ok((false, "h".to_owned(), 80, path.to_owned()));
        assert_eq!(asked("ws://h/chat?"), plain("/chat"));
        assert_eq!(asked("ws://h/ch%20at%3Fx=1?"), plain("/ch at?x=1"));
        assert_eq!(asked("ws://h/full?a=%20b"), plain("/full?a=%20b"));
        assert_eq!(asked("ws://h"), plain("/"));
        assert_eq!(asked("ws://h/a%0D%0Ab"), plain("/a%0D%0Ab"));
        let own = Ok((true, "::1".to_owned(), 443, "/".to_owned()));
        assert_eq!(asked("WSS://[::1]/"), own);
    }

    #[test]
    fn wrong_addresses_have_the_plugins_words() {
        let http =
            "Unexpected error: WebSocket URI scheme only supports [ws] and [wss], not [http]";
        assert_eq!(asked("http://h:1/"), Err(http.to_owned()));
        let space = asked("ws://a b:1/").expect_err("a host has no space");
        assert!(space.starts_with("Invalid URI syntax: Illegal character in authority"));
        assert!(asked("ws://h:70000/").is_err());
    }
}
