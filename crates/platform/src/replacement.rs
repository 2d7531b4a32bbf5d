//! Files that are written completely or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The extension of a file that is still being written.
pub const EXTENSION: &str = "part";
/// The bytes of the target's name in the name of a draft, so that the longest name of a file system has one as well.
const NAME_BYTES: usize = 200;
/// How many names are tried. Only a program of the same process id, such as one of another container, can take one.
const ATTEMPTS: u32 = 100;

/// A new file in the folder of its target, which it replaces once it is complete. Dropped before that, it is removed.
///
/// The file is created exclusively, so neither a link nor a file of somebody else is ever written to.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    draft: PathBuf,
    target: PathBuf,
    is_complete: bool,
}

impl Replacement {
    /// Creates an empty file beside `target`, with the target's permissions if it exists. If `target` is a link to a file,
    /// that file will be replaced and the link stays.
    ///
    /// # Errors
    /// The target is a folder or must not be written, or no file can be created beside it.
    pub fn begin(target: &Path) -> io::Result<Replacement> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let permissions = match fs::metadata(&target) {
            Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(old) if old.permissions().readonly() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(old) => Some(old.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (file, draft) = create_beside(&target, name)?;
        let replacement = Replacement {
            file,
            draft,
            target,
            is_complete: false,
        };
        if let Some(permissions) = permissions {
            replacement.file.set_permissions(permissions)?;
        }
        Ok(replacement)
    }

    /// The file that is being written.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// The path of the file that is being written.
    pub fn path(&self) -> &Path {
        &self.draft
    }

    /// Puts the file in the place of its target, and returns it.
    ///
    /// # Errors
    /// The operating system's error; the target then stays as it was.
    pub fn finish(mut self) -> io::Result<File> {
        fs::rename(&self.draft, &self.target)?;
        self.is_complete = true;
        self.file.try_clone()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_complete {
            // The error that ended the writing is the one to report.
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// Writes a file completely, or leaves what is there. Devices and pipes, which cannot be replaced, are written in place.
///
/// # Errors
/// The operating system's error, or that of `write`.
pub fn replace(target: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    if is_written_in_place(target) {
        return write(&mut OpenOptions::new().write(true).truncate(true).open(target)?);
    }
    let mut replacement = Replacement::begin(target)?;
    write(&mut replacement.file)?;
    replacement.finish().map(drop)
}

/// Whether a path leads to something that is neither a file nor a folder. The paths of open files, such as `/dev/stdout`,
/// count as such: whoever opened the file continues to write to it.
pub fn is_written_in_place(path: &Path) -> bool {
    let is_device = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    is_device || path.starts_with("/dev") || path.starts_with("/proc")
}

fn create_beside(target: &Path, name: &OsStr) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let mut taken = io::ErrorKind::AlreadyExists.into();
    for _ in 0..ATTEMPTS {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let draft = target.with_file_name(draft_name(name, number));
        match OpenOptions::new().write(true).create_new(true).open(&draft) {
            Ok(file) => return Ok((file, draft)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

fn draft_name(name: &OsStr, number: u32) -> OsString {
    let mut draft = OsString::from(".");
    if name.len() <= NAME_BYTES {
        draft.push(name);
    } else {
        let name = name.to_string_lossy();
        draft.push(&name[..name.floor_char_boundary(NAME_BYTES)]);
    }
    draft.push(format!(".{}-{number}.{EXTENSION}", std::process::id()));
    draft
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("page.html");
        replace(&target, |file| file.write_all(b"first")).expect("there is room");
        let failed = replace(&target, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let failed = failed.expect_err("the disk is full");
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&target).expect("readable"), b"first");
        replace(&target, |file| file.write_all(b"second")).expect("there is room");
        assert_eq!(fs::read(&target).expect("readable"), b"second");
        assert_eq!(names(folder.path()), ["page.html"]);
        let missing = replace(&folder.path().join("none/page.html"), |_| Ok(()));
        let missing = missing.expect_err("there is no such folder");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let of_folder = replace(folder.path(), |_| Ok(())).expect_err("it is a folder");
        assert_eq!(of_folder.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn drafts_of_one_target_do_not_share_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("run");
        let mut first = Replacement::begin(&target).expect("there is room");
        let mut second = Replacement::begin(&target).expect("there is room");
        first.file().write_all(b"first").expect("there is room");
        second.file().write_all(b"second").expect("there is room");
        first.finish().expect("it is renamed");
        assert_eq!(fs::read(&target).expect("readable"), b"first");
        second.finish().expect("it is renamed");
        assert_eq!(fs::read(&target).expect("readable"), b"second");
        assert_eq!(names(folder.path()), ["run"]);
    }

    #[test]
    fn the_longest_name_has_a_draft() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("ä".repeat(127));
        replace(&target, |file| file.write_all(b"x")).expect("the name has 254 bytes");
        assert_eq!(fs::read(&target).expect("readable"), b"x");
        assert!(replace(&folder.path().join("a".repeat(300)), |_| Ok(())).is_err());
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_the_place_of_a_draft_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (foreign, target) = (folder.path().join("foreign"), folder.path().join("target"));
        fs::write(&foreign, "foreign").expect("written");
        // Whatever the next draft's number is, a link has its name.
        for number in 0..ATTEMPTS * 2 {
            let link = folder.path().join(draft_name(OsStr::new("target"), number));
            symlink(&foreign, link).expect("a link");
        }
        let _ = replace(&target, |file| file.write_all(b"new"));
        assert_eq!(fs::read_to_string(&foreign).expect("readable"), "foreign");

        let link = folder.path().join("link");
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o640)).expect("its own");
        symlink(&foreign, &link).expect("a link");
        replace(&link, |file| file.write_all(b"new")).expect("there is room");
        assert!(link.symlink_metadata().expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&foreign).expect("readable"), "new");
        let mode = foreign.metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);

        let dangling = folder.path().join("dangling");
        symlink(folder.path().join("nowhere"), &dangling).expect("a link");
        replace(&dangling, |file| file.write_all(b"new")).expect("there is room");
        assert!(dangling.symlink_metadata().expect("there").is_file());
        assert!(!folder.path().join("nowhere").exists());

        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o440)).expect("its own");
        let refused = replace(&foreign, |_| Ok(())).expect_err("it is read-only");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        if Path::new("/dev/null").exists() {
            replace(Path::new("/dev/null"), |file| file.write_all(b"x")).expect("a device");
            assert!(!Path::new("/dev/null").metadata().expect("there").is_file());
        }
    }
}
