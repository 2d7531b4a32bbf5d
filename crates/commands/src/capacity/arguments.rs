//! The command line of `drumfire capacity`.

use std::path::PathBuf;

use crate::args::quantities::per_second;

const EXAMPLES: &str = "\
  drumfire capacity plan.jmx --until 'p95 > 300ms' --from 50/s --max 5000/s
  drumfire capacity plan.jmx --until 'p95 > 1s or errors > 1%' --from 5 --max 99
  drumfire capacity plan.jmx --until 'p95 > 1s' --from 5 --max 99 -- --strict
  drumfire capacity https://shop.example/ --until 'p95 > 1s' --from 5 --max 99";

/// The command line.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct CapacityArguments {
    /// The plan (.jmx), or an address to send GET requests to
    pub plan: PathBuf,
    /// A level fails when one of these thresholds is true, written as for `run --fail-on` and joined by ` or `
    #[arg(long, value_name = "THRESHOLDS")]
    pub until: String,
    /// The first level in iterations of the plan, such as 50/s
    #[arg(long, value_name = "RATE", value_parser = per_second)]
    pub from: f64,
    /// The highest level, such as 5000/s
    #[arg(long, value_name = "RATE", value_parser = per_second)]
    pub max: f64,
    /// The factor from one level to the next, while levels hold
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    pub step: f64,
    /// Users at a time, in all thread groups together; an iteration that finds no free user is skipped
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub users: u32,
    /// Options of `drumfire run`, behind `--`
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<String>,
}
