//! `java.net.URI`: its grammar, its error messages, and the rewriting that JMeter uses.
//!
//! The rules are those of `java.net.URI.Parser` (RFC 2396 with Java's deviations); every message and index was checked
//! against Java 17.

mod ipv6;

use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::exception::Exception;
use crate::text::{is_space_char, utf16_index};

/// A set of ASCII characters. A lookup costs the same however many characters the set has.
struct CharSet([bool; 256]);

impl CharSet {
    /// Letters, digits and these marks.
    const fn alphanumeric_and(marks: &[u8]) -> CharSet {
        let mut set = CharSet([false; 256]);
        let mut byte = 0_u8;
        while byte < 0x80 {
            set.0[byte as usize] = byte.is_ascii_alphanumeric();
            byte += 1;
        }
        set.and(marks)
    }

    /// RFC 2396's unreserved characters and these marks.
    const fn unreserved_and(marks: &[u8]) -> CharSet {
        CharSet::alphanumeric_and(b"-_.!~*'()").and(marks)
    }

    const fn and(mut self, marks: &[u8]) -> CharSet {
        let mut at = 0;
        while at < marks.len() {
            self.0[marks[at] as usize] = true;
            at += 1;
        }
        self
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }
}

static URIC: CharSet = CharSet::unreserved_and(b";/?:@&=+$,[]");
static PATH: CharSet = CharSet::unreserved_and(b":@&=+$,;/");
static USER_INFO: CharSet = CharSet::unreserved_and(b";:&=+$,");
static REG_NAME: CharSet = CharSet::unreserved_and(b"$,;:@&=+");
static SERVER: CharSet = CharSet::unreserved_and(b";:&=+$,@[]");
/// Inside an address literal a bare '%' introduces a scope.
static SERVER_WITH_SCOPE: CharSet = CharSet::unreserved_and(b";:&=+$,@[]%");
static SCOPE_ID: CharSet = CharSet::alphanumeric_and(b"_.");
static SCHEME: CharSet = CharSet::alphanumeric_and(b"+-.");
static HOST_LABEL: CharSet = CharSet::alphanumeric_and(b"-");

/// The parts of a parsed URI, as byte ranges of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UriParts {
    /// The end of the scheme, without its colon.
    pub scheme_end: Option<usize>,
    /// Whether something other than a slash follows the scheme.
    pub opaque: bool,
    /// User, host and port.
    pub authority: Option<Range<usize>>,
    /// The part before `@`.
    pub user_info: Option<Range<usize>>,
    /// The host with the brackets of an IPv6 address.
    pub host: Option<Range<usize>>,
    /// -1 when there is none, as in Java.
    pub port: i32,
    /// The path; empty if it is opaque.
    pub path: Range<usize>,
    /// The part after `?`.
    pub query: Option<Range<usize>>,
    /// The part after `#`.
    pub fragment: Option<Range<usize>>,
}

/// Parses `text` as `new URI(text)` does; `server_based` is what `new URI(scheme, userInfo, host, ...)` demands.
///
/// # Errors
/// `java.net.URISyntaxException` with Java's reason and index.
pub fn parse(text: &str, server_based: bool) -> Result<UriParts, Exception> {
    UriParser {
        text,
        bytes: text.as_bytes(),
        server_based,
        parts: UriParts {
            port: -1,
            ..UriParts::default()
        },
    }
    .parse()
}

struct UriParser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    server_based: bool,
    parts: UriParts,
}

fn syntax(message: String) -> Exception {
    Exception::new("java.net.URISyntaxException", message)
}

type Parsed<T> = Result<T, Exception>;

impl UriParser<'_> {
    fn fail<T>(&self, reason: &str, at: usize) -> Parsed<T> {
        Err(syntax(format!(
            "{reason} at index {}: {}",
            utf16_index(self.text, at),
            self.text
        )))
    }

    fn expecting<T>(&self, what: &str, at: usize) -> Parsed<T> {
        self.fail(&format!("Expected {what}"), at)
    }

    fn at(&self, p: usize, end: usize, b: u8) -> bool {
        p < end && self.bytes[p] == b
    }

    /// The first position at or after `p` that contains one of `stops`, or `end`.
    fn find<const N: usize>(&self, p: usize, end: usize, stops: &[u8; N]) -> usize {
        self.bytes[p..end]
            .iter()
            .position(|b| stops.iter().any(|stop| stop == b))
            .map(|i| p + i)
            .unwrap_or(end)
    }

    /// Skips `legal` characters and, with `escapes`, also `%xx` and visible characters outside ASCII.
    fn scan(&self, mut p: usize, end: usize, legal: &CharSet, escapes: bool) -> Parsed<usize> {
        loop {
            let rest = &self.bytes[p..end];
            let Some(skipped) = rest.iter().position(|b| !legal.contains(*b)) else {
                return Ok(end);
            };
            p += skipped;
            let b = self.bytes[p];
            if escapes && b == b'%' {
                let pair = self.bytes.get(p + 1..p + 3).filter(|_| p + 3 <= end);
                match pair {
                    Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => p += 3,
                    _ => {
                        return self.fail("Malformed escape pair", p);
                    }
                }
            } else if escapes && b >= 0x80 {
                let c = self.text[p..].chars().next().expect("p is on a character");
                if is_space_char(c) || c.is_control() || c == '\u{80}' {
                    return Ok(p);
                }
                p += c.len_utf8();
            } else {
                return Ok(p);
            }
        }
    }

    fn check(&self, range: Range<usize>, legal: &CharSet, what: &str) -> Parsed<()> {
        self.part(range.start, range.end, legal, b"", what)
            .map(|_| ())
    }

    /// The end of a part with `legal` characters: the first of `stops`, which are not legal, or `end`.
    fn part(
        &self,
        start: usize,
        end: usize,
        legal: &CharSet,
        stops: &[u8],
        what: &str,
    ) -> Parsed<usize> {
        let p = self.scan(start, end, legal, true)?;
        if p < end && !stops.contains(&self.bytes[p]) {
            return self.fail(&format!("Illegal character in {what}"), p);
        }
        Ok(p)
    }

    fn parse(mut self) -> Parsed<UriParts> {
        let end = self.bytes.len();
        let colon = self.find(0, end, b"/?#:");
        let mut p;
        if self.at(colon, end, b':') {
            self.parse_scheme(colon)?;
            p = colon + 1;
            if self.at(p, end, b'/') {
                p = self.parse_hierarchical(p, end)?;
            } else {
                let hash = self.find(p, end, b"#");
                if hash <= p {
                    return self.expecting("scheme-specific part", p);
                }
                self.check(p..hash, &URIC, "opaque part")?;
                self.parts.opaque = true;
                p = hash;
            }
        } else {
            p = self.parse_hierarchical(0, end)?;
        }
        if self.at(p, end, b'#') {
            self.check(p + 1..end, &URIC, "fragment")?;
            self.parts.fragment = Some(p + 1..end);
            p = end;
        }
        if p < end {
            return self.expecting("end of URI", p);
        }
        Ok(self.parts)
    }

    fn parse_scheme(&mut self, colon: usize) -> Parsed<()> {
        if colon == 0 {
            return self.expecting("scheme name", 0);
        }
        if !self.bytes[0].is_ascii_alphabetic() {
            return self.fail("Illegal character in scheme name", 0);
        }
        let p = self.scan(1, colon, &SCHEME, false)?;
        if p < colon {
            return self.fail("Illegal character in scheme name", p);
        }
        self.parts.scheme_end = Some(colon);
        Ok(())
    }

    fn parse_hierarchical(&mut self, start: usize, end: usize) -> Parsed<usize> {
        let mut p = start;
        if self.at(p, end, b'/') && self.at(p + 1, end, b'/') {
            p += 2;
            let stop = self.find(p, end, b"/?#");
            if stop > p {
                self.parse_authority(p, stop)?;
                p = stop;
            } else if stop == end {
                return self.expecting("authority", p);
            }
        }
        let stop = self.part(p, end, &PATH, b"?#", "path")?;
        self.parts.path = p..stop;
        p = stop;
        if self.at(p, end, b'?') {
            p += 1;
            let stop = self.part(p, end, &URIC, b"#", "query")?;
            self.parts.query = Some(p..stop);
            p = stop;
        }
        Ok(p)
    }

    fn parse_authority(&mut self, start: usize, end: usize) -> Parsed<()> {
        let bracket = self.find(start, end, b"]");
        let bracketed = bracket < end && bracket > start;
        let server_chars = if bracketed {
            self.scan(start, end, &SERVER_WITH_SCOPE, false)? == end
        } else {
            self.scan(start, end, &SERVER, true)? == end
        };
        self.parts.authority = Some(start..end);
        if !server_chars {
            return match self.is_registry(start, end, bracketed)? {
                true => Ok(()),
                false => self.fail("Illegal character in authority", start),
            };
        }
        let Err(failure) = self.parse_server(start, end) else {
            return Ok(());
        };
        self.parts.user_info = None;
        self.parts.host = None;
        self.parts.port = -1;
        if self.server_based || !self.is_registry(start, end, bracketed)? {
            return Err(failure);
        }
        Ok(())
    }

    /// Whether an authority may be a name that no host has.
    fn is_registry(&self, start: usize, end: usize, bracketed: bool) -> Parsed<bool> {
        Ok(!bracketed && self.scan(start, end, &REG_NAME, true)? == end)
    }

    fn parse_server(&mut self, start: usize, end: usize) -> Parsed<()> {
        let mut p = start;
        let at = self.find(p, end, b"@");
        if at < end {
            self.check(p..at, &USER_INFO, "user info")?;
            self.parts.user_info = Some(p..at);
            p = at + 1;
        }
        p = if self.at(p, end, b'[') {
            self.parse_ipv6(p, end)?
        } else {
            self.parse_host(p, end)?
        };
        if self.at(p, end, b':') {
            p += 1;
            if p < end {
                let port = &self.bytes[p..end];
                if let Some(other) = port.iter().position(|b| !b.is_ascii_digit()) {
                    return self.fail("Illegal character in port number", p + other);
                }
                match self.text[p..end].parse::<i32>() {
                    Ok(port) => self.parts.port = port,
                    Err(_) => return self.fail("Malformed port number", p),
                }
                p = end;
            }
        }
        if p < end {
            return self.expecting("port number", p);
        }
        Ok(())
    }

    fn parse_ipv6(&mut self, open: usize, end: usize) -> Parsed<usize> {
        let close = self.find(open + 1, end, b"]");
        if close <= open + 1 || close == end {
            return self.expecting("closing bracket for IPv6 address", close);
        }
        let scope = self.find(open + 1, close, b"%");
        if scope < close {
            if scope + 1 == close {
                return Err(syntax(format!("scope id expected: {}", self.text)));
            }
            let p = self.scan(scope + 1, close, &SCOPE_ID, false)?;
            if p < close {
                return self.fail("Illegal character in scope id", p);
            }
        }
        if let Err(malformed) = ipv6::check(&self.text[open + 1..scope]) {
            return self.fail(malformed.reason, open + 1 + malformed.at);
        }
        self.parts.host = Some(open..close + 1);
        Ok(close + 1)
    }

    fn parse_host(&mut self, start: usize, end: usize) -> Parsed<usize> {
        let stop = self.find(start, end, b":");
        if is_ipv4(&self.text[start..stop]) {
            self.parts.host = Some(start..stop);
            return Ok(stop);
        }
        let mut p = start;
        let mut top = start;
        while p < end {
            let label_end = self.scan(p, end, &HOST_LABEL, false)?;
            if label_end == p || self.bytes[p] == b'-' {
                break;
            }
            if self.bytes[label_end - 1] == b'-' {
                return self.fail("Illegal character in hostname", label_end - 1);
            }
            top = p;
            p = label_end;
            if !self.at(p, end, b'.') {
                break;
            }
            p += 1;
        }
        if p < end && !self.at(p, end, b':') {
            return self.fail("Illegal character in hostname", p);
        }
        if p == start {
            return self.expecting("hostname", start);
        }
        // If the name has several labels, the last must begin with a letter.
        if top > start && !self.bytes[top].is_ascii_alphabetic() {
            return self.fail("Illegal character in hostname", top);
        }
        self.parts.host = Some(start..p);
        Ok(p)
    }
}

fn is_ipv4(text: &str) -> bool {
    let mut parts = 0;
    text.split('.').all(|part| {
        parts += 1;
        !part.is_empty()
            && part.len() <= 10
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u64>().is_ok_and(|n| n <= 255)
    }) && parts == 4
}

/// `URI.toASCIIString`: the NFC form, with all characters outside ASCII as `%xx` of their UTF-8 bytes.
pub fn append_ascii(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.push_str(text);
    } else if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        append_escaped(text, out);
    } else {
        append_escaped(&text.nfc().collect::<String>(), out);
    }
}

fn append_escaped(text: &str, out: &mut String) {
    for b in text.bytes() {
        if b < 0x80 {
            out.push(char::from(b));
        } else {
            append_percent(b, out);
        }
    }
}

/// A byte as `%XX`.
pub fn append_percent(b: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(b >> 4)]));
    out.push(char::from(HEX[usize::from(b & 15)]));
}

/// The component of a URI, which determines the characters that `new URI(scheme, userInfo, host, ...)` does not quote.
#[derive(Clone, Copy)]
pub enum Component {
    /// The part before `@`.
    UserInfo,
    /// The path.
    Path,
    /// Query and fragment.
    Uric,
}

/// Quotes a component as the seven-argument constructor of `java.net.URI` does: every `%` becomes `%25`.
pub fn append_quoted(text: &str, component: Component, out: &mut String) {
    let legal = match component {
        Component::UserInfo => &USER_INFO,
        Component::Path => &PATH,
        Component::Uric => &URIC,
    };
    for c in text.chars() {
        if c.is_ascii() {
            let b = c as u8;
            if legal.contains(b) {
                out.push(c);
            } else {
                append_percent(b, out);
            }
        } else if is_space_char(c) || c.is_control() {
            append_escaped(c.encode_utf8(&mut [0; 4]), out);
        } else {
            out.push(c);
        }
    }
}

/// `URI.normalize().toString()` of a text that [`parse`] took apart; `None` if it is in normal form already.
#[must_use]
pub fn normalized(text: &str, parts: &UriParts) -> Option<String> {
    if parts.opaque {
        return None;
    }
    let path = normalize_path(&text[parts.path.clone()])?;
    let mut out = String::with_capacity(text.len());
    if let Some(end) = parts.scheme_end {
        out.push_str(&text[..=end]);
    }
    if let Some(authority) = &parts.authority {
        out.push_str("//");
        let end = parts
            .host
            .as_ref()
            .map(|host| host.end)
            .unwrap_or(authority.end);
        out.push_str(&text[authority.start..end]);
        if parts.port >= 0 {
            out.push_str(&format!(":{}", parts.port));
        }
    }
    out.push_str(&path);
    out.push_str(&text[parts.path.end..]);
    Some(out)
}

/// The normal form of a path: without empty and `.` segments and `x/..`; leading `..` stay. `None` if the path has it already.
fn normalize_path(path: &str) -> Option<String> {
    let inner = path.trim_start_matches('/');
    let is_absolute = inner.len() < path.len();
    // Each segment with the slash behind it.
    let segments = inner.split_inclusive('/').filter(|segment| *segment != "/");
    let mut segments_left: Vec<(usize, &str)> = Vec::new();
    for (index, segment) in segments.enumerate() {
        match segment.trim_end_matches('/') {
            "." => {}
            ".." if segments_left
                .last()
                .is_some_and(|(_, last)| last.trim_end_matches('/') != "..") =>
            {
                segments_left.pop();
            }
            _ => segments_left.push((index, segment)),
        }
    }
    let mut out = String::with_capacity(path.len());
    if is_absolute {
        out.push('/');
    } else if segments_left
        .first()
        .is_some_and(|(index, segment)| *index > 0 && segment.contains(':'))
    {
        // Otherwise the segment would look like a scheme.
        out.push_str("./");
    }
    out.extend(segments_left.iter().map(|(_, segment)| *segment));
    (out != path).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_form_is_normalized_before_escaping() {
        let mut out = String::new();
        append_ascii("/\u{e9}/e\u{301}", &mut out);
        assert_eq!(out, "/%C3%A9/%C3%A9");
    }
}
