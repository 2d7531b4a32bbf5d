//! `--baseline FILE`: compares a run with an earlier one.

use std::path::Path;

use drumfire_report::{BaselineChange, CompareOptions, Comparison, Finding, RunFile, read_input};

use crate::console::Console;
use crate::refusal::{Refusal, UsageError};
use crate::run::arguments::Progress;

/// Reads the earlier run, before the run sends anything.
///
/// # Errors
/// The file cannot be read as a run.
pub fn read(file: &Path) -> Result<RunFile, Refusal> {
    let mut warnings = Vec::new();
    let mut run = read_input(file, &Default::default(), &mut warnings).map_err(|error| {
        let refusal = Refusal::run_failed(format!("`--baseline`: {error}"));
        if error.has_hint() && file.exists() {
            refusal
        } else {
            refusal.hint(format!("make it with `--run-file {}`", file.display()))
        }
    })?;
    run.name = format!("baseline {}", file.display());
    Ok(run)
}

/// Prints how a run compares with the earlier one. A quiet run prints only a bad outcome, to standard error. Returns whether
/// it is worse beyond noise. Notes the difference in the run, for its report.
///
/// # Errors
/// The runs must not be compared: another plan, another load, or numbers that cannot be trusted.
pub fn compare(
    baseline: &RunFile,
    run: &mut RunFile,
    progress: Progress,
    console: &mut Console<'_>,
) -> Result<bool, UsageError> {
    let options = CompareOptions {
        smallest_change: 0.05,
    };
    let mut comparison = Comparison::of(baseline, std::slice::from_ref(run), options);
    comparison.refuse();
    let compared = comparison.others.first();
    let changed = compared.filter(|compared| {
        compared.refusals.is_empty() && matches!(compared.finding, Finding::Worse | Finding::Better)
    });
    run.baseline = changed.map(|compared| BaselineChange {
        name: comparison.base.clone(),
        sentence: compared.sentence.clone(),
        is_worse: compared.finding == Finding::Worse,
    });
    match progress {
        Progress::Quiet if comparison.is_worse() || comparison.is_refused() => {
            console.print_error(&comparison.text(&|_, text| text.to_owned()));
        }
        Progress::Quiet => {}
        _ => print(&comparison, console),
    }
    if comparison.is_refused() {
        Err(
            "this run must not be compared with its baseline; make a new one with `--run-file`"
                .into(),
        )
    } else {
        Ok(comparison.is_worse())
    }
}

/// Prints a comparison, in colours.
pub fn print(comparison: &Comparison, console: &mut Console<'_>) {
    let style = console.style;
    let mark = |finding: Finding, text: &str| match finding {
        Finding::Worse => style.red(text),
        Finding::Better => style.green(text),
        _ => text.to_owned(),
    };
    console.print(&comparison.text(&mark));
}
