//! The cookies of one user: `CookieManager` with `HC4CookieHandler`.
//!
//! Two oddities of JMeter: it refuses a cookie that arrives expired, but never drops a stored one that expires later. An
//! expiry of exactly the epoch counts as none.

mod public_suffix;
mod spec;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::url::Url;
use spec::{Arrived, CookieOrigin};

/// The cookie policies of the Cookie Manager (`CookieManager.policy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// `standard`: RFC 6265, relaxed. The default.
    #[default]
    Standard,
    /// `standard-strict`: RFC 6265, strict.
    StandardStrict,
    /// `ignoreCookies`: neither stores nor sends cookies.
    Ignore,
    /// `netscape`: the Netscape draft.
    Netscape,
    /// `default`, `best-match` and `compatibility`: Netscape or RFC 2109, depending on the cookie's form.
    BestMatch,
    /// `rfc2109`.
    Rfc2109,
    /// `rfc2965`: stores nothing, since it requires `Set-Cookie2`; sends the cookies of the plan.
    Rfc2965,
}

impl Policy {
    /// The policy with this name, ignoring case; `None` if JMeter fails on the name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" => Self::Standard,
            "standard-strict" => Self::StandardStrict,
            "ignorecookies" => Self::Ignore,
            "netscape" => Self::Netscape,
            "default" | "best-match" | "compatibility" => Self::BestMatch,
            "rfc2109" => Self::Rfc2109,
            "rfc2965" => Self::Rfc2965,
            _ => return None,
        })
    }
}

/// The settings of cookies in the plan and in JMeter's properties.
#[derive(Clone, Copy, Debug)]
pub struct CookieSettings {
    /// `CookieManager.policy`.
    pub policy: Policy,
    /// The property `CookieManager.check.cookies` (default true): refuse cookies that do not match the address.
    pub check: bool,
    /// The property `CookieManager.delete_null_cookies` (default true): an empty value deletes the cookie.
    pub delete_empty: bool,
    /// How many cookies a user may have. JMeter has no limit, so a server could fill its memory.
    pub most: usize,
}

impl Default for CookieSettings {
    fn default() -> Self {
        Self {
            policy: Policy::Standard,
            check: true,
            delete_empty: true,
            most: 3_000,
        }
    }
}

/// A cookie of the Cookie Manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: Box<str>,
    /// Its value.
    pub value: Box<str>,
    /// Its domain.
    pub domain: Box<str>,
    /// Its path.
    pub path: Box<str>,
    /// Whether it is sent only over `https`.
    pub secure: bool,
    /// Seconds since the epoch, 0 for none.
    pub expires_s: i64,
    /// Whether the cookie specified the path (`Cookie.path_specified`).
    pub path_specified: bool,
    /// Whether the cookie specified the domain (`Cookie.domain_specified`).
    pub domain_specified: bool,
    /// The version; cookies of the plan have 1 unless they specify another.
    pub version: i32,
}

impl Cookie {
    /// A new cookie replaces one with the same name, path and domain (`CookieManager.match`).
    fn key(&self) -> (&str, &str, &str) {
        (&self.name, &self.path, &self.domain)
    }
}

/// A cookie that a response stores or removes.
struct CookieChange {
    cookie: Cookie,
    is_kept: bool,
}

/// A user has more cookies than [`CookieSettings::most`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCookies;

/// The cookies of one user, in insertion order. An empty store allocates no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CookieStore {
    cookies: Vec<Cookie>,
}

impl CookieStore {
    /// A store with the cookies of the plan.
    pub fn new(initial: impl IntoIterator<Item = Cookie>) -> Self {
        Self {
            cookies: initial.into_iter().collect(),
        }
    }

    /// The cookies in order.
    pub fn cookies(&self) -> &[Cookie] {
        &self.cookies
    }

    /// The cookies for modification in place, if values of the plan contain variables
    /// (`CookieManager.allow_variable_cookies`).
    pub fn cookies_mut(&mut self) -> &mut [Cookie] {
        &mut self.cookies
    }

    fn remove_matching(&mut self, new: &Cookie) {
        self.cookies.retain(|own| own.key() != new.key());
    }

    /// Processes the `Set-Cookie` headers of a response (`HC4CookieHandler.addCookieFromHeader`). `now_ms` is in milliseconds
    /// since the epoch. `stored` receives every added cookie, for `CookieManager.save.cookies`.
    ///
    /// # Errors
    /// There are more cookies than [`CookieSettings::most`]; the last ones are dropped.
    pub fn add_from_headers<'h>(
        &mut self,
        settings: &CookieSettings,
        headers: impl IntoIterator<Item = Cow<'h, str>>,
        url: &Url,
        now_ms: i64,
        mut stored: impl FnMut(&Cookie),
    ) -> Result<(), TooManyCookies> {
        let Some(origin) = CookieOrigin::of(url) else {
            return Ok(());
        };
        let mut changes = Vec::new();
        for header in headers {
            for arrived in spec::parse(settings.policy, &header, &origin, now_ms) {
                if settings.check && !spec::is_valid(settings.policy, &arrived, &origin) {
                    continue;
                }
                let Arrived { cookie, expires_ms } = arrived;
                let expires_ms = expires_ms.unwrap_or(0);
                let is_live = expires_ms == 0 || expires_ms >= now_ms;
                let is_kept = is_live && !(settings.delete_empty && cookie.value.is_empty());
                if is_kept {
                    stored(&cookie);
                }
                changes.push(CookieChange { cookie, is_kept });
            }
        }
        self.apply(changes);
        if self.cookies.len() > settings.most {
            self.cookies.truncate(settings.most);
            return Err(TooManyCookies);
        }
        Ok(())
    }

    /// Applies changes in their order, as `CookieManager.add` and `removeMatchingCookies` do. A response with many would make a scan of the store for each too expensive, so
    /// the last change of each cookie is looked up first, and the store is scanned once.
    fn apply(&mut self, changes: Vec<CookieChange>) {
        const FEW: usize = 8;
        if changes.len() <= FEW {
            for CookieChange { cookie, is_kept } in changes {
                self.remove_matching(&cookie);
                if is_kept {
                    self.cookies.push(cookie);
                }
            }
            return;
        }
        let keys = changes.iter().map(|change| change.cookie.key());
        let last: HashMap<_, usize> = keys.zip(0..).collect();
        self.cookies.retain(|own| !last.contains_key(&own.key()));
        let is_last: Vec<bool> = (0..)
            .zip(&changes)
            .map(|(index, change)| last[&change.cookie.key()] == index)
            .collect();
        self.cookies.extend(
            changes
                .into_iter()
                .zip(is_last)
                .filter(|(change, is_last)| change.is_kept && *is_last)
                .map(|(change, _)| change.cookie),
        );
    }

    /// Writes the value of the `Cookie` header for an address (`HC4CookieHandler.getCookieHeaderForURL`). Returns false
    /// and writes nothing if no cookie matches. Only `out` allocates (except for `rfc2109` and related policies).
    pub fn append_header(&self, settings: &CookieSettings, url: &Url, out: &mut String) -> bool {
        if self.cookies.is_empty() {
            return false;
        }
        let Some(origin) = CookieOrigin::of(url) else {
            return false;
        };
        let start = out.len();
        let matching = || {
            self.cookies
                .iter()
                .filter(|cookie| spec::matches(settings.policy, cookie, &origin))
        };
        if matching().next().is_none() {
            return false;
        }
        match settings.policy {
            Policy::Standard | Policy::StandardStrict => spec::append_standard(matching, out),
            Policy::Netscape => spec::append_netscape(matching(), out),
            Policy::BestMatch => spec::append_best_match(matching, out),
            Policy::Rfc2109 | Policy::Rfc2965 => spec::append_versioned(matching(), true, out),
            Policy::Ignore => return false,
        }
        let end = out.trim_end_matches([' ', '\t']).len().max(start);
        out.truncate(end);
        true
    }

    /// The value of the `Cookie` header, if any cookie matches.
    pub fn header(&self, settings: &CookieSettings, url: &Url) -> Option<String> {
        let mut out = String::new();
        self.append_header(settings, url, &mut out).then_some(out)
    }
}

/// Converts to lower case; copies only if necessary.
fn lower(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .any(|b| b.is_ascii_uppercase() || !b.is_ascii())
    {
        Cow::Owned(text.to_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn plan_cookie(name: &str, value: &str, domain: &str, path: &str) -> Cookie {
        Cookie {
            name: name.into(),
            value: value.into(),
            domain: domain.into(),
            path: path.into(),
            secure: false,
            expires_s: 0,
            path_specified: true,
            domain_specified: true,
            version: 1,
        }
    }

    #[test]
    fn cookies_of_the_plan_are_sent_longest_path_first() {
        let store = CookieStore::new([
            plan_cookie("b", "2", "127.0.0.1", "/"),
            plan_cookie("a", "1 x", "127.0.0.1", "/p"),
        ]);
        let header = store.header(&CookieSettings::default(), &url("http://127.0.0.1:18761/p"));
        assert_eq!(header.as_deref(), Some("a=\"1 x\"; b=2"));
    }

    #[test]
    fn expired_cookies_are_sent_all_the_same() {
        let expired = Cookie {
            expires_s: 1,
            ..plan_cookie("a", "1", "h.com", "/")
        };
        let store = CookieStore::new([expired]);
        assert_eq!(
            store
                .header(&CookieSettings::default(), &url("http://h.com/"))
                .as_deref(),
            Some("a=1")
        );
    }

    #[test]
    fn unchecked_cookies_may_be_foreign_and_empty_ones_kept() {
        let settings = CookieSettings {
            check: false,
            delete_empty: false,
            ..CookieSettings::default()
        };
        let mut store = CookieStore::default();
        let mut seen = Vec::new();
        for header in ["n=v; domain=o.com", "e="] {
            let base = url("http://www.h.com/");
            let added =
                store.add_from_headers(&settings, [header.into()], &base, 1_000, |cookie| {
                    seen.push(cookie.name.to_string())
                });
            assert_eq!(added, Ok(()));
        }
        assert_eq!(seen, ["n", "e"]);
        assert_eq!(
            store.header(&settings, &url("http://o.com/")).as_deref(),
            Some("n=v")
        );
        assert_eq!(
            store
                .header(&settings, &url("http://www.h.com/"))
                .as_deref(),
            Some("e=")
        );
    }

    #[test]
    fn many_cookies_of_a_response_are_stored_as_one_after_the_other() {
        let base = url("http://h.com/");
        let settings = CookieSettings::default();
        let mut random = 7_u32;
        let headers: Vec<String> = (0..300)
            .map(|number| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let name = random >> 27;
                match random >> 8 & 3 {
                    0 => format!("n{name}=; Path=/"),
                    1 => format!("n{name}=x; Path=/; Max-Age=0"),
                    _ => format!("n{name}=v{number}; Path=/"),
                }
            })
            .collect();
        let one_by_one = |headers: &[String]| {
            let mut store = CookieStore::new([plan_cookie("n3", "0", "h.com", "/")]);
            for header in headers {
                let header = [header.into()];
                let added = store.add_from_headers(&settings, header, &base, 1_000, |_| {});
                assert_eq!(added, Ok(()));
            }
            store
        };
        for count in [9, 30, 300] {
            let mut store = CookieStore::new([plan_cookie("n3", "0", "h.com", "/")]);
            let headers = &headers[..count];
            let at_once = headers.iter().map(Cow::from);
            let added = store.add_from_headers(&settings, at_once, &base, 1_000, |_| {});
            assert_eq!(added, Ok(()));
            assert_eq!(store, one_by_one(headers));
        }
    }

    #[test]
    fn a_user_has_no_more_cookies_than_the_limit() {
        let settings = CookieSettings {
            most: 20,
            ..CookieSettings::default()
        };
        let mut store = CookieStore::default();
        let base = url("http://h.com/");
        let headers = (0..21).map(|number| Cow::from(format!("n{number}=v")));
        let added = store.add_from_headers(&settings, headers, &base, 1_000, |_| {});
        assert_eq!(added, Err(TooManyCookies));
        assert_eq!(store.cookies().len(), 20);
    }

    #[test]
    fn policies_have_names() {
        assert_eq!(Policy::from_name("ignoreCookies"), Some(Policy::Ignore));
        assert_eq!(Policy::from_name("Best-Match"), Some(Policy::BestMatch));
        assert_eq!(Policy::from_name("other"), None);
    }

    #[test]
    fn an_empty_store_is_small() {
        assert_eq!(size_of::<CookieStore>(), 24);
    }
}
