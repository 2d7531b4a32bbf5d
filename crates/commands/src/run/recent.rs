//! Remembers the plan of the last run, for `-t LAST` and `-l LAST`.
//!
//! JMeter stores its recent files in Java's preferences, and only its GUI writes them. Drumfire remembers every run,
//! in `last-plan` in the user's state folder.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use drumfire_platform::replacement::replace;
use drumfire_platform::state_folder;

/// The file that stores the last plan, given the environment variables; `None` without a home directory.
pub fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(state_folder(variable)?.join("last-plan"))
}

/// The folder in which runs with a page are registered.
pub fn runs_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(state_folder(variable)?.join("runs"))
}

/// Stores the absolute path of a plan.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn remember(place: &Path, plan: &Path) -> io::Result<()> {
    let plan = std::path::absolute(plan)?;
    let bytes = plan.as_os_str().as_encoded_bytes();
    // Most runs are of the same plan as the last one, and replacing a file takes longer than reading it.
    if std::fs::read(place).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder)?;
    }
    replace(place, |file| file.write_all(bytes))
}

/// The plan of the last run, if one was stored.
pub fn recall(place: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(place).ok()?;
    let line = text.trim_end_matches('\n');
    (!line.is_empty()).then(|| PathBuf::from(line))
}

/// The result file that `-l LAST` means: the plan's name with `.jtl` in place of `.jmx` (`JMeter.processLAST`). For a
/// plan without that extension the word stays as it is, as in JMeter.
pub fn results_of(plan: &Path) -> PathBuf {
    let is_jmx = plan
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
    if is_jmx {
        plan.with_extension("jtl")
    } else {
        PathBuf::from("LAST")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("deep/last-plan");
        assert_eq!(recall(&place), None);
        remember(&place, Path::new("/plans/shop.jmx")).expect("written");
        assert_eq!(recall(&place), Some(PathBuf::from("/plans/shop.jmx")));
    }

    #[test]
    fn results_are_named_after_the_plan() {
        assert_eq!(
            results_of(Path::new("/p/Shop.JMX")),
            PathBuf::from("/p/Shop.jtl")
        );
        assert_eq!(results_of(Path::new("/p/shop.xml")), PathBuf::from("LAST"));
    }
}
