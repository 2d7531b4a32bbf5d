//! The command line of `drumfire demo`.

/// The options of `demo`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire demo")]
pub struct DemoArguments {
    /// The port for HTTP; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// The port for HTTPS; 0 takes a free one
    #[arg(long, default_value_t = 8443)]
    pub https_port: u16,
}
