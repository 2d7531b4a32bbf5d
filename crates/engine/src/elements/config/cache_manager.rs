//! HTTP Cache Manager (`CacheManager`): a cache of responses for each user.
//!
//! Properties: `clearEachIteration`, `useExpires`, `maxSize`, `CacheManager.controlledByThread`. Eviction is least
//! recently used; JMeter's library also weighs how often an entry was used.

use std::sync::Arc;

use drumfire_elements::config::cache_manager as facts;
use drumfire_java::Exception;
use drumfire_web::cache::{Cache, CacheSettings, CachedResponse};
use drumfire_web::headers::RequestHead;
use drumfire_web::response::ResponseHead;
use drumfire_web::url::Url;

use super::managers::{ClearPolicy, Manager, register};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::{Context, StateId};
use crate::run::roles::ThreadIterationListener;

/// `CacheManager.DEFAULT_MAX_SIZE`.
const DEFAULT_MAX_SIZE: i32 = 5_000;

pub struct CacheManager {
    state: StateId,
    settings: CacheSettings,
    clearing: ClearPolicy,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let methods = d.settings().properties.get("cacheable_methods");
    let methods = methods
        .as_deref()
        .unwrap_or("GET")
        .split([' ', ','])
        .map(str::to_owned)
        .collect();
    let manager = Arc::new(CacheManager {
        state: d.new_state(),
        settings: CacheSettings {
            use_expires: d.bool(facts::USE_EXPIRES.name, false),
            max_entries: usize::try_from(d.int(facts::MAX_SIZE.name, DEFAULT_MAX_SIZE))
                .unwrap_or(0),
            methods,
        },
        clearing: ClearPolicy::decode(
            d,
            facts::CLEAR_EACH_ITERATION.name,
            facts::CONTROLLED_BY_THREAD_GROUP.name,
        ),
    });
    register(d, Manager::Cache(manager.clone()));
    Roles {
        each_thread_iteration: Some(manager),
        ..Roles::default()
    }
}

impl CacheManager {
    /// The validators of a conditional request.
    pub fn validators(
        &self,
        cx: &mut Context,
        url: &Url,
        head: &RequestHead<'_>,
    ) -> Option<CachedResponse> {
        let headers: Vec<(&str, &str)> = head.iter().collect();
        cx.state::<Cache>(self.state, Cache::default)
            .validators(url.as_str(), headers.iter().copied())
            .cloned()
    }

    /// Whether the cached response is fresh, so that no request is needed.
    pub fn is_fresh(&self, cx: &mut Context, url: &Url, head: &RequestHead<'_>) -> bool {
        let now_ms = cx.clock().now_ms();
        let headers: Vec<(&str, &str)> = head.iter().collect();
        cx.state::<Cache>(self.state, Cache::default).is_fresh(
            url.as_str(),
            headers.iter().copied(),
            now_ms,
        )
    }

    /// Caches a response; `sent` are the request headers as the sample shows them.
    ///
    /// # Errors
    /// The exception of JMeter's sample when the response's caching headers cannot be read.
    pub fn save(
        &self,
        cx: &mut Context,
        method: &str,
        url: &Url,
        sent: &str,
        response: &ResponseHead<'_>,
    ) -> Result<(), Exception> {
        let now_ms = cx.clock().now_ms();
        let headers: Vec<(&str, &str)> = sent
            .lines()
            .filter_map(|line| line.split_once(": "))
            .collect();
        let settings = self.settings.clone();
        cx.state::<Cache>(self.state, Cache::default).save(
            &settings,
            method,
            url.as_str(),
            headers.iter().copied(),
            response,
            now_ms,
        )
    }
}

impl ThreadIterationListener for CacheManager {
    fn thread_iteration_start(&self, cx: &mut Context) {
        if self.clearing.is_due(cx) {
            cx.state::<Cache>(self.state, Cache::default).clear();
        }
    }
}
