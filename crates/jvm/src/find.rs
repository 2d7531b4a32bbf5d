//! Finds a Java on this machine.

use std::path::{Path, PathBuf};

use drumfire_engine::java::JavaFailure;
use drumfire_expr::Properties;

/// The oldest Java that the bridge runs on.
const OLDEST: u32 = 17;
/// Where distributions and installers put Javas.
const FOLDERS: [&str; 6] = [
    "/usr/lib/jvm",
    "/usr/java",
    "/opt/java",
    "/opt",
    "/Library/Java/JavaVirtualMachines",
    "/opt/homebrew/opt",
];
const LIBRARIES: [&str; 4] = [
    "lib/server/libjvm.so",
    "lib/server/libjvm.dylib",
    "Contents/Home/lib/server/libjvm.dylib",
    "bin/server/jvm.dll",
];
/// The property that names a Java.
pub const HOME: &str = "drumfire.jvm.home";
const ADVICE: &str = "install Java 17 or later (Debian and Ubuntu: apt install openjdk-17-jre-headless), or name one with \
                      -Jdrumfire.jvm.home=FOLDER or JAVA_HOME";

/// A Java that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    pub home: PathBuf,
    pub library: PathBuf,
    pub version: u32,
}

/// Finds a Java: the configured one, `JAVA_HOME`'s, the one on the `PATH`, or the newest in the usual folders.
///
/// # Errors
/// If there is none, or if the configured one cannot be used.
pub fn find(properties: &Properties) -> Result<Installation, JavaFailure> {
    if let Some(home) = properties.get_trimmed(HOME).filter(|home| !home.is_empty()) {
        return usable(Path::new(&*home))
            .map_err(|why| format!("{HOME}={home} {why}; {ADVICE}").into());
    }
    let mut refused = Vec::new();
    let candidates = std::env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .chain(on_path());
    for home in candidates {
        match usable(&home) {
            Ok(found) => return Ok(found),
            Err(why) => refused.push(format!("{} {why}", home.display())),
        }
    }
    let mut found: Vec<Installation> = FOLDERS
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| usable(&entry.path()).ok())
        .collect();
    found.sort_by_key(|installation| installation.version);
    found.pop().ok_or_else(|| {
        let tried = if refused.is_empty() {
            "there is none on this machine".to_owned()
        } else {
            refused.join(", ")
        };
        format!("{tried}; {ADVICE}").into()
    })
}

/// The home of the `java` that a shell would start.
fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let java = std::env::split_paths(&path)
        .map(|folder| folder.join(format!("java{}", std::env::consts::EXE_SUFFIX)))
        .find(|java| java.is_file())?
        .canonicalize()
        .ok()?;
    Some(java.parent()?.parent()?.to_path_buf())
}

fn usable(home: &Path) -> Result<Installation, JavaFailure> {
    let library = LIBRARIES
        .iter()
        .map(|library| home.join(library))
        .find(|library| library.is_file())
        .ok_or("has no lib/server/libjvm")?;
    let release = std::fs::read_to_string(home.join("release"))
        .or_else(|_| std::fs::read_to_string(home.join("Contents/Home/release")))
        .unwrap_or_default();
    let version = version(&release).ok_or("does not say its version")?;
    if version < OLDEST {
        return Err(format!("is Java {version}, but Drumfire needs {OLDEST} or later").into());
    }
    Ok(Installation {
        home: home.to_path_buf(),
        library,
        version,
    })
}

/// The feature number in a `release` file: 17 of `JAVA_VERSION="17.0.15"`, 8 of `"1.8.0_392"`.
fn version(release: &str) -> Option<u32> {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let mut numbers = line
        .trim_matches('"')
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().ok());
    match numbers.next()?? {
        1 => numbers.next()?,
        feature => Some(feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(release: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(home.path().join("lib/server")).expect("a folder");
        std::fs::write(home.path().join("lib/server/libjvm.so"), "").expect("a file");
        std::fs::write(home.path().join("release"), release).expect("a file");
        home
    }

    #[test]
    fn versions_are_read_as_java_writes_them() {
        assert_eq!(version("A=1\nJAVA_VERSION=\"17.0.15\"\n"), Some(17));
        assert_eq!(version("JAVA_VERSION=\"1.8.0_392\""), Some(8));
        assert_eq!(version("JAVA_VERSION=\"21\""), Some(21));
        assert_eq!(version("JAVA_VERSION=\"25-ea\""), Some(25));
        assert_eq!(version("IMPLEMENTOR=\"x\""), None);
    }

    #[test]
    fn a_java_that_is_named_is_used_or_said_to_be_unusable() {
        let properties = Properties::new();
        let good = home("JAVA_VERSION=\"21.0.1\"");
        properties.set(HOME, good.path().to_string_lossy());
        assert_eq!(find(&properties).map(|found| found.version), Ok(21));
        let old = home("JAVA_VERSION=\"11.0.2\"");
        properties.set(HOME, old.path().to_string_lossy());
        let why = find(&properties).expect_err("it is too old");
        assert!(
            why.as_ref()
                .contains("is Java 11, but Drumfire needs 17 or later"),
            "{why}"
        );
        properties.set(HOME, "/nowhere");
        let why = find(&properties).expect_err("there is none");
        assert!(why.as_ref().contains("has no lib/server/libjvm"), "{why}");
    }
}
