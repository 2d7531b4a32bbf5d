//! Keeps two runs, or two outputs of one run, from writing one file. Files that are written while a run goes on are locked
//! themselves. Files that are replaced at the end do not exist until then, so each has a locked file in the user's state folder.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use drumfire_platform::files::{claim, is_at, is_claimed, private_folder};
use drumfire_platform::replacement::is_written_in_place;

use super::Wanted;
use crate::refusal::Refusal;

/// The claims of a run. They end with it, even if it is killed.
#[derive(Debug, Default)]
pub struct Claims(Vec<(PathBuf, File)>);

impl Claims {
    /// Claims all outputs. `state` is the user's state folder; without one, other runs are not noticed.
    ///
    /// # Errors
    /// One message that lists the files that are written twice.
    pub fn take(wanted: &[Wanted], state: Option<&Path>) -> Result<Claims, Refusal> {
        let mut claims = Claims::default();
        let mut claimed: BTreeMap<PathBuf, &str> = BTreeMap::new();
        let mut failed = Vec::new();
        for Wanted { noun, path } in wanted {
            if is_written_in_place(path) {
                continue;
            }
            let whole_path = whole(path);
            match claimed.insert(whole_path.clone(), noun) {
                // Several listeners may write one file, as in JMeter.
                Some(other) if other == *noun => continue,
                Some(other) => failed.push(format!(
                    "the {noun} `{}` cannot be written: the {other} is written there",
                    path.display()
                )),
                None if !claims.add(&whole_path, state) => failed.push(format!(
                    "the {noun} `{}` cannot be written: another run writes it",
                    path.display()
                )),
                None => {}
            }
        }
        if failed.is_empty() {
            Ok(claims)
        } else {
            let refusal = Refusal::run_failed(failed.join("\nerror: "));
            Err(refusal.hint("nothing was sent; name other files"))
        }
    }

    /// Claims a place; returns whether no other run has it. A claim that cannot be stored counts as given.
    fn add(&mut self, place: &Path, state: Option<&Path>) -> bool {
        let Some(folder) = state.map(|state| state.join("claims")) else {
            return true;
        };
        let mut hash = DefaultHasher::new();
        place.hash(&mut hash);
        let path = folder.join(format!("{:016x}", hash.finish()));
        let open = || OpenOptions::new().create(true).append(true).open(&path);
        let made = private_folder(&folder);
        // The run that has just ended may have removed the file in between.
        for _ in 0..3 {
            let Some(file) = made.as_ref().ok().and_then(|()| open().ok()) else {
                return true;
            };
            match claim(&file) {
                Err(error) if is_claimed(&error) => return false,
                _ if is_at(&path, &file) => {
                    self.0.push((path, file));
                    return true;
                }
                _ => {}
            }
        }
        true
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        for (path, _claimed) in &self.0 {
            // It is empty, and the next run with this output would claim it again.
            let _ = fs::remove_file(path);
        }
    }
}

/// The path by which two names of one file are equal.
fn whole(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_written_by_one_run_and_one_output() {
        let place = tempfile::tempdir().expect("a folder");
        let state = place.path().join("state");
        let take = |outputs: &[(&'static str, &str)]| {
            let wanted = outputs.iter().map(|(noun, name)| Wanted {
                noun,
                path: place.path().join(name),
            });
            let taken = Claims::take(&wanted.collect::<Vec<_>>(), Some(&state));
            taken.map_err(|refusal| refusal.err)
        };
        let first = take(&[("summary", "a"), ("report", "b")]).expect("nobody else has them");
        let refusal = take(&[("JUnit file", "./a"), ("report", "c")]).expect_err("a is taken");
        assert!(
            refusal.contains("a` cannot be written: another run writes it"),
            "{refusal}"
        );
        assert!(!refusal.contains("c`"), "{refusal}");
        drop(first);
        drop(take(&[("JUnit file", "a")]).expect("the other run has ended"));
        let refusal = take(&[("summary", "a"), ("report", "a")]).expect_err("one file for two");
        assert!(
            refusal.contains("the summary is written there"),
            "{refusal}"
        );
        take(&[("results file", "a"), ("results file", "a")]).expect("two listeners share a file");
        let left = fs::read_dir(state.join("claims")).expect("a folder");
        assert_eq!(left.count(), 0);
        assert!(
            Claims::take(&[], None)
                .expect("no state folder")
                .0
                .is_empty()
        );
    }
}
