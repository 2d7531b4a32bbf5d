//! A cache, per worker, of regular expressions that are only known at run time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use drumfire_query::regex::{Dialect, Pattern, PatternError, RegexOptions};

/// JMeter's own cache (`JMeterUtils.getPatternCache`) holds 1000 patterns.
const CAPACITY: usize = 1000;

type Cache = HashMap<(Dialect, Box<str>), Arc<Pattern>>;

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// The compiled form of `text`, cached.
pub(crate) fn compiled(text: &str, dialect: Dialect) -> Result<Arc<Pattern>, PatternError> {
    CACHE.with_borrow_mut(|cache| {
        let key = (dialect, Box::from(text));
        if let Some(pattern) = cache.get(&key) {
            return Ok(pattern.clone());
        }
        let pattern = Arc::new(Pattern::compile(text, dialect, RegexOptions::default())?);
        if cache.len() >= CAPACITY {
            cache.clear();
        }
        cache.insert(key, pattern.clone());
        Ok(pattern)
    })
}
