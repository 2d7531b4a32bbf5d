//! The demands of a plan on its machine, as far as its file shows them.

use std::net::IpAddr;

use drumfire_elements::shared::http;
use drumfire_jmx::{Node, Tree};
use serde::Serialize;

use super::java_runs::{JavaRuns, java_runs};
use crate::elements::samplers::http::source::source_addresses;
use crate::run::program::{GroupKind, Program};

/// The demands that `drumfire doctor` compares with the machine's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineDemand {
    /// The largest number of users that run at the same time.
    pub users: u64,
    /// Whether requests or iterations begin with new connections: a request without keep-alive, or
    /// `httpclient.reset_state_on_thread_group_iteration` and a thread group whose iterations are not the same user.
    pub new_connections: bool,
    /// Whether a request uses HTTPS.
    pub tls: bool,
    /// Whether every host that requests name is this machine.
    pub loopback: bool,
    /// Hosts that requests name, with the port where there is one, as the plan has them.
    pub targets: Vec<String>,
    /// Samplers, each counted once.
    pub samplers: u64,
    /// How often Java code runs if each sampler runs once.
    pub java_runs: JavaRuns,
    /// Source addresses that a request's connections may use (`HTTPSampler.ipSource`), at least 1.
    pub source_addresses: u64,
}

/// Computes the demand of a compiled plan. `tree` is what it was compiled from.
pub fn demand(tree: &Tree, program: &Program) -> MachineDemand {
    let running = |kind: GroupKind| {
        let users = program
            .groups
            .iter()
            .filter(move |group| group.kind == kind)
            .map(|group| u64::from(group.shape.users()));
        if program.serialized {
            users.max().unwrap_or(0)
        } else {
            users.sum()
        }
    };
    let mut hosts = Hosts {
        tls: false,
        loopback: true,
        targets: Vec::new(),
        sources: 1,
        closes: false,
    };
    tree.roots.iter().for_each(|root| hosts.visit(root));
    let resets = program
        .settings
        .properties
        .get_bool("httpclient.reset_state_on_thread_group_iteration", true);
    let (samplers, java_runs) = java_runs(tree);
    MachineDemand {
        samplers,
        java_runs,
        users: [GroupKind::SetUp, GroupKind::Main, GroupKind::TearDown]
            .map(running)
            .into_iter()
            .max()
            .unwrap_or(0),
        new_connections: hosts.closes
            || resets && program.groups.iter().any(|group| !group.same_user),
        tls: hosts.tls,
        loopback: hosts.loopback,
        targets: hosts.targets,
        source_addresses: hosts.sources,
    }
}

struct Hosts {
    tls: bool,
    loopback: bool,
    targets: Vec<String>,
    sources: u64,
    /// A request switches keep-alive off.
    closes: bool,
}

impl Hosts {
    fn visit(&mut self, node: &Node) {
        if !node.enabled {
            return;
        }
        let text = |name: &str| node.props.str(name);
        self.tls |= text(http::PROTOCOL.name).eq_ignore_ascii_case("https");
        self.closes |= node.props.has(http::USE_KEEPALIVE.name)
            && !node.props.bool(http::USE_KEEPALIVE.name, true);
        let host = text(http::DOMAIN.name);
        self.loopback &= host.is_empty() || is_loopback(&host);
        let target = match &*text(http::PORT.name) {
            "" => host.into_owned(),
            port => format!("{host}:{port}"),
        };
        if !target.is_empty() && !target.starts_with(':') && !self.targets.contains(&target) {
            self.targets.push(target);
        }
        self.sources = self
            .sources
            .max(source_addresses(&text(http::IP_SOURCE.name)));
        node.children.iter().for_each(|child| self.visit(child));
    }
}

/// A host that is known only at run time (`${host}`) may be anywhere.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_only_the_run_knows_may_be_anywhere() {
        for host in ["localhost", "127.0.0.1", "127.8.0.1", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["example.org", "10.0.0.1", "${host}"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn users_connections_and_tls_are_read_off_the_plan() {
        let plan = |same_user: bool, host: &str, protocol: &str| {
            drumfire_testkit::plans::plan(&format!(
                r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="a"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp></elementProp><stringProp name="ThreadGroup.num_threads">30</stringProp><boolProp name="ThreadGroup.same_user_on_next_iteration">{same_user}</boolProp></ThreadGroup><hashTree>
<HTTPSamplerProxy guiclass="HTTPSamplerProxyGui" testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.domain">{host}</stringProp><stringProp name="HTTPSampler.protocol">{protocol}</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree><ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="b"><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp></elementProp><stringProp name="ThreadGroup.num_threads">12</stringProp></ThreadGroup><hashTree/>"#
            ))
        };
        let of = |text: String| {
            let tree = drumfire_jmx::read(text.as_bytes(), "p.jmx".as_ref())
                .expect("it is a plan")
                .tree;
            let settings = crate::RunSettings::default().into();
            let program = crate::compile(tree.clone(), settings)
                .unwrap_or_else(|faults| panic!("{faults:?}"))
                .plan
                .program;
            demand(&tree, &program)
        };
        assert_eq!(
            of(plan(false, "127.0.0.1", "https")),
            MachineDemand {
                users: 42,
                new_connections: true,
                tls: true,
                loopback: true,
                targets: vec!["127.0.0.1".to_owned()],
                samplers: 1,
                java_runs: JavaRuns::default(),
                source_addresses: 1,
            }
        );
        let elsewhere = of(plan(true, "example.org", ""));
        assert!(!elsewhere.tls && !elsewhere.loopback && !elsewhere.new_connections);
        let closing = plan(true, "example.org", "").replace(
            "</HTTPSamplerProxy>",
            r#"<boolProp name="HTTPSampler.use_keepalive">false</boolProp></HTTPSamplerProxy>"#,
        );
        assert!(of(closing).new_connections);
    }
}
