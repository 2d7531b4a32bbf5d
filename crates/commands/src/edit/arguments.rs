//! The command line of `drumfire edit`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
  drumfire edit plan.jmx            edit the plan in the browser
  drumfire edit plan.jmx --app      the same in a window of its own (Chromium)
  drumfire edit --stdio             answer requests of a program, a line each";

/// The command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct EditArguments {
    /// The plan (.jmx)
    #[arg(required_unless_present = "stdio")]
    pub plan: Option<PathBuf>,
    /// The port of the page, instead of a free one; it listens on 127.0.0.1
    #[arg(long, value_name = "NUMBER", conflicts_with = "stdio")]
    pub port: Option<u16>,
    /// Open the page in a Chromium window of its own, where all keys reach the page
    #[arg(long, conflicts_with_all = ["stdio", "no_open"])]
    pub app: bool,
    /// Print the URL of the page and open no browser
    #[arg(long, conflicts_with = "stdio")]
    pub no_open: bool,
    /// Speak JSON-RPC over standard input and output, for editors and scripts
    #[arg(long)]
    pub stdio: bool,
}
