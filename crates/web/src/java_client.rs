//! Differences of JMeter's `Java` implementation: requests of `java.net.HttpURLConnection` (`HTTPJavaImpl`,
//! `PostWriter`, `PutWriter`), and their failures.
//!
//! Recorded from JMeter 5.6.3 on Java 17.0.15.

use std::borrow::Cow;
use std::path::Path;

use drumfire_java::Exception;
use drumfire_java::charset::{Charset, decode_latin1};
use drumfire_java::text::spread_hash;
use drumfire_java::url_coding::append_url_encoded;

use crate::auth::{self, Authorization};
use crate::body::{Body, BodySpec, BodyStretch, ContentType, FileArgument, append_query_string};
use crate::body_parts::file_part;
use crate::headers::{Header, RequestHead};
use crate::local_file::without_extra_slashes;
use crate::multipart::encode_file_name;
use crate::status::{ConnectFailure, Endpoint, ExchangeFailure};
use crate::url::{Url, WireAddress};

/// The `User-Agent` of `HttpURLConnection`.
pub const USER_AGENT: &str = "Java/17.0.15";

/// The `Accept` of `HttpURLConnection`.
const ACCEPT: &str = "text/html, image/gif, image/jpeg, */*; q=0.2";

/// The default `Content-type` of a body, except with `PUT`.
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// `PostWriter.BOUNDARY`.
const BOUNDARY: &str = "---------------------------7d159c1302d0y0";

const METHODS: [&str; 7] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// `HttpURLConnection.setRequestMethod`.
///
/// # Errors
/// `java.net.ProtocolException` for methods other than the seven of HTTP/1.1 that Java knows.
pub fn check_method(method: &str) -> Result<(), Exception> {
    if METHODS.contains(&method) {
        return Ok(());
    }
    let message = format!("Invalid HTTP method: {method}");
    Err(Exception::new("java.net.ProtocolException", message))
}

/// `HTTPJavaImpl.setupConnection` with an address of another protocol than HTTP.
fn cannot_cast(protocol: &str) -> Exception {
    let connection = match protocol {
        "file" => "sun.net.www.protocol.file.FileURLConnection",
        "jar" => "sun.net.www.protocol.jar.JarURLConnection",
        "mailto" => "sun.net.www.protocol.mailto.MailToURLConnection",
        _ => "sun.net.www.protocol.ftp.FtpURLConnection",
    };
    let message = format!(
        "class {connection} cannot be cast to class java.net.HttpURLConnection ({connection} and \
         java.net.HttpURLConnection are in module java.base of loader 'bootstrap')"
    );
    Exception::new("java.lang.ClassCastException", message)
}

/// `HttpURLConnection.addRequestProperty`: checks for characters that headers must not contain.
///
/// # Errors
/// `IllegalArgumentException` for a line end or a colon in a name, and for a line end in a value that is not followed
/// by a blank.
pub fn check_headers<'h>(headers: &[Header<'h>]) -> Result<(), Exception> {
    for Header { name, value, .. } in headers {
        if name.contains(['\n', ':']) {
            let message = format!("Illegal character(s) in message header field: {name}");
            return Err(Exception::illegal_argument(message));
        }
        let mut lines = value.split('\n');
        lines.next();
        if lines.any(|line| !line.starts_with([' ', '\t'])) {
            let message = format!("Illegal character(s) in message header value: {value}");
            return Err(Exception::illegal_argument(message));
        }
    }
    Ok(())
}

/// The address to which `HttpURLConnection.followRedirect` redirects, if it does.
///
/// It follows 300 to 307 except 304 and 306, within one protocol; it does not know 308. This function ignores 305, for
/// which Java would use the named server as a proxy.
///
/// A `Location` that cannot be resolved against the request's address is ignored: the redirect itself is then the
/// response.
pub fn java_redirect(status: u16, request_url: &Url, location: Option<&str>) -> Option<Url> {
    let location = location.filter(|_| matches!(status, 300..=303 | 307))?;
    match Url::parse(location) {
        Ok(url) => {
            Some(url).filter(|url| url.protocol().eq_ignore_ascii_case(request_url.protocol()))
        }
        Err(_) => request_url.join(location).ok(),
    }
}

/// The head of a response as `HTTPJavaImpl#getResponseHeaders` shows it: trimmed lines with one blank after each colon.
pub fn java_response_head<'h>(
    status_line: &[u8],
    headers: impl Iterator<Item = (&'h [u8], &'h [u8])>,
) -> String {
    let mut text = decode_latin1(status_line.trim_ascii()).into_owned();
    text.push('\n');
    for (name, value) in headers {
        for part in [name, b": ", value, b"\n"] {
            text.push_str(&decode_latin1(part));
        }
    }
    text
}

/// The message of a response (`HttpURLConnection.getResponseMessage`): what follows the second blank of the status line. Without
/// such a text, JMeter takes the whole line.
pub fn java_reason(status_line: &[u8]) -> &[u8] {
    let line = status_line.trim_ascii();
    let blank = |from: usize| Some(from + line.get(from..)?.iter().position(|b| *b == b' ')?);
    let second = blank(0).and_then(|first| blank(first + 1));
    second.map(|second| &line[second + 1..]).unwrap_or(line)
}

/// The failure of a redirect without a `Location` (`HTTPSamplerBase.followRedirects`).
pub fn java_missing_location() -> Exception {
    let message = "Cannot invoke \"String.indexOf(int)\" because \"source\" is null";
    Exception::new("java.lang.NullPointerException", message)
}

/// The failure after `limit` consecutive requests.
pub fn java_too_many_redirects(limit: usize) -> Exception {
    let message = format!("Server redirected too many  times ({limit})");
    chained(Exception::new("java.net.ProtocolException", message))
}

impl Url {
    /// The address as `HttpURLConnection` uses it: unlike HttpClient, it accepts any path unchanged.
    ///
    /// # Errors
    /// An unknown protocol, no host, or a port beyond 65535, with Java's message.
    pub fn java_wire(&self) -> Result<WireAddress<'_>, Exception> {
        if self.host().is_empty() && self.protocol() == "http" {
            return Err(
                Exception::new("java.io.IOException", "Failed to select a proxy")
                    .caused_by(Exception::illegal_argument("protocol = http host = null")),
            );
        }
        let default = self
            .port_or_default()
            .ok_or_else(|| cannot_cast(self.protocol()))?;
        let connect_port = u16::try_from(default)
            .map_err(|_| Exception::illegal_argument(format!("port out of range:{default}")))?;
        let standard = if self.is_secure() { 443 } else { 80 };
        let host = self.host();
        let host_header = match self.port() {
            Some(port) if port != standard => Cow::Owned(format!("{host}:{port}")),
            _ => Cow::Borrowed(host),
        };
        let mut file = match self.path() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        };
        if let Some(query) = self.query() {
            file.push('?');
            file.push_str(query);
        }
        Ok(WireAddress {
            connect_host: host.trim_start_matches('[').trim_end_matches(']'),
            connect_port,
            secure: self.is_secure(),
            target: file.into(),
            host_header,
        })
    }
}

/// The `Authorization` of a request: always Basic (`HTTPJavaImpl.setConnectionAuthorization`).
pub fn authorization(rows: &[Authorization], url: &Url) -> Option<String> {
    auth::find(rows, url).map(auth::basic_utf8)
}

impl<'a> RequestHead<'a> {
    /// `Connection`, then the merged headers of the plan unchanged (`HTTPJavaImpl.setConnectionHeaders`).
    pub fn java(keep_alive: bool, headers: &'a [Header<'a>]) -> Self {
        let mut head = Self::default();
        head.add(
            "Connection",
            if keep_alive { "keep-alive" } else { "close" },
        );
        for header in headers {
            head.add(&*header.name, &*header.value);
        }
        head
    }

    /// The headers of the body, each replacing one of the plan's (`URLConnection.setRequestProperty`).
    pub fn java_body(&mut self, body: &'a Body) {
        if let ContentType::Set(value) = &body.content_type {
            self.set_text("Content-Type", value);
        }
        self.set_text("Content-Length", body.len.to_string());
    }

    /// Sets the `Authorization` header, replacing the plan's.
    pub fn java_authorization(&mut self, value: &'a str) {
        self.set_text("Authorization", value);
    }

    /// The request headers in the result, before `HttpURLConnection` adds its own
    /// (`HTTPJavaImpl.getAllHeadersExceptCookie`): in the order of a Java hash map, with `Authorization` last.
    pub fn java_text(&self, authorization: Option<&str>) -> String {
        let mut names: Vec<&str> = Vec::new();
        let lines: Vec<(&str, &str)> = self.iter().filter(|(name, _)| shown(name)).collect();
        for (name, _) in lines.iter().rev() {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let buckets = hash_buckets(names.len());
        names.sort_by_key(|name| spread_hash(name) & (buckets - 1));
        let mut text = String::new();
        for name in names {
            for (_, value) in lines.iter().rev().filter(|(own, _)| *own == name) {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        if let Some(value) = authorization {
            text.push_str(&format!("Authorization: {value}\n"));
        }
        text
    }

    /// Writes the head as `HttpURLConnection` does: in the machine's encoding, which is UTF-8.
    pub fn append_java(&self, method: &str, target: &str, out: &mut Vec<u8>) {
        for part in [method, " ", target, " HTTP/1.1\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
        for (name, value) in self.iter() {
            for part in [name, ": ", value, "\r\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Adds `Connection` to a request without the plan's headers.
    pub fn java_keep_alive(&mut self) {
        self.add_missing("Connection", "keep-alive");
    }

    /// Adds the headers that `HttpURLConnection.writeRequests` adds if they are missing.
    pub fn java_finish(
        &mut self,
        host_header: &'a str,
        by_proxy: bool,
        body: Option<&Body>,
        method: &str,
        user_agent: &'a str,
    ) {
        self.add_missing("User-Agent", user_agent);
        self.add_missing("Host", host_header);
        self.add_missing("Accept", ACCEPT);
        if by_proxy {
            self.set_text("Proxy-Connection", "keep-alive");
        }
        if body.is_some() && method != "PUT" {
            self.add_missing("Content-type", FORM_TYPE);
        }
    }
}

fn shown(name: &str) -> bool {
    !name.eq_ignore_ascii_case("Cookie") && !name.eq_ignore_ascii_case("Authorization")
}

/// The head of the request for a tunnel (`HttpURLConnection.sendCONNECTRequest`).
pub fn connect_head(authority: &str) -> String {
    format!(
        "CONNECT {authority} HTTP/1.1\r\nUser-Agent: {USER_AGENT}\r\nHost: {authority}\r\nAccept: {ACCEPT}\r\n\
         Proxy-Connection: keep-alive\r\n\r\n"
    )
}

/// The number of buckets of a `java.util.HashMap` with this many entries.
fn hash_buckets(entries: usize) -> u32 {
    let mut buckets = 16;
    while entries * 4 > buckets * 3 {
        buckets *= 2;
    }
    u32::try_from(buckets).unwrap_or(u32::MAX)
}

impl BodySpec<'_> {
    /// The body that `PostWriter` and `PutWriter` write; other methods have none. `own_content_type` is the value of
    /// the first `Content-Type` header of the plan.
    ///
    /// # Errors
    /// An unknown content encoding, or a multipart body with `PUT`, which `PutWriter` does not support.
    pub fn build_java(&self, own_content_type: Option<&str>) -> Result<Option<Body>, Exception> {
        let post = self.method == "POST";
        if !post && self.method != "PUT" {
            return Ok(None);
        }
        let charset = self.java_charset()?;
        let keeps_own = own_content_type.is_some_and(|value| !value.is_empty());
        if post && self.uses_multipart() {
            let mut body = self.java_multipart(charset);
            body.unsendable = self.java_unreadable();
            return Ok(Some(body));
        }
        if self.arguments.is_empty() && self.sends_file_as_body() {
            let content_type = self.java_type(keeps_own, post);
            let part = file_part(self.files[0].resolved);
            let mut body = Body::new(vec![part], content_type, charset);
            body.unsendable = self.java_unreadable();
            return Ok(Some(body));
        }
        let mut text = String::new();
        let content_type = if self.sends_values_as_body() {
            for argument in self.arguments {
                if argument.always_encode {
                    append_url_encoded(argument.value, &charset, &mut text);
                } else {
                    text.push_str(argument.value);
                }
            }
            self.java_type(keeps_own, post)
        } else if post {
            append_query_string(self.arguments, self.content_encoding, &mut text);
            if keeps_own || !self.add_content_type_if_missing {
                ContentType::None
            } else {
                ContentType::Set(FORM_TYPE.to_owned())
            }
        } else if self.uses_multipart() {
            let message =
                "cannot write to a URLConnection if doOutput=false - call setDoOutput(true)";
            return Err(Exception::new("java.net.ProtocolException", message));
        } else {
            return Ok(None);
        };
        let bytes = charset.encode(&text).into_owned();
        Ok(Some(Body::new(
            vec![BodyStretch::Bytes(bytes)],
            content_type,
            charset,
        )))
    }

    /// The charset for `String.getBytes`, which reports malformed names like unknown ones.
    fn java_charset(&self) -> Result<Charset, Exception> {
        self.charset().map_err(|_| {
            let name = self.content_encoding.to_owned();
            Exception::new("java.io.UnsupportedEncodingException", name)
        })
    }

    /// The failure of `PostWriter.writeFileToStream` at the first file that cannot be opened.
    fn java_unreadable(&self) -> Option<Exception> {
        self.files.iter().find_map(|file| {
            let error = std::fs::File::open(file.resolved).err()?;
            let class = match error.kind() {
                std::io::ErrorKind::PermissionDenied => "java.nio.file.AccessDeniedException",
                _ => "java.nio.file.NoSuchFileException",
            };
            Some(Exception::new(class, without_extra_slashes(file.path)))
        })
    }

    fn java_type(&self, keeps_own: bool, post: bool) -> ContentType {
        let mime_type = self.files.first().map(|file| file.mime_type).unwrap_or("");
        if keeps_own {
            ContentType::None
        } else if !mime_type.is_empty() {
            ContentType::Set(mime_type.to_owned())
        } else if post && self.add_content_type_if_missing {
            ContentType::Set(FORM_TYPE.to_owned())
        } else {
            ContentType::None
        }
    }

    /// `PostWriter.setHeaders` and `sendPostData`.
    fn java_multipart(&self, charset: Charset) -> Body {
        let mut parts = Vec::new();
        let mut text = String::new();
        for argument in self.arguments.iter().filter(|a| !a.is_skippable()) {
            let name = percent_encode(argument.name);
            text.push_str(&format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n"
            ));
            if !self.browser_compatible {
                let encoding = if self.content_encoding.is_empty() {
                    "UTF-8"
                } else {
                    self.content_encoding
                };
                text.push_str(&format!("Content-Type: text/plain; charset={encoding}\r\nContent-Transfer-Encoding: 8bit\r\n"));
            }
            text.push_str(&format!("\r\n{}\r\n", argument.value));
        }
        for file in self.files {
            text.push_str(&format!("--{BOUNDARY}\r\n{}", file_head(file, &charset)));
            parts.push(BodyStretch::Bytes(charset.encode(&text).into_owned()));
            parts.push(file_part(file.resolved));
            "\r\n".clone_into(&mut text);
        }
        text.push_str(&format!("--{BOUNDARY}--\r\n"));
        parts.push(BodyStretch::Bytes(charset.encode(&text).into_owned()));
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        Body::new(parts, ContentType::Set(content_type), charset)
    }
}

/// `PostWriter.writeStartFileMultipart`.
fn file_head(file: &FileArgument<'_>, charset: &Charset) -> String {
    let file_name = Path::new(file.path)
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or(Cow::Borrowed(""));
    format!(
        "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\nContent-Transfer-Encoding: binary\r\n\r\n",
        percent_encode(file.param_name),
        encode_file_name(&file_name, charset),
        file.mime_type
    )
}

/// `ConversionUtils.percentEncode`.
fn percent_encode(text: &str) -> Cow<'_, str> {
    if text.contains(['"', '\r', '\n']) {
        text.replace('"', "%22")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
            .into()
    } else {
        text.into()
    }
}

/// `HttpURLConnection.getResponseCode` throws a copy of the first failure, with the failure as its cause.
fn chained(failure: Exception) -> Exception {
    failure.clone().caused_by(failure)
}

impl ExchangeFailure<'_> {
    /// The exception that JMeter's implementation `Java` would report.
    pub fn java_exception(&self, endpoint: &Endpoint<'_>) -> Exception {
        let socket = |message: &'static str| Exception::new("java.net.SocketException", message);
        match self {
            Self::UnknownHost { .. } | Self::UnknownToNameServers => {
                Exception::new("java.net.UnknownHostException", endpoint.host.to_owned())
            }
            Self::Connect(ConnectFailure::Refused) => {
                Exception::new("java.net.ConnectException", "Connection refused")
            }
            Self::Connect(ConnectFailure::TimedOut) => {
                Exception::new("java.net.SocketTimeoutException", "Connect timed out")
            }
            Self::ReadTimeout => chained(Exception::new(
                "java.net.SocketTimeoutException",
                "Read timed out",
            )),
            Self::NoResponse => chained(socket("Unexpected end of file from server")),
            Self::Reset => chained(socket("Connection reset")),
            Self::TruncatedChunk { .. } | Self::MissingClosingChunk => {
                Exception::new("java.io.IOException", "Premature EOF")
            }
            Self::MissingChunkEnd => Exception::new("java.io.IOException", "missing CR"),
            Self::BadTrailer(_) => Exception::new(
                "java.io.IOException",
                "Malformed tailer - format should be key:value",
            ),
            Self::BadChunkHeader(_) | Self::NegativeChunk => {
                Exception::new("java.io.IOException", "Bogus chunk size")
            }
            other => Exception {
                cause: None,
                ..other.exception(endpoint)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Argument;
    use crate::body::tests::spec;

    fn sent(spec: &BodySpec<'_>, headers: &[Header<'_>]) -> String {
        let url = Url::parse("http://127.0.0.1:18558/post").unwrap();
        let wire = url.java_wire().unwrap();
        let mut head = RequestHead::java(true, headers);
        let body = spec.build_java(head.first("Content-Type")).unwrap();
        if let Some(body) = &body {
            head.java_body(body);
        }
        head.java_finish(
            &wire.host_header,
            false,
            body.as_ref(),
            spec.method,
            USER_AGENT,
        );
        let mut bytes = Vec::new();
        head.append_java(spec.method, &wire.target, &mut bytes);
        if let Some(body) = &body {
            bytes.extend_from_slice(body.shown().as_bytes());
        }
        String::from_utf8(bytes).unwrap().replace('\r', "")
    }

    #[test]
    fn redirects_are_followed_as_java_follows_them() {
        let url = Url::parse("http://h:81/a/b").unwrap();
        let next =
            |status, location| java_redirect(status, &url, location).map(|url| url.to_string());
        for status in [300, 301, 302, 303, 307] {
            assert_eq!(
                next(status, Some("c?d")).unwrap(),
                "http://h:81/a/c?d",
                "{status}"
            );
        }
        for status in [200, 304, 306, 308, 404] {
            assert_eq!(next(status, Some("c")), None, "{status}");
        }
        assert_eq!(next(302, Some("")).unwrap(), "http://h:81/a/b");
        assert_eq!(next(302, Some("http://[bad")), None);
        assert_eq!(next(302, Some("https://h/x")), None);
        assert_eq!(next(302, None), None);
    }

    #[test]
    fn headers_with_line_ends_are_refused() {
        let refusal = |name: &'static str, value: &'static str| {
            let header = Header::new(Cow::Borrowed(name), Cow::Borrowed(value));
            check_headers(&[header]).map_err(|failure| failure.message.unwrap().into_owned())
        };
        assert_eq!(refusal("A", "one\n two\n\tthree"), Ok(()));
        assert_eq!(
            refusal("A", "one\ntwo").unwrap_err(),
            "Illegal character(s) in message header value: one\ntwo"
        );
        assert_eq!(
            refusal("A:", "").unwrap_err(),
            "Illegal character(s) in message header field: A:"
        );
    }

    #[test]
    fn paths_are_sent_as_they_are() {
        let url = Url::parse("http://h/\u{e9}?q=\u{fc}").unwrap();
        let wire = url.java_wire().unwrap();
        let mut bytes = Vec::new();
        RequestHead::default().append_java("GET", &wire.target, &mut bytes);
        assert_eq!(bytes, "GET /\u{e9}?q=\u{fc} HTTP/1.1\r\n\r\n".as_bytes());
    }

    #[test]
    fn a_multipart_body_cannot_be_put() {
        let spec = BodySpec {
            method: "PUT",
            raw: false,
            multipart: true,
            browser_compatible: false,
            content_encoding: "",
            arguments: &[],
            files: &[],
            following_redirect: false,
            add_content_type_if_missing: false,
            pieces: &[],
        };
        assert_eq!(
            spec.build_java(None).unwrap_err().class,
            "java.net.ProtocolException"
        );
    }

    #[test]
    fn requests_are_the_recorded_ones() {
        let arguments = [
            Argument {
                name: "a",
                value: "1 x",
                metadata: "=",
                always_encode: true,
                content_type: "text/plain",
            },
            Argument {
                name: "b",
                value: "2 y",
                metadata: "=",
                always_encode: false,
                content_type: "text/plain",
            },
        ];
        assert_eq!(
            sent(&spec("POST", &arguments), &[]),
            "POST /post HTTP/1.1\nConnection: keep-alive\nContent-Length: 11\nUser-Agent: Java/17.0.15\nHost: 127.0.0.1:18558\n\
             Accept: text/html, image/gif, image/jpeg, */*; q=0.2\nContent-type: application/x-www-form-urlencoded\n\na=1+x&b=2 y"
        );
        assert_eq!(
            sent(&spec("PUT", &arguments), &[]),
            "PUT /post HTTP/1.1\nConnection: keep-alive\nUser-Agent: Java/17.0.15\nHost: 127.0.0.1:18558\n\
             Accept: text/html, image/gif, image/jpeg, */*; q=0.2\n\n"
        );
        let own = [
            Header::new("Accept", "a/b"),
            Header::new("Host", "other:1"),
            Header::new("Content-Length", "7"),
        ];
        assert_eq!(
            sent(&spec("GET", &[]), &own),
            "GET /post HTTP/1.1\nConnection: keep-alive\nAccept: a/b\nHost: other:1\nContent-Length: 7\nUser-Agent: Java/17.0.15\n\n"
        );
        let multipart = BodySpec {
            multipart: true,
            ..spec("POST", &arguments[..1])
        };
        let text = sent(&multipart, &[]);
        assert!(text.contains("\nContent-Type: multipart/form-data; boundary=---------------------------7d159c1302d0y0\nContent-Length: "));
        assert!(text.ends_with(
            "\n\n-----------------------------7d159c1302d0y0\nContent-Disposition: form-data; name=\"a\"\nContent-Type: text/plain; charset=UTF-8\n\
             Content-Transfer-Encoding: 8bit\n\n1 x\n-----------------------------7d159c1302d0y0--\n"
        ));
    }

    #[test]
    fn request_headers_are_shown_in_hash_order() {
        let mut head = RequestHead::java(true, &[]);
        head.set_text("Content-Type", "multipart/form-data");
        head.set_text("Content-Length", "383");
        assert_eq!(
            head.java_text(None),
            "Connection: keep-alive\nContent-Length: 383\nContent-Type: multipart/form-data\n"
        );
        let own = [
            ("Accept", "a/b"),
            ("User-Agent", "ua"),
            ("Host", "other:1"),
            ("X-B", "1"),
            ("X-B", "2"),
            ("Connection", "close"),
            ("Cookie", "c=1"),
            ("Accept-Encoding", "gzip"),
        ]
        .map(|(name, value)| Header::new(name, value));
        assert_eq!(
            RequestHead::java(true, &own).java_text(None),
            "Accept: a/b\nConnection: close\nConnection: keep-alive\nUser-Agent: ua\nHost: other:1\nAccept-Encoding: gzip\nX-B: 2\nX-B: 1\n"
        );
    }

    #[test]
    fn failures_name_their_causes() {
        let endpoint = Endpoint {
            host: "127.0.0.1",
            port: 1,
            addresses: &[],
        };
        let trace = |failure: ExchangeFailure<'_>| failure.java_exception(&endpoint).trace();
        assert_eq!(
            trace(ExchangeFailure::Connect(ConnectFailure::Refused)),
            "java.net.ConnectException: Connection refused\n"
        );
        assert_eq!(
            trace(ExchangeFailure::ReadTimeout),
            "java.net.SocketTimeoutException: Read timed out\n\
             Caused by: java.net.SocketTimeoutException: Read timed out\n"
        );
        assert_eq!(
            trace(ExchangeFailure::MalformedHead),
            "org.apache.http.client.ClientProtocolException\n"
        );
        let nowhere = Url::parse("http:///x").unwrap();
        assert_eq!(
            nowhere.java_wire().unwrap_err().trace(),
            "java.io.IOException: Failed to select a proxy\n\
             Caused by: java.lang.IllegalArgumentException: protocol = http host = null\n"
        );
    }
}
