//! The jars that Java runs with: JMeter's and its plugins'.

use std::path::{Path, PathBuf};

use drumfire_engine::java::JavaFailure;
use drumfire_expr::Properties;

use crate::install;

/// The property that names a JMeter.
pub const HOME: &str = "drumfire.jmeter.home";
/// The jar by which a JMeter is recognised.
const CORE: &str = "lib/ext/ApacheJMeter_core.jar";
/// Bindings for SLF4J. There may be only one, which is the bridge's own.
const REPLACED: [&str; 2] = ["log4j-slf4j-impl", "slf4j-simple"];

/// A JMeter on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JMeter {
    pub home: PathBuf,
    /// Whether its jars have yet to be put there.
    pub is_missing: bool,
}

impl JMeter {
    fn at(home: PathBuf) -> JMeter {
        JMeter {
            home,
            is_missing: false,
        }
    }
}

/// Finds a JMeter: the configured one, `JMETER_HOME`'s, the one in whose `bin` the run is started, the one whose `jmeter` is on
/// the `PATH`, or the one that is or will be assembled from Maven's jars.
///
/// # Errors
/// If the configured folder is not a JMeter.
pub fn find(properties: &Properties) -> Result<JMeter, JavaFailure> {
    if let Some(home) = properties.get_trimmed(HOME).filter(|home| !home.is_empty()) {
        let home = PathBuf::from(&*home);
        return if is_jmeter(&home) {
            Ok(JMeter::at(home))
        } else {
            Err(format!("{HOME}={} is not a JMeter installation", home.display()).into())
        };
    }
    let found = std::env::var_os("JMETER_HOME")
        .map(PathBuf::from)
        .into_iter()
        .chain(
            std::env::current_dir()
                .ok()
                .as_deref()
                .and_then(home_of_bin),
        )
        .chain(on_path())
        .chain(std::env::home_dir().map(|home| home.join("jmeter")))
        .find(|home| is_jmeter(home))
        .map(JMeter::at);
    Ok(found.unwrap_or_else(put_together))
}

fn put_together() -> JMeter {
    let home = install::home();
    let is_missing = !install::is_complete(&home);
    JMeter { home, is_missing }
}

fn is_jmeter(home: &Path) -> bool {
    home.join(CORE).is_file()
        || jars(&home.join("lib/ext"))
            .iter()
            .any(|jar| name(jar).starts_with("ApacheJMeter_core"))
}

/// The home of a JMeter whose `bin` is this folder.
fn home_of_bin(folder: &Path) -> Option<PathBuf> {
    let is_bin = folder.file_name().is_some_and(|name| name == "bin");
    folder.parent().filter(|_| is_bin).map(Path::to_path_buf)
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let program = std::env::split_paths(&path)
        .map(|folder| folder.join("jmeter"))
        .find(|program| program.is_file())?
        .canonicalize()
        .ok()?;
    Some(program.parent()?.parent()?.to_path_buf())
}

impl JMeter {
    /// Every jar of this JMeter.
    pub fn own_jars(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for folder in ["lib/ext", "lib", "lib/junit"] {
            all.extend(jars(&self.home.join(folder)));
        }
        usable(all)
    }

    /// The jars that `search_paths`, `user.classpath` and the plan name.
    pub fn named_jars(properties: &Properties, plan: &[PathBuf]) -> Vec<PathBuf> {
        let mut all = Vec::new();
        for (name, separator) in [
            ("search_paths", ';'),
            ("user.classpath", ':'),
            ("plugin_dependency_paths", ';'),
        ] {
            let Some(paths) = properties.get_trimmed(name) else {
                continue;
            };
            for path in paths.split(separator).filter(|path| !path.is_empty()) {
                add(&mut all, Path::new(path));
            }
        }
        for path in plan {
            add(&mut all, path);
        }
        usable(all)
    }
}

/// All jars except those that the bridge replaces.
pub fn usable(mut all: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_replaced = |jar: &PathBuf| REPLACED.iter().any(|one| name(jar).starts_with(one));
    all.retain(|jar| !is_replaced(jar));
    all
}

/// Adds a jar, or a folder of classes and the jars in it.
fn add(all: &mut Vec<PathBuf>, path: &Path) {
    all.push(path.to_path_buf());
    if path.is_dir() {
        all.extend(jars(path));
    }
}

/// The jars in a folder, sorted by name.
fn jars(folder: &Path) -> Vec<PathBuf> {
    let mut jars: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jar"))
        .collect();
    jars.sort();
    jars
}

fn name(jar: &Path) -> std::borrow::Cow<'_, str> {
    jar.file_name().unwrap_or_default().to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classpath_is_jmeters_jars_and_what_is_named() {
        let home = tempfile::tempdir().expect("a folder");
        for file in [
            "lib/ext/ApacheJMeter_core.jar",
            "lib/b.jar",
            "lib/a.jar",
            "lib/log4j-slf4j-impl-2.22.1.jar",
            "more/c.jar",
            "more/c.txt",
        ] {
            let file = home.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, "").expect("a file");
        }
        let properties = Properties::new();
        properties.set(HOME, home.path().to_string_lossy());
        let more = home.path().join("more");
        properties.set("user.classpath", more.to_string_lossy());
        let jmeter = find(&properties).expect("it is a JMeter");
        let mut jars = jmeter.own_jars();
        jars.extend(JMeter::named_jars(&properties, &[PathBuf::from("x.jar")]));
        let names: Vec<_> = jars.iter().map(|jar| name(jar).into_owned()).collect();
        assert_eq!(
            names,
            [
                "ApacheJMeter_core.jar",
                "a.jar",
                "b.jar",
                "more",
                "c.jar",
                "x.jar"
            ]
        );
        properties.set(HOME, more.to_string_lossy());
        assert!(find(&properties).is_err());
    }

    #[test]
    fn the_home_of_a_folder_of_programs_is_above_it() {
        let home = home_of_bin(Path::new("/opt/jmeter/bin"));
        assert_eq!(home, Some(PathBuf::from("/opt/jmeter")));
        assert_eq!(home_of_bin(Path::new("/opt/jmeter/lib")), None);
    }
}
