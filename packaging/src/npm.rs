//! Packages for npm: `drumfire`, a small launcher, and a package with the program for each platform, which npm selects by `os`
//! and `cpu`. No install script downloads anything, because CI systems forbid that.

use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use xtask::{root, run};

use crate::build::BuiltProgram;
use crate::{HOMEPAGE, LICENSE, Release, SUMMARY, VERSION, copy, write};

/// The file name of the package that users install.
pub fn name() -> String {
    format!("drumfire-{VERSION}.tgz")
}

/// The file name of a platform's package.
pub fn platform_name(program: &BuiltProgram) -> String {
    format!("drumfire-linux-{}-{VERSION}.tgz", cpu(program))
}

/// The processor as Node.js names it.
fn cpu(program: &BuiltProgram) -> &'static str {
    match program.cpu {
        "x86_64" => "x64",
        _ => "arm64",
    }
}

/// Packs the launcher and the platforms' packages with `npm pack`.
pub fn pack(release: &Release) -> anyhow::Result<()> {
    let mut platforms = Map::new();
    for program in release.programs.iter().filter(|program| !program.is_static) {
        let package = format!("@drumfire/linux-{}", cpu(program));
        pack_platform(release, program, &package)?;
        platforms.insert(package, json!(VERSION));
    }
    let folder = release.work.join("npm/drumfire");
    let manifest = json!({
        "name": "drumfire",
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "homepage": HOMEPAGE,
        "bin": {"drumfire": "run.js"},
        "engines": {"node": ">=14.18"},
        "optionalDependencies": platforms,
    });
    copy(
        &root().join("packaging/templates/npm/run.js"),
        &folder.join("run.js"),
    )?;
    copy(&root().join("README.md"), &folder.join("README.md"))?;
    npm_pack(release, &folder, &manifest)
}

fn pack_platform(release: &Release, program: &BuiltProgram, package: &str) -> anyhow::Result<()> {
    let folder = release.work.join("npm").join(cpu(program));
    copy(&program.file, &folder.join("bin/drumfire"))?;
    for file in ["LICENSE", "NOTICE"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    for file in ["quickstart.jmx", "users.csv"] {
        copy(
            &root().join("examples").join(file),
            &folder.join("examples").join(file),
        )?;
    }
    let manifest = json!({
        "name": package,
        "version": VERSION,
        "description": format!("The program of the package drumfire for Linux on {}", cpu(program)),
        "license": LICENSE,
        "homepage": HOMEPAGE,
        "os": ["linux"],
        "cpu": [cpu(program)],
        "libc": ["glibc"],
        "preferUnplugged": true,
    });
    npm_pack(release, &folder, &manifest)
}

fn npm_pack(release: &Release, folder: &std::path::Path, manifest: &Value) -> anyhow::Result<()> {
    write(
        &folder.join("package.json"),
        serde_json::to_string_pretty(manifest)?,
    )?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"])
        .arg(&release.folder);
    run(npm.current_dir(folder).stdout(Stdio::null()))
}
