//! Raises the limit of open files as far as an unprivileged process may.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More is never needed, and programs that close all possible descriptors would take long with a larger limit.
#[cfg(unix)]
const MOST: u64 = 1 << 20;

/// Raises the soft limit of open files, of this process and its future children, to the hard limit, as the JVM does
/// (`MaxFDLimit`): each user has a connection of its own. Returns the limit that applies; `None` means unlimited.
#[cfg(unix)]
pub fn raise_open_files() -> Option<u64> {
    let limits = getrlimit(Resource::Nofile);
    let soft = limits.current?;
    let wanted = limits.maximum.unwrap_or(MOST).min(MOST);
    if soft >= wanted {
        return Some(soft);
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limits.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => Some(wanted),
        Err(_) => Some(soft),
    }
}

/// Does nothing: Windows has no such limit on handles.
#[cfg(not(unix))]
pub fn raise_open_files() -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_limit_goes_up_and_stays() {
        let before = getrlimit(Resource::Nofile);
        let raised = raise_open_files();
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.current, raised);
        assert_eq!(after.maximum, before.maximum);
        assert!(raised.is_none_or(|raised| before.current.is_some_and(|soft| soft <= raised)));
        assert_eq!(raise_open_files(), raised);
    }
}
