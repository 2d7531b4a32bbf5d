//! The repositories for jars that this machine does not have, from the user's settings for Maven or from
//! properties.

use std::path::{Path, PathBuf};

use drumfire_authorities::Authorities;
use drumfire_engine::java::JavaFailure;
use drumfire_expr::Properties;
use drumfire_maven::{JarSource, MavenSettings, Notice, Repositories};

use crate::cache_folder;

/// Folders and URLs of repositories, separated by commas, which replace the central one or its mirror.
pub const SOURCES: &str = "drumfire.maven.repositories";
/// `true`: nothing is fetched over the network.
const OFFLINE: &str = "drumfire.maven.offline";
/// The folder of the local repository.
const LOCAL: &str = "maven.repo.local";
/// A file of authorities to trust beside the system's.
pub const AUTHORITIES: &str = "drumfire.tls_ca";
/// The variable that stands in for [`SOURCES`].
const VARIABLE: &str = "DRUMFIRE_MAVEN_REPOSITORIES";

/// Whether the user forbids this run to use the network for jars.
pub fn is_forbidden(properties: &Properties) -> bool {
    properties.get_bool(OFFLINE, false)
}

/// How jars are looked for that this machine may lack.
#[derive(Clone, Copy)]
pub struct JarAccess<'a> {
    pub properties: &'a Properties,
    /// Told what is fetched.
    pub tell: fn(&Notice<'_>),
    /// Whether the command may use the network at all.
    pub fetches: bool,
}

impl JarAccess<'_> {
    pub fn line(&self, line: &str) {
        (self.tell)(&Notice::Line(line));
    }
}

/// The repositories of this user.
///
/// # Errors
/// Settings that cannot be used.
pub fn of_user(access: &JarAccess<'_>) -> Result<Repositories, JavaFailure> {
    let JarAccess {
        properties,
        tell,
        fetches,
    } = *access;
    let home = std::env::home_dir();
    let settings = match &home {
        Some(home) => MavenSettings::read(&home.join(".m2/settings.xml"))
            .map_err(|error| error.to_string())?,
        None => MavenSettings::default(),
    };
    let set = |name| {
        properties
            .get_trimmed(name)
            .filter(|value| !value.is_empty())
    };
    let local = set(LOCAL)
        .map(|folder| PathBuf::from(&*folder))
        .or(settings.local.clone())
        .or(home.map(|home| home.join(".m2/repository")))
        .unwrap_or_else(|| cache_folder().join("maven"));
    let named = set(SOURCES)
        .map(|text| text.to_string())
        .or_else(|| std::env::var(VARIABLE).ok());
    let sources = match named {
        Some(named) => {
            let words = named.split(',').map(str::trim);
            words
                .filter(|word| !word.is_empty())
                .map(JarSource::parse)
                .collect()
        }
        None => vec![settings.central().map_err(String::from)?],
    };
    let is_offline = settings.is_offline || is_forbidden(properties) || !fetches;
    let authorities = match set(AUTHORITIES) {
        Some(file) => Authorities::read(Path::new(&*file)).map_err(|error| error.to_string())?,
        None => Authorities::default(),
    };
    let repositories = Repositories::new(local, sources, settings.proxy, is_offline, tell);
    Ok(repositories.trusting(authorities))
}
