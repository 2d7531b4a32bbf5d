//! The programs as Maven artifacts, `io.drumfire:drumfire-bin:exe:linux-x86_64:VERSION`, which builds resolve from their usual
//! repository and mirror. The release contains them as an archive with a repository's layout.

use crate::build::BuiltProgram;
use crate::{HOMEPAGE, LICENSE, Release, SUMMARY, VERSION, archive, copy, write};

/// The file name of the archive.
pub fn name() -> String {
    format!("drumfire-maven-{VERSION}.tar.gz")
}

/// The classifier of a program: `linux-x86_64`, or `linux-x86_64-static`.
pub fn classifier(program: &BuiltProgram) -> String {
    let kind = if program.is_static { "-static" } else { "" };
    format!("linux-{}{kind}", program.cpu)
}

/// The folder that becomes the archive.
pub fn repository(release: &Release) -> std::path::PathBuf {
    release.work.join("maven")
}

/// Packs every program with its POM, together with everything already in the folder.
pub fn pack(release: &Release) -> anyhow::Result<()> {
    let repository = repository(release);
    let folder = repository.join("io/drumfire/drumfire-bin").join(VERSION);
    for program in &release.programs {
        let name = format!("drumfire-bin-{VERSION}-{}.exe", classifier(program));
        copy(&program.file, &folder.join(name))?;
    }
    let pom = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>io.drumfire</groupId>\n  \
         <artifactId>drumfire-bin</artifactId>\n  <version>{VERSION}</version>\n  <packaging>pom</packaging>\n  \
         <description>{SUMMARY}</description>\n  <url>{HOMEPAGE}</url>\n  <licenses><license><name>{LICENSE}</name></license></licenses>\n\
         </project>\n"
    );
    write(&folder.join(format!("drumfire-bin-{VERSION}.pom")), pom)?;
    archive::tar_gz(
        &repository,
        "repository",
        release.time,
        &release.folder.join(name()),
    )
}
