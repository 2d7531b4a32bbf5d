//! The options that set properties, which most commands have.

use std::path::PathBuf;

use crate::args::headings::PROPERTIES;

/// The sources of properties.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct PropertyOptions {
    /// Set a JMeter property; without a value, remove it
    #[arg(short = 'J', long = "jmeterproperty", value_name = "NAME=VALUE", help_heading = PROPERTIES)]
    pub property: Vec<String>,
    /// Set a system property; without a value, remove it
    #[arg(short = 'D', long = "systemproperty", value_name = "NAME=VALUE", help_heading = PROPERTIES)]
    pub system: Vec<String>,
    /// Read more JMeter properties from this file
    #[arg(short = 'q', long = "addprop", value_name = "FILE", help_heading = PROPERTIES)]
    pub file: Vec<PathBuf>,
    /// Read system properties from this file
    #[arg(short = 'S', long = "systemPropertyFile", value_name = "FILE", help_heading = PROPERTIES)]
    pub system_file: Vec<PathBuf>,
    /// Read the JMeter properties from this file instead of jmeter.properties
    #[arg(short = 'p', long = "propfile", value_name = "FILE", help_heading = PROPERTIES)]
    pub main_file: Option<PathBuf>,
    /// JMeter's home directory, where bin/user.properties is looked for [env: JMETER_HOME]
    #[arg(short = 'd', long = "homedir", value_name = "FOLDER", help_heading = PROPERTIES)]
    pub home: Option<PathBuf>,
    /// The profile of drumfire.toml to run with
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    pub profile: Option<String>,
    /// The target of drumfire.toml to run against [env: DRUMFIRE_TARGET]
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    pub target: Option<String>,
    /// Changes that come after those above: all of JMeter's command line, in its order, and those of the program. Later ones win.
    #[arg(skip)]
    pub changes: Vec<Change>,
}

impl PropertyOptions {
    /// All changes; later ones win. Files come before definitions, so that a definition on the command line always wins.
    pub fn all_changes(&self) -> Vec<Change> {
        let system_files = self.system_file.iter().cloned().map(Change::SystemFile);
        let files = self.file.iter().cloned().map(Change::File);
        let system = self
            .system
            .iter()
            .map(|text| split_definition(text))
            .map(|(name, value)| Change::System(name, value));
        let definitions = self
            .property
            .iter()
            .map(|text| split_definition(text))
            .map(|(name, value)| Change::Property(name, value));
        let written = system_files.chain(files).chain(system).chain(definitions);
        written.chain(self.changes.iter().cloned()).collect()
    }

    /// Puts these changes before all others, which win over them.
    pub fn put_first(&mut self, first: impl IntoIterator<Item = Change>) {
        self.changes = first.into_iter().chain(self.all_changes()).collect();
        self.property.clear();
        self.system.clear();
        self.file.clear();
        self.system_file.clear();
    }
}

/// One property option. A definition without a value removes the property, as in JMeter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `-q FILE`
    File(PathBuf),
    /// `-S FILE`
    SystemFile(PathBuf),
    /// `-J name=value`
    Property(String, String),
    /// `-D name=value`
    System(String, String),
}

impl Change {
    /// Sets a property to `true`.
    pub fn switched_on(name: &str) -> Change {
        Change::Property(name.to_owned(), "true".to_owned())
    }
}

/// Splits `name=value` at the first `=`; without one the value is empty, which removes the property.
pub fn split_definition(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.to_owned(), value.to_owned())
}

/// The system properties (`-Dname=value`) in the environment variable `JVM_ARGS`. Everything else there (heap sizes and the
/// like) concerns only Java, which reads the variable when a plan needs Java.
pub fn jvm_args(text: &str) -> Vec<Change> {
    let definitions = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("-D"));
    definitions
        .map(|definition| {
            let (name, value) = split_definition(definition);
            Change::System(name, value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_is_split_at_the_first_equals_sign() {
        assert_eq!(
            split_definition("url=a?b=c"),
            ("url".to_owned(), "a?b=c".to_owned())
        );
        assert_eq!(split_definition("gone"), ("gone".to_owned(), String::new()));
    }

    #[test]
    fn definitions_in_jvm_args_are_system_properties() {
        let changes = jvm_args("-Xms1g  -Duser.language=en -XX:+UseG1GC");
        assert_eq!(
            changes,
            [Change::System("user.language".to_owned(), "en".to_owned())]
        );
    }
}
