//! The HTTP cache of one user: `CacheManager`. It stores validators and expiry times, never bodies.

use std::collections::HashMap;
use std::rc::Rc;

use crate::http_date;
use crate::response::ResponseHead;
use drumfire_java::Exception;
use drumfire_java::text::is_blank;

/// The settings of the cache in the plan and in JMeter's properties.
#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// `useExpires`: honour `Cache-Control` and `Expires`; without it responses are only revalidated.
    pub use_expires: bool,
    /// `maxSize` (default 5000 entries); an address with `Vary` counts as two.
    pub max_entries: usize,
    /// The property `cacheable_methods` (default `GET`).
    pub methods: Vec<String>,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            use_expires: false,
            max_entries: 5000,
            methods: vec!["GET".to_owned()],
        }
    }
}

impl CacheSettings {
    fn caches_method(&self, method: &str) -> bool {
        self.methods
            .iter()
            .any(|own| own.eq_ignore_ascii_case(method))
    }
}

/// How a sampler reports a cache hit on a fresh resource (the property `cache_manager.cached_resource_mode`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CachedMode {
    /// `RETURN_NO_SAMPLE`: no sample at all. The default.
    #[default]
    NoSample,
    /// `RETURN_200_CACHE`: a successful sample, code 200, with this message (property `RETURN_200_CACHE.message`,
    /// default `(ex cache)`).
    Ok {
        /// The response message.
        message: String,
    },
    /// `RETURN_CUSTOM_STATUS`: a successful sample with the code and message of the properties
    /// `RETURN_CUSTOM_STATUS.code` and `RETURN_CUSTOM_STATUS.message`.
    Custom {
        /// The response code.
        code: String,
        /// The response message.
        message: String,
    },
}

impl CachedMode {
    /// Response code and message of the sample for a cache hit; `None` for no sample.
    pub fn status(&self) -> Option<(&str, &str)> {
        match self {
            Self::NoSample => None,
            Self::Ok { message } => Some(("200", message)),
            Self::Custom { code, message } => Some((code, message)),
        }
    }
}

/// The cached values of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachedResponse {
    /// The value for `If-Modified-Since`.
    pub last_modified: Option<Box<str>>,
    /// The value for `If-None-Match`.
    pub etag: Option<Box<str>>,
    expires_ms: Option<i64>,
    vary: Option<Rc<str>>,
}

#[derive(Clone, Debug)]
struct CacheSlot {
    key: Rc<str>,
    entry: CachedResponse,
    used: u64,
}

/// The cache of one user. An empty cache allocates no memory; a full one evicts the least recently used entry.
///
/// JMeter's cache (Caffeine) also considers frequency, so it evicts in a different order.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    slots: Vec<CacheSlot>,
    index: HashMap<Rc<str>, usize>,
    clock: u64,
}

/// A request header as name and value.
pub type HeaderPair<'a> = (&'a str, &'a str);

impl Cache {
    /// Clears the cache (`CacheManager.clearCache`).
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Finds the entry whose validators are added to the request (`CacheManager.setHeaders`). `headers` are those of the
    /// request so far: connection and plan, without cookies.
    pub fn validators<'h>(
        &mut self,
        url: &str,
        headers: impl Iterator<Item = HeaderPair<'h>> + Clone,
    ) -> Option<&CachedResponse> {
        let at = self.find(url, headers)?;
        Some(&self.slots[at].entry)
    }

    /// Whether the cached response to a `GET` is still fresh (`CacheManager.inCache`). `now_ms` is in milliseconds since
    /// the epoch; `headers` are those of the request so far, including cookies.
    pub fn is_fresh<'h>(
        &mut self,
        url: &str,
        headers: impl Iterator<Item = HeaderPair<'h>> + Clone,
        now_ms: i64,
    ) -> bool {
        self.find(url, headers)
            .and_then(|at| self.slots[at].entry.expires_ms)
            .is_some_and(|expires_ms| expires_ms > now_ms)
    }

    /// `CacheManager.getEntry`: looks up by address and, if the response varied, by the values of those request headers.
    fn find<'h>(
        &mut self,
        url: &str,
        headers: impl Iterator<Item = HeaderPair<'h>> + Clone,
    ) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.touch(url)?;
        let Some(vary) = self.slots[at].entry.vary.clone() else {
            return Some(at);
        };
        self.touch(&vary_key(url, &vary, headers))
    }

    fn touch(&mut self, key: &str) -> Option<usize> {
        let at = *self.index.get(key)?;
        self.clock += 1;
        self.slots[at].used = self.clock;
        Some(at)
    }

    /// Caches a response (`CacheManager.saveDetails`). `sent_headers` are all headers of the request as JMeter shows
    /// them, without cookies.
    ///
    /// # Errors
    /// `NumberFormatException` if `max-age` is not a number: JMeter's sample fails with it.
    pub fn save<'h>(
        &mut self,
        settings: &CacheSettings,
        method: &str,
        url: &str,
        sent_headers: impl Iterator<Item = HeaderPair<'h>> + Clone,
        response: &ResponseHead<'_>,
        now_ms: i64,
    ) -> Result<(), Exception> {
        let cacheable_status = (200..300).contains(&response.status) || response.status == 304;
        if !cacheable_status || !settings.caches_method(method) {
            return Ok(());
        }
        let vary = response.last("Vary");
        if vary.as_deref() == Some("*") {
            return Ok(());
        }
        let [last_modified, expires, etag, cache_control] =
            ["Last-Modified", "Expires", "Etag", "Cache-Control"].map(|name| response.last(name));
        let present = [&last_modified, &expires, &etag, &cache_control];
        if !present
            .iter()
            .any(|value| value.as_deref().is_some_and(|text| !is_blank(text)))
        {
            return Ok(());
        }
        let mut entry = CachedResponse {
            last_modified: last_modified.as_deref().map(Into::into),
            etag: etag.as_deref().map(Into::into),
            ..CachedResponse::default()
        };
        if settings.use_expires {
            let control = cache_control.as_deref().unwrap_or("");
            if control.contains("no-store") {
                return Ok(());
            }
            let date = response.last("Date");
            let validity = Validity {
                control,
                expires: expires.as_deref(),
                last_modified: last_modified.as_deref(),
                date: date.as_deref(),
            };
            entry.expires_ms = validity.expires_ms(now_ms)?;
        }
        match vary {
            None => {
                // JMeter only computes missing entries, so an expired one is not replaced.
                if !self.index.contains_key(url) {
                    self.put(url, entry, settings.max_entries);
                }
            }
            Some(vary) => {
                let key = vary_key(url, &vary, sent_headers);
                let by_url = CachedResponse {
                    vary: Some((&*vary).into()),
                    ..entry.clone()
                };
                self.put(url, by_url, settings.max_entries);
                self.put(&key, entry, settings.max_entries);
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &str, entry: CachedResponse, max_entries: usize) {
        if let Some(at) = self.touch(key) {
            self.slots[at].entry = entry;
            return;
        }
        if max_entries == 0 {
            return;
        }
        while self.slots.len() >= max_entries {
            self.evict();
        }
        let key: Rc<str> = key.into();
        self.clock += 1;
        self.index.insert(Rc::clone(&key), self.slots.len());
        self.slots.push(CacheSlot {
            key,
            entry,
            used: self.clock,
        });
    }

    fn evict(&mut self) {
        let oldest = (0..self.slots.len()).min_by_key(|at| self.slots[*at].used);
        let Some(oldest) = oldest else { return };
        let gone = self.slots.swap_remove(oldest);
        self.index.remove(&gone.key);
        if let Some(moved) = self.slots.get(oldest) {
            self.index.insert(Rc::clone(&moved.key), oldest);
        }
    }
}

/// The headers that determine how long a response is fresh.
struct Validity<'a> {
    control: &'a str,
    expires: Option<&'a str>,
    last_modified: Option<&'a str>,
    date: Option<&'a str>,
}

const ONE_YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

impl Validity<'_> {
    /// `CacheManager.setCache` and what it calls: milliseconds since the epoch, `None` to revalidate every time.
    fn expires_ms(&self, now_ms: i64) -> Result<Option<i64>, Exception> {
        let by_header = self.expires.and_then(http_date::parse);
        if self.control.contains("no-cache") {
            return Ok(by_header);
        }
        if let Some((_, rest)) = self.control.split_once("max-age=") {
            let digits = rest.split([',', ' ']).next().unwrap_or("");
            let seconds: i64 = digits.parse().map_err(|_| {
                Exception::new(
                    "java.lang.NumberFormatException",
                    format!("For input string: \"{digits}\""),
                )
            })?;
            return Ok(Some(now_ms.wrapping_add(seconds.wrapping_mul(1000))));
        }
        if self.expires.is_some() {
            return Ok(by_header);
        }
        // A tenth of the resource's age, or a year if the age is unknown.
        let age_ms = match (
            self.date.filter(|d| !d.is_empty()),
            self.last_modified.filter(|m| !m.is_empty()),
        ) {
            (Some(date), Some(modified)) => unparsable(date)?.saturating_sub(unparsable(modified)?),
            _ => return Ok(Some(now_ms + ONE_YEAR_MS)),
        };
        // Math.round: a half goes up.
        Ok(Some(now_ms + (age_ms + 5).div_euclid(10)))
    }
}

/// JMeter treats an unreadable date as `null`, which makes its sample fail.
fn unparsable(date: &str) -> Result<i64, Exception> {
    http_date::parse(date)
        .ok_or_else(|| Exception::without_message("java.lang.NullPointerException"))
}

/// `CacheManager.varyUrl` with the values of the named headers, spelled as in the `Vary` header.
fn vary_key<'h>(
    url: &str,
    vary: &str,
    headers: impl Iterator<Item = HeaderPair<'h>> + Clone,
) -> String {
    let mut key = format!("vary-{vary}-");
    for name in vary.split(',').map(str::trim_start) {
        key.push_str(name);
        key.push('=');
        for (_, value) in headers.clone().filter(|(own, _)| *own == name) {
            key.push_str(value);
            key.push('\0');
        }
    }
    key.push('-');
    key.push_str(url);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 784_111_777_000;
    const URL: &str = "http://h/x";

    fn expires() -> CacheSettings {
        CacheSettings {
            use_expires: true,
            ..CacheSettings::default()
        }
    }

    fn save(
        cache: &mut Cache,
        settings: &CacheSettings,
        sent: &[HeaderPair<'_>],
        headers: &str,
    ) -> Result<(), Exception> {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}\r\n");
        let head = ResponseHead::parse(head.as_bytes()).unwrap();
        cache.save(settings, "GET", URL, sent.iter().copied(), &head, NOW)
    }

    fn fresh_until(headers: &str) -> Option<i64> {
        let mut cache = Cache::default();
        save(&mut cache, &expires(), &[], headers).unwrap();
        cache.slots.first().and_then(|slot| slot.entry.expires_ms)
    }

    #[test]
    fn validators_are_remembered_without_expiry() {
        let mut cache = Cache::default();
        let headers = "Etag: \"t\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: max-age=60\r\n";
        save(&mut cache, &CacheSettings::default(), &[], headers).unwrap();
        let none: [HeaderPair<'_>; 0] = [];
        let entry = cache.validators(URL, none.into_iter()).unwrap();
        assert_eq!(entry.etag.as_deref(), Some("\"t\""));
        assert_eq!(
            entry.last_modified.as_deref(),
            Some("Sun, 06 Nov 1994 08:49:37 GMT")
        );
        assert!(!cache.is_fresh(URL, none.into_iter(), NOW));
    }

    #[test]
    fn freshness_is_computed_as_in_jmeter() {
        assert_eq!(
            fresh_until("Cache-Control: public, max-age=60, x\r\n"),
            Some(NOW + 60_000)
        );
        assert_eq!(
            fresh_until("Cache-Control: max-age=1\r\nExpires: Sun, 06 Nov 1994 09:49:37 GMT\r\n"),
            Some(NOW + 1_000)
        );
        assert_eq!(
            fresh_until("Expires: Sun, 06 Nov 1994 09:49:37 GMT\r\n"),
            Some(NOW + 3_600_000)
        );
        assert_eq!(fresh_until("Expires: 0\r\nEtag: x\r\n"), None);
        assert_eq!(fresh_until("Cache-Control: no-cache\r\n"), None);
        assert_eq!(fresh_until("Etag: x\r\n"), Some(NOW + ONE_YEAR_MS));
        assert_eq!(
            fresh_until(
                "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nLast-Modified: Sun, 06 Nov 1994 08:48:37 GMT\r\n"
            ),
            Some(NOW + 6_000)
        );
    }

    #[test]
    fn some_responses_are_never_kept() {
        let mut cache = Cache::default();
        for headers in [
            "Cache-Control: no-store\r\nEtag: x\r\n",
            "Vary: *\r\nEtag: x\r\n",
            "X: 1\r\n",
            "Etag:  \r\n",
        ] {
            save(&mut cache, &expires(), &[], headers).unwrap();
            assert!(cache.is_empty(), "{headers}");
        }
        let head = ResponseHead::parse(b"HTTP/1.1 404 No\r\nEtag: x\r\n\r\n").unwrap();
        cache
            .save(&expires(), "GET", URL, [].into_iter(), &head, NOW)
            .unwrap();
        let head = ResponseHead::parse(b"HTTP/1.1 200 OK\r\nEtag: x\r\n\r\n").unwrap();
        cache
            .save(&expires(), "POST", URL, [].into_iter(), &head, NOW)
            .unwrap();
        assert!(cache.is_empty());
    }

    #[test]
    fn a_max_age_that_is_no_number_fails_the_sample() {
        let failure = save(
            &mut Cache::default(),
            &expires(),
            &[],
            "Cache-Control: max-age=60;x\r\n",
        )
        .unwrap_err();
        assert_eq!(
            failure.to_string(),
            "java.lang.NumberFormatException: For input string: \"60;x\""
        );
    }

    #[test]
    fn an_entry_stays_even_when_a_newer_response_comes() {
        let mut cache = Cache::default();
        save(
            &mut cache,
            &expires(),
            &[],
            "Etag: old\r\nCache-Control: max-age=1\r\n",
        )
        .unwrap();
        save(
            &mut cache,
            &expires(),
            &[],
            "Etag: new\r\nCache-Control: max-age=9\r\n",
        )
        .unwrap();
        assert_eq!(
            cache
                .validators(URL, [].into_iter())
                .unwrap()
                .etag
                .as_deref(),
            Some("old")
        );
        assert!(!cache.is_fresh(URL, [].into_iter(), NOW + 2_000));
    }

    #[test]
    fn varying_responses_depend_on_the_headers_of_the_plan() {
        let mut cache = Cache::default();
        let german = [("Accept-Language", "de")];
        let english = [("Accept-Language", "en")];
        let headers = "Vary: Accept-Language, X\r\nEtag: x\r\nCache-Control: max-age=60\r\n";
        save(&mut cache, &expires(), &german, headers).unwrap();
        assert!(cache.is_fresh(URL, german.into_iter(), NOW));
        assert!(!cache.is_fresh(URL, english.into_iter(), NOW));
        // JMeter checks before HttpClient adds its own headers, so a `Vary` on those never hits.
        let mut cache = Cache::default();
        let sent = [("User-Agent", "UA")];
        save(
            &mut cache,
            &expires(),
            &sent,
            "Vary: User-Agent\r\nCache-Control: max-age=60\r\n",
        )
        .unwrap();
        assert!(!cache.is_fresh(URL, [].into_iter(), NOW));
    }

    #[test]
    fn a_full_cache_drops_what_was_used_least_recently() {
        let settings = CacheSettings {
            max_entries: 2,
            ..CacheSettings::default()
        };
        let mut cache = Cache::default();
        let head = ResponseHead::parse(b"HTTP/1.1 200 OK\r\nEtag: x\r\n\r\n").unwrap();
        for url in ["a", "b"] {
            cache
                .save(&settings, "GET", url, [].into_iter(), &head, NOW)
                .unwrap();
        }
        assert!(cache.validators("a", [].into_iter()).is_some());
        cache
            .save(&settings, "GET", "c", [].into_iter(), &head, NOW)
            .unwrap();
        assert!(cache.validators("b", [].into_iter()).is_none());
        assert!(
            cache.validators("a", [].into_iter()).is_some()
                && cache.validators("c", [].into_iter()).is_some()
        );
    }

    #[test]
    fn modes_give_code_and_message() {
        assert_eq!(CachedMode::default().status(), None);
        assert_eq!(
            CachedMode::Ok {
                message: "(ex cache)".into()
            }
            .status(),
            Some(("200", "(ex cache)"))
        );
    }
}
