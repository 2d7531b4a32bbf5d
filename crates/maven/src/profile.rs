//! Selects the profiles of a POM: those that match the Java version and the system, or else those that are active by
//! default.

use crate::pom::{Pom, PomPart, Values};
use crate::version::{highest, is_range};

/// The conditions of a profile, all of which must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activation {
    pub is_default: bool,
    /// A version, `!` and a version, or a range.
    pub java: Option<String>,
    /// `name`, `family`, `arch` and `version` of the system.
    pub system: Vec<(String, String)>,
    /// A property's name and its value. A leading `!` means that the property must be missing.
    pub property: Option<(String, Option<String>)>,
    /// Whether it requires a file, which a project in a repository never has.
    pub has_file: bool,
}

/// The machine on which the jars will run.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The version of Java, such as 17.
    pub java: u32,
    /// `linux`, `macos` or `windows`, as Rust names it.
    pub system: &'static str,
    /// The processor, as Rust names it.
    pub processor: &'static str,
}

impl Surroundings {
    /// This machine with a given version of Java.
    pub fn here(java: u32) -> Surroundings {
        Surroundings {
            java,
            system: std::env::consts::OS,
            processor: std::env::consts::ARCH,
        }
    }

    /// Java's own properties that POMs use.
    pub(crate) fn properties(&self) -> Values {
        let (name, family) = match self.system {
            "windows" => ("Windows", "windows"),
            "macos" => ("Mac OS X", "mac"),
            _ => ("Linux", "unix"),
        };
        let processor = match self.processor {
            "x86_64" => "amd64",
            other => other,
        };
        let java = self.java.to_string();
        [
            ("java.version", java.as_str()),
            ("java.specification.version", &java),
            ("os.name", name),
            ("os.arch", processor),
            ("os.family", family),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}

/// The project merged with its active profiles.
pub(crate) fn apply(pom: &Pom, properties: &Values) -> PomPart {
    let mut part = pom.part.clone();
    let asked: Vec<_> = pom
        .profiles
        .iter()
        .filter(|(one, _)| one.is_met(properties))
        .collect();
    let active = if asked.is_empty() {
        pom.profiles
            .iter()
            .filter(|(one, _)| one.is_default)
            .collect()
    } else {
        asked
    };
    for (_, more) in active {
        part.properties.extend(more.properties.clone());
        part.dependencies.extend(more.dependencies.iter().cloned());
        part.managed.extend(more.managed.iter().cloned());
    }
    part
}

impl Activation {
    fn is_met(&self, properties: &Values) -> bool {
        let has_condition =
            self.java.is_some() || self.property.is_some() || !self.system.is_empty();
        let value = |name: &str| properties.get(name).map(String::as_str).unwrap_or_default();
        has_condition
            && !self.has_file
            && self
                .java
                .as_deref()
                .is_none_or(|wanted| is_java(wanted, value("java.version")))
            && self
                .system
                .iter()
                .all(|(name, wanted)| is_system(name, wanted, &value))
            && self.property.as_ref().is_none_or(|(name, wanted)| {
                let (name, must_miss) = match name.strip_prefix('!') {
                    Some(name) => (name, true),
                    None => (name.as_str(), false),
                };
                match (properties.get(name), wanted.as_deref()) {
                    (found, None) => found.is_some() != must_miss,
                    (found, Some(wanted)) => match wanted.strip_prefix('!') {
                        Some(other) => found.is_none_or(|found| found != other),
                        None => found.is_some_and(|found| found == wanted),
                    },
                }
            })
    }
}

fn is_java(wanted: &str, java: &str) -> bool {
    if is_range(wanted) {
        return highest(wanted, &[java.to_owned()]).is_some();
    }
    match wanted.strip_prefix('!') {
        Some(other) => !java.starts_with(other),
        None => java.starts_with(wanted),
    }
}

fn is_system<'v>(name: &str, wanted: &str, value: &impl Fn(&str) -> &'v str) -> bool {
    let (wanted, must_differ) = match wanted.strip_prefix('!') {
        Some(wanted) => (wanted, true),
        None => (wanted, false),
    };
    let found = match name {
        "family" => {
            let family = value("os.family");
            // Maven counts macOS as a Unix.
            family.eq_ignore_ascii_case(wanted)
                || (family == "mac" && wanted.eq_ignore_ascii_case("unix"))
        }
        "name" => value("os.name").eq_ignore_ascii_case(wanted),
        "arch" => value("os.arch").eq_ignore_ascii_case(wanted),
        _ => false,
    };
    found != must_differ
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties() -> Values {
        let surroundings = Surroundings {
            java: 17,
            system: "linux",
            processor: "x86_64",
        };
        surroundings.properties()
    }

    fn active(profiles: &str) -> Vec<String> {
        let pom = Pom::parse(&format!(
            "<project><profiles>{profiles}</profiles></project>"
        ));
        let part = apply(&pom.expect("a POM"), &properties());
        part.properties.into_keys().collect()
    }

    fn profile(activation: &str, mark: &str) -> String {
        format!(
            "<profile><activation>{activation}</activation><properties><{mark}>1</{mark}></properties></profile>"
        )
    }

    #[test]
    fn a_profile_is_for_the_java_and_the_system_at_hand() {
        for (activation, is_active) in [
            ("<jdk>17</jdk>", true),
            ("<jdk>[9,)</jdk>", true),
            ("<jdk>(,9)</jdk>", false),
            ("<jdk>1.8</jdk>", false),
            ("<jdk>!1.8</jdk>", true),
            ("<os><family>unix</family></os>", true),
            ("<os><family>!unix</family></os>", false),
            ("<os><name>Linux</name><arch>amd64</arch></os>", true),
            ("<os><name>Linux</name><arch>aarch64</arch></os>", false),
            ("<property><name>!release</name></property>", true),
            ("<property><name>release</name></property>", false),
            (
                "<property><name>os.arch</name><value>amd64</value></property>",
                true,
            ),
            ("<file><exists>x</exists></file>", false),
            ("<jdk>17</jdk><file><exists>x</exists></file>", false),
        ] {
            assert_eq!(
                active(&profile(activation, "mark")) == ["mark"],
                is_active,
                "{activation}"
            );
        }
    }

    #[test]
    fn default_profiles_give_way_to_activated_ones() {
        let default = profile("<activeByDefault>true</activeByDefault>", "default");
        assert_eq!(active(&default), ["default"]);
        let both = default + &profile("<jdk>17</jdk>", "java");
        assert_eq!(active(&both), ["java"]);
    }
}
