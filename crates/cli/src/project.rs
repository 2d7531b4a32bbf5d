//! `drumfire.toml`: what a project sets for all its runs. The file lies beside the plan, or else in the working folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exports;

/// The file's name.
pub const FILE: &str = "drumfire.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    #[serde(default)]
    jvm: JvmTable,
    #[serde(default)]
    output: OutputTable,
}

/// `[output]`: where the numbers of a run go while it goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputTable {
    /// `KIND=WHERE`, as `--out` takes it.
    #[serde(default)]
    to: Vec<String>,
    /// Tags of all outputs.
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

/// `[jvm]`: the Java that scripts and elements without a native form run in.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct JvmTable {
    /// The folder of a Java.
    home: Option<PathBuf>,
    /// Options of the virtual machine.
    #[serde(default)]
    options: Vec<String>,
    /// Jars and folders; relative ones start at the file's folder.
    #[serde(default)]
    classpath: Vec<PathBuf>,
    /// `group:artifact:version` of jars that Maven brings with all that they depend on.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The properties that the project's file sets; none if there is no file.
///
/// # Errors
/// What is wrong with the file, with its line.
pub fn read(plan: Option<&Path>) -> Result<Vec<(&'static str, String)>, String> {
    let beside_plan = plan.and_then(Path::parent).map(|folder| folder.join(FILE));
    let file = beside_plan
        .into_iter()
        .chain([PathBuf::from(FILE)])
        .find(|file| file.is_file());
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    properties(&text, folder).map_err(|why| format!("{}: {why}", file.display()))
}

fn properties(text: &str, folder: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let project: Project = toml::from_str(text).map_err(|error| error.to_string())?;
    let jvm = project.jvm;
    let path = |path: &PathBuf| folder.join(path).to_string_lossy().into_owned();
    let mut set = Vec::new();
    if let Some(home) = &jvm.home {
        set.push(("drumfire.jvm.home", path(home)));
    }
    let mut list = |name, values: Vec<String>, separator: &str| {
        if !values.is_empty() {
            set.push((name, values.join(separator)));
        }
    };
    list("drumfire.jvm.options", jvm.options, " ");
    let jars = jvm.classpath.iter().map(path).collect();
    list("user.classpath", jars, ":");
    list("drumfire.jvm.dependencies", jvm.dependencies, ",");
    list(exports::OUT, project.output.to, ";");
    let tags = project.output.tags.iter();
    let tags = tags
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    list(exports::TAGS, tags, ";");
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jvm_table_becomes_properties() {
        let text = "[jvm]\nhome = \"/java\"\noptions = [\"-Xmx1g\", \"-Da=b\"]\nclasspath = [\"lib/a.jar\", \"/b\"]\n\
                    dependencies = [\"com.h2database:h2:2.2.224\"]\n";
        let set = properties(text, Path::new("/p")).expect("it is right");
        assert_eq!(
            set,
            [
                ("drumfire.jvm.home", "/java".to_owned()),
                ("drumfire.jvm.options", "-Xmx1g -Da=b".to_owned()),
                ("user.classpath", "/p/lib/a.jar:/b".to_owned()),
                (
                    "drumfire.jvm.dependencies",
                    "com.h2database:h2:2.2.224".to_owned()
                ),
            ]
        );
        assert_eq!(properties("", Path::new("")), Ok(Vec::new()));
    }

    #[test]
    fn what_the_file_must_not_have_is_named() {
        let why = |text| properties(text, Path::new("")).expect_err("it is wrong");
        assert!(
            why("[load]\nusers = 1\n").contains("unknown field `load`, expected `jvm` or `output`")
        );
        assert!(why("[jvm]\nheap = \"1g\"\n").contains("unknown field `heap`"));
        assert!(why("[jvm]\noptions = \"-Xmx1g\"\n").contains("line 2"));
    }

    #[test]
    fn the_file_beside_the_plan_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "[jvm]\nhome = \"java\"\n").expect("a file");
        let set = read(Some(&folder.path().join("plan.jmx"))).expect("it is right");
        let home = folder.path().join("java").to_string_lossy().into_owned();
        assert_eq!(set, [("drumfire.jvm.home", home)]);
    }
}
