//! Profile-guided optimization. A program is built twice: the first build counts, in some benchmarks, how often its code runs,
//! and the compiler lays out the second build by these counts.
//!
//! A function is found in a profile by its name, which depends on the target and the features. So a profile serves one target.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{FEATURES, cargo, root, run};

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

const SHORT: [&str; 6] = ["--only", "drumfire", "--rounds", "1", "--seconds", "3"];

/// Builds a program that counts, runs the benchmarks with it, and writes `drumfire.profdata` into a folder, in the form that the
/// compiler reads. Returns that file.
///
/// # Errors
/// nginx or the compiler's tool for profiles is missing, or the build fails. A benchmark that fails is reported, and the others
/// count.
pub fn record(folder: &Path) -> anyhow::Result<PathBuf> {
    let merge = merge_tool()?;
    let (counts, profile) = (folder.join("counts"), folder.join("drumfire.profdata"));
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let program = build(folder, &options("profile-generate", &counts))?;
    let bench = [
        "run",
        "--quiet",
        "--package",
        "drumfire-tools",
        "--",
        "bench",
    ];
    let mut command = cargo();
    command.args(bench).args(LOAD).args(SHORT);
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
        // LLVM inlines before it counts, even in crates that are optimized for size: 0.5 MB more. Both builds have to agree, or
        // the counts do not fit.
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
    run(&mut command)?;
    Ok(folder.join(host).join("dist/drumfire"))
}

/// Installs the compiler's tools for profiles, and returns the one that merges counts.
fn merge_tool() -> anyhow::Result<PathBuf> {
    let (host, sysroot) = (host()?, rustc(&["--print", "sysroot"])?);
    let file = Path::new(sysroot.trim()).join(format!("lib/rustlib/{host}/bin/llvm-profdata"));
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
    let output = rustc.current_dir(root()).args(options).output();
    let output = output.context("rustc")?;
    if !output.status.success() {
        bail!("rustc {options:?}: {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
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
}
