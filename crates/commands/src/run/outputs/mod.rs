//! The files that a command writes. The command checks that each is writable before the first request. A file that fails
//! later does not affect the others: they are written, and the command ends with an error.

mod backends;
pub mod claims;
mod collectors;
pub mod exports;
pub mod summary_json;
pub mod ui;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::unwritable;
use drumfire_platform::files::claim;
use drumfire_platform::replacement::{Replacement, replace};

use crate::refusal::{FileFailure, Refusal};
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
            "results file" => prove_file(&wanted.path, Growth::Appended),
            "run file" => prove_file(&wanted.path, Growth::Streamed),
            _ => prove_file(&wanted.path, Growth::Replaced),
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
    Err(Refusal::run_failed(message))
}

/// How a file comes into being.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// Rows are appended to what is there.
    Appended,
    /// It is written while the run goes on, and replaced in the end.
    Streamed,
    /// It is replaced in the end.
    Replaced,
}

/// Checks that a file can be written, and creates its folder. Pipes are skipped, since opening one blocks until it has a
/// reader.
fn prove_file(path: &Path, growth: Growth) -> io::Result<()> {
    make_parent(path)?;
    let there = fs::metadata(path);
    if let Ok(there) = &there
        && !there.is_file()
        && !there.is_dir()
    {
        return Ok(());
    }
    if there.is_ok() && growth != Growth::Replaced {
        claim(&OpenOptions::new().append(true).open(path)?)?;
    }
    match growth {
        Growth::Appended if there.is_ok() => Ok(()),
        // Another run may make the file at this moment, so it is neither made nor removed here.
        _ => Replacement::begin(path).map(drop),
    }
}

fn prove_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    Replacement::begin(&path.join("drumfire")).map(drop)
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

/// Writes a file completely or not at all, and creates its folder.
///
/// # Errors
/// Which file cannot be written, and why.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileFailure> {
    make_parent(path)
        .and_then(|()| replace(path, write))
        .map_err(|error| unwritable(path, &error).into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::exit_codes::Exit;

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

    #[cfg(unix)]
    #[test]
    fn a_file_that_another_run_writes_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("r.csv");
        let other = File::create(&path).expect("a file");
        claim(&other).expect("nobody else has it");
        let all = [wanted("results file", path)];
        let refusal = prove(&all).expect_err("the other run has it");
        let told = "r.csv` cannot be written: another run writes it";
        assert!(refusal.err.contains(told), "{}", refusal.err);
        drop(other);
        prove(&all).expect("the other run has ended");
    }

    #[test]
    fn a_file_is_written_with_its_folder() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("deep/page.html");
        write_whole(&path, |file| file.write_all(b"first")).expect("there is room");
        let half = write_whole(&path, |_| Err(io::ErrorKind::StorageFull.into()));
        let told = half.expect_err("the disk is full");
        assert!(
            told.as_ref()
                .contains("page.html` cannot be written: the disk is full"),
            "{told}"
        );
        assert_eq!(fs::read_to_string(&path).expect("readable"), "first");
    }
}
