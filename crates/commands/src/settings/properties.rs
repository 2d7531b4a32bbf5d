//! The properties of a run, loaded in JMeter's order (`JMeter.initializeProperties`): `jmeter.properties` (or the file
//! of `-p`), `user.properties`, `system.properties`, then the options in their order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use drumfire_java::{READ_AT_START, jvm, values};
use drumfire_jmx::{
    Diagnostic, Effect, JMETER_DEFAULTS, PropertyTable, SYSTEM_DEFAULTS, known_property, load,
};
use drumfire_platform::causes::missing;
use drumfire_platform::ports::{PORT, is_port, is_too_high};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::settings::options::{Change, PropertyOptions, jvm_args};

/// The version of JMeter whose behaviour Drumfire reproduces. Plans read it from the property `jmeter.version`.
const JMETER_VERSION: &str = "5.6.3";

/// The properties of a run.
#[derive(Debug, Clone, Default)]
pub struct RunProperties {
    /// JMeter's properties: `__P`, `__property`, and everything that changes behaviour.
    pub properties: PropertyTable,
    /// Java's system properties. `__P` falls back to these.
    pub system: PropertyTable,
    /// The names of the properties that the command line sets (`-J`), in its order.
    pub given: Vec<String>,
    /// The names of the system properties that it sets (`-D`).
    pub given_system: Vec<String>,
    /// Categories and levels of the log (`-L`), in the order of the command line; an empty category is the root.
    pub log_levels: Vec<(String, String)>,
    /// The system properties that Java reads at its start, as they were then.
    at_start: Vec<(&'static str, String)>,
    /// Notes for the user: definitions without effect.
    pub notes: Vec<String>,
}

/// The sources of properties beside the command line.
pub struct Surroundings<'a> {
    /// The variables of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The time of the start.
    pub now: Timestamp,
    /// The zone for `START.YMD` and `START.HMS`.
    pub zone: &'a TimeZone,
    /// Properties that the program sets, such as the demo site's ports. The command line may override them.
    pub own: &'a [(String, String)],
}

/// Loads all files and applies all options.
///
/// # Errors
/// If a file or folder that an option names cannot be read, if Java would refuse to load it, or if a port is too high. JMeter
/// goes on without a missing file, and then runs with other settings than its user asked for.
pub fn resolve(
    options: &PropertyOptions,
    around: &Surroundings<'_>,
) -> Result<RunProperties, Box<Diagnostic>> {
    let installed = (around.variable)("JMETER_HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from);
    if let Some(home) = options.home.as_deref().filter(|home| !home.is_dir()) {
        return Err(Box::new(no_folder(home)));
    }
    let home = options.home.clone().or_else(|| installed.clone());
    let mut settings = RunProperties::default();
    settings.system.merge(of_this_process(around));
    settings.system.merge(SYSTEM_DEFAULTS.iter().copied());
    settings.apply_jvm_args(around)?;
    settings.load_main(options.main_file.as_deref(), installed.as_deref())?;
    if let Some(file) = settings.named_file("user.properties", home.as_deref()) {
        settings.properties.merge(load(&file).map_err(Box::new)?);
    }
    if let Some(file) = settings.named_file("system.properties", home.as_deref()) {
        settings.system.merge(load(&file).map_err(Box::new)?);
    }
    settings.properties.merge(around.own.iter().cloned());
    for change in options.all_changes() {
        settings.apply(&change)?;
    }
    settings.note_late_definitions();
    settings.note_definitions_without_effect();
    settings.note_surroundings_without_effect(around, installed.as_deref());
    settings.check_numbers(around.own)?;
    settings.properties.set("jmeter.version", JMETER_VERSION);
    let start = around.now.to_zoned(around.zone.clone());
    settings
        .properties
        .set("START.MS", around.now.as_millisecond().to_string());
    settings
        .properties
        .set("START.YMD", start.strftime("%Y%m%d").to_string());
    settings
        .properties
        .set("START.HMS", start.strftime("%H%M%S").to_string());
    Ok(settings)
}

/// The system properties by which plans find folders. A JVM sets them at its start.
fn of_this_process(around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let variable = |name| (around.variable)(name).map(|value| value.to_string_lossy().into_owned());
    let folder = std::env::current_dir()
        .ok()
        .map(|folder| folder.to_string_lossy().into_owned());
    let system = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "Mac OS X",
        "windows" => "Windows",
        other => other,
    };
    // Java on Unix reads no variable for the temporary folder.
    let [user, temporary, between_names, between_paths, line_end] = if cfg!(windows) {
        [
            variable("USERNAME"),
            variable("TEMP"),
            owned_text("\\"),
            owned_text(";"),
            owned_text("\r\n"),
        ]
    } else {
        [
            variable("USER"),
            owned_text("/tmp"),
            owned_text("/"),
            owned_text(":"),
            owned_text("\n"),
        ]
    };
    let system_properties = [
        ("user.dir", folder),
        ("user.home", variable("HOME")),
        ("user.name", user),
        ("java.io.tmpdir", temporary),
        ("os.name", owned_text(system)),
        ("file.separator", between_names),
        ("path.separator", between_paths),
        ("line.separator", line_end),
    ];
    system_properties
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn owned_text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

impl RunProperties {
    /// Applies the definitions in `JVM_ARGS` and the other variables that JMeter's start script passes to the JVM. Plans read
    /// such system properties.
    fn apply_jvm_args(&mut self, around: &Surroundings<'_>) -> Result<(), Box<Diagnostic>> {
        let variable = |name: &str| (around.variable)(name);
        let changes = jvm_args(&jvm::options(|name: &str| {
            variable(name).map(|value| value.to_string_lossy().into_owned())
        }));
        changes.iter().try_for_each(|change| self.apply(change))?;
        self.at_start = READ_AT_START
            .iter()
            .filter_map(|name| Some((*name, self.system.get(name)?.to_owned())))
            .collect();
        Ok(())
    }

    /// Notes definitions of system properties that come too late: Java has read them before JMeter sets them.
    fn note_late_definitions(&mut self) {
        for name in READ_AT_START {
            let Some(value) = self.system.get(name) else {
                continue;
            };
            let at_start = self.at_start.iter().find(|(set, _)| *set == name);
            if at_start.is_some_and(|(_, at_start)| at_start == value) {
                continue;
            }
            self.notes.push(format!(
                "`{name}={value}` has no effect, as in JMeter, because Java reads it at its start; set the environment variable JVM_ARGS=-D{name}={value}"
            ));
        }
    }

    /// Notes settings for Java around the program that change nothing.
    fn note_surroundings_without_effect(
        &mut self,
        around: &Surroundings<'_>,
        installed: Option<&Path>,
    ) {
        if (around.variable)("JAVA_OPTS").is_some_and(|value| !value.is_empty()) {
            self.notes.push(
                "`JAVA_OPTS` has no effect, as in JMeter, whose start script does not pass it to Java; set JVM_ARGS".to_owned(),
            );
        }
        let script = installed.map(|home| home.join("bin/setenv.sh"));
        if let Some(script) = script.filter(|script| script.is_file()) {
            self.notes.push(format!(
                "`{}` is not run; set the variables that it sets, such as JVM_ARGS, in the environment",
                script.display()
            ));
        }
    }

    /// Notes system properties of the command line that Java's library reads and that change nothing here.
    fn note_definitions_without_effect(&mut self) {
        let given_names = self.given_system.iter();
        let notes: Vec<String> = given_names
            .filter(|name| !READ_AT_START.contains(&name.as_str()))
            .filter_map(|name| match known_property(name)?.effect {
                Effect::None(why) => Some(format!("`-D{name}` has no effect: {why}")),
                Effect::Honoured | Effect::Java => None,
            })
            .collect();
        self.notes.extend(notes);
    }

    /// Loads the file of `-p` instead of `jmeter.properties`; without `-p`, that of an installed JMeter, or else the
    /// defaults of 5.6.3.
    fn load_main(
        &mut self,
        wanted: Option<&Path>,
        installed: Option<&Path>,
    ) -> Result<(), Box<Diagnostic>> {
        let shipped = installed
            .map(|home| home.join("bin/jmeter.properties"))
            .filter(|file| file.is_file());
        match wanted.map(Path::to_path_buf).or(shipped) {
            Some(file) => self.properties.merge(load(&file).map_err(Box::new)?),
            None => self.properties.merge(JMETER_DEFAULTS.iter().copied()),
        }
        Ok(())
    }

    /// The file that a property names: in the working directory, or else in JMeter's `bin` (`JMeterUtils.findFile`).
    fn named_file(&self, property: &str, home: Option<&Path>) -> Option<PathBuf> {
        let name = self
            .properties
            .get(property)
            .filter(|name| !name.is_empty())?;
        let here = PathBuf::from(name);
        let there = home.map(|home| home.join("bin").join(name));
        std::iter::once(here)
            .chain(there)
            .find(|file| file.is_file())
    }

    /// Refuses values that are not numbers, or not ports, in properties that the command line or the project sets.
    fn check_numbers(&self, own: &[(String, String)]) -> Result<(), Box<Diagnostic>> {
        let own_names = own.iter().map(|(name, _)| name);
        let properties = self
            .given
            .iter()
            .chain(own_names)
            .map(|name| (name, &self.properties));
        let system = self.given_system.iter().map(|name| (name, &self.system));
        let ports = properties.chain(system).filter(|(name, _)| is_port(name));
        for (name, table) in ports {
            let value = table.get(name).unwrap_or_default().trim();
            if is_too_high(value) {
                let message = format!("the property `{name}` is `{value}`, which is not a port");
                return Err(Box::new(Diagnostic::error("bad-port", message).help(PORT)));
            }
        }
        if self.properties.get("drumfire.bad_numbers") == Some("jmeter") {
            return Ok(());
        }
        for name in &self.given {
            let default = known_property(name)
                .map(|known| known.default)
                .filter(|default| is_number(default) && !name.ends_with(".version"));
            let value = self.properties.get(name).unwrap_or_default().trim();
            if let Some(default) = default.filter(|_| !value.is_empty() && !is_number(value)) {
                let message = format!("the property `{name}` is `{value}`, which is not a number");
                let finding = Diagnostic::error("bad-number", message);
                return Err(Box::new(
                    finding.help(format!("write a number, as in `-J{name}={default}`")),
                ));
            }
        }
        Ok(())
    }

    fn apply(&mut self, change: &Change) -> Result<(), Box<Diagnostic>> {
        match change {
            Change::File(file) => self.properties.merge(load(file).map_err(Box::new)?),
            Change::SystemFile(file) => self.system.merge(load(file).map_err(Box::new)?),
            Change::Property(name, value) => {
                if !self.given.contains(name) {
                    self.given.push(name.clone());
                }
                set(&mut self.properties, name, value);
            }
            Change::System(name, value) => {
                if !self.given_system.contains(name) {
                    self.given_system.push(name.clone());
                }
                set(&mut self.system, name, value);
            }
        }
        Ok(())
    }
}

/// Whether Java reads a number, such as `0.5f`.
fn is_number(text: &str) -> bool {
    values::parse_double(text).is_some_and(f64::is_finite)
}

fn no_folder(folder: &Path) -> Diagnostic {
    let finding = Diagnostic::error("file-not-found", missing(folder));
    finding.help("name the folder of a JMeter, or leave out `-d`")
}

fn set(table: &mut PropertyTable, name: &str, value: &str) {
    if value.is_empty() {
        table.remove(name);
    } else {
        table.set(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home {
        folder: tempfile::TempDir,
    }

    impl Home {
        fn new(files: &[(&str, &str)]) -> Home {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::create_dir(folder.path().join("bin")).expect("a folder");
            for (name, text) in files {
                std::fs::write(folder.path().join(name), text).expect("a file");
            }
            Home { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn resolve(
            &self,
            options: &PropertyOptions,
            jvm_args: &str,
        ) -> Result<RunProperties, Box<Diagnostic>> {
            let home = self.folder.path().as_os_str().to_owned();
            let jvm_args = OsString::from(jvm_args);
            let variable = |name: &str| match name {
                "JMETER_HOME" => Some(home.clone()),
                "JVM_ARGS" => Some(jvm_args.clone()),
                _ => None,
            };
            let now = Timestamp::from_millisecond(1_795_224_823_104).expect("a time");
            let own = [("demo.port".to_owned(), "8080".to_owned())];
            resolve(
                options,
                &Surroundings {
                    variable: &variable,
                    now,
                    zone: &TimeZone::UTC,
                    own: &own,
                },
            )
        }
    }

    fn property(name: &str, value: &str) -> Change {
        Change::Property(name.to_owned(), value.to_owned())
    }

    fn options(changes: Vec<Change>) -> PropertyOptions {
        PropertyOptions {
            changes,
            ..PropertyOptions::default()
        }
    }

    #[test]
    fn files_come_before_options_and_a_later_option_wins() {
        let home = Home::new(&[
            (
                "bin/jmeter.properties",
                "user.properties=mine.properties\na=main\nb=main\nc=main\nd=main\n",
            ),
            ("bin/mine.properties", "b=user\nc=user\nd=user\n"),
            ("more.properties", "c=file\nd=file\n"),
        ]);
        let changes = vec![
            property("c", "early"),
            Change::File(home.path("more.properties")),
            property("d", "late"),
        ];
        let settings = home
            .resolve(&options(changes), "")
            .expect("all files are good");
        let values = ["a", "b", "c", "d"].map(|name| settings.properties.get(name));
        assert_eq!(
            values,
            [Some("main"), Some("user"), Some("file"), Some("late")]
        );
    }

    #[test]
    fn without_files_the_shipped_defaults_hold() {
        let settings = Home::new(&[])
            .resolve(&options(vec![]), "")
            .expect("nothing to read");
        assert_eq!(settings.properties.get("summariser.name"), Some("summary"));
        assert_eq!(settings.properties.get("demo.port"), Some("8080"));
        assert_eq!(settings.properties.get("jmeter.version"), Some("5.6.3"));
        assert_eq!(settings.properties.get("START.MS"), Some("1795224823104"));
        assert_eq!(settings.properties.get("START.YMD"), Some("20261121"));
        assert_eq!(settings.properties.get("START.HMS"), Some("013343"));
    }

    #[test]
    fn definitions_that_java_reads_at_its_start_have_no_effect_later() {
        let system = |name: &str, value: &str| Change::System(name.to_owned(), value.to_owned());
        let home = Home::new(&[("s.properties", "user.language=fr\n")]);
        let changes = vec![
            system("user.timezone", "Asia/Tokyo"),
            system("file.encoding", "ISO-8859-1"),
            system("socksProxyHost", "h"),
            Change::SystemFile(home.path("s.properties")),
        ];
        let settings = home
            .resolve(
                &options(changes),
                "-Dfile.encoding=ISO-8859-1 -Duser.country=DE",
            )
            .expect("all files are good");
        let notes: Vec<&str> = settings
            .notes
            .iter()
            .filter_map(|note| note.split(' ').next())
            .collect();
        assert_eq!(
            notes,
            [
                "`user.timezone=Asia/Tokyo`",
                "`user.language=fr`",
                "`-DsocksProxyHost`"
            ]
        );
        assert!(settings.notes[0].ends_with("JVM_ARGS=-Duser.timezone=Asia/Tokyo"));
    }

    #[test]
    fn a_definition_without_a_value_removes() {
        let settings = Home::new(&[])
            .resolve(&options(vec![property("summariser.name", "")]), "")
            .expect("good");
        assert_eq!(settings.properties.get("summariser.name"), None);
    }

    #[test]
    fn system_properties_come_from_four_places() {
        let home = Home::new(&[
            ("bin/system.properties", "b=file\nc=file\n"),
            ("more", "c=more\nd=more\n"),
        ]);
        std::fs::write(
            home.path("bin/jmeter.properties"),
            "system.properties=system.properties\n",
        )
        .expect("a file");
        let late = Change::System("d".to_owned(), "option".to_owned());
        let changes = vec![Change::SystemFile(home.path("more")), late];
        let settings = home
            .resolve(&options(changes), "-Da=jvm -Db=jvm -Xmx4g")
            .expect("all files are good");
        let values = ["a", "b", "c", "d"].map(|name| settings.system.get(name));
        assert_eq!(
            values,
            [Some("jvm"), Some("file"), Some("more"), Some("option")]
        );
    }

    #[test]
    fn a_missing_file_of_an_option_is_refused() {
        let home = Home::new(&[("more.properties", "a=1\n")]);
        let misspelt = home.path("mor.properties");
        for change in [Change::File(misspelt.clone()), Change::SystemFile(misspelt)] {
            let finding = home
                .resolve(&options(vec![change]), "")
                .expect_err("it is not there");
            assert!(
                finding.message.ends_with("mor.properties` does not exist"),
                "{}",
                finding.message
            );
            let help = finding.help.unwrap_or_default();
            assert!(help.contains("more.properties`"), "{help}");
        }
        for wanted in [
            PropertyOptions {
                main_file: Some(home.path("gone")),
                ..PropertyOptions::default()
            },
            PropertyOptions {
                home: Some(home.path("gone")),
                ..PropertyOptions::default()
            },
        ] {
            assert!(home.resolve(&wanted, "").is_err());
        }
    }

    #[test]
    fn every_known_number_is_refused_if_it_is_none() {
        let home = Home::new(&[]);
        let sections = drumfire_jmx::KNOWN_PROPERTIES.iter();
        let known = sections.flat_map(|section| section.properties);
        let numbers =
            known.filter(|known| is_number(known.default) && !known.name.ends_with(".version"));
        let mut count = 0;
        for known in numbers {
            let finding = home
                .resolve(&options(vec![property(known.name, "12x")]), "")
                .expect_err(known.name);
            let told = finding.render(false);
            assert!(
                told.contains("`12x`") && told.contains("hint: write a"),
                "{told}"
            );
            let fixed = vec![property(known.name, known.default)];
            assert!(home.resolve(&options(fixed), "").is_ok(), "{}", known.name);
            let as_jmeter = vec![
                property(known.name, "12x"),
                property("drumfire.bad_numbers", "jmeter"),
            ];
            assert!(
                home.resolve(&options(as_jmeter), "").is_ok(),
                "{}",
                known.name
            );
            count += 1;
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn a_port_above_65535_is_refused() {
        let home = Home::new(&[]);
        for name in ["port", "http.proxyPort", "server_port"] {
            let finding = home
                .resolve(&options(vec![property(name, "70000")]), "")
                .expect_err(name);
            assert!(finding.message.contains("`70000`"), "{}", finding.message);
            assert!(
                home.resolve(&options(vec![property(name, "7000")]), "")
                    .is_ok()
            );
        }
        let system = Change::System("http.proxyPort".to_owned(), "70000".to_owned());
        assert!(home.resolve(&options(vec![system]), "").is_err());
        assert!(
            home.resolve(&options(vec![property("report", "70000")]), "")
                .is_ok()
        );
    }

    #[test]
    fn plans_find_the_working_directory() {
        let settings = Home::new(&[])
            .resolve(&options(vec![]), "-Duser.name=me")
            .expect("no files");
        let here = std::env::current_dir().expect("a working directory");
        assert_eq!(
            settings.system.get("user.dir"),
            Some(&*here.to_string_lossy())
        );
        assert_eq!(settings.system.get("user.name"), Some("me"));
        assert_eq!(settings.system.get("user.home"), None, "there is no HOME");
    }

    #[test]
    fn p_replaces_the_defaults() {
        let home = Home::new(&[("mine", "a=1\n")]);
        let wanted = PropertyOptions {
            main_file: Some(home.path("mine")),
            ..PropertyOptions::default()
        };
        let settings = home.resolve(&wanted, "").expect("a good file");
        assert_eq!(
            (
                settings.properties.get("a"),
                settings.properties.get("summariser.name")
            ),
            (Some("1"), None)
        );
    }

    #[test]
    fn a_malformed_file_is_refused() {
        let home = Home::new(&[("bad", "a=\\u00zz\n")]);
        assert!(
            home.resolve(&options(vec![Change::File(home.path("bad"))]), "")
                .is_err()
        );
    }
}
