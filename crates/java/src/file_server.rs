//! `org.apache.jmeter.services.FileServer`: which file a relative name in a plan stands for.
//!
//! Every reader of a plan's files calls [`resolve`], also the fleet's coordinator when it collects files for agents.
//! Otherwise an agent would read another file than a local run.

use std::path::{Path, PathBuf};

/// `FileServer#resolveFileFromPath`: the name as it is, if it is absolute or exists in the working folder, or else the name
/// below the folder of the plan.
#[must_use]
pub fn resolve(name: impl AsRef<Path>, plan_folder: &Path) -> PathBuf {
    let name = name.as_ref();
    existing_or(name, name, plan_folder)
}

/// `IncludeController#loadIncludedElements`: like [`resolve`], with `prefix` (the property `includecontroller.prefix`)
/// before the name in the working folder only.
#[must_use]
pub fn resolve_included(prefix: &str, name: &str, plan_folder: &Path) -> PathBuf {
    let prefixed = format!("{prefix}{name}");
    existing_or(Path::new(prefixed.trim()), Path::new(name), plan_folder)
}

fn existing_or(name: &Path, below_plan: &Path, plan_folder: &Path) -> PathBuf {
    if name.is_absolute() || name.exists() {
        name.to_path_buf()
    } else {
        plan_folder.join(below_plan)
    }
}

/// The absolute paths at which [`resolve`] looks, in its order, for messages about missing files.
#[must_use]
pub fn candidates(name: impl AsRef<Path>, plan_folder: &Path) -> Vec<PathBuf> {
    let name = name.as_ref();
    let in_working_folder = absolute(name);
    if name.is_absolute() {
        return vec![in_working_folder];
    }
    let beside_plan = absolute(&plan_folder.join(name));
    if beside_plan == in_working_folder {
        return vec![in_working_folder];
    }
    vec![in_working_folder, beside_plan]
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo runs tests in the folder of the crate, so this file is in the working folder.
    const HERE: &str = "Cargo.toml";

    #[test]
    fn a_relative_name_prefers_the_working_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan_folder = folder.path();
        for name in [HERE, "beside.csv"] {
            std::fs::write(plan_folder.join(name), "a\n").expect("it is written");
        }
        assert_eq!(resolve(HERE, plan_folder), Path::new(HERE));
        assert_eq!(resolve("src", plan_folder), Path::new("src"));
        let beside = plan_folder.join("beside.csv");
        assert_eq!(resolve("beside.csv", plan_folder), beside);
        assert_eq!(resolve(&beside, Path::new("elsewhere")), beside);
        let missing = plan_folder.join("missing/no.csv");
        assert_eq!(resolve("missing/no.csv", plan_folder), missing);
    }

    #[test]
    fn an_included_name_has_the_prefix_in_the_working_folder_only() {
        let plan_folder = Path::new("/plans");
        let included = |prefix, name| resolve_included(prefix, name, plan_folder);
        assert_eq!(included("src/", "lib.rs"), Path::new("src/lib.rs"));
        assert_eq!(included("", " Cargo.toml "), Path::new(HERE));
        assert_eq!(included("src/", "no.jmx"), Path::new("/plans/no.jmx"));
        assert_eq!(included("", "no.jmx "), Path::new("/plans/no.jmx "));
    }

    #[test]
    fn candidates_are_absolute_and_without_repetition() {
        let working = std::env::current_dir().expect("a working folder");
        assert_eq!(
            candidates("a.csv", Path::new("/plans")),
            [working.join("a.csv"), PathBuf::from("/plans/a.csv")]
        );
        for plan_folder in ["", "."] {
            assert_eq!(
                candidates("a.csv", Path::new(plan_folder)),
                [working.join("a.csv")]
            );
        }
        assert_eq!(candidates("/a.csv", &working), [PathBuf::from("/a.csv")]);
    }
}
