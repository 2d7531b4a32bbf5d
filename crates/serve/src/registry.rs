//! Registers the user's runs that have a page: a file for each, in a folder that only the user can
//! read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use drumfire_platform::files;
use serde::{Deserialize, Serialize};

/// A run with a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRun {
    /// The address of its page, with the token.
    pub url: String,
    /// The name of the plan.
    pub name: String,
    /// The machine that it runs on: several machines may share a home folder.
    pub host: String,
}

/// The file of a running run. Dropping it removes the file.
#[derive(Debug)]
pub struct RegisteredRun(PathBuf);

impl RegisteredRun {
    /// Registers a run of this process in a folder. Creates the folder if needed.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn write(folder: &Path, run: &KnownRun) -> io::Result<RegisteredRun> {
        files::private_folder(folder)?;
        let path = folder.join(format!("{}-{}.json", run.host, std::process::id()));
        // A file that an earlier process with the same id left behind may have other permissions.
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        serde_json::to_writer(files::private(&path)?, run)?;
        Ok(RegisteredRun(path))
    }
}

impl Drop for RegisteredRun {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm: `ctl` removes entries of runs that do not
        // answer.
        let _ = fs::remove_file(&self.0);
    }
}

/// The runs that are registered on this machine, each with its file. Some may have ended.
pub fn runs(folder: &Path, host: &str) -> Vec<(KnownRun, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<(KnownRun, PathBuf)> = paths
        .filter_map(|path| {
            let run: KnownRun = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            (run.host == host).then_some((run, path))
        })
        .collect();
    runs.sort_by(|a, b| a.1.cmp(&b.1));
    runs
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_run_is_known_while_it_goes_on_to_its_user_alone() {
        let place = tempfile::tempdir().expect("there is room");
        let folder = place.path().join("deep/runs");
        assert!(runs(&folder, "box").is_empty());
        let run = KnownRun {
            url: "http://127.0.0.1:1/?token=a".to_owned(),
            name: "shop.jmx".to_owned(),
            host: "box".to_owned(),
        };
        let entry = RegisteredRun::write(&folder, &run).expect("there is room");
        let again = RegisteredRun::write(&folder, &run).expect("it is replaced");
        let found = runs(&folder, "box");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, run);
        let mode = |path: &Path| {
            fs::metadata(path)
                .expect("it is there")
                .permissions()
                .mode()
        };
        assert_eq!(mode(&found[0].1) & 0o777, 0o600);
        assert_eq!(mode(&folder) & 0o777, 0o700);
        assert!(runs(&folder, "other").is_empty());
        drop(again);
        assert!(runs(&folder, "box").is_empty());
        drop(entry);
    }
}
