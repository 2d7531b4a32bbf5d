//! The files that a command writes. The command checks that each is writable before the first request. A file that fails
//! later does not affect the others: they are written, and the command ends with an error.

mod backends;
mod collectors;
pub mod exports;
pub mod summary_json;
pub mod ui;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::unwritable;
use drumfire_platform::files::fresh;

use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::arguments::RunArguments;

/// A file or folder that the user or the plan named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name for people, such as `results file`.
    pub noun: &'static str,
    /// Where to write it.
    pub path: PathBuf,
}

/// The outputs of a run: the result files, and everything that the command line names.
pub fn of_run(options: &RunArguments, results: Vec<PathBuf>, folder: Option<&Path>) -> Vec<Wanted> {
    let wanted = |noun| move |path: PathBuf| Wanted { noun, path };
    let report = &options.report;
    let folder = folder.map(Path::to_path_buf);
    results
        .into_iter()
        .map(wanted("results file"))
        .chain(folder.into_iter().map(wanted("report folder")))
        .chain(report.page.iter().cloned().map(wanted("report")))
        .chain(report.run_file.iter().cloned().map(wanted("run file")))
        .chain(report.summary_json.iter().cloned().map(wanted("summary")))
        .chain(report.ci.junit.iter().cloned().map(wanted("JUnit file")))
        .chain(
            report
                .outcome
                .markdown
                .iter()
                .cloned()
                .map(wanted("Markdown file")),
        )
        .chain(
            report
                .outcome
                .metrics
                .iter()
                .cloned()
                .map(wanted("metrics file")),
        )
        .collect()
}

/// Checks that every output can be written. Leaves behind no file that was not there before.
///
/// # Errors
/// One message that lists all that cannot be written.
pub fn prove(wanted: &[Wanted]) -> Result<(), Refusal> {
    let mut failed = Vec::new();
    for wanted in wanted {
        let proved = match wanted.noun {
            "report folder" => prove_folder(&wanted.path),
            _ => prove_file(&wanted.path),
        };
        if let Err(error) = proved {
            failed.push(format!(
                "the {} {}",
                wanted.noun,
                unwritable(&wanted.path, &error)
            ));
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let mut message = failed.join("\nerror: ");
    message.push_str("\nhint: nothing was sent; name other files, or make room for these");
    Err(Refusal::new(Exit::RunFailed, message))
}

/// Checks that a file can be opened for writing, and creates its folder. Pipes are skipped, since opening one blocks until
/// it has a reader.
fn prove_file(path: &Path) -> io::Result<()> {
    make_parent(path)?;
    let there = fs::metadata(path);
    if let Ok(there) = &there
        && !there.is_file()
        && !there.is_dir()
    {
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path)?;
    if there.is_err() {
        // A results file gets its header only if it is new.
        fs::remove_file(path)?;
    }
    Ok(())
}

fn prove_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let probe = path.join(format!(".drumfire-{}", std::process::id()));
    fresh(&probe)?;
    fs::remove_file(&probe)
}

fn make_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => match fs::create_dir_all(folder) {
            // The path is not a folder; opening the file reports that.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        },
        _ => Ok(()),
    }
}

/// Writes a file completely or not at all: writes a `.part` file beside it, then renames that. Keeps the permissions of a file
/// that is replaced. Anything but a regular file is written in place.
///
/// # Errors
/// Which file cannot be written, and why.
pub fn write_whole(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), String> {
    let told = |error: io::Error| unwritable(path, &error);
    if fs::symlink_metadata(path).is_ok_and(|there| !there.is_file()) {
        return File::create(path).and_then(write).map_err(told);
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    let part = path.with_file_name(name);
    let begin = || {
        make_parent(path)?;
        let file = fresh(&part)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        Ok(file)
    };
    begin()
        .and_then(write)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| {
            // An incomplete file is of no use.
            let _ = fs::remove_file(&part);
            told(error)
        })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn wanted(noun: &'static str, path: PathBuf) -> Wanted {
        Wanted { noun, path }
    }

    #[test]
    fn one_message_lists_all_that_cannot_be_written() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("file");
        fs::write(&file, "kept").expect("written");
        let all = [
            wanted("results file", place.path().to_path_buf()),
            wanted("report", file.join("page.html")),
            wanted("report folder", file.clone()),
            wanted("run file", place.path().join("deep/er/run")),
        ];
        let refusal = prove(&all).expect_err("three of them cannot be written");
        assert_eq!(refusal.exit, Exit::RunFailed);
        let errors: Vec<&str> = refusal.err.lines().collect();
        assert_eq!(errors.len(), 4, "{}", refusal.err);
        for (line, noun) in errors
            .iter()
            .zip(["results file", "report", "report folder"])
        {
            assert!(line.starts_with(&format!("error: the {noun} `")), "{line}");
        }
        assert!(errors[3].starts_with("hint: "));
    }

    #[test]
    fn proving_leaves_files_as_they_were() {
        let place = tempfile::tempdir().expect("a folder");
        let (old, new) = (place.path().join("old"), place.path().join("new"));
        fs::write(&old, "kept").expect("written");
        let all = [
            wanted("results file", old.clone()),
            wanted("report", new.clone()),
        ];
        prove(&all).expect("both can be written");
        assert_eq!(fs::read_to_string(&old).expect("readable"), "kept");
        assert!(!new.exists());
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("page.html");
        write_whole(&path, |mut file| file.write_all(b"first")).expect("there is room");
        let half = write_whole(&path, |mut file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let told = half.expect_err("the disk is full");
        assert!(
            told.contains("page.html` cannot be written: the disk is full"),
            "{told}"
        );
        assert_eq!(fs::read_to_string(&path).expect("readable"), "first");
        let left = fs::read_dir(place.path()).expect("readable").count();
        assert_eq!(left, 1, "no half of a file is left");
    }
}
