//! Caches the header fields of a sampler's last request. Most samplers always send the same ones except for cookies and length.

use std::borrow::Cow;

use drumfire_web::body::ContentType;
use drumfire_web::headers::{HeadTemplate, Header, RequestHead};

use super::misses::Misses;

/// Everything that the header fields of a sampler's requests depend on, besides cookies and length, provided that no proxy, cache
/// or authorization adds any.
#[derive(Clone, Copy)]
pub struct Given<'g> {
    pub secure: bool,
    pub host: &'g str,
    /// The sampler's own wish, which a header may override.
    pub keep_alive: bool,
    pub headers: &'g [Header<'g>],
    /// The body's type, if there is a body.
    pub content_type: Option<&'g ContentType>,
}

/// The parts of a head that differ from request to request.
#[derive(Clone, Copy)]
pub struct Differing<'d> {
    pub method: &'d str,
    pub target: &'d str,
    pub cookies: Option<&'d str>,
    /// The length of the body in bytes.
    pub length: u64,
}

impl Differing<'_> {
    fn append(self, template: &HeadTemplate, out: &mut Vec<u8>) {
        template.append(self.method, self.target, self.cookies, self.length, out);
    }
}

pub struct Head {
    secure: bool,
    host: Box<str>,
    headers: Box<[Header<'static>]>,
    content_type: Option<ContentType>,
    asks_to_keep_alive: bool,
    template: HeadTemplate,
    last: LastHead,
    keep_alive: bool,
    misses: Misses,
}

/// The bytes of the last head without cookies. Most samplers send the very same head again.
#[derive(Default)]
struct LastHead {
    bytes: Vec<u8>,
    length: u64,
    misses: Misses,
}

impl LastHead {
    fn is_of(&self, differing: Differing<'_>) -> bool {
        let Differing {
            method,
            target,
            cookies,
            length,
        } = differing;
        let (space, version) = (method.len(), method.len() + 1 + target.len());
        cookies.is_none()
            && self.length == length
            && begins(&self.bytes, method)
            && self.bytes.get(space) == Some(&b' ')
            && begins(&self.bytes[space + 1..], target)
            && begins(&self.bytes[version..], " HTTP/")
    }

    fn keep(&mut self, differing: Differing<'_>, bytes: &[u8]) {
        self.misses.count_miss();
        // Other characters are not sent as the bytes that they are compared by.
        let is_plain = differing.method.is_ascii() && differing.target.is_ascii();
        if is_plain && differing.cookies.is_none() && self.misses.are_few() {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.length = differing.length;
        }
    }
}

/// Whether bytes begin with this text.
fn begins(bytes: &[u8], start: &str) -> bool {
    bytes.starts_with(start.as_bytes())
}

impl Head {
    /// The finished `head`, with slots for the differing parts.
    pub fn new(given: &Given<'_>, head: &RequestHead<'_>, misses: Misses) -> Head {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let headers = given.headers.iter();
        Head {
            secure: given.secure,
            host: given.host.into(),
            headers: headers
                .map(|header| Header::new(owned(&header.name), owned(&header.value)))
                .collect(),
            content_type: given.content_type.cloned(),
            asks_to_keep_alive: given.keep_alive,
            template: HeadTemplate::new(head),
            last: LastHead::default(),
            keep_alive: !head.asks_to_close(),
            misses,
        }
    }

    /// Appends the head to `out` if its fields are the given ones; returns whether the connection may be used again.
    pub fn append_if(
        &mut self,
        given: &Given<'_>,
        differing: Differing<'_>,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        if !self.is(given) {
            self.misses.count_miss();
            return None;
        }
        self.misses.count_hit();
        Some(self.append(differing, out))
    }

    pub fn append(&mut self, differing: Differing<'_>, out: &mut Vec<u8>) -> bool {
        if self.last.is_of(differing) {
            self.last.misses.count_hit();
            out.extend_from_slice(&self.last.bytes);
        } else {
            let start = out.len();
            differing.append(&self.template, out);
            self.last.keep(differing, &out[start..]);
        }
        self.keep_alive
    }

    pub fn misses(&self) -> Misses {
        self.misses
    }

    fn is(&self, given: &Given<'_>) -> bool {
        self.secure == given.secure
            && self.asks_to_keep_alive == given.keep_alive
            && *self.host == *given.host
            && *self.headers == *given.headers
            && self.content_type.as_ref() == given.content_type
    }
}
