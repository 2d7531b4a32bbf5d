//! Builds the container image, which contains only the static program, with buildah and without a
//! daemon.

use std::path::Path;
use std::process::Command;

use xtask::output;

use crate::{Release, VERSION, copy, files};

/// The file name of the image, an OCI archive.
pub fn name() -> String {
    format!("drumfire-{VERSION}-static.oci.tar")
}

/// The image in its archive, as buildah addresses it. `deploy/` and the compose file name it with this tag.
pub fn address(release: &Release) -> String {
    let archive = release.folder.join(name());
    format!("oci-archive:{}:drumfire:{VERSION}", archive.display())
}

/// buildah with private storage, which needs neither a daemon nor overlay file systems.
pub fn buildah(work: &Path) -> Command {
    let mut buildah = Command::new("buildah");
    buildah
        .arg("--root")
        .arg(work.join("containers"))
        .arg("--runroot")
        .arg(work.join("containers-run"));
    buildah.args(["--storage-driver", "vfs"]);
    buildah
}

/// Builds `templates/container/Containerfile`.
pub fn pack(release: &Release) -> anyhow::Result<()> {
    let context = release.work.join("image");
    copy(&release.r#static().file, &context.join("bin/drumfire"))?;
    for file in files(&release.share.join("drumfire"))? {
        let name = Path::new("share/drumfire").join(&file);
        copy(
            &release.share.join("drumfire").join(&file),
            &context.join(name),
        )?;
    }
    let mut build = buildah(&release.work);
    build.args([
        "build",
        "--quiet",
        "--isolation",
        "chroot",
        "--timestamp",
        &release.time.to_string(),
    ]);
    build
        .arg("--file")
        .arg(xtask::root().join("packaging/templates/container/Containerfile"));
    build.arg("--tag").arg(address(release));
    output(build.arg(&context))?;
    Ok(())
}
