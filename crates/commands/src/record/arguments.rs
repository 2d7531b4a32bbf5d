//! The arguments of `drumfire record`.

use std::path::PathBuf;

/// The options of `record`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire record https://shop.example/ -o plan.jmx")]
pub struct RecordArguments {
    /// The first page; with --proxy the site whose HTTPS is decrypted
    #[arg(required_unless_present_any = ["proxy", "ca", "like"])]
    pub url: Option<String>,
    /// The plan to write
    #[arg(
        short = 'o',
        long,
        value_name = "PLAN.jmx",
        required_unless_present = "ca"
    )]
    pub output: Option<PathBuf>,
    /// Record in a Chromium with a profile of its own [default]
    #[arg(long)]
    pub browser: bool,
    /// Record as a proxy that listens here
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        require_equals = false,
        default_missing_value = "127.0.0.1:8888",
        conflicts_with_all = ["browser", "browser_path", "headless", "actions"]
    )]
    pub proxy: Option<String>,
    /// Record as the HTTP(S) Test Script Recorder of this plan would, into a copy of it: its port, filters, names, groups and target
    #[arg(long, value_name = "PLAN.jmx")]
    pub like: Option<PathBuf>,
    /// Show or remove the proxy's certificate authority, and record nothing
    #[arg(long, value_enum, value_name = "ACTION")]
    pub ca: Option<CaAction>,
    /// The browser's program [default: the first Chromium or Chrome on the path]
    #[arg(long, value_name = "PROGRAM")]
    pub browser_path: Option<PathBuf>,
    /// Run without a window: open the page, run the scripts of --do, and end the recording
    #[arg(long)]
    pub headless: bool,
    /// JavaScript to run in the page once its network is idle; several run one after the other
    #[arg(long = "do", value_name = "SCRIPT")]
    pub actions: Vec<String>,
    /// Also write the recording itself
    #[arg(long, value_name = "FILE.har")]
    pub har: Option<PathBuf>,
    /// Also keep requests to this domain; a proxy decrypts its HTTPS
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Vec<String>,
    /// Keep requests to every domain; a proxy decrypts all HTTPS
    #[arg(long)]
    pub all_domains: bool,
    /// Send the cookies that the browser has from the start; each becomes a column of the CSV file
    #[arg(long, conflicts_with = "like")]
    pub cookies: bool,
    /// Leave out the user's pauses
    #[arg(long)]
    pub no_think_time: bool,
    /// A recording of the same visit by another user, made with `--har`: values that differ become variables or columns of the CSV file, others stay
    #[arg(long, value_name = "FILE.har", conflicts_with = "no_correlation")]
    pub other_user: Option<PathBuf>,
    /// Leave all values as they were recorded
    #[arg(long)]
    pub no_correlation: bool,
    /// Replay the plan twice against the server and keep only the variables that this proves
    #[arg(long)]
    pub verify: bool,
    /// Keep variables that the replay did not prove, too
    #[arg(long, requires = "verify")]
    pub accept: bool,
    /// Overwrite files that exist
    #[arg(short = 'f', long)]
    pub force: bool,
}

/// The action on the proxy's certificate authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CaAction {
    /// Show where its certificate is and what it covers
    Show,
    /// Remove it; the next recording makes a new one
    Remove,
}
