//! Checks the class path: Java ignores an entry that does not exist, and then does not find a class, or finds another one.

use std::path::{Path, PathBuf};

use drumfire_jmx::Diagnostic;
use drumfire_platform::causes::missing;
use drumfire_platform::spelling::near_file;

use super::files::PROPERTY;
use super::is_as_jmeter;
use crate::run::settings::RunSettings;

/// The properties with entries of the class path, and what separates the entries.
const PATHS: [(&str, &[char]); 3] = [
    ("search_paths", &[';']),
    (
        "user.classpath",
        if cfg!(windows) { &[';'] } else { &[':'] },
    ),
    ("plugin_dependency_paths", &[';']),
];

/// Reports entries that do not exist.
pub fn missing_entries(settings: &RunSettings) -> Vec<Diagnostic> {
    if is_as_jmeter(settings, PROPERTY) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (property, separators) in PATHS {
        let paths = settings.properties.get_trimmed(property);
        let paths = paths.as_deref().unwrap_or_default();
        let entries = paths.split(separators).map(str::trim);
        let absent = entries.filter(|entry| !entry.is_empty() && !exists(Path::new(entry)));
        findings.extend(absent.map(|entry| finding(property, entry)));
    }
    findings
}

/// Whether an entry exists. `lib/*` stands for the jars in `lib`.
fn exists(entry: &Path) -> bool {
    if entry.file_name().is_some_and(|name| name == "*") {
        entry.parent().is_some_and(Path::is_dir)
    } else {
        entry.exists()
    }
}

fn finding(property: &str, entry: &str) -> Diagnostic {
    let message = format!(
        "{}; it is an entry of `{property}`",
        missing(Path::new(entry))
    );
    let help = match near_file(Path::new(entry), &[PathBuf::new()]) {
        Some(near) => format!("write `{}`, which exists", near.display()),
        None => format!(
            "correct the entry or remove it, or run as JMeter does without it: `-J{PROPERTY}=jmeter`"
        ),
    };
    Diagnostic::error("class-path", message).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{codes, findings, group};

    #[test]
    fn a_missing_entry_of_the_class_path_is_refused_with_the_one_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let jar = folder.path().join("plugin.jar");
        std::fs::write(&jar, "").expect("a file");
        let plan = group("1", "1", "");
        let whole = jar.to_string_lossy();
        let jars = folder.path().join("*");
        for property in ["search_paths", "user.classpath", "plugin_dependency_paths"] {
            for path in [&*whole, &*jars.to_string_lossy(), ""] {
                assert!(findings(&plan, &[(property, path)], folder.path()).is_empty());
            }
            let misspelt = whole.replace("plugin", "plugn");
            let found = findings(&plan, &[(property, &misspelt)], folder.path());
            assert_eq!(codes(&found), ["class-path"], "{property}");
            assert!(found[0].is_error());
            let help = found[0].help.as_deref().unwrap_or_default();
            assert!(help.contains(&*whole), "{help}");
            let as_jmeter = [(property, &*misspelt), ("drumfire.missing_files", "jmeter")];
            assert!(findings(&plan, &as_jmeter, folder.path()).is_empty());
        }
    }
}
