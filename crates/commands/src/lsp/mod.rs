//! `drumfire lsp`: the language server, which shows the engine's findings.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use drumfire_jmx::Tree;
use drumfire_lsp::{Hint, Inspection, Inspector};

use crate::console::Console;
use crate::engine::{Advice, Engine, Glance};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::settings::options::PropertyOptions;
use crate::settings::project;
use crate::settings::properties::RunProperties;
use crate::settings::settings;
use crate::terminal::style::Style;

/// Serves the editor that started the program, until the editor shuts the server down.
pub fn lsp(engine: Engine) -> Result<Exit, Refusal> {
    let (connection, threads) = drumfire_lsp::stdio().map_err(Refusal::failed)?;
    let looker = Looker::new(engine);
    let served = drumfire_lsp::serve(&connection, &looker);
    drop(connection);
    served.map_err(|error| {
        let why = threads.refusal().map_or(error.to_string(), str::to_owned);
        Refusal::run_failed(why)
    })?;
    threads.join().map_err(Refusal::failed)?;
    Ok(Exit::Ok)
}

/// Inspects plans with the engine, for editors.
pub struct Looker {
    engine: Engine,
    /// The options of the command line.
    options: PropertyOptions,
    /// Properties that the program sets.
    own: Vec<(&'static str, String)>,
    /// The cached properties of the last plan, and when they were read. A keystroke rarely changes them.
    last: Mutex<Option<(PathBuf, Instant, RunProperties)>>,
}

/// How long properties are cached before their files are read again.
const KEPT: Duration = Duration::from_secs(2);

impl Looker {
    /// An inspector with no cached properties.
    pub fn new(engine: Engine) -> Looker {
        Looker::with_options(engine, PropertyOptions::default(), Vec::new())
    }

    /// An inspector whose plans have these options of the command line, and these properties of the program.
    pub fn with_options(
        engine: Engine,
        options: PropertyOptions,
        own: Vec<(&'static str, String)>,
    ) -> Looker {
        Looker {
            engine,
            options,
            own,
            last: Mutex::new(None),
        }
    }

    /// The findings and the advice on a plan, and how each of its elements runs, in the order of the file.
    pub fn glance(&self, plan: &Path, tree: &Tree, with_rungs: bool) -> Glance {
        let looked = self.with_settings(plan, |settings| {
            self.engine.glance(plan, tree, settings, with_rungs)
        });
        looked.unwrap_or_default()
    }

    /// Passes a plan's properties to `ask`. Returns `None` if they cannot be read; a project file with errors has
    /// findings of its own.
    fn with_settings<T>(&self, plan: &Path, ask: impl FnOnce(&RunProperties) -> T) -> Option<T> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last_plan, read, settings)) = last.as_ref()
            && last_plan == plan
            && read.elapsed() < KEPT
        {
            return Some(ask(settings));
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut unseen = Console {
            out: &mut out,
            err: &mut err,
            variable: &drumfire_platform::variable,
            style: Style::PLAIN,
            err_style: Style::PLAIN,
            is_terminal: false,
            is_optimized: true,
            err_columns: None,
        };
        let read = settings(&self.options, &self.own, Some(plan), &mut unseen).ok()?;
        let (_, _, settings) = last.insert((plan.to_owned(), Instant::now(), read));
        Some(ask(settings))
    }
}

impl Looker {
    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// The properties of a plan's runs; the defaults if they cannot be read.
    pub fn settings(&self, plan: &Path) -> RunProperties {
        self.with_settings(plan, RunProperties::clone)
            .unwrap_or_default()
    }
}

impl Inspector for Looker {
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection {
        inspection(self.glance(plan, tree, false))
    }

    fn properties(&self, plan: &Path) -> Vec<(String, String)> {
        self.with_settings(plan, |settings: &RunProperties| {
            let pairs = settings.properties.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        })
        .unwrap_or_default()
    }

    fn project(&self, text: &str) -> Vec<(Range<usize>, String)> {
        project::faults(text)
    }
}

/// The findings, and a hint for each element that the advice concerns.
pub fn inspection(glance: Glance) -> Inspection {
    Inspection {
        findings: glance.findings,
        advice: glance.advice.iter().flat_map(hints).collect(),
        rungs: Vec::new(),
    }
}

/// A hint for each element that the advice concerns.
fn hints(advice: &Advice) -> Vec<Hint> {
    let Advice {
        rule,
        finding,
        reason,
        remedy,
        places,
        ..
    } = advice;
    places
        .iter()
        .map(|place| {
            let detail = match place.detail.as_str() {
                "" => String::new(),
                detail => format!(": {detail}"),
            };
            Hint {
                rule: (*rule).to_owned(),
                message: format!("{finding}{detail}\n{reason}\n{remedy}"),
                line: place.line,
                path: place.path.clone(),
                property: place.property.clone(),
            }
        })
        .collect()
}
