//! Selects the agents of a run: `--agents local:4`, `4`, `4..10`, `a,b`, `region=eu`, `region=eu:3` or `region=eu:4..10`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use drumfire_platform::words::counted;
use serde::{Deserialize, Serialize};

use crate::wire::{Hello, is_token};

/// The most agents of a run.
const MOST_AGENTS: usize = 10_000;

/// The agents that a run selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// A number of processes on this machine.
    Local(usize),
    /// This many of the idle agents.
    Any(usize),
    /// At least the first number of the idle agents. Others join during the run until there are as many as the second.
    Range(usize, usize),
    /// The agents with these names.
    Named(Vec<String>),
    /// The agents with this label: all of them, or as many as `count`. Others join during the run until there are as many as
    /// `most`.
    Labelled {
        label: String,
        value: String,
        count: Option<usize>,
        most: Option<usize>,
    },
    /// The agents on JMeter's remote hosts.
    Hosts(Hosts),
}

/// JMeter's remote hosts, as `-R` and `remote_hosts` name them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    /// Names or addresses of machines, or names of agents, each with or without a port.
    pub hosts: Vec<String>,
    /// The name of this machine, which `localhost` stands for.
    pub here: String,
    /// Whether hosts without an agent are left out (`client.continue_on_fail`).
    pub may_miss: bool,
}

impl Hosts {
    /// The agents of the hosts, in their order, each once; and the hosts without an agent.
    fn find(&self, idle: &[&Hello]) -> (Vec<Hello>, Vec<&str>) {
        let (mut agents, mut missing) = (Vec::<Hello>::new(), Vec::new());
        for host in &self.hosts {
            let free = |hello: &&&Hello| agents.iter().all(|taken| taken.name != hello.name);
            let mut named = idle.iter().filter(free);
            let by_name = named.find(|hello| hello.name == agent_name(host));
            let chosen = by_name.or_else(|| {
                let mut free = idle.iter().filter(free);
                free.find(|hello| self.is_on(hello, without_port(host)))
            });
            match chosen {
                Some(hello) => agents.push((**hello).clone()),
                None => missing.push(host.as_str()),
            }
        }
        (agents, missing)
    }

    fn is_on(&self, hello: &Hello, host: &str) -> bool {
        match host.parse::<IpAddr>() {
            _ if hello.name == agent_name(host) => true,
            _ if host.eq_ignore_ascii_case("localhost") => hello.host == self.here,
            Ok(address) if address.is_loopback() => hello.host == self.here,
            Ok(address) => hello.addresses.contains(&address),
            Err(_) => hello.host.eq_ignore_ascii_case(host),
        }
    }
}

/// The name for an agent in place of JMeter's server on this host. Characters that a name cannot have become dashes.
pub fn agent_name(host: &str) -> String {
    host.trim().chars().map(plain).collect()
}

fn plain(c: char) -> char {
    if is_token(&c.to_string()) { c } else { '-' }
}

/// A host without its port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => name,
        _ => host,
    }
}

/// Why a text does not select agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSelection(String);

impl fmt::Display for BadSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`--agents {}` names no agents; give a number, a range such as `4..10`, names with commas between, `label=value`, or `local:4`",
            self.0
        )
    }
}

impl std::error::Error for BadSelection {}

impl FromStr for Selection {
    type Err = BadSelection;

    fn from_str(text: &str) -> Result<Selection, BadSelection> {
        let bad = || BadSelection(text.to_owned());
        let count = |number: &str| {
            let count: usize = number.trim().parse().map_err(|_| bad())?;
            (1..=MOST_AGENTS)
                .contains(&count)
                .then_some(count)
                .ok_or_else(bad)
        };
        if let Some(number) = text.strip_prefix("local:") {
            return Ok(Selection::Local(count(number)?));
        }
        // A number, or the two of a range.
        let range = |text: &str| match text.split_once("..") {
            None => Ok((count(text)?, None)),
            Some((least, most)) => {
                let (least, most) = (count(least)?, count(most)?);
                (least <= most)
                    .then_some((least, Some(most)))
                    .ok_or_else(bad)
            }
        };
        if text.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return Ok(match range(text)? {
                (least, Some(most)) => Selection::Range(least, most),
                (all, None) => Selection::Any(all),
            });
        }
        if let Some((label, value)) = text.split_once('=') {
            let (value, (count, most)) = match value.rsplit_once(':') {
                Some((value, numbers)) => {
                    let (least, most) = range(numbers)?;
                    (value, (Some(least), most))
                }
                None => (value, (None, None)),
            };
            return Ok(Selection::Labelled {
                label: label.to_owned(),
                value: value.to_owned(),
                count,
                most,
            });
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let is_good = names.iter().all(|name| is_token(name));
        is_good.then_some(Selection::Named(names)).ok_or_else(bad)
    }
}

/// The text that selects it on the command line.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::Local(count) => write!(f, "local:{count}"),
            Selection::Any(count) => write!(f, "{count}"),
            Selection::Range(least, most) => write!(f, "{least}..{most}"),
            Selection::Named(names) => f.write_str(&names.join(",")),
            Selection::Labelled {
                label,
                value,
                count,
                most,
            } => {
                write!(f, "{label}={value}")?;
                match (count, most) {
                    (Some(least), Some(most)) => write!(f, ":{least}..{most}"),
                    (Some(count), None) => write!(f, ":{count}"),
                    (None, _) => Ok(()),
                }
            }
            Selection::Hosts(hosts) => f.write_str(&hosts.hosts.join(",")),
        }
    }
}

impl Selection {
    /// How many agents it selects at least; `None` for all that are idle.
    pub fn count(&self) -> Option<usize> {
        match self {
            Selection::Local(count) | Selection::Any(count) | Selection::Range(count, _) => {
                Some(*count)
            }
            Selection::Named(names) => Some(names.len()),
            Selection::Labelled { count, .. } => *count,
            Selection::Hosts(hosts) => Some(hosts.hosts.len()),
        }
    }

    /// How many agents there may be, if others may join during the run.
    pub fn most(&self) -> Option<usize> {
        match self {
            Selection::Range(_, most) => Some(*most),
            Selection::Labelled { most, .. } => *most,
            _ => None,
        }
    }

    /// Whether it would take this agent if that were idle.
    pub fn covers(&self, hello: &Hello) -> bool {
        match self {
            Selection::Local(_) => false,
            Selection::Any(_) | Selection::Range(..) => true,
            Selection::Named(names) => names.contains(&hello.name),
            Selection::Labelled { label, value, .. } => hello.labels.get(label) == Some(value),
            Selection::Hosts(hosts) => hosts.hosts.iter().any(|host| {
                hello.name == agent_name(host) || hosts.is_on(hello, without_port(host))
            }),
        }
    }

    /// The agents to take when the waiting time is over, with the names of the hosts to leave out, if hosts without an
    /// agent may be left out.
    pub fn choose_last(&self, idle: &[Hello]) -> Option<(Vec<Hello>, String)> {
        let Selection::Hosts(hosts) = self else {
            return None;
        };
        let idle: Vec<&Hello> = idle.iter().filter(|hello| hello.run.is_none()).collect();
        let (agents, missing) = hosts.find(&idle);
        let is_enough = hosts.may_miss && !agents.is_empty();
        is_enough.then(|| (agents, missing.join("`, `")))
    }

    /// The agents to take of those that are idle, in the order of their indices in the run; `None` while some are
    /// missing.
    pub fn choose(&self, idle: &[Hello]) -> Option<Vec<Hello>> {
        let mut idle: Vec<&Hello> = idle.iter().filter(|hello| hello.run.is_none()).collect();
        // Sorted, so that the same agents get the same indices in each run.
        idle.sort_by(|a, b| a.name.cmp(&b.name));
        let chosen: Vec<Hello> = match self {
            Selection::Local(_) | Selection::Any(_) | Selection::Range(..) => {
                idle.into_iter().cloned().collect()
            }
            Selection::Named(names) => names
                .iter()
                .filter_map(|name| idle.iter().find(|hello| hello.name == *name))
                .map(|hello| (*hello).clone())
                .collect(),
            Selection::Labelled { label, value, .. } => idle
                .into_iter()
                .filter(|hello| hello.labels.get(label) == Some(value))
                .cloned()
                .collect(),
            Selection::Hosts(hosts) => hosts.find(&idle).0,
        };
        let wanted = self.count().unwrap_or(chosen.len());
        let is_enough = !chosen.is_empty() && chosen.len() >= wanted;
        let most = self.most().unwrap_or(wanted);
        is_enough.then(|| chosen.into_iter().take(most).collect())
    }

    /// Describes which agents are missing, given the idle ones.
    pub fn missing(&self, idle: &[Hello]) -> String {
        let free: Vec<&str> = idle
            .iter()
            .filter(|hello| hello.run.is_none())
            .map(|hello| hello.name.as_str())
            .collect();
        match self {
            Selection::Named(names) => {
                let missing: Vec<&str> = names
                    .iter()
                    .filter(|name| !free.contains(&name.as_str()))
                    .map(String::as_str)
                    .collect();
                format!("`{}`", missing.join("`, `"))
            }
            Selection::Hosts(hosts) => {
                let idle: Vec<&Hello> = idle.iter().filter(|hello| hello.run.is_none()).collect();
                let missing = hosts.find(&idle).1.join("`, `");
                format!("an agent on `{missing}`")
            }
            _ => {
                let wanted = self.count().unwrap_or(1);
                format!("{}; {} idle", counted(wanted as u64, "agent"), free.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(name: &str, region: &str, run: Option<&str>) -> Hello {
        Hello {
            name: name.to_owned(),
            labels: [("region".to_owned(), region.to_owned())].into(),
            run: run.map(str::to_owned),
            ..Hello::default()
        }
    }

    fn chosen(selection: &str, idle: &[Hello]) -> Option<Vec<String>> {
        let selection: Selection = selection.parse().expect("a selection");
        let chosen = selection.choose(idle)?;
        Some(chosen.into_iter().map(|hello| hello.name).collect())
    }

    #[test]
    fn agents_are_chosen_by_number_name_and_label() {
        let idle = [
            hello("c", "eu", None),
            hello("a", "us", None),
            hello("b", "eu", None),
            hello("d", "eu", Some("other")),
        ];
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(chosen("2", &idle), names(&["a", "b"]));
        assert_eq!(chosen("4", &idle), None);
        assert_eq!(chosen("c,a", &idle), names(&["c", "a"]));
        assert_eq!(chosen("d", &idle), None);
        assert_eq!(chosen("region=eu", &idle), names(&["b", "c"]));
        assert_eq!(chosen("region=eu:1", &idle), names(&["b"]));
        assert_eq!(chosen("2..10", &idle), names(&["a", "b", "c"]));
        assert_eq!(chosen("1..2", &idle), names(&["a", "b"]));
        assert_eq!(chosen("4..10", &idle), None);
        assert_eq!(chosen("region=eu:1..2", &idle), names(&["b", "c"]));
        assert_eq!(chosen("region=mars", &idle), None);
        let named: Selection = "a,x".parse().expect("a selection");
        assert_eq!(named.missing(&idle), "`x`");
    }

    #[test]
    fn hosts_of_jmeter_are_names_machines_or_addresses() {
        let on = |name: &str, host: &str, address: &str| Hello {
            name: name.to_owned(),
            host: host.to_owned(),
            addresses: vec![address.parse().expect("an address")],
            ..Hello::default()
        };
        let idle = [
            on("10-0-0-5", "one", "10.0.0.5"),
            on("two-7", "two.example.org", "10.0.0.6"),
            on("two-8", "two.example.org", "10.0.0.6"),
            on("here-9", "here", "10.0.0.7"),
        ];
        let names = |hosts: &[&str], may_miss: bool| {
            let selection = Selection::Hosts(Hosts {
                hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
                here: "here".to_owned(),
                may_miss,
            });
            let chosen = selection.choose(&idle);
            let chosen = chosen.or_else(|| Some(selection.choose_last(&idle)?.0));
            chosen.map(|chosen| {
                chosen
                    .into_iter()
                    .map(|hello| hello.name)
                    .collect::<Vec<_>>()
            })
        };
        let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names(&["10.0.0.5"], false), some(&["10-0-0-5"]));
        assert_eq!(names(&["127.0.0.1:1099"], false), some(&["here-9"]));
        let both = ["10.0.0.6:1099", "two.example.org:1100"];
        assert_eq!(names(&both, false), some(&["two-7", "two-8"]));
        assert_eq!(
            names(&["two-8", "localhost"], false),
            some(&["two-8", "here-9"])
        );
        assert_eq!(names(&["10.0.0.9", "10.0.0.5"], false), None);
        assert_eq!(names(&["10.0.0.9", "10.0.0.5"], true), some(&["10-0-0-5"]));
        assert_eq!(names(&["10.0.0.9"], true), None);
    }

    #[test]
    fn texts_that_name_no_agents_are_refused() {
        for text in [
            "", "0", "local:0", "local:x", "a b", "x=y:0", "99999999", "4..", "..4", "5..4",
            "0..3", "1..2..3", "x=y:3..1", ".",
        ] {
            let refused = text.parse::<Selection>();
            assert!(refused.is_err(), "{text}");
        }
        assert_eq!("local:3".parse(), Ok(Selection::Local(3)));
        assert_eq!("4..10".parse(), Ok(Selection::Range(4, 10)));
        for text in ["local:3", "4", "4..10", "a,b", "x=y", "x=y:3", "x=y:2..3"] {
            let selection = text.parse::<Selection>().expect(text);
            assert_eq!(selection.to_string(), text);
        }
    }
}
