//! The options of `run` for traces.

use drumfire_report::TraceLink;
use drumfire_results::{TraceRate, TraceRateError};

use crate::args::headings::METRICS;
use crate::settings::options::Change;

/// Which traces servers record, and where they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct TraceOptions {
    /// Send a W3C `traceparent` with each HTTP request, read `Server-Timing` from responses, and show where the time of the slowest
    /// 1 % went; servers are asked to record this share of the traces: 1/100, 5% or 100%
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = METRICS)]
    pub trace: Option<String>,
    /// Link the slowest samples of the report by this address, such as 'https://jaeger.example/trace/{trace_id}'
    #[arg(long, value_name = "ADDRESS", requires = "trace", help_heading = METRICS)]
    pub trace_link: Option<TraceLink>,
}

/// A share as it is written.
fn share(text: &str) -> Result<String, TraceRateError> {
    text.parse::<TraceRate>().map(|_| text.to_owned())
}

impl TraceOptions {
    /// The properties that the options set.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        let link = self
            .trace_link
            .as_ref()
            .map(|link| link.as_str().to_owned());
        let given = [
            ("drumfire.trace", self.trace.clone()),
            ("drumfire.trace.link", link),
        ];
        let given = given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| Change::Property(name.to_owned(), value))
    }
}
