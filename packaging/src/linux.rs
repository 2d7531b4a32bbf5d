//! Makes the Debian and Red Hat packages from the dynamic program with the systems' own tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use xtask::{output, run};

use crate::{Release, VERSION, build, copy, empty, files, texts, write};

/// The file name of the Debian package.
pub fn deb_name() -> String {
    format!("drumfire_{VERSION}_amd64.deb")
}

/// The file name of the RPM package.
pub fn rpm_name() -> String {
    format!("drumfire-{VERSION}-1.x86_64.rpm")
}

/// Makes the `.deb` with `dpkg-deb`.
pub fn deb(release: &Release) -> anyhow::Result<()> {
    let tree = release.work.join("deb");
    let bytes = lay_out(release, &tree)?;
    let kibibytes = bytes.div_ceil(1024).to_string();
    let control = texts::fill("debian-control.in", &[("KIBIBYTES", &kibibytes)])?;
    write(&tree.join("DEBIAN/control"), control)?;
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--build", "--root-owner-group", "-Zxz"])
        .arg(&tree)
        .arg(release.folder.join(deb_name()));
    pack.env(build::DATE, release.time.to_string());
    run(pack.stdout(std::process::Stdio::null()))
}

/// Makes the `.rpm` with `rpmbuild` (Debian and Ubuntu: `apt install rpm`).
pub fn rpm(release: &Release) -> anyhow::Result<()> {
    let top = release.work.join("rpm");
    let tree = top.join("tree");
    lay_out(release, &tree)?;
    let spec = top.join("drumfire.spec");
    let tree = tree.to_str().context("the target folder is UTF-8")?;
    write(&spec, texts::fill("drumfire.spec.in", &[("TREE", tree)])?)?;
    let mut pack = Command::new("rpmbuild");
    pack.args(["-bb", "--quiet", "--target", "x86_64", "--define"]);
    pack.arg(format!("_topdir {}", top.display())).arg(&spec);
    pack.env(build::DATE, release.time.to_string());
    output(&mut pack)?;
    copy(
        &top.join("RPMS/x86_64").join(rpm_name()),
        &release.folder.join(rpm_name()),
    )
}

/// Lays the program and its files out below `tree` as below `/`; returns their size in bytes.
fn lay_out(release: &Release, tree: &Path) -> anyhow::Result<u64> {
    empty(tree)?;
    copy(&release.dynamic().file, &tree.join("usr/bin/drumfire"))?;
    for file in files(&release.share)? {
        if !file.starts_with("powershell") {
            copy(
                &release.share.join(&file),
                &tree.join("usr/share").join(&file),
            )?;
        }
    }
    let mut bytes = 0;
    for file in files(tree)? {
        bytes += fs::metadata(tree.join(file))?.len();
    }
    Ok(bytes)
}
