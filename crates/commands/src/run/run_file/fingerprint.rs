//! The part of a run's record that identifies the run: its plan, the plan's data files, and the machine.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use drumfire_java::file_server;
use drumfire_platform::words::hex;
use drumfire_report::{DataFile, PlanIdentity};
use sha2::{Digest, Sha256};

use super::environment;

/// The identity of a plan as it was when the run began, and of the machine. A separate thread hashes a large plan while the run
/// prepares: 50 MB take 50 ms.
pub struct Fingerprint {
    file: PathBuf,
    shown: PathBuf,
    worker: Mutex<Option<JoinHandle<Option<PlanIdentity>>>>,
    known: OnceLock<Option<PlanIdentity>>,
    data: Mutex<Option<JoinHandle<Vec<DataFile>>>>,
    environment: OnceLock<Vec<(String, String)>>,
}

/// A plan of this size is hashed in less time than a thread takes to start.
const SMALL_BYTES: u64 = 100 << 10;

/// The content of files that are longer than this is not read.
const MOST_BYTES: u64 = 64 << 20;

impl Fingerprint {
    /// Starts reading the plan in `file`, which outputs show as `shown`.
    pub fn begin(file: &Path, shown: &Path) -> Fingerprint {
        let known = OnceLock::new();
        let mut worker = None;
        if file
            .metadata()
            .is_ok_and(|found| found.len() <= SMALL_BYTES)
        {
            known.get_or_init(|| identity(file, shown));
        } else {
            let (plan, name) = (file.to_owned(), shown.to_owned());
            let work = thread::Builder::new().name("fingerprint".to_owned());
            // If the thread cannot be started, `get` computes the identity.
            worker = work.spawn(move || identity(&plan, &name)).ok();
        }
        Fingerprint {
            file: file.to_owned(),
            shown: shown.to_owned(),
            worker: Mutex::new(worker),
            known,
            data: Mutex::default(),
            environment: OnceLock::new(),
        }
    }

    /// The machine that generates the load, as rows of names and values.
    pub fn environment(&self) -> &[(String, String)] {
        self.environment.get_or_init(environment)
    }

    /// Starts reading the files that the plan names, as it writes them.
    pub fn read_data(&self, files: Vec<PathBuf>) {
        if files.is_empty() {
            return;
        }
        let folder = self.file.parent().unwrap_or(Path::new("")).to_owned();
        let work = thread::Builder::new().name("fingerprint".to_owned());
        let read = move || {
            let data_files = files.iter().filter_map(|file| data_file(&folder, file));
            data_files.collect()
        };
        // Without the thread, the record of the run lacks them.
        *self.data.lock().unwrap_or_else(PoisonError::into_inner) = work.spawn(read).ok();
    }

    /// The files that the plan names and that exist.
    pub fn data(&self) -> Vec<DataFile> {
        let mut worker = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let read = worker.take().and_then(|worker| worker.join().ok());
        read.unwrap_or_default()
    }

    /// The plan's path or name, as outputs show it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The identity; `None` if the plan cannot be read.
    pub fn get(&self) -> Option<PlanIdentity> {
        let fingerprint = self.known.get_or_init(|| {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            match worker.take() {
                Some(worker) => worker.join().ok().flatten(),
                None => identity(&self.file, &self.shown),
            }
        });
        fingerprint.clone()
    }
}

fn data_file(folder: &Path, file: &Path) -> Option<DataFile> {
    let resolved = file_server::resolve(file, folder);
    let bytes = resolved
        .metadata()
        .ok()
        .filter(|found| found.is_file())?
        .len();
    Some(DataFile {
        path: file.display().to_string(),
        bytes,
        sha256: (bytes <= MOST_BYTES).then(|| sha256(&resolved)).flatten(),
    })
}

fn identity(file: &Path, shown: &Path) -> Option<PlanIdentity> {
    Some(PlanIdentity {
        path: shown.display().to_string(),
        sha256: sha256(file)?,
    })
}

/// The SHA-256 of a file, in hexadecimal digits.
fn sha256(file: &Path) -> Option<String> {
    // Read in pieces: a file may be large, and nothing else needs its bytes here.
    let mut hash = Sha256::new();
    let mut file = File::open(file).ok()?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    Some(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_known_as_it_was_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = folder.path().join("p.jmx");
        std::fs::write(&plan, "abc").expect("it is written");
        let fingerprint = Fingerprint::begin(&plan, Path::new("shown"));
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let sha256 = |fingerprint: &Fingerprint| fingerprint.get().map(|plan| plan.sha256);
        assert_eq!(sha256(&fingerprint).as_deref(), Some(of_abc));
        std::fs::write(&plan, "changed").expect("it is written");
        assert_eq!(sha256(&fingerprint).as_deref(), Some(of_abc));
        let path = fingerprint.get().map(|plan| plan.path);
        assert_eq!(path.as_deref(), Some("shown"));
        let missing = folder.path().join("none.jmx");
        let missing = Fingerprint::begin(&missing, &missing);
        assert_eq!(sha256(&missing), None);
    }

    #[test]
    fn the_files_of_a_plan_are_told_by_their_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = folder.path().join("p.jmx");
        std::fs::write(folder.path().join("users.csv"), "abc").expect("written");
        let fingerprint = Fingerprint::begin(&plan, &plan);
        fingerprint.read_data(vec!["users.csv".into(), "missing.csv".into()]);
        let data = fingerprint.data();
        let [file] = data.as_slice() else {
            panic!("{data:?}");
        };
        assert_eq!((file.path.as_str(), file.bytes), ("users.csv", 3));
        assert!(
            file.sha256
                .as_ref()
                .is_some_and(|hash| hash.starts_with("ba7816bf"))
        );
    }
}
