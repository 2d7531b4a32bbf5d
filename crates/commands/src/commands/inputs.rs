//! The plan and the settings that a command works with.

use std::path::{Path, PathBuf};

use drumfire_java::JvmDefaults;
use drumfire_jmx::{Diagnostic, did_you_mean};
use jiff::Timestamp;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::findings::{self, Shown};
use crate::options::{PropertyOptions, Refusal};
use crate::profiles::ProfileChoice;
use crate::properties::{self, RunProperties, Surroundings};
use crate::{jmeter, project};

/// Loads the settings from property files, the project and the command line. Prints the notes about
/// them.
pub fn settings(
    options: &PropertyOptions,
    own: &[(&'static str, String)],
    plan: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<RunProperties, Refusal> {
    let choice = ProfileChoice {
        profile: options.profile.as_deref(),
        target: options.target.as_deref(),
        variable: console.variable,
    };
    let mut set =
        project::properties(plan, &choice).map_err(|why| Refusal::new(Exit::Usage, why))?;
    let own = own.iter().cloned();
    set.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let zone = JvmDefaults::of_process().zone.rules().clone();
    let around = Surroundings {
        variable: console.variable,
        now: Timestamp::now(),
        zone: &zone,
        own: &set,
    };
    let settings = properties::resolve(options, &around)
        .map_err(|diagnostic| console.refusal_of(std::slice::from_ref(&*diagnostic)))?;
    for note in &settings.notes {
        console.warn(note);
    }
    Ok(settings)
}

/// The plan, if the file exists; otherwise a refusal with JMeter's message for a missing plan.
pub fn existing_plan(plan: &Path) -> Result<PathBuf, Refusal> {
    if plan.is_file() {
        return Ok(plan.to_path_buf());
    }
    let path = std::path::absolute(plan).unwrap_or_else(|_| plan.to_path_buf());
    let message = format!(
        "The file {} doesn't exist or can't be opened",
        path.display()
    );
    let mut refusal = jmeter::meaning::failed(&message, Exit::PlanRefused);
    if let Some(near) = near_file(plan) {
        refusal
            .err
            .push_str(&format!("hint: did you mean `{near}`?\n"));
    }
    Err(refusal)
}

/// A plan in the same folder with a similar name.
fn near_file(plan: &Path) -> Option<String> {
    let folder = match plan.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.to_ascii_lowercase().ends_with(".jmx"))
        .collect();
    let wanted = plan.file_name()?.to_string_lossy();
    let near = did_you_mean(&wanted, names.iter().map(String::as_str))?;
    Some(plan.with_file_name(near).display().to_string())
}

impl Console<'_> {
    /// The refusal of a plan or its settings.
    pub fn refusal_of(&self, diagnostics: &[Diagnostic]) -> Refusal {
        Refusal {
            exit: Exit::PlanRefused,
            out: String::new(),
            err: self.render(diagnostics),
        }
    }

    /// Diagnostics as text for standard error.
    pub fn render(&self, diagnostics: &[Diagnostic]) -> String {
        self.render_findings(diagnostics, false)
    }

    /// The same; with `verbose`, each is printed separately.
    pub fn render_findings(&self, diagnostics: &[Diagnostic], verbose: bool) -> String {
        let shown = Shown {
            is_coloured: self.err_style.is_coloured(),
            columns: self.err_columns,
        };
        findings::render(diagnostics, shown, verbose)
    }
}
