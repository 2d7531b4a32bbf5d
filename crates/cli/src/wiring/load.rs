//! Reads a plan and applies the load that properties set (`drumfire.load.…`).

use std::path::Path;
use std::str::FromStr;

use drumfire_commands::properties::RunProperties;
use drumfire_engine::LoadOverride;
use drumfire_jmx::{Diagnostic, Read};

/// Reads a plan and applies the load of the properties.
///
/// # Errors
/// If the plan cannot be read, a property is not a number, or the load does not fit the plan.
pub fn read(plan: &Path, settings: &RunProperties) -> Result<Read, Vec<Diagnostic>> {
    let mut read = drumfire_jmx::read_file(plan)?;
    let wrong = |message: String| vec![Diagnostic::error("load", message)];
    let load = load(settings).map_err(wrong)?;
    let (tree, notes) = load
        .apply(&read.tree)
        .map_err(|error| wrong(error.to_string()))?;
    read.tree = tree;
    let notes = notes
        .into_iter()
        .map(|note| Diagnostic::warning("load", note));
    read.warnings.extend(notes);
    Ok(read)
}

fn load(settings: &RunProperties) -> Result<LoadOverride, String> {
    let text = |name: &str| {
        let value = settings.properties.get(name).map(str::trim);
        value.filter(|value| !value.is_empty())
    };
    Ok(LoadOverride {
        users: number("drumfire.load.users", text("drumfire.load.users"))?,
        ramp_up_s: number("drumfire.load.ramp_up", text("drumfire.load.ramp_up"))?,
        duration_s: number("drumfire.load.duration", text("drumfire.load.duration"))?,
        iterations: number("drumfire.load.iterations", text("drumfire.load.iterations"))?,
        rate: number("drumfire.load.rate", text("drumfire.load.rate"))?,
        arrivals: number("drumfire.load.arrivals", text("drumfire.load.arrivals"))?,
        group: text("drumfire.load.group").map(str::to_owned),
        once: text("drumfire.load.once") == Some("true"),
    })
}

fn number<N: FromStr>(name: &str, text: Option<&str>) -> Result<Option<N>, String> {
    let parsed = text.map(|text| {
        let wrong = |_| format!("`{name}` is `{text}`, which is not a number above 0");
        text.parse().map_err(wrong)
    });
    parsed.transpose()
}
