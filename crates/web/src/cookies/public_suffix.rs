//! The domains for which no site may set a cookie, because anybody can register a name below them.

use std::collections::HashSet;
use std::sync::LazyLock;

#[derive(Default)]
struct Rules {
    /// Registries.
    registries: HashSet<&'static str>,
    /// Domains of which every subdomain is a registry (`*.kawasaki.jp`).
    parents: HashSet<&'static str>,
    /// Subdomains of parents that are sites (`!city.kawasaki.jp`).
    sites: HashSet<&'static str>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let file = include_str!("../../assets/public_suffixes.txt");
    let mut rules = Rules::default();
    for line in file.lines().filter(|line| !line.starts_with("//")) {
        if let Some(parent) = line.strip_prefix("*.") {
            rules.parents.insert(parent);
        } else if let Some(site) = line.strip_prefix('!') {
            rules.sites.insert(site);
        } else {
            rules.registries.insert(line);
        }
    }
    rules
});

/// Whether a registry registers names directly below this domain, which is in lower case. As in HttpClient's
/// `PublicSuffixMatcher.matches`, domains of hosting providers do not count.
pub fn contains(domain: &str) -> bool {
    let rules = &*RULES;
    !rules.sites.contains(domain)
        && (rules.registries.contains(domain)
            || domain
                .split_once('.')
                .is_some_and(|(_, parent)| rules.parents.contains(parent)))
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
