//! `cargo xtask forms` records what JMeter's own forms say about its elements, and compares the facts with it.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, bail};

const SOURCES: &str = "crates/elements/forms";
const RECORD: &str = "crates/elements/jmeter-5.6.3.tsv";

/// Records the forms of JMeter and of its plugins in `lib/ext`, and runs the test that compares.
pub fn record() -> anyhow::Result<()> {
    let root = xtask::root();
    let home = crate::java::home()
        .context("set JMETER_HOME to a JMeter 5.6.3 with the plugins of the record")?;
    let classes = xtask::ScratchFolder::new("classes")?;
    let jars = crate::java::classpath(&home)?;
    crate::java::compile(&root.join(SOURCES), &jars, classes.path())?;
    let path = [vec![classes.path().to_path_buf()], jars].concat();
    let output = Command::new("java")
        .args(["--add-opens", "java.desktop/sun.awt=ALL-UNNAMED", "-cp"])
        .arg(std::env::join_paths(path)?)
        .arg("Forms")
        .arg(&home)
        .output()
        .context("java")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::write(root.join(RECORD), &output.stdout)?;
    xtask::run(xtask::cargo().args([
        "test",
        "-p",
        "drumfire-elements",
        "--test",
        "all",
        "forms::",
    ]))
}
