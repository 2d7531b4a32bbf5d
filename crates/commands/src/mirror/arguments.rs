//! The command line of `drumfire mirror`.

use std::net::IpAddr;

/// The options of `mirror`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire mirror")]
pub struct MirrorArguments {
    /// The port; 0 takes a free one
    #[arg(short = 'P', long, default_value_t = 8081)]
    pub port: u16,
    /// The address of this machine to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub address: IpAddr,
}
