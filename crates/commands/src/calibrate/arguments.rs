//! The command line of `drumfire calibrate`.

use std::path::PathBuf;

use crate::args::quantities::{length_ms, per_second};

const EXAMPLES: &str = "\
  drumfire calibrate                    at 1,000 requests a second
  drumfire calibrate --rate 10000/s     at another rate
  drumfire calibrate --plan plan.jmx    with the users and timers of a plan";

/// The command line.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct CalibrateArguments {
    /// Requests a second, such as 500 or 10000/s
    #[arg(long, value_name = "RATE", default_value = "1000/s", value_parser = per_second)]
    pub rate: f64,
    /// Users at a time, each with a connection of its own
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub users: u32,
    /// The length of each measurement
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = length_ms)]
    pub duration: u64,
    /// How often each is repeated
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub times: u32,
    /// Run this plan, with all its HTTP requests sent to the target, instead of requests at a rate
    #[arg(long, value_name = "PLAN.jmx", conflicts_with_all = ["rate", "users"])]
    pub plan: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Only serve the target, until standard input ends
    #[arg(long, hide = true)]
    pub serve: bool,
}
