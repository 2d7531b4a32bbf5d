//! Java's classes are prepared for a quick start by a process of its own, after the first run that needs them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{LIMIT, group, jsr223, plan, run, workshop};

/// Stands in for the program `java`: it writes an archive at once, which no virtual machine takes.
const WRITER: &str = r#"#!/bin/sh
for word in "$@"; do case $word in -XX:ArchiveClassesAtExit=*) echo archive > "${word#*=}";; esac; done
"#;

/// The Java at `real`, but for that program.
fn java(folder: &Path, real: &Path) {
    std::fs::create_dir_all(folder.join("bin")).expect("a folder");
    for part in ["lib", "release"] {
        symlink(real.join(part), folder.join(part)).expect("a link");
    }
    let program = folder.join("bin/java");
    std::fs::write(&program, WRITER).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it is ours");
}

fn archives(cache: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(cache.join("drumfire")).into_iter();
    let files = files.flatten().flatten().map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|ending| ending == "jsa"))
        .collect()
}

#[test]
fn nobody_waits_for_the_archive_of_classes() {
    const SAID: &str = "classes in the background";
    let Some(workshop) = workshop() else { return };
    let said = workshop.run(&["jvm"], LIMIT).out;
    let real = said
        .lines()
        .find_map(|line| line.strip_prefix("java")?.split_once(" in "));
    let (_, real) = real.expect("it says which Java there is");
    let (home, cache) = (workshop.path("java"), workshop.path("cache"));
    java(&home, Path::new(real));
    let workshop = workshop.variable("XDG_CACHE_HOME", &cache.to_string_lossy());

    let plan = plan(&[group("A", 1, 1, &[jsr223("JSR223Sampler", "one", "1")])]);
    let named = format!("-Jdrumfire.jvm.home={}", home.display());
    let finished = run(&workshop, &plan, &[&named]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.err.contains(SAID), "{finished:?}");
    let deadline = Instant::now() + LIMIT;
    while archives(&cache).is_empty() {
        assert!(Instant::now() < deadline, "there is no archive");
        std::thread::sleep(Duration::from_millis(20));
    }
    // It is of no use, and does no harm.
    let finished = run(&workshop, &plan, &[&named]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(!finished.err.contains(SAID), "{finished:?}");
}
