//! The operating system's errors in words, without its numbers.

use std::io::{self, ErrorKind};
use std::path::Path;

/// The cause of an error, as the end of a sentence: `the disk is full`.
pub fn cause(error: &io::Error) -> String {
    // An error that a program made has a text of its own.
    if error.get_ref().is_some() {
        return error.to_string();
    }
    let words = match error.kind() {
        ErrorKind::NotFound => "it does not exist",
        ErrorKind::PermissionDenied => "there is no permission",
        ErrorKind::AlreadyExists => "it exists already",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::NotADirectory => "a part of its path is not a folder",
        ErrorKind::DirectoryNotEmpty => "the folder is not empty",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the user's disk quota is used up",
        ErrorKind::FileTooLarge => "the file is larger than the system allows",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::InvalidFilename => "the system does not allow this name",
        ErrorKind::ExecutableFileBusy => "the program's file is being written",
        ErrorKind::AddrInUse => "the port is in use",
        ErrorKind::AddrNotAvailable => "this machine does not have the address",
        ErrorKind::ConnectionRefused => "nothing listens there",
        ErrorKind::ConnectionReset => "the other side closed the connection",
        ErrorKind::ConnectionAborted => "the connection was aborted",
        ErrorKind::HostUnreachable => "the machine cannot be reached",
        ErrorKind::NetworkUnreachable => "the network cannot be reached",
        ErrorKind::BrokenPipe => "the reader has gone away",
        ErrorKind::TimedOut => "it took too long",
        ErrorKind::UnexpectedEof => "it ends too early",
        ErrorKind::InvalidData => "its content is not valid",
        ErrorKind::OutOfMemory => "there is not enough memory",
        _ => return without_number(&error.to_string()),
    };
    words.to_owned()
}

/// A text of the operating system without its number, as the end of a sentence.
fn without_number(text: &str) -> String {
    let words = text.split(" (os error").next().unwrap_or(text);
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Says that a file or folder does not exist. Every message about a missing file has these words.
pub fn missing(path: &Path) -> String {
    format!("`{}` does not exist", path.display())
}

/// Says why a file cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound if error.get_ref().is_none() => missing(path),
        ErrorKind::IsADirectory => format!("`{}` is a folder", path.display()),
        _ => format!("`{}` cannot be read: {}", path.display(), cause(error)),
    }
}

/// Says why a file cannot be written.
pub fn unwritable(path: &Path, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        _ => cause(error),
    };
    format!("`{}` cannot be written: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_neither_number_nor_the_systems_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = std::fs::read(folder.path().join("none")).expect_err("it is not there");
        assert_eq!(cause(&error), "it does not exist");
        let path = Path::new("a/b");
        assert_eq!(unreadable(path, &error), "`a/b` does not exist");
        assert_eq!(
            unwritable(path, &error),
            "`a/b` cannot be written: its folder does not exist"
        );
        for number in 1..134 {
            let words = cause(&io::Error::from_raw_os_error(number));
            assert!(!words.contains("os error"), "{words}");
            let starts_small = words.starts_with(|sign: char| !sign.is_uppercase());
            assert!(starts_small, "{words}");
        }
    }

    #[test]
    fn the_text_of_an_error_that_a_program_made_is_its_cause() {
        let error = io::Error::new(ErrorKind::NotFound, "no such user");
        assert_eq!(cause(&error), "no such user");
        assert_eq!(
            unreadable(Path::new("a"), &error),
            "`a` cannot be read: no such user"
        );
    }
}
