//! `drumfire compare` and `drumfire merge`: compare runs or merge them into one.

pub mod arguments;

use crate::terminal::format::counted;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use drumfire_platform::causes::unwritable;
use drumfire_platform::progress::Work;
use drumfire_platform::replacement::replace;
use drumfire_report::{Case, CaseState, CompareOptions, Comparison, Finding, RunFile, junit};

use crate::compare::arguments::{CompareArguments, MergeArguments};
use crate::console::Console;
use crate::exit_codes::Exit;
use crate::refusal::{FileFailure, Refusal};
use crate::report::files;
use crate::report::read_quietly;
use crate::run::criteria::baseline;
use crate::runs::history::History;
use crate::settings::options::PropertyOptions;
use crate::settings::properties::RunProperties;
use crate::settings::settings;

/// Compares runs with the first of them. The exit code says whether one is worse.
pub fn compare(arguments: &CompareArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let (base, others) = read_all(&arguments.inputs, &arguments.properties, console)?;
    let options = CompareOptions {
        smallest_change: arguments.min_change / 100.0,
    };
    let progress = Work::begin("comparing");
    let mut comparison = Comparison::of(&base, &others, options);
    drop(progress);
    if !arguments.anyway {
        comparison.refuse();
    }
    baseline::print(&comparison, console);
    if let Some(file) = &arguments.page {
        files::put(file, comparison.html().as_bytes())?;
    }
    if let Some(file) = &arguments.markdown {
        files::put(file, comparison.markdown().as_bytes())?;
    }
    let cases = cases(&comparison);
    if let Some(file) = &arguments.ci.junit {
        let suite = format!("compared with {}", comparison.base);
        files::put(file, junit(&suite, &cases, 0.0).as_bytes())?;
    }
    if arguments.ci.annotations {
        let title = format!("compared with {}", comparison.base);
        console.print_as_it_is(&files::annotations(&title, &cases));
    }
    if comparison.is_refused() {
        let message =
            "these runs must not be compared\nhint: `--anyway` compares them nevertheless";
        return Err(Refusal::run_failed(message.to_owned()));
    }
    Ok(if comparison.is_worse() {
        Exit::Worse
    } else {
        Exit::Ok
    })
}

/// A case for every label of every run.
fn cases(comparison: &Comparison) -> Vec<Case> {
    let mut cases = Vec::new();
    for other in &comparison.others {
        for label in std::iter::once(&other.total).chain(&other.labels) {
            let sentences: Vec<String> = label
                .differences
                .iter()
                .map(drumfire_report::Difference::to_string)
                .collect();
            cases.push(Case {
                name: format!("{}: {}", other.name, label.label),
                told: format!(
                    "{} is {}: {}",
                    label.label,
                    label.finding.word(),
                    sentences.join("; ")
                ),
                state: match label.finding {
                    Finding::Worse => CaseState::Failed,
                    _ => CaseState::Passed,
                },
            });
        }
    }
    cases
}

/// Merges runs and writes them as one run file.
pub fn merge(arguments: &MergeArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let (mut all, others) = read_all(&arguments.inputs, &arguments.properties, console)?;
    all.merge(&others);
    let written = replace(&arguments.output, |file| all.write(file));
    written.map_err(|error| Refusal::run_failed(unwritable(&arguments.output, &error)))?;
    console.line(&format!(
        "{} of {} in {}",
        counted(all.recording.total().count, "sample"),
        counted(arguments.inputs.len() as u64, "run"),
        arguments.output.display()
    ));
    if let Some(assumed) = &all.merged {
        console.print_error(&format!("note: {assumed}\n"));
    }
    Ok(Exit::Ok)
}

/// Reads all runs. Returns the first and the others, of which there is at least one.
fn read_all(
    inputs: &[PathBuf],
    properties: &PropertyOptions,
    console: &mut Console<'_>,
) -> Result<(RunFile, Vec<RunFile>), Refusal> {
    let settings = settings(properties, &[], None, console)?;
    let history = History::new(console.variable);
    let inputs: Vec<PathBuf> = inputs.iter().map(|input| history.meant(input)).collect();
    let mut runs = Vec::with_capacity(inputs.len());
    for (run, warnings) in read_at_once(&inputs, &settings) {
        for warning in warnings {
            console.warn(&warning);
        }
        runs.push(run.map_err(Refusal::run_failed)?);
    }
    // Runs of one plan, or files with the same name, are shown by their paths.
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (run, input) in runs.iter_mut().zip(&inputs) {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            run.name = input.display().to_string();
        }
    }
    let others = runs.split_off(1);
    Ok((runs.remove(0), others))
}

/// The run, or why it could not be read, with the warnings from reading it.
type Read = (Result<RunFile, FileFailure>, Vec<String>);

/// Reads all inputs in parallel, on as many threads as there are cores, because large result files take long. Returns them in the
/// order of the inputs.
fn read_at_once(inputs: &[PathBuf], settings: &RunProperties) -> Vec<Read> {
    let read: Vec<OnceLock<Read>> = inputs.iter().map(|_| OnceLock::new()).collect();
    let progress = Work::begin("reading runs");
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(index) else {
                return;
            };
            let mut warnings = Vec::new();
            let run = read_quietly(input, settings, &mut warnings);
            let is_first = read[index].set((run, warnings)).is_ok();
            debug_assert!(is_first, "each input is taken once");
            let ended = ended.fetch_add(1, Ordering::Relaxed) + 1;
            progress.at(ended as u64, inputs.len() as u64);
        }
    };
    let cores = drumfire_platform::processes::cores();
    thread::scope(|scope| {
        for _ in 1..cores.min(inputs.len()) {
            // If a thread cannot be started, the others read its share.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let read = read.into_iter().map(OnceLock::into_inner);
    read.map(|run| run.expect("this thread goes on until all are read"))
        .collect()
}
