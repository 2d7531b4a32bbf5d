//! `drumfire.toml`: a project's settings for all its runs. The file is beside the plan, or else in the working folder.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use drumfire_jmx::{RESOLVE, conflict};
use drumfire_platform::causes::unreadable;
use serde::Deserialize;

use crate::refusal::UsageError;
use crate::settings::authorities::TLS_CA;
use crate::settings::profiles::{
    Choices, Held, OUT, Outputs, Profile, ProfileChoice, TAGS, Values,
};
use crate::settings::project_faults::{ProjectError, fault, place};

/// The file's name.
pub const FILE: &str = "drumfire.toml";

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("drumfire.schema.json");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    #[serde(default)]
    jvm: JvmTable,
    #[serde(default)]
    output: OutputTable,
    #[serde(default)]
    properties: Values,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
    #[serde(default)]
    targets: BTreeMap<String, Values>,
    #[serde(default)]
    runs: RunsTable,
    #[serde(default)]
    tls: TlsTable,
    matrix: Option<Matrix>,
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

/// `[jvm]`: the Java in which scripts and elements without a native implementation run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct JvmTable {
    /// The folder of a Java installation.
    home: Option<PathBuf>,
    /// Options of the virtual machine.
    #[serde(default)]
    options: Vec<String>,
    /// Jars and folders; relative paths are relative to the file's folder.
    #[serde(default)]
    classpath: Vec<PathBuf>,
    /// `group:artifact:version` of jars to download with all their dependencies.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// `[tls]`: TLS of the program's own connections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsTable {
    /// Certificate authorities (PEM) to trust in addition to the system's; a relative path is relative to the file's folder.
    ca: Option<PathBuf>,
}

/// `[runs]`: the history of the project.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsTable {
    /// How many run files stay in the history.
    keep: Option<usize>,
}

/// `[matrix]`: the combinations in which to run a plan.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// The plan; a relative path is relative to the file's folder.
    pub plan: Option<PathBuf>,
    /// The profile of all combinations.
    pub profile: Option<String>,
    /// Names and their values. `users`, `ramp-up`, `duration`, `rate`, `profile` and `target` set the options of that name; any
    /// other name sets a property.
    pub axes: BTreeMap<String, Vec<Held>>,
    /// The combination with which the others are compared. An axis that it leaves out has its first value.
    #[serde(default)]
    pub base: Values,
    /// Combinations to leave out; each entry lists the values that they share.
    #[serde(default)]
    pub exclude: Vec<Values>,
}

/// The path of the project's file, if there is one.
pub fn file(plan: Option<&Path>) -> Option<PathBuf> {
    let beside_plan = plan.and_then(Path::parent).map(|folder| folder.join(FILE));
    beside_plan
        .into_iter()
        .chain([PathBuf::from(FILE)])
        .find(|file| file.is_file())
}

/// Reads the project's file, if there is one. Returns its path and its content.
fn read_project(plan: Option<&Path>) -> Result<Option<(PathBuf, Project)>, UsageError> {
    let Some(file) = file(plan) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
    if let Some(span) = conflict(&text) {
        let (line, column) = place(&text, span.start);
        let file = file.display();
        return Err(format!(
            "{file}:{line}:{column}: the file has unresolved conflicts of git\nhint: {RESOLVE}"
        )
        .into());
    }
    let project =
        toml::from_str(&text).map_err(|error| fault_text(&file, &text, &fault(&error)))?;
    Ok(Some((file, project)))
}

/// A fault as the text of an error, with its place.
fn fault_text(file: &Path, text: &str, fault: &ProjectError) -> String {
    let (line, column) = place(text, fault.span.start);
    let mut message = format!("{}:{line}:{column}: {}", file.display(), fault.message);
    if let Some(hint) = &fault.hint {
        message.push_str(&format!("\nhint: {hint}"));
    }
    message
}

/// The faults in the text of a project's file, each with its range in bytes.
pub fn faults(text: &str) -> Vec<(Range<usize>, String)> {
    match toml::from_str::<Project>(text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let fault = fault(&error);
            let hint = fault
                .hint
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            vec![(fault.span, format!("{}{hint}", fault.message))]
        }
    }
}

/// The properties that the project's file sets for a choice; empty if there is no file.
///
/// # Errors
/// A fault in the file, with its line, or in the choice.
pub fn properties(
    plan: Option<&Path>,
    choice: &ProfileChoice<'_>,
) -> Result<Vec<(String, String)>, UsageError> {
    let Some((file, project)) = read_project(plan)? else {
        let missing = |kind: &str, name: &str| {
            Err(format!(
                "there is no {FILE}, so there is no {kind} `{name}`\nhint: write one beside the plan"
            )
            .into())
        };
        return match (choice.profile, choice.target) {
            (Some(name), _) => missing("profile", name),
            (None, Some(name)) => missing("target", name),
            (None, None) => Ok(Vec::new()),
        };
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut set = of_tables(&project, folder);
    let choices = Choices {
        properties: project.properties,
        profiles: project.profiles,
        targets: project.targets,
    };
    set.extend(choices.properties(choice)?);
    Ok(set)
}

/// The files that the profile of a run asks for.
///
/// # Errors
/// A fault in the file or in the choice.
pub fn outputs(plan: Option<&Path>, choice: &ProfileChoice<'_>) -> Result<Outputs, UsageError> {
    let Some((_, project)) = read_project(plan)? else {
        return Ok(Outputs::default());
    };
    let choices = Choices {
        profiles: project.profiles,
        ..Choices::default()
    };
    let profile = choices.profile(choice)?;
    Ok(profile.map(Profile::outputs).unwrap_or_default())
}

/// The matrix of the project, with the file's folder.
///
/// # Errors
/// A fault in the file.
pub fn matrix(plan: Option<&Path>) -> Result<Option<(PathBuf, Matrix)>, UsageError> {
    let Some((file, project)) = read_project(plan)? else {
        return Ok(None);
    };
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(project.matrix.map(|matrix| (folder, matrix)))
}

/// The absolute path, which means the same in every working folder.
fn whole(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.to_string_lossy().into_owned()
}

/// The properties that the tables for all runs set.
fn of_tables(project: &Project, folder: &Path) -> Vec<(String, String)> {
    let jvm = &project.jvm;
    let path = |path: &PathBuf| folder.join(path).to_string_lossy().into_owned();
    let mut set = Vec::new();
    let mut put = |name: &str, value: String| set.push((name.to_owned(), value));
    if let Some(home) = &jvm.home {
        put("drumfire.jvm.home", path(home));
    }
    if let Some(ca) = &project.tls.ca {
        put(TLS_CA, whole(&folder.join(ca)));
    }
    if let Some(keep) = project.runs.keep {
        put("drumfire.runs.keep", keep.to_string());
    }
    let tags = project
        .output
        .tags
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    for (name, values, separator) in [
        ("drumfire.jvm.options", jvm.options.clone(), " "),
        (
            "user.classpath",
            jvm.classpath.iter().map(path).collect(),
            ":",
        ),
        ("drumfire.jvm.dependencies", jvm.dependencies.clone(), ","),
        (OUT, project.output.to.clone(), ";"),
        (TAGS, tags.collect::<Vec<_>>(), ";"),
    ] {
        if !values.is_empty() {
            put(name, values.join(separator));
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, choice: &ProfileChoice<'_>) -> Result<Vec<(String, String)>, UsageError> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), text).expect("a file");
        properties(Some(&folder.path().join("plan.jmx")), choice)
    }

    fn choice<'c>(profile: Option<&'c str>, target: Option<&'c str>) -> ProfileChoice<'c> {
        ProfileChoice {
            profile,
            target,
            variable: &|name| (name == "PASS").then(|| "geheim".into()),
        }
    }

    fn value<'s>(set: &'s [(String, String)], name: &str) -> Option<&'s str> {
        let mut of_name = set.iter().rev().filter(|(own, _)| own == name);
        of_name.next().map(|(_, value)| value.as_str())
    }

    #[test]
    fn the_jvm_table_becomes_properties() {
        let text = "[jvm]\nhome = \"/java\"\noptions = [\"-Xmx1g\", \"-Da=b\"]\nclasspath = [\"/lib/a.jar\", \"/b\"]\n\
                    dependencies = [\"com.h2database:h2:2.2.224\"]\n[runs]\nkeep = 5\n";
        let set = set(text, &choice(None, None)).expect("it is right");
        for (name, expected) in [
            ("drumfire.jvm.home", "/java"),
            ("drumfire.jvm.options", "-Xmx1g -Da=b"),
            ("user.classpath", "/lib/a.jar:/b"),
            ("drumfire.jvm.dependencies", "com.h2database:h2:2.2.224"),
            ("drumfire.runs.keep", "5"),
        ] {
            assert_eq!(value(&set, name), Some(expected), "{name}");
        }
    }

    const PROFILES: &str = "[properties]\nhost = \"local\"\nport = 80\n\
        [targets.staging]\nhost = \"staging\"\npassword = { env = \"PASS\" }\n\
        [targets.open]\npassword = { env = \"NONE\", default = \"x\" }\n\
        [profiles.soak]\ntarget = \"staging\"\nusers = 50\nramp-up = \"30s\"\nduration = \"10m\"\niterations = 7\nrate = \"600/m\"\n\
        fail-on = [\"p95 > 300ms\", \"errors > 1%\"]\nstrict = true\nallow-unjudged = true\nreport = \"r.html\"\n\
        [profiles.soak.properties]\nport = 8080\n\
        [profiles.broken]\nproperties = { key = { env = \"NONE\" } }\n";

    #[test]
    fn a_profile_sets_load_limits_and_properties() {
        let soak = set(PROFILES, &choice(Some("soak"), None)).expect("it is right");
        for (name, expected) in [
            ("host", "staging"),
            ("port", "8080"),
            ("password", "geheim"),
            ("drumfire.load.users", "50"),
            ("drumfire.load.ramp_up", "30"),
            ("drumfire.load.duration", "600"),
            ("drumfire.load.iterations", "7"),
            ("drumfire.load.rate", "10"),
            ("drumfire.fail_on", "p95 > 300ms;errors > 1%"),
            ("drumfire.strict", "true"),
            ("drumfire.allow_unjudged", "true"),
        ] {
            assert_eq!(value(&soak, name), Some(expected), "{name}");
        }
        let open = set(PROFILES, &choice(Some("soak"), Some("open"))).expect("it is right");
        assert_eq!(value(&open, "password"), Some("x"));
        assert_eq!(value(&open, "host"), Some("local"));
        let none = set(PROFILES, &choice(None, None)).expect("it is right");
        assert_eq!(
            (value(&none, "port"), value(&none, "drumfire.strict")),
            (Some("80"), None)
        );
    }

    #[test]
    fn wrong_project_files_are_refused_with_the_fault() {
        let why = |text: &str, choice: &ProfileChoice<'_>| {
            set(text, choice).expect_err("it is wrong").to_string()
        };
        let none = choice(None, None);
        assert!(why("[load]\nusers = 1\n", &none).contains("`load` is not a key"));
        assert!(why("[jvm]\nheap = \"1g\"\n", &none).contains("`heap` is not a key"));
        assert!(
            why("[jvm]\noptions = \"-Xmx1g\"\n", &none)
                .contains("drumfire.toml:2:11: this is not a list")
        );
        assert!(why(PROFILES, &choice(Some("soaks"), None)).contains("hint: write `soak`"));
        assert!(why(PROFILES, &choice(None, Some("prod"))).contains("no target `prod`"));
        assert!(why(PROFILES, &choice(Some("broken"), None)).contains("export NONE="));
    }

    #[test]
    fn the_schema_names_every_table() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
        let why = toml::from_str::<Project>("nothing = 1")
            .expect_err("it is wrong")
            .to_string();
        for table in [
            "jvm",
            "output",
            "properties",
            "profiles",
            "targets",
            "runs",
            "tls",
            "matrix",
        ] {
            assert!(why.contains(table), "{why}");
            assert!(schema["properties"][table].is_object(), "{table}");
        }
        let profile = &schema["$defs"]["profile"]["properties"];
        for key in profile.as_object().expect("properties").keys() {
            let value = match key.as_str() {
                "users" | "iterations" => "1",
                "once" | "strict" | "allow-unjudged" => "true",
                "fail-on" | "out" => "[\"x\"]",
                "properties" => "{ a = 1 }",
                _ => "\"1s\"",
            };
            let text = format!("[profiles.p]\n{key} = {value}\n");
            assert!(toml::from_str::<Project>(&text).is_ok(), "{key}");
        }
    }
}
