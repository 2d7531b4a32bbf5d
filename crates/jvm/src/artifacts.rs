//! Jars by their Maven coordinates, and the ones that JMeter 5.6.3 runs with.

use std::fmt;
use std::path::{Path, PathBuf};

use drumfire_expr::Properties;
use sha2::{Digest, Sha256};

/// Coordinates and SHA-256 of each jar.
const LOCK: &str = include_str!("../assets/jmeter-5.6.3.lock");

/// A jar in a Maven repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub group: String,
    pub name: String,
    pub version: String,
    pub classifier: Option<String>,
}

/// A jar whose content is known.
pub struct Locked {
    pub artifact: Artifact,
    /// In hexadecimal digits.
    pub sha256: &'static str,
}

impl Artifact {
    /// Reads `group:name:version` or `group:name:jar:classifier:version`, as Maven writes them.
    ///
    /// # Errors
    /// The expected form.
    pub fn parse(text: &str) -> Result<Artifact, String> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let (group, name, version, classifier) = match parts[..] {
            [group, name, version] => (group, name, version, None),
            [group, name, "jar", version] => (group, name, version, None),
            [group, name, "jar", classifier, version] => (group, name, version, Some(classifier)),
            _ => return Err(format!("'{text}' is not group:artifact:version")),
        };
        let is_word = |word: &str| {
            let is_known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !word.is_empty() && !word.starts_with('.') && word.chars().all(is_known)
        };
        let mut words = [Some(group), Some(name), Some(version), classifier]
            .into_iter()
            .flatten();
        if !words.all(is_word) {
            return Err(format!("'{text}' is not group:artifact:version"));
        }
        Ok(Artifact {
            group: group.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            classifier: classifier.map(str::to_owned),
        })
    }

    pub fn file_name(&self) -> String {
        match &self.classifier {
            Some(classifier) => format!("{}-{}-{classifier}.jar", self.name, self.version),
            None => format!("{}-{}.jar", self.name, self.version),
        }
    }

    /// Where a repository on disk has it.
    pub fn path_in(&self, repository: &Path) -> PathBuf {
        let mut path = repository.to_path_buf();
        path.extend(self.group.split('.'));
        path.join(&self.name)
            .join(&self.version)
            .join(self.file_name())
    }
}

impl fmt::Display for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.group, self.name)?;
        if let Some(classifier) = &self.classifier {
            write!(f, "jar:{classifier}:")?;
        }
        f.write_str(&self.version)
    }
}

/// The jars that JMeter 5.6.3 runs with.
pub fn jmeter() -> Vec<Locked> {
    LOCK.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (artifact, sha256) = line.split_once(' ').expect("a line has two words");
            Locked {
                artifact: Artifact::parse(artifact).expect("the list has coordinates"),
                sha256,
            }
        })
        .collect()
}

impl Locked {
    /// Whether a file is this jar, byte for byte.
    pub fn is(&self, file: &Path) -> bool {
        std::fs::read(file).is_ok_and(|content| hex(&Sha256::digest(content)) == self.sha256)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Maven's repository of this user (`maven.repo.local`, or else `~/.m2/repository`).
pub fn repository(properties: &Properties) -> Option<PathBuf> {
    match properties.get_trimmed("maven.repo.local") {
        Some(folder) if !folder.is_empty() => Some(PathBuf::from(&*folder)),
        _ => std::env::home_dir().map(|home| home.join(".m2/repository")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_name_a_file_in_a_repository() {
        let artifact = Artifact::parse("com.h2database:h2:2.2.224").expect("coordinates");
        assert_eq!(
            artifact.path_in(Path::new("/r")),
            Path::new("/r/com/h2database/h2/2.2.224/h2-2.2.224.jar")
        );
        let data = Artifact::parse("org.xmlresolver:xmlresolver:jar:data:5.2.1").expect("one");
        assert_eq!(data.file_name(), "xmlresolver-5.2.1-data.jar");
        assert_eq!(
            data.to_string(),
            "org.xmlresolver:xmlresolver:jar:data:5.2.1"
        );
        for wrong in ["h2", "a:b", "a::1", "a:../b:1", "a:b:1:2:3:4", "a:b c:1"] {
            assert!(Artifact::parse(wrong).is_err(), "{wrong}");
        }
    }

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
        assert!(all.iter().all(|one| one.sha256.len() == 64));
    }

    #[test]
    fn a_jar_is_known_by_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.jar");
        std::fs::write(&file, "abc").expect("a file");
        let locked = |sha256| Locked {
            artifact: Artifact::parse("a:a:1").expect("coordinates"),
            sha256,
        };
        // SHA-256 of "abc", FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(locked(abc).is(&file));
        assert!(!locked("00").is(&file));
        assert!(!locked(abc).is(&folder.path().join("b.jar")));
    }
}
