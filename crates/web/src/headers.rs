//! The head of a request: its headers, their order and spelling, and its text in results.
//!
//! JMeter puts its own headers first (`HTTPHC4Impl.setupRequest`). Then HttpClient adds missing ones, in the order of its
//! interceptors: `RequestContent`, `RequestTargetHost`, `RequestUserAgent`, and finally the authorization.

use std::borrow::Cow;

use drumfire_java::Exception;
use tinyvec::TinyVec;

use crate::body::{Body, ContentType};
use crate::url::Url;

/// The `User-Agent` that HttpClient sends in JMeter 5.6.3 on Java 17, if the plan sets none.
pub const DEFAULT_USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// One row of a Header Manager, already evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// `Header.name`.
    pub name: Cow<'a, str>,
    /// `Header.value`.
    pub value: Cow<'a, str>,
}

impl<'a> Header<'a> {
    /// A header from borrowed or owned texts.
    pub fn new(name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// Merges the headers of an outer Header Manager into those of the inner ones (`HeaderManager.merge`): existing names take
/// precedence, ignoring case. Call it from the innermost manager outwards.
///
/// A header that occurs twice in `outer` is therefore added once; only the innermost manager can contribute duplicates.
pub fn merge<'a>(merged: &mut Vec<Header<'a>>, outer: &[Header<'a>]) {
    for header in outer {
        if !merged
            .iter()
            .any(|own| own.name.eq_ignore_ascii_case(&header.name))
        {
            merged.push(header.clone());
        }
    }
}

/// A value in the head. [`HeadTemplate`] fills in those that differ between requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum HeadValue<'a> {
    Text(Cow<'a, str>),
    /// The cookies of the request, or else the text, which is the plan's own header.
    Cookies(Option<Cow<'a, str>>),
    #[default]
    Length,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HeaderField<'a> {
    name: Cow<'a, str>,
    value: HeadValue<'a>,
}

impl HeaderField<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The headers of a request under construction, in order.
///
/// Call the methods in the order in which they are listed; each adds what JMeter or HttpClient adds at that point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead<'a> {
    entries: TinyVec<[HeaderField<'a>; 12]>,
}

impl<'a> RequestHead<'a> {
    /// `Connection`, then the merged headers of the plan (`HTTPHC4Impl.setConnectionHeaders`). A `Content-Length` is dropped,
    /// and a port may be added to or removed from `Host`.
    pub fn new(url: &Url, keep_alive: bool, headers: &'a [Header<'a>]) -> Self {
        let mut head = Self {
            entries: TinyVec::new(),
        };
        head.add(
            "Connection",
            if keep_alive { "keep-alive" } else { "close" },
        );
        for header in headers {
            if header.name.eq_ignore_ascii_case("Content-Length") {
                continue;
            }
            if header.name.eq_ignore_ascii_case("Host") {
                head.add("Host", host_value(&header.value, url));
            } else {
                head.add(&*header.name, &*header.value);
            }
        }
        head
    }

    /// The conditional headers of the Cache Manager (`CacheManager.setHeaders`), which replace those of the plan.
    pub fn conditional(
        &mut self,
        if_modified_since: Option<&'a str>,
        if_none_match: Option<&'a str>,
    ) {
        if let Some(value) = if_modified_since {
            self.set("If-Modified-Since", HeadValue::Text(value.into()));
        }
        if let Some(value) = if_none_match {
            self.set("If-None-Match", HeadValue::Text(value.into()));
        }
    }

    /// The cookies of the Cookie Manager, which replace a `Cookie` header of the plan; no change if there are none.
    pub fn cookies(&mut self, cookies: Option<&'a str>) {
        if let Some(value) = cookies {
            self.set("Cookie", HeadValue::Text(value.into()));
        }
    }

    /// A placeholder for cookies that differ between requests; [`HeadTemplate::append`] fills it in.
    pub fn cookie_slot(&mut self) {
        let written = match self.entries.iter().find(|e| e.is("Cookie")) {
            Some(HeaderField {
                value: HeadValue::Text(written),
                ..
            }) => Some(written.clone()),
            _ => None,
        };
        self.set("Cookie", HeadValue::Cookies(written));
    }

    /// The headers of the body (`HTTPHC4Impl.setupHttpEntityEnclosingRequestData` and `RequestContent`).
    ///
    /// # Errors
    /// `ClientProtocolException` without a message if the plan sets `Transfer-Encoding`, which HttpClient refuses.
    pub fn body(&mut self, body: &'a Body) -> Result<(), Exception> {
        self.body_headers(
            &body.content_type,
            HeadValue::Text(body.len.to_string().into()),
        )
    }

    /// Like [`Self::body`], with a placeholder for the length, which [`HeadTemplate::append`] fills in.
    ///
    /// # Errors
    /// As [`Self::body`].
    pub fn body_slot(&mut self, content_type: &'a ContentType) -> Result<(), Exception> {
        self.body_headers(content_type, HeadValue::Length)
    }

    fn body_headers(
        &mut self,
        content_type: &'a ContentType,
        length: HeadValue<'a>,
    ) -> Result<(), Exception> {
        match content_type {
            ContentType::Set(value) => self.set("Content-Type", HeadValue::Text(value.into())),
            ContentType::Replace(_) => self.entries.retain(|e| !e.is("Content-Type")),
            ContentType::None | ContentType::Entity(_) => {}
        }
        if self.contains("Transfer-Encoding") {
            return Err(Exception::without_message(
                "org.apache.http.client.ClientProtocolException",
            ));
        }
        self.entries.push(HeaderField {
            name: "Content-Length".into(),
            value: length,
        });
        let entity = match content_type {
            ContentType::Entity(value) => Some(&**value),
            ContentType::Replace(value) => Some(value.as_str()),
            _ => None,
        };
        if let Some(value) = entity.filter(|_| !self.contains("Content-Type")) {
            self.add("Content-Type", value);
        }
        Ok(())
    }

    /// The headers that HttpClient adds if they are missing: `Host` and `User-Agent` (`None` with
    /// `httpclient4.default_user_agent_disabled`). If the request itself goes to a proxy, `Proxy-Connection` comes between them
    /// (`RequestClientConnControl`).
    pub fn finish(&mut self, host_header: &'a str, by_proxy: bool, user_agent: Option<&'a str>) {
        if !self.contains("Host") {
            self.add("Host", host_header);
        }
        if by_proxy {
            self.add_missing("Proxy-Connection", "Keep-Alive");
        }
        if let Some(user_agent) = user_agent.filter(|_| !self.contains("User-Agent")) {
            self.add("User-Agent", user_agent);
        }
    }

    /// Adds the `Authorization` header, unless the plan has one (`MainClientExec`).
    pub fn authorization(&mut self, value: impl Into<Cow<'a, str>>) {
        if !self.contains("Authorization") {
            self.add("Authorization", value);
        }
    }

    /// Adds the `Proxy-Authorization` header, unless the plan has one.
    pub fn proxy_authorization(&mut self, value: impl Into<Cow<'a, str>>) {
        if !self.contains("Proxy-Authorization") {
            self.add("Proxy-Authorization", value);
        }
    }

    pub(crate) fn add(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) {
        self.entries.push(HeaderField {
            name: name.into(),
            value: HeadValue::Text(value.into()),
        });
    }

    /// `HeaderGroup.updateHeader`: replaces the first header with this name, or appends it.
    fn set(&mut self, name: &'static str, value: HeadValue<'a>) {
        let entry = HeaderField {
            name: name.into(),
            value,
        };
        match self.entries.iter_mut().find(|e| e.is(name)) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
    }

    /// Sets a header, replacing the first one with this name.
    pub(crate) fn set_text(&mut self, name: &'static str, value: impl Into<Cow<'a, str>>) {
        self.set(name, HeadValue::Text(value.into()));
    }

    pub(crate) fn add_missing(&mut self, name: &'static str, value: &'a str) {
        if !self.contains(name) {
            self.add(name, value);
        }
    }

    fn contains(&self, name: &str) -> bool {
        self.entries.iter().any(|e| e.is(name))
    }

    /// The value of the first header with this name.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|e| e.is(name))
            .map(|e| match &e.value {
                HeadValue::Text(text) | HeadValue::Cookies(Some(text)) => &**text,
                HeadValue::Cookies(None) | HeadValue::Length => "",
            })
    }

    /// The headers in order, without unfilled placeholders.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|e| match &e.value {
            HeadValue::Text(text) | HeadValue::Cookies(Some(text)) => Some((&*e.name, &**text)),
            HeadValue::Cookies(None) | HeadValue::Length => None,
        })
    }

    /// Whether a request header makes HttpClient close the connection after this exchange
    /// (`DefaultClientConnectionReuseStrategy`): any `Connection` header with the token `close`.
    pub fn asks_to_close(&self) -> bool {
        self.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("Connection")
                && value != "keep-alive"
                && value
                    .split(',')
                    .any(|token| token.trim().eq_ignore_ascii_case("close"))
        })
    }

    /// Writes the head as HttpClient does. Characters beyond ISO-8859-1 and control characters become `?`.
    pub fn append(&self, method: &str, target: &str, out: &mut Vec<u8>) {
        append_request_line(method, target, out);
        for (name, value) in self.iter() {
            append_line(name, value, out);
        }
        out.extend_from_slice(b"\r\n");
    }

    /// The request headers in the result (`HTTPHC4Impl.getAllHeadersExceptCookie`): one per line, without cookies.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in self
            .iter()
            .filter(|(name, _)| !name.eq_ignore_ascii_case("Cookie"))
        {
            append_text_line(name, value, &mut text);
        }
        text
    }

    /// The cookies in the result: those of the Cookie Manager, or the plan's own header
    /// (`HTTPHC4Impl.getOnlyCookieFromHeaders`).
    pub fn cookie_text(&self, managed: Option<&str>) -> String {
        if let Some(managed) = managed.filter(|text| !text.is_empty()) {
            return managed.to_owned();
        }
        let mut text = String::new();
        for (name, value) in self
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("Cookie"))
        {
            append_text_line(name, value, &mut text);
        }
        text.trim()
            .get("Cookie:".len()..)
            .unwrap_or("")
            .trim()
            .to_owned()
    }
}

fn append_text_line(name: &str, value: &str, out: &mut String) {
    out.push_str(name);
    out.push_str(": ");
    out.push_str(value);
    out.push('\n');
}

fn append_request_line(method: &str, target: &str, out: &mut Vec<u8>) {
    append_latin1(method, out);
    out.push(b' ');
    append_latin1(target, out);
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

/// Writes one header line: `BasicLineFormatter.doFormatHeader`, then `ByteArrayBuffer.append(char[])`.
fn append_line(name: &str, value: &str, out: &mut Vec<u8>) {
    append_latin1(name, out);
    out.extend_from_slice(b": ");
    append_value(value, out);
    out.extend_from_slice(b"\r\n");
}

/// Whether the text can be sent unchanged. Most can, so the check works in blocks without a branch per byte.
fn is_visible_ascii(text: &str) -> bool {
    let (blocks, rest) = text.as_bytes().as_chunks::<16>();
    blocks.iter().all(|block| visible(block)) && visible(rest)
}

fn visible(bytes: &[u8]) -> bool {
    !bytes
        .iter()
        .fold(false, |odd: bool, b: &u8| odd | !(b' '..=b'~').contains(b))
}

fn append_value(value: &str, out: &mut Vec<u8>) {
    if is_visible_ascii(value) {
        out.extend_from_slice(value.as_bytes());
        return;
    }
    for c in value.chars() {
        let c = if matches!(c, '\r' | '\n' | '\x0b' | '\x0c') {
            ' '
        } else {
            c
        };
        out.extend(latin1(c));
    }
}

fn append_latin1(text: &str, out: &mut Vec<u8>) {
    if is_visible_ascii(text) {
        out.extend_from_slice(text.as_bytes());
    } else {
        out.extend(text.chars().flat_map(latin1));
    }
}

/// Visible ISO-8859-1 characters as one byte, others as one `?` per UTF-16 unit.
fn latin1(c: char) -> impl Iterator<Item = u8> {
    let byte = match c {
        '\t' | ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(c).unwrap_or(b'?'),
        _ => b'?',
    };
    std::iter::repeat_n(byte, c.len_utf16())
}

/// The value of a `Host` header from the plan (`HTTPHC4Impl.setConnectionHeaders`): the address's port is added if it has none,
/// and the protocol's default port is removed.
fn host_value<'a>(value: &'a str, url: &Url) -> Cow<'a, str> {
    let written = value.rsplit_once(':').and_then(|(name, digits)| {
        let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        all_digits.then_some((name, digits))
    });
    let (name, port) = match written {
        Some((name, digits)) => (name, digits.parse().ok()),
        None => (value, url.port()),
    };
    let default = if url.is_secure() { 443 } else { 80 };
    match port {
        Some(port) if port != default => {
            let whole = format!("{name}:{port}");
            if whole == value {
                Cow::Borrowed(value)
            } else {
                Cow::Owned(whole)
            }
        }
        _ => Cow::Borrowed(name),
    }
}

/// A head that is prepared once for requests that differ only in request line, cookies and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadTemplate(Box<[Piece]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Bytes(Box<[u8]>),
    Cookies { own: Option<Box<str>> },
    Length,
}

impl HeadTemplate {
    /// Prepares a finished head.
    pub fn new(head: &RequestHead<'_>) -> Self {
        let mut pieces = Vec::new();
        let mut bytes = Vec::new();
        for entry in &head.entries {
            let piece = match &entry.value {
                HeadValue::Text(text) => {
                    append_line(&entry.name, text, &mut bytes);
                    continue;
                }
                HeadValue::Cookies(own) => Piece::Cookies {
                    own: own.as_deref().map(Into::into),
                },
                HeadValue::Length => Piece::Length,
            };
            if !bytes.is_empty() {
                pieces.push(Piece::Bytes(std::mem::take(&mut bytes).into()));
            }
            pieces.push(piece);
        }
        if !bytes.is_empty() {
            pieces.push(Piece::Bytes(bytes.into()));
        }
        Self(pieces.into())
    }

    /// Writes the head as [`RequestHead::append`] does. `cookies` fills the cookie placeholder, and `length` the length
    /// placeholder, in bytes.
    pub fn append(
        &self,
        method: &str,
        target: &str,
        cookies: Option<&str>,
        length: u64,
        out: &mut Vec<u8>,
    ) {
        append_request_line(method, target, out);
        for piece in &self.0 {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Cookies { own } => {
                    if let Some(value) = cookies.or(own.as_deref()) {
                        append_line("Cookie", value, out);
                    }
                }
                Piece::Length => {
                    out.extend_from_slice(b"Content-Length: ");
                    append_decimal(length, out);
                    out.extend_from_slice(b"\r\n");
                }
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

fn append_decimal(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(n % 10).expect("one decimal digit");
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Argument, BodySpec};

    const UA: &str = "UA/1";

    fn url() -> Url {
        Url::parse("http://127.0.0.1:18761/p").unwrap()
    }

    fn raw_body(value: &str) -> Body {
        let arguments = [Argument {
            value,
            ..Argument::default()
        }];
        let spec = BodySpec {
            method: "POST",
            raw: true,
            multipart: false,
            browser_compatible: false,
            content_encoding: "",
            arguments: &arguments,
            files: &[],
            following_redirect: false,
            add_content_type_if_missing: false,
            pieces: &[],
        };
        spec.build(None, |_| 0).unwrap().unwrap()
    }

    fn sent(head: &RequestHead<'_>) -> String {
        let mut out = Vec::new();
        head.append("GET", "/p", &mut out);
        let text = drumfire_java::charset::decode_latin1(&out).into_owned();
        assert!(text.starts_with("GET /p HTTP/1.1\r\n") && text.ends_with("\r\n\r\n"));
        text["GET /p HTTP/1.1\r\n".len()..text.len() - 2].to_owned()
    }

    fn headers(rows: &[(&'static str, &'static str)]) -> Vec<Header<'static>> {
        rows.iter()
            .map(|(name, value)| Header::new(*name, *value))
            .collect()
    }

    fn plain(rows: &[(&'static str, &'static str)]) -> String {
        let rows = headers(rows);
        let url = url();
        let mut head = RequestHead::new(&url, true, &rows);
        head.finish("127.0.0.1:18761", false, Some(UA));
        sent(&head)
    }

    #[test]
    fn a_bare_request_has_three_headers() {
        assert_eq!(
            plain(&[]),
            "Connection: keep-alive\r\nHost: 127.0.0.1:18761\r\nUser-Agent: UA/1\r\n"
        );
        let url = url();
        let mut head = RequestHead::new(&url, false, &[]);
        head.finish("h", false, None);
        assert_eq!(sent(&head), "Connection: close\r\nHost: h\r\n");
        assert!(head.asks_to_close());
    }

    #[test]
    fn headers_of_the_plan_keep_order_case_and_duplicates() {
        assert_eq!(
            plain(&[
                ("X-A", "1"),
                ("x-a", "2"),
                ("User-Agent", "UA"),
                ("Accept-Encoding", "gzip"),
                ("Host", "other.example:80"),
                ("Content-Length", "7"),
                ("Connection", "close"),
                ("Cookie", "c=d"),
                ("Empty", ""),
            ]),
            "Connection: keep-alive\r\nX-A: 1\r\nx-a: 2\r\nUser-Agent: UA\r\nAccept-Encoding: gzip\r\n\
             Host: other.example\r\nConnection: close\r\nCookie: c=d\r\nEmpty: \r\n"
        );
        assert_eq!(
            plain(&[
                ("X-Tab", "a\tb  c "),
                (" X-Lead ", " v "),
                ("X-U", "ü€"),
                ("X-N", "a\r\nb")
            ]),
            "Connection: keep-alive\r\nX-Tab: a\tb  c \r\n X-Lead :  v \r\nX-U: ü?\r\nX-N: a  b\r\n\
             Host: 127.0.0.1:18761\r\nUser-Agent: UA/1\r\n"
        );
    }

    #[test]
    fn host_headers_take_and_lose_ports() {
        let http = url();
        assert_eq!(host_value("h.example:18761", &http), "h.example:18761");
        assert_eq!(host_value("h.example", &http), "h.example:18761");
        assert_eq!(host_value("h.example:80", &http), "h.example");
        assert_eq!(
            host_value("h.example", &Url::parse("https://x/").unwrap()),
            "h.example"
        );
    }

    #[test]
    fn managers_merge_from_the_inside_out() {
        let mut merged = headers(&[("A", "1"), ("B", "2"), ("A", "3")]);
        merge(
            &mut merged,
            &headers(&[("b", "22"), ("D", "4"), ("D", "5")]),
        );
        assert_eq!(
            merged,
            headers(&[("A", "1"), ("B", "2"), ("A", "3"), ("D", "4")])
        );
    }

    #[test]
    fn bodies_add_their_headers_where_recorded() {
        let url = url();
        let body = raw_body("{}");
        let mut head = RequestHead::new(&url, true, &[]);
        head.cookies(Some("a=\"1 x\"; b=2"));
        head.body(&body).unwrap();
        head.finish("h", false, Some(UA));
        assert_eq!(
            sent(&head),
            "Connection: keep-alive\r\nCookie: a=\"1 x\"; b=2\r\nContent-Length: 2\r\n\
             Content-Type: text/plain; charset=UTF-8\r\nHost: h\r\nUser-Agent: UA/1\r\n"
        );
        let text = head.text();
        assert!(
            !text.contains("Cookie")
                && text.contains("Content-Length: 2\nContent-Type: text/plain")
        );
        for own in [("Content-Type", "application/json"), ("content-type", "")] {
            let rows = headers(&[own]);
            let mut head = RequestHead::new(&url, true, &rows);
            head.body(&body).unwrap();
            let expected = format!(
                "Connection: keep-alive\r\n{}: {}\r\nContent-Length: 2\r\n",
                own.0, own.1
            );
            assert_eq!(sent(&head), expected);
        }
    }

    #[test]
    fn multipart_replaces_and_files_set_the_content_type() {
        let url = url();
        let rows = headers(&[("Content-Type", "x/y"), ("Z", "1")]);
        let mut head = RequestHead::new(&url, true, &rows);
        let replace = ContentType::Replace("multipart/form-data".into());
        head.body_slot(&replace).unwrap();
        assert_eq!(head.first("Content-Type"), Some("multipart/form-data"));
        let set = ContentType::Set("text/x".into());
        let mut head = RequestHead::new(&url, true, &[]);
        head.body_slot(&set).unwrap();
        let template = HeadTemplate::new(&head);
        let mut out = Vec::new();
        template.append("PUT", "/é", None, 10, &mut out);
        assert_eq!(
            out,
            b"PUT /\xe9 HTTP/1.1\r\nConnection: keep-alive\r\nContent-Type: text/x\r\nContent-Length: 10\r\n\r\n"
        );
    }

    #[test]
    fn transfer_encoding_of_the_plan_is_refused_with_a_body() {
        let url = url();
        let rows = headers(&[("Transfer-Encoding", "chunked")]);
        let body = raw_body("x");
        let failure = RequestHead::new(&url, true, &rows).body(&body).unwrap_err();
        assert_eq!(
            failure.class,
            "org.apache.http.client.ClientProtocolException"
        );
        assert_eq!(
            failure.response_message(),
            "Non HTTP response message: null"
        );
    }

    #[test]
    fn managed_cookies_take_the_place_of_the_plans_own() {
        let url = url();
        let rows = headers(&[("Cookie", "own=1"), ("X", "1"), ("If-None-Match", "mine")]);
        let mut head = RequestHead::new(&url, true, &rows);
        head.conditional(Some("yesterday"), Some("tag"));
        head.cookie_slot();
        head.finish("h", false, None);
        let template = HeadTemplate::new(&head);
        let write = |cookies| {
            let mut out = Vec::new();
            template.append("GET", "/", cookies, 0, &mut out);
            String::from_utf8(out).unwrap()
        };
        let rest = "X: 1\r\nIf-None-Match: tag\r\nIf-Modified-Since: yesterday\r\nHost: h\r\n\r\n";
        let start = "GET / HTTP/1.1\r\nConnection: keep-alive\r\n";
        assert_eq!(write(None), format!("{start}Cookie: own=1\r\n{rest}"));
        assert_eq!(write(Some("c=d")), format!("{start}Cookie: c=d\r\n{rest}"));
        assert_eq!(head.cookie_text(None), "own=1");
        assert_eq!(head.cookie_text(Some("c=d")), "c=d");
    }

    #[test]
    fn authorization_of_the_plan_stays() {
        let url = url();
        let rows = headers(&[("Authorization", "Bearer x")]);
        let mut head = RequestHead::new(&url, true, &rows);
        head.authorization("Basic dTpw");
        assert_eq!(
            sent(&head),
            "Connection: keep-alive\r\nAuthorization: Bearer x\r\n"
        );
    }

    #[test]
    fn decimals_are_written_whole() {
        let mut out = Vec::new();
        append_decimal(0, &mut out);
        append_decimal(u64::MAX, &mut out);
        assert_eq!(out, b"018446744073709551615");
    }
}
