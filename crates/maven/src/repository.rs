//! Finds files in the local repository, downloads missing ones from other repositories, and checks their content.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use drumfire_authorities::Authorities;
use drumfire_platform::causes::unreadable;
use drumfire_platform::replacement::replace;
use drumfire_platform::words::hex;
use roxmltree::Document;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::artifact::{Artifact, below};
use crate::download::{DownloadFailure, Downloads, RepositoryResponse};
use crate::settings::{Credentials, Proxy, SettingsError};
use crate::{MavenError, MavenSettings, Notice, megabytes};

/// How many downloads run at a time.
const AT_A_TIME: usize = 8;

/// A source of jars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JarSource {
    /// A folder: a repository, or just a folder of jars.
    Folder(PathBuf),
    /// A repository over HTTP.
    Http {
        /// Its address without a slash at the end.
        url: String,
        /// The credentials for it.
        credentials: Option<Credentials>,
    },
}

impl JarSource {
    /// Parses a folder, a `file:` URL, or an HTTP URL, which may contain a user name and a password.
    pub fn parse(text: &str) -> JarSource {
        let text = text.trim();
        if let Some(path) = text.strip_prefix("file:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return JarSource::Folder(PathBuf::from(path));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return JarSource::Folder(PathBuf::from(text));
        };
        let rest = rest.trim_end_matches('/');
        let host_end = rest.find('/').unwrap_or(rest.len());
        let (url, credentials) = match rest[..host_end].rsplit_once('@') {
            Some((user, host)) => {
                let (user, password) = user.split_once(':').unwrap_or((user, ""));
                let credentials = Credentials {
                    user: user.to_owned(),
                    password: password.to_owned(),
                };
                (
                    format!("{scheme}://{host}{}", &rest[host_end..]),
                    Some(credentials),
                )
            }
            None => (format!("{scheme}://{rest}"), None),
        };
        JarSource::Http { url, credentials }
    }
}

impl fmt::Display for JarSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JarSource::Folder(folder) => write!(f, "{}", folder.display()),
            JarSource::Http { url, .. } => f.write_str(url),
        }
    }
}

/// The local repository and the sources that fill it.
pub struct Repositories {
    local: PathBuf,
    sources: Vec<JarSource>,
    is_offline: bool,
    downloads: Downloads,
    /// Called before downloads, for each downloaded jar, and with warnings.
    tell: fn(&Notice<'_>),
}

/// A jar to be resolved.
#[derive(Clone, Copy, Debug)]
pub struct WantedJar<'w> {
    /// Its coordinates.
    pub artifact: &'w Artifact,
    /// Its content, if that is known; otherwise a download is checked against its published checksum.
    pub sha256: Option<&'w str>,
    /// Its size, if that is known.
    pub bytes: Option<u64>,
}

impl Repositories {
    /// Looks in `local` first and then in `sources`, in their order. Offline, only folders are used.
    pub fn new(
        local: PathBuf,
        sources: Vec<JarSource>,
        proxy: Option<Proxy>,
        is_offline: bool,
        tell: fn(&Notice<'_>),
    ) -> Repositories {
        Repositories {
            local,
            sources,
            is_offline,
            downloads: Downloads::new(proxy),
            tell,
        }
    }

    /// Also trusts these authorities for repositories over TLS.
    #[must_use]
    pub fn trusting(mut self, authorities: Authorities) -> Repositories {
        self.downloads.authorities = authorities;
        self
    }

    /// The repositories from a user's settings.
    ///
    /// # Errors
    /// The credentials of a mirror are encrypted.
    pub fn of(
        settings: &MavenSettings,
        local: PathBuf,
        tell: fn(&Notice<'_>),
    ) -> Result<Repositories, SettingsError> {
        let sources = vec![settings.central()?];
        let proxy = settings.proxy.clone();
        Ok(Repositories::new(
            local,
            sources,
            proxy,
            settings.is_offline,
            tell,
        ))
    }

    /// The folder of the local repository.
    pub fn local(&self) -> &Path {
        &self.local
    }

    /// Whether the network is not used.
    pub fn is_offline(&self) -> bool {
        self.is_offline
    }

    /// Whether a jar is in the local repository or in a source that is a folder.
    pub fn has(&self, artifact: &Artifact) -> bool {
        let path = artifact.path();
        let folders = self.sources.iter().filter_map(|source| match source {
            JarSource::Folder(folder) => Some(folder),
            JarSource::Http { .. } => None,
        });
        below(&self.local, &path).is_file()
            || folders
                .flat_map(|folder| places(folder, &path))
                .any(|file| file.is_file())
    }

    /// The addresses of the sources on the network.
    pub fn addresses(&self) -> String {
        let addresses = self.sources.iter().filter(is_address);
        let addresses: Vec<String> = addresses.map(ToString::to_string).collect();
        addresses.join(" and ")
    }

    /// The paths of several jars in the local repository. Missing ones are downloaded, several at a time, after a line that says
    /// how many they are.
    ///
    /// # Errors
    /// The first error: no source has a jar, or its content is wrong. No other download begins after it.
    pub fn jars(&self, wanted: &[WantedJar<'_>]) -> Result<Vec<PathBuf>, MavenError> {
        let file = |jar: &WantedJar<'_>| jar.artifact.path_in(&self.local);
        let missing: Vec<_> = wanted.iter().filter(|jar| !file(jar).is_file()).collect();
        self.announce(&missing);
        self.fetch(&missing)?;
        Ok(wanted.iter().map(file).collect())
    }

    /// Says how many jars are fetched, from where, and how large they are if that is known.
    fn announce(&self, missing: &[&WantedJar<'_>]) {
        let from = self.addresses();
        if missing.is_empty() || self.is_offline || from.is_empty() {
            return;
        }
        let jars = count(missing.len());
        let bytes: Option<u64> = missing.iter().map(|jar| jar.bytes).sum();
        let size = bytes.map_or_else(String::new, |bytes| format!(" ({})", megabytes(bytes)));
        self.line(&format!("Fetching {jars}{size} from {from}"));
    }

    fn line(&self, line: &str) {
        (self.tell)(&Notice::Line(line));
    }

    /// Downloads jars to the local repository.
    fn fetch(&self, missing: &[&WantedJar<'_>]) -> Result<(), MavenError> {
        let (next, arrived) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let has_failed = AtomicBool::new(false);
        let work = || {
            while !has_failed.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(jar) = missing.get(at) else {
                    break;
                };
                self.fetch_one(jar)
                    .inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
                (self.tell)(&Notice::Jar {
                    number: arrived.fetch_add(1, Ordering::Relaxed) + 1,
                    total: missing.len(),
                    name: &jar.artifact.file_name(),
                });
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..AT_A_TIME.min(missing.len()))
                .map(|_| scope.spawn(work))
                .collect();
            let joined = threads
                .into_iter()
                .map(|thread| thread.join().expect("a download does not panic"));
            // All threads are joined before the first error is returned.
            joined.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn fetch_one(&self, jar: &WantedJar<'_>) -> Result<(), MavenError> {
        let path = jar.artifact.path();
        let content = self.bring(&path, jar.sha256)?;
        keep(&below(&self.local, &path), &content)
    }

    /// A project's POM; `None` if no repository has it.
    pub(crate) fn pom(&self, artifact: &Artifact) -> Result<Option<String>, MavenError> {
        let path = artifact.pom_path();
        let file = below(&self.local, &path);
        let content = match std::fs::read(&file) {
            Ok(content) => content,
            Err(_) => match self.bring(&path, None) {
                Ok(content) => {
                    keep(&file, &content)?;
                    content
                }
                Err(MavenError::Missing { .. }) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        Ok(Some(String::from_utf8_lossy(&content).into_owned()))
    }

    /// The versions of a project that the repositories list.
    pub(crate) fn versions(&self, group: &str, name: &str) -> Vec<String> {
        let folder = format!("{}/{name}", group.replace('.', "/"));
        let mut versions = Vec::new();
        let local = below(&self.local, &folder).join("maven-metadata-local.xml");
        let mut texts: Vec<Vec<u8>> = std::fs::read(local).into_iter().collect();
        for source in self.sources() {
            // A repository without the project has no list of its versions either.
            if let Ok(RepositoryResponse::Found(text)) =
                self.ask(source, &format!("{folder}/maven-metadata.xml"))
            {
                texts.push(text);
            }
        }
        for text in texts {
            let text = String::from_utf8_lossy(&text);
            let Ok(document) = Document::parse(&text) else {
                continue;
            };
            let listed = document
                .descendants()
                .filter(|node| node.has_tag_name("version"));
            versions.extend(listed.filter_map(|node| node.text()).map(str::to_owned));
        }
        versions
    }

    fn sources(&self) -> impl Iterator<Item = &JarSource> {
        self.sources
            .iter()
            .filter(|source| !self.is_offline || matches!(source, JarSource::Folder(_)))
    }

    fn ask(&self, source: &JarSource, path: &str) -> Result<RepositoryResponse, DownloadFailure> {
        let folder = match source {
            JarSource::Http { url, credentials } => {
                return self
                    .downloads
                    .get(&format!("{url}/{path}"), credentials.as_ref());
            }
            JarSource::Folder(folder) => folder,
        };
        for file in places(folder, path) {
            match std::fs::read(&file) {
                Ok(content) => return Ok(RepositoryResponse::Found(content)),
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(DownloadFailure {
                        why: unreadable(&file, &error),
                        may_pass: false,
                    });
                }
            }
        }
        Ok(RepositoryResponse::Absent)
    }

    /// Downloads a file from the first source that has it.
    fn bring(&self, path: &str, sha256: Option<&str>) -> Result<Vec<u8>, MavenError> {
        let mut tried = vec![self.local.display().to_string()];
        let mut is_certain = true;
        for source in self.sources() {
            match self.ask(source, path) {
                Ok(RepositoryResponse::Found(content)) => {
                    self.check(source, path, &content, sha256)?;
                    return Ok(content);
                }
                Ok(RepositoryResponse::Absent) => tried.push(source.to_string()),
                Err(why) => {
                    is_certain = false;
                    tried.push(format!("{source}: {why}"));
                }
            }
        }
        if self.is_offline {
            tried.push("the network is not used offline".to_owned());
        }
        let (path, tried) = (path.to_owned(), tried.join(", "));
        Err(if is_certain {
            MavenError::Missing { path, tried }
        } else {
            MavenError::Unreachable { path, tried }
        })
    }

    fn check(
        &self,
        source: &JarSource,
        path: &str,
        content: &[u8],
        sha256: Option<&str>,
    ) -> Result<(), MavenError> {
        let compare = |algorithm, found: String, expected: &str| {
            if found.eq_ignore_ascii_case(expected) {
                return Ok(());
            }
            Err(MavenError::Damaged {
                source_name: source.to_string(),
                path: path.to_owned(),
                algorithm,
                found,
                expected: expected.to_owned(),
            })
        };
        if let Some(expected) = sha256 {
            return compare("SHA-256", hex(&Sha256::digest(content)), expected);
        }
        if let Some(expected) = self.published(source, path, "sha256") {
            return compare("SHA-256", hex(&Sha256::digest(content)), &expected);
        }
        if let Some(expected) = self.published(source, path, "sha1") {
            return compare("SHA-1", hex(&Sha1::digest(content)), &expected);
        }
        if matches!(source, JarSource::Http { .. }) {
            self.line(&format!("{source} has no checksum of {path}"));
        }
        Ok(())
    }

    /// The published checksum of a file: the first word, because some tools append the file's name.
    fn published(&self, source: &JarSource, path: &str, kind: &str) -> Option<String> {
        let Ok(RepositoryResponse::Found(text)) = self.ask(source, &format!("{path}.{kind}"))
        else {
            return None;
        };
        let text = String::from_utf8_lossy(&text);
        let word = text.split_whitespace().next()?;
        word.bytes()
            .all(|byte| byte.is_ascii_hexdigit())
            .then(|| word.to_owned())
    }
}

fn is_address(source: &&JarSource) -> bool {
    matches!(source, JarSource::Http { .. })
}

/// Where a file may be in a folder of jars: as in a repository or, for a jar, right in the folder.
fn places(folder: &Path, path: &str) -> impl Iterator<Item = PathBuf> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let beside = Some(folder.join(name)).filter(|_| name.ends_with(".jar"));
    [Some(below(folder, path)), beside].into_iter().flatten()
}

fn count(jars: usize) -> String {
    match jars {
        1 => "1 jar".to_owned(),
        jars => format!("{jars} jars"),
    }
}

/// Writes a file atomically, because other programs also use the repository.
fn keep(file: &Path, content: &[u8]) -> Result<(), MavenError> {
    let write = || {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        replace(file, |file| file.write_all(content))
    };
    write().map_err(|why| MavenError::File {
        file: file.to_path_buf(),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_folders_or_urls_whose_passwords_are_not_shown() {
        assert_eq!(
            JarSource::parse("/mnt/m2"),
            JarSource::Folder(PathBuf::from("/mnt/m2"))
        );
        assert_eq!(
            JarSource::parse("file:///mnt/m2"),
            JarSource::Folder(PathBuf::from("/mnt/m2"))
        );
        let source = JarSource::parse("https://ada:pass@jars.example/m2/");
        assert_eq!(source.to_string(), "https://jars.example/m2");
        let JarSource::Http {
            credentials: Some(credentials),
            ..
        } = &source
        else {
            panic!("it has credentials");
        };
        assert_eq!(credentials.password, "pass");
        assert!(!format!("{source:?}").contains("pass\""));
    }
}
