//! The plan's identity for the record of a run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use drumfire_report::PlanIdentity;
use sha2::{Digest, Sha256};

/// The identity of a plan as it was when the run began. A separate thread computes it while the run prepares, since hashing a
/// plan of 50 MB takes 50 ms.
pub struct Fingerprint {
    file: PathBuf,
    shown: PathBuf,
    worker: Mutex<Option<JoinHandle<Option<PlanIdentity>>>>,
    known: OnceLock<Option<PlanIdentity>>,
}

impl Fingerprint {
    /// Starts reading the plan in `file`, which outputs show as `shown`.
    pub fn begin(file: &Path, shown: &Path) -> Fingerprint {
        let (plan, name) = (file.to_owned(), shown.to_owned());
        let work = thread::Builder::new().name("fingerprint".to_owned());
        // If the thread cannot be started, `get` computes the identity.
        let worker = work.spawn(move || identity(&plan, &name)).ok();
        Fingerprint {
            file: file.to_owned(),
            shown: shown.to_owned(),
            worker: Mutex::new(worker),
            known: OnceLock::new(),
        }
    }

    /// The plan's path or name, as outputs show it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The identity; `None` if the plan cannot be read.
    pub fn get(&self) -> Option<PlanIdentity> {
        let known = self.known.get_or_init(|| {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            match worker.take() {
                Some(worker) => worker.join().ok().flatten(),
                None => identity(&self.file, &self.shown),
            }
        });
        known.clone()
    }
}

fn identity(file: &Path, shown: &Path) -> Option<PlanIdentity> {
    // Read in pieces: a plan may be large, and nothing else needs its bytes here.
    let mut hash = Sha256::new();
    let mut file = File::open(file).ok()?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    let digest = hash.finalize();
    Some(PlanIdentity {
        path: shown.display().to_string(),
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
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
}
