//! The report of `drumfire jvm`: the Java and the jars that plans will run with.

use std::fmt::Write as _;
use std::path::Path;

use drumfire_engine::java::JavaFailure;

use crate::conflicts::{Conflict, conflicts};
use crate::{Jvm, archive, install, jars, machine, plugins};

impl Jvm {
    /// Reports what was found, one line each, and starts nothing.
    ///
    /// # Errors
    /// If something is missing, with the remedy.
    pub fn report(&self) -> Result<String, JavaFailure> {
        let (java, jmeter) = self.installations()?;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            writeln!(text, "{name:<9} {value}").expect("a text takes everything");
        };
        let home = jmeter.home.display();
        line(
            "java",
            format!("{} in {}", java.version, java.home.display()),
        );
        if jmeter.is_missing && !install::is_complete(&jmeter.home) {
            line(
                "jmeter",
                "fetched when a plan needs it, or now with: drumfire jvm install".to_owned(),
            );
            return Ok(text);
        }
        line(
            "jmeter",
            format!("{} jars in {home}", jmeter.own_jars().len()),
        );
        let file = archive::file(java, &self.own_jars(jmeter)?, &jmeter.home);
        line(
            "classes",
            if file.is_file() {
                format!("shared from {}", file.display())
            } else {
                "read from the jars; the first run makes an archive".to_owned()
            },
        );
        let mut class_path = jmeter.own_jars();
        let named = jars::JMeter::named_jars(&self.properties, &[]);
        for jar in &named {
            line("classpath", jar.display().to_string());
        }
        let added = install::added(&self.properties);
        if !added.is_empty() {
            line("maven", added.clone());
            class_path.extend(install::known_dependencies(&added).unwrap_or_default());
        }
        class_path.extend(named);
        for conflict in conflicts(&class_path) {
            line("conflict", conflict_line(&conflict));
        }
        Ok(text)
    }

    /// Fetches all jars and makes the archive of classes, unless it is there. `more` are the coordinates of plugins to install
    /// for all runs to come.
    ///
    /// # Errors
    /// If something is missing, with the remedy. Java works without an archive.
    pub fn install(&self, more: &[String]) -> Result<(), JavaFailure> {
        let (java, jmeter) = self.installations()?;
        let own = self.own_jars(jmeter)?;
        let access = self.jar_access();
        if !more.is_empty() {
            let all = plugins::with(more);
            install::dependencies(
                &install::joined(&self.properties, &all),
                &access,
                java.version,
            )?;
            plugins::store(&all)?;
        }
        let file = archive::file(java, &own, &jmeter.home);
        if !file.is_file() {
            access.line("preparing Java's classes for a quick start; this is done once");
            let options = &machine::OWN_OPTIONS;
            if let Err(why) = archive::make(&file, java, &own, &jmeter.home, options) {
                access.line(&format!(
                    "Java starts without an archive of its classes: {why}"
                ));
            }
        }
        // Last, because a run starts this in the background for the archive's sake.
        let added = install::added(&self.properties);
        install::dependencies(&added, &access, java.version)?;
        Ok(())
    }

    /// Takes plugins, given as `group:artifact`, off the class path of runs to come. Their jars stay in the local Maven repository.
    ///
    /// # Errors
    /// If one is not installed, or the list cannot be written.
    pub fn remove(&self, projects: &[String]) -> Result<(), JavaFailure> {
        let installed = plugins::installed();
        let is_missing = |project: &&String| {
            installed
                .iter()
                .all(|one| plugins::project(one) != project.as_str())
        };
        if let Some(project) = projects.iter().find(is_missing) {
            let why = format!("`{project}` is not installed; `drumfire jvm` lists what is");
            return Err(why.into());
        }
        plugins::store(&plugins::without(projects))
    }
}

/// Says which jar wins, and how many classes of the other are not loaded.
fn conflict_line(conflict: &Conflict) -> String {
    let Conflict {
        winner,
        loser,
        classes,
        example,
    } = conflict;
    let (winner, loser) = (name(winner), name(loser));
    match classes {
        1 => format!("{winner} hides another version of {example} in {loser}"),
        _ => format!(
            "{winner} hides other versions of {classes} classes in {loser}, such as {example}"
        ),
    }
}

fn name(jar: &Path) -> String {
    jar.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
