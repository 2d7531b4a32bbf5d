//! `cargo xtask record`: what real JMeter writes for the plans in `compat/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use drumfire_testkit::compat;

/// Records one case, or all.
pub fn record(only: Option<&str>) -> anyhow::Result<()> {
    let home = std::env::var_os("JMETER_HOME")
        .map(PathBuf::from)
        .context("JMETER_HOME is not set")?;
    let program = home.join("bin/jmeter");
    let mut recorded = 0;
    for folder in compat::cases(&xtask::root().join("compat"))? {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if only.is_none_or(|only| only == name) {
            let rows = case(&program, &folder).with_context(|| name.clone())?;
            println!("{name}: {rows} rows");
            recorded += 1;
        }
    }
    if recorded == 0 {
        bail!("compat/ has no such case");
    }
    Ok(())
}

fn case(program: &Path, case: &Path) -> anyhow::Result<usize> {
    let site = compat::site();
    let work = tempfile::tempdir()?;
    compat::lay_out(case, work.path())?;
    let mut command = Command::new(program);
    command
        .args(compat::words(work.path(), &site))
        .current_dir(work.path())
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let results = std::fs::read_to_string(work.path().join(compat::RESULTS))?;
    let rows = compat::rows(&results, &site)?;
    std::fs::write(case.join("expected.csv"), compat::write(&rows)?)?;
    let expected = case.join("expected");
    if expected.exists() {
        std::fs::remove_dir_all(&expected)?;
    }
    for (name, text) in compat::written(case, work.path(), &site)? {
        let path = expected.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&expected))?;
        std::fs::write(path, text)?;
    }
    Ok(rows.len())
}
