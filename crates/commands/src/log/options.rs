//! The options of the program's log.

use std::convert::Infallible;

use crate::args::headings::SHOWN;

/// The options of the program's log.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct LogOptions {
    // An empty name means that there is no log.
    /// The program's log; 'yyyyMMdd' in quotes stands for the date
    #[arg(
        id = "log",
        short = 'j',
        long = "jmeterlogfile",
        value_name = "FILE",
        default_value = "jmeter.log",
        help_heading = SHOWN
    )]
    pub file: String,
    // `(category, level)` in the order of the command line; an empty category is the root.
    /// [category=]level of the log
    #[arg(id = "level", short = 'L', long = "loglevel", value_name = "LEVEL", value_parser = level, help_heading = SHOWN)]
    pub levels: Vec<(String, String)>,
}

impl Default for LogOptions {
    /// JMeter's `jmeter.log` in the working directory.
    fn default() -> Self {
        LogOptions {
            file: "jmeter.log".to_owned(),
            levels: Vec::new(),
        }
    }
}

fn level(text: &str) -> Result<(String, String), Infallible> {
    Ok(match text.split_once('=') {
        Some((category, level)) => (category.to_owned(), level.to_owned()),
        None => (String::new(), text.to_owned()),
    })
}
