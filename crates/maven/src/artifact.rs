//! Coordinates of jars in Maven repositories.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::MavenError;

/// A jar in a Maven repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Artifact {
    /// `org.apache.jmeter`
    pub group: String,
    /// `ApacheJMeter_core`
    pub name: String,
    /// `5.6.3`
    pub version: String,
    /// Distinguishes a jar of the project from its main jar: `data`, `tests`.
    pub classifier: Option<String>,
}

impl Artifact {
    /// Parses `group:name:version` or `group:name:jar:classifier:version`, as Maven writes them.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse(text: &str) -> Result<Artifact, MavenError> {
        let wrong = || MavenError::Coordinates(text.to_owned());
        let parts: Vec<&str> = text.trim().split(':').collect();
        let (group, name, version, classifier) = match parts[..] {
            [group, name, version] => (group, name, version, None),
            [group, name, "jar", version] => (group, name, version, None),
            [group, name, "jar", classifier, version] => (group, name, version, Some(classifier)),
            _ => return Err(wrong()),
        };
        let artifact = Artifact {
            group: group.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            classifier: classifier.map(str::to_owned),
        };
        artifact.is_usable().then_some(artifact).ok_or_else(wrong)
    }

    /// Whether every part is safe as part of a path, so that no file lies outside its repository.
    pub(crate) fn is_usable(&self) -> bool {
        [&self.group, &self.name, &self.version]
            .into_iter()
            .chain(&self.classifier)
            .all(|word| is_word(word))
    }

    /// The project, without version and classifier.
    pub(crate) fn project(&self) -> (&str, &str) {
        (&self.group, &self.name)
    }

    /// The file name of the jar.
    pub fn file_name(&self) -> String {
        match &self.classifier {
            Some(classifier) => format!("{}-{}-{classifier}.jar", self.name, self.version),
            None => format!("{}-{}.jar", self.name, self.version),
        }
    }

    /// The folder within a repository, with `/` as separator.
    fn folder(&self) -> String {
        let group = self.group.replace('.', "/");
        format!("{group}/{}/{}", self.name, self.version)
    }

    /// The path of the jar within a repository, with `/` as separator.
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder(), self.file_name())
    }

    /// The path of the project's POM within a repository.
    pub(crate) fn pom_path(&self) -> String {
        format!("{}/{}-{}.pom", self.folder(), self.name, self.version)
    }

    /// The jar in a repository on disk.
    pub fn path_in(&self, repository: &Path) -> PathBuf {
        below(repository, &self.path())
    }
}

fn is_word(word: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    !word.is_empty() && !word.starts_with('.') && word.chars().all(is_known)
}

/// A path with `/` as separator, resolved against a folder.
pub(crate) fn below(folder: &Path, path: &str) -> PathBuf {
    let mut file = folder.to_path_buf();
    file.extend(path.split('/'));
    file
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
}
