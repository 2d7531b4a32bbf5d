//! Operating-system services that several crates need and that each system provides differently: private files, processes,
//! environment.
//!
//! Each function has the same meaning on all systems. Its documentation says where a system can only approximate it.

#![warn(missing_docs)]

pub mod files;
pub mod processes;

use std::ffi::OsString;

/// An environment variable. On Windows, which has no `HOME`, that name reads `USERPROFILE`.
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
