//! Resolves names to addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, ToSocketAddrs};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

use crate::failure::FailureKind;

/// Resolves names for a user.
pub trait Resolver {
    /// The addresses of `host` in the order to try them. An empty list makes the exchange fail
    /// with `UnknownHost`.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// A lookup in progress.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, FailureKind>> + 'a>>;

/// A JVM's rules for the addresses of a name.
#[derive(Debug, Clone, Copy)]
pub struct NameRules {
    /// Which addresses are tried, and in which order.
    pub order: AddressOrder,
    /// How long found names are valid (`sun.net.inetaddr.ttl`, 30 s); `None` is forever.
    pub found: Option<Duration>,
}

/// The order of the addresses of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressOrder {
    /// IPv4 addresses precede IPv6 (`java.net.preferIPv6Addresses=false`).
    V4First,
    /// `java.net.preferIPv6Addresses=true`
    V6First,
    /// As the operating system gives them (`java.net.preferIPv6Addresses=system`).
    System,
    /// IPv6 addresses are left out (`java.net.preferIPv4Stack=true`).
    V4Only,
}

impl Default for NameRules {
    fn default() -> Self {
        NameRules {
            order: AddressOrder::V4First,
            found: Some(Duration::from_secs(30)),
        }
    }
}

impl AddressOrder {
    fn apply(self, addresses: &mut Vec<IpAddr>) {
        match self {
            AddressOrder::V4First => addresses.sort_by_key(IpAddr::is_ipv6),
            AddressOrder::V6First => addresses.sort_by_key(IpAddr::is_ipv4),
            AddressOrder::System => {}
            AddressOrder::V4Only => addresses.retain(IpAddr::is_ipv4),
        }
    }
}

/// The operating system's resolver behind a cache with the [rules](NameRules) of a JVM; failures are valid for 10 s.
///
/// Lookups run on the runtime's blocking threads. Users who need the same name at the same
/// time share one lookup.
#[derive(Default)]
pub struct SystemResolver {
    rules: NameRules,
    cache: RefCell<HashMap<Box<str>, ResolvedName>>,
}

struct ResolvedName {
    /// `None`: unknown host.
    addresses: Rc<OnceCell<Option<Vec<IpAddr>>>>,
    asked: Instant,
}

impl ResolvedName {
    fn is_fresh(&self, rules: NameRules) -> bool {
        const UNKNOWN: Duration = Duration::from_secs(10);
        let good_for = match self.addresses.get() {
            None | Some(Some(_)) => rules.found,
            Some(None) => Some(UNKNOWN),
        };
        good_for.is_none_or(|good_for| self.asked.elapsed() < good_for)
    }
}

/// Limit of cached names, so that a test with generated names does not exhaust memory.
const MAX_CACHED: usize = 10_000;

impl SystemResolver {
    /// A resolver with an empty cache.
    pub fn new(rules: NameRules) -> Self {
        Self {
            rules,
            cache: RefCell::default(),
        }
    }

    /// Clears the cache.
    pub fn clear(&self) {
        self.cache.borrow_mut().clear();
    }

    fn entry(&self, host: &str) -> Rc<OnceCell<Option<Vec<IpAddr>>>> {
        let mut cache = self.cache.borrow_mut();
        if let Some(entry) = cache.get(host).filter(|entry| entry.is_fresh(self.rules)) {
            return entry.addresses.clone();
        }
        if cache.len() >= MAX_CACHED {
            cache.retain(|_, entry| entry.is_fresh(self.rules));
        }
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        let addresses = Rc::new(OnceCell::new());
        let entry = ResolvedName {
            addresses: addresses.clone(),
            asked: Instant::now(),
        };
        cache.insert(host.into(), entry);
        addresses
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let cell = self.entry(host);
            let found = cell
                .get_or_init(|| look_up(host.to_owned(), self.rules.order))
                .await;
            found.clone().ok_or(FailureKind::UnknownHost)
        })
    }
}

async fn look_up(host: String, order: AddressOrder) -> Option<Vec<IpAddr>> {
    let looking = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs());
    let found = looking.await.ok()?.ok()?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found.map(|a| a.ip()) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    order.apply(&mut addresses);
    (!addresses.is_empty()).then_some(addresses)
}

impl<R: Resolver + ?Sized> Resolver for Rc<R> {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        (**self).resolve(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn ipv4_comes_first_and_each_address_once() {
        let found = look_up("localhost".into(), AddressOrder::V4First)
            .await
            .expect("it is always known");
        assert!(found.contains(&IpAddr::from([127, 0, 0, 1])));
        assert!(found.is_sorted_by_key(IpAddr::is_ipv6));
        let mut unique = found.clone();
        unique.dedup();
        assert_eq!(unique, found);
    }

    #[tokio::test]
    async fn answers_are_remembered_and_shared() {
        let resolver = SystemResolver::default();
        let (a, b) = (resolver.entry("shop.test"), resolver.entry("shop.test"));
        assert!(Rc::ptr_eq(&a, &b));
        let address = IpAddr::from([192, 0, 2, 1]);
        a.set(Some(vec![address])).expect("it is empty");
        let found = resolver.resolve("shop.test").await;
        assert_eq!(found.expect("it is remembered"), [address]);
        resolver.clear();
        assert!(resolver.entry("shop.test").get().is_none());
    }

    #[test]
    fn failures_are_forgotten_sooner() {
        let entry = |addresses, age_s| ResolvedName {
            addresses: Rc::new(OnceCell::new_with(Some(addresses))),
            asked: Instant::now() - Duration::from_secs(age_s),
        };
        let found = || Some(vec![IpAddr::from([192, 0, 2, 1])]);
        assert!(entry(found(), 29).is_fresh(NameRules::default()));
        assert!(!entry(found(), 30).is_fresh(NameRules::default()));
        assert!(entry(None, 9).is_fresh(NameRules::default()));
        assert!(!entry(None, 10).is_fresh(NameRules::default()));
        let always = NameRules {
            found: None,
            ..NameRules::default()
        };
        assert!(entry(found(), 30).is_fresh(always) && !entry(None, 10).is_fresh(always));
    }

    #[test]
    fn made_up_names_do_not_fill_the_memory() {
        let resolver = SystemResolver::default();
        for n in 0..=MAX_CACHED {
            resolver.entry(&n.to_string());
        }
        assert!(resolver.cache.borrow().len() <= MAX_CACHED);
    }
}
