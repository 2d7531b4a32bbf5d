//! Caches the last settings, address and header fields of each sampler, for one worker.

mod address;
mod head;
mod misses;
mod settings;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};

use drumfire_expr::{Slot, Version};
use drumfire_java::Exception;
use drumfire_web::body::ContentType;
use drumfire_web::headers::RequestHead;
use drumfire_web::url::{SamplerAddress, Url};
use rustc_hash::FxHashMap;

use self::address::CacheAddress;
use self::head::Head;
use self::misses::Misses;
use self::settings::{CallMemo, LONGEST};
use super::call::HttpCall;
use super::key::Key;
use crate::run::context::Context;

pub use self::head::{Differing, Given};
pub use self::settings::Cached;

/// The maximum number of samplers whose settings are cached: a few MiB.
const MOST_SETTINGS: usize = 1_024;

/// One worker's cache.
#[derive(Default)]
pub struct SettingsCache {
    entries: RefCell<FxHashMap<Key, SamplerValues>>,
    /// The number of entries with settings.
    kept_settings: Cell<usize>,
}

/// The values of one sampler.
#[derive(Default)]
struct SamplerValues {
    settings: Option<CallMemo>,
    address: Option<CacheAddress>,
    address_misses: Misses,
    head: Option<Head>,
}

impl SettingsCache {
    /// The settings of the sampler's last sample, if evaluating them again would give the same.
    pub fn settings(&self, key: Key, cx: &Context) -> Cached {
        let mut entries = self.entries.borrow_mut();
        let settings = entries
            .get_mut(&key)
            .and_then(|entry| entry.settings.as_mut());
        settings
            .map(|settings| settings.get(cx))
            .unwrap_or(Cached::Miss)
    }

    /// Caches settings that were just evaluated with this version of the properties; `variables` returns those in them.
    pub fn keep_settings(
        &self,
        cx: &Context,
        version: Version,
        call: &HttpCall<'_>,
        variables: impl FnOnce() -> Option<Box<[Slot]>>,
    ) {
        let cached = if call.text_bytes() > LONGEST {
            None
        } else {
            let url = call.url(|target| self.address(call.key, target));
            url.ok().and_then(|url| call.kept(url))
        };
        let mut entries = self.entries.borrow_mut();
        let entry = entries.entry(call.key).or_default();
        if entry.settings.is_none() {
            if self.kept_settings.get() >= MOST_SETTINGS {
                return;
            }
            self.kept_settings.set(self.kept_settings.get() + 1);
        }
        let settings = entry
            .settings
            .get_or_insert_with(|| CallMemo::new(variables()));
        settings.keep(cx, version, cached);
    }

    /// The address with these parts; a new one if the sampler's last one had other parts.
    ///
    /// # Errors
    /// As [`SamplerAddress::url`].
    pub fn address(&self, key: Key, target: &SamplerAddress<'_>) -> Result<Url, Exception> {
        let mut entries = self.entries.borrow_mut();
        let entry = entries.entry(key).or_default();
        if let Some(url) = entry.address.as_ref().and_then(|known| known.of(target)) {
            entry.address_misses.count_hit();
            return Ok(url.clone());
        }
        let url = target.url()?;
        entry.address_misses.count_miss();
        if entry.address_misses.are_few() {
            let url = url.keeping_wire();
            entry.address = Some(CacheAddress::new(target, url.clone()));
            return Ok(url);
        }
        Ok(url)
    }

    /// Appends the sampler's head to `out` if its fields are the given ones; returns whether the connection may be used
    /// again.
    pub fn append_head(
        &self,
        key: Key,
        given: &Given<'_>,
        differing: Differing<'_>,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let mut entries = self.entries.borrow_mut();
        let head = entries.get_mut(&key)?.head.as_mut()?;
        head.append_if(given, differing, out)
    }

    /// Whether to cache header fields after a miss, because they are likely to come again.
    pub fn learns_head(&self, key: Key, given: &Given<'_>) -> bool {
        let entries = self.entries.borrow();
        let head = entries.get(&key).and_then(|entry| entry.head.as_ref());
        // a multipart boundary is new each time
        !matches!(given.content_type, Some(ContentType::Replace(_)))
            && head.is_none_or(|head| head.misses().are_few())
    }

    /// Caches a finished head, with slots for the differing parts, and appends it as [`Self::append_head`].
    pub fn keep_head(
        &self,
        key: Key,
        given: &Given<'_>,
        head: &RequestHead<'_>,
        differing: Differing<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let mut entries = self.entries.borrow_mut();
        let entry = entries.entry(key).or_default();
        let misses = entry.head.as_ref().map(Head::misses).unwrap_or_default();
        let mut head = Head::new(given, head, misses);
        let keep_alive = head.append(differing, out);
        entry.head = Some(head);
        keep_alive
    }
}
