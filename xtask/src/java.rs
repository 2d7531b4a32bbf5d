//! `cargo xtask java` builds the jar that `crates/jvm` embeds from the sources in `java/`; `cargo xtask test` tests the
//! sources.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

const SOURCES: &str = "java/src/main/java";
/// The tests. They replace the class that calls into the real engine with their own.
const TESTS: &str = "java/src/test/java";
const JAR: &str = "crates/jvm/assets/drumfire-bridge.jar";
/// The SHA-256 of each source that the jar was built from, so that a stale jar is detected without a JDK.
const BUILT_FROM: &str = "crates/jvm/assets/drumfire-bridge.sources";

/// Builds the jar. The same sources and the same JDK give the same bytes.
pub fn build() -> anyhow::Result<()> {
    let root = xtask::root();
    let home = home().context("JMETER_HOME has no JMeter: the bridge is compiled against it")?;
    let classes = xtask::ScratchFolder::new("classes")?;
    compile(&root.join(SOURCES), &classpath(&home)?, classes.path())?;
    let mut jar = Command::new("jar");
    jar.args(["--create", "--no-manifest", "--date=2026-01-01T00:00:00Z"])
        .arg(flag("--file=", &root.join(JAR)))
        .args(files(classes.path(), "class")?)
        .current_dir(classes.path());
    xtask::run(&mut jar)?;
    fs::write(root.join(BUILT_FROM), fingerprints(&root)?)?;
    Ok(())
}

/// Runs the tests of the sources with the JUnit that comes with JMeter. A missing JDK or JMeter is reported but is not a
/// failure, because the jar itself is checked in.
pub fn test() -> anyhow::Result<()> {
    let Some(home) = home() else {
        return skipped("there is no JMeter (JMETER_HOME)");
    };
    if Command::new("javac").arg("-version").output().is_err() {
        return skipped("there is no JDK");
    }
    let root = xtask::root();
    let (classes, tests) = (
        xtask::ScratchFolder::new("classes")?,
        xtask::ScratchFolder::new("tests")?,
    );
    let mut jars = classpath(&home)?;
    compile(&root.join(SOURCES), &jars, classes.path())?;
    jars.insert(0, classes.path().to_path_buf());
    let folder = root.join(TESTS);
    compile(&folder, &jars, tests.path())?;
    // The tests' engine precedes the real one on the class path.
    jars.insert(0, tests.path().to_path_buf());
    let names = files(&folder, "java")?.into_iter().filter_map(|file| {
        let name = file.with_extension("").to_str()?.replace('/', ".");
        name.ends_with("Test").then_some(name)
    });
    let mut java = Command::new("java");
    // As the run's own options do (`OWN_OPTIONS` of `crates/jvm`).
    java.arg("--add-opens=java.base/java.lang=ALL-UNNAMED")
        .arg(flag("-Djmeter.home=", &home))
        .arg("-cp")
        .arg(std::env::join_paths(jars)?)
        .arg("org.junit.runner.JUnitCore")
        .args(names);
    let output = java.output().context("java")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

fn skipped(why: &str) -> anyhow::Result<()> {
    eprintln!("xtask: SKIPPED: the tests of {TESTS}, since {why}");
    Ok(())
}

/// JMeter's home: `JMETER_HOME`, or `~/jmeter`.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("JMETER_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join("jmeter")))
        .filter(|home| home.join("lib/ext").is_dir())
}

pub(crate) fn compile(folder: &Path, classpath: &[PathBuf], classes: &Path) -> anyhow::Result<()> {
    let mut javac = Command::new("javac");
    javac
        .args([
            "--release",
            "17",
            "-proc:none",
            "-Werror",
            "-XDstringConcat=inline",
        ])
        .arg("-Xlint:all,-serial,-processing,-classfile,-path")
        .arg("-d")
        .arg(classes)
        .arg("-cp")
        .arg(std::env::join_paths(classpath)?)
        .args(files(folder, "java")?)
        .current_dir(folder);
    xtask::run(&mut javac)
}

/// JMeter's jars except its SLF4J binding. There may be only one binding, and the bridge brings its own.
pub(crate) fn classpath(home: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut jars = Vec::new();
    for folder in ["lib", "lib/ext"].map(|folder| home.join(folder)) {
        let found = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        jars.extend(found.flatten().map(|entry| entry.path()));
    }
    jars.retain(|jar| {
        let name = jar.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jar") && !name.starts_with("log4j-slf4j-impl")
    });
    jars.sort();
    Ok(jars)
}

fn flag(name: &str, path: &Path) -> OsString {
    let mut flag = OsString::from(name);
    flag.push(path);
    flag
}

/// The files below a folder with this extension, sorted, by relative path.
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
