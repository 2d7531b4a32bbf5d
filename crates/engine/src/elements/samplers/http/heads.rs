//! The header fields that each sampler sent last: most samplers send the same ones again and again but for cookies and length.

use std::borrow::Cow;
use std::cell::RefCell;

use drumfire_web::body::ContentType;
use drumfire_web::headers::{HeadTemplate, Header, RequestHead};
use rustc_hash::FxHashMap;

use super::HttpSampler;

/// A sampler whose fields, or settings, were others so much more often than the known ones is not learned from.
pub(super) const MOST_CHANGES: u8 = 4;

/// One worker's heads, by [`HttpSampler::place`].
#[derive(Default)]
pub struct Heads(RefCell<FxHashMap<usize, Known>>);

/// All that the fields of a sampler's requests depend on, besides cookies and length, where no proxy, cache or authorization has a
/// say in them.
#[derive(Clone, Copy)]
pub struct Given<'g> {
    pub secure: bool,
    pub host: &'g str,
    pub headers: &'g [Header<'g>],
    /// That of the body, if there is one.
    pub content_type: Option<&'g ContentType>,
}

/// What differs from request to request.
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

struct Known {
    secure: bool,
    host: Box<str>,
    headers: Box<[Header<'static>]>,
    content_type: Option<ContentType>,
    template: HeadTemplate,
    keep_alive: bool,
    /// How much more often the fields were others than these.
    changes: u8,
}

impl Known {
    fn is(&self, given: &Given<'_>) -> bool {
        self.secure == given.secure
            && *self.host == *given.host
            && *self.headers == *given.headers
            && self.content_type.as_ref() == given.content_type
    }
}

impl Heads {
    /// Appends the head to `out` if the sampler's fields are the known ones; says whether the connection may be used again.
    pub fn append(
        &self,
        sampler: &HttpSampler,
        given: &Given<'_>,
        differing: Differing<'_>,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let heads = &mut *self.0.borrow_mut();
        let known = heads.get_mut(&sampler.place())?;
        if !known.is(given) {
            known.changes = known.changes.saturating_add(1);
            return None;
        }
        known.changes = known.changes.saturating_sub(1);
        differing.append(&known.template, out);
        Some(known.keep_alive)
    }

    /// Whether fields that are not known are likely to come again.
    pub fn learns(&self, sampler: &HttpSampler, given: &Given<'_>) -> bool {
        let heads = self.0.borrow();
        let known = heads.get(&sampler.place());
        // the boundary of parts is a new one each time
        !matches!(given.content_type, Some(ContentType::Replace(_)))
            && known.is_none_or(|known| known.changes < MOST_CHANGES)
    }

    /// Takes note of a finished head, with slots for what differs, and appends it as [`Self::append`].
    pub fn learn(
        &self,
        sampler: &HttpSampler,
        given: &Given<'_>,
        head: &RequestHead<'_>,
        differing: Differing<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        let headers = given.headers.iter();
        let mut heads = self.0.borrow_mut();
        let changes = heads.get(&sampler.place()).map_or(0, |known| known.changes);
        let known = Known {
            secure: given.secure,
            host: given.host.into(),
            headers: headers
                .map(|header| Header::new(owned(&header.name), owned(&header.value)))
                .collect(),
            content_type: given.content_type.cloned(),
            template: HeadTemplate::new(head),
            keep_alive: !head.asks_to_close(),
            changes,
        };
        differing.append(&known.template, out);
        let keep_alive = known.keep_alive;
        heads.insert(sampler.place(), known);
        keep_alive
    }
}

#[cfg(test)]
mod tests {
    use drumfire_web::url::Url;

    use super::*;
    use crate::fixture;
    use crate::run::needs::Needs;

    const FIRST: Given<'static> = Given {
        secure: false,
        host: "h",
        headers: &[],
        content_type: None,
    };

    fn sampler() -> HttpSampler {
        let xml = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="h"/>"#;
        let (sampler, _) = fixture::decode(xml, |d| {
            super::super::decode(d, &[], Needs::default()).expect("it can be decoded")
        });
        sampler
    }

    const DIFFERING: Differing<'static> = Differing {
        method: "PUT",
        target: "/p",
        cookies: Some("a=1"),
        length: 7,
    };

    fn sent(heads: &Heads, sampler: &HttpSampler, given: &Given<'_>) -> Option<String> {
        let mut out = Vec::new();
        let keep_alive = heads.append(sampler, given, DIFFERING, &mut out)?;
        assert!(keep_alive);
        Some(String::from_utf8(out).expect("it is ASCII"))
    }

    fn learn(heads: &Heads, sampler: &HttpSampler, given: &Given<'_>) -> String {
        let url = Url::parse("http://h/").expect("it is an address");
        let mut head = RequestHead::new(&url, true, given.headers);
        head.cookie_slot();
        if let Some(content_type) = given.content_type {
            head.body_slot(content_type).expect("it may have a body");
        }
        head.finish(given.host, false, None);
        let mut out = Vec::new();
        assert!(heads.learn(sampler, given, &head, DIFFERING, &mut out));
        String::from_utf8(out).expect("it is ASCII")
    }

    #[test]
    fn fields_are_known_until_something_in_them_changes() {
        let (heads, sampler) = (Heads::default(), sampler());
        let (one, other) = ([Header::new("X", "1")], [Header::new("X", "2")]);
        let (set, entity) = (
            ContentType::Set("x/y".into()),
            ContentType::Entity("x/y".into()),
        );
        let with_body = |content_type| Given {
            content_type: Some(content_type),
            ..FIRST
        };
        let with_headers = |headers| Given { headers, ..FIRST };
        let all = [
            FIRST,
            Given {
                secure: true,
                ..FIRST
            },
            Given { host: "i", ..FIRST },
            with_headers(&one),
            with_headers(&other),
            with_body(&set),
            with_body(&entity),
        ];
        for given in &all {
            assert_eq!(sent(&heads, &sampler, given), None);
            let learned = learn(&heads, &sampler, given);
            assert_eq!(sent(&heads, &sampler, given), Some(learned));
        }
        learn(&heads, &sampler, &with_body(&set));
        assert_eq!(
            sent(&heads, &sampler, &with_body(&set)).as_deref(),
            Some(
                "PUT /p HTTP/1.1\r\nConnection: keep-alive\r\nCookie: a=1\r\nContent-Type: x/y\r\nContent-Length: 7\r\nHost: h\r\n\r\n"
            )
        );
    }

    #[test]
    fn a_sampler_whose_fields_always_change_is_not_learned_from() {
        let (heads, sampler) = (Heads::default(), sampler());
        let mut learned = 0;
        for n in 0..20 {
            let headers = [Header::new("X", n.to_string())];
            let given = Given {
                headers: &headers,
                ..FIRST
            };
            assert_eq!(sent(&heads, &sampler, &given), None);
            if heads.learns(&sampler, &given) {
                learn(&heads, &sampler, &given);
                learned += 1;
            }
        }
        assert_eq!(learned, i32::from(MOST_CHANGES));
        // Nor is one that has two in turns, after a while: the one that is known then stays so.
        let heads = Heads::default();
        let asked = |given: &Given<'_>| {
            let known = sent(&heads, &sampler, given).is_some();
            if !known && heads.learns(&sampler, given) {
                learn(&heads, &sampler, given);
            }
            known
        };
        let other = Given { host: "i", ..FIRST };
        let known: Vec<_> = (0..20).map(|_| (asked(&FIRST), asked(&other))).collect();
        assert!(known[10..].iter().all(|(first, other)| first != other));
        let parts = ContentType::Replace("multipart/form-data; boundary=1".into());
        let given = Given {
            content_type: Some(&parts),
            ..FIRST
        };
        assert!(!Heads::default().learns(&sampler, &given));
    }
}
