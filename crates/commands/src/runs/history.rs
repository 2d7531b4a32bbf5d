//! Where the run files of the last runs are: beside the project's `drumfire.toml`, or else in the user's state folder, in a
//! folder of its own for each working folder. Nothing is written or deleted through a link.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use drumfire_platform::files::{is_real_folder, private_folder};
use drumfire_platform::replacement::replace;
use drumfire_platform::state_folder;
use drumfire_platform::words::hex;
use sha2::{Digest, Sha256};

use crate::run::run_file::kept_run::ENDING;
use crate::settings::project;

/// The folder of a project, beside its `drumfire.toml`.
pub const PROJECT: &str = ".drumfire";
/// The folder in the user's state folder.
const OF_USER: &str = "history";
/// In a working folder's history: the projects elsewhere whose plans were run from it, one folder a line.
const PROJECTS: &str = "projects";

/// The folders of the history as the environment names them.
pub struct History<'v> {
    variable: &'v dyn Fn(&str) -> Option<OsString>,
}

impl<'v> History<'v> {
    pub fn new(variable: &'v dyn Fn(&str) -> Option<OsString>) -> Self {
        History { variable }
    }

    /// The folder for the run of a plan; `None` if neither a project nor the environment names one. A plan that the program made
    /// belongs to no project.
    pub fn folder_for(&self, plan: Option<&Path>) -> Option<PathBuf> {
        match plan.and_then(|plan| project::file(Some(plan))) {
            Some(file) => Some(file.with_file_name(PROJECT)),
            None => self.of_user(),
        }
    }

    /// Makes the folder for a run, for its owner alone, and remembers the project if it is not in the working folder.
    ///
    /// # Errors
    /// The folder cannot be made, or is a link.
    pub fn make(&self, folder: &Path) -> io::Result<()> {
        let is_elsewhere = folder.ends_with(PROJECT) && whole(folder) != whole(Path::new(PROJECT));
        // Without the note, `runs` finds these runs in the project's folder only.
        if is_elsewhere && let Err(error) = self.note_project(folder) {
            tracing::warn!("the project's folder cannot be noted: {error}");
        }
        make_real(&self.parts(folder))
    }

    /// The folders that hold runs from the working folder.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = project::file(None)
            .map(|file| file.with_file_name(PROJECT))
            .into_iter()
            .collect();
        if let Some(folder_of_user) = self.of_user() {
            let noted = std::fs::read_to_string(folder_of_user.join(PROJECTS)).unwrap_or_default();
            all.extend(noted.lines().map(PathBuf::from));
            all.push(folder_of_user);
        }
        all.retain(|folder| self.parts(folder).iter().all(|part| is_real_folder(part)));
        all
    }

    /// All run files from the working folder.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.folders().into_iter();
        let entries = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files.filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
    }

    /// The file that the user means: `last` is the run that started last, unless there is a file of that name.
    pub fn meant(&self, file: &Path) -> PathBuf {
        /// The word of JMeter's command line is in capitals.
        const LAST: &str = "last";
        let is_last = file
            .to_str()
            .is_some_and(|word| word.eq_ignore_ascii_case(LAST))
            && !file.exists();
        let latest = is_last.then(|| self.files().max_by_key(|path| started_ms(path)));
        latest.flatten().unwrap_or_else(|| file.to_path_buf())
    }

    /// The working folder's part of the user's history.
    fn of_user(&self) -> Option<PathBuf> {
        let working = std::env::current_dir().ok()?;
        let name = working.file_name().unwrap_or_default().to_string_lossy();
        let digest = Sha256::digest(working.as_os_str().as_encoded_bytes());
        let digest = hex(&digest[..6]);
        let state = state_folder(self.variable)?;
        Some(state.join(OF_USER).join(format!("{name}-{digest}")))
    }

    /// The parts of a path that are the program's own, outermost first.
    fn parts(&self, folder: &Path) -> Vec<PathBuf> {
        let state = state_folder(self.variable);
        let mut parts: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|part| {
                let is_of_state = state.as_ref().is_some_and(|state| part.starts_with(state));
                *part == folder || is_of_state
            })
            .map(Path::to_path_buf)
            .collect();
        parts.reverse();
        parts
    }

    fn note_project(&self, folder: &Path) -> io::Result<()> {
        let Some(folder_of_user) = self.of_user() else {
            return Ok(());
        };
        make_real(&self.parts(&folder_of_user))?;
        let file = folder_of_user.join(PROJECTS);
        let project = whole(folder).to_string_lossy().into_owned();
        let mut noted = std::fs::read_to_string(&file).unwrap_or_default();
        if noted.lines().any(|line| line == project) {
            return Ok(());
        }
        noted.push_str(&project);
        noted.push('\n');
        replace(&file, |file| file.write_all(noted.as_bytes()))
    }
}

/// The time at which a run started, which its file's name ends with; 0 for other names.
fn started_ms(file: &Path) -> i64 {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let number = stem.rsplit_once('-').map(|(_, number)| number);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The absolute path.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Makes these folders, each in the one before it.
///
/// # Errors
/// One cannot be made, or is a link or a file.
pub fn make_real(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        private_folder(folder)?;
        if !is_real_folder(folder) {
            return Err(io::Error::other(format!(
                "`{}` is a link, and nothing is written through links; remove it",
                folder.display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_to_the_user_unless_the_plan_has_a_project() {
        let place = tempfile::tempdir().expect("a folder");
        let state = place.path().join("state");
        let variable =
            |name: &str| (name == "XDG_STATE_HOME").then(|| state.clone().into_os_string());
        let history = History::new(&variable);
        let plan = place.path().join("plan.jmx");
        let of_user = history.folder_for(Some(&plan)).expect("a folder");
        assert!(of_user.starts_with(state.join("drumfire/history")));
        std::fs::write(place.path().join(project::FILE), "").expect("written");
        let of_project = history.folder_for(Some(&plan)).expect("a folder");
        assert_eq!(of_project, place.path().join(PROJECT));
        assert_eq!(history.folder_for(None), Some(of_user.clone()));
        assert!(history.folders().is_empty());
        history.make(&of_project).expect("made");
        history.make(&of_user).expect("made");
        assert_eq!(history.folders(), [of_project.clone(), of_user.clone()]);
        for (folder, name) in [(&of_user, "b-7"), (&of_project, "a-30"), (&of_user, "c-9")] {
            std::fs::write(folder.join(format!("{name}.{ENDING}")), "").expect("written");
        }
        let last = history.meant(Path::new("LAST"));
        assert_eq!(last, of_project.join(format!("a-30.{ENDING}")));
        assert_eq!(history.meant(Path::new("a.jtl")), Path::new("a.jtl"));
        let nowhere = History::new(&|_| None);
        assert_eq!(nowhere.folder_for(None), None);
        assert!(nowhere.folder_for(Some(&plan)).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_behind_a_link_is_neither_made_nor_listed() {
        let place = tempfile::tempdir().expect("a folder");
        let foreign = place.path().join("foreign");
        std::fs::create_dir(&foreign).expect("made");
        std::fs::write(place.path().join(project::FILE), "").expect("written");
        let project = place.path().join(PROJECT);
        std::os::unix::fs::symlink(&foreign, &project).expect("a link");
        let state = place.path().join("state");
        std::fs::create_dir(&state).expect("made");
        std::os::unix::fs::symlink(&foreign, state.join("drumfire")).expect("a link");
        let variable =
            |name: &str| (name == "XDG_STATE_HOME").then(|| state.clone().into_os_string());
        let history = History::new(&variable);
        let of_user = history.folder_for(None).expect("a folder");
        for folder in [&project, &of_user] {
            let why = history.make(folder).expect_err("it is a link").to_string();
            assert!(why.contains("is a link"), "{why}");
        }
        assert!(history.folders().is_empty());
        assert_eq!(std::fs::read_dir(&foreign).expect("a folder").count(), 0);
    }
}
