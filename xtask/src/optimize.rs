//! `cargo xtask optimize`: builds the program with profile-guided optimization. It is built twice: the first build records a
//! profile in some benchmarks, and the compiler uses that profile for the second build.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use xtask::{cargo, root, run, target};

/// The benchmarks that record the profile: HTTP/1.1 and HTTP/2, TLS, bodies that are read, and result files.
const LOAD: [&str; 5] = ["keepalive", "extract", "newstate-tls", "http2", "rows"];

const SHORT: [&str; 6] = ["--only", "drumfire", "--rounds", "1", "--seconds", "3"];

/// Builds `optimized/drumfire` in cargo's target folder.
///
/// # Errors
/// If the compiler's tool for profiles or nginx is missing, or a build fails. A benchmark that fails is reported, and the others count.
pub fn optimize() -> anyhow::Result<()> {
    let profile = profile()?;
    let folder = folder()?;
    let built = build(
        &Toolchain::find()?,
        &folder,
        &option("profile-use", &profile),
    )?;
    let program = folder.join("drumfire");
    std::fs::copy(&built, &program)?;
    println!("{}", program.display());
    Ok(())
}

/// Records a profile of the program in the benchmarks. Returns the file, in the form that the compiler reads.
///
/// # Errors
/// As [`optimize`].
pub fn profile() -> anyhow::Result<PathBuf> {
    let rustc = Toolchain::find()?;
    let merge = rustc.tool("llvm-profdata")?;
    let folder = folder()?;
    let (counts, profile) = (folder.join("counts"), folder.join("drumfire.profdata"));
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let counting = build(&rustc, &folder, &option("profile-generate", &counts))?;
    let load = folder.join("load");
    let files = ["--program", utf8(&counting)?, "--out", utf8(&load)?];
    super::tools(&[&["bench"], &LOAD[..], &SHORT, &files].concat())?;
    run(Command::new(merge)
        .arg("merge")
        .arg("-o")
        .args([&profile, &counts]))?;
    Ok(profile)
}

fn folder() -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(target().join("optimized"))?)
}

fn utf8(path: &Path) -> anyhow::Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8", path.display()))
}

fn option(name: &str, file: &Path) -> String {
    format!("-C{name}={}", file.display())
}

/// Builds the profile `dist` with one more compiler option. The target is named so that the option does not apply to build
/// scripts and macros.
fn build(rustc: &Toolchain, folder: &Path, option: &str) -> anyhow::Result<PathBuf> {
    let build = [
        "build",
        "--profile",
        "dist",
        "--package",
        "drumfire",
        "--target",
    ];
    let mut command = cargo();
    command.args(build).arg(&rustc.host);
    command.env("CARGO_ENCODED_RUSTFLAGS", option);
    run(command.arg("--target-dir").arg(folder))?;
    Ok(folder.join(&rustc.host).join("dist/drumfire"))
}

struct Toolchain {
    /// The toolchain's folder.
    root: PathBuf,
    /// The host's target triple (`x86_64-unknown-linux-gnu`).
    host: String,
}

impl Toolchain {
    fn find() -> anyhow::Result<Toolchain> {
        let version = rustc(&["--version", "--verbose"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(Toolchain {
            root: rustc(&["--print", "sysroot"])?.trim().into(),
            host: host.context("rustc does not report its host")?.to_owned(),
        })
    }

    fn tool(&self, name: &str) -> anyhow::Result<PathBuf> {
        let own = format!("lib/rustlib/{}/bin/{name}", self.host);
        let file = self.root.join(own);
        if !file.exists() {
            bail!(
                "there is no {}: rustup component add llvm-tools",
                file.display()
            );
        }
        Ok(file)
    }
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
    fn a_tool_that_is_missing_is_named_with_its_remedy() {
        let rustc = Toolchain::find().expect("tests are built by a rustc");
        assert!(rustc.root.join("lib/rustlib").join(&rustc.host).is_dir());
        let error = rustc.tool("llvm-nothing").expect_err("there is none");
        assert!(
            error
                .to_string()
                .ends_with("rustup component add llvm-tools")
        );
    }
}
