//! Files that are either written completely or not touched.

use drumfire_platform::causes::unwritable;

use std::io::Write;
use std::path::Path;

use drumfire_platform::files::fresh;

/// Writes a file beside the target and then renames it over the target. Keeps the target's permissions.
///
/// # Errors
/// A message that names the file.
pub fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    replace(path, content).map_err(|error| unwritable(path, &error))
}

fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    // the target of a link is replaced, not the link
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let permissions = std::fs::metadata(&target).map(|old| old.permissions()).ok();
    if permissions
        .as_ref()
        .is_some_and(std::fs::Permissions::readonly)
    {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    let name = target.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    let beside = target.with_file_name(format!(
        ".{}.{}.tmp",
        name.to_string_lossy(),
        std::process::id()
    ));
    let written = fresh(&beside).and_then(|mut file| {
        file.write_all(content)?;
        match permissions {
            Some(permissions) => file.set_permissions(permissions),
            None => Ok(()),
        }
    });
    written
        .and_then(|()| std::fs::rename(&beside, &target))
        .inspect_err(|_| {
            // it may not exist
            let _ = std::fs::remove_file(&beside);
        })
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
            message.contains("none/plan.jmx` cannot be written"),
            "{message}"
        );
    }
}
