//! `drumfire debug`: follows one user step by step. [`page`] shows it in the editor, [`text`] prints it. [`session`] stores what
//! happened and decides where to stop, [`testers`] try expressions on a stored response, [`curl`] exports a request.

pub mod arguments;
pub mod curl;
mod page;
pub mod session;
pub mod testers;
mod text;

use std::io::{self, Write as _};
use std::sync::Arc;

use crate::command::Command;
use crate::console::Console;
use crate::debug::arguments::DebugArguments;
use crate::debug::session::{DebugSession, Followed, OnSample, Pace, forget_data};
use crate::debug::text::{Secrets, render};
use crate::engine::{Control, Debugging, Engine};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::arguments::{Progress, RunArguments};
use crate::run::{self, RunParticipants};
use crate::settings::options::Change;
use crate::terminal::escape;

/// Runs one iteration of a plan for one user, and shows everything.
pub fn debug(
    arguments: &DebugArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let options = run_options(arguments, &arguments.options)?;
    if arguments.text {
        return print_run(arguments, options, engine, console);
    }
    let plain = run_options(arguments, &[])?;
    page::serve(arguments, options, plain, engine, console)
}

/// Prints each sample when it is complete.
fn print_run(
    arguments: &DebugArguments,
    options: RunArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let secrets = Secrets(arguments.show_secrets);
    let control = Control::default();
    let on_sample: OnSample = Box::new(move |number, shown| {
        forget_data(&mut shown.sample);
        print(&secrets.fields(&render(number, shown, secrets)));
    });
    let followed = Followed {
        users: arguments.user..=arguments.user,
        most: arguments.samples,
        pace: Pace::Run,
        variables: Vec::new(),
    };
    let session = DebugSession::new(control.clone(), followed, on_sample, Box::new(|_| {}));
    let company = RunParticipants {
        capacity: None,
        control: &control,
        follower: None,
        debugging: Debugging::by(Arc::new(session)),
        judge: None,
        conditions: Vec::new(),
    };
    run::follow(options, engine, console, company)
}

/// The options of the run: one iteration, no output on the terminal, no run file.
fn run_options(arguments: &DebugArguments, more: &[String]) -> Result<RunArguments, Refusal> {
    let mut words = vec!["run".to_owned(), arguments.plan.display().to_string()];
    words.extend(more.iter().cloned());
    let Command::Run(mut options) = crate::args::read(&words)? else {
        let why = "options behind `--` are those of `drumfire run`";
        return Err(Refusal::usage(why));
    };
    if options.fleet.is_wanted() {
        let why =
            "`--agents` has no effect here: `debug` follows one user on this machine; leave it out";
        return Err(Refusal::usage(why));
    }
    let load = [
        ("drumfire.load.once", "true".to_owned()),
        ("drumfire.load.users", arguments.user.to_string()),
    ]
    .map(|(name, value)| Change::Property(name.to_owned(), value));
    options.properties.changes.extend(load);
    options.progress = Progress::Quiet;
    options.report.no_run_file = true;
    Ok(options)
}

fn print(text: &str) {
    let mut out = io::stdout();
    // The run goes on if the reader of the output has gone away.
    let _ = out.write_all(escape::text(text).as_bytes());
    let _ = out.flush();
}
