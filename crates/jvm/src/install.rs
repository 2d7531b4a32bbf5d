//! Assembles the jars of JMeter 5.6.3 if no JMeter is installed, and fetches the jars that a project names.

use std::path::{Path, PathBuf};

use drumfire_expr::Properties;
use drumfire_maven::{Artifact, Surroundings, resolve};

use crate::artifacts::{self, Locked};
use crate::{cache_folder, fingerprint, repositories};

/// The property with Maven coordinates, separated by commas: jars that are used with all their dependencies.
pub const DEPENDENCIES: &str = "drumfire.jvm.dependencies";
/// The file that marks a completely assembled JMeter.
const COMPLETE: &str = "complete";
/// The Maven group of JMeter's own jars, which a run already has.
const JMETER: &str = "org.apache.jmeter";
const ADVICE: &str = "set JMETER_HOME or -Jdrumfire.jmeter.home=FOLDER, or name a mirror or a folder of jars with \
                      -Jdrumfire.maven.repositories=URL or FOLDER";

/// The folder for a JMeter that is assembled here.
pub fn home() -> PathBuf {
    cache_folder().join("jmeter-5.6.3")
}

pub fn is_complete(home: &Path) -> bool {
    home.join(COMPLETE).is_file()
}

/// Assembles JMeter in `home` from the local Maven repository. Missing jars come from the central one or its mirror. The
/// content of each jar is checked.
///
/// # Errors
/// If a jar cannot be fetched or is wrong, with the remedy.
pub fn install(home: &Path, properties: &Properties, tell: fn(&str)) -> Result<(), String> {
    let all = artifacts::jmeter();
    let repositories = repositories::of_user(properties, tell)?;
    let is_missing = |one: &&Locked| !one.artifact.path_in(repositories.local()).is_file();
    let missing: Vec<_> = all.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        tell(&format!(
            "Fetching {} of the {} jars of JMeter 5.6.3",
            missing.len(),
            all.len()
        ));
        let wanted: Vec<_> = missing
            .iter()
            .map(|one| (&one.artifact, Some(one.sha256)))
            .collect();
        repositories.jars(&wanted).map_err(|error| {
            format!("there is no JMeter on this machine, and its jars cannot be fetched: {error}; {ADVICE}")
        })?;
    }
    for locked in &all {
        place(locked, repositories.local(), home)?;
    }
    let complete = home.join(COMPLETE);
    std::fs::write(&complete, "").map_err(|error| format!("{}: {error}", complete.display()))?;
    tell(&format!(
        "JMeter 5.6.3's {} jars are in {}",
        all.len(),
        home.display()
    ));
    Ok(())
}

/// Copies a jar to its place in JMeter's folders.
fn place(locked: &Locked, repository: &Path, home: &Path) -> Result<(), String> {
    let artifact = &locked.artifact;
    let source = artifact.path_in(repository);
    let folder = match artifact.name.starts_with("ApacheJMeter") {
        true => home.join("lib/ext"),
        false => home.join("lib"),
    };
    let target = folder.join(artifact.file_name());
    if target.is_file() && locked.is(&target) {
        return Ok(());
    }
    if !locked.is(&source) {
        return Err(format!(
            "{} is not the {artifact} that belongs to JMeter 5.6.3; delete it and try again",
            source.display()
        ));
    }
    let problem = |error: std::io::Error| format!("{}: {error}", target.display());
    std::fs::create_dir_all(&folder).map_err(problem)?;
    std::fs::copy(&source, &target).map(|_| ()).map_err(problem)
}

/// The jars that [`DEPENDENCIES`] names, with all that they need on this Java. They are resolved once, and the list is
/// cached.
///
/// # Errors
/// If coordinates are malformed, or a jar cannot be fetched.
pub fn dependencies(
    properties: &Properties,
    java: u32,
    tell: fn(&str),
) -> Result<Vec<PathBuf>, String> {
    let Some(text) = properties.get_trimmed(DEPENDENCIES) else {
        return Ok(Vec::new());
    };
    let wanted = text
        .split(',')
        .filter(|one| !one.trim().is_empty())
        .map(Artifact::parse)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(jars) = known_dependencies(&text) {
        return Ok(jars);
    }
    let known = answer_file(&text);
    tell(&format!("Resolving {text}"));
    let repositories = repositories::of_user(properties, tell)?;
    let resolved = resolve(&wanted, &[JMETER], &repositories, &Surroundings::here(java));
    let resolved = resolved.map_err(|error| format!("{DEPENDENCIES}={text}: {error}"))?;
    let jars: Vec<PathBuf> = resolved.into_iter().map(|one| one.jar).collect();
    let lines: Vec<_> = jars.iter().map(|jar| jar.to_string_lossy()).collect();
    let problem = |error: std::io::Error| format!("{}: {error}", known.display());
    std::fs::create_dir_all(cache_folder()).map_err(problem)?;
    std::fs::write(&known, lines.join("\n")).map_err(problem)?;
    Ok(jars)
}

/// The cached list for these dependencies, if the jars still exist.
pub fn known_dependencies(text: &str) -> Option<Vec<PathBuf>> {
    let list = std::fs::read_to_string(answer_file(text)).ok()?;
    let jars: Vec<PathBuf> = list.lines().map(PathBuf::from).collect();
    jars.iter().all(|jar| jar.is_file()).then_some(jars)
}

fn answer_file(text: &str) -> PathBuf {
    let fingerprint = fingerprint(text.as_bytes());
    cache_folder().join(format!("dependencies-{fingerprint:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(_: &str) {}

    #[test]
    fn a_jar_with_another_content_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let locked = artifacts::jmeter().swap_remove(0);
        let jar = locked.artifact.path_in(folder.path());
        std::fs::create_dir_all(jar.parent().expect("a parent")).expect("a folder");
        std::fs::write(&jar, "not it").expect("a file");
        let why = place(&locked, folder.path(), &folder.path().join("home")).expect_err("not it");
        assert!(
            why.contains("is not the") && why.contains("delete it"),
            "{why}"
        );
        assert!(!is_complete(&folder.path().join("home")));
    }

    #[test]
    fn coordinates_are_checked_before_anything_is_asked() {
        let properties = Properties::new();
        assert_eq!(dependencies(&properties, 17, quiet), Ok(Vec::new()));
        properties.set(DEPENDENCIES, "com.h2database:h2");
        assert_eq!(
            dependencies(&properties, 17, quiet),
            Err("'com.h2database:h2' is not group:artifact:version".to_owned())
        );
    }
}
