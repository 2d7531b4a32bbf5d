//! Reads the last commit of a plan.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long git may take.
const LIMIT: Duration = Duration::from_secs(2);

/// The plan as the last commit has it; `None` without git, without a repository, or if the commit lacks the plan.
pub fn committed(plan: &Path) -> Option<Vec<u8>> {
    let (folder, name) = (plan.parent()?, plan.file_name()?);
    let mut object = std::ffi::OsString::from("HEAD:./");
    object.push(name);
    let mut git = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["cat-file", "blob"])
        .arg(object)
        // It only reads, and asks nobody.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = git.stdout.take()?;
    let (send, received) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes);
        // Nobody waits any more if git took too long.
        let _ = send.send(read.ok().map(|_| bytes));
    });
    let bytes = received.recv_timeout(LIMIT).ok().flatten();
    if bytes.is_none() {
        // It may have ended by itself.
        let _ = git.kill();
    }
    let ended = git.wait().ok()?;
    bytes.filter(|_| ended.success())
}
