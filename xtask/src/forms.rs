//! `cargo xtask forms` records what JMeter's own forms say about its elements, and compares the facts with it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};

const SOURCES: &str = "java/src/main/java/dev/drumfire/forms";
const RECORD: &str = "crates/elements/jmeter-5.6.3.tsv";

/// Records the forms of JMeter and of its plugins in `lib/ext`, and runs the test that compares.
pub fn record() -> anyhow::Result<()> {
    let root = xtask::root();
    let home = crate::java::home()
        .context("set JMETER_HOME to a JMeter 5.6.3 with the plugins of the record")?;
    let classes = xtask::ScratchFolder::new("classes")?;
    let jars = crate::java::classpath(&home)?;
    crate::java::compile(&root.join(SOURCES), &jars, classes.path())?;
    let own = jars
        .iter()
        .filter(|jar| jar.starts_with(home.join("lib/ext")))
        .cloned();
    let own: Vec<PathBuf> = own.collect();
    let path = [vec![classes.path().to_path_buf()], jars].concat();
    let output = Command::new("java")
        .args(["--add-opens", "java.desktop/sun.awt=ALL-UNNAMED", "-cp"])
        .arg(std::env::join_paths(path)?)
        .arg("dev.drumfire.forms.Forms")
        .arg(&home)
        .args(own)
        .output()
        .context("java")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::write(
        root.join(RECORD),
        sorted(&String::from_utf8(output.stdout)?),
    )?;
    xtask::run(xtask::cargo().args([
        "test",
        "-p",
        "drumfire-elements",
        "--test",
        "all",
        "forms::",
    ]))
}

/// The lines with those of each form in order of the alphabet, so that a change shows where it is.
fn sorted(lines: &str) -> String {
    let mut forms: Vec<Vec<&str>> = Vec::new();
    for line in lines.lines() {
        match forms.last_mut() {
            Some(form) if !line.starts_with("form\t") => form.push(line),
            _ => forms.push(vec![line]),
        }
    }
    for form in &mut forms {
        form[1..].sort_unstable();
    }
    forms
        .concat()
        .iter()
        .map(|line| format!("{line}\n"))
        .collect()
}
