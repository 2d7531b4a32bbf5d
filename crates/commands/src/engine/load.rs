//! Reads a plan and applies the load that properties set (`drumfire.load.…`).

use std::num::NonZeroU32;
use std::path::Path;
use std::str::FromStr;

use drumfire_engine::LoadOverride;
use drumfire_jmx::{Diagnostic, Read};

use crate::settings::properties::RunProperties;

/// Reads a plan and applies the load of the properties.
///
/// # Errors
/// If the plan cannot be read, a property is not a number, or the load does not fit the plan.
pub fn read(plan: &Path, settings: &RunProperties) -> Result<Read, Vec<Diagnostic>> {
    loaded(drumfire_jmx::read_file(plan)?, settings)
}

/// Applies the load of the properties to a plan.
///
/// # Errors
/// If a property is not a number, or the load does not fit the plan.
pub fn loaded(mut read: Read, settings: &RunProperties) -> Result<Read, Vec<Diagnostic>> {
    let load = load(settings).map_err(|finding| vec![finding])?;
    let (tree, notes) = load.apply(&read.tree).map_err(|error| {
        let finding = Diagnostic::error("load", error.to_string());
        vec![finding.help(error.remedy())]
    })?;
    read.tree = tree;
    let notes = notes
        .into_iter()
        .map(|note| Diagnostic::warning("load", note));
    read.warnings.extend(notes);
    Ok(read)
}

#[expect(clippy::result_large_err, reason = "called once at the start of a run")]
fn load(settings: &RunProperties) -> Result<LoadOverride, Diagnostic> {
    let text = |name: &str| {
        let value = settings.properties.get(name).map(str::trim);
        value.filter(|value| !value.is_empty())
    };
    Ok(LoadOverride {
        users: number(
            "drumfire.load.users",
            text("drumfire.load.users"),
            |users: &u32| *users > 0,
        )?,
        ramp_up_s: number(
            "drumfire.load.ramp_up",
            text("drumfire.load.ramp_up"),
            |_: &u64| true,
        )?,
        duration_s: number(
            "drumfire.load.duration",
            text("drumfire.load.duration"),
            |seconds: &u64| *seconds > 0,
        )?,
        iterations: number(
            "drumfire.load.iterations",
            text("drumfire.load.iterations"),
            |_: &NonZeroU32| true,
        )?,
        rate: number("drumfire.load.rate", text("drumfire.load.rate"), is_rate)?,
        arrivals: number(
            "drumfire.load.arrivals",
            text("drumfire.load.arrivals"),
            is_rate,
        )?,
        group: text("drumfire.load.group").map(str::to_owned),
        once: text("drumfire.load.once") == Some("true"),
    })
}

fn is_rate(rate: &f64) -> bool {
    rate.is_finite() && *rate > 0.0
}

#[expect(
    clippy::result_large_err,
    reason = "called a few times at the start of a run"
)]
fn number<N: FromStr>(
    name: &str,
    text: Option<&str>,
    is_allowed: impl Fn(&N) -> bool,
) -> Result<Option<N>, Diagnostic> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok().filter(is_allowed);
    number.map(Some).ok_or_else(|| {
        let message = format!("`{text}` is not a value of the property `{name}`");
        Diagnostic::error("load", message).help("write a number above 0, such as `1`")
    })
}
