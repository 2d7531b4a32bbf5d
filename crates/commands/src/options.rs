//! The meaning of a command line, in either spelling: the program's own (`args`) or JMeter's (`jmeter`).

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use drumfire_platform::causes::{cause, unreadable};
use drumfire_platform::spelling::absent;
use drumfire_serve::ListenAddress;

use crate::exit_codes::Exit;
use crate::fleet_options::FleetOptions;

/// The plan to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// This file.
    File(PathBuf),
    /// The plan of the last run (`-t LAST`).
    Last,
    /// A file that the program made for this run alone.
    Made {
        /// The file.
        file: PathBuf,
        /// The name to show in place of the file's path.
        name: String,
    },
    /// The built-in plan of `run --demo`.
    Quickstart,
    /// A file that the program made for the addresses on the command line. JMeter has no such runs, so its log and its lines are
    /// left out.
    OfUrl {
        /// The file.
        file: PathBuf,
        /// The name to show in place of the file's path.
        name: String,
    },
}

impl PlanChoice {
    /// A file that the program made for this run alone, shown under the file's name.
    pub fn made(file: PathBuf) -> PlanChoice {
        let name = name_of(&file);
        PlanChoice::Made { file, name }
    }

    /// A file that the program made for the addresses on the command line, shown under the file's name.
    pub fn of_url(file: PathBuf) -> PlanChoice {
        let name = name_of(&file);
        PlanChoice::OfUrl { file, name }
    }

    /// Whether the user has no plan but addresses.
    pub fn is_of_url(&self) -> bool {
        matches!(self, PlanChoice::OfUrl { .. })
    }
}

fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// The plan.
    pub plan: PlanChoice,
    /// The file for the samples, in addition to the plan's listeners.
    pub results: Option<ResultsFile>,
    /// Delete the result files of the plan and of the command line before the start.
    pub delete_results: bool,
    /// The property files and definitions.
    pub properties: PropertyOptions,
    /// The program's log.
    pub log: LogOptions,
    /// The display while the run goes on.
    pub progress: Progress,
    /// Print the generator's own times and its connections at the end; the property `drumfire.verbose` can also ask for that.
    pub verbose: bool,
    /// Serve the demo site in this process while the run goes on.
    pub demo: bool,
    /// Thresholds on the final statistics. The run fails if one is true. Those of the property `drumfire.fail_on` are
    /// added.
    pub fail_on: Vec<String>,
    /// Thresholds of which the first that becomes true ends the run. Those of the property `drumfire.abort_on` are added.
    pub abort_on: Vec<String>,
    /// Whether a verdict other than VALID fails the run; the property `drumfire.strict` can also ask for that.
    pub strict: bool,
    /// The report that is made when the run has ended.
    pub report: ReportFiles,
    /// Write a run file to the history while the run goes on, unless the user named one or the property
    /// `drumfire.keep_runs` forbids it.
    pub keeps_run: bool,
    /// Where the numbers go while the run goes on.
    pub exports: ExportOptions,
    /// Sources of the target's own metrics, `KIND=WHERE`. Those of the property `drumfire.watch` are added.
    pub watch: Vec<String>,
    /// The page that is served while the run goes on; the property `drumfire.ui` can also ask for it.
    pub ui: UiOptions,
    /// A run file or result file of an earlier run, to compare this one with.
    pub baseline: Option<PathBuf>,
    /// Make the report from the result file, in the folder of `report` or in JMeter's (`-e`).
    pub report_at_end: bool,
    /// Notes for the user before the start, such as options without an effect here.
    pub notes: Vec<String>,
    /// The other machines, if the plan runs on several.
    pub fleet: Option<FleetOptions>,
    /// Whether JMeter's command line ordered the run; a missing plan is then told in JMeter's words, too.
    pub is_jmeter: bool,
}

/// Where the numbers of a run go while it goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Outputs, `KIND=WHERE`. Those of the property `drumfire.out` are added.
    pub out: Vec<String>,
    /// Tags of all outputs, `NAME=VALUE`. Those of the property `drumfire.tags` are added.
    pub tags: Vec<String>,
    /// Undelivered data fails the run.
    pub required: bool,
}

/// The page of a run that is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UiOptions {
    /// The address to listen on, if the user asked for a page.
    pub address: Option<ListenAddress>,
    /// The page accepts no orders.
    pub readonly: bool,
}

/// The files of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFiles {
    /// A folder with the page, `statistics.json` and the run file.
    pub folder: Option<PathBuf>,
    /// Report pages (HTML).
    pub pages: Vec<PathBuf>,
    /// Run files.
    pub runs: Vec<PathBuf>,
    /// The outcome as JSON, for other programs.
    pub summary: Option<PathBuf>,
    /// The outcome of the thresholds as JUnit XML.
    pub junit: Option<PathBuf>,
    /// The outcome as Markdown.
    pub markdown: Option<PathBuf>,
    /// The numbers of each label as OpenMetrics.
    pub metrics: Option<PathBuf>,
    /// Print the outcome of the thresholds to standard output as annotations of the CI system.
    pub annotations: bool,
}

impl ReportFiles {
    /// Whether no file is asked for.
    pub fn is_empty(&self) -> bool {
        *self == ReportFiles::default()
    }
}

/// The options of `report`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// A result file or a run file.
    pub input: PathBuf,
    /// The files to make from it.
    pub files: ReportFiles,
    /// Empty the folder first.
    pub force: bool,
    /// Thresholds on the statistics. The command fails if one is true.
    pub fail_on: Vec<String>,
    /// The property files and definitions.
    pub properties: PropertyOptions,
    /// Whether JMeter's `-g` asked for the report; messages are then JMeter's.
    pub is_jmeter: bool,
}

/// The options of `compare`.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOrder {
    /// Result files or run files; the others are compared with the first.
    pub inputs: Vec<PathBuf>,
    /// Relative changes below this do not matter.
    pub smallest_change: f64,
    /// Compare runs even if their plan, load or verdict forbids it.
    pub anyway: bool,
    /// The comparison as a page.
    pub page: Option<PathBuf>,
    /// The comparison as Markdown.
    pub markdown: Option<PathBuf>,
    /// The comparison as JUnit XML.
    pub junit: Option<PathBuf>,
    /// Print the comparison to standard output as annotations of the CI system.
    pub annotations: bool,
    /// The property files and definitions.
    pub properties: PropertyOptions,
}

/// The options of `merge`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeOrder {
    /// Result files or run files.
    pub inputs: Vec<PathBuf>,
    /// The run file to write.
    pub output: PathBuf,
    /// The property files and definitions.
    pub properties: PropertyOptions,
}

/// The file of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultsFile {
    /// This file.
    File(PathBuf),
    /// Named after the plan of the last run (`-l LAST`).
    Last,
}

/// The options of `check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOptions {
    /// The plan.
    pub plan: PathBuf,
    /// The property files and definitions.
    pub properties: PropertyOptions,
    /// The output format.
    pub format: CheckFormat,
    /// List every element and every finding separately.
    pub verbose: bool,
}

/// The output format of `check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
}

/// The options of `plan`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewOptions {
    /// The plan.
    pub plan: PathBuf,
    /// The property files and definitions.
    pub properties: PropertyOptions,
    /// JSON instead of text.
    pub json: bool,
    /// The number of agents to divide the plan among.
    pub agents: Option<u32>,
}

/// The options of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorOptions {
    /// The plan to check against the limits.
    pub plan: Option<PathBuf>,
    /// The property files and definitions.
    pub properties: PropertyOptions,
    /// JSON instead of text.
    pub json: bool,
}

/// The options of `jvm`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmOptions {
    /// The action.
    pub action: JvmAction,
    /// The plugins to install or remove: names, Maven coordinates, plans whose plugins are meant.
    pub what: Vec<String>,
    /// The property files and definitions.
    pub properties: PropertyOptions,
}

/// The actions of `jvm`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum JvmAction {
    /// Show what there is
    #[default]
    #[value(skip)]
    Report,
    /// Fetch missing jars, and plugins for all runs
    Install,
    /// Take plugins off the class path of all runs
    Remove,
}

/// The options of `demo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoOptions {
    /// The port for HTTP; 0 takes a free one.
    pub port: u16,
    /// The port for HTTPS; 0 takes a free one.
    pub https_port: u16,
}

/// The options of `mirror`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorOptions {
    /// The address to listen on.
    pub address: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
}

/// The sources of properties.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PropertyOptions {
    /// The file to read instead of `jmeter.properties` (`-p`).
    pub main_file: Option<PathBuf>,
    /// JMeter's home directory (`-d`); defaults to the environment variable `JMETER_HOME`.
    pub home: Option<PathBuf>,
    /// All other changes, in the order of the command line; later ones win.
    pub changes: Vec<Change>,
    /// The profile of `drumfire.toml`.
    pub profile: Option<String>,
    /// The target of `drumfire.toml`.
    pub target: Option<String>,
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

/// The options of the program's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// The file as it was written; `'yyyyMMdd'` in quotes stands for the date. Empty: there is no log.
    pub file: String,
    /// `(category, level)` in the order of the command line; an empty category is the root.
    pub levels: Vec<(String, String)>,
}

impl Default for LogOptions {
    /// JMeter's `jmeter.log` in the working directory.
    fn default() -> Self {
        LogOptions {
            file: "jmeter.log".to_owned(),
            levels: Vec::new(),
        }
    }
}

/// The display while a run goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Progress {
    /// The live view on a terminal, JMeter's lines elsewhere.
    #[default]
    Auto,
    /// The live view.
    Live,
    /// JMeter's summary lines.
    Lines,
    /// Nothing but the address of --ui; warnings, errors and what fails the run go to standard error.
    Quiet,
}

/// A command line that the program refuses to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The exit code.
    pub exit: Exit,
    /// The text for standard output: the lines that JMeter prints there and that scripts may look for.
    pub out: String,
    /// The text for standard error.
    pub err: String,
}

impl Refusal {
    /// A refusal that is printed to standard error only.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Refusal {
            exit,
            out: String::new(),
            err: format!("error: {}\n", message.into()),
        }
    }

    /// A refusal because of an error of the operating system.
    pub fn failed(error: std::io::Error) -> Self {
        Refusal::new(Exit::RunFailed, cause(&error))
    }

    /// A refusal because a file cannot be read; names the file that was probably meant.
    pub fn unreadable(exit: Exit, path: &Path, error: &std::io::Error) -> Self {
        let refusal = Refusal::new(exit, unreadable(path, error));
        match error.kind() {
            ErrorKind::NotFound => refusal.hint(absent(path)),
            _ => refusal,
        }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl std::fmt::Display) -> Self {
        self.err.push_str(&format!("hint: {hint}\n"));
        self
    }
}

impl Refusal {
    /// The same refusal, printed to standard error only.
    #[must_use]
    pub fn off_standard_output(self) -> Self {
        let told = self.out.replacen("An error occurred: ", "error: ", 1);
        Refusal {
            exit: self.exit,
            out: String::new(),
            err: told + &self.err,
        }
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
