//! Writes the run file while a run goes on, so that a killed run leaves its numbers behind.
//!
//! With `--run-file FILE` it writes FILE. Otherwise it writes to the history, which holds the files of the last [`KEPT`] runs. A
//! separate thread receives the events through a mailbox, so a slow disk does not delay the run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::SystemTime;

use drumfire_engine::{Inbox, Mailbox, mailbox};
use drumfire_platform::files::{claim, is_at, is_claimed, private};
use drumfire_report::{Mark, RunFile, RunStream};
use drumfire_results::Recording;

use crate::engine::{Event, Subscriber};
use crate::refusal::FileFailure;
use crate::run::outputs;

/// How many run files stay in the folder, unless `drumfire.runs.keep` sets another number.
pub const KEPT: usize = 20;
/// The extension of run files.
pub const ENDING: &str = "drumfire";
/// How many events may wait for the disk.
const ROOM: usize = 64;

/// Where the run file of a run is written while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptPlace {
    /// The file that the user named.
    Asked(PathBuf),
    /// A file in the folder of the last runs.
    Folder(PathBuf),
}

impl KeptPlace {
    /// The file in `folder` of a run of `plan` that starts at `now`, such as `shop-1700000000123.drumfire`.
    pub fn in_folder(folder: &Path, plan: &Path, now_ms: i64) -> KeptPlace {
        let name = plan.file_stem().unwrap_or(plan.as_os_str());
        let name = format!("{}-{now_ms}.{ENDING}", name.to_string_lossy());
        KeptPlace::Folder(folder.join(name))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        match self {
            KeptPlace::Asked(path) | KeptPlace::Folder(path) => path,
        }
    }
}

/// Writes the run file of the current run.
#[derive(Debug)]
pub struct KeptRun {
    place: KeptPlace,
    mailbox: Mailbox,
    thread: JoinHandle<io::Result<RunStream>>,
}

/// The run file of a run that has ended. The finished run is to replace it.
#[derive(Debug)]
pub struct EndedRun {
    /// Where it is.
    pub place: KeptPlace,
    /// Keeps other runs from writing the file until it is replaced; missing on Windows, which replaces no open file.
    _claimed: Option<fs::File>,
}

impl KeptRun {
    /// Begins the file. `run` holds what is known before the start; `keep` is the number of files that stay in the folder.
    ///
    /// # Errors
    /// A folder or file that cannot be written, or a thread that cannot be started.
    pub fn begin(place: KeptPlace, run: RunFile, keep: usize) -> io::Result<KeptRun> {
        let file = match &place {
            KeptPlace::Asked(path) => claimed(path)?,
            KeptPlace::Folder(path) => {
                make_room(path, keep)?;
                private(path)?
            }
        };
        let stream = RunStream::begin(place.path(), file, run)?;
        let (mailbox, inbox) = mailbox(ROOM);
        let thread = std::thread::Builder::new()
            .name("run-file".to_owned())
            .spawn(move || write(stream, &inbox))?;
        Ok(KeptRun {
            place,
            mailbox,
            thread,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Ends the thread once it has written everything.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn end(self) -> io::Result<EndedRun> {
        drop(self.mailbox);
        match self.thread.join() {
            Ok(written) => {
                let claimed = written?.into_file();
                Ok(EndedRun {
                    place: self.place,
                    _claimed: (!cfg!(windows)).then_some(claimed),
                })
            }
            Err(_) => Err(io::Error::other("its thread panicked")),
        }
    }
}

impl Subscriber for KeptRun {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        // Only live displays need ticks.
        if !matches!(event, Event::Tick(_)) {
            self.mailbox.receive(event, so_far);
        }
    }
}

/// Replaces the file that was written during the run with the finished run.
///
/// # Errors
/// Which file cannot be written, and why.
pub fn finish(place: &KeptPlace, run: &RunFile) -> Result<(), FileFailure> {
    outputs::write_whole(place.path(), |file| run.write(file))
}

/// Removes the file of a run that never began.
pub fn forget(place: &KeptPlace) {
    if let KeptPlace::Folder(path) = place {
        // It holds nothing, and the folder's cleanup would remove it anyway.
        let _ = fs::remove_file(path);
    }
}

/// Opens a file that no other run writes, and empties it.
fn claimed(path: &Path) -> io::Result<fs::File> {
    let open = || {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).open(path)
    };
    let file = open()?;
    claim(&file)?;
    // A run that ended in between has replaced the file; nobody reads the one that is open.
    let file = if is_at(path, &file) {
        file
    } else {
        open().and_then(|file| claim(&file).map(|()| file))?
    };
    let found = file.metadata()?;
    // ext4 would write an empty file that is emptied to the disk when it is closed.
    if found.is_file() && found.len() > 0 {
        file.set_len(0)?;
    }
    Ok(file)
}

fn write(mut stream: RunStream, inbox: &Inbox) -> io::Result<RunStream> {
    while let Some(event) = inbox.next() {
        match event {
            Event::Increment(increment) => stream.add(&increment)?,
            Event::Mark(mark) => stream.mark(Mark {
                at_ms: mark.at_ms,
                text: mark.text,
            })?,
            Event::Started(_)
            | Event::Heard(..)
            | Event::Tick(_)
            | Event::Line(_)
            | Event::Warning(_)
            | Event::Ended(_) => {}
        }
    }
    Ok(stream)
}

/// Removes the oldest run files in the folder of a file, so that one more fits. Links stay.
fn make_room(file: &Path, keep: usize) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut runs: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_run = path.extension().is_some_and(|ending| ending == ENDING);
        let metadata = path.symlink_metadata();
        if is_run
            && let Ok(metadata) = metadata
            && metadata.is_file()
            && let Ok(changed) = metadata.modified()
        {
            runs.push((changed, path));
        }
    }
    runs.sort();
    let surplus = (runs.len() + 1).saturating_sub(keep.max(1));
    for (_, path) in &runs[..surplus] {
        // The file of a run that is under way stays.
        let claimed = fs::File::open(path).and_then(|file| claim(&file));
        if claimed.is_err_and(|error| is_claimed(&error)) {
            continue;
        }
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use drumfire_report::begun;
    use drumfire_results::Increment;

    use super::*;

    #[test]
    fn the_folder_keeps_the_last_runs() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("runs");
        fs::create_dir(&folder).unwrap();
        for number in 0..KEPT + 5 {
            let file = folder.join(format!("p-{number}.drumfire"));
            let kept =
                KeptRun::begin(KeptPlace::Folder(file.clone()), begun("p", 1_000), KEPT).unwrap();
            kept.end().unwrap();
            let changed = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            fs::File::open(&file)
                .unwrap()
                .set_modified(changed)
                .unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), KEPT);
        assert!(!folder.join("p-4.drumfire").exists());
        assert!(folder.join("p-5.drumfire").exists());
    }

    #[cfg(unix)]
    #[test]
    fn files_of_the_folder_are_private_and_links_in_it_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let (folder, foreign) = (place.path().join("runs"), place.path().join("foreign"));
        fs::create_dir(&folder).unwrap();
        fs::write(&foreign, "foreign").unwrap();
        let link = folder.join("link-1.drumfire");
        std::os::unix::fs::symlink(&foreign, &link).unwrap();
        let file = folder.join("p-1.drumfire");
        let kept = KeptPlace::Folder(file.clone());
        let kept = KeptRun::begin(kept, begun("p", 1_000), 1).unwrap();
        let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        finish(&kept.end().unwrap().place, &begun("p", 1_000)).unwrap();
        assert_eq!(mode(), 0o600);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        // A file of that name is somebody else's.
        let taken = KeptPlace::Folder(link);
        assert!(KeptRun::begin(taken, begun("p", 1_000), 9).is_err());
        assert_eq!(fs::read_to_string(&foreign).unwrap(), "foreign");
    }

    #[test]
    fn the_file_has_each_event_until_the_finished_run_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.drumfire");
        let place = KeptPlace::Asked(file.clone());
        let mut kept = KeptRun::begin(place, begun("p.jmx", 1_000), KEPT).unwrap();
        let mut increment = Increment::of_second(2);
        increment.connections.opened = 3;
        let nothing = Recording::default();
        kept.receive(&Event::Increment(Arc::new(increment)), &nothing);
        let kept = kept.end().unwrap();
        let read = |path: &Path| {
            let mut warnings = Vec::new();
            let run = drumfire_report::read_input(path, &Default::default(), &mut warnings);
            (run.unwrap(), warnings.len())
        };
        let (run, warnings) = read(&file);
        assert_eq!((run.connections.unwrap().opened, warnings), (3, 1));
        finish(&kept.place, &begun("p.jmx", 1_000)).unwrap();
        let (run, warnings) = read(&file);
        assert!(!run.ended_early && warnings == 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
