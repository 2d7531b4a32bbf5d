//! Files that are either written completely or not touched.

use crate::refusal::FileFailure;
use drumfire_platform::causes::unwritable;

use std::io::Write;
use std::path::Path;

use drumfire_platform::replacement::replace;

/// Writes a file beside the target and then renames it over the target. Keeps the target's permissions.
///
/// # Errors
/// A message that names the file.
pub fn write(path: &Path, content: &[u8]) -> Result<(), FileFailure> {
    replace(path, |file| file.write_all(content)).map_err(|error| unwritable(path, &error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("plan.jmx");
        write(&file, b"one").expect("written");
        write(&file, b"two").expect("replaced");
        assert_eq!(std::fs::read(&file).expect("the file"), b"two");
        let names = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(names, 1);
        let missing = folder.path().join("none/plan.jmx");
        let message = write(&missing, b"x").expect_err("no such folder");
        assert!(
            message
                .as_ref()
                .contains("none/plan.jmx` cannot be written"),
            "{message}"
        );
    }
}
