//! The plan and the settings that a command works with.

pub mod authorities;
pub mod options;
pub mod plan_file;
pub mod profiles;
pub mod project;
mod project_faults;
pub mod properties;

use std::path::Path;

use drumfire_java::JvmDefaults;
use drumfire_jmx::Diagnostic;
use jiff::Timestamp;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::options::PropertyOptions;
use crate::settings::profiles::ProfileChoice;
use crate::settings::properties::{RunProperties, Surroundings};
use crate::terminal::findings::{self, Shown};

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
    let mut set = project::properties(plan, &choice)?;
    set.extend(
        own.iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone())),
    );
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
