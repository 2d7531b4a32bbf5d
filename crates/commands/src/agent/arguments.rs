//! The command lines of `drumfire agent` and `drumfire agents`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use drumfire_fleet::is_public_key;

use crate::args::quantities::duration_ms;
use crate::fleet::arguments::LinkOptions;
use crate::settings::options::PropertyOptions;

/// The options of `agent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire agent --nats nats://host:4222")]
pub struct AgentArguments {
    #[command(flatten)]
    pub link: LinkOptions,
    /// The agent's name; without it, the host's name and some digits
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A label by which runs choose agents; several are allowed
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
    /// Its share of the load, relative to other agents
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub weight: u32,
    /// End after one run
    #[arg(long)]
    pub once: bool,
    /// Run the plans that this key has signed: a public key, or a file with keys; several are allowed
    #[arg(long, value_name = "KEY")]
    pub trust: Vec<String>,
    /// The folder for the files of plans and for the folders of runs
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Serve the agent's numbers at /metrics of this address, such as 127.0.0.1:9465
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// How long users may take to finish their samples when the agent is told to end by a signal [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    pub grace: Option<u64>,
    /// Worker threads; 0 is one per core
    #[arg(long, hide = true, default_value_t = 0)]
    pub workers: usize,
    /// End when standard input ends, and after one run
    #[arg(long, hide = true)]
    pub tied: bool,
    /// Its own properties, which override those of runs.
    #[arg(skip)]
    pub properties: PropertyOptions,
    /// Whether it was started by JMeter's command line (`-s`).
    #[arg(skip)]
    pub is_jmeter: bool,
}

impl AgentArguments {
    /// Whether the agent ends after one run.
    pub fn is_once(&self) -> bool {
        self.once || self.tied
    }

    /// Makes all paths absolute: during a run, the agent works in the folder of the plan.
    pub fn locate(&mut self, started_in: &Path) {
        let link = &mut self.link;
        let files = [
            &mut self.cache,
            &mut link.nats_creds,
            &mut link.nats_ca,
            &mut link.sign,
        ];
        for file in files.into_iter().flatten() {
            *file = started_in.join(&file);
        }
        for text in self.trust.iter_mut().filter(|text| !is_public_key(text)) {
            *text = started_in.join(&*text).to_string_lossy().into_owned();
        }
    }
}

/// The options of `agents`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire agents --nats nats://host:4222")]
pub struct AgentsArguments {
    #[command(flatten)]
    pub link: LinkOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
