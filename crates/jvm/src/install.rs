//! Assembles the jars of JMeter 5.6.3 where no JMeter is installed, and fetches the jars that a project names.

use std::path::{Path, PathBuf};

use drumfire_expr::Properties;

use crate::artifacts::{self, Artifact, Locked};
use crate::{cache_folder, fingerprint, maven};

/// Maven coordinates with commas between them: jars that come with all that they depend on.
pub const DEPENDENCIES: &str = "drumfire.jvm.dependencies";
/// Is in a JMeter that is whole.
const COMPLETE: &str = "complete";

/// The folder for a JMeter that is put together here.
pub fn home() -> PathBuf {
    cache_folder().join("jmeter-5.6.3")
}

pub fn is_complete(home: &Path) -> bool {
    home.join(COMPLETE).is_file()
}

/// Whether the jars are in the local repository, or Maven can bring them.
pub fn is_possible(properties: &Properties) -> bool {
    maven::program().is_some() || missing(properties).is_empty()
}

/// Puts JMeter together in `home`: from the local Maven repository, which Maven fills first where something is missing. Each
/// jar's content is checked.
///
/// # Errors
/// If something is missing or wrong, or with Maven's message.
pub fn install(home: &Path, properties: &Properties, tell: fn(&str)) -> Result<(), String> {
    let all = artifacts::jmeter();
    let missing = missing(properties);
    if !missing.is_empty() {
        tell(&format!(
            "Maven brings {} of the {} jars of JMeter 5.6.3",
            missing.len(),
            all.len()
        ));
        let wanted: Vec<&Artifact> = missing.iter().collect();
        maven::fetch(&wanted, properties, tell)?;
    }
    let repository = repository(properties)?;
    for locked in &all {
        place(locked, &repository, home)?;
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

fn repository(properties: &Properties) -> Result<PathBuf, String> {
    artifacts::repository(properties).ok_or_else(|| "there is no home folder".to_owned())
}

/// The jars that the local repository does not have.
fn missing(properties: &Properties) -> Vec<Artifact> {
    let all = artifacts::jmeter().into_iter().map(|one| one.artifact);
    match artifacts::repository(properties) {
        Some(repository) => all
            .filter(|one| !one.path_in(&repository).is_file())
            .collect(),
        None => all.collect(),
    }
}

/// Copies a jar to where JMeter has it.
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
            "{} is not the {artifact} that JMeter 5.6.3 was released with; delete it and try again",
            source.display()
        ));
    }
    let problem = |error: std::io::Error| format!("{}: {error}", target.display());
    std::fs::create_dir_all(&folder).map_err(problem)?;
    std::fs::copy(&source, &target).map(|_| ()).map_err(problem)
}

/// The jars that [`DEPENDENCIES`] names. Maven is asked once; its answer is kept.
///
/// # Errors
/// Coordinates that are none, or what Maven says.
pub fn dependencies(properties: &Properties, tell: fn(&str)) -> Result<Vec<PathBuf>, String> {
    let Some(text) = properties.get_trimmed(DEPENDENCIES) else {
        return Ok(Vec::new());
    };
    let wanted = text
        .split(',')
        .filter(|one| !one.trim().is_empty())
        .map(Artifact::parse)
        .collect::<Result<Vec<_>, _>>()?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(jars) = known_dependencies(&text) {
        return Ok(jars);
    }
    let known = answer_file(&text);
    tell(&format!("Maven brings {text} and what they depend on"));
    let jars = maven::resolve(&wanted, properties, tell)?;
    let lines: Vec<_> = jars.iter().map(|jar| jar.to_string_lossy()).collect();
    let problem = |error: std::io::Error| format!("{}: {error}", known.display());
    std::fs::create_dir_all(cache_folder()).map_err(problem)?;
    std::fs::write(&known, lines.join("\n")).map_err(problem)?;
    Ok(jars)
}

/// What Maven has answered for these dependencies, if the jars are still there.
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
    fn coordinates_are_checked_before_maven_is_asked() {
        let properties = Properties::new();
        assert_eq!(dependencies(&properties, quiet), Ok(Vec::new()));
        properties.set(DEPENDENCIES, "com.h2database:h2");
        assert_eq!(
            dependencies(&properties, quiet),
            Err("'com.h2database:h2' is not group:artifact:version".to_owned())
        );
    }
}
