//! Makes reproducible archives: sorted entries, one timestamp, no owner.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

use crate::build::BuiltProgram;
use crate::{Release, copy, files};

/// The checksums of everything that users download.
pub const SUMS: &str = "SHA256SUMS";

/// Packs a program with its man pages, completions and licences as `.tar.gz`.
pub fn pack(release: &Release, program: &BuiltProgram) -> anyhow::Result<()> {
    let name = program.archive_name();
    let folder = release.work.join("archives").join(&name);
    copy(&program.file, &folder.join("bin/drumfire"))?;
    for file in files(&release.share)? {
        copy(
            &release.share.join(&file),
            &folder.join("share").join(&file),
        )?;
    }
    for file in ["LICENSE", "NOTICE", "README.md", "CHANGELOG.md"] {
        copy(&xtask::root().join(file), &folder.join(file))?;
    }
    let target = release.folder.join(format!("{name}.tar.gz"));
    tar_gz(&folder, &name, release.time, &target)
}

/// Packs a folder under the name `prefix`. Executable files get mode 755, others 644.
pub fn tar_gz(folder: &Path, prefix: &str, time: u64, target: &Path) -> anyhow::Result<()> {
    let file = File::create(target).with_context(|| target.display().to_string())?;
    let packer = GzBuilder::new().mtime(0).write(file, Compression::best());
    let mut archive = tar::Builder::new(packer);
    for path in files(folder)? {
        let content = fs::read(folder.join(&path))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if is_executable(&folder.join(&path))? {
            0o755
        } else {
            0o644
        });
        header.set_mtime(time);
        archive.append_data(
            &mut header,
            Path::new(prefix).join(&path),
            content.as_slice(),
        )?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Whether the owner may execute a file.
pub fn is_executable(file: &Path) -> anyhow::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(file)?.permissions().mode() & 0o100 != 0)
}

/// The SHA-256 of a file in hexadecimal digits.
pub fn sha256(file: &Path) -> anyhow::Result<String> {
    let content = fs::read(file).with_context(|| file.display().to_string())?;
    Ok(Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Writes the checksums of the packages, as `sha256sum --check` reads them.
pub fn sums(folder: &Path) -> anyhow::Result<()> {
    let mut lines = String::new();
    for file in files(folder)? {
        if file.as_os_str() != SUMS {
            lines.push_str(&format!(
                "{}  {}\n",
                sha256(&folder.join(&file))?,
                file.display()
            ));
        }
    }
    crate::write(&folder.join(SUMS), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let pack = |name: &str, order: [&str; 2]| {
            let source = folder.path().join(name);
            for file in order {
                crate::write(&source.join(file), file).expect("a file");
            }
            let target = folder.path().join(format!("{name}.tar.gz"));
            tar_gz(&source, "p", 1_700_000_000, &target).expect("it packs");
            fs::read(target).expect("it was written")
        };
        assert_eq!(pack("one", ["a/b", "c"]), pack("two", ["c", "a/b"]));
    }

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().expect("a folder");
        crate::write(&folder.path().join("a"), "abc").expect("a file");
        sums(folder.path()).expect("it writes");
        let text = fs::read_to_string(folder.path().join(SUMS)).expect("a file");
        // SHA-256 of "abc", FIPS 180-2.
        assert_eq!(
            text,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n"
        );
    }
}
