//! Class data sharing: a file with Java's loaded classes. Later starts map it instead of reading and verifying the jars.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use drumfire_engine::java::JavaFailure;
use drumfire_platform::causes::{cause, unwritable};
use drumfire_platform::processes::ending_signal;
use drumfire_platform::replacement::{self, Replacement, replace};

use crate::find::Installation;
use crate::{cache_folder, fingerprint};

/// No process takes longer than this to write its file.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Files that were not rewritten for this long belong to a program that is no longer in use.
const OUT_OF_USE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The path of the archive for a Java and a JMeter, whether it exists or not. Another Java or other jars give another name,
/// whose first part only depends on the folders of both.
pub fn file(java: &Installation, classpath: &[PathBuf], home: &Path) -> PathBuf {
    let place = format!("{} {}", java.home.display(), home.display());
    let mut what = std::fs::read_to_string(java.home.join("release")).unwrap_or_default();
    for jar in classpath {
        what.push_str(&jar.to_string_lossy());
        if let Ok(found) = jar.metadata() {
            let changed = found.modified().ok();
            let age = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            what.push_str(&format!("{} {:?}", found.len(), age));
        }
    }
    let name = format!(
        "classes-{:016x}-{:016x}.jsa",
        fingerprint(place.as_bytes()),
        fingerprint(what.as_bytes())
    );
    cache_folder().join(name)
}

/// The process that makes an archive locks this file in the archive's folder meanwhile.
const LOCK: &str = "preparing.lock";

/// Whether the archive is to be made: it does not exist, no process is making it, and making it has not failed for good.
pub fn is_wanted(file: &Path) -> bool {
    let is_held = File::open(file.with_file_name(LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
    !is_held && !file.is_file() && !file.with_extension("failed").is_file()
}

/// Makes the archive, or waits for the process that is making it. A permanent failure is recorded in a file beside it.
///
/// # Errors
/// Why there is no archive: Java then starts without one.
pub fn make(
    file: &Path,
    java: &Installation,
    classpath: &[PathBuf],
    home: &Path,
    options: &[&str],
) -> Result<(), JavaFailure> {
    let lock = File::create(file.with_file_name(LOCK)).map_err(|error| cause(&error))?;
    lock.lock().map_err(|error| cause(&error))?;
    if file.is_file() {
        return Ok(());
    }
    create(file, java, classpath, home, options).map_err(|failure| {
        if failure.is_lasting {
            // If this cannot be written, either, the next run tries again.
            let failed = file.with_extension("failed");
            let _ = replace(&failed, |file| file.write_all(failure.why.as_bytes()));
        }
        failure.why.into()
    })
}

/// Why there is no archive.
#[derive(Debug)]
struct ArchiveFailure {
    why: String,
    /// Whether the next attempt would fail, too.
    is_lasting: bool,
}

impl ArchiveFailure {
    fn lasting(why: String) -> ArchiveFailure {
        ArchiveFailure {
            why,
            is_lasting: true,
        }
    }
}

/// Makes the file by running Java once, with the classes that every script needs.
fn create(
    file: &Path,
    java: &Installation,
    classpath: &[PathBuf],
    home: &Path,
    options: &[&str],
) -> Result<(), ArchiveFailure> {
    let program = java.home.join("bin/java");
    let cannot = |error: io::Error| ArchiveFailure::lasting(unwritable(file, &error));
    // Java empties the file and writes to it.
    let part = Replacement::begin(file).map_err(cannot)?;
    let status = Command::new(&program)
        .args(options)
        .arg(format!(
            "-XX:ArchiveClassesAtExit={}",
            part.path().display()
        ))
        .arg("-cp")
        .arg(join(classpath))
        .arg("dev.drumfire.jvm.Warm")
        .arg(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| {
            ArchiveFailure::lasting(format!(
                "`{}` does not start: {}",
                program.display(),
                cause(&error)
            ))
        })?;
    // The file of a Java that was killed may be incomplete.
    let is_written = part.path().metadata().is_ok_and(|found| found.len() > 0);
    if ending_signal(status).is_some() || !is_written {
        return Err(ArchiveFailure {
            why: format!("{} did not write an archive: {status}", program.display()),
            is_lasting: ending_signal(status).is_none(),
        });
    }
    part.finish().map_err(cannot)?;
    remove_superseded(file);
    Ok(())
}

/// Removes files that this one replaces, and those that killed runs have left behind. Other programs' files stay, and so do
/// recent archives of another Java or JMeter.
fn remove_superseded(file: &Path) {
    let (Some(folder), Some(own)) = (file.parent(), name_of(file)) else {
        return;
    };
    let place = own.rsplit_once('-').map_or("", |(place, _)| place);
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = path.path();
        let Some(name) = name_of(&path).filter(|name| *name != own) else {
            continue;
        };
        let is_old = |limit| age(&path).is_some_and(|age| age > limit);
        let shown = name.strip_prefix('.').unwrap_or(&name);
        let is_ours = shown.starts_with("classes-") || shown.starts_with("bridge-");
        let goes = match name.rsplit_once('.') {
            Some((_, replacement::EXTENSION)) => is_ours && is_old(ABANDONED),
            Some((_, "jsa" | "failed")) => {
                name.strip_prefix(place)
                    .is_some_and(|rest| rest.starts_with('-'))
                    || (is_ours && is_old(OUT_OF_USE))
            }
            Some((_, "jar")) => name.starts_with("bridge-") && is_old(OUT_OF_USE),
            _ => false,
        };
        if goes {
            // A file that cannot be removed does no harm.
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

fn age(path: &Path) -> Option<Duration> {
    let changed = path.metadata().ok()?.modified().ok()?;
    SystemTime::now().duration_since(changed).ok()
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
        let home = folder.path();
        let own = |java: &Installation| file(java, std::slice::from_ref(&jar), home);
        let first = own(&java);
        assert_eq!(own(&java), first);
        std::fs::write(&jar, "12").expect("a file");
        assert_ne!(own(&java), first);
        assert_ne!(
            file(&java, &[], Path::new("/other")),
            file(&java, &[], home)
        );
        std::fs::write(folder.path().join("release"), "JAVA_VERSION=\"21\"").expect("a file");
        assert_ne!(
            file(&java, &[], home),
            file(
                &Installation {
                    home: PathBuf::from("/x"),
                    ..java.clone()
                },
                &[],
                home
            )
        );
        let archive = folder.path().join("a.jsa");
        let failure = create(&archive, &java, &[], home, &[]).expect_err("there is no Java");
        assert!(failure.why.contains("bin/java"), "{failure:?}");
        assert!(failure.is_lasting);
    }

    /// A Java that runs this script instead.
    fn java(folder: &Path, script: &str) -> Installation {
        use std::os::unix::fs::PermissionsExt as _;
        let program = folder.join("bin/java");
        std::fs::create_dir_all(folder.join("bin")).expect("a folder");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("it is ours");
        Installation {
            home: folder.to_path_buf(),
            library: PathBuf::new(),
            version: 17,
        }
    }

    const WRITE: &str =
        r#"for word in "$@"; do case $word in -XX:Arch*) echo new > "${word#*=}";; esac; done"#;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_archive_takes_the_place_of_its_forerunners() {
        let (tools, folder) = (
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        );
        let java = java(tools.path(), WRITE);
        for name in [
            "classes-a-1.jsa",
            "classes-b-1.jsa",
            "classes-a-1.9.part",
            "a.jsa",
        ] {
            std::fs::write(folder.path().join(name), "old").expect("a file");
        }
        let file = folder.path().join("classes-a-2.jsa");
        create(&file, &java, &[], tools.path(), &[]).expect("it writes the file");
        let left = [
            "a.jsa",
            "classes-a-1.9.part",
            "classes-a-2.jsa",
            "classes-b-1.jsa",
        ];
        assert_eq!(names(folder.path()), left);
        let part = File::open(folder.path().join(left[1])).expect("it is there");
        let then = SystemTime::now() - 2 * ABANDONED;
        part.set_modified(then).expect("it is ours");
        create(&file, &java, &[], tools.path(), &[]).expect("it writes the file");
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn an_archive_is_wanted_until_it_is_there_or_cannot_be_made() {
        let (tools, folder) = (
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        );
        let file = folder.path().join("classes-a-2.jsa");
        assert!(is_wanted(&file));
        let lock = File::create(folder.path().join(LOCK)).expect("a file");
        lock.lock().expect("nobody has it");
        assert!(!is_wanted(&file));
        drop(lock);
        let home = tools.path();
        let make = |script| make(&file, &java(home, script), &[], home, &[]);
        make("exit 1").expect_err("nothing is written");
        assert!(file.with_extension("failed").is_file() && !is_wanted(&file));
        // The next caller tries again.
        make(WRITE).expect("it writes the file");
        assert!(!is_wanted(&file));
        make("exit 1").expect("it is there");
        assert_eq!(names(folder.path()), ["classes-a-2.jsa", LOCK]);
    }

    #[test]
    fn a_java_that_is_killed_leaves_nothing_and_is_tried_again() {
        let (tools, folder) = (
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        );
        let java = java(tools.path(), &format!("{WRITE}; kill -9 $$"));
        let file = folder.path().join("classes-a-2.jsa");
        let failure = create(&file, &java, &[], tools.path(), &[]).expect_err("it is killed");
        assert!(!failure.is_lasting, "{failure:?}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
