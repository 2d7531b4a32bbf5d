//! DNS Cache Manager (`DNSCacheManager`): the plan's own host addresses and name servers.
//!
//! Properties: `DNSCacheManager.hosts` (`StaticHost.Name`, `StaticHost.Address`: addresses or names, separated by commas),
//! `DNSCacheManager.isCustomResolver` with `DNSCacheManager.servers` (asked in turn, for A records only),
//! `DNSCacheManager.clearEachIteration`. Each user caches its lookups until the run ends.
//!
//! With such servers a domain that is an IP address is looked up, too, and not found. The implementation `Java` ignores this
//! element.
//!
//! Difference: the system's search list is not tried.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;

use drumfire_elements::config::dns_cache_manager as facts;
use drumfire_elements::items;
use drumfire_expr::Template;
use drumfire_http::{FailureKind, Resolver, Resolving, SystemResolver};
use drumfire_java::JvmDefaults;
use drumfire_jmx::Value;

use super::managers::{Manager, register};
use super::name_servers::NameServers;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::setting::Flag;
use crate::elements::samplers::http::settings::name_rules;
use crate::elements::samplers::http::state::user;
use crate::run::context::{Context, StateId};
use crate::run::roles::ThreadIterationListener;

pub struct DnsCacheManager {
    state: StateId,
    hosts: Vec<(Template, Template)>,
    servers: Vec<Template>,
    is_custom: Flag,
    clears: Flag,
}

/// The resolver that the user's connections use.
type Installed = Rc<UserResolver>;

/// The port of name servers.
const DNS_PORT: u16 = 53;

pub fn decode(d: &mut Decoder) -> Roles {
    let props = d.element.props.clone();
    let servers = props
        .list(facts::SERVERS.name)
        .iter()
        .map(|server| d.compile(&server.value.as_str()))
        .collect();
    let mut hosts = Vec::new();
    for prop in props.list(facts::HOSTS.name) {
        let Value::Element(host) = &prop.value else {
            continue;
        };
        hosts.push((
            d.compile(&host.props.str(items::HOST_NAME.name)),
            d.compile(&host.props.str(items::HOST_ADDRESS.name)),
        ));
    }
    let manager = Arc::new(DnsCacheManager {
        state: d.new_state(),
        hosts,
        servers,
        is_custom: Flag::decode(d, facts::IS_CUSTOM_RESOLVER.name, false),
        clears: Flag::decode(d, facts::CLEAR_EACH_ITERATION.name, false),
    });
    register(d, Manager::Dns(manager.clone()));
    Roles {
        each_thread_iteration: Some(manager),
        ..Roles::default()
    }
}

impl DnsCacheManager {
    /// Makes the user's next connections use the plan's hosts and name servers.
    pub fn install(&self, cx: &mut Context) {
        let resolver = match cx.take_state::<Installed>(self.state) {
            Some(installed) => installed,
            None => Box::new(Rc::new(self.resolver(cx))),
        };
        let shared_resolver = Rc::clone(&resolver);
        user(cx).joint.session.set_resolver(Some(shared_resolver));
        cx.put_state(self.state, resolver);
    }

    fn resolver(&self, cx: &mut Context) -> UserResolver {
        let hosts = self
            .hosts
            .iter()
            .map(|(name, addresses)| {
                let name = name.eval(cx).into_string();
                let addresses = addresses.eval(cx);
                (
                    name,
                    addresses
                        .split(',')
                        .map(|address| address.trim().to_owned())
                        .collect(),
                )
            })
            .collect();
        let is_custom = self.is_custom.get(cx) && !self.servers.is_empty();
        let servers = is_custom.then(|| {
            self.servers
                .iter()
                .map(|server| server.eval(cx).into_string())
                .collect()
        });
        UserResolver {
            cache: RefCell::default(),
            hosts,
            servers,
            port: DNS_PORT,
            dns: OnceCell::new(),
            system: SystemResolver::new(name_rules(
                &cx.shared.properties,
                JvmDefaults::of_process(),
            )),
        }
    }
}

impl ThreadIterationListener for DnsCacheManager {
    /// `DNSCacheManager#testIterationStart`.
    fn thread_iteration_start(&self, cx: &mut Context) {
        if self.clears.get(cx)
            && let Some(resolver) = cx.take_state::<Installed>(self.state)
        {
            resolver.cache.borrow_mut().clear();
            cx.put_state(self.state, resolver);
        }
    }
}

/// How one user finds addresses (`DNSCacheManager#resolve`).
struct UserResolver {
    cache: RefCell<HashMap<String, Vec<IpAddr>>>,
    hosts: Vec<(String, Vec<String>)>,
    /// The plan's name servers, if they are to be used.
    servers: Option<Vec<String>>,
    /// The port of the servers: [`DNS_PORT`] except in tests.
    port: u16,
    /// Made by the first lookup; `None` if a server has no address.
    dns: OnceCell<Option<NameServers>>,
    system: SystemResolver,
}

impl Resolver for UserResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            if let Some(addresses) = self.cache.borrow().get(host) {
                return Ok(addresses.clone());
            }
            let is_static = self
                .hosts
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(host));
            let addresses = if is_static {
                self.static_addresses(host).await
            } else {
                self.look_up(host).await?
            };
            self.cache
                .borrow_mut()
                .insert(host.to_owned(), addresses.clone());
            Ok(addresses)
        })
    }
}

impl UserResolver {
    /// `DNSCacheManager#fromStaticHost`: compares the name with its case, unlike the check whether there is an entry.
    async fn static_addresses(&self, host: &str) -> Vec<IpAddr> {
        let Some((_, addresses)) = self.hosts.iter().find(|(name, _)| name == host) else {
            return Vec::new();
        };
        let mut parsed = Vec::new();
        for address in addresses {
            match address.parse() {
                Ok(literal) => parsed.push(literal),
                Err(_) => parsed.extend(self.look_up(address).await.unwrap_or_default()),
            }
        }
        parsed
    }

    /// `DNSCacheManager#requestLookup`.
    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, FailureKind> {
        let Some(servers) = &self.servers else {
            return match host.parse() {
                Ok(address) => Ok(vec![address]),
                Err(_) => self.system.resolve(host).await,
            };
        };
        let dns = self
            .dns
            .get_or_init(|| name_servers(servers, self.port))
            .as_ref()
            .ok_or(FailureKind::UnknownHost)?;
        let addresses = dns.addresses(host).await;
        if addresses.is_empty() {
            return Err(FailureKind::UnknownToNameServers);
        }
        Ok(addresses.into_iter().map(IpAddr::V4).collect())
    }
}

/// `DNSCacheManager#createResolver`: the servers are asked in turn. `None` if one of them has no address.
fn name_servers(servers: &[String], port: u16) -> Option<NameServers> {
    let mut addresses = Vec::new();
    for server in servers {
        let Some(address) = address_of(server) else {
            tracing::warn!("Failed to create Extended resolver: {server}");
            return None;
        };
        addresses.push(SocketAddr::new(address, port));
    }
    Some(NameServers::new(addresses))
}

/// Java's `InetAddress#getByName`, which takes an empty name for this machine.
fn address_of(server: &str) -> Option<IpAddr> {
    if server.is_empty() {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let mut addresses = (server, DNS_PORT).to_socket_addrs().ok()?;
    addresses.next().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use std::net::UdpSocket;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// A name server that only knows `known.test`, and the number of its queries.
    fn name_server() -> (u16, Arc<AtomicUsize>) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a free port");
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("the time is not zero");
        let port = socket.local_addr().expect("it is bound").port();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((len, from)) = socket.recv_from(&mut buffer) {
                counted.fetch_add(1, Ordering::Relaxed);
                let _ = socket.send_to(&answer(&buffer[..len]), from);
            }
        });
        (port, count)
    }

    fn answer(query: &[u8]) -> Vec<u8> {
        let end = 12
            + query[12..]
                .iter()
                .position(|byte| *byte == 0)
                .expect("a name ends with 0")
            + 5;
        let known = query[12..]
            .to_ascii_lowercase()
            .starts_with(b"\x05known\x04test\0");
        let mut out = query[..2].to_vec();
        out.extend(if known {
            [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
        } else {
            [0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]
        });
        out.extend(&query[12..end]);
        if known {
            out.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 7]);
        }
        out
    }

    fn installed(
        port: u16,
        properties: &str,
    ) -> (Arc<dyn ThreadIterationListener>, Rc<UserResolver>, Context) {
        let xml = format!(
            r#"<DNSCacheManager guiclass="DNSCachePanel" testclass="DNSCacheManager" testname="d">{properties}</DNSCacheManager>"#
        );
        let mut manager = None;
        let (roles, mut cx) = fixture::decode(&xml, |d| {
            let roles = decode(d);
            manager = super::super::managers::manager(d, d.element.id);
            roles
        });
        let Some(Manager::Dns(manager)) = manager else {
            panic!("the manager is registered")
        };
        let listener = roles.each_thread_iteration.expect("it listens");
        listener.thread_iteration_start(&mut cx);
        let resolver = UserResolver {
            port,
            ..manager.resolver(&mut cx)
        };
        cx.put_state::<Installed>(manager.state, Box::new(Rc::new(resolver)));
        manager.install(&mut cx);
        let resolver = cx
            .take_state::<Installed>(manager.state)
            .expect("it is installed");
        cx.put_state(manager.state, resolver.clone());
        (listener, *resolver, cx)
    }

    fn with_server(address: &str, more: &str) -> String {
        format!(
            r#"<boolProp name="DNSCacheManager.isCustomResolver">true</boolProp>
            <collectionProp name="DNSCacheManager.servers"><stringProp name="1">{address}</stringProp></collectionProp>{more}"#
        )
    }

    #[tokio::test]
    async fn name_servers_of_the_plan_are_asked_once() {
        let (port, asked) = name_server();
        let (listener, resolver, mut cx) = installed(port, &with_server("127.0.0.1", ""));
        for _ in 0..2 {
            assert_eq!(
                resolver.resolve("known.test").await.expect("it is known"),
                ["127.0.0.7".parse::<IpAddr>().expect("an address")]
            );
            listener.thread_iteration_start(&mut cx);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        for unknown in ["other.test", "127.0.0.1"] {
            let failure = resolver.resolve(unknown).await.expect_err("it is unknown");
            assert!(matches!(failure, FailureKind::UnknownToNameServers));
        }
    }

    #[tokio::test]
    async fn each_iteration_may_ask_again() {
        let (port, asked) = name_server();
        let clear = r#"<boolProp name="DNSCacheManager.clearEachIteration">true</boolProp>"#;
        let (listener, resolver, mut cx) = installed(port, &with_server("", clear));
        for _ in 0..2 {
            resolver.resolve("known.test").await.expect("it is known");
            listener.thread_iteration_start(&mut cx);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn static_hosts_come_first_in_their_own_spelling() {
        let hosts = r#"<collectionProp name="DNSCacheManager.hosts"><elementProp name="A" elementType="StaticHost">
            <stringProp name="StaticHost.Name">Some.Host</stringProp><stringProp name="StaticHost.Address">10.0.0.1 , localhost</stringProp></elementProp></collectionProp>"#;
        let (_, resolver, _) = installed(DNS_PORT, hosts);
        let found = resolver.resolve("Some.Host").await.expect("it is static");
        assert_eq!(
            found[..2],
            [
                "10.0.0.1".parse::<IpAddr>().expect("an address"),
                "127.0.0.1".parse().expect("an address")
            ]
        );
        assert!(
            resolver
                .resolve("some.host")
                .await
                .expect("it is static")
                .is_empty()
        );
    }
}
