//! `drumfire report` and JMeter's `-g FILE -o DIR`: make a report from a result file or a run file.

pub mod arguments;
pub mod files;

use std::path::Path;
use std::rc::Rc;

use drumfire_platform::progress::Work;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_report::jtl::{JtlOptions, Selection};
use drumfire_report::{RunFile, SettledPart, WITHOUT_WARM_UP, read_input};
use drumfire_results::Threshold;

use crate::console::Console;
use crate::exit_codes::Exit;
use crate::jmeter::meaning::failed;
use crate::refusal::{FileFailure, Refusal};
use crate::report::arguments::{ReportArguments, ReportFiles};
use crate::run::arguments::Progress;
use crate::run::criteria::thresholds;
use crate::run::{FAIL_ON, thresholds as all_thresholds};
use crate::runs::history::History;
use crate::settings::options::{Change, PropertyOptions};
use crate::settings::properties::RunProperties;
use crate::settings::settings;
use crate::terminal::summary::{self, Summary};

/// The property with a regular expression that a label must match in full to be in the report.
const SAMPLE_FILTER: &str = "jmeter.reportgenerator.sample_filter";

/// Makes a report. For JMeter's command line, it prints JMeter's messages and nothing else.
pub fn report(options: &ReportArguments, console: &mut Console<'_>) -> Result<Exit, Refusal> {
    let settings = settings(&properties(options), &[], None, console)?;
    let thresholds_given = if options.is_jmeter {
        Vec::new()
    } else {
        end_thresholds(&options.fail_on, &settings)?
    };
    thresholds::warn_of_inversions(&thresholds_given, console);
    let refusal = |failure: FileFailure| {
        if options.is_jmeter {
            failed(failure.as_ref(), Exit::RunFailed)
        } else {
            Refusal::run_failed(failure)
        }
    };
    let files = wanted_files(options, &settings);
    if let Some(folder) = &files.folder {
        files::claim_folder(folder, options.force).map_err(refusal)?;
    }
    if options.is_jmeter && !options.input.is_file() {
        // The wording is ReportGenerator's.
        let message = format!(
            "Cannot read test results file : {}",
            options.input.display()
        );
        return Err(refusal(message.into()));
    }
    let input = if options.is_jmeter {
        options.input.clone()
    } else {
        History::new(console.variable).meant(&options.input)
    };
    let mut run = read_run(&input, &settings, console).map_err(refusal)?;
    if settings.properties.get(WITHOUT_WARM_UP) == Some("true") {
        run.settled = Some(SettledPart::of(&run.recording));
    }
    let mut broke_threshold = false;
    if !options.is_jmeter {
        print_summary(&run, console);
        let verdicts = thresholds_given
            .iter()
            .map(|threshold| threshold.judge(run.statistics()))
            .collect();
        let judged = thresholds::results(verdicts, run.statistics());
        let allows_unjudged = thresholds::allows_unjudged(&settings);
        broke_threshold = thresholds::print(&judged, allows_unjudged, Progress::Lines, console);
        if !judged.is_empty() {
            run.thresholds = judged;
        }
    }
    let progress = Work::begin("writing the report");
    let lost = files::write(&run, &run, &files, &settings);
    drop(progress);
    if files.ci.annotations {
        console.print_as_it_is(&files::annotations(
            &run.name,
            &files::cases(&run, &settings),
        ));
    }
    if !lost.is_empty() {
        return Err(refusal(lost.join("\nerror: ").into()));
    }
    Ok(if broke_threshold {
        Exit::ThresholdsNotMet
    } else {
        Exit::Ok
    })
}

/// The properties, with those that options switch on.
fn properties(options: &ReportArguments) -> PropertyOptions {
    let mut properties = options.properties.clone();
    let switches = [
        (options.allow_unjudged, thresholds::ALLOW_UNJUDGED),
        (options.without_warm_up, WITHOUT_WARM_UP),
    ];
    let changes = switches
        .iter()
        .filter(|(is_on, _)| *is_on)
        .map(|(_, name)| Change::switched_on(name));
    properties.changes.extend(changes);
    properties
}

/// The files to write. JMeter always writes a folder.
fn wanted_files(options: &ReportArguments, settings: &RunProperties) -> ReportFiles {
    let mut files = options.files();
    if options.is_jmeter {
        files
            .folder
            .get_or_insert_with(|| files::default_folder(settings));
    }
    files
}

fn print_summary(run: &RunFile, console: &mut Console<'_>) {
    let columns = console.columns();
    let text = summary::render(
        &Summary::of_part(&run.recording, run.settled.as_ref()),
        console.style,
        columns,
        false,
    );
    console.print(&text);
}

/// Reads a run file or a result file. Prints warnings about it.
pub fn read_run(
    path: &Path,
    settings: &RunProperties,
    console: &mut Console<'_>,
) -> Result<RunFile, FileFailure> {
    let mut warnings = Vec::new();
    let progress = Work::begin(format!("reading {}", path.display()));
    let run = read_quietly(path, settings, &mut warnings);
    drop(progress);
    for warning in warnings {
        console.warn(&warning);
    }
    run
}

/// Reads a run file or a result file. Adds warnings about it to `warnings`.
pub fn read_quietly(
    path: &Path,
    settings: &RunProperties,
    warnings: &mut Vec<String>,
) -> Result<RunFile, FileFailure> {
    let lookup = |name: &str| settings.properties.get(name).map(str::to_owned);
    let mut options = JtlOptions::from_properties(&lookup);
    options.selection = Selection::from_properties(&lookup).map_err(|error| error.to_string())?;
    if let Some(rule) = lookup(SAMPLE_FILTER).filter(|rule| !rule.is_empty()) {
        let pattern = Pattern::compile(&rule, Dialect::Java, RegexOptions::default())
            .map_err(|error| format!("{SAMPLE_FILTER}: {error}"))?;
        options.selection.label = Some(Rc::new(move |label| pattern.full_match(label)));
    }
    read_input(path, &options, warnings).map_err(|error| error.to_string().into())
}

/// The thresholds, which must concern the whole run: the files of a run do not record every second
/// exactly.
fn end_thresholds(given: &[String], settings: &RunProperties) -> Result<Vec<Threshold>, Refusal> {
    let all = all_thresholds(given, FAIL_ON, settings)?;
    match all.iter().find(|threshold| threshold.is_windowed()) {
        Some(threshold) => Err(Refusal::usage(format!(
            "threshold `{}`: a stretch of time is watched while the run goes on; give it to `drumfire run`",
            threshold.text()
        ))),
        None => Ok(all),
    }
}
