//! `drumfire debug`: follows one user step by step, on a page or as text. [`session`] stores what happened and decides
//! where to stop, [`text`] prints it, [`testers`] try expressions on a stored response, [`curl`] exports a request,
//! [`page`] answers the browser.

pub mod arguments;
pub mod curl;
mod page;
pub mod session;
pub mod testers;
mod text;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drumfire_platform::causes::cause;
use drumfire_serve::{ListenAddress, Live, LiveOptions, Server};

use crate::command::Command;
use crate::console::Console;
use crate::debug::arguments::DebugArguments;
use crate::debug::page::DebugPage;
use crate::debug::session::{DebugSession, Followed, OnSample, Pace, SessionChange, forget_data};
use crate::debug::text::{Secrets, render};
use crate::engine::{Control, Debugging, Engine};
use crate::exit_codes::Exit;
use crate::refusal::Refusal;
use crate::run::arguments::{Progress, RunArguments};
use crate::run::outputs::ui::OwnRun;
use crate::run::{self, RunParticipants};
use crate::settings::options::Change;
use crate::signals;
use crate::terminal::escape;

/// How often the command checks whether the page was closed.
const PAUSE: Duration = Duration::from_millis(100);
/// Exit codes above this one stand for the signal that ended the run.
const SIGNALS: u8 = 128;

/// Runs one iteration of a plan for one user, and shows everything.
pub fn debug(
    arguments: &DebugArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let options = run_options(arguments)?;
    let secrets = Secrets(arguments.show_secrets);
    let control = Control::default();
    let on_sample: OnSample = if arguments.text {
        Box::new(move |number, shown| {
            forget_data(&mut shown.sample);
            print(&secrets.fields(&render(number, shown, secrets)));
        })
    } else {
        Box::new(|_, shown| forget_data(&mut shown.sample))
    };
    let live = live(arguments);
    let told = live.clone();
    let on_change = Box::new(move |_: SessionChange<'_>| told.tell("debug", &()));
    let pace = if arguments.step {
        Pace::Step
    } else {
        Pace::Run
    };
    let followed = Followed {
        users: arguments.user..=arguments.user,
        most: arguments.samples,
        pace,
        variables: Vec::new(),
    };
    let session = DebugSession::new(control.clone(), followed, on_sample, on_change);
    session.break_at(arguments.breakpoints.iter().cloned());
    let is_closed = Arc::new(AtomicBool::new(false));
    let server = if arguments.text {
        None
    } else {
        let page = DebugPage::new(session.clone(), secrets, control.clone(), is_closed.clone());
        Some(serve(arguments, live, page, &control, console)?)
    };
    let company = RunParticipants {
        capacity: None,
        control: &control,
        follower: None,
        debugging: Debugging::by(Arc::new(session.clone())),
        judge: None,
        conditions: Vec::new(),
    };
    let ended = run::follow(options, engine, console, company);
    session.end();
    if server.is_some() && ended.as_ref().is_ok_and(|exit| !is_interrupted(exit)) {
        console.line("the run has ended; Ctrl-C closes the page");
        wait(&is_closed);
    }
    ended
}

/// A signal that ended the run closes the page as well.
fn is_interrupted(exit: &Exit) -> bool {
    exit.code() > SIGNALS
}

/// The options of the run: one iteration, no output on the terminal, no run file.
fn run_options(arguments: &DebugArguments) -> Result<RunArguments, Refusal> {
    let mut words = vec!["run".to_owned(), arguments.plan.display().to_string()];
    words.extend(arguments.options.iter().cloned());
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
    ];
    let load = load.map(|(name, value)| Change::Property(name.to_owned(), value));
    options.properties.changes.extend(load);
    options.progress = Progress::Quiet;
    options.report.no_run_file = true;
    Ok(options)
}

fn live(arguments: &DebugArguments) -> Live {
    let name = arguments.plan.file_name().unwrap_or_default();
    let begun = drumfire_report::begun(name.to_string_lossy(), 0);
    let options = LiveOptions {
        readonly: false,
        keeps_failures: false,
        stays: false,
    };
    Live::new(begun, options)
}

fn serve(
    arguments: &DebugArguments,
    live: Live,
    page: DebugPage,
    control: &Control,
    console: &mut Console<'_>,
) -> Result<Server, Refusal> {
    let address = arguments.ui.unwrap_or_default();
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let steering = Arc::new(OwnRun::new(control.clone()));
    let ListenAddress(place) = address;
    let server = Server::start(address, host, live, steering, Some(Arc::new(page)))
        .map_err(|error| Refusal::run_failed(format!("`--ui {place}`: {}", cause(&error))))?;
    console.line(&format!("debugger  {}", server.url()));
    Ok(server)
}

/// Waits until the page is closed, or Ctrl-C.
fn wait(is_closed: &Arc<AtomicBool>) {
    let told = is_closed.clone();
    let listening = signals::listen(None, move |_| told.store(true, Ordering::Relaxed));
    if listening.is_err() {
        return;
    }
    while !is_closed.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
    }
}

fn print(text: &str) {
    let mut out = io::stdout();
    // The run goes on if the reader of the output has gone away.
    let _ = out.write_all(escape::text(text).as_bytes());
    let _ = out.flush();
}
