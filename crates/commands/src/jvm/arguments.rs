//! The command line of `drumfire jvm`.

use std::path::PathBuf;

use crate::settings::options::PropertyOptions;

/// The options of `jvm`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire jvm\n  drumfire jvm install jpgc-webdriver")]
pub struct JvmArguments {
    /// Install JMeter's jars, those of drumfire.toml and what is named, and prepare Java to start quickly; or remove plugins
    #[arg(value_enum)]
    pub action: Option<JvmAction>,
    /// Plugins of jmeter-plugins.org (jpgc-webdriver), Maven coordinates (group:artifact:version), or plans whose plugins are
    /// meant; they are on the class path of all runs
    #[arg(value_name = "PLUGIN")]
    pub what: Vec<String>,
    /// Also trust the certificate authorities in this PEM file when downloading jars
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    #[command(flatten)]
    pub properties: PropertyOptions,
}

/// The actions of `jvm`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum JvmAction {
    /// Show what there is
    #[default]
    #[value(skip)]
    Report,
    /// Fetch missing jars, and plugins for all runs
    Install,
    /// Take plugins off the class path of all runs
    Remove,
}
