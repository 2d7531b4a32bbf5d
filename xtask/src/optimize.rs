//! `cargo xtask optimize`: builds the program for this machine with profile-guided optimization.

use std::path::{Path, PathBuf};

use xtask::{cargo, profile, run, target};

/// Builds `optimized/drumfire` in cargo's target folder.
///
/// # Errors
/// If the compiler's tool for profiles or nginx is missing, or a build fails. A benchmark that fails is reported, and the others count.
pub fn optimize() -> anyhow::Result<()> {
    let folder = std::path::absolute(target().join("optimized"))?;
    let counts = folder.join("counts");
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let counting = build(&folder, &profile::counting(&counts))?;
    let recorded = profile::record(&[counting], &counts, &folder)?;
    let built = build(&folder, &profile::guided(&recorded))?;
    let program = folder.join("drumfire");
    std::fs::copy(&built, &program)?;
    println!("{}", program.display());
    Ok(())
}

/// Builds the profile `dist` with more compiler options. The target is named so that they do not apply to build scripts and
/// macros.
fn build(folder: &Path, options: &[String]) -> anyhow::Result<PathBuf> {
    let host = profile::host()?;
    let mut command = cargo();
    command.args(["build", "--profile", "dist", "--package", "drumfire"]);
    command
        .args(["--target", &host])
        .arg("--target-dir")
        .arg(folder);
    command.env("CARGO_ENCODED_RUSTFLAGS", options.join("\u{1f}"));
    run(&mut command)?;
    Ok(folder.join(host).join("dist/drumfire"))
}
