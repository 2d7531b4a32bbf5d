//! The command line of `drumfire ctl`.

use clap::Subcommand;

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
    /// Let users finish their sample, then end
    Stop,
    /// Break samples off, and end
    StopNow,
    /// Let users finish their sample and wait
    Pause,
    /// Let users go on
    Resume,
    /// Change the users of a thread group; surplus users end after their sample
    Users {
        /// The name of the thread group
        group: String,
        /// How many users
        users: u32,
    },
    /// Multiply the rates of open models, arrivals groups and throughput timers
    Rate {
        /// By this, such as 0.5 or 2; 1 is the plan's own rate
        factor: f64,
    },
    /// Note in run file, report and outputs that something happened
    Mark {
        /// What
        text: String,
    },
    /// Set a JMeter property, as __setProperty does
    Set {
        /// Its name
        name: String,
        /// Its value
        value: String,
    },
}
