//! The command line of `drumfire jvm`.

use std::path::PathBuf;

use super::PropertyArguments;
use crate::authorities;
use crate::options::{JvmAction, JvmOptions};

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire jvm\n  drumfire jvm install jpgc-webdriver")]
pub(super) struct JvmArguments {
    /// Install JMeter's jars, those of drumfire.toml and what is named, and prepare Java to start quickly; or remove plugins
    #[arg(value_enum)]
    action: Option<JvmAction>,
    /// Plugins of jmeter-plugins.org (jpgc-webdriver), Maven coordinates (group:artifact:version), or plans whose plugins are
    /// meant; they are on the class path of all runs
    #[arg(value_name = "PLUGIN")]
    what: Vec<String>,
    /// Also trust the certificate authorities in this PEM file when downloading jars
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    #[command(flatten)]
    properties: PropertyArguments,
}

impl JvmArguments {
    pub(super) fn into_options(self) -> JvmOptions {
        let mut properties = self.properties.into_options();
        authorities::trust(&mut properties, self.tls_ca.as_deref());
        JvmOptions {
            action: self.action.unwrap_or_default(),
            what: self.what,
            properties,
        }
    }
}
