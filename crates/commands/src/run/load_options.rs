//! The load that the command line sets. It becomes properties, so that every way to start a run can set it.

use crate::args::quantities::{duration_ms, length_ms, per_second};
use crate::settings::options::Change;

/// A load in place of the plan's own.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Users in all, divided among the thread groups in proportion to their own users
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    users: Option<u32>,
    /// How long until all users have started, such as 30s
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    ramp_up: Option<u64>,
    /// How long each thread group runs, the ramp-up included; its users repeat their iterations for that long
    #[arg(long, value_name = "TIME", value_parser = length_ms)]
    duration: Option<u64>,
    /// How many iterations each user runs; with --duration, it ends with whichever is over first
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// Samples a second, all groups together, such as 200 or 600/m
    #[arg(long, value_name = "RATE", value_parser = per_second, requires = "duration")]
    rate: Option<f64>,
    /// Give the load only to the thread group with this name; the others keep their own
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// One user and one iteration of each thread group
    #[arg(long, conflicts_with_all = ["users", "ramp_up", "duration", "iterations", "rate"])]
    once: bool,
}

impl LoadOptions {
    /// The first option that the user wrote.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--users", self.users.is_some()),
            ("--ramp-up", self.ramp_up.is_some()),
            ("--duration", self.duration.is_some()),
            ("--iterations", self.iterations.is_some()),
            ("--rate", self.rate.is_some()),
            ("--group", self.group.is_some()),
            ("--once", self.once),
        ];
        let given = all.into_iter().find(|(_, is_written)| *is_written);
        given.map(|(name, _)| name)
    }

    /// The properties that set this load.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        let all = [
            (
                "drumfire.load.users",
                self.users.map(|users| users.to_string()),
            ),
            ("drumfire.load.ramp_up", self.ramp_up.map(seconds)),
            ("drumfire.load.duration", self.duration.map(seconds)),
            (
                "drumfire.load.iterations",
                self.iterations.map(|iterations| iterations.to_string()),
            ),
            ("drumfire.load.rate", self.rate.map(|rate| rate.to_string())),
            ("drumfire.load.group", self.group.clone()),
            ("drumfire.load.once", self.once.then(|| "true".to_owned())),
        ];
        let said = all
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        said.map(|(name, value)| Change::Property(name.to_owned(), value))
    }
}

fn seconds(ms: u64) -> String {
    ms.div_ceil(1000).to_string()
}
