//! Addresses with the protocol `file`, as Java's `sun.net.www.protocol.file` reads them.

use std::io;
use std::path::PathBuf;

use crate::url::Url;
use drumfire_java::Exception;

/// The file of an address: its path with escapes decoded, relative to the working directory (`Handler.openConnection`).
/// Query and reference are ignored.
///
/// # Errors
/// `java.lang.IllegalArgumentException` without a message for an invalid escape (`ParseUtil.decode`). It is not an
/// `IOException`, so `HTTPFileImpl` does not catch it: the sample has no label and no address.
pub fn path(url: &Url) -> Result<PathBuf, Exception> {
    let bad = || Exception::without_message("java.lang.IllegalArgumentException");
    let text = url.path().as_bytes();
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte != b'%' {
            bytes.push(byte);
            at += 1;
            continue;
        }
        let digits = text.get(at + 1..at + 3).ok_or_else(bad)?;
        let value = std::str::from_utf8(digits)
            .ok()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.ok_or_else(bad)?);
        at += 3;
    }
    let decoded = String::from_utf8(bytes).map_err(|_| bad())?;
    Ok(PathBuf::from(without_extra_slashes(&decoded)))
}

/// A path in the form of `java.io.File` and `java.nio.file.Path`: without double or trailing slashes.
pub(crate) fn without_extra_slashes(path: &str) -> String {
    let mut shortened = String::with_capacity(path.len());
    for char in path.chars() {
        if char != '/' || !shortened.ends_with('/') {
            shortened.push(char);
        }
    }
    if shortened.len() > 1 && shortened.ends_with('/') {
        shortened.pop();
    }
    shortened
}

/// The failure of reading a file that cannot be opened (`java.io.FileInputStream`).
pub fn unreadable(path: &std::path::Path, error: &io::Error) -> Exception {
    Exception::new(
        "java.io.FileNotFoundException",
        format!("{} ({})", path.display(), open_failure(error)),
    )
}

/// The operating system's message for a file that cannot be opened, as Java repeats it.
pub(crate) fn open_failure(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Result<PathBuf, Exception> {
        path(&Url::from_parts("file", None, -1, file).expect("an address"))
    }

    #[test]
    fn the_path_is_decoded_and_nothing_else_counts() {
        // The files that JMeter 5.6.3 opened for these paths of a sampler.
        for (text, file) in [
            ("u.txt", "u.txt"),
            ("/tmp/%75.txt", "/tmp/u.txt"),
            ("/tmp/u.txt?a=1#b", "/tmp/u.txt"),
            ("//localhost/tmp/u.txt", "/localhost/tmp/u.txt"),
            ("", ""),
        ] {
            assert_eq!(read(text), Ok(PathBuf::from(file)), "{text}");
        }
        for text in ["/tmp/%zz.txt", "/tmp/%", "%4", "%+1", "%ff"] {
            let exception = read(text).expect_err("a bad escape");
            assert_eq!(
                exception.response_message(),
                "Non HTTP response message: null"
            );
        }
    }

    #[test]
    fn slashes_are_those_of_java_io_file() {
        // `File#getPath` and `Path#toString` of Java 17.
        for (text, path) in [
            ("/tmp///d//", "/tmp/d"),
            ("//", "/"),
            ("a/./b", "a/./b"),
            ("", ""),
        ] {
            assert_eq!(without_extra_slashes(text), path);
        }
    }

    #[test]
    fn a_missing_file_fails_in_javas_words() {
        let error = io::Error::from(io::ErrorKind::NotFound);
        let exception = unreadable(std::path::Path::new("nothere.txt"), &error);
        assert_eq!(
            exception.trace(),
            "java.io.FileNotFoundException: nothere.txt (No such file or directory)\n"
        );
    }
}
