//! The plugins that the user has installed with `drumfire jvm install`. Like the jars in a JMeter's `lib/ext`, they are on the
//! class path of every run.

use std::io::Write as _;
use std::path::PathBuf;

use drumfire_engine::java::JavaFailure;
use drumfire_platform::replacement::replace;

/// The coordinates of installed plugins, in the order of their installation.
pub fn installed() -> Vec<String> {
    let text = file().and_then(|file| std::fs::read_to_string(file).ok());
    let text = text.unwrap_or_default();
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Installed plugins with some more. A plugin that is there in another version is replaced.
pub fn with(more: &[String]) -> Vec<String> {
    let projects: Vec<String> = more.iter().map(|one| project(one).to_owned()).collect();
    let mut all = without(&projects);
    all.extend(more.iter().cloned());
    all
}

/// Installed plugins except those of some projects (`group:artifact`), in whatever version.
pub fn without(projects: &[String]) -> Vec<String> {
    let mut all = installed();
    all.retain(|one| projects.iter().all(|other| other != project(one)));
    all
}

/// Stores the list of installed plugins.
///
/// # Errors
/// Where it cannot be stored, and why.
pub fn store(all: &[String]) -> Result<(), JavaFailure> {
    let Some(file) = file() else {
        return Err("plugins cannot be remembered: set HOME or XDG_STATE_HOME".into());
    };
    let problem = |error: std::io::Error| format!("`{}`: {error}", file.display());
    let folder = file.parent().unwrap_or(&file);
    drumfire_platform::files::private_folder(folder).map_err(problem)?;
    replace(&file, |file| file.write_all(all.join("\n").as_bytes())).map_err(problem)?;
    Ok(())
}

fn file() -> Option<PathBuf> {
    Some(drumfire_platform::state_folder(drumfire_platform::variable)?.join("plugins"))
}

/// The group and the artifact of coordinates.
pub fn project(coordinates: &str) -> &str {
    let end = coordinates.match_indices(':').nth(1);
    end.map_or(coordinates, |(end, _)| &coordinates[..end])
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn a_project_is_the_same_in_every_version() {
        assert_eq!(project("kg.apc:a:1"), project("kg.apc:a:2.1"));
        assert_ne!(project("kg.apc:a:1"), project("kg.apc:b:1"));
        assert_eq!(project("kg.apc:a"), "kg.apc:a");
    }
}
