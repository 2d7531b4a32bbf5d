//! The command line of `drumfire debug`.

use std::path::PathBuf;

use drumfire_serve::ListenAddress;

const EXAMPLES: &str = "\
  drumfire debug plan.jmx            one user, in the editor
  drumfire debug plan.jmx --text     the same on the terminal
  drumfire debug plan.jmx --step     stop before each element";

/// The command line.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct DebugArguments {
    /// The plan (.jmx)
    pub plan: PathBuf,
    /// Print what happens instead of opening the editor
    #[arg(long)]
    pub text: bool,
    /// End after this many samples
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub samples: usize,
    /// Follow the user with this number in its thread group; the users before it do not run
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub user: u32,
    /// Stop before the first element
    #[arg(long, conflicts_with = "text")]
    pub step: bool,
    /// Stop before elements with this name, as it stands in the plan
    #[arg(long = "break", value_name = "ELEMENT", conflicts_with = "text")]
    pub breakpoints: Vec<String>,
    /// Print passwords, tokens and cookies unmasked
    #[arg(long, requires = "text")]
    pub show_secrets: bool,
    /// The address of the page, instead of 127.0.0.1 and a free port
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "text")]
    pub ui: Option<ListenAddress>,
    /// Print the URL of the page and open no browser
    #[arg(long, conflicts_with = "text")]
    pub no_open: bool,
    /// Options of `drumfire run`, behind `--`
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<String>,
}
