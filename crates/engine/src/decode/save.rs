//! The columns of result files.

use drumfire_results::{RowFormat, SaveConfig, sample_variable_names};

use crate::decode::Unit;

/// The format of a listener's rows.
pub fn row_format(unit: &Unit, config: SaveConfig) -> RowFormat {
    let names = unit.settings.properties.get("sample_variables");
    let variables = sample_variable_names(names.as_deref());
    RowFormat::new(
        config,
        variables.into(),
        unit.settings.hostname.as_str().into(),
    )
}
