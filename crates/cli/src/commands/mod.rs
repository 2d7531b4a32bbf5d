//! The subcommands, after the command line has been understood.

mod capacity;
pub mod check;
pub mod compare;
mod ctl;
mod debug;
pub mod demo;
pub mod doctor;
pub mod fmt;
pub mod import;
pub mod jvm;
pub mod merge_plan;
pub mod mirror;
pub mod new;
pub mod plan;
pub mod record;
pub mod rename;
pub mod report;
pub mod run;
mod run_url;
mod screen;
pub mod set;
pub mod show;

use std::path::{Path, PathBuf};

use drumfire_jmx::{Diagnostic, did_you_mean};
use drumfire_results::local_zone;
use jiff::Timestamp;

use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::options::{Command, PropertyOptions, Refusal};
use crate::properties::{self, Settings, Surroundings};
use crate::{args, findings, jmeter, project};

/// Carries out a command line (without the program's name).
pub fn execute<E: Engine>(words: &[String], engine: &E, console: &mut Console<'_>) -> Exit {
    let words = match words.first() {
        Some(word) if is_plan(word) => [&["run".to_owned()], words].concat(),
        _ => words.to_vec(),
    };
    let words = &args::with_joined_ui(&words);
    if run_url::is_meant(words) {
        let carried_out = run_url::run_url(words, engine, console);
        return carried_out.unwrap_or_else(|refusal| console.refuse(&refusal));
    }
    let read = if words.first().is_some_and(|word| word.starts_with('-')) {
        jmeter::meaning::read
    } else {
        args::read
    };
    let command = match read(words) {
        Ok(command) => command,
        Err(refusal) => return console.refuse(&refusal),
    };
    let carried_out = match command {
        Command::Print(text) => {
            console.print(&text);
            Ok(Exit::Ok)
        }
        Command::Man(folder) => man(&folder),
        Command::Demo(options) => demo::demo(&options, console),
        Command::Mirror(options) => mirror::mirror(&options, console),
        Command::Doctor(options) => doctor::doctor(&options, engine, console),
        Command::Jvm(options) => jvm::jvm(&options, engine, console),
        Command::Check(options) => check::check(&options, engine, console),
        Command::Plan(options) => plan::plan(&options, engine, console),
        Command::Report(options) => report::report(&options, console),
        Command::Compare(order) => compare::compare(&order, console),
        Command::Merge(order) => compare::merge(&order, console),
        Command::Fmt(arguments) => fmt::fmt(&arguments, console),
        Command::Show(arguments) => show::show(&arguments, console),
        Command::Rename(arguments) => rename::rename(&arguments, console),
        Command::MergePlan(arguments) => merge_plan::merge_plan(&arguments, console),
        Command::Set(arguments) => set::set(&arguments, console),
        Command::Diff(arguments) => show::diff(&arguments, console),
        Command::New(arguments) => new::new(&arguments, console),
        Command::Import(arguments) => import::import(&arguments, engine, console),
        Command::Record(arguments) => record::record(&arguments, engine, console),
        Command::Run(options) => run::run(options, engine, console),
        Command::Capacity(arguments) => capacity::capacity(&arguments, engine, console),
        Command::Debug(arguments) => debug::debug(&arguments, engine, console),
        Command::Ctl(arguments) => ctl::ctl(&arguments, console),
    };
    carried_out.unwrap_or_else(|refusal| console.refuse(&refusal))
}

/// Whether a first word is a plan and no command: `drumfire plan.jmx` runs it.
fn is_plan(word: &str) -> bool {
    let path = Path::new(word);
    let ending = path.extension();
    !word.starts_with('-') && ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"))
}

fn man(folder: &Path) -> Result<Exit, Refusal> {
    args::write_man_pages(folder).map_err(|error| {
        let message = format!("{}: {error}", folder.display());
        jmeter::meaning::failed(&message, Exit::RunFailed)
    })?;
    Ok(Exit::Ok)
}

fn settings(
    options: &PropertyOptions,
    own: &[(&'static str, String)],
    plan: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<Settings, Refusal> {
    let mut set = project::read(plan).map_err(|why| jmeter::meaning::failed(&why, Exit::Usage))?;
    set.extend_from_slice(own);
    let zone = local_zone();
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

/// The plan, if there is such a file; else JMeter's words for a missing one.
fn existing_plan(plan: &Path) -> Result<PathBuf, Refusal> {
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

/// A plan in the same folder whose name was probably meant.
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
    fn refusal_of(&self, diagnostics: &[Diagnostic]) -> Refusal {
        Refusal {
            exit: Exit::PlanRefused,
            out: String::new(),
            err: self.render(diagnostics),
        }
    }

    /// Diagnostics as text for standard error.
    pub fn render(&self, diagnostics: &[Diagnostic]) -> String {
        findings::render(diagnostics, self.err_style.is_coloured(), false)
    }
}
