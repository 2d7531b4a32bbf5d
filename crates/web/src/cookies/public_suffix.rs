//! The domains for which no site may set a cookie, because anybody can register a name below them.

use std::collections::HashSet;
use std::sync::LazyLock;

static RULES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let file = include_str!("../../assets/public_suffixes.txt");
    file.lines()
        .filter(|line| !line.starts_with("//"))
        .collect()
});

/// Whether a registry registers names directly below this domain, which is in lower case. As in HttpClient's
/// `PublicSuffixMatcher.matches`, domains of hosting providers do not count.
pub fn contains(domain: &str) -> bool {
    let rules = &*RULES;
    if rules.contains(&*format!("!{domain}")) {
        return false;
    }
    let below_wildcard = |(_, parent)| rules.contains(&*format!("*.{parent}"));
    rules.contains(domain) || domain.split_once('.').is_some_and(below_wildcard)
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn registries_are_told_from_sites_and_from_hosting_providers() {
        for registry in ["com", "co.uk", "some.kawasaki.jp", "भारत", "xn--h2brj9c"] {
            assert!(contains(registry), "{registry}");
        }
        // `!city.kawasaki.jp` is an exception, and github.io is a provider's.
        for site in [
            "example.com",
            "city.kawasaki.jp",
            "github.io",
            "nosuchtld",
            "intranet",
        ] {
            assert!(!contains(site), "{site}");
        }
    }
}
