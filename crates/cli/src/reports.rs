//! The files of a report: which ones, whether they may be written, and writing them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use drumfire_engine::GroupView;
use drumfire_query::regex::{Dialect, Options, Pattern};
use drumfire_report::{
    Apdex, Case, PlanIdentity, RunFile, ThresholdResult, junit, report_html, statistics_json,
};
use drumfire_results::{Recording, Threshold};
use sha2::{Digest, Sha256};

use crate::options::ReportFiles;
use crate::properties::Settings;

/// Where JMeter's `-o` comes from if it is not given (`JMeter.JMETER_REPORT_OUTPUT_DIR_PROPERTY`).
const FOLDER_PROPERTY: &str = "jmeter.reportgenerator.outputdir";
/// The folder if nothing says otherwise (`reportgenerator.properties`).
const FOLDER: &str = "report-output";
/// The page in a report's folder.
const PAGE: &str = "index.html";
/// The statistics in a report's folder.
const STATISTICS: &str = "statistics.json";
/// The run file in a report's folder.
pub const RUN: &str = "run.drumfire";

/// The folder of a report that names none.
pub fn default_folder(settings: &Settings) -> PathBuf {
    let property = settings.properties.get(FOLDER_PROPERTY);
    PathBuf::from(
        property
            .filter(|folder| !folder.is_empty())
            .unwrap_or(FOLDER),
    )
}

/// Whether a report may be written to the folder, in JMeter's words (`JOrphanUtils.canSafelyWriteToFolder`). With
/// `force` a folder with something in it is emptied, and a file in its place deleted.
///
/// # Errors
/// The message for the user.
pub fn claim_folder(folder: &Path, force: bool) -> Result<(), String> {
    let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let refused = |why: String| Err(format!("Cannot write to '{}' as {why}", path.display()));
    if path.is_file() {
        return match (force, fs::remove_file(&path)) {
            (false, _) => refused("it is an existing file".to_owned()),
            (true, Err(_)) => refused("it is an existing file and delete failed".to_owned()),
            (true, Ok(())) => Ok(()),
        };
    }
    let Ok(mut entries) = fs::read_dir(&path) else {
        return match path.parent().is_some_and(Path::is_dir) {
            true => Ok(()),
            false => refused("folder does not exist and parent folder is not writable".to_owned()),
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
            "folder is not empty and cleanup failed with error:{error}"
        )),
    }
}

/// Writes the files that are wished for. `statistics` is the run that `statistics.json` tells of.
///
/// # Errors
/// Which file cannot be written, and why.
pub fn write(
    run: &RunFile,
    statistics: &RunFile,
    files: &ReportFiles,
    settings: &Settings,
) -> Result<(), String> {
    let mut files = files.clone();
    let mut statistics_file = None;
    if let Some(folder) = &files.folder {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        statistics_file = Some(folder.join(STATISTICS));
        files.pages.push(folder.join(PAGE));
        files.runs.push(folder.join(RUN));
    }
    if !files.pages.is_empty() {
        let page = page(run, settings);
        for file in &files.pages {
            put(file, page.as_bytes())?;
        }
    }
    if let Some(file) = statistics_file {
        let lookup = |name: &str| settings.properties.get(name)?.trim().parse().ok();
        let percents = ["1", "2", "3"].map(|n| lookup(&format!("aggregate_rpt_pct{n}")));
        put(&file, statistics_json(statistics, percents).as_bytes())?;
    }
    for path in &files.runs {
        File::create(path)
            .and_then(|file| run.write(file))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if let Some(path) = &files.junit {
        let seconds = (run.ended_ms - run.started_ms) as f64 / 1000.0;
        put(path, junit(&run.name, &cases(run), seconds).as_bytes())?;
    }
    Ok(())
}

/// The thresholds of a run as cases for a CI system.
pub fn cases(run: &RunFile) -> Vec<Case> {
    run.thresholds.iter().map(Case::from).collect()
}

/// Writes a file.
///
/// # Errors
/// Which one cannot be written, and why.
pub fn put(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

fn page(run: &RunFile, settings: &Settings) -> String {
    let property = |name: &str| settings.properties.get(name).map(str::to_owned);
    let apdex = Apdex::from_properties(&property);
    // The whole label, as ReportGenerator has Jakarta ORO do it.
    let matches = |rule: &str, label: &str| {
        Pattern::compile(rule, Dialect::Oro, Options::default())
            .is_ok_and(|pattern| pattern.full_match(label))
    };
    report_html(run, &apdex, &matches)
}

/// What became of the thresholds.
pub fn threshold_results(thresholds: &[Threshold], recording: &Recording) -> Vec<ThresholdResult> {
    let verdicts = thresholds
        .iter()
        .map(|threshold| threshold.judge(recording));
    verdicts
        .map(|verdict| ThresholdResult {
            text: verdict.text().to_owned(),
            is_met: verdict.is_met(),
            value: verdict.value(),
            limit: verdict.limit(),
            unit: verdict.unit().to_owned(),
            told: verdict.to_string(),
        })
        .collect()
}

/// The plan and what tells it from others.
pub fn plan_identity(plan: &Path) -> Option<PlanIdentity> {
    let digest = Sha256::digest(fs::read(plan).ok()?);
    Some(PlanIdentity {
        path: plan.display().to_string(),
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// Where the load comes from.
pub fn environment() -> Vec<(String, String)> {
    let mut rows = vec![
        (
            "host".to_owned(),
            gethostname::gethostname().to_string_lossy().into_owned(),
        ),
        ("system".to_owned(), system()),
    ];
    if let Ok(processors) = std::thread::available_parallelism() {
        rows.push(("processors".to_owned(), processors.to_string()));
    }
    if let Some(mib) = memory_mib() {
        rows.push(("memory".to_owned(), format!("{mib} MiB")));
    }
    rows
}

fn system() -> String {
    let name = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{name}, kernel {}", release.trim()),
        Err(_) => name,
    }
}

fn memory_mib() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/meminfo")
        .ok()?
        .read_to_string(&mut text)
        .ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// How many users are meant to run, from moment to moment, in milliseconds since the Unix epoch: all main thread groups
/// as if they started with the run. Setup and teardown groups are left out.
pub fn planned_users(groups: &[GroupView], started_ms: i64, ended_ms: i64) -> Vec<(i64, u64)> {
    let is_main =
        |group: &&GroupView| !matches!(group.class, "SetupThreadGroup" | "PostThreadGroup");
    if groups
        .iter()
        .filter(is_main)
        .any(|group| !group.load.is_empty())
    {
        // How many users such a group needs depends on the server.
        return Vec::new();
    }
    let windows = groups
        .iter()
        .filter(is_main)
        .filter(|group| group.fault.is_none());
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for window in windows.flat_map(|group| &group.users) {
        changes.push((started_ms.saturating_add_unsigned(window.start_ms), 1));
        if let Some(stop_ms) = window.stop_ms {
            changes.push((started_ms.saturating_add_unsigned(stop_ms), -1));
        }
    }
    changes.retain(|(at_ms, _)| *at_ms <= ended_ms);
    changes.sort_unstable();
    // Within a second, only the last number is told.
    let mut planned: Vec<(i64, u64)> = Vec::new();
    let mut users = 0i64;
    for (at_ms, change) in changes {
        users += change;
        let now = (at_ms, users.max(0) as u64);
        match planned
            .last_mut()
            .filter(|last| last.0.div_euclid(1000) == at_ms.div_euclid(1000))
        {
            Some(last) => *last = now,
            None => planned.push(now),
        }
    }
    planned
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_engine::UserWindow;

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
        assert_eq!(claim_folder(&folder, false), Err(told));
        assert_eq!(claim_folder(&folder, true), Ok(()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        let told = format!(
            "Cannot write to '{}' as it is an existing file",
            file.display()
        );
        assert_eq!(claim_folder(&file, false), Err(told));
        let lost = place.path().join("a/b");
        let told = format!(
            "Cannot write to '{}' as folder does not exist and parent folder is not writable",
            lost.display()
        );
        assert_eq!(claim_folder(&lost, false), Err(told));
    }

    #[test]
    fn planned_users_come_and_go() {
        let window = |start_ms, stop_ms| UserWindow { start_ms, stop_ms };
        let group = |class, users| GroupView {
            name: "g".to_owned(),
            class,
            iterations: None,
            fault: None,
            users,
            load: Vec::new(),
        };
        let groups = [
            group(
                "ThreadGroup",
                vec![
                    window(0, Some(5_000)),
                    window(500, Some(5_000)),
                    window(2_000, None),
                ],
            ),
            group("SetupThreadGroup", vec![window(0, None)]),
        ];
        assert_eq!(
            planned_users(&groups, 10_000, 99_000),
            [(10_500, 2), (12_000, 3), (15_000, 1)]
        );
    }
}
