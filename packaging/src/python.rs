//! Wheels for PyPI: `pip install drumfire` puts the program on the path. A wheel is a ZIP archive with a list of its files
//! (PyPA's binary distribution format).

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::build::BuiltProgram;
use crate::{HOMEPAGE, LICENSE, Release, SUMMARY, VERSION, archive, files};

/// Packs a wheel for each program.
pub fn wheels(release: &Release) -> anyhow::Result<()> {
    release
        .programs
        .iter()
        .try_for_each(|program| wheel(release, program))
}

/// The file name of a program's wheel.
pub fn name(program: &BuiltProgram) -> String {
    format!("drumfire-{VERSION}-py3-none-{}.whl", tag(program))
}

/// The platform tag: the oldest glibc, or the first version of musl, for which pip accepts the wheel.
fn tag(program: &BuiltProgram) -> String {
    if program.is_static {
        format!("musllinux_1_1_{}", program.cpu)
    } else {
        format!("manylinux_2_17_{}", program.cpu)
    }
}

fn wheel(release: &Release, program: &BuiltProgram) -> anyhow::Result<()> {
    let data = format!("drumfire-{VERSION}.data");
    let info = format!("drumfire-{VERSION}.dist-info");
    let target = release.folder.join(name(program));
    let file = File::create(&target).with_context(|| target.display().to_string())?;
    let mut wheel = Wheel {
        zip: ZipWriter::new(file),
        record: String::new(),
    };
    wheel.add_file(&format!("{data}/scripts/drumfire"), &program.file)?;
    for path in files(&release.share)? {
        let name = format!("{data}/data/share/{}", path.display());
        wheel.add_file(&name, &release.share.join(&path))?;
    }
    let readme = std::fs::read_to_string(xtask::root().join("README.md"))?;
    let metadata = format!(
        "Metadata-Version: 2.4\nName: drumfire\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense-Expression: {LICENSE}\n\
         Project-URL: Homepage, {HOMEPAGE}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
    );
    wheel.add(&format!("{info}/METADATA"), metadata.as_bytes(), false)?;
    let about = format!(
        "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\nTag: py3-none-{}\n",
        tag(program)
    );
    wheel.add(&format!("{info}/WHEEL"), about.as_bytes(), false)?;
    wheel.finish(&format!("{info}/RECORD"))
}

struct Wheel {
    zip: ZipWriter<File>,
    /// The lines of `RECORD` so far: name, digest, size.
    record: String,
}

impl Wheel {
    fn add_file(&mut self, name: &str, file: &Path) -> anyhow::Result<()> {
        let mut content = Vec::new();
        File::open(file)
            .with_context(|| file.display().to_string())?
            .read_to_end(&mut content)?;
        self.add(name, &content, archive::is_executable(file)?)
    }

    fn add(&mut self, name: &str, content: &[u8], is_executable: bool) -> anyhow::Result<()> {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(content));
        self.record
            .push_str(&format!("{name},sha256={digest},{}\n", content.len()));
        self.put(name, content, is_executable)
    }

    fn put(&mut self, name: &str, content: &[u8], is_executable: bool) -> anyhow::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(if is_executable { 0o755 } else { 0o644 });
        self.zip.start_file(name, options)?;
        self.zip.write_all(content)?;
        Ok(())
    }

    fn finish(mut self, record: &str) -> anyhow::Result<()> {
        let lines = format!("{}{record},,\n", self.record);
        self.put(record, lines.as_bytes(), false)?;
        self.zip.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_are_named_by_the_oldest_system_they_run_on() {
        let program = |is_static| BuiltProgram {
            cpu: "x86_64",
            is_static,
            file: "p".into(),
        };
        assert!(name(&program(false)).ends_with("-py3-none-manylinux_2_17_x86_64.whl"));
        assert!(name(&program(true)).ends_with("-py3-none-musllinux_1_1_x86_64.whl"));
    }
}
