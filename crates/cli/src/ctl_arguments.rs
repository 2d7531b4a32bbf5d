//! The command line of `drumfire ctl`.

use clap::Subcommand;
use drumfire_serve::Order;

const EXAMPLES: &str = "\
  drumfire run plan.jmx --ui        a run that can be steered
  drumfire ctl status               how it stands
  drumfire ctl users Buyers 50      change the users of the thread group `Buyers`";

/// The command line.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct CtlArguments {
    /// The address of the run's page as the run printed it; without it, the only run of this user on this machine
    #[arg(long, value_name = "URL", global = true)]
    pub ui: Option<String>,
    /// The action
    #[command(subcommand)]
    pub verb: CtlVerb,
}

/// The action.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum CtlVerb {
    /// Say how the run stands
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Order(Order),
}
