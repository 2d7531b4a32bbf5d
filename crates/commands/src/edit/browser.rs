//! Opens the page in a browser.
//!
//! The URL holds the token, and every user of a machine sees the arguments of programs. The browser therefore gets a file that only
//! its owner can read, which leads to the page.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drumfire_platform::files;

/// Browsers that open a window without tabs.
const CHROMIUM: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
];

/// Opens a URL in the user's browser, or in a window of Chromium's.
///
/// # Errors
/// A sentence that says what is missing.
pub fn open(url: &str, folder: &Path, in_window: bool) -> Result<(), String> {
    let file = leading_to(url, folder)
        .map_err(|error| format!("the browser cannot be opened: {error}"))?;
    let mut command = if in_window {
        let program = CHROMIUM
            .iter()
            .find_map(|name| on_path(name))
            .ok_or("no Chromium is installed for `--app`")?;
        let mut command = Command::new(program);
        command.arg(format!("--app=file://{}", file.display()));
        command
    } else {
        let mut command = opener();
        command.arg(&file);
        command
    };
    let started = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // The child is waited for, so that no dead process is left.
            std::thread::spawn(move || child.wait());
            Ok(())
        }
        Err(error) => Err(format!("the browser cannot be opened: {error}")),
    }
}

fn opener() -> Command {
    if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    }
}

/// A private file that leads to a URL.
fn leading_to(url: &str, folder: &Path) -> std::io::Result<PathBuf> {
    files::private_folder(folder)?;
    let path = folder.join(format!("open-{}.html", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut file = files::private(&path)?;
    write!(
        file,
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>Drumfire</title>"
    )?;
    Ok(path)
}

/// A program on the path.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}
