//! JMeter's remote testing: `-r`, `-R`, `-X`, `-s` and their properties. Agents take the place of JMeter's servers; its hosts are
//! the names of agents or of their machines.

use drumfire_fleet::{Hosts, Selection, agent_name};
use drumfire_jmx::JMETER_DEFAULTS;

use crate::agent::arguments::AgentArguments;
use crate::fleet::arguments::FleetOptions;
use crate::fleet::arguments::{LinkOptions, nats_of_environment};
use crate::refusal::Refusal;
use crate::settings::authorities::TLS_CA;
use crate::settings::options::PropertyOptions;
use crate::settings::properties::RunProperties;
use crate::terminal::format::counted;

/// JMeter's own pause between two attempts to reach a server, in milliseconds.
const RETRIES_DELAY_MS: u64 = 5_000;
/// The system property with the host name of a JMeter server.
const HOSTNAME: &str = "java.rmi.server.hostname";
/// The default port of JMeter's servers, which is not part of an agent's name.
const SERVER_PORT: &str = "1099";
/// The properties for the address of NATS, its credentials, its certificate authority and the key that signs plans. JMeter's
/// command line has no options for these.
const NATS: [&str; 4] = [
    "drumfire.nats",
    "drumfire.nats_creds",
    "drumfire.nats_ca",
    "drumfire.sign",
];
/// The property for the keys that an agent trusts, separated by commas.
const TRUST: &str = "drumfire.trust";

/// How samples reach the client: JMeter's modes (`SampleSenderFactory`) and what happens here instead.
const MODES: [(&str, &str); 10] = [
    ("Standard", "-l has every row"),
    ("Batch", "-l has every row"),
    (
        "Statistical",
        "-l has every row; --rows none leaves rows out",
    ),
    (
        "Stripped",
        "-l has every row; response data stays if it is saved",
    ),
    (
        "StrippedBatch",
        "-l has every row; response data stays if it is saved",
    ),
    ("Asynch", "-l has every row, and no user waits for a queue"),
    (
        "StrippedAsynch",
        "-l has every row, and no user waits for a queue",
    ),
    (
        "DiskStore",
        "rows wait on the agents' disks, as they do in this mode",
    ),
    (
        "StrippedDiskStore",
        "rows wait on the agents' disks, as they do in this mode",
    ),
    ("Hold", "rows wait on the agents' disks, not in memory"),
];

/// The options of a run on remote hosts, if one is ordered. The hosts are those of `-R`, or else those of the property
/// `remote_hosts`.
pub fn fleet(hosts: Option<&str>, is_remote: bool, ends_agents: bool) -> FleetOptions {
    if hosts.is_none() && !is_remote {
        return FleetOptions::default();
    }
    FleetOptions {
        agents: Some(Selection::Hosts(Hosts {
            hosts: hosts.map(list).unwrap_or_default(),
            ..Hosts::default()
        })),
        // JMeter's servers do the same.
        each: true,
        ends_agents,
        is_jmeter: true,
        ..FleetOptions::default()
    }
}

/// The options of an agent that takes the place of a JMeter server.
pub fn server(properties: PropertyOptions) -> AgentArguments {
    AgentArguments {
        weight: 1,
        properties,
        is_jmeter: true,
        ..AgentArguments::default()
    }
}

/// Completes an agent's options from the properties of JMeter's servers.
pub fn settle_server(order: &mut AgentArguments, settings: &RunProperties) {
    settle_link(&mut order.link, settings);
    if order.trust.is_empty() {
        order.trust = property(settings, TRUST).map(list).unwrap_or_default();
    }
    if !order.is_jmeter {
        return;
    }
    // RmiUtils#getRmiRegistryPort: 0 leaves the choice to the other property.
    let mut ports = ["server_port", "server.rmi.port"]
        .iter()
        .filter_map(|name| property(settings, name));
    let port = ports
        .find(|port| *port != "0")
        .filter(|port| *port != SERVER_PORT);
    let host = settings
        .system
        .get(HOSTNAME)
        .or_else(|| settings.properties.get(HOSTNAME))
        .map(str::to_owned)
        .unwrap_or_else(this_host);
    let name = match port {
        Some(port) => format!("{host}-{port}"),
        None => host,
    };
    order.name.get_or_insert_with(|| agent_name(&name));
    order.once |= is_true(settings, "server.exitaftertest");
}

/// The value of a property of JMeter, without spaces around it. A system property stands in for one that is not set, as in
/// `JMeterUtils#loadJMeterProperties`; one that the command line sets also replaces a default.
fn property<'s>(settings: &'s RunProperties, name: &str) -> Option<&'s str> {
    let given = settings.properties.get(name);
    let system = settings.system.get(name);
    let is_default = JMETER_DEFAULTS
        .iter()
        .any(|(known, default)| *known == name && given == Some(*default));
    let value = match (given, system) {
        (Some(_), Some(system)) if is_default && !settings.given.iter().any(|set| set == name) => {
            system
        }
        (given, system) => given.or(system)?,
    };
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// Whether a property is set (`JMeterUtils#getPropDefault`).
fn is_true(settings: &RunProperties, name: &str) -> bool {
    property(settings, name).is_some_and(|value| {
        let yes = ["true", "t"];
        yes.iter().any(|yes| value.eq_ignore_ascii_case(yes)) || value == "1"
    })
}

/// Completes a run's options from the properties of JMeter's remote testing. Returns notes on what differs from JMeter.
///
/// # Errors
/// If a property is not a number.
pub fn settle(
    options: &mut FleetOptions,
    settings: &RunProperties,
) -> Result<Vec<String>, Refusal> {
    settle_link(&mut options.link, settings);
    let property = |name: &str| property(settings, name);
    let Some(Selection::Hosts(hosts)) = &mut options.agents else {
        return Ok(Vec::new());
    };
    if hosts.hosts.is_empty() {
        hosts.hosts = list(property("remote_hosts").unwrap_or("127.0.0.1"));
    }
    hosts.here = this_host();
    hosts.may_miss = is_true(settings, "client.continue_on_fail");
    let tries = property("client.tries").map(|tries| number("client.tries", tries));
    if let Some(tries) = tries.transpose()? {
        let delay =
            property("client.retries_delay").map(|delay| number("client.retries_delay", delay));
        let delay_ms = delay.transpose()?.unwrap_or(RETRIES_DELAY_MS);
        let wait_ms = tries.saturating_sub(1).saturating_mul(delay_ms);
        options.agents_wait = Some(wait_ms.max(1_000));
    }
    let mut lines = vec![format!(
        "each of {} runs the whole plan, as JMeter's servers do; `drumfire run --agents` divides its users",
        counted(hosts.hosts.len() as u64, "agent")
    )];
    if let Some(mode) = property("mode") {
        let mode_row = MODES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(mode));
        let meaning = mode_row.map_or("-l has every row", |(_, meaning)| meaning);
        lines.push(format!(
            "mode={mode}: agents send sums every second and rows at the end; {meaning}"
        ));
    }
    Ok(lines)
}

/// The remote hosts of a run, if JMeter's command line ordered it.
pub fn hosts(options: &FleetOptions) -> Option<Vec<String>> {
    match &options.agents {
        Some(Selection::Hosts(hosts)) => Some(hosts.hosts.clone()),
        _ => None,
    }
}

/// Completes how to reach NATS: options come first, then the environment, then properties.
fn settle_link(link: &mut LinkOptions, settings: &RunProperties) {
    let [url, credentials, ca, sign] = NATS.map(|name| property(settings, name).map(str::to_owned));
    link.nats = link.nats.take().or_else(nats_of_environment).or(url);
    link.nats_creds = link.nats_creds.take().or(credentials.map(Into::into));
    link.nats_ca = link.nats_ca.take().or(ca.map(Into::into));
    // A server without TLS is asked for none because outputs have it.
    let urls = link.nats.as_deref().unwrap_or_default().split(',');
    let is_tls = urls.map(str::trim).all(|url| url.starts_with("tls://"));
    if is_tls && link.nats_ca.is_none() {
        let file = settings.properties.get(TLS_CA);
        link.nats_ca = file.filter(|file| !file.is_empty()).map(Into::into);
    }
    link.sign = link.sign.take().or(sign.map(Into::into));
}

fn list(hosts: &str) -> Vec<String> {
    let hosts = hosts
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty());
    hosts.map(str::to_owned).collect()
}

fn number(name: &str, value: &str) -> Result<u64, Refusal> {
    value.parse().map_err(|_| {
        let message = format!("the property `{name}` is `{value}`; give a whole number");
        Refusal::usage(message)
    })
}

fn this_host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(properties: &[(&str, &str)]) -> RunProperties {
        let mut settings = RunProperties::default();
        for (name, value) in properties {
            settings.properties.set(*name, (*value).to_owned());
        }
        settings
    }

    #[test]
    fn properties_name_hosts_patience_and_mode() {
        let mut options = fleet(None, true, false);
        let given = settings(&[
            ("remote_hosts", "one:1099, two"),
            ("client.tries", "3"),
            ("client.continue_on_fail", "true"),
            ("mode", "statistical"),
            ("drumfire.nats_creds", "me.creds"),
        ]);
        let lines = settle(&mut options, &given).expect("they are numbers");
        assert_eq!(
            hosts(&options),
            Some(vec!["one:1099".to_owned(), "two".to_owned()])
        );
        assert!(matches!(&options.agents, Some(Selection::Hosts(hosts)) if hosts.may_miss));
        assert_eq!(options.agents_wait, Some(10_000));
        assert_eq!(options.link.nats_creds, Some("me.creds".into()));
        assert!(lines[1].contains("--rows none"), "{lines:?}");
        let mut options = fleet(Some("a"), false, true);
        assert!(settle(&mut options, &settings(&[("client.tries", "x")])).is_err());
        assert!(!fleet(None, false, true).is_wanted());
    }

    #[test]
    fn a_server_is_named_after_its_host_and_port() {
        let named = |port: &str| {
            let mut order = server(PropertyOptions::default());
            let mut settings = settings(&[("server_port", port), ("server.exitaftertest", "true")]);
            settings.system.set("java.rmi.server.hostname", "10.0.0.5");
            settle_server(&mut order, &settings);
            assert!(order.is_once());
            order.name
        };
        assert_eq!(named("1099").as_deref(), Some("10-0-0-5"));
        assert_eq!(named("1100").as_deref(), Some("10-0-0-5-1100"));
    }

    #[test]
    fn system_properties_stand_in_for_those_that_are_not_set() {
        let server_of = |properties: &[(&str, &str)], system: &[(&str, &str)]| {
            let mut order = server(PropertyOptions::default());
            let mut settings = settings(properties);
            settings.system.merge(system.iter().copied());
            settle_server(&mut order, &settings);
            (order.name, order.once, order.link.nats)
        };
        let both = ("drumfire.nats", "nats://h:4222");
        let (name, once, nats) = server_of(
            &[],
            &[
                ("server_port", "1664"),
                (HOSTNAME, "box"),
                ("server.exitaftertest", "TRUE"),
                both,
            ],
        );
        assert_eq!((name.as_deref(), once), (Some("box-1664"), true));
        assert!(std::env::var_os("DRUMFIRE_NATS").is_some() || nats.as_deref() == Some(both.1));
        let (name, once, _) = server_of(
            &[("server_port", "1665"), (HOSTNAME, "box")],
            &[("server_port", "1664")],
        );
        assert_eq!((name.as_deref(), once), (Some("box-1665"), false));
        let (name, ..) = server_of(&[("server.rmi.port", "1700"), (HOSTNAME, "box")], &[]);
        assert_eq!(name.as_deref(), Some("box-1700"));

        let mut settings = settings(&[("remote_hosts", "127.0.0.1")]);
        settings.system.set("remote_hosts", "one,two");
        settings.system.set("client.continue_on_fail", "true");
        let mut options = fleet(None, true, false);
        settle(&mut options, &settings).expect("nothing is wrong");
        let two = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(hosts(&options), Some(two));
        assert!(matches!(&options.agents, Some(Selection::Hosts(hosts)) if hosts.may_miss));
    }
}
