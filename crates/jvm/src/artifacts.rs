//! The jars that JMeter 5.6.3 runs with, by their Maven coordinates.

use std::path::Path;

use drumfire_maven::{Artifact, WantedJar};
use drumfire_platform::words::hex;
use sha2::{Digest, Sha256};

/// Coordinates, SHA-256 and size of each jar.
const LOCK: &str = include_str!("../assets/jmeter-5.6.3.lock");

/// A jar whose content is known.
pub struct Locked {
    pub artifact: Artifact,
    /// In hexadecimal digits.
    pub sha256: &'static str,
    /// Its size.
    pub bytes: u64,
}

/// The jars that JMeter 5.6.3 runs with.
pub fn jmeter() -> Vec<Locked> {
    LOCK.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (artifact, rest) = line.split_once(' ').expect("a line has three words");
            let (sha256, bytes) = rest.split_once(' ').expect("a line has three words");
            Locked {
                artifact: Artifact::parse(artifact).expect("the list has coordinates"),
                sha256,
                bytes: bytes.parse().expect("the third word is a number"),
            }
        })
        .collect()
}

impl Locked {
    /// The jar as repositories are asked for it.
    pub fn wanted(&self) -> WantedJar<'_> {
        WantedJar {
            artifact: &self.artifact,
            sha256: Some(self.sha256),
            bytes: Some(self.bytes),
        }
    }

    /// Whether a file is this jar, byte for byte.
    pub fn is(&self, file: &Path) -> bool {
        std::fs::read(file).is_ok_and(|content| hex(&Sha256::digest(content)) == self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_jmeter_and_its_scripts() {
        let all = jmeter();
        for name in [
            "ApacheJMeter_core",
            "ApacheJMeter_jdbc",
            "ApacheJMeter_config",
            "groovy",
            "bsh",
            "rhino",
        ] {
            assert!(
                all.iter().any(|one| one.artifact.name == name),
                "{name} is missing"
            );
        }
        assert!(
            all.iter()
                .all(|one| one.sha256.len() == 64 && one.bytes > 0)
        );
    }

    #[test]
    fn a_jar_is_known_by_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.jar");
        std::fs::write(&file, "abc").expect("a file");
        let locked = |sha256| Locked {
            artifact: Artifact::parse("a:a:1").expect("coordinates"),
            sha256,
            bytes: 3,
        };
        // SHA-256 of "abc", FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(locked(abc).is(&file));
        assert!(!locked("00").is(&file));
        assert!(!locked(abc).is(&folder.path().join("b.jar")));
    }
}
