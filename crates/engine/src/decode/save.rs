//! The columns of result files.

use drumfire_results::{RowFormat, SaveConfig, sample_variable_names};

use crate::decode::DecodingContext;

/// The format of a listener's rows.
pub fn row_format(decoding: &DecodingContext, config: SaveConfig) -> RowFormat {
    let names = decoding.settings.properties.get("sample_variables");
    let variables = sample_variable_names(names.as_deref());
    RowFormat::new(
        config,
        variables.into(),
        decoding.settings.hostname.as_str().into(),
    )
}
