//! The changes that settle advice.

/// Advice that setting one property settles: the rule, the properties that may hold it, and the value.
pub const SETTINGS: &[(&str, &[&str], &str)] = &[
    ("keep-alive-off", &["HTTPSampler.use_keepalive"], "true"),
    (
        "xpath-tolerant",
        &["XPathExtractor.tolerant", "XPath.tolerant"],
        "false",
    ),
    ("script-uncached", &["cacheKey"], "true"),
];

/// Rules about elements that do nothing useful. Disabling such an element does not change the plan's behaviour.
pub const NEEDLESS: &[&str] = &[
    "listener-without-file",
    "extractor-unread",
    "assertion-matches-anything",
    "module-with-nothing",
    "never-entered",
];
