//! Profiles, targets and properties of `drumfire.toml`, and how a run's choice among them becomes properties.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use drumfire_jmx::did_you_mean;
use serde::Deserialize;

use crate::args::quantities::{duration_ms, per_second};
use crate::refusal::UsageError;
use crate::run::criteria::thresholds::ALLOW_UNJUDGED;

/// The environment variable that chooses a target.
const TARGET: &str = "DRUMFIRE_TARGET";

/// The property for outputs, for JMeter's command line and `drumfire.toml`; separated by semicolons.
pub const OUT: &str = "drumfire.out";
/// The property for tags of all outputs, `NAME=VALUE`, separated by semicolons.
pub const TAGS: &str = "drumfire.tags";

/// The profile and target that a run chooses.
pub struct ProfileChoice<'c> {
    /// The profile.
    pub profile: Option<&'c str>,
    /// The target; defaults to that of the profile, or of the environment.
    pub target: Option<&'c str>,
    /// The variables of the environment.
    pub variable: &'c dyn Fn(&str) -> Option<OsString>,
}

/// The value of a property in the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Held {
    /// `true`, `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A reference to an environment variable, for secrets.
    Variable(Reference),
}

/// `{ env = "NAME" }`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    env: String,
    default: Option<String>,
}

impl Held {
    /// The value as the text of a property.
    pub fn text(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<String, UsageError> {
        Ok(match self {
            Held::Flag(value) => value.to_string(),
            Held::Whole(value) => value.to_string(),
            Held::Number(value) => value.to_string(),
            Held::Text(value) => value.clone(),
            Held::Variable(reference) => {
                let value = variable(&reference.env).and_then(|value| value.into_string().ok());
                value.or_else(|| reference.default.clone()).ok_or_else(|| {
                    format!(
                        "the variable `{0}` of the environment is not set\nhint: set it with `export {0}=…`",
                        reference.env
                    )
                })?
            }
        })
    }
}

/// Properties by their names.
pub type Values = BTreeMap<String, Held>;

/// `[profiles.NAME]`: a load, its limits and its outputs.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    users: Option<u32>,
    ramp_up: Option<Held>,
    duration: Option<Held>,
    iterations: Option<NonZeroU32>,
    rate: Option<Held>,
    group: Option<String>,
    once: Option<bool>,
    target: Option<String>,
    #[serde(default)]
    fail_on: Vec<String>,
    strict: Option<bool>,
    allow_unjudged: Option<bool>,
    #[serde(default)]
    out: Vec<String>,
    #[serde(default)]
    properties: Values,
    report: Option<PathBuf>,
    results: Option<PathBuf>,
    run_file: Option<PathBuf>,
    summary_json: Option<PathBuf>,
    junit: Option<PathBuf>,
    baseline: Option<PathBuf>,
}

/// The files of a run that a profile asks for. Relative paths are relative to the working folder.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outputs {
    /// As `--report`.
    pub report: Option<PathBuf>,
    /// As `-l`.
    pub results: Option<PathBuf>,
    /// As `--run-file`.
    pub run_file: Option<PathBuf>,
    /// As `--summary-json`.
    pub summary_json: Option<PathBuf>,
    /// As `--junit`.
    pub junit: Option<PathBuf>,
    /// As `--baseline`.
    pub baseline: Option<PathBuf>,
}

/// The tables of the file to choose from.
#[derive(Debug, Default, Deserialize)]
pub struct Choices {
    #[serde(default)]
    pub properties: Values,
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
    #[serde(default)]
    pub targets: BTreeMap<String, Values>,
}

impl Choices {
    /// The chosen profile, if the choice names one.
    ///
    /// # Errors
    /// If there is no profile of that name.
    pub fn profile(&self, choice: &ProfileChoice<'_>) -> Result<Option<&Profile>, UsageError> {
        choice
            .profile
            .map(|name| named(&self.profiles, name, "profile"))
            .transpose()
    }

    /// The properties of a choice: those for all runs, those of the target, those of the profile. Later ones
    /// win.
    ///
    /// # Errors
    /// A profile or target that is not there, a variable that is not set, or a wrong value.
    pub fn properties(
        &self,
        choice: &ProfileChoice<'_>,
    ) -> Result<Vec<(String, String)>, UsageError> {
        let mut set = Vec::new();
        let mut add = |values: &Values| -> Result<(), UsageError> {
            for (name, value) in values {
                set.push((name.clone(), value.text(choice.variable)?));
            }
            Ok(())
        };
        add(&self.properties)?;
        let profile = self.profile(choice)?;
        let of_environment = (choice.variable)(TARGET)
            .and_then(|value| value.into_string().ok())
            .filter(|name| !name.is_empty());
        let target = choice
            .target
            .map(str::to_owned)
            .or(of_environment)
            .or_else(|| profile.and_then(|profile| profile.target.clone()));
        if let Some(name) = target {
            add(named(&self.targets, &name, "target")?)?;
        }
        if let Some(profile) = profile {
            add(&profile.properties)?;
            set.extend(profile.load(choice)?);
        }
        Ok(set)
    }
}

impl Profile {
    /// The files that the profile asks for.
    pub fn outputs(&self) -> Outputs {
        Outputs {
            report: self.report.clone(),
            results: self.results.clone(),
            run_file: self.run_file.clone(),
            summary_json: self.summary_json.clone(),
            junit: self.junit.clone(),
            baseline: self.baseline.clone(),
        }
    }

    /// The load and the limits as properties.
    fn load(&self, choice: &ProfileChoice<'_>) -> Result<Vec<(String, String)>, UsageError> {
        let mut set = Vec::new();
        let mut put = |name: &str, value: Option<String>| {
            set.extend(value.map(|value| (name.to_owned(), value)));
        };
        let seconds = |held: &Option<Held>| -> Result<Option<String>, UsageError> {
            let Some(held) = held else { return Ok(None) };
            let text = held.text(choice.variable)?;
            let ms =
                duration_ms(&text).map_err(|why| format!("`{text}` is not a time\nhint: {why}"))?;
            Ok(Some(ms.div_ceil(1000).to_string()))
        };
        put(
            "drumfire.load.users",
            self.users.map(|users| users.to_string()),
        );
        put("drumfire.load.ramp_up", seconds(&self.ramp_up)?);
        put("drumfire.load.duration", seconds(&self.duration)?);
        put(
            "drumfire.load.iterations",
            self.iterations.map(|iterations| iterations.to_string()),
        );
        let rate = self
            .rate
            .as_ref()
            .map(|rate| rate.text(choice.variable))
            .transpose()?;
        let per_second = |rate: &String| {
            per_second(rate)
                .map_err(|why| UsageError::from(format!("`{rate}` is not a rate\nhint: {why}")))
        };
        let rate = rate.as_ref().map(per_second).transpose()?;
        put("drumfire.load.rate", rate.map(|rate| rate.to_string()));
        put("drumfire.load.group", self.group.clone());
        put("drumfire.load.once", self.once.map(|once| once.to_string()));
        put(
            "drumfire.strict",
            self.strict.map(|strict| strict.to_string()),
        );
        put(
            ALLOW_UNJUDGED,
            self.allow_unjudged.map(|allows| allows.to_string()),
        );
        put("drumfire.fail_on", joined(&self.fail_on));
        put(OUT, joined(&self.out));
        Ok(set)
    }
}

fn joined(list: &[String]) -> Option<String> {
    (!list.is_empty()).then(|| list.join(";"))
}

fn named<'t, T>(all: &'t BTreeMap<String, T>, name: &str, kind: &str) -> Result<&'t T, UsageError> {
    all.get(name).ok_or_else(|| {
        let file = Path::new(crate::settings::project::FILE).display();
        let names = all.keys().map(String::as_str);
        let hint = match (did_you_mean(name, names), all.is_empty()) {
            (Some(near), _) => format!("\nhint: write `{near}`"),
            (None, true) => format!("\nhint: write [{kind}s.{name}]"),
            (None, false) => format!(
                "\nhint: write one of {}",
                all.keys().cloned().collect::<Vec<_>>().join(", ")
            ),
        };
        format!("{file} has no {kind} `{name}`{hint}").into()
    })
}
