//! The command line of `drumfire mcp`.

const EXAMPLES: &str = "\
  drumfire mcp                           edit and check the plans of this folder
  drumfire mcp --allow-run shop.test     also run plans that send to shop.test
  drumfire mcp --allow-run '*'           also run plans that do anything";

/// The command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(before_help = EXAMPLES)]
pub struct McpArguments {
    /// Run plans that send to this host only, and that touch no file outside of the folder; `*` runs any plan. May be repeated
    #[arg(long, value_name = "HOST")]
    pub allow_run: Vec<String>,
}
