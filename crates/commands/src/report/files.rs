//! The files of a report: which ones to write, whether they may be written, and writing them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::{cause, unwritable};
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_report::{
    Apdex, Case, CiSystem, LabelMatcher, PageOptions, RunFile, csv_tables, junit, outcome_markdown,
    outcome_metrics, report_page, report_payload, statistics_json,
};

use crate::refusal::FileFailure;
use crate::report::arguments::ReportFiles;
use crate::run::criteria::thresholds::allows_unjudged;
use crate::run::outputs;
use crate::settings::properties::RunProperties;

/// The property that names the folder if `-o` is not given (`JMeter.JMETER_REPORT_OUTPUT_DIR_PROPERTY`).
const FOLDER_PROPERTY: &str = "jmeter.reportgenerator.outputdir";
/// The default folder (`reportgenerator.properties`).
const FOLDER: &str = "report-output";
/// The page in a report's folder.
const PAGE: &str = "index.html";
/// The statistics in a report's folder.
const STATISTICS: &str = "statistics.json";
/// The run file in a report's folder.
pub const RUN: &str = "run.drumfire";

/// The folder of a report for which the user names none.
pub fn default_folder(settings: &RunProperties) -> PathBuf {
    let property = settings.properties.get(FOLDER_PROPERTY);
    PathBuf::from(
        property
            .filter(|folder| !folder.is_empty())
            .unwrap_or(FOLDER),
    )
}

/// Checks that a report may be written to the folder, with JMeter's messages (`JOrphanUtils.canSafelyWriteToFolder`).
/// With `force`, it empties a folder that has content and deletes a file in its place.
///
/// # Errors
/// The message for the user.
pub fn claim_folder(folder: &Path, force: bool) -> Result<(), FileFailure> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let refused =
        |why: String| Err(format!("Cannot write to '{}' as {why}", path.display()).into());
    if path.is_file() {
        return match (force, fs::remove_file(&path)) {
            (false, _) => refused("it is an existing file".to_owned()),
            (true, Err(_)) => refused("it is an existing file and delete failed".to_owned()),
            (true, Ok(())) => Ok(()),
        };
    }
    let Ok(mut entries) = fs::read_dir(&path) else {
        return if path.parent().is_some_and(Path::is_dir) {
            Ok(())
        } else {
            refused("folder does not exist and parent folder is not writable".to_owned())
        };
    };
    if entries.next().is_none() {
        return Ok(());
    }
    if !force {
        return refused("folder is not empty".to_owned());
    }
    match fs::remove_dir_all(&path).and_then(|()| fs::create_dir(&path)) {
        Ok(()) => Ok(()),
        Err(error) => refused(format!(
            "folder is not empty and cleanup failed with error:{}",
            cause(&error)
        )),
    }
}

/// Writes the files that the user asked for. A file that fails does not affect the others. `statistics` is the run for
/// `statistics.json`. Returns a message for each failure.
pub fn write(
    run: &RunFile,
    statistics: &RunFile,
    files: &ReportFiles,
    settings: &RunProperties,
) -> Vec<String> {
    let mut failed = Vec::new();
    let mut keep =
        |written: Result<(), FileFailure>| failed.extend(written.err().map(String::from));
    let mut pages: Vec<PathBuf> = files.page.iter().cloned().collect();
    let mut runs: Vec<PathBuf> = files.run_file.iter().cloned().collect();
    if let Some(folder) = &files.folder {
        keep(fs::create_dir_all(folder).map_err(|error| unwritable_file(folder, &error)));
        let names = [
            "aggregate_rpt_pct1",
            "aggregate_rpt_pct2",
            "aggregate_rpt_pct3",
        ];
        let percents = names.map(|name| settings.properties.get(name)?.trim().parse().ok());
        let json = statistics_json(statistics, percents);
        keep(put(&folder.join(STATISTICS), json.as_bytes()));
        pages.push(folder.join(PAGE));
        runs.push(folder.join(RUN));
    }
    if let Some(folder) = &files.tables {
        keep(fs::create_dir_all(folder).map_err(|error| unwritable_file(folder, &error)));
        for (name, table) in csv_tables(run) {
            keep(put(&folder.join(name), &table));
        }
    }
    if !pages.is_empty() {
        let page = page(run, settings);
        for file in &pages {
            keep(put(file, page.as_bytes()));
        }
    }
    for path in &runs {
        keep(outputs::write_whole(path, |file| run.write(file)));
    }
    if let Some(path) = &files.ci.junit {
        let seconds = (run.ended_ms - run.started_ms) as f64 / 1000.0;
        keep(put(
            path,
            junit(&run.name, &cases(run, settings), seconds).as_bytes(),
        ));
    }
    if let Some(path) = &files.outcome.markdown {
        keep(put(path, outcome_markdown(run).as_bytes()));
    }
    if let Some(path) = &files.outcome.metrics {
        keep(put(path, outcome_metrics(run).as_bytes()));
    }
    failed
}

/// The cases as annotations of the CI system in which this process runs.
pub fn annotations(title: &str, cases: &[Case]) -> String {
    let system = CiSystem::detect(|name| std::env::var(name).ok());
    drumfire_report::annotations(system, title, cases)
}

/// The thresholds of a run as cases for a CI system.
pub fn cases(run: &RunFile, settings: &RunProperties) -> Vec<Case> {
    let is_allowed = allows_unjudged(settings);
    let thresholds = run.thresholds.iter();
    thresholds
        .map(|threshold| Case::of(threshold, is_allowed))
        .collect()
}

/// Writes a file completely or not at all.
///
/// # Errors
/// Which file cannot be written, and why.
pub fn put(path: &Path, content: &[u8]) -> Result<(), FileFailure> {
    outputs::write_whole(path, |file| file.write_all(content))
}

fn unwritable_file(path: &Path, error: &std::io::Error) -> FileFailure {
    unwritable(path, error).into()
}

fn page(run: &RunFile, settings: &RunProperties) -> String {
    with_page_options(settings, |options, apdex, matches| {
        report_page(run, options, apdex, matches)
    })
}

/// The data that a live page shows once the run has ended.
pub fn payload(run: &RunFile, settings: &RunProperties) -> String {
    with_page_options(settings, |options, apdex, matches| {
        report_payload(run, options, apdex, matches)
    })
}

fn with_page_options(
    settings: &RunProperties,
    make: impl FnOnce(&PageOptions, &Apdex, LabelMatcher<'_>) -> String,
) -> String {
    let property = |name: &str| settings.properties.get(name).map(str::to_owned);
    let apdex = Apdex::from_properties(&property);
    make(&PageOptions::from_properties(&property), &apdex, &matches)
}

/// The pattern must match the whole label, as in ReportGenerator, which uses Jakarta ORO.
fn matches(rule: &str, label: &str) -> bool {
    Pattern::compile(rule, Dialect::Oro, RegexOptions::default())
        .is_ok_and(|pattern| pattern.full_match(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts are JMeter's (recorded with 5.6.3).
    #[test]
    fn a_folder_that_is_in_use_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        assert_eq!(claim_folder(&folder, false), Ok(()));
        fs::create_dir(&folder).unwrap();
        assert_eq!(claim_folder(&folder, false), Ok(()));
        fs::write(folder.join("x"), "").unwrap();
        let told = format!(
            "Cannot write to '{}' as folder is not empty",
            folder.display()
        );
        assert_eq!(claim_folder(&folder, false), Err(told.into()));
        assert_eq!(claim_folder(&folder, true), Ok(()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        let told = format!(
            "Cannot write to '{}' as it is an existing file",
            file.display()
        );
        assert_eq!(claim_folder(&file, false), Err(told.into()));
        let lost = place.path().join("a/b");
        let told = format!(
            "Cannot write to '{}' as folder does not exist and parent folder is not writable",
            lost.display()
        );
        assert_eq!(claim_folder(&lost, false), Err(told.into()));
    }
}
