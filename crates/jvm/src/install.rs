//! Assembles the jars of JMeter 5.6.3 if no JMeter is installed, and fetches the jars that a project names.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use drumfire_engine::java::JavaFailure;
use drumfire_expr::Properties;
use drumfire_maven::{Artifact, Surroundings, megabytes, resolve};
use drumfire_platform::causes::unwritable;
use drumfire_platform::replacement::replace;

use crate::artifacts::{self, Locked};
use crate::repositories::JarAccess;
use crate::{cache_folder, fingerprint, plugins, repositories};

/// The property with Maven coordinates, separated by commas: jars that are used with all their dependencies.
pub const DEPENDENCIES: &str = "drumfire.jvm.dependencies";
/// The file that marks a completely assembled JMeter.
const COMPLETE: &str = "complete";
/// The Maven group of JMeter's own jars, which a run already has.
const JMETER: &str = "org.apache.jmeter";
const ADVICE: &str = "set JMETER_HOME or -Jdrumfire.jmeter.home=FOLDER, or name a mirror or a folder of jars with \
                      -Jdrumfire.maven.repositories=URL or FOLDER";
/// The command that fetches all jars.
const COMMAND: &str = "drumfire jvm install";

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
pub fn install(home: &Path, access: &JarAccess<'_>) -> Result<(), JavaFailure> {
    let all = artifacts::jmeter();
    let repositories = repositories::of_user(access)?;
    let jars: Vec<_> = all.iter().map(Locked::wanted).collect();
    repositories
        .jars(&jars)
        .map_err(|error| if repositories.is_offline() {
format!(
                "JMeter's jars are not on this machine, and nothing is fetched offline; run `{COMMAND}` with a network ({error})"
            )
} else {
format!(
                "there is no JMeter on this machine, and its jars cannot be fetched: {error}; {ADVICE}"
            )
})?;
    for locked in &all {
        copy_jar(locked, repositories.local(), home)?;
    }
    let complete = home.join(COMPLETE);
    replace(&complete, |_| Ok(())).map_err(|error| unwritable(&complete, &error))?;
    access.line(&format!(
        "JMeter 5.6.3's {} jars are in {}",
        all.len(),
        home.display()
    ));
    Ok(())
}

/// The jars of JMeter that would have to come over the network; `None` if there are none.
///
/// # Errors
/// Settings of the user that cannot be used.
pub fn unfetched(access: &JarAccess<'_>) -> Result<Option<String>, JavaFailure> {
    let all = artifacts::jmeter();
    let repositories = repositories::of_user(access)?;
    let missing: Vec<_> = all
        .iter()
        .filter(|one| !repositories.has(&one.artifact))
        .collect();
    let bytes = missing.iter().map(|one| one.bytes).sum();
    Ok((!missing.is_empty()).then(|| {
        format!(
            "{} jars of JMeter 5.6.3 ({}) from {}",
            missing.len(),
            megabytes(bytes),
            repositories.addresses()
        )
    }))
}

/// Copies a jar to its place in JMeter's folders.
fn copy_jar(locked: &Locked, repository: &Path, home: &Path) -> Result<(), JavaFailure> {
    let artifact = &locked.artifact;
    let source = artifact.path_in(repository);
    let folder = if artifact.name.starts_with("ApacheJMeter") {
        home.join("lib/ext")
    } else {
        home.join("lib")
    };
    let target = folder.join(artifact.file_name());
    if target.is_file() && locked.is(&target) {
        return Ok(());
    }
    if !locked.is(&source) {
        return Err(format!(
            "{} is not the {artifact} that belongs to JMeter 5.6.3; delete it and try again",
            source.display()
        )
        .into());
    }
    let problem = |error: io::Error| unwritable(&target, &error);
    std::fs::create_dir_all(&folder).map_err(problem)?;
    let copied = replace(&target, |file| {
        io::copy(&mut File::open(&source)?, file).map(drop)
    });
    copied.map_err(problem)?;
    Ok(())
}

/// The coordinates of the jars that [`DEPENDENCIES`] and the user's installed plugins add, separated by commas; empty without
/// any.
pub fn added(properties: &Properties) -> String {
    joined(properties, &plugins::installed())
}

/// The coordinates of [`DEPENDENCIES`] and of these plugins.
pub fn joined(properties: &Properties, plugins: &[String]) -> String {
    let named = properties.get_trimmed(DEPENDENCIES).unwrap_or_default();
    let named = named.split(',').map(str::trim).map(str::to_owned);
    let mut all: Vec<String> = Vec::new();
    for one in named.chain(plugins.iter().cloned()) {
        if !one.is_empty() && !all.contains(&one) {
            all.push(one);
        }
    }
    all.join(",")
}

/// The jars with these coordinates, separated by commas, with all that they need on this Java. They are resolved once, and the
/// list is cached.
///
/// # Errors
/// If coordinates are malformed, or a jar cannot be fetched.
pub fn dependencies(
    text: &str,
    access: &JarAccess<'_>,
    java: u32,
) -> Result<Vec<PathBuf>, JavaFailure> {
    let artifacts = text
        .split(',')
        .filter(|one| !one.trim().is_empty())
        .map(Artifact::parse)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    if artifacts.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(jars) = known_dependencies(text) {
        return Ok(jars);
    }
    let list_file = answer_file(text);
    let repositories = repositories::of_user(access)?;
    if !repositories.is_offline() {
        access.line(&format!("Resolving {text} at {}", repositories.addresses()));
    }
    let resolved = resolve(
        &artifacts,
        &[JMETER],
        &repositories,
        &Surroundings::here(java),
    );
    let resolved = resolved.map_err(|error| if repositories.is_offline() {
format!(
            "the jars of {text} are not on this machine, and nothing is fetched offline; run `{COMMAND} {}` with a network ({error})",
            text.replace(',', " ")
        )
} else {
format!("the jars of {text} cannot be fetched: {error}")
})?;
    let jars: Vec<PathBuf> = resolved.into_iter().map(|one| one.jar).collect();
    let lines: Vec<_> = jars.iter().map(|jar| jar.to_string_lossy()).collect();
    let problem = |error: io::Error| unwritable(&list_file, &error);
    std::fs::create_dir_all(cache_folder()).map_err(problem)?;
    replace(&list_file, |file| {
        file.write_all(lines.join("\n").as_bytes())
    })
    .map_err(problem)?;
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
    use drumfire_maven::Notice;

    use super::*;

    fn quiet(_: &Notice<'_>) {}

    #[test]
    fn a_jar_with_another_content_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let locked = artifacts::jmeter().swap_remove(0);
        let jar = locked.artifact.path_in(folder.path());
        std::fs::create_dir_all(jar.parent().expect("a parent")).expect("a folder");
        std::fs::write(&jar, "not it").expect("a file");
        let why =
            copy_jar(&locked, folder.path(), &folder.path().join("home")).expect_err("not it");
        assert!(
            why.as_ref().contains("is not the") && why.as_ref().contains("delete it"),
            "{why}"
        );
        assert!(!is_complete(&folder.path().join("home")));
    }

    #[test]
    fn coordinates_are_checked_before_anything_is_asked() {
        let properties = Properties::new();
        let access = JarAccess {
            properties: &properties,
            tell: quiet,
            fetches: true,
        };
        assert_eq!(dependencies("", &access, 17), Ok(Vec::new()));
        assert_eq!(
            dependencies("com.h2database:h2", &access, 17),
            Err("'com.h2database:h2' is not group:artifact:version".into())
        );
    }
}
