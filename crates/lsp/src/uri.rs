//! Converts between file paths and the protocol's URIs.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that a URI path may contain unencoded.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The file of a URI; `None` for others, such as `untitled:`.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // Skip the host before the path; local files have none.
    let path = &rest[rest.find('/')?..];
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    Some(PathBuf::from(decoded.into_owned()))
}

/// The URI of a file.
pub fn of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let encoded = utf8_percent_encode(path.to_str()?, KEPT).to_string();
    Some(format!("file://{encoded}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive() {
        for name in ["/a/plan.jmx", "/a b/ü%20#?.jmx"] {
            let uri = of(Path::new(name)).expect("an address");
            assert_eq!(path(&uri).as_deref(), Some(Path::new(name)), "{uri}");
        }
        assert_eq!(path("untitled:1"), None);
    }
}
