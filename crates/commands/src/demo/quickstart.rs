//! The plan that `drumfire run --demo` runs if the user names none: `examples/quickstart.jmx`, which is part of the program.

use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

/// The name under which outputs show the plan.
pub const NAME: &str = "quickstart";

const PLAN: &str = include_str!("../../../../examples/quickstart.jmx");
const USERS: &str = include_str!("../../../../examples/users.csv");

/// The plan and its data file in a temporary folder. Dropping it deletes the folder.
pub struct Quickstart(TempDir);

impl Quickstart {
    /// Writes the files.
    ///
    /// # Errors
    /// If the temporary folder cannot be made or written.
    pub fn write() -> io::Result<Quickstart> {
        let quickstart = Quickstart(tempfile::tempdir()?);
        std::fs::write(quickstart.plan(), PLAN)?;
        std::fs::write(quickstart.0.path().join("users.csv"), USERS)?;
        Ok(quickstart)
    }

    /// The path of the plan.
    pub fn plan(&self) -> PathBuf {
        self.0.path().join("quickstart.jmx")
    }
}
