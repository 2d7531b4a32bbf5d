//! The browser's process and the pipe to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;
use tempfile::TempDir;

use crate::{RecordError, Visit};

/// Browsers that speak the DevTools protocol.
const PROGRAMS: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge",
];

/// The browser reads commands from file descriptor 3 and writes events to 4. This shell script connects both
/// to its own stdin and stdout.
const PLUMBING: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// A running browser.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    /// Messages from the browser. The channel closes when the browser exits.
    pub messages: Receiver<Value>,
    /// The profile, deleted with the browser.
    _profile: TempDir,
}

/// Starts the browser.
pub fn start(visit: &Visit) -> Result<Browser, RecordError> {
    let program = match &visit.browser {
        Some(program) => program.clone(),
        None => installed_browser().ok_or(RecordError::NoBrowser)?,
    };
    if cfg!(windows) {
        let why =
            "Drumfire cannot control a browser on Windows; use `drumfire record --proxy` or WSL";
        let why = std::io::Error::new(std::io::ErrorKind::Unsupported, why);
        return Err(RecordError::Browser(program, why));
    }
    let profile = tempfile::tempdir()?;
    let mut command = Command::new("sh");
    command
        .args(["-c", PLUMBING])
        .arg(&program)
        .arg("--remote-debugging-pipe");
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.args([
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
    ]);
    if visit.headless {
        command.arg("--headless");
    }
    if is_root() {
        // Without this Chromium refuses to start as root.
        command.arg("--no-sandbox");
    }
    command.arg("about:blank");
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.map_err(|error| RecordError::Browser(program, error))?;
    let (Some(commands), Some(events)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("it was started with both");
    };
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        let mut events = BufReader::new(events);
        let mut message = Vec::new();
        // A zero byte ends each message.
        while events
            .read_until(0, &mut message)
            .is_ok_and(|length| length > 0)
        {
            message.pop();
            if let Ok(value) = serde_json::from_slice(&message)
                && sender.send(value).is_err()
            {
                return;
            }
            message.clear();
        }
    });
    Ok(Browser {
        child,
        commands,
        messages,
        _profile: profile,
    })
}

impl Browser {
    /// Sends a command. A browser that has exited is detected by its closed message channel.
    pub fn send(&mut self, command: &Value) {
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        let _ = self
            .commands
            .write_all(&bytes)
            .and_then(|()| self.commands.flush());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first Chromium or Chrome on the path.
pub fn installed_browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = PROGRAMS
        .iter()
        .flat_map(|program| folders.iter().map(move |folder| folder.join(program)));
    candidates.into_iter().find(|file| file.is_file())
}

#[cfg(unix)]
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
