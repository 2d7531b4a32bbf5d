//! The command line of `drumfire check`.

use std::path::PathBuf;

use crate::settings::options::PropertyOptions;

/// The options of `check`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire check plan.jmx")]
pub struct CheckArguments {
    /// The plan (.jmx)
    pub plan: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// List every element and every finding separately
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    pub properties: PropertyOptions,
}

impl CheckArguments {
    /// The output format.
    pub fn format(&self) -> CheckFormat {
        if self.json {
            return CheckFormat::Json;
        }
        self.format
    }
}

/// The output format of `check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
}
