//! The options of a run on several machines, and of its agents.

use std::path::PathBuf;

use drumfire_fleet::{LinkOptions, NATS_VARIABLE, Selection};

use crate::fleet_options::{AgentOrder, AgentsOrder, FleetOptions, LostAgents, RowsOfAgents};
use crate::options::PropertyOptions;
use crate::quantities::duration_ms;

const FLEET: &str = "Several machines";

/// The address of NATS that the environment names.
pub fn nats_of_environment() -> Option<String> {
    std::env::var(NATS_VARIABLE).ok()
}

/// The options that say how to reach NATS.
#[derive(Debug, Default, clap::Args)]
pub struct LinkArguments {
    /// The NATS server that connects the agents and the coordinator, such as nats://host:4222 [env: DRUMFIRE_NATS]
    #[arg(long, value_name = "URL", help_heading = FLEET)]
    nats: Option<String>,
    /// Credentials for NATS: a file with a JWT and an nkey, or with the seed of an nkey
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    nats_creds: Option<PathBuf>,
    /// Also verify the NATS server with the certificates in this file
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    nats_ca: Option<PathBuf>,
    /// Sign the plan with this key, which `drumfire fleet init` writes; agents on other machines run only signed plans
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    sign: Option<PathBuf>,
}

impl LinkArguments {
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

    fn into_options(self) -> LinkOptions {
        LinkOptions {
            url: self.nats.or_else(nats_of_environment).unwrap_or_default(),
            credentials: self.nats_creds,
            ca: self.nats_ca,
            sign: self.sign,
            ..LinkOptions::default()
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

/// The options of `run`.
#[derive(Debug, Default, clap::Args)]
pub struct FleetArguments {
    /// Run the plan on agents: `local:4` for four processes here, a number, names with commas between, `label=value` or
    /// `label=value:3`
    #[arg(long, value_name = "AGENTS", help_heading = FLEET)]
    agents: Option<Selection>,
    #[command(flatten)]
    link: LinkArguments,
    /// How long to wait for agents, such as 2m [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration_ms, help_heading = FLEET)]
    agents_wait: Option<u64>,
    /// Every agent runs the whole plan, as JMeter's remote servers do
    #[arg(long, help_heading = FLEET)]
    each: bool,
    /// Choose what becomes of the users of a lost agent [default: continue]
    #[arg(long, value_enum, help_heading = FLEET)]
    on_lost: Option<LostAgents>,
    /// Choose where the rows of samples go; by default, -l collects them
    #[arg(long, value_enum, help_heading = FLEET)]
    rows: Option<RowsOfAgents>,
    /// Also send agents this file, which the plan reads but does not name; relative to the plan's folder
    #[arg(long = "send", value_name = "FILE", help_heading = FLEET)]
    send: Vec<PathBuf>,
    /// Run even if the uncertainty of an agent's clock exceeds one second
    #[arg(long, help_heading = FLEET)]
    allow_skew: bool,
}

impl FleetArguments {
    /// The options that the user wrote and that take effect only at the start of a run. `--agents` and the options for NATS are
    /// not among them.
    fn at_start(&self) -> impl Iterator<Item = &'static str> {
        written([
            ("--agents-wait", self.agents_wait.is_some()),
            ("--each", self.each),
            ("--rows", self.rows.is_some()),
            ("--send", !self.send.is_empty()),
        ])
    }

    /// The options of a run on agents; `None` for a run on this machine alone.
    ///
    /// # Errors
    /// An option that would have no effect.
    pub fn into_options(self) -> Result<Option<FleetOptions>, String> {
        let Some(selection) = self.agents.clone() else {
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
                )),
                None => Ok(None),
            };
        };
        if matches!(selection, Selection::Local(_))
            && let Some(name) = self.link.given().next()
        {
            return Err(format!(
                "`{name}` has no effect with `--agents local:N`, whose agents use their own server; leave one of them out"
            ));
        }
        Ok(Some(self.with_selection(selection)))
    }

    /// The options of `attach`. The run already has its agents.
    ///
    /// # Errors
    /// An option that would have no effect.
    pub fn into_attached(self, run: &str) -> Result<FleetOptions, String> {
        let agents = self.agents.is_some().then_some("--agents");
        if let Some(name) = agents.into_iter().chain(self.at_start()).next() {
            return Err(settled(name));
        }
        Ok(FleetOptions {
            attach: Some(run.to_owned()),
            ..self.with_selection(Selection::Any(1))
        })
    }

    fn with_selection(self, selection: Selection) -> FleetOptions {
        FleetOptions {
            selection,
            link: self.link.into_options(),
            wait_ms: self.agents_wait.unwrap_or(WAIT_MS),
            is_each: self.each,
            on_lost: self.on_lost.unwrap_or_default(),
            rows: self.rows,
            send: self.send,
            allows_skew: self.allow_skew,
            attach: None,
            ends_agents: false,
            is_jmeter: false,
        }
    }
}

/// The message for an option of `run` that `attach` refuses.
pub fn settled(name: &str) -> String {
    format!("`{name}` has no effect on a run that has started; leave it out")
}

/// The options of `agent`.
#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire agent --nats nats://host:4222")]
pub struct AgentArguments {
    #[command(flatten)]
    link: LinkArguments,
    /// The agent's name; without it, the host's name and some digits
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A label by which runs choose agents; several are allowed
    #[arg(long, value_name = "NAME=VALUE")]
    label: Vec<String>,
    /// Its share of the load, relative to other agents
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    weight: u32,
    /// End after one run
    #[arg(long)]
    once: bool,
    /// Run the plans that this key has signed: a public key, or a file with keys; several are allowed
    #[arg(long, value_name = "KEY")]
    trust: Vec<String>,
    /// The folder for the files of plans and for the folders of runs
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Worker threads; 0 is one per core
    #[arg(long, hide = true, default_value_t = 0)]
    workers: usize,
    /// End when standard input ends, and after one run
    #[arg(long, hide = true)]
    tied: bool,
    /// Pretend that the clock is wrong by this many milliseconds
    #[arg(long, hide = true, default_value_t = 0, allow_hyphen_values = true)]
    clock_error_ms: i64,
}

impl AgentArguments {
    /// The action.
    pub fn into_order(self) -> AgentOrder {
        AgentOrder {
            link: self.link.into_options(),
            name: self.name,
            labels: self.label,
            weight: self.weight,
            is_once: self.once || self.tied,
            is_tied: self.tied,
            cache: self.cache,
            trust: self.trust,
            workers: self.workers,
            properties: PropertyOptions::default(),
            is_jmeter: false,
            clock_error_ms: self.clock_error_ms,
        }
    }
}

/// The options of `agents`.
#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire agents --nats nats://host:4222")]
pub struct AgentsArguments {
    #[command(flatten)]
    link: LinkArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AgentsArguments {
    /// The action.
    pub fn into_order(self) -> AgentsOrder {
        AgentsOrder {
            link: self.link.into_options(),
            json: self.json,
        }
    }
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
