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
    for folder in compat::cases(&super::root().join("compat"))? {
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

fn case(program: &Path, folder: &Path) -> anyhow::Result<usize> {
    let site = compat::site();
    let work = std::env::temp_dir().join(format!("drumfire-record-{}", std::process::id()));
    std::fs::create_dir_all(&work)?;
    let results = work.join("out.jtl");
    let mut command = Command::new(program);
    command
        .arg("-n")
        .arg("-t")
        .arg(folder.join("plan.jmx"))
        .arg("-f")
        .arg("-l")
        .arg(&results)
        .arg("-j")
        .arg(work.join("log"));
    command
        .arg(format!("-Jport={}", site.address().port()))
        .current_dir(&work)
        .stdin(Stdio::null());
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let rows = compat::rows(&std::fs::read_to_string(&results)?, &site)?;
    std::fs::write(folder.join("expected.csv"), compat::write(&rows)?)?;
    std::fs::remove_dir_all(&work)?;
    Ok(rows.len())
}
