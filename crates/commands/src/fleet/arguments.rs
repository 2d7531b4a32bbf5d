//! The options of a run on several machines, and the command line of `drumfire fleet`.

use std::path::PathBuf;
use std::time::Duration;

use drumfire_fleet::{NATS_VARIABLE, Selection};

use crate::args::quantities::duration_ms;
use crate::refusal::UsageError;

const FLEET: &str = "Several machines";

/// The address of NATS that the environment names.
pub fn nats_of_environment() -> Option<String> {
    std::env::var(NATS_VARIABLE).ok()
}

/// The options that say how to reach NATS.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct LinkOptions {
    /// The NATS server that connects the agents and the coordinator, such as nats://host:4222 [env: DRUMFIRE_NATS]
    #[arg(long, value_name = "URL", help_heading = FLEET)]
    pub nats: Option<String>,
    /// Credentials for NATS: a file with a JWT and an nkey, or with the seed of an nkey
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    pub nats_creds: Option<PathBuf>,
    /// Also verify the NATS server with the certificates in this file
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    pub nats_ca: Option<PathBuf>,
    /// Sign the plan with this key, which `drumfire fleet init` writes; agents on other machines run only signed plans
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    pub sign: Option<PathBuf>,
}

impl LinkOptions {
    /// The options that the user wrote.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("--nats", self.nats.is_some()),
            ("--nats-creds", self.nats_creds.is_some()),
            ("--nats-ca", self.nats_ca.is_some()),
            ("--sign", self.sign.is_some()),
        ];
        written(all)
    }

    /// The same for the fleet. Without `--nats`, the environment names the server.
    pub fn to_link(&self) -> drumfire_fleet::LinkOptions {
        let url = self.nats.clone().or_else(nats_of_environment);
        drumfire_fleet::LinkOptions {
            url: url.unwrap_or_default(),
            credentials: self.nats_creds.clone(),
            ca: self.nats_ca.clone(),
            sign: self.sign.clone(),
            ..drumfire_fleet::LinkOptions::default()
        }
    }
}

/// The names of the options that the user wrote.
fn written<const N: usize>(all: [(&'static str, bool); N]) -> impl Iterator<Item = &'static str> {
    let all = all.into_iter().filter(|(_, is_written)| *is_written);
    all.map(|(name, _)| name)
}

/// How long agents have to answer by default, in milliseconds.
const WAIT_MS: u64 = 30_000;

/// The options of a run on several machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct FleetOptions {
    /// Run the plan on agents: `local:4` for four processes here, a number, names with commas between, `label=value` or
    /// `label=value:3`; with a range such as `4..10`, agents join during the run
    #[arg(long, value_name = "AGENTS", help_heading = FLEET)]
    pub agents: Option<Selection>,
    #[command(flatten)]
    pub link: LinkOptions,
    /// How long to wait for agents, such as 2m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration_ms, help_heading = FLEET)]
    pub agents_wait: Option<u64>,
    /// Wait for agents as long as it takes, behind the runs that wait already
    #[arg(long, help_heading = FLEET)]
    pub wait: bool,
    /// Every agent runs the whole plan, as JMeter's remote servers do
    #[arg(long, help_heading = FLEET)]
    pub each: bool,
    /// Choose what becomes of the users of a lost agent [default: continue]
    #[arg(long, value_enum, help_heading = FLEET)]
    pub on_lost: Option<LostAgents>,
    /// Choose where the rows of samples go; by default, -l collects them
    #[arg(long, value_enum, help_heading = FLEET)]
    pub rows: Option<RowsOfAgents>,
    /// Also send agents this file, which the plan reads but does not name; relative to the plan's folder
    #[arg(long = "send", value_name = "FILE", help_heading = FLEET)]
    pub send: Vec<PathBuf>,
    /// Run even if the uncertainty of an agent's clock exceeds one second
    #[arg(long, help_heading = FLEET)]
    pub allow_skew: bool,
    /// Go on with this run, whose coordinator is gone.
    #[arg(skip)]
    pub attach: Option<String>,
    /// End the agents after the run.
    #[arg(skip)]
    pub ends_agents: bool,
    /// Whether JMeter's command line ordered the run, so that the properties of its remote testing apply.
    #[arg(skip)]
    pub is_jmeter: bool,
}

impl FleetOptions {
    /// Whether the run is one on several machines.
    pub fn is_wanted(&self) -> bool {
        self.agents.is_some() || self.attach.is_some()
    }

    /// The agents to run on. A run that goes on has its agents already.
    pub fn selection(&self) -> Selection {
        self.agents.clone().unwrap_or(Selection::Any(1))
    }

    /// Whether the agents are processes of this machine.
    pub fn is_local(&self) -> bool {
        matches!(self.agents, Some(Selection::Local(_)))
    }

    /// How long agents have to answer.
    pub fn patience(&self) -> Duration {
        if self.wait {
            return Duration::MAX;
        }
        Duration::from_millis(self.agents_wait.unwrap_or(WAIT_MS))
    }

    /// The options that the user wrote and that take effect only at the start of a run. `--agents` and the options for NATS are
    /// not among them.
    fn at_start(&self) -> impl Iterator<Item = &'static str> {
        written([
            ("--agents-wait", self.agents_wait.is_some()),
            ("--wait", self.wait),
            ("--each", self.each),
            ("--rows", self.rows.is_some()),
            ("--send", !self.send.is_empty()),
        ])
    }

    /// Refuses options that have no effect on a run.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self) -> Result<(), UsageError> {
        if self.agents.is_none() {
            let later = [
                ("--on-lost", self.on_lost.is_some()),
                ("--allow-skew", self.allow_skew),
            ];
            let mut without_agents = self
                .link
                .given()
                .chain(self.at_start())
                .chain(written(later));
            return match without_agents.next() {
                Some(name) => Err(format!(
                    "`{name}` applies only to runs on several machines; add `--agents`, or leave it out"
                )
                .into()),
                None => Ok(()),
            };
        }
        let both = |one: &str, other: &str| {
            Err(format!("`{one}` and `{other}` exclude each other; leave one of them out").into())
        };
        if self.wait && self.agents_wait.is_some() {
            return both("--wait", "--agents-wait");
        }
        if self.each && self.selection().most().is_some() {
            return both("--each", "--agents with a range");
        }
        let waits = written([("--wait", self.wait)]);
        let mut given = self.link.given().chain(waits);
        match given.find(|_| self.is_local()) {
            Some(name) => Err(format!(
                "`{name}` has no effect with `--agents local:N`, whose agents use their own server; leave one of them out"
            )
            .into()),
            None => Ok(()),
        }
    }

    /// Refuses options that have no effect on a run that goes on: it has its agents already.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_attached(&self) -> Result<(), UsageError> {
        let agents = written([("--agents", self.agents.is_some())]);
        match agents.chain(self.at_start()).next() {
            Some(name) => Err(has_no_effect(name)),
            None => Ok(()),
        }
    }
}

/// The message for an option of `run` that `attach` refuses.
pub fn has_no_effect(name: &str) -> UsageError {
    format!("`{name}` has no effect on a run that has started; leave it out").into()
}

/// How to handle the users of a lost agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LostAgents {
    /// The other agents go on with their own users
    #[default]
    Continue,
    /// The other agents take them over
    Redistribute,
    /// The run ends
    Stop,
}

/// How to handle the rows of samples that agents write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RowsOfAgents {
    /// Agents send them when the run has ended
    Collect,
    /// They stay on the agents
    Keep,
    /// Agents write no rows
    None,
}

/// `drumfire fleet …`
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire fleet init fleet --host nats.example.org --agent a --agent b")]
pub struct FleetKeys {
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// The action on the keys of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, clap::Subcommand)]
pub enum FleetCommand {
    /// Write the keys of an operator, a coordinator and agents, a certificate and the configuration of a NATS server
    Init {
        /// The folder to write them to
        folder: PathBuf,
        /// A name or an address of the server, for its certificate; several are allowed. Without one there is no TLS
        #[arg(long, value_name = "NAME")]
        host: Vec<String>,
        /// The port of the server
        #[arg(long, value_name = "PORT", default_value_t = 4222)]
        port: u16,
        /// An agent; several are allowed
        #[arg(long, value_name = "NAME")]
        agent: Vec<String>,
        /// Where the server will find the folder, if not here, such as `/keys` in Kubernetes
        #[arg(long, value_name = "FOLDER")]
        at: Option<PathBuf>,
    },
    /// Write credentials for more agents; the server's configuration stays the same
    Add {
        /// The folder of the fleet
        folder: PathBuf,
        /// Their names
        #[arg(required = true)]
        agent: Vec<String>,
    },
}
