//! DNS Cache Manager (`DNSCacheManager`): addresses of hosts that the plan sets itself.
//!
//! Properties: `DNSCacheManager.hosts` (`StaticHost.Name`, `StaticHost.Address`), `DNSCacheManager.servers`,
//! `DNSCacheManager.isCustomResolver`. Name servers of the plan's own are not built: such a plan is refused.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_http::{StaticHosts, SystemResolver};
use drumfire_jmx::Value;

use crate::compile::{Decoder, Manager};
use crate::context::{Context, StateId};
use crate::elements::Roles;

pub struct DnsCacheManager {
    state: StateId,
    hosts: Vec<(Template, Template)>,
}

/// The user's connections know the hosts already.
struct Installed;

pub fn decode(d: &mut Decoder) -> Roles {
    let props = d.element.props.clone();
    let servers = props.list("DNSCacheManager.servers");
    if props.bool("DNSCacheManager.isCustomResolver", false) && !servers.is_empty() {
        let message = format!("DNS Cache Manager '{}' names its own name servers", d.element.name);
        d.refuse("dns-servers", message, "use the system's resolver, or static hosts");
        return Roles::default();
    }
    let mut hosts = Vec::new();
    for prop in props.list("DNSCacheManager.hosts") {
        let Value::Element(host) = &prop.value else { continue };
        hosts.push((d.compile(&host.props.str("StaticHost.Name")), d.compile(&host.props.str("StaticHost.Address"))));
    }
    let manager = Arc::new(DnsCacheManager { state: d.new_state(), hosts });
    d.register(Manager::Dns(manager));
    Roles::default()
}

impl DnsCacheManager {
    /// Lets the user's connections know the static hosts.
    pub fn install(&self, cx: &mut Context) {
        if self.hosts.is_empty() || cx.take_state::<Installed>(self.state).is_some() {
            cx.put_state(self.state, Box::new(Installed));
            return;
        }
        cx.put_state(self.state, Box::new(Installed));
        let table: Vec<(String, Vec<IpAddr>)> = self
            .hosts
            .iter()
            .map(|(name, addresses)| {
                let name = name.eval(cx).into_string();
                let addresses = addresses.eval(cx);
                (name, addresses.split(',').filter_map(|address| address.trim().parse().ok()).collect())
            })
            .collect();
        let resolver = StaticHosts::new(table, SystemResolver::new());
        cx.http.session.set_resolver(Some(Rc::new(resolver)));
    }
}
