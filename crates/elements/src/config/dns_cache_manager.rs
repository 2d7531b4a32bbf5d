//! DNS Cache Manager.

use crate::form::{ElementFacts, Property, Role, flag, items, list};
use crate::items;

pub const CLASS: &str = "DNSCacheManager";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "DNS Cache Manager", "DNSCachePanel")
        .help("Gives hosts addresses of the plan, and asks name servers of the plan.")
        .fields(&[CLEAR_EACH_ITERATION, IS_CUSTOM_RESOLVER, SERVERS, HOSTS]);

pub const CLEAR_EACH_ITERATION: Property = flag("DNSCacheManager.clearEachIteration")
    .label("Clear cache each iteration")
    .default("true")
    .help("Forgets addresses before each iteration.");

pub const IS_CUSTOM_RESOLVER: Property = flag("DNSCacheManager.isCustomResolver")
    .label("Use custom DNS resolver")
    .default("false")
    .help("Asks the servers and hosts below instead of the system.");

pub const SERVERS: Property = list("DNSCacheManager.servers")
    .label("DNS Servers")
    .help("Lists name servers.");

pub const HOSTS: Property = items("DNSCacheManager.hosts", &items::STATIC_HOST)
    .label("Static Hosts")
    .help("Lists hosts with their addresses.");
