//! Taurus configurations in place of a plan: `drumfire run test.yml`, `check test.yml`, `plan test.yml`.

use std::path::{Path, PathBuf};
use std::process::Child;

use drumfire_platform::causes::{cause, unwritable};
use drumfire_platform::processes::shell;
use drumfire_taurus::{Hook, Stage, TaurusError, Test};

use crate::args;
use crate::command::Command;
use crate::console::Console;
use crate::engine::{Control, Debugging, Engine};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::arguments::{PlanChoice, ResultsFile, RunArguments};
use crate::run::criteria::judge::PassFail;
use crate::whole_file;
use crate::{check, plan, run};

/// A command line for a configuration.
pub struct TaurusCommand {
    command: String,
    config: PathBuf,
    overrides: Vec<String>,
    others: Vec<String>,
}

impl TaurusCommand {
    /// The same command line for a plan, without the changes of the configuration.
    pub fn as_for_a_plan(&self) -> Vec<String> {
        let mut words = vec![self.command.clone(), "plan.jmx".to_owned()];
        words.extend(self.others.iter().cloned());
        words
    }
}

/// Whether a command line (without the program's name) has a Taurus configuration in place of its plan.
pub fn is_meant(words: &[String]) -> bool {
    order(words).is_some()
}

pub fn order(words: &[String]) -> Option<TaurusCommand> {
    let (command, rest) = words.split_first()?;
    if !["run", "check", "plan"].contains(&command.as_str()) {
        return None;
    }
    let mut config = None;
    let (mut overrides, mut others) = (Vec::new(), Vec::new());
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let is_option = word.starts_with('-');
        if word == "-o" || word == "--option" {
            overrides.extend(rest.next().cloned());
        } else if let Some(change) = word.strip_prefix("-o").filter(|_| !word.starts_with("--")) {
            overrides.push(change.to_owned());
        } else if !is_option
            && config.is_none()
            && drumfire_taurus::is_configuration(Path::new(word))
        {
            config = Some(PathBuf::from(word));
        } else if config.is_none() && !is_option && word.ends_with(".jmx") {
            // A plan is named, so a later `.json` is the value of an option, even of a misspelt one.
            return None;
        } else {
            others.push(word.clone());
            if is_option && !word.contains('=') && args::takes_value(command, word) {
                others.extend(rest.next().cloned());
            }
        }
    }
    Some(TaurusCommand {
        command: command.clone(),
        config: config?,
        overrides,
        others,
    })
}

/// Makes the plan of a configuration and then runs, checks or shows it.
pub fn taurus(
    words: &[String],
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let Some(order) = order(words) else {
        return Err(Refusal::usage("a configuration file is missing"));
    };
    let test = drumfire_taurus::load(&order.config, &order.overrides).map_err(refusal)?;
    for note in &test.notes {
        console.warn(note);
    }
    let folder = tempfile::tempdir().map_err(Refusal::failed)?;
    let name = order
        .config
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let file = folder.path().join(format!("{name}.jmx"));
    let written = drumfire_jmx::write(&test.tree);
    std::fs::write(&file, written).map_err(Refusal::failed)?;
    let mut words = vec![order.command.clone(), file.display().to_string()];
    words.extend(defined("J", &test.properties));
    words.extend(defined("D", &test.system_properties));
    words.extend(test.options.iter().cloned());
    words.extend(order.others.iter().cloned());
    match args::read(&words)? {
        Command::Run(mut options) => {
            let name = order.config.display().to_string();
            options.plan = Some(PlanChoice::Made { file, name });
            run_test(test, options, engine, console)
        }
        Command::Check(options) => check::check(&options, engine, console),
        Command::Plan(options) => plan::plan(&options, engine, console),
        Command::Print(text) => {
            console.print(&text);
            Ok(Exit::Ok)
        }
        _ => Err(Refusal::usage("run, check or plan was expected")),
    }
}

/// definitions of the command line come later and win
fn defined(letter: &str, pairs: &[(String, String)]) -> Vec<String> {
    pairs
        .iter()
        .map(|(name, value)| format!("-{letter}{name}={value}"))
        .collect()
}

fn refusal(fault: TaurusError) -> Refusal {
    let refusal = Refusal::new(Exit::PlanRefused, fault.message);
    match fault.hint {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}

fn run_test(
    test: Test,
    mut options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let mut background = Background::default();
    background.stage(&test.hooks, Stage::Prepare, None)?;
    if let Some(folder) = artifacts(&test) {
        std::fs::create_dir_all(&folder)
            .map_err(|error| Refusal::run_failed(unwritable(&folder, &error)))?;
        let shown = serde_json::to_string_pretty(&test.effective).unwrap_or_default();
        whole_file::write(&folder.join("effective.json"), shown.as_bytes())?;
        options
            .results
            .get_or_insert(ResultsFile::File(folder.join("kpi.jtl")));
    }
    if options.report.ci.junit.is_none() {
        options.report.ci.junit = test.junit.clone();
    }
    background.stage(&test.hooks, Stage::Startup, None)?;
    let mut judge = PassFail::new(test.criteria);
    for inversion in judge.inversions() {
        console.warn(&inversion);
    }
    let conditions = judge.conditions();
    let company = run::RunParticipants {
        capacity: None,
        control: &Control::default(),
        follower: None,
        debugging: Debugging::default(),
        judge: Some(&mut judge),
        conditions,
    };
    let outcome = run::follow(options, engine, console, company);
    let exit = match &outcome {
        Ok(exit) => *exit,
        Err(refusal) => refusal.exit,
    };
    for stage in [Stage::Shutdown, Stage::PostProcess] {
        background.stage(&test.hooks, stage, Some(exit))?;
    }
    outcome
}

/// The folder of `settings.artifacts-dir`, with date patterns replaced.
fn artifacts(test: &Test) -> Option<PathBuf> {
    let written = test
        .effective
        .get("settings")?
        .get("artifacts-dir")?
        .as_str()?;
    let now = jiff::Zoned::now();
    let named = jiff::fmt::strtime::format(written, &now);
    Some(PathBuf::from(named.unwrap_or_else(|_| written.to_owned())))
}

/// Commands that run alongside the test and end with it.
#[derive(Default)]
struct Background(Vec<Child>);

impl Background {
    fn stage(&mut self, hooks: &[Hook], stage: Stage, exit: Option<Exit>) -> Result<(), Refusal> {
        for hook in hooks.iter().filter(|hook| hook.stage == stage) {
            let mut process = shell(&hook.command);
            process.envs(hook.environment.iter().cloned());
            if let Some(folder) = &hook.folder {
                process.current_dir(folder);
            }
            if let Some(exit) = exit {
                process.env("TAURUS_EXIT_CODE", exit.code().to_string());
            }
            let failed = |why: String| Refusal::run_failed(format!("`{}` {why}", hook.command));
            let mut child = process
                .spawn()
                .map_err(|error| failed(format!("cannot be started: {}", cause(&error))))?;
            if hook.in_background {
                self.0.push(child);
                continue;
            }
            let status = child.wait().map_err(|error| failed(cause(&error)))?;
            if !status.success() && !hook.may_fail {
                return Err(failed(format!("ended with {status}")));
            }
        }
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // the child may have ended already
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
