//! The columns of result files.

use drumfire_results::{RowFormat, SaveConfig, sample_variable_names};

use crate::decode::DecodingContext;

/// The property that adds the ids of traces to rows.
const TRACE_COLUMN: &str = "drumfire.trace.column";

/// The format of a listener's rows.
pub fn row_format(decoding: &DecodingContext, config: SaveConfig) -> RowFormat {
    let names = decoding.settings.properties.get("sample_variables");
    let variables = sample_variable_names(names.as_deref());
    let hostname = decoding.settings.hostname.as_str();
    RowFormat {
        trace_ids: decoding.settings.properties.get_bool(TRACE_COLUMN, false),
        ..RowFormat::new(config, variables.into(), hostname.into())
    }
}
