//! Fills the templates in `templates/` with the version and checksums, for package managers that download the archives
//! themselves.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::build::BuiltProgram;
use crate::{HOMEPAGE, LICENSE, Release, SUMMARY, VERSION, archive, copy, write};

/// Templates that contain the checksum of an archive as `@SHA256_LINUX_X86_64@` or similar.
const MANIFESTS: [(&str, &str); 6] = [
    ("homebrew/drumfire.rb.in", "homebrew/drumfire.rb"),
    ("scoop/drumfire.json.in", "scoop/drumfire.json"),
    (
        "winget/Drumfire.Drumfire.yaml.in",
        "winget/Drumfire.Drumfire.yaml",
    ),
    (
        "winget/Drumfire.Drumfire.installer.yaml.in",
        "winget/Drumfire.Drumfire.installer.yaml",
    ),
    (
        "winget/Drumfire.Drumfire.locale.en-US.yaml.in",
        "winget/Drumfire.Drumfire.locale.en-US.yaml",
    ),
    ("install.sh.in", "install.sh"),
];

/// Fills a template in: `@VERSION@`, `@LICENSE@`, `@SUMMARY@`, `@HOMEPAGE@` and the given values.
///
/// # Errors
/// The template cannot be read, or a word between `@` signs has no value.
pub fn fill(template: &str, values: &[(&str, &str)]) -> anyhow::Result<String> {
    let file = xtask::root().join("packaging/templates").join(template);
    let mut text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let common = [
        ("VERSION", VERSION),
        ("LICENSE", LICENSE),
        ("SUMMARY", SUMMARY),
        ("HOMEPAGE", HOMEPAGE),
    ];
    for (name, value) in common.iter().chain(values) {
        text = text.replace(&format!("@{name}@"), value);
    }
    match unfilled(&text) {
        Some(word) => bail!("{}: @{word}@ has no value", file.display()),
        None => Ok(text),
    }
}

/// The first word in capitals between `@` signs.
fn unfilled(text: &str) -> Option<&str> {
    text.split('@').skip(1).find(|word| {
        let mut letters = word.bytes();
        word.len() > 2
            && letters
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// Writes the manifests and the installers beside the packages.
pub fn write_all(release: &Release) -> anyhow::Result<()> {
    let mut sums = Vec::new();
    for program in &release.programs {
        sums.push((
            sum_name(program),
            archive::sha256(&archive_of(release, program))?,
        ));
    }
    // For an archive that was not built this time the checksum is zeros, which no download matches.
    for missing in [
        "LINUX_AARCH64",
        "LINUX_AARCH64_STATIC",
        "MACOS_X86_64",
        "MACOS_AARCH64",
        "WINDOWS_X86_64",
    ] {
        let name = format!("SHA256_{missing}");
        if sums.iter().all(|(known, _)| *known != name) {
            sums.push((name, "0".repeat(64)));
        }
    }
    let values: Vec<(&str, &str)> = sums
        .iter()
        .map(|(name, sum)| (name.as_str(), sum.as_str()))
        .collect();
    for (template, name) in MANIFESTS {
        write(&release.folder.join(name), fill(template, &values)?)?;
    }
    write(
        &release.folder.join("install.ps1"),
        fill("install.ps1.in", &values)?,
    )?;
    containers(&release.folder.join("container"))
}

/// Writes the files for containers, and the dashboards that the compose file mounts.
fn containers(folder: &Path) -> anyhow::Result<()> {
    let templates = xtask::root().join("packaging/templates/container");
    for file in crate::files(&templates)? {
        match file.to_str().and_then(|name| name.strip_suffix(".in")) {
            Some(name) => write(
                &folder.join(name),
                fill(&format!("container/{name}.in"), &[])?,
            )?,
            None => copy(&templates.join(&file), &folder.join(&file))?,
        }
    }
    let dashboards = xtask::root().join("dashboards");
    for file in crate::files(&dashboards)? {
        copy(
            &dashboards.join(&file),
            &folder.join("dashboards").join(&file),
        )?;
    }
    Ok(())
}

fn archive_of(release: &Release, program: &BuiltProgram) -> std::path::PathBuf {
    release
        .folder
        .join(Path::new(&format!("{}.tar.gz", program.archive_name())))
}

fn sum_name(program: &BuiltProgram) -> String {
    let kind = if program.is_static { "_STATIC" } else { "" };
    format!("SHA256_LINUX_{}{kind}", program.cpu.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_without_a_value_is_found() {
        assert_eq!(unfilled("mail a@b.c and x@y"), None);
        assert_eq!(unfilled("version @VERSION@!"), Some("VERSION"));
    }

    #[test]
    fn every_template_can_be_filled() {
        let sums: Vec<String> = [
            "LINUX_X86_64",
            "LINUX_X86_64_STATIC",
            "LINUX_AARCH64",
            "LINUX_AARCH64_STATIC",
            "MACOS_X86_64",
            "MACOS_AARCH64",
            "WINDOWS_X86_64",
        ]
        .map(|name| format!("SHA256_{name}"))
        .into();
        let values: Vec<(&str, &str)> = sums.iter().map(|name| (name.as_str(), "00")).collect();
        for (template, _) in MANIFESTS {
            fill(template, &values).expect(template);
        }
    }
}
