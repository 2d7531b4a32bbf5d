//! Services that several crates need: private files, processes and the environment, which each system provides differently; what to
//! tell a user about a file that cannot be used; progress on a terminal; numbers in words; colours of a terminal.
//!
//! Each function has the same meaning on all systems. Its documentation says where a system can only approximate it.

#![warn(missing_docs)]

pub mod causes;
pub mod colour;
pub mod files;
mod message_error;
pub mod palette;
pub mod ports;
pub mod processes;
pub mod progress;
pub mod replacement;
pub mod secrets;
pub mod spelling;
pub mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An environment variable. On Windows, which has no `HOME`, that name reads `USERPROFILE`.
pub fn variable(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name);
    if cfg!(windows) && name == "HOME" && value.is_none() {
        return std::env::var_os("USERPROFILE");
    }
    value
}

/// The user's folder for what programs remember between their runs: `drumfire` in `XDG_STATE_HOME` if that is an absolute path,
/// or else in `~/.local/state`; in `~/Library/Application Support` on macOS, in `%LOCALAPPDATA%` on Windows. `None` if the
/// variables that name it are not set.
pub fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = PathBuf::from(variable(name)?);
        value.is_absolute().then_some(value)
    };
    let state = folder("XDG_STATE_HOME").or_else(|| {
        if cfg!(windows) {
            return folder("LOCALAPPDATA");
        }
        let below = if cfg!(target_os = "macos") {
            "Library/Application Support"
        } else {
            ".local/state"
        };
        Some(folder("HOME")?.join(Path::new(below)))
    });
    Some(state?.join("drumfire"))
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::ffi::OsString;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_state_folder_follows_the_environment() {
        let of = |state: Option<&str>, home: Option<&str>| {
            let (state, home) = (state.map(OsString::from), home.map(OsString::from));
            let folder = super::state_folder(move |name| match name {
                "HOME" => home.clone(),
                "XDG_STATE_HOME" => state.clone(),
                _ => None,
            });
            folder.map(|folder| folder.to_string_lossy().into_owned())
        };
        let is = |folder: Option<String>, expected: Option<&str>| {
            assert_eq!(folder.as_deref(), expected);
        };
        is(of(Some("/s"), Some("/h")), Some("/s/drumfire"));
        is(
            of(Some("relative"), Some("/h")),
            Some("/h/.local/state/drumfire"),
        );
        is(of(None, Some("")), None);
        is(of(None, None), None);
    }

    #[test]
    fn variables_are_those_of_the_process() {
        assert_eq!(super::variable("PATH"), std::env::var_os("PATH"));
        assert_eq!(super::variable("DRUMFIRE_NO_SUCH_VARIABLE"), None);
    }
}
