//! Class data sharing: Java's classes as they lie in memory, in a file that later starts map instead of reading and checking
//! the jars again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use crate::find::Installation;
use crate::{cache_folder, fingerprint};

/// The file of a Java with a class path, whether it is there or not. Another Java or other jars have another file.
pub fn file(java: &Installation, classpath: &[PathBuf]) -> PathBuf {
    let mut what = std::fs::read_to_string(java.home.join("release")).unwrap_or_default();
    for jar in classpath {
        what.push_str(&jar.to_string_lossy());
        if let Ok(found) = jar.metadata() {
            let changed = found.modified().ok();
            let age = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            what.push_str(&format!("{} {:?}", found.len(), age));
        }
    }
    cache_folder().join(format!("classes-{:016x}.jsa", fingerprint(what.as_bytes())))
}

/// Makes the file by running Java once, with the classes that every script needs.
///
/// # Errors
/// Why there is none: the run then goes on without.
pub fn create(
    file: &Path,
    java: &Installation,
    classpath: &[PathBuf],
    home: &Path,
    options: &[&str],
) -> Result<(), String> {
    let program = java.home.join("bin/java");
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let status = Command::new(&program)
        .args(options)
        .arg(format!("-XX:ArchiveClassesAtExit={}", part.display()))
        .arg("-cp")
        .arg(join(classpath))
        .arg("dev.drumfire.jvm.Warm")
        .arg(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !part.is_file() {
        return Err(format!("{} made no archive: {status}", program.display()));
    }
    std::fs::rename(&part, file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Paths as Java's `-cp` takes them.
pub fn join(classpath: &[PathBuf]) -> String {
    let jars: Vec<_> = classpath.iter().map(|jar| jar.to_string_lossy()).collect();
    jars.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_jars_have_another_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let java = Installation {
            home: folder.path().to_path_buf(),
            library: PathBuf::new(),
            version: 17,
        };
        let jar = folder.path().join("a.jar");
        std::fs::write(&jar, "1").expect("a file");
        let first = file(&java, std::slice::from_ref(&jar));
        assert_eq!(file(&java, std::slice::from_ref(&jar)), first);
        std::fs::write(&jar, "12").expect("a file");
        assert_ne!(file(&java, std::slice::from_ref(&jar)), first);
        std::fs::write(folder.path().join("release"), "JAVA_VERSION=\"21\"").expect("a file");
        assert_ne!(
            file(&java, &[]),
            file(
                &Installation {
                    home: PathBuf::from("/x"),
                    ..java.clone()
                },
                &[]
            )
        );
        let why = create(&first, &java, &[], folder.path(), &[]).expect_err("there is no Java");
        assert!(why.contains("bin/java"), "{why}");
    }
}
