//! Detects redirects and computes their targets.

use crate::url::{Url, encode_spaces};
use drumfire_java::Exception;
use drumfire_java::uri;
use drumfire_java::url::make_relative;

/// `HTTPSampleResult.isRedirect`: 301, 302, 303, 308 always; 307 only for `GET` and `HEAD`, unless the method is kept (JMeter 6).
pub fn is_redirect(status: u16, method: &str, keeps_method: bool) -> bool {
    match status {
        301 | 302 | 303 | 308 => true,
        307 => keeps_method || matches!(method, "GET" | "HEAD"),
        _ => false,
    }
}

/// The method of the request after a redirect: `HEAD` stays, all others become `GET`
/// (`HTTPSamplerBase.computeMethodForRedirect`).
pub fn method_after_redirect(method: &str) -> &str {
    if method.eq_ignore_ascii_case("HEAD") {
        method
    } else {
        "GET"
    }
}

/// The failure of a redirect response without a `Location` header (`HTTPHC4Impl.sample`).
pub fn missing_location(method: &str, url: &Url) -> Exception {
    let mut uri = String::new();
    uri::append_ascii(url.as_str(), &mut uri);
    Exception::illegal_argument(format!(
        "Missing location header in redirect for {method} {uri} HTTP/1.1"
    ))
}

/// The failure after `limit` consecutive redirects (`HTTPSamplerBase.followRedirects`).
pub fn too_many_redirects(limit: u32) -> Exception {
    Exception::new(
        "java.io.IOException",
        format!("Exceeded maximum number of redirects: {limit}"),
    )
}

/// The failure of a page with frames nested deeper than `httpsampler.max_frame_depth`
/// (`HTTPSamplerBase.resultProcessing`).
pub fn nested_too_deep() -> Exception {
    Exception::new(
        "java.lang.Exception",
        "Maximum frame/iframe nesting depth exceeded.",
    )
}

/// The target of a `Location` (`HTTPSamplerBase.followRedirects`): `/..` removed if configured
/// (`httpsampler.redirect.removeslashdotdot`), spaces encoded, resolved and sanitized.
///
/// # Errors
/// `MalformedURLException` or `URISyntaxException`; JMeter then marks the redirecting sample itself as failed.
pub fn redirect_url(
    base: &Url,
    location: &str,
    remove_slash_dot_dot: bool,
) -> Result<Url, Exception> {
    let cleaned;
    let location = if remove_slash_dot_dot {
        cleaned = collapse_dot_dot(location);
        &cleaned
    } else {
        location
    };
    let url = make_relative(base, &encode_spaces(location))?;
    Url::from(url).sanitized()
}

/// `ConversionUtils.removeSlashDotDot`: `/a/../b` becomes `/b`; does not change the query.
pub fn collapse_dot_dot(location: &str) -> String {
    let text = drumfire_java::text::trim(location);
    if text.encode_utf16().count() < 4 || !text.contains("/..") {
        return text.to_owned();
    }
    let start = match text.find("://") {
        // For an address without a path, JMeter's indexOf returns -1 and it then fails; such a text cannot contain
        // "/..".
        Some(at) => text[at + 3..].find('/').map_or(0, |slash| at + 3 + slash),
        None => 0,
    };
    let end = match text.find('?').filter(|at| *at > 0) {
        Some(at) => at,
        None => text.find('#').filter(|at| *at > 0).unwrap_or(text.len()),
    };
    if start > end {
        return text.to_owned();
    }
    let path = &text[start..end];
    let mut segments: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let mut i: isize = 0;
    while (i as usize) + 1 < segments.len() {
        let at = i as usize;
        if segments[at] != ".." && segments[at + 1] == ".." {
            segments.drain(at..at + 2);
            i = (i - 2).max(-1);
        }
        i += 1;
    }
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..start]);
    if path.starts_with('/') {
        out.push('/');
    }
    out.push_str(&segments.join("/"));
    if path.ends_with('/') && !segments.is_empty() {
        out.push('/');
    }
    out.push_str(&text[end..]);
    out
}

/// A redirect that HttpClient follows itself if the sampler uses automatic redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoRedirect {
    /// The address of the next request.
    pub url: Url,
    /// Whether the next request keeps method, headers and body (307 and 308); otherwise it is a plain `GET` or
    /// `HEAD`.
    pub same_request: bool,
    /// The method of the next request.
    pub method: String,
}

/// `LaxRedirectStrategy` (HttpClient 4.5): `None` if it does not treat the response as a redirect.
///
/// The caller tracks the visited addresses: a repeated one, or exceeding the limit, is an [`auto_redirect_failure`].
///
/// # Errors
/// `ClientProtocolException` without a message, which wraps every protocol error in HttpClient.
pub fn auto_redirect(
    status: u16,
    method: &str,
    request_url: &Url,
    location: Option<&str>,
) -> Result<Option<AutoRedirect>, Exception> {
    let redirectable = matches!(method, "GET" | "POST" | "HEAD" | "DELETE");
    let redirected = match status {
        302 => redirectable && location.is_some(),
        301 | 307 | 308 => redirectable,
        303 => true,
        _ => false,
    };
    if !redirected {
        return Ok(None);
    }
    let location = location.ok_or_else(auto_redirect_failure)?;
    uri::parse(location, false)
        .ok()
        .filter(|_| !names_no_host(location))
        .ok_or_else(auto_redirect_failure)?;
    let url = resolved(request_url, location).map_err(|_| auto_redirect_failure())?;
    let bare = method.eq_ignore_ascii_case("HEAD") || method.eq_ignore_ascii_case("GET");
    let same_request = !bare && matches!(status, 307 | 308);
    let method = if bare || same_request { method } else { "GET" };
    Ok(Some(AutoRedirect {
        url,
        same_request,
        method: method.to_owned(),
    }))
}

/// The address that a redirect names (`URIUtils.resolve`). A query alone keeps the path, and an empty text the whole address.
fn resolved(request_url: &Url, location: &str) -> Result<Url, Exception> {
    if !matches!(location.bytes().next(), None | Some(b'?')) {
        return request_url.join(location)?.without_dot_segments();
    }
    let base = request_url.as_str();
    let base = base.split_once('#').map_or(base, |(before, _)| before);
    let base = match location {
        "" => base,
        _ => base.split_once('?').map_or(base, |(before, _)| before),
    };
    Url::parse(&format!("{base}{location}"))
}

/// Whether an address has a scheme but no host to connect to, such as `http:/a/b` (`RedirectExec`).
fn names_no_host(location: &str) -> bool {
    let scheme_end = location.find([':', '/', '?', '#']);
    scheme_end.is_some_and(|end| {
        let rest = &location[end..];
        let host = rest.strip_prefix("://").unwrap_or_default();
        rest.starts_with(':') && (host.is_empty() || host.starts_with(['/', '?', '#']))
    })
}

/// The failure of automatic redirects: circular, too many, or a `Location` that is missing or not a URI.
pub fn auto_redirect_failure() -> Exception {
    Exception::without_message("org.apache.http.client.ClientProtocolException")
}

/// The failure of automatic redirects that return to an earlier address.
pub fn circular_redirect(url: &Url) -> Exception {
    let message = format!("Circular redirect to '{url}'");
    auto_redirect_failure().caused_by(Exception::new(
        "org.apache.http.client.CircularRedirectException",
        message,
    ))
}

impl Url {
    /// The address with `fields` after those of its query.
    ///
    /// # Errors
    /// `MalformedURLException`.
    pub fn with_more_query(&self, fields: &str) -> Result<Self, Exception> {
        let text = self.as_str();
        let before = text
            .split_once('#')
            .map(|(before, _)| before)
            .unwrap_or(text);
        let joint = if before.contains('?') { '&' } else { '?' };
        Self::parse(&format!("{before}{joint}{fields}"))
    }

    /// `URIUtils.normalizeSyntax`: removes `.` and `..` segments, and converts the host to lower case.
    fn without_dot_segments(&self) -> Result<Self, Exception> {
        let mut segments: Vec<&str> = Vec::new();
        for segment in self
            .path()
            .strip_prefix('/')
            .unwrap_or(self.path())
            .split('/')
        {
            match segment {
                "." => {}
                ".." => {
                    segments.pop();
                }
                _ => segments.push(segment),
            }
        }
        let authority = self.authority().unwrap_or("").to_lowercase();
        let mut text = format!("{}://{authority}/{}", self.protocol(), segments.join("/"));
        for (mark, part) in [('?', self.query()), ('#', self.reference())] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(part);
            }
        }
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(location: &str) -> Result<String, Exception> {
        let base = Url::parse("http://h:81/a/b/c?q#f").unwrap();
        redirect_url(&base, location, true).map(|url| url.to_string())
    }

    #[test]
    fn locations_lead_where_jmeter_goes() {
        assert_eq!(follow("ok").unwrap(), "http://h:81/a/b/ok");
        assert_eq!(follow("").unwrap(), "http://h:81/a/b/c?q#f");
        assert_eq!(follow("/a/../b/../ok").unwrap(), "http://h:81/ok");
        assert_eq!(follow("../../../../x").unwrap(), "http://h:81/x");
        assert_eq!(follow("//o/x y").unwrap(), "http://o/x%20y");
        // Recorded: the space is encoded first, and the quoting of '|' then encodes its '%' again.
        assert_eq!(
            follow("/ok?a b|c#f").unwrap(),
            "http://h:81/ok?a%2520b%7Cc#f"
        );
        assert_eq!(
            follow("foo://x y").unwrap_err().message.unwrap(),
            "unknown protocol: foo"
        );
        assert_eq!(follow("http://a b/c").unwrap(), "http://a%20b/c");
    }

    #[test]
    fn dot_dot_collapses_before_the_query_only() {
        assert_eq!(
            collapse_dot_dot("http://h/p1/../p2?x/../y"),
            "http://h/p2?x/../y"
        );
        assert_eq!(collapse_dot_dot("/one/two/../three/"), "/one/three/");
        assert_eq!(collapse_dot_dot("/a/b/../../c"), "/c");
        assert_eq!(collapse_dot_dot("../x"), "../x");
        assert_eq!(collapse_dot_dot(" /a/.. "), "/");
    }

    #[test]
    fn redirect_codes_and_methods() {
        let plain = |status, method| is_redirect(status, method, false);
        assert!(plain(302, "POST") && plain(308, "PUT") && plain(307, "GET"));
        assert!(!plain(307, "POST") && !plain(300, "GET") && !plain(304, "GET"));
        assert!(is_redirect(307, "POST", true) && !is_redirect(304, "POST", true));
        assert_eq!(method_after_redirect("POST"), "GET");
        assert_eq!(method_after_redirect("HEAD"), "HEAD");
    }

    #[test]
    fn failures_have_the_recorded_messages() {
        let url = Url::parse("http://127.0.0.1:18771/noloc").unwrap();
        assert_eq!(
            missing_location("POST", &url).message.unwrap(),
            "Missing location header in redirect for POST http://127.0.0.1:18771/noloc HTTP/1.1"
        );
        assert_eq!(
            too_many_redirects(20).response_message(),
            "Non HTTP response message: Exceeded maximum number of redirects: 20"
        );
    }

    #[test]
    fn automatic_redirects_follow_the_lax_strategy() {
        let url = Url::parse("http://H:81/a/b").unwrap();
        let next = auto_redirect(307, "POST", &url, Some("/x/../ok"))
            .unwrap()
            .unwrap();
        assert_eq!(
            (next.url.as_str(), next.same_request, &*next.method),
            ("http://h:81/ok", true, "POST")
        );
        let next = auto_redirect(303, "POST", &url, Some("ok"))
            .unwrap()
            .unwrap();
        assert_eq!(
            (next.url.as_str(), &*next.method),
            ("http://h:81/a/ok", "GET")
        );
        for nowhere in ["http:/h/x", "http:///x", "mailto:a"] {
            assert_eq!(
                auto_redirect(302, "GET", &url, Some(nowhere)),
                Err(auto_redirect_failure()),
                "{nowhere}"
            );
        }
        assert_eq!(auto_redirect(302, "GET", &url, None), Ok(None));
        assert_eq!(auto_redirect(301, "PUT", &url, Some("/ok")), Ok(None));
        assert_eq!(
            auto_redirect(301, "GET", &url, Some("../ok?a b")),
            Err(auto_redirect_failure())
        );
    }

    #[test]
    fn a_query_alone_keeps_the_path() {
        let base = Url::parse("http://h/a/b?old=1#f").unwrap();
        let next = |location: &str| {
            let redirect = auto_redirect(302, "GET", &base, Some(location)).unwrap();
            redirect.unwrap().url.to_string()
        };
        assert_eq!(next("?x=1"), "http://h/a/b?x=1");
        assert_eq!(next(""), "http://h/a/b?old=1");
        assert_eq!(next("c?x=1"), "http://h/a/c?x=1");
        let more = |text: &str| {
            Url::parse(text)
                .unwrap()
                .with_more_query("a=b")
                .unwrap()
                .to_string()
        };
        assert_eq!(more("http://h/a?x=1#f"), "http://h/a?x=1&a=b");
        assert_eq!(more("http://h/a"), "http://h/a?a=b");
    }
}
