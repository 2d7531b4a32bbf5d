//! The command line of `drumfire ctl`.

use clap::Subcommand;
use drumfire_serve::Order;

const EXAMPLES: &str = "\
  drumfire run plan.jmx --ui      a run that can be controlled
  drumfire ctl status             its state
  drumfire ctl users Buyers 50    the users of the thread group `Buyers`";

/// The command line.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct CtlArguments {
    /// The address of the run's page as the run printed it; by default, the only run of this user on this machine
    #[arg(long, value_name = "URL", global = true)]
    pub ui: Option<String>,
    /// The action
    #[command(subcommand)]
    pub verb: CtlVerb,
}

/// The action.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum CtlVerb {
    /// Show the state of the run
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Order(Order),
}
