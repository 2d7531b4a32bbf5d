//! Reads the user's `settings.xml`, which says where Maven gets jars from.

use std::fmt;
use std::path::{Path, PathBuf};

use drumfire_platform::message_error;
use roxmltree::{Document, Node};

use crate::repository::JarSource;
use crate::{CENTRAL, MavenError};

message_error! {
    /// A setting of a user's `settings.xml` that the program cannot use.
    pub struct SettingsError;
}

/// A user's name and password at a repository or proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub user: String,
    /// The password; never shown.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({}, ***)", self.user)
    }
}

/// A repository that replaces others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Its id, under which its credentials are stored.
    pub id: String,
    /// Its address.
    pub url: String,
    /// The repositories that it replaces: `*`, `central`, `external:*,!local`.
    pub of: String,
}

/// A proxy for HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The credentials for it.
    pub credentials: Option<Credentials>,
    /// Hosts that are contacted directly; `*.internal` matches all hosts of a domain.
    pub direct: Vec<String>,
}

/// The settings in the file; empty if the file does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MavenSettings {
    /// The local repository, if it is not in its default location.
    pub local: Option<PathBuf>,
    /// Whether downloads are forbidden.
    pub is_offline: bool,
    /// In the order of the file.
    pub mirrors: Vec<Mirror>,
    /// Credentials by the id of a mirror or repository.
    pub servers: Vec<(String, Credentials)>,
    /// The first active proxy.
    pub proxy: Option<Proxy>,
}

impl MavenSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// The file exists and cannot be read, or is not XML.
    pub fn read(file: &Path) -> Result<MavenSettings, MavenError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return Ok(MavenSettings::default());
            }
            Err(why) => {
                let file = file.to_path_buf();
                return Err(MavenError::File { file, why });
            }
        };
        parse(&text, &|name| std::env::var(name).ok()).map_err(|why| MavenError::Settings {
            file: file.to_path_buf(),
            why: why.into(),
        })
    }

    /// The repository that stands for Maven Central in these settings.
    ///
    /// # Errors
    /// The credentials of a mirror are encrypted, so that only Maven can read them.
    pub fn central(&self) -> Result<JarSource, SettingsError> {
        let mirror = self
            .mirrors
            .iter()
            .find(|mirror| stands_for_central(&mirror.of));
        let (id, url) = match mirror {
            Some(mirror) => (mirror.id.as_str(), mirror.url.as_str()),
            None => ("central", CENTRAL),
        };
        let mut source = JarSource::parse(url);
        let server = self.servers.iter().find(|(server, _)| server == id);
        if let (
            Some((_, credentials)),
            JarSource::Http {
                credentials: own, ..
            },
        ) = (server, &mut source)
        {
            if credentials.password.starts_with('{') {
                return Err(format!(
                    "the password of server `{id}` is encrypted, which only Maven reads; give it as ${{env.NAME}}"
                )
                .into());
            }
            *own = Some(credentials.clone());
        }
        Ok(source)
    }
}

/// Whether a mirror's list of repositories includes Maven Central.
fn stands_for_central(of: &str) -> bool {
    let mut is_in = false;
    for one in of.split(',').map(str::trim) {
        match one {
            "!central" => return false,
            "*" | "central" | "external:*" => is_in = true,
            _ => {}
        }
    }
    is_in
}

fn parse(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<MavenSettings, SettingsError> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let value = |node: Node<'_, '_>, name| child(node, name).map(|text| filled(text, variable));
    let credentials = |node: Node<'_, '_>| {
        let (user, password) = (value(node, "username")?, value(node, "password")?);
        Some(Credentials { user, password })
    };
    let mirrors = entries(root, "mirrors").filter_map(|node| {
        Some(Mirror {
            id: value(node, "id").unwrap_or_default(),
            url: value(node, "url")?,
            of: value(node, "mirrorOf")?,
        })
    });
    let servers = entries(root, "servers");
    let mut proxies = entries(root, "proxies")
        .filter(|node| child(*node, "active").is_none_or(|active| active != "false"));
    let proxy = proxies.find_map(|node| {
        let direct = value(node, "nonProxyHosts").unwrap_or_default();
        Some(Proxy {
            host: value(node, "host")?,
            port: value(node, "port").map_or(Some(8080), |port| port.parse().ok())?,
            credentials: credentials(node),
            direct: direct
                .split('|')
                .map(|host| host.trim().to_owned())
                .filter(|host| !host.is_empty())
                .collect(),
        })
    });
    Ok(MavenSettings {
        local: value(root, "localRepository").map(PathBuf::from),
        is_offline: child(root, "offline") == Some("true"),
        mirrors: mirrors.collect(),
        servers: servers
            .filter_map(|node| Some((value(node, "id")?, credentials(node)?)))
            .collect(),
        proxy,
    })
}

/// The text of a child element, unless it is empty.
fn child<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let found = node
        .children()
        .find(|child| child.tag_name().name() == name)?;
    found.text().map(str::trim).filter(|text| !text.is_empty())
}

fn entries<'a, 'i>(root: Node<'a, 'i>, list: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    let list = root
        .children()
        .find(|child| child.tag_name().name() == list);
    list.into_iter()
        .flat_map(|list| list.children())
        .filter(Node::is_element)
}

/// Replaces `${env.NAME}` and `${user.home}`.
fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        let name = &rest[start + 2..start + length];
        let value = match name.strip_prefix("env.") {
            Some(name) => variable(name),
            None if name == "user.home" => {
                std::env::home_dir().map(|home| home.to_string_lossy().into_owned())
            }
            None => None,
        };
        filled.push_str(&rest[..start]);
        filled.push_str(value.as_deref().unwrap_or(&rest[start..=start + length]));
        rest = &rest[start + length + 1..];
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "<settings xmlns='http://maven.apache.org/SETTINGS/1.2.0'>
        <localRepository>/data/m2</localRepository>
        <mirrors>
          <mirror><id>blocker</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url></mirror>
          <mirror><id>office</id><mirrorOf>*,!local</mirrorOf><url>https://jars.example/m2</url></mirror>
        </mirrors>
        <servers><server><id>office</id><username>ada</username><password>${env.JARS}</password></server></servers>
        <proxies>
          <proxy><active>false</active><host>old</host></proxy>
          <proxy><host>proxy.example</host><port>3128</port><nonProxyHosts>localhost|*.internal</nonProxyHosts></proxy>
        </proxies></settings>";

    #[test]
    fn the_mirror_of_central_has_its_credentials() {
        let settings =
            parse(FILE, &|name| (name == "JARS").then(|| "secret".to_owned())).expect("settings");
        assert_eq!(settings.local, Some(PathBuf::from("/data/m2")));
        let source = settings.central().expect("plain credentials");
        assert_eq!(source.to_string(), "https://jars.example/m2");
        let JarSource::Http {
            credentials: Some(credentials),
            ..
        } = source
        else {
            panic!("it has credentials");
        };
        assert_eq!(
            (credentials.user.as_str(), credentials.password.as_str()),
            ("ada", "secret")
        );
        assert!(!format!("{credentials:?}").contains("secret"));
        let proxy = settings.proxy.expect("the second");
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.direct, ["localhost", "*.internal"]);
    }

    #[test]
    fn without_a_mirror_it_is_central_and_encrypted_passwords_are_refused() {
        assert_eq!(
            MavenSettings::default()
                .central()
                .expect("central")
                .to_string(),
            CENTRAL
        );
        let of = |of| stands_for_central(of);
        assert!(of("*") && of("external:*") && of("a, central"));
        assert!(!of("a") && !of("*,!central") && !of("external:http:*"));
        let encrypted = FILE.replace("${env.JARS}", "{COQLCE6DU6GtcS5P=}");
        let settings = parse(&encrypted, &|_| None).expect("settings");
        let why = settings.central().expect_err("it is encrypted");
        assert!(why.as_ref().contains("`office` is encrypted"), "{why}");
    }
}
