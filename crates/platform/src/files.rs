//! Private files, files that a plan names, files that one process claims, and reading at an offset.
//!
//! On Windows a new file inherits the permissions of its folder, so these files are private only within the user's
//! profile.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest file that is read whole. Reading a larger one would fill the memory.
const MOST_BYTES: u64 = 1 << 30;

/// Opens a file that a plan or another file names. All such files are opened here, because their names may come from a stranger:
/// a device has no end, and a pipe without a writer never begins.
///
/// # Errors
/// The operating system's error, or the path is not that of a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe would wait for its writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = options.open(path)?;
    let found = file.metadata()?.file_type();
    match found.is_file() {
        true => Ok(file),
        false if found.is_dir() => Err(folder_error()),
        false => Err(irregular()),
    }
}

/// Creates or empties a file that a plan names, or opens the one that is always empty. Writing to a pipe or another device could
/// wait for its reader.
///
/// # Errors
/// The operating system's error, or the path is that of a pipe or another device.
pub fn create_regular(path: &Path) -> io::Result<File> {
    let file = create_at_once(path).map_err(|error| {
        if has_no_reader(&error) {
            irregular()
        } else {
            error
        }
    })?;
    match file.metadata()?.is_file() || is_at(Path::new(EMPTY), &file) {
        true => Ok(file),
        false => Err(irregular()),
    }
}

/// Creates or empties a file that a plan names and that another program will write. A device, or a pipe that is read, will do too.
///
/// # Errors
/// The operating system's error, or the path is that of a pipe that nothing reads.
pub fn create_for_program(path: &Path) -> io::Result<File> {
    let file = create_at_once(path).map_err(|error| {
        if has_no_reader(&error) {
            io::Error::new(error.kind(), "nothing reads the pipe")
        } else {
            error
        }
    })?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    // The program shall wait when the reader is slow.
    OpenOptions::new().write(true).open(path)
}

/// Creates, empties or opens a file without waiting for the reader of a pipe.
fn create_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    options.open(path)
}

/// Whether it is the error of a pipe that nothing reads (`ENXIO`).
fn has_no_reader(error: &io::Error) -> bool {
    cfg!(unix) && error.raw_os_error() == Some(6)
}

fn irregular() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is a device or a pipe, not a file",
    )
}

/// The error of the system that reads a folder.
fn folder_error() -> io::Error {
    const EISDIR: i32 = 21;
    if cfg!(unix) {
        io::Error::from_raw_os_error(EISDIR)
    } else {
        io::ErrorKind::IsADirectory.into()
    }
}

/// Reads a file that a plan or another file names.
///
/// # Errors
/// Those of [`open_regular`], and the file is larger than a gigabyte.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read_bounded(open_regular(path)?)
}

/// Reads a file that the user of the program names. It may be a pipe, such as one of a shell's process substitution.
///
/// # Errors
/// The operating system's error, and the file is larger than a gigabyte.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    read_bounded(File::open(path)?)
}

fn read_bounded(file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= MOST_BYTES {
        bytes.reserve_exact(length as usize);
        // Files such as those of /proc tell no length.
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > MOST_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is larger than a gigabyte",
        ));
    }
    Ok(bytes)
}

/// Reads a text in UTF-8 from a file that a plan or another file names.
///
/// # Errors
/// Those of [`read_regular`], and the file is not UTF-8.
pub fn read_regular_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_regular(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// `O_NONBLOCK`.
#[cfg(unix)]
const NONBLOCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) {
    0o4000
} else {
    0x4
};

/// A file that is always empty.
pub const EMPTY: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Creates a file that only its owner can read and write.
///
/// # Errors
/// The file exists, or it cannot be created.
pub fn private(path: &Path) -> io::Result<File> {
    create_new(path, 0o600)
}

/// Claims an open file for this process until the file is closed, so that another run cannot write to it at the same time. The
/// claim of a process that was killed ends with it.
///
/// Windows would also keep others from reading the file, so there nothing is claimed; nor on file systems without locks.
///
/// # Errors
/// Another process has claimed the file.
pub fn claim(file: &File) -> io::Result<()> {
    if cfg!(unix)
        && file.metadata()?.is_file()
        && let Err(TryLockError::WouldBlock) = file.try_lock()
    {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another run writes it",
        ));
    }
    Ok(())
}

/// Whether [`claim`] failed because another process has the file.
pub fn is_claimed(error: &io::Error) -> bool {
    // The system's own error of this kind is about something else, such as a mounted file.
    error.kind() == io::ErrorKind::ResourceBusy && error.get_ref().is_some()
}

/// Whether an open file is the one at a path. On Windows, whether any file is there.
#[cfg_attr(windows, expect(unused_variables, reason = "files have no numbers"))]
pub fn is_at(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        match (std::fs::metadata(path), file.metadata()) {
            (Ok(there), Ok(here)) => (there.dev(), there.ino()) == (here.dev(), here.ino()),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    path.exists()
}

/// Whether a path is a folder itself, and not a link to one.
pub fn is_real_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Creates a file that only its owner can read, write and execute.
///
/// # Errors
/// The file exists, or it cannot be created.
pub fn private_program(path: &Path) -> io::Result<File> {
    create_new(path, 0o700)
}

/// Creates a folder that only its owner can access, and its missing parents. An existing folder keeps its permissions.
///
/// # Errors
/// The operating system's error.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg_attr(windows, expect(unused_variables, reason = "Windows has no modes"))]
fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    options.open(path)
}

/// Reads into `buffer` from an offset of the file; 0 bytes mean its end. Windows also moves the file's own position.
///
/// # Errors
/// The operating system's error.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn private_files_are_new_and_of_their_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        private_folder(&inner).expect("it is made");
        private_folder(&inner).expect("it may be there");
        let (file, program) = (inner.join("file"), inner.join("program"));
        private(&file)
            .and_then(|mut file| file.write_all(b"text"))
            .expect("it is made");
        private_program(&program).expect("it is made");
        let again = private(&file).expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        #[cfg(unix)]
        for (path, expected) in [(&inner, 0o700), (&file, 0o600), (&program, 0o700)] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = path.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, expected, "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_claimed_until_it_is_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let open = || OpenOptions::new().append(true).create(true).open(&path);
        let first = open().expect("it is made");
        claim(&first).expect("nobody has it");
        let second = open().expect("it is there");
        let refused = claim(&second).expect_err("the first has it");
        assert_eq!(refused.to_string(), "another run writes it");
        drop(first);
        claim(&second).expect("the first has gone");
        assert!(is_at(&path, &second));
        std::fs::remove_file(&path).expect("it is there");
        assert!(!is_at(&path, &second));
        let _new = open().expect("it is made");
        assert!(!is_at(&path, &second));
        // Everybody may write to a device at the same time.
        let [one, other] =
            [EMPTY, EMPTY].map(|path| File::open(path).expect("every system has one"));
        claim(&one).and_then(|()| claim(&other)).expect("a device");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_is_not_a_real_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let linked = folder.path().join("linked");
        std::os::unix::fs::symlink(folder.path(), &linked).expect("a link");
        assert!(is_real_folder(folder.path()) && !is_real_folder(&linked));
    }

    #[cfg(unix)]
    #[test]
    fn neither_devices_nor_pipes_nor_folders_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("it is installed").success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        for path in [&pipe, &link, Path::new("/dev/zero")] {
            let error = read_regular(path).expect_err("no file");
            let told = crate::causes::cause(&error);
            assert_eq!(told, "it is a device or a pipe, not a file");
        }
        let writer = pipe.clone();
        let written = std::thread::spawn(move || std::fs::write(writer, "named by a user"));
        assert_eq!(read_named(&pipe).expect("a pipe"), b"named by a user");
        written.join().expect("it ends").expect("it is read");
        let error = read_regular(folder.path()).expect_err("a folder");
        assert_eq!(crate::causes::cause(&error), "it is a folder");
        let large = folder.path().join("large");
        File::create(&large)
            .and_then(|file| file.set_len(MOST_BYTES + 1))
            .expect("it is made");
        let error = read_regular(&large).expect_err("too large");
        assert_eq!(crate::causes::cause(&error), "it is larger than a gigabyte");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("it is written");
        assert_eq!(read_regular_text(&file).expect("a file"), "text");
    }

    #[cfg(unix)]
    #[test]
    fn neither_devices_nor_pipes_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("it is installed").success());
        let refused = |path: &Path| {
            let error = create_regular(path).expect_err("no file");
            crate::causes::cause(&error)
        };
        assert_eq!(refused(&pipe), "it is a device or a pipe, not a file");
        let unread = create_for_program(&pipe).expect_err("it would wait");
        assert_eq!(unread.to_string(), "nothing reads the pipe");
        let reader = File::options().read(true).write(true).open(&pipe);
        let reader = reader.expect("Linux and macOS open it for both");
        create_for_program(&pipe).expect("it is read");
        assert_eq!(refused(&pipe), "it is a device or a pipe, not a file");
        drop(reader);
        let zero = refused(Path::new("/dev/zero"));
        assert_eq!(zero, "it is a device or a pipe, not a file");
        create_regular(Path::new(EMPTY)).expect("the exception");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("it is written");
        create_regular(&file).expect("a file");
        assert_eq!(read_regular_text(&file).expect("a file"), "");
    }

    #[test]
    fn a_file_is_read_at_a_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789").expect("it is written");
        let file = File::open(path).expect("it is there");
        let mut buffer = [0; 4];
        assert_eq!(read_at(&file, &mut buffer, 7).expect("it is open"), 3);
        assert_eq!(&buffer[..3], b"789");
        assert_eq!(read_at(&file, &mut buffer, 10).expect("it is open"), 0);
        let empty = File::open(EMPTY).expect("every system has one");
        assert_eq!(read_at(&empty, &mut buffer, 0).unwrap_or(0), 0);
    }
}
