//! The command line of `drumfire k8s`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
  drumfire k8s manifest plan.jmx --agents 10 | kubectl apply -f -
  drumfire k8s manifest plan.jmx --agents 10 --keys drumfire-keys -- --strict";

/// `drumfire k8s …`
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct K8sArguments {
    #[command(subcommand)]
    pub command: K8sCommand,
}

/// The action for Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq, clap::Subcommand)]
pub enum K8sCommand {
    /// Print what Kubernetes needs to run a plan: its files, NATS, an Indexed Job of agents and a Job of their coordinator
    Manifest(ManifestArguments),
}

/// The options of `k8s manifest`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct ManifestArguments {
    /// The plan (.jmx)
    pub plan: PathBuf,
    /// How many agents
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub agents: u32,
    /// The prefix of all names; by default, the plan's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The namespace; by default, that of kubectl
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The image with the program
    #[arg(long, value_name = "IMAGE", default_value_t = concat!("drumfire:", env!("CARGO_PKG_VERSION")).to_owned())]
    pub image: String,
    /// An existing NATS server; by default, one is started beside the agents
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// The image of that NATS server
    #[arg(long, value_name = "IMAGE", default_value = "nats:2.12-alpine")]
    pub nats_image: String,
    /// The Secret with the files that `drumfire fleet init` wrote [default: drumfire-keys, unless NATS is on the loopback]
    #[arg(long, value_name = "SECRET")]
    pub keys: Option<String>,
    /// Give the plan a property from a Secret; several are allowed
    #[arg(long, value_name = "NAME=SECRET/KEY")]
    pub secret: Vec<String>,
    /// The plan is in the image, at this path; its files are beside it
    #[arg(long)]
    pub in_image: bool,
    /// Also send agents this file, which the plan reads but does not name; relative to the plan's folder
    #[arg(long = "send", value_name = "FILE")]
    pub send: Vec<PathBuf>,
    /// Cores that each agent requests
    #[arg(long, value_name = "CORES", default_value = "1")]
    pub cpu: String,
    /// Memory that each agent requests, such as 512Mi; by default, the memory that its users need
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Options of `drumfire run`, behind `--`
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<String>,
}
