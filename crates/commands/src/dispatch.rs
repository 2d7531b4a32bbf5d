//! Carries out the subcommands, once the command line has been parsed.

use std::path::Path;

use drumfire_platform::causes::unwritable;

use crate::command::Command;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::{attach, run_url, taurus};
use crate::settings::project;
use crate::{
    agent, args, calibrate, capacity, check, compare, ctl, debug, demo, doctor, edit, fleet, fmt,
    import, jmeter, jvm, k8s, lsp, matrix, mcp, merge_plan, mirror, new, plan, record, rename,
    report, run, runs, set, show,
};

/// Carries out a command line, without the program's name.
pub fn execute(words: &[String], engine: &Engine, console: &mut Console<'_>) -> Exit {
    let words = &settled(words);
    if run_url::is_meant(words) {
        let carried_out = run_url::run_url(words, engine, console);
        return carried_out.unwrap_or_else(|refusal| console.refuse(&refusal));
    }
    if taurus::is_meant(words) {
        let carried_out = taurus::taurus(words, engine, console);
        let prints_data = words
            .iter()
            .any(|word| word == "--json" || word.starts_with("--format"));
        return carried_out.unwrap_or_else(|refusal| refuse(refusal, prints_data, console));
    }
    let command = match read(words) {
        Ok(command) => command,
        Err(refusal) => return console.refuse(&refusal),
    };
    let prints_data = command.prints_data();
    carry_out(command, engine, console)
        .unwrap_or_else(|refusal| refuse(refusal, prints_data, console))
}

fn carry_out(
    command: Command,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    match command {
        Command::Print(text) => {
            console.print(&text);
            Ok(Exit::Ok)
        }
        Command::Schema => {
            console.print(project::SCHEMA);
            Ok(Exit::Ok)
        }
        Command::Completions { shell } => {
            console.print(&args::completions(shell));
            Ok(Exit::Ok)
        }
        Command::Version => {
            console.print(&args::version());
            Ok(Exit::Ok)
        }
        Command::Man { folder } => man(&folder),
        Command::Agent(arguments) => agent::agent(&arguments, engine, console),
        Command::K8s(arguments) => k8s::k8s(&arguments, engine, console),
        Command::Fleet(arguments) => fleet::keys::fleet(&arguments, console),
        Command::Agents(arguments) => agent::agents(&arguments, console),
        Command::Demo(arguments) => demo::command::demo(&arguments, console),
        Command::Mirror(arguments) => mirror::mirror(&arguments, console),
        Command::Calibrate(arguments) => calibrate::calibrate(&arguments, console),
        Command::Doctor(arguments) => doctor::doctor(&arguments, engine, console),
        Command::Jvm(arguments) => jvm::jvm(&arguments, engine, console),
        Command::Check(arguments) => check::check(&arguments, engine, console),
        Command::Plan(arguments) => plan::plan(&arguments, engine, console),
        Command::Report(arguments) => report::report(&arguments, console),
        Command::Compare(arguments) => compare::compare(&arguments, console),
        Command::Merge(arguments) => compare::merge(&arguments, console),
        Command::Fmt(arguments) => fmt::fmt(&arguments, console),
        Command::Show(arguments) => show::show(&arguments, console),
        Command::Matrix(arguments) => matrix::matrix(&arguments, console),
        Command::Runs(arguments) => runs::runs(&arguments, console),
        Command::Rename(arguments) => rename::rename(&arguments, console),
        Command::MergePlan(arguments) => merge_plan::merge_plan(&arguments, console),
        Command::Lsp => lsp::lsp(*engine),
        Command::Set(arguments) => set::set(&arguments, console),
        Command::Diff(arguments) => show::diff(&arguments, console),
        Command::New(arguments) => new::new(&arguments, console),
        Command::Import(arguments) => import::import(&arguments, engine, console),
        Command::Record(arguments) => record::record(&arguments, engine, console),
        Command::Run(arguments) => run::run(arguments, engine, console),
        Command::Attach(arguments) => attach::attach(arguments, engine, console),
        Command::Capacity(arguments) => capacity::capacity(&arguments, engine, console),
        Command::Debug(arguments) => debug::debug(&arguments, engine, console),
        Command::Edit(arguments) => edit::edit(&arguments, engine, console),
        Command::Mcp(arguments) => mcp::mcp(&arguments, engine, console),
        Command::Ctl(arguments) => ctl::ctl(&arguments, console),
    }
}

/// Prints a refusal; where standard output is for another program, to standard error only.
fn refuse(refusal: Refusal, prints_data: bool, console: &mut Console<'_>) -> Exit {
    if prints_data {
        console.refuse(&refusal.off_standard_output())
    } else {
        console.refuse(&refusal)
    }
}

/// Reads a command line, without the program's name, and carries out nothing.
///
/// # Errors
/// The refusal of a word that the program does not understand.
pub fn understand(words: &[String]) -> Result<(), Refusal> {
    let words = &settled(words);
    if run_url::is_meant(words) {
        run_url::understand(words)
    } else if let Some(order) = taurus::order(words) {
        read(&order.as_for_a_plan()).map(drop)
    } else {
        read(words).map(drop)
    }
}

/// The command line with a command in front and with the address of `--ui` joined to it.
fn settled(words: &[String]) -> Vec<String> {
    let words = match words.first() {
        Some(word) if is_plan(word) => [&["run".to_owned()], words].concat(),
        _ => words.to_vec(),
    };
    args::with_joined_ui(&words)
}

fn read(words: &[String]) -> Result<Command, Refusal> {
    match words.first() {
        Some(word) if word.starts_with('-') => jmeter::meaning::read(words),
        _ => args::read(words),
    }
}

/// Whether the first word is a plan instead of a command: `drumfire plan.jmx` runs the plan.
fn is_plan(word: &str) -> bool {
    let path = Path::new(word);
    let ending = path.extension();
    let is_plan = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
    !word.starts_with('-') && (is_plan || drumfire_taurus::is_configuration(path))
}

fn man(folder: &Path) -> Result<Exit, Refusal> {
    args::write_man_pages(folder).map_err(|error| {
        let message = unwritable(folder, &error);
        jmeter::meaning::failed(&message, Exit::RunFailed)
    })?;
    Ok(Exit::Ok)
}
