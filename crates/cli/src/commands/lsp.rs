//! `drumfire lsp`: the language server, with the engine's findings.

use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use drumfire_jmx::Tree;
use drumfire_lsp::{Connection, Hint, Inspection, Inspector};

use super::inputs::settings;
use crate::console::Console;
use crate::engine::{Advice, Engine};
use crate::exit_codes::Exit;
use crate::options::{PropertyOptions, Refusal};
use crate::project;
use crate::properties::Settings;
use crate::terminal::style::Style;

/// Serves the editor that started the program until it shuts the server down.
pub fn lsp<E: Engine>(engine: &E, console: &Console<'_>) -> Result<Exit, Refusal> {
    let (connection, threads) = Connection::stdio();
    let looker = Looker {
        engine,
        variable: console.variable,
        last: RefCell::new(None),
    };
    let served = drumfire_lsp::serve(&connection, &looker);
    drop(connection);
    served.map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
    threads
        .join()
        .map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
    Ok(Exit::Ok)
}

struct Looker<'a, E> {
    engine: &'a E,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The properties of the plan that was asked for last; a keystroke rarely changes them.
    last: RefCell<Option<(std::path::PathBuf, std::time::Instant, Settings)>>,
}

/// Property files are read again after this time.
const KEPT: std::time::Duration = std::time::Duration::from_secs(2);

impl<E: Engine> Looker<'_, E> {
    /// The properties for a plan; a project file that cannot be read has findings of its own, and sets nothing here.
    fn with_settings<T>(&self, plan: &Path, ask: impl FnOnce(&Settings) -> T) -> Option<T> {
        let mut last = self.last.borrow_mut();
        if let Some((own, read, settings)) = last.as_ref()
            && own == plan
            && read.elapsed() < KEPT
        {
            return Some(ask(settings));
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut unseen = Console {
            out: &mut out,
            err: &mut err,
            variable: self.variable,
            style: Style::PLAIN,
            err_style: Style::PLAIN,
            is_terminal: false,
        };
        let read = settings(&PropertyOptions::default(), &[], Some(plan), &mut unseen).ok()?;
        let (_, _, settings) = last.insert((plan.to_owned(), std::time::Instant::now(), read));
        Some(ask(settings))
    }
}

impl<E: Engine> Inspector for Looker<'_, E> {
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection {
        let looked = self.with_settings(plan, |settings| self.engine.glance(plan, tree, settings));
        let (findings, advice) = looked.unwrap_or_default();
        Inspection {
            findings,
            advice: advice.iter().flat_map(hints).collect(),
        }
    }

    fn properties(&self, plan: &Path) -> Vec<(String, String)> {
        let all = |settings: &Settings| {
            let pairs = settings.properties.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        self.with_settings(plan, all).unwrap_or_default()
    }

    fn project(&self, text: &str) -> Vec<(Range<usize>, String)> {
        project::faults(text)
    }
}

/// An entry for each element that the advice is about.
fn hints(advice: &Advice) -> Vec<Hint> {
    let Advice {
        rule,
        finding,
        reason,
        remedy,
        places,
        ..
    } = advice;
    let hint = |place: &crate::engine::AdvicePlace| {
        let detail = match place.detail.as_str() {
            "" => String::new(),
            detail => format!(": {detail}"),
        };
        Hint {
            rule: (*rule).to_owned(),
            message: format!("{finding}{detail}\n{reason}\n{remedy}"),
            line: place.line,
            path: place.path.clone(),
        }
    };
    places.iter().map(hint).collect()
}
