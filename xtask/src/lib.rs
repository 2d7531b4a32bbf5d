//! Shared parts of the development commands: the workspace, running commands in it, and profile-guided builds.

pub mod profile;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// The features beside the default ones that packaged programs have.
pub const FEATURES: &str = "http3";

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// The cargo that runs this command, in the root of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// cargo's target folder.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A folder for intermediate files, deleted when dropped.
///
/// The crate `tempfile` would be compiled once for this package and again, with more features, for the others.
#[derive(Debug)]
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Makes an empty folder whose name contains this one.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(name: &str) -> anyhow::Result<ScratchFolder> {
        let name = format!("drumfire-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(ScratchFolder(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A file that is still open on Windows would stay, and so would the folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Builds a program of the workspace and returns the command that starts it.
///
/// `cargo run` would choose the features for that program alone and compile most crates again. With the whole workspace selected,
/// they are those of `cargo build` and `cargo test --workspace`.
///
/// # Errors
/// The build fails.
pub fn program(name: &str) -> anyhow::Result<Command> {
    run(cargo().args(["build", "--quiet", "--workspace", "--bin", name]))?;
    let mut command = Command::new(std::path::absolute(target())?.join("debug").join(name));
    command.current_dir(root());
    Ok(command)
}

/// Whether a program is on the path.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).any(|folder| folder.join(&name).is_file())
}

/// Runs a command.
///
/// # Errors
/// The command cannot be started or fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

/// Runs a command and returns its output.
///
/// # Errors
/// The command does not start or fails; the error contains its output.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!(
            "{command:?}: {}\n{said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(said)
}
