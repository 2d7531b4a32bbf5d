//! Profile-guided optimization. A program is built twice: the first build counts, in some benchmarks, how often its code runs,
//! and the compiler lays out the second build by these counts.
//!
//! A function is found in a profile by its name, which depends on the target, the features and some settings of cargo. So a profile
//! serves one target. A build whose names are not in the profile succeeds all the same, so [`check`] looks for them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{FEATURES, cargo, output, root, run};

/// The benchmarks that record the profile. The compiler treats code that none of them runs as rarely run, so they cover all that
/// most plans do for each sample.
const LOAD: [&str; 11] = [
    "keepalive",
    "shop",
    "extract",
    "postprocessors",
    "newstate-tls",
    "http2",
    "http2-api",
    "websocket",
    "download",
    "upload",
    "rows",
];

/// cargo-zigbuild, which builds the packages, sets these to keep the options of a target away from build scripts. They are part of
/// the names of all crates that have a build script among their dependencies.
const ONLY_FOR_TARGET: [(&str, &str); 3] = [
    ("CARGO_TARGET_APPLIES_TO_HOST", "false"),
    ("CARGO_UNSTABLE_TARGET_APPLIES_TO_HOST", "true"),
    // Lets a stable cargo read the other two.
    ("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly"),
];

/// The crate whose functions [`check`] looks for. Its names depend on those of its dependencies, which are most crates.
const JUDGED: &str = "drumfire_engine";

const SHORT: [&str; 6] = ["--only", "drumfire", "--rounds", "1", "--seconds", "3"];

/// Builds a program that counts, runs the benchmarks with it, and writes `drumfire.profdata` into a folder, in the form that the
/// compiler reads. Returns that file.
///
/// # Errors
/// nginx or the compiler's tool for profiles is missing, or the build fails. A benchmark that fails is reported, and the others
/// count.
pub fn record(folder: &Path) -> anyhow::Result<PathBuf> {
    let merge = tool("llvm-profdata")?;
    let (counts, profile) = (folder.join("counts"), folder.join("drumfire.profdata"));
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let program = build(folder, &options("profile-generate", &counts))?;
    let mut command = crate::program("drumfire-tools")?;
    command.arg("bench").args(LOAD).args(SHORT);
    command.arg("--program").arg(&program);
    run(command.arg("--out").arg(folder.join("load")))?;
    run(Command::new(merge)
        .args(["merge", "-o"])
        .args([&profile, &counts]))?;
    Ok(profile)
}

/// The options of the compiler for a build by a profile.
pub fn guided(profile: &Path) -> Vec<String> {
    options("profile-use", profile)
}

fn options(name: &str, file: &Path) -> Vec<String> {
    vec![
        format!("-C{name}={}", file.display()),
        // LLVM inlines before it counts, even in crates that are optimized for size. Both builds have to agree, or the counts do not
        // fit.
        "-Cllvm-args=-disable-preinline".to_owned(),
    ]
}

/// Builds the program of the packages for this machine with more compiler options, below a folder. The target is named so that
/// they do not apply to build scripts and macros. Returns the program.
///
/// # Errors
/// The build fails.
pub fn build(folder: &Path, options: &[String]) -> anyhow::Result<PathBuf> {
    let host = host()?;
    let mut command = cargo();
    command.args(["build", "--profile", "dist", "--package", "drumfire"]);
    command.args(["--features", FEATURES]);
    command
        .args(["--target", &host])
        .arg("--target-dir")
        .arg(folder);
    command.env("CARGO_ENCODED_RUSTFLAGS", options.join("\u{1f}"));
    command.envs(ONLY_FOR_TARGET);
    run(&mut command)?;
    Ok(folder.join(host).join("dist/drumfire"))
}

/// Checks that the compiler found the functions of a program in a profile.
///
/// # Errors
/// The names of a crate differ, or the compiler's tools for profiles are missing.
pub fn check(profile: &Path, program: &Path) -> anyhow::Result<()> {
    let library = newest_library(&program.with_file_name("deps"))?;
    let parts = output(Command::new(tool("llvm-ar")?).arg("t").arg(&library))?;
    let unit = parts.lines().find_map(unit);
    let unit = unit.with_context(|| format!("{} has no unit", library.display()))?;
    let mut show = Command::new(tool("llvm-profdata")?);
    show.args(["show", "--function", unit]).arg(profile);
    if output(&mut show)?.contains("Functions shown: 0") {
        bail!(
            "{} has no function of {}: it was recorded with other features or settings",
            profile.display(),
            program.display()
        );
    }
    Ok(())
}

/// The library of the judged crate that was built last. Older ones may be there, of other features or compilers.
fn newest_library(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut libraries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&format!("lib{JUDGED}-")) && name.ends_with(".rlib") {
            libraries.push((file.metadata()?.modified()?, file));
        }
    }
    let newest = libraries.into_iter().max();
    let (_, library) = newest.with_context(|| format!("no {JUDGED} in {}", folder.display()))?;
    Ok(library)
}

/// The unit of the compiler from which a part of a library was made: `drumfire_engine.137da10d021a8403-cgu.0`. The names of the
/// functions that only this unit uses begin with it.
fn unit(part: &str) -> Option<&str> {
    let name = part.strip_suffix(".rcgu.o")?;
    let start = name.find(&format!(".{JUDGED}."))?;
    Some(&name[start + 1..])
}

/// Installs the compiler's tools for profiles and libraries, and returns one of them.
fn tool(name: &str) -> anyhow::Result<PathBuf> {
    let (host, sysroot) = (host()?, rustc(&["--print", "sysroot"])?);
    let file = Path::new(sysroot.trim()).join(format!("lib/rustlib/{host}/bin/{name}"));
    if !file.exists() {
        run(Command::new("rustup").args(["--quiet", "component", "add", "llvm-tools"]))
            .with_context(|| format!("there is no {}", file.display()))?;
    }
    Ok(file)
}

/// The target for which the compiler builds unless told otherwise (`x86_64-unknown-linux-gnu`).
fn host() -> anyhow::Result<String> {
    let version = rustc(&["--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not report its host")?.to_owned())
}

fn rustc(options: &[&str]) -> anyhow::Result<String> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    output(rustc.current_dir(root()).args(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_a_target_of_the_toolchain() {
        let sysroot = rustc(&["--print", "sysroot"]).expect("tests are built by a rustc");
        let targets = Path::new(sysroot.trim()).join("lib/rustlib");
        assert!(targets.join(host().expect("it has a host")).is_dir());
    }

    #[test]
    fn a_part_of_a_library_names_its_unit() {
        let part = "drumfire_engine-ae98b52f.drumfire_engine.137da10d021a8403-cgu.0.rcgu.o";
        assert_eq!(unit(part), Some("drumfire_engine.137da10d021a8403-cgu.0"));
        assert_eq!(unit("lib.rmeta"), None);
    }
}
