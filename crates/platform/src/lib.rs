//! Services that several crates ask of the operating system and each system does in its own way: private files, processes, environment.
//!
//! Each function has one meaning on all systems. Its documentation says where one of them can only come near it.

#![warn(missing_docs)]

pub mod files;
pub mod processes;

use std::ffi::OsString;

/// A variable of the environment. Windows has no `HOME`: there it is `USERPROFILE`.
pub fn variable(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name);
    if cfg!(windows) && name == "HOME" && value.is_none() {
        return std::env::var_os("USERPROFILE");
    }
    value
}

#[cfg(test)]
mod tests {
    #[test]
    fn variables_are_those_of_the_process() {
        assert_eq!(super::variable("PATH"), std::env::var_os("PATH"));
        assert_eq!(super::variable("DRUMFIRE_NO_SUCH_VARIABLE"), None);
    }
}
