//! The command line of `import`.

use std::path::PathBuf;

use drumfire_import::FORMATS;

/// The options of `import`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire import visit.har -o plan.jmx")]
pub struct ImportArguments {
    /// HAR recordings, OpenAPI descriptions, Postman collections and environments, GraphQL documents, a `.proto` file, cURL commands or access logs; `-` is standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The plan to write
    #[arg(short = 'o', long, value_name = "PLAN.jmx")]
    pub output: PathBuf,
    /// The format, if the content alone does not identify it
    #[arg(long, value_parser = formats())]
    pub from: Option<String>,
    /// Also keep requests to this domain
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Vec<String>,
    /// Keep requests to every domain
    #[arg(long)]
    pub all_domains: bool,
    /// Keep images, scripts and style sheets as requests of their own
    #[arg(long)]
    pub keep_static: bool,
    /// Send the cookies that the recording has from the start; each becomes a column of the CSV file
    #[arg(long)]
    pub cookies: bool,
    /// Leave out the user's pauses
    #[arg(long)]
    pub no_think_time: bool,
    /// The server of an API description or an access log that names none; the endpoint of GraphQL documents
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// A recording of the same visit by another user: values that differ become variables or columns of the CSV file, others stay
    #[arg(long, value_name = "FILE", conflicts_with = "no_correlation")]
    pub other_user: Option<PathBuf>,
    /// Leave all values as they were recorded
    #[arg(long)]
    pub no_correlation: bool,
    /// Replay the plan twice against this server and keep only the variables that this proves
    #[arg(long, value_name = "URL")]
    pub verify: Option<String>,
    /// Keep variables that the replay did not prove, too
    #[arg(long, requires = "verify")]
    pub accept: bool,
    /// Overwrite files that exist
    #[arg(short = 'f', long)]
    pub force: bool,
}

fn formats() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(FORMATS.map(|(_, name)| name))
}
