//! `cargo xtask record`: records what real JMeter writes for the plans in `compat/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use drumfire_testkit::compat::timed::{Recorded, TimedCase};
use drumfire_testkit::compat::{self, Servers};

/// How many times JMeter runs a timed case.
const TIMED_RUNS: usize = 3;
/// A timed case that runs longer is considered stuck. After an open model, JMeter waits a minute for one of its own
/// threads.
const LIMIT: Duration = Duration::from_secs(150);

/// Records the case with this name, all cases with this prefix if a `*` follows, or all.
pub fn record(only: Option<&str>) -> anyhow::Result<()> {
    let home = std::env::var_os("JMETER_HOME")
        .map(PathBuf::from)
        .context("JMETER_HOME is not set")?;
    let program = home.join("bin/jmeter");
    let root = xtask::root().join("compat");
    let mut folders = compat::cases(&root)?;
    folders.extend(compat::cases(&root.join("timed"))?);
    let mut recorded = 0;
    for folder in folders {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if only.is_none_or(|only| is_meant(only, &name)) {
            let told = if TimedCase::is_at(&folder) {
                timed(&program, &folder)
            } else {
                case(&program, &folder).map(|rows| format!("{rows} rows"))
            };
            println!("{name}: {}", told.with_context(|| name.clone())?);
            recorded += 1;
        }
    }
    if recorded == 0 {
        bail!("compat/ has no such case");
    }
    Ok(())
}

fn is_meant(only: &str, name: &str) -> bool {
    match only.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => only == name,
    }
}

fn jmeter(program: &Path, words: &[String], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(folder)
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

/// Records a timed case several times. Each run must be within the tolerance of the others.
fn timed(program: &Path, folder: &Path) -> anyhow::Result<String> {
    let case = TimedCase::read(folder)?;
    let mut runs = Vec::new();
    for _ in 0..TIMED_RUNS {
        let work = tempfile::tempdir()?;
        let rehearsal = case.rehearse(work.path())?;
        let mut command = jmeter(program, &rehearsal.words(work.path()), work.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        let run = rehearsal.attend(child, work.path(), LIMIT);
        runs.push(case.measure(&run.map_err(|said| anyhow!(said))?));
    }
    let mut recorded = Recorded::new();
    for (name, value) in runs.iter().flatten() {
        recorded
            .entry(name.clone())
            .or_default()
            .push(value.clone());
    }
    case.write_recorded(&recorded)?;
    let unsteady = case.unsteady(&recorded);
    if unsteady.is_empty() {
        Ok(format!("{} measures", recorded.len()))
    } else {
        Ok(format!("UNSTEADY: {}", unsteady.join("; ")))
    }
}

fn case(program: &Path, case: &Path) -> anyhow::Result<usize> {
    let servers = Servers::start(case)?.context("the case needs a server that is not installed")?;
    let work = tempfile::tempdir()?;
    compat::lay_out(case, work.path())?;
    let words = servers.words(work.path());
    let mut command = jmeter(program, &words, work.path());
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let results = std::fs::read_to_string(work.path().join(compat::RESULTS))?;
    let rows = compat::rows(&results, &servers)?;
    std::fs::write(case.join("expected.csv"), compat::write(&rows)?)?;
    let expected = case.join("expected");
    if expected.exists() {
        std::fs::remove_dir_all(&expected)?;
    }
    for (name, text) in compat::written(case, work.path(), &servers)? {
        let path = expected.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&expected))?;
        std::fs::write(path, text)?;
    }
    Ok(rows.len())
}
