//! `cargo xtask java`: builds the jar that `crates/jvm` carries from the sources in `java/`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

const SOURCES: &str = "java/src/main/java";
const JAR: &str = "crates/jvm/assets/drumfire-bridge.jar";
/// The sources that the jar was built from, with their SHA-256: what is stale shows without a Java.
const BUILT_FROM: &str = "crates/jvm/assets/drumfire-bridge.sources";

/// Same sources and same JDK, same bytes.
pub fn build() -> anyhow::Result<()> {
    let root = xtask::root();
    let home = std::env::var_os("JMETER_HOME").map(PathBuf::from);
    let home = home.context("JMETER_HOME is not set: the bridge is compiled against JMeter")?;
    let classes = tempfile::tempdir()?;
    let mut javac = Command::new("javac");
    javac
        .args(["--release", "17", "-proc:none", "-Werror"])
        .arg("-Xlint:all,-serial,-processing,-classfile,-path")
        .arg("-d")
        .arg(classes.path())
        .arg("-cp")
        .arg(classpath(&home))
        .args(sources(&root)?);
    xtask::run(&mut javac)?;
    let mut jar = Command::new("jar");
    jar.args(["--create", "--no-manifest", "--date=2026-01-01T00:00:00Z"])
        .arg(flag("--file=", &root.join(JAR)))
        .args(files(classes.path(), "class")?)
        .current_dir(classes.path());
    xtask::run(&mut jar)?;
    fs::write(root.join(BUILT_FROM), fingerprints(&root)?)?;
    Ok(())
}

fn classpath(home: &Path) -> OsString {
    let folders = ["lib/*", "lib/ext/*"].map(|folder| home.join(folder));
    std::env::join_paths(folders).unwrap_or_default()
}

fn flag(name: &str, path: &Path) -> OsString {
    let mut flag = OsString::from(name);
    flag.push(path);
    flag
}

fn sources(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = root.join(SOURCES);
    let found = files(&folder, "java")?;
    Ok(found.iter().map(|file| folder.join(file)).collect())
}

/// The files below a folder with that ending, in order, as the folder sees them.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|has| has == ending) {
                found.push(path.strip_prefix(folder)?.to_path_buf());
            }
        }
    }
    if found.is_empty() {
        bail!("{} has no .{ending}", folder.display());
    }
    found.sort();
    Ok(found)
}

/// One line for each source: its SHA-256 and its name.
fn fingerprints(root: &Path) -> anyhow::Result<String> {
    let folder = root.join(SOURCES);
    let mut lines = String::new();
    for file in files(&folder, "java")? {
        let digest = Sha256::digest(fs::read(folder.join(&file))?);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push_str(&format!("{digest}  {}\n", file.display()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jar_is_built_from_the_sources() {
        let root = xtask::root();
        let built_from = fs::read_to_string(root.join(BUILT_FROM)).unwrap();
        let now = fingerprints(&root).unwrap();
        assert_eq!(built_from, now, "stale: run `cargo xtask java`");
    }
}
